/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_BPERF_SESSION_H
#define PERF_BPERF_SESSION_H

/* The life of a session, from joining the leader to leaving it. */

#include <stdbool.h>

struct attr_key;
struct attr_map;
struct bperf_leader;
struct cpumap;

/**
 * session__join() - find the machine's leader, or load it, and register this session
 * @attr_map: open, not locked, also not afterwards; its lock is taken for the first time
 * @out: on success the leader, released by session__leave() or bperf_leader__delete()
 *
 * A leader that is there is found and held before the lock is taken; under it only the record is read
 * again. It also cleans up after dead sessions.
 * Return: 0, or -errno after a message; -ETIMEDOUT, -EINTR as attr_map__lock(). Without a message, -EUSERS: no room
 * for one more session.
 */
int session__join(struct attr_map *attr_map, struct bperf_leader **out);

/** session__why_full() - why session__join() returned -EUSERS; owned by the caller, NULL: out of memory */
char *session__why_full(void);

/**
 * session__repair() - clean up after one session that was seen to be dead, and mark what nobody needs
 *
 * The attr map must be locked. Scopes, and sessions that have some, stay: session__repair_scopes().
 */
void session__repair(struct bperf_leader *leader);

/**
 * session__unlock() - give the attr map's lock back, and finish without it what repair began
 * @waits: see leader_events__reopen(), which this includes, with its result
 */
int session__unlock(struct bperf_leader *leader, bool waits);

/**
 * session__repair_scopes() - remove the scopes of sessions that died
 *
 * Each one in a holding of its own of the lock of tasks, for half a second (@waits: a minute) at most.
 * Parameters and result as below.
 */
int session__repair_scopes(struct bperf_leader *leader, bool waits);

/**
 * session__clean_up() - repair everything: each dead session in a holding of its own
 * @waits: for the locks, see attr_map__expect(); else as far as they are free
 *
 * Return: 0; -EWOULDBLOCK, -ETIMEDOUT, -EINTR: a lock was held.
 */
int session__clean_up(struct bperf_leader *leader, bool waits);

/**
 * session__add_events() - count a group of events, shared with sessions that count the same
 * @leader: takes its attr map's lock, but opens events without it
 * @keys: of the events; a single one is a group of one
 * @cpus: the CPUs the events' PMU counts on
 * @refused: on error, which of the keys perf_event_open() refused; -1: another error
 *
 * Return: the first of @nr consecutive slots, or -errno without a message; -ENOSPC with @refused
 * -1: no slot is left.
 */
int session__add_events(struct bperf_leader *leader, const struct attr_key *keys, int nr,
			const struct cpumap *cpus, int *refused);

/**
 * session__leave_scopes() - stop counting tasks and cgroups for this session
 * session__leave() - take this session out of the registry, scopes and all
 *
 * Both take the locks. Return: 0; -ETIMEDOUT, -EINTR: a lock could not be had. The next session does the
 * rest, once this process has let go of its token.
 */
int session__leave_scopes(struct bperf_leader *leader);
int session__leave(struct bperf_leader *leader);

#endif
