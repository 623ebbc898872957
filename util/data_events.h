/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_UTIL_DATA_EVENTS_H
#define PERF_UTIL_DATA_EVENTS_H

/* From the records of perf.data to events with counts. */

#include "data_reader.h"
#include "stat_extra.h"

struct cpumap;
struct evlist;
struct pmus;
struct thread_map;

/* STAT_CONFIG; numbers as they were written. */
struct data_config {
	uint64_t nr;			/* of tags */
	uint64_t aggr_mode, interval_ms, scale, cache_level;
};

/* A round of counts. */
struct data_round_end {
	bool is_final;
	uint64_t time_ns;		/* since counting began */
	uint64_t user_ns, sys_ns;	/* of the command; 0 where it is not said */
};

struct data_id {
	uint64_t id;
	int idx;			/* of the event */
};

struct data_events {
	struct data_reader *reader;	/* borrowed, as are the next two; set by the caller */
	struct evlist *evlist;
	struct pmus *pmus;
	struct data_config config;
	struct stat_extra extra;
	struct cpumap *cpus;		/* of events without CPUs of their own; NULL: not said yet */
	struct thread_map *threads;	/* NULL: counts are of CPUs, or not said yet */
	bool has_cpus;			/* an event has counts by CPU */
	bool has_sums;			/* an event has counts of several threads together */
	/* private */
	bool is_made, has_threads, has_own_first;
	struct data_id *ids;		/* sorted */
	int nr_ids;
	uint64_t nr_cpus_said;		/* CPUs in all maps of events */
	int own_update, own_stat;	/* which event without an id is meant, see own_event() */
	struct data_stat own_first;	/* the first count of that one */
};

/** data_events__take() - take in one that says what the events are. Return: 0 or -errno, said */
int data_events__take(struct data_events *events, struct data_record *record);

/** data_events__complete() - all of those have come: make room for the counts. 0 or -errno, said */
int data_events__complete(struct data_events *events);

/**
 * data_events__check_rows() - whether rows of CPUs, or threads, are not too many; after complete()
 *
 * Return: 0, or -EINVAL after a message.
 */
int data_events__check_rows(const struct data_events *events, bool is_by_thread);

/** data_events__take_stat() - counts, RECORD_STAT. Return: 0 or -EINVAL after a message */
int data_events__take_stat(struct data_events *events, struct data_record *record);

/** data_events__take_round() - what ends a round of counts, RECORD_STAT_ROUND. Return: as above */
int data_events__take_round(const struct data_events *events, struct data_record *record,
			    struct data_round_end *round);

/** data_events__cut_short() - say that the last round is missing. Return: -EINVAL */
int data_events__cut_short(const struct data_events *events);

/** data_events__clear() - the events and their counts stay, without threads */
void data_events__clear(struct data_events *events);

#endif
