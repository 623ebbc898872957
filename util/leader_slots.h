/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_UTIL_LEADER_SLOTS_H
#define PERF_UTIL_LEADER_SLOTS_H

/*
 * An event or group of the leader's on one CPU: @nr consecutive slots from @first. The attr map must
 * be locked for whatever changes something.
 */

#include "../bpf_skel/leader.h"

#include <stdbool.h>
#include <stdint.h>

struct leader;

/** leader_slots__idx() - where the perf event of a slot and CPU is in `events` */
__u32 leader_slots__idx(const struct leader *leader, int slot, int cpu);

/** leader_slots__row() - a CPU's readings, as of its last sync */
const struct cpu_readings *leader_slots__row(const struct leader *leader, int cpu);

/** leader_slots__set_mask() - add the slots to the mask of a sync */
void leader_slots__set_mask(int first, int nr, uint64_t mask[MASK_WORDS]);

/**
 * leader_slots__epoch() - names the time from a CPU's coming to its going; never 0
 *
 * What was opened in another one is dead.
 */
__u32 leader_slots__epoch(const struct leader *leader, int cpu);

/** leader_slots__is_done() - what is to be opened on a CPU has been, in its epoch */
bool leader_slots__is_done(const struct leader *leader, int slot, int cpu);

/** leader_slots__set_done() - so it is, as of an epoch; 0: it is not */
void leader_slots__set_done(const struct leader *leader, int first, int nr, int cpu, __u32 epoch);

/**
 * leader_slots__open() - open the perf events of empty slots
 * @refused: on error of perf_event_open(), which of them
 *
 * Return: 0 or -errno; -ENODEV: the CPU is not there.
 */
int leader_slots__open(const struct leader *leader, int first, int nr, int cpu, int *refused);

/**
 * leader_slots__reopen() - put living events in the place of dead ones
 * @gap_ns: how long there were none; counts as enabled, not as running
 *
 * Readings go on from where they were. Return: 1; 0: the CPU is not there; -errno.
 */
int leader_slots__reopen(struct leader *leader, int first, int nr, int cpu, __u64 gap_ns);

/**
 * leader_slots__renew() - what is read from now on is added to what was read before
 *
 * Nothing in the slots may be read meanwhile.
 */
void leader_slots__renew(const struct leader *leader, int first, int nr, int cpu, __u64 gap_ns);

/** leader_slots__drop() - nothing is in the slots any more; another leader's array is still held */
void leader_slots__drop(const struct leader *leader, int first, int nr, int cpu);

/** leader_slots__public_key() - the key under which member @i is known to others */
void leader_slots__public_key(const struct leader *leader, int first, int nr, int i,
			      struct attr_key *key);

/** leader_slots__begins() - whether an event or group that is ready has its first slot here */
bool leader_slots__begins(const struct leader *leader, int slot);

#endif
