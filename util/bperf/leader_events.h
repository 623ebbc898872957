/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_BPERF_LEADER_EVENTS_H
#define PERF_BPERF_LEADER_EVENTS_H

/*
 * The perf events in the leader's slots: opened, closed, and opened again on CPUs that were offline.
 * The first three functions are for the session that claimed the slots (util/bperf/registry.h).
 */

#include <stdbool.h>
#include <stdint.h>

struct cpumap;
struct bperf_leader;

/* An event or group that is being opened: the context of the functions for struct registry_io. */
struct leader_opening {
	struct bperf_leader *leader;
	const struct cpumap *cpus; /* of the event being opened */
	int refused;		   /* the member whose opening failed, or -1 */
};

/** leader_events__open(), __withdraw(), __close() - see struct registry_io */
int leader_events__open(void *opening, int first, int nr);
bool leader_events__withdraw(void *opening, int first, int nr);
void leader_events__close(void *opening, int first, int nr);

/** leader_events__repair() - let others find events again, after foreign leaders; under the lock */
void leader_events__repair(struct bperf_leader *leader);

/**
 * leader_events__reopen() - open events on CPUs that came online since they were opened
 * @waits: for the lock, and for another session that opens them just now; else only tries
 *
 * Their perf events are dead for good: removed with the CPU, they read the same for ever. Readings
 * go on from where they were; the time from the CPU's return counts as enabled, not as running.
 * Without the lock: it is taken for each event, once that is open.
 * Return: 0; -EWOULDBLOCK, -ETIMEDOUT, -EINTR: something is left to do.
 */
int leader_events__reopen(struct bperf_leader *leader, bool waits);

/** leader_events__needs_repair() - whether that would change any; nearly always without a system call */
bool leader_events__needs_repair(const struct bperf_leader *leader);

/**
 * leader_events__gap_ns() - how long a CPU that came back has had dead events so far, in nanoseconds
 *
 * This includes the time until now, if they are still dead. Only the difference of two calls means something.
 */
uint64_t leader_events__gap_ns(const struct bperf_leader *leader, int cpu);

#endif
