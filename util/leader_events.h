/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_UTIL_LEADER_EVENTS_H
#define PERF_UTIL_LEADER_EVENTS_H

/*
 * The perf events in the leader's slots: opened, closed, announced to others, and opened again on
 * CPUs that were offline. All but the calls needs the attr map's lock.
 */

#include <stdbool.h>

struct cpumap;
struct leader;

/* An event or group that is being opened: the context of the functions for struct registry_io. */
struct leader_opening {
	struct leader *leader;
	const struct cpumap *cpus;	/* of the event being opened */
	int refused;			/* the member whose opening failed, or -1 */
};

/** leader_events__open(), __close(), __announce() - see struct registry_io */
int leader_events__open(void *opening, int first, int nr);
void leader_events__close(void *opening, int first, int nr);
void leader_events__announce(void *opening, int first, int nr);

/**
 * leader_events__repair() - open events on CPUs that came online since they were opened
 *
 * Their perf events are dead for good: removed with the CPU, they read the same for ever. Readings
 * go on from where they were; the time from the CPU's return counts as enabled, not as running.
 */
void leader_events__repair(struct leader *leader);

/**
 * leader_events__calls_fd() - for an epoll, edge triggered: calls for leader_events__answer()
 *
 * All runs get every call.
 */
int leader_events__calls_fd(const struct leader *leader);

/**
 * leader_events__answer() - look after what the programs called for, if nobody did yet
 *
 * Takes the lock for that. Return: 0 or -errno.
 */
int leader_events__answer(struct leader *leader);

/** leader_events__unmap() - let go of memory */
void leader_events__unmap(struct leader *leader);

#endif
