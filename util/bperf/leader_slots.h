/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_BPERF_LEADER_SLOTS_H
#define PERF_BPERF_LEADER_SLOTS_H

/*
 * Slots of an event or group on one CPU: @nr consecutive ones from @first. Functions that change
 * something need the attr map's lock, or slots that this session has claimed.
 */

#include "bpf_skel/leader.h"

#include <stdbool.h>
#include <stdint.h>

struct bperf_leader;

/* Perf events of a group on one CPU, to be put into its slots. */
struct spare_events {
	int first, nr, cpu;
	__u32 epoch;	       /* of the CPU, before they were opened */
	struct attr_key *keys; /* of the members */
	bool is_open;
	int fds[MAX_EVENTS]; /* if they are open */
};

/** leader_slots__idx() - where the perf event of a slot and CPU is in `events` */
__u32 leader_slots__idx(const struct bperf_leader *leader, int slot, int cpu);

/** leader_slots__row() - a CPU's readings, as of its last sync */
const struct cpu_readings *leader_slots__row(const struct bperf_leader *leader, int cpu);

/** leader_slots__set_mask() - add the slots to the mask of a sync */
void leader_slots__set_mask(int first, int nr, uint64_t mask[MASK_WORDS]);

/**
 * leader_slots__epoch() - the number of the time from a CPU's coming to its going; never 0
 *
 * Events that were opened in another epoch are dead.
 */
__u32 leader_slots__epoch(const struct bperf_leader *leader, int cpu);

/** leader_slots__up_ns() - when a CPU came online last (CLOCK_MONOTONIC); 0: it always was there, or is just coming */
uint64_t leader_slots__up_ns(const struct bperf_leader *leader, int cpu);

/** leader_slots__is_done() - what is to be opened on a CPU has been, in its epoch */
bool leader_slots__is_done(const struct bperf_leader *leader, int slot, int cpu);

/** leader_slots__set_done() - note that it has been, in an epoch; EPOCH_*: it has not */
void leader_slots__set_done(const struct bperf_leader *leader, int first, int nr, int cpu,
			    __u32 epoch);

/**
 * leader_slots__open() - open the perf events of empty slots
 * @refused: on error of perf_event_open(), which of them
 *
 * Return: 0 or -errno; -ENODEV: the CPU is not there.
 */
int leader_slots__open(const struct bperf_leader *leader, int first, int nr, int cpu, int *refused);

/**
 * leader_slots__note() - note the events of a group, to open them again on a CPU; needs no lock
 * @first: the group's first slot
 * @spare: released by spare_events__clear(), also after an error
 *
 * Return: 0 or -ENOMEM.
 */
int leader_slots__note(const struct bperf_leader *leader, int first, int cpu,
		       struct spare_events *spare);

/**
 * spare_events__open() - open what was noted, without the lock: that sleeps. It does not count yet
 *
 * Return: 0 or -errno; -ENODEV: the CPU is not there.
 */
int spare_events__open(struct spare_events *spare);

/** leader_slots__is_noted() - whether the slots still have the events that were noted, in the same epoch */
bool leader_slots__is_noted(const struct bperf_leader *leader, const struct spare_events *spare);

/**
 * leader_slots__replace() - put spare events in the place of dead ones, and have them count
 * @gap_ns: how long there were none, besides the time of dead events in their readings; counts as
 *          enabled, not as running
 *
 * Readings go on from where they were. Return: 1; 0: the CPU is not there; -errno.
 */
int leader_slots__replace(struct bperf_leader *leader, const struct spare_events *spare,
			  __u64 gap_ns);

/** spare_events__clear() - close what is open, without the lock; slots keep what is in them */
void spare_events__clear(struct spare_events *spare);

/**
 * leader_slots__renew() - add new readings to the last ones from now on
 *
 * Nothing in the slots may be read meanwhile.
 */
void leader_slots__renew(const struct bperf_leader *leader, int first, int nr, int cpu,
			 __u64 gap_ns);

/** leader_slots__drop() - empty the slots; another leader's array is still held */
void leader_slots__drop(const struct bperf_leader *leader, int first, int nr, int cpu);

/**
 * leader_slots__set_absent() - note that a CPU has nothing to read, since the events' PMU is not on it
 * @is_absent: otherwise the events are missing there until they are opened
 */
void leader_slots__set_absent(const struct bperf_leader *leader, int first, int nr, int cpu,
			      bool is_absent);

/**
 * leader_slots__failed() - reads of a slot's event for tasks or cgroups that failed so far
 *
 * On the CPUs that have the event. It wraps around.
 */
__u32 leader_slots__failed(const struct bperf_leader *leader, int slot, enum scope_set_kind kind);

/** leader_slots__public_key() - the key under which member @i is known to others */
void leader_slots__public_key(const struct bperf_leader *leader, int first, int nr, int i,
			      struct attr_key *key);

/** leader_slots__nr_members() - the number of members of a group that begins here, bounded */
int leader_slots__nr_members(const struct bperf_leader *leader, int slot);

/** leader_slots__begins() - whether an event or group that is ready has its first slot here */
bool leader_slots__begins(const struct bperf_leader *leader, int slot);

/** leader_slots__is_foreign() - whether the event of a slot is read from another leader on a CPU */
bool leader_slots__is_foreign(const struct bperf_leader *leader, int slot, int cpu);

/** leader_slots__has_foreign() - whether it is on any CPU */
bool leader_slots__has_foreign(const struct bperf_leader *leader, int slot);

/** leader_slots__has_any_foreign() - whether the event of any slot is */
bool leader_slots__has_any_foreign(const struct bperf_leader *leader);

/** leader_slots__note_foreign() - clear the programs' mode if no slot is; the attr map must be locked */
void leader_slots__note_foreign(struct bperf_leader *leader);

#endif
