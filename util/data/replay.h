/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_DATA_REPLAY_H
#define PERF_DATA_REPLAY_H

/* Events and counts, rebuilt from the records of perf.data. */

#include "util/data/annotations.h"
#include "util/data/reader.h"

struct cpumap;
struct evlist;
struct pmus;
struct thread_map;

/* STAT_CONFIG; numbers as they were written. */
struct data_config {
	uint64_t nr; /* of tags */
	uint64_t aggr_mode, interval_ms, scale, cache_level;
};

/* A round of counts. */
struct data_round_end {
	bool is_final;
	uint64_t time_ns;	  /* since counting began */
	uint64_t user_ns, sys_ns; /* of the command; 0: unknown */
};

struct data_id {
	uint64_t id;
	int idx; /* of the event */
};

struct data_replay {
	struct data_reader *reader; /* borrowed, as are the next two; set by the caller */
	struct evlist *evlist;
	struct pmus *pmus;
	struct data_config config;
	struct annotations annotations;
	struct cpumap *cpus;	    /* of events without CPUs of their own; NULL: unknown yet */
	struct thread_map *threads; /* NULL: counts are of CPUs, or unknown yet */
	bool has_cpus;		    /* an event has counts by CPU */
	bool has_sums;		    /* an event has counts of several threads together */
	/* private */
	bool is_made, has_threads, has_own_first;
	struct data_id *ids; /* sorted */
	int nr_ids;
	uint64_t nr_cpus_said;	    /* CPUs in all maps of events */
	int own_update, own_stat;   /* which event without an id is meant, see own_event() */
	struct data_stat own_first; /* the first count of that one */
};

/** data_replay__take() - read a record that describes events. Return: 0 or -errno after a message */
int data_replay__take(struct data_replay *events, struct data_record *record);

/** data_replay__complete() - after those, make room for the counts. 0 or -errno after a message */
int data_replay__complete(struct data_replay *events);

/**
 * data_replay__check_rows() - whether rows of CPUs, or threads, are not too many; after complete()
 *
 * Return: 0, or -EINVAL after a message.
 */
int data_replay__check_rows(const struct data_replay *events, bool is_by_thread);

/** data_replay__take_stat() - read counts, RECORD_STAT. Return: 0 or -EINVAL after a message */
int data_replay__take_stat(struct data_replay *events, struct data_record *record);

/** data_replay__take_round() - read the end of a round, RECORD_STAT_ROUND. Return: as above */
int data_replay__take_round(const struct data_replay *events, struct data_record *record,
			    struct data_round_end *round);

/** data_replay__cut_short() - report that the last round is missing. Return: -EINVAL */
int data_replay__cut_short(const struct data_replay *events);

/** data_replay__clear() - free all but the events and their counts */
void data_replay__clear(struct data_replay *events);

#endif
