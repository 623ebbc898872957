/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_UTIL_SHARED_LIST_H
#define PERF_UTIL_SHARED_LIST_H

/*
 * What is shared through an attr map at one moment, for people: a copy of our leader's registry, a
 * short look at what each CPU counts, and the map's entries with the leaders behind them.
 */

#include "../bpf_skel/leader_registry.h"

#include <stdbool.h>
#include <sys/types.h>

struct attr_map;
struct leader;

/* What the link that an entry names turned out to be. */
enum entry_leader {
	ENTRY_DEAD,		/* gone, or something else altogether: the number was used again */
	ENTRY_OWN,		/* a leader of our kind */
	ENTRY_FOREIGN,		/* one of another implementation, or another layout of ours */
};

/* An entry of the attr map. */
struct shared_entry {
	struct attr_key key;	/* cut or extended to our length */
	__u32 link_id;
	__u32 diff_map_id;
	__u32 prog_id;		/* on_switch; 0: dead */
	enum entry_leader kind;
	int nr_followers;	/* programs of other implementations that read it */
	pid_t *pids;		/* processes that have hold of those, or of the leader's link: owned */
	int nr_pids;
};

/* How one slot was counted on one CPU while we looked. */
struct shared_sample {
	bool is_open;
	__u64 age_ns;		/* how long it has been enabled */
	__u64 enabled_ns;	/* while we looked */
	__u64 running_ns;
};

/* A BPF program that is counted. */
struct shared_prog {
	__u32 id;
	char *name;		/* NULL: it is gone */
	char type[24];
	int nr_events;		/* that are read there, for all runs */
	pid_t *pids;		/* of the runs that count it: owned */
	int nr_pids;
};

struct shared_list {
	struct shared_entry *entries;
	int nr_entries;
	struct registry *registry;	/* copy of our leader's; NULL: there is none */
	struct shared_prog *progs;
	int nr_progs;
	int nr_cpus;			/* of the registry */
	struct shared_sample *samples;	/* nr_cpus x MAX_EVENTS */
	__u64 taken_ns;			/* CLOCK_MONOTONIC of the copy */
};

/**
 * shared_list__entries() - read the attr map's entries and find out what they lead to
 * @attr_map: locked, so that what is dead stays dead
 *
 * Return: 0 or -errno; the entries are released by shared_list__clear() in any case.
 */
int shared_list__entries(struct shared_list *list, struct attr_map *attr_map);

/**
 * shared_list__copy() - copy the leader's registry, which must be locked, with the programs in it
 *
 * Return: 0 or -errno.
 */
int shared_list__copy(struct shared_list *list, const struct leader *leader);

/**
 * shared_list__sample() - look for a tenth of a second at what each CPU counts; needs no lock
 *
 * Slots that change meanwhile have no sample. Return: 0 or -errno.
 */
int shared_list__sample(struct shared_list *list, const struct leader *leader);

/** shared_list__find_users() - who uses the entries of other implementations */
void shared_list__find_users(struct shared_list *list);

/** shared_list__entry() - the entry that announces an event of our leader, or NULL */
const struct shared_entry *shared_list__entry(const struct shared_list *list, int slot);

static inline const struct shared_sample *shared_list__at(const struct shared_list *list, int cpu,
							   int slot)
{
	return &list->samples[cpu * MAX_EVENTS + slot];
}

/** shared_list__clear() - release what it has */
void shared_list__clear(struct shared_list *list);

#endif
