/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_BPERF_SNAPSHOT_H
#define PERF_BPERF_SNAPSHOT_H

/*
 * A snapshot of everything shared through an attr map. It has a copy of our leader's registry, samples of
 * what each CPU counts, and the map's entries with the leaders behind them.
 */

#include "bpf_skel/leader_registry.h"

#include <stdbool.h>
#include <sys/types.h>

struct attr_map;
struct attr_map_value;
struct bperf_leader;
struct foreign_pin;

/* The kind of link that an entry names. */
enum entry_leader {
	ENTRY_DEAD,    /* gone, or something else altogether: the number was used again */
	ENTRY_OWN,     /* a leader of our kind */
	ENTRY_FOREIGN, /* one of another implementation, or another layout of ours */
};

/* An entry of the attr map. */
struct shared_entry {
	struct attr_key key; /* cut or extended to our length */
	__u32 link_id;
	__u32 diff_map_id;
	__u32 prog_id; /* on_switch; 0: dead */
	enum entry_leader kind;
	int nr_followers; /* programs of other implementations that read it */
	pid_t *pids;	  /* processes that have hold of those, or of the leader's link: owned */
	int nr_pids;
};

/**
 * shared_entry__kind() - find out where an entry of the attr map leads to
 * @leader: ours; NULL: there is none
 * @prog_id: the id of that leader's on_switch; 0: dead, or not to be read
 */
enum entry_leader shared_entry__kind(const struct attr_map_value *value,
				     const struct bperf_leader *leader, __u32 *prog_id);

/* How one slot was counted on one CPU while we looked. */
struct shared_sample {
	bool is_open;
	__u64 age_ns;	  /* how long it has been enabled */
	__u64 enabled_ns; /* while we looked */
	__u64 running_ns;
};

/* A BPF program that is counted. */
struct shared_prog {
	__u32 id;
	char *name; /* NULL: it is gone */
	char type[24];
	int nr_events; /* that are read there, for all sessions */
	pid_t *pids;   /* of the sessions that count it: owned */
	int nr_pids;
};

struct snapshot {
	struct shared_entry *entries;
	int nr_entries;
	struct registry *registry; /* copy of our leader's; NULL: there is none */
	struct shared_prog *progs;
	int nr_progs;
	struct foreign_pin *pins; /* leaders that stay for followers */
	int nr_pins;
	int nr_cpus;		       /* of the registry */
	struct shared_sample *samples; /* nr_cpus x MAX_EVENTS */
	__u64 taken_ns;		       /* CLOCK_MONOTONIC of the copy */
};

/**
 * snapshot__entries() - read the attr map's entries and find out what they lead to
 * @attr_map: open; a session that comes or goes meanwhile shows in some of the entries only
 * @leader: ours; NULL: there is none
 *
 * Return: 0 or -errno; the entries are released by snapshot__clear() in any case.
 */
int snapshot__entries(struct snapshot *list, struct attr_map *attr_map,
		      const struct bperf_leader *leader);

/** snapshot__pins() - find the leaders that are pinned; the same errors */
int snapshot__pins(struct snapshot *list, const struct attr_map *attr_map);

/**
 * snapshot__copy() - copy the leader's registry, with the programs in it; needs no lock
 *
 * An event that is not sound in the copy is left out. Return: 0 or -errno.
 */
int snapshot__copy(struct snapshot *list, const struct bperf_leader *leader);

/**
 * snapshot__sample() - look for a tenth of a second at what each CPU counts; needs no lock
 *
 * Slots that change meanwhile have no sample. Return: 0 or -errno.
 */
int snapshot__sample(struct snapshot *list, const struct bperf_leader *leader);

/** snapshot__find_users() - who uses the entries of other implementations */
void snapshot__find_users(struct snapshot *list);

/** snapshot__entry() - the entry that announces an event of our leader, or NULL */
const struct shared_entry *snapshot__entry(const struct snapshot *list, int slot);

static inline const struct shared_sample *snapshot__at(const struct snapshot *list, int cpu,
						       int slot)
{
	return &list->samples[cpu * MAX_EVENTS + slot];
}

/** snapshot__clear() - release what it has */
void snapshot__clear(struct snapshot *list);

#endif
