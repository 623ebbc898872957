/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_BPERF_LEADER_WAKEUP_H
#define PERF_BPERF_LEADER_WAKEUP_H

/* Wakeups of sessions by the leader's programs, and their handling. */

struct bperf_leader;

/**
 * leader_wakeup__fd() - the descriptor that becomes readable when leader_wakeup__handle() is needed
 * leader_wakeup__created_fd() - the same for sessions that watch for new cgroups
 *
 * For an epoll, edge triggered. All sessions get every wakeup.
 */
int leader_wakeup__fd(const struct bperf_leader *leader);
int leader_wakeup__created_fd(const struct bperf_leader *leader);

/**
 * leader_wakeup__serve() - serve new followers
 * leader_wakeup__handle() - the same, and open events on CPUs that came online
 *
 * Another session may have done so already. Tries the lock.
 * Return: 0; -EWOULDBLOCK: held, or not possible yet, call again soon; other -errno.
 */
int leader_wakeup__serve(struct bperf_leader *leader);
int leader_wakeup__handle(struct bperf_leader *leader);

/** leader_wakeup__see_created() - make room for more wakeups about new cgroups; 0 or -errno */
int leader_wakeup__see_created(struct bperf_leader *leader);

#endif
