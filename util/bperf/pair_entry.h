/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_BPERF_PAIR_ENTRY_H
#define PERF_BPERF_PAIR_ENTRY_H

/*
 * The registry's entries of pairs of probes. All changes need the lock; util/bperf/prog_pair.c has their
 * order. An entry without links belongs to the one session that makes it, or takes it apart.
 */

#include "bpf_skel/leader_registry.h"
#include "bpf_skel/prog_pair.h"

#include <stdbool.h>

struct bperf_leader;

/** pair_entry__find() - the entry of a program, or with 0 a free one; NULL: none */
struct reg_pair *pair_entry__find(struct registry *reg, __u32 prog_id);

/** pair_entry__is_complete() - its probes are attached, and the ids are those of all its parts */
bool pair_entry__is_complete(const struct reg_pair *entry);

bool pair_entry__is_user(const struct reg_pair *entry, int session);
bool pair_entry__has_users(const struct reg_pair *entry);
bool pair_entry__is_sole_user(const struct reg_pair *entry, int session);
void pair_entry__set_user(struct reg_pair *entry, int session, bool on);

/** pair_entry__drop_user() - the session counts there no more: columns that were its alone go, or the entry */
void pair_entry__drop_user(struct bperf_leader *leader, struct reg_pair *entry, int session);

/** pair_entry__give_back() - free an entry that this session has claimed; needs no lock */
void pair_entry__give_back(struct reg_pair *entry);

/** pair_entry__free() - its probes are detached, or go with those who hold them */
void pair_entry__free(struct reg_pair *entry);

/** pair_entry__map_plan() - the plan behind a descriptor; NULL with errno */
struct prog_columns *pair_entry__map_plan(int fd);

/** pair_entry__is_foreign() - whether an event may be another leader's, for prog_columns__update() */
bool pair_entry__is_foreign(void *leader, int slot);

/** pair_entries__has_prog() - whether a program is the leader's, or a probe of a pair */
bool pair_entries__has_prog(const struct bperf_leader *leader, __u32 prog_id);

/** pair_entries__has_pair() - whether a session counts in this program, or is about to */
bool pair_entries__has_pair(const struct bperf_leader *leader, __u32 prog_id);

/** pair_entries__forget() - drop a session from all entries; the attr map must be locked */
void pair_entries__forget(struct bperf_leader *leader, int session);

/**
 * pair_entries__find_dead() - whether a session that uses a pair has died; needs no lock
 * @session: its number
 * @token: identifies the session. Under the lock it shows whether another one has its place by then
 */
bool pair_entries__find_dead(const struct bperf_leader *leader, int *session, __u32 *token);

/** pair_entries__repair() - the same for a session that died; pairs that went with it are forgotten */
void pair_entries__repair(struct bperf_leader *leader, int session);

#endif
