/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_SYMBOL_MAP_EVENTS_H
#define PERF_SYMBOL_MAP_EVENTS_H

/*
 * Records of the kernel about new mappings, execs, forks and BPF programs, from an event on each CPU that
 * counts nothing.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct process_table;
struct symbol_table;

struct map_events;

/**
 * map_events__open() - open the events, which deliver records from now on
 *
 * Return: closed by map_events__close(); NULL with errno: EACCES: not permitted; others as of
 * perf_event_open() and mmap().
 */
struct map_events *map_events__open(void);
void map_events__close(struct map_events *events);

/**
 * map_events__take() - bring the table of processes up to date with all records that have arrived
 * @kernel: receives BPF programs that were loaded; the caller sorts it
 *
 * Records of different CPUs are applied in the order of their times.
 * Return: 0 or -ENOMEM.
 */
int map_events__take(struct map_events *events, struct process_table *processes,
		     struct symbol_table *kernel);

/** map_events__nr_lost() - records that found their buffer full */
uint64_t map_events__nr_lost(const struct map_events *events);

/* The place and the time of a record that waits for its turn. */
struct map_record {
	uint64_t time_ns; /* CLOCK_BOOTTIME */
	size_t at, len;	  /* of the whole record, in the caller's buffer */
	bool has_build_id;
};

/**
 * map_events__apply() - apply one record
 * @record: struct perf_event_header and what follows it; @len bytes, at least a header
 *
 * Return: 0; -EBADMSG: the record is too short for its type; -ENOMEM.
 */
int map_events__apply(const void *record, size_t len, struct process_table *processes,
		      struct symbol_table *kernel);

/**
 * map_events__apply_id() - apply one record of an event that delivers build ids
 *
 * The sign for a build id in the header does not suffice. If one event of a mapping has it, the kernel
 * gives it to all, also to those with an inode (Linux 5.12 to 7). Other records are ignored.
 * Return: as map_events__apply().
 */
int map_events__apply_id(const void *record, size_t len, struct process_table *processes);

#endif
