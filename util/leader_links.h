/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_UTIL_LEADER_LINKS_H
#define PERF_UTIL_LEADER_LINKS_H

/*
 * The links by which the leader follows tasks and cgroups. They are there while some run counts
 * such: each of these runs holds them. The lock must be held.
 */

#include "../bpf_skel/leader.h"

#include <stdbool.h>

struct leader;

/* What is followed. */
enum link_kind { LINKS_TASKS, LINKS_CGROUPS, LINKS_NEW_CGROUPS };

/**
 * leader_links__take() - take hold of the links of a kind
 *
 * Return: 0; -ENOENT: there are none, or the last run that held them is just ending; other errors
 * say nothing of the links.
 */
int leader_links__take(struct leader *leader, enum link_kind kind);

/**
 * leader_links__make() - attach what is to be attached for them
 *
 * Return: 0 or -errno.
 */
int leader_links__make(struct leader *leader, enum link_kind kind);

/**
 * leader_links__follow_switches() - have on_switch run at switches, while this run lives
 * leader_links__leave_switches() - no more, unless this run counts tasks
 *
 * Return: 0 or -errno.
 */
int leader_links__follow_switches(struct leader *leader);
void leader_links__leave_switches(struct leader *leader);

/** leader_links__try_kprobe() - whether the kernel lets this program be called at exits; 0 or -errno */
int leader_links__try_kprobe(int prog_fd);

/** leader_links__close() - let go of all of them */
void leader_links__close(struct leader *leader);

/** leader_links__are_alive() - whether somebody holds those of a kind */
bool leader_links__are_alive(const struct leader *leader, enum link_kind kind);

/** leader_links__skipped() - how often a linked program was skipped: what it would have seen */
__u64 leader_links__skipped(const struct leader *leader);

#endif
