/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_BPERF_LEADER_LINKS_H
#define PERF_BPERF_LEADER_LINKS_H

/*
 * Links of the leader's programs to tracepoints of tasks and cgroups. They exist while a session counts
 * tasks or cgroups: each of these sessions holds them. Functions need the lock of tasks, and those two
 * that followers need want the attr map's.
 */

#include "bpf_skel/leader_registry.h"

#include <stdbool.h>

struct bperf_leader;

/* The kinds of objects that links follow. */
enum link_kind { LINKS_TASKS, LINKS_CGROUPS, LINKS_NEW_CGROUPS, LINKS_SERVE };

/**
 * leader_links__hold() - take hold of the links of a kind
 *
 * Return: 0; -ENOENT: there are none, or the last session that held them is just ending; other errors
 * say nothing of the links.
 */
int leader_links__hold(struct bperf_leader *leader, enum link_kind kind);

/**
 * leader_links__make() - attach what is to be attached for them; its programs are loaded
 *
 * Return: 0 or -errno.
 */
int leader_links__make(struct bperf_leader *leader, enum link_kind kind);

/**
 * leader_links__follow_switches() - have on_switch run at switches, while this session lives
 * leader_links__disown_switches() - from now on others do not count on this session for that
 * leader_links__leave_switches() - no more
 *
 * Return: 0; -EEXIST: the session that held the link is just ending, try again; other -errno.
 */
int leader_links__follow_switches(struct bperf_leader *leader);
void leader_links__disown_switches(struct bperf_leader *leader);
void leader_links__leave_switches(struct bperf_leader *leader);

/**
 * leader_links__has_holder() - whether a living session holds the link at switches
 *
 * One that is stopped may have been so before the first follower came.
 */
bool leader_links__has_holder(const struct bperf_leader *leader);

/**
 * leader_links__leave() - let go of all of them, but for the one at switches while followers need it
 * @ends: false: the session will count again, and keeps the links of tasks
 *
 * To attach to a tracepoint soon after its last program left it takes the kernel a grace period. Links of
 * tasks count nothing without a scope. It needs no lock: others see the same if this session dies.
 */
void leader_links__leave(struct bperf_leader *leader, bool ends);

/**
 * leader_links__entry() - the id of the link that entries of single events name
 * leader_links__is_own() - whether an entry with that link leads to this leader
 *
 * It is the quiet one until events are served, and then the one at switches. A follower that finds the
 * entry holds its link, so on_switch stays attached for as long as it is followed.
 */
__u32 leader_links__entry(const struct registry *reg);
bool leader_links__is_own(const struct registry *reg, __u32 link_id);

/** leader_links__are_alive() - whether somebody holds those of a kind */
bool leader_links__are_alive(const struct bperf_leader *leader, enum link_kind kind);

/** leader_links__skipped() - how often a linked program was skipped, but for exits of tasks */
__u64 leader_links__skipped(const struct bperf_leader *leader);

/**
 * leader_links__skipped_exits() - how many exits of any tasks the kernel hid from the linked programs
 *
 * A task whose exit was hidden counts until its last switch, where plain events end in
 * perf_event_exit_task(). Kernels before 6.7 do not count hidden exits: then 0.
 */
__u64 leader_links__skipped_exits(const struct bperf_leader *leader);

#endif
