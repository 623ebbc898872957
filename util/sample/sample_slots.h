/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_SAMPLE_SAMPLE_SLOTS_H
#define PERF_SAMPLE_SAMPLE_SLOTS_H

/*
 * The slots of sampled events, and the sampling sessions that use them. Everything that changes something
 * needs the lock of tasks. A session can be killed between any two writes. Then the rest is undone, or
 * finished, by the next that calls sample_slots__remove_dead(), and sample_slots__apply() for each stale slot.
 *
 *	join	table into the map of tables, session's place: fields, then token
 *		slot: key, then class; user bit | events
 *	leave	user bits go, then the token | events, slot by slot
 *
 * Loading a program takes long (0.04 seconds on a server), and others wait for the lock a second at most. So a session
 * gives the lock back after each slot.
 */

#include "util/sample/sample_object.h"
#include "util/sample/sample_rate.h"

struct address_ranges;
struct cpumap;

/**
 * sample_slots__add_sampler() - register a session
 * @table_fd: its tables
 * @records_fd: its records of single samples; -1: none
 * @cpus: that it samples; NULL: all
 *
 * Return: its number, or -errno; -ENOSPC: there are MAX_SAMPLERS.
 */
int sample_slots__add_sampler(struct sample_object *object, int table_fd, int records_fd,
			      const struct cpumap *cpus);

/** sample_slots__set_ranges() - give a session ranges of addresses; see sample_ranges__set() */
int sample_slots__set_ranges(struct sample_object *object, int sampler,
			     const struct address_ranges *ranges);

/**
 * sample_slots__add() - have a session sample an event; no event is opened yet
 * @needs: SAMPLE_NEEDS_*
 *
 * Return: the slot, or -errno; -ENOSPC: there are MAX_SAMPLE_SLOTS; -EEXIST: it samples that already.
 */
int sample_slots__add(struct sample_object *object, int sampler, const struct attr_key *key,
		      const struct sample_rate *rate, uint32_t needs);

/**
 * sample_slots__set_rate() - change how often a session samples an event of its own
 * @rate: as sample_rate.value; 0: not at all, although the slot stays its own
 */
void sample_slots__set_rate(struct sample_object *object, int sampler, int slot, uint64_t rate);

/**
 * sample_slots__apply() - open, replace and close a slot's events until they are as its users need them
 *
 * An event that cannot be opened stays stale, and keeps no other CPU from having its own.
 * Loads a program if events are to be opened: the longest that a session does under the lock. A slot that has no
 * user and no event any more is free.
 * Return: 0 or -errno of perf_event_open() or of the program.
 */
int sample_slots__apply(struct sample_object *object, int slot);

/**
 * sample_slots__is_stale() - whether an event that can be changed now is not as the slot's users need it; without the
 * lock. A slot without user and event is stale as well.
 */
bool sample_slots__is_stale(const struct sample_object *object, int slot);

/**
 * sample_slots__is_missing() - whether a CPU has no event of a slot, after sample_slots__apply() under the same lock
 *
 * A CPU that is offline has none either. CPUs of a kind that lacks the event do not count.
 */
bool sample_slots__is_missing(const struct sample_object *object, int slot, int cpu);

/** sample_slots__has_dead() - whether a session died */
bool sample_slots__has_dead(const struct sample_object *object);

/** sample_slots__remove_sampler() - a session samples no more; its slots may be stale then */
void sample_slots__remove_sampler(struct sample_object *object, int number);

/**
 * sample_slots__remove_dead() - take sessions that died out of all slots, and remove one of them
 *
 * Return: whether there are more to be removed, each in another holding of the lock.
 */
bool sample_slots__remove_dead(struct sample_object *object);

#endif
