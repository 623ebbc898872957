/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_BPERF_SCOPE_H
#define PERF_BPERF_SCOPE_H

/*
 * Scopes of sessions, from their making to their end. Functions that change something need the lock of
 * tasks.
 */

#include "bpf_skel/leader.h"

#include <errno.h>
#include <stdbool.h>

struct bperf_leader;

/**
 * scope__expect() - announce that so many rows of so many events are about to get scope sets; 0: no more are
 *
 * The sums of all of them are made at once then, with few waits for grace periods.
 */
void scope__expect(struct bperf_leader *leader, int nr_rows, int nr_events);

/**
 * scope__add() - a row of this session, which counts nothing yet
 * @slots: of its events, ascending
 * @is_switches: per slot, enum switch_event
 * @cgroup: the kernel's number of the cgroup it will count; 0: tasks
 *
 * Return: its number; -ENOSPC, -E2BIG: too many scopes, events, sets.
 */
int scope__add(struct bperf_leader *leader, const __u16 *slots, const __u8 *is_switches, int nr,
	       bool inherits, __u64 cgroup);

/**
 * scope__is_full() - whether tasks or cgroups could not be given scopes because there is no room
 * scope__why_full() - which limit of all sessions that was; owned by the caller, NULL: out of memory
 * @err: what scope__add(), task_walk__assign() or cgroup_scopes__assign() has just returned
 */
static inline bool scope__is_full(int err)
{
	return err == -ENOSPC || err == -E2BIG || err == -ENOMEM;
}

char *scope__why_full(const struct bperf_leader *leader, enum scope_set_kind kind, int err);

/** scope__drop() - leave a row to NO_SESSION, whose scopes a later session removes */
void scope__drop(struct bperf_leader *leader, int scope);

/**
 * scope__remove() - no task or cgroup is counted for a session any more, its scopes are gone
 * scope__remove_kind() - the same of tasks, or of cgroups
 * @session: its number, or NO_SESSION
 *
 * Scopes that cannot be removed become NO_SESSION's; each session that joins or leaves tries it again.
 */
void scope__remove(struct bperf_leader *leader, int session);
void scope__remove_kind(struct bperf_leader *leader, int session, enum scope_set_kind kind);

/** scope__abandon() - leave all scopes of a session to NO_SESSION: at once, when no other session is left */
void scope__abandon(struct bperf_leader *leader, int session);

/**
 * scope__repair() - finish what a session that died left half done, before anything is changed
 *
 * Return: 0, or -errno: that needs more memory than this session has.
 */
int scope__repair(struct bperf_leader *leader);

/* Above all numbers of sessions, and above NO_SESSION. */
#define SCOPE_ALL_SESSIONS (NO_SESSION + 1)

/**
 * scope__find_dead() - find a session that died and has scopes, or NO_SESSION; needs no lock
 * @below: only one with a lower number; at first SCOPE_ALL_SESSIONS, then what this returned
 *
 * Return: its number; -1: there is none.
 */
int scope__find_dead(const struct bperf_leader *leader, int below);

/**
 * scope__remove_dead() - the same as scope__remove(), if nobody else has done it meanwhile
 *
 * It waits for grace periods, and others wait for the lock: one session in each holding.
 */
void scope__remove_dead(struct bperf_leader *leader, int session);

/** scope__has() - whether a session has scopes, or watches for new cgroups */
bool scope__has(const struct bperf_leader *leader, int session);

#endif
