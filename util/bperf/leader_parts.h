/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_BPERF_LEADER_PARTS_H
#define PERF_BPERF_LEADER_PARTS_H

/*
 * The leader's maps in this layout: their names, types and sizes. perf makes them, and compares them
 * with what the kernel reports before it uses or maps another's. So no size comes from memory that
 * others write.
 */

#include "bpf_skel/leader_registry.h"

#include <stddef.h>

/* The name of maps that followers read, in all layouts: pins of another one are judged by who uses them. */
#define LEADER_DIFF_MAP "diff_readings"

/* The sessions that need a map. */
enum map_kind {
	MAPS_ALWAYS,  /* all: the leader is made with them */
	MAPS_SCOPES,  /* those that count tasks or cgroups */
	MAPS_TASKS,   /* those that count tasks */
	MAPS_CGROUPS, /* those that count cgroups */
};

/* The two kinds of chunks: the cells that programs write, and the carry cells behind them. */
enum sum_map { SUM_CELLS, SUM_CARRIES };

/** leader_parts__chunk_bytes() - the bytes of a chunk on one CPU */
size_t leader_parts__chunk_bytes(enum sum_map kind);

/** leader_parts__kind() - the kind of a map */
enum map_kind leader_parts__kind(enum leader_map map);

/** leader_parts__name() - the name of a map in the BPF objects; ".bss" is that of their variables */
const char *leader_parts__name(enum leader_map map);

/**
 * leader_parts__new() - make a map of the leader
 * leader_parts__new_chunk() - make a map of zeroed cells; SUM_CELLS: for the map of sums
 * leader_parts__new_diff() - make a map that followers read, for the map of differences
 * @nr_cpus: that the leader can count
 *
 * Return: a descriptor, owned by the caller, or -errno.
 */
int leader_parts__new(enum leader_map map, int nr_cpus);
int leader_parts__new_chunk(enum sum_map kind, int nr_cpus);
int leader_parts__new_diff(void);

/**
 * leader_parts__check() - whether a map is what this layout has in that place
 * @nr_cpus: LEADER_READINGS sets it, the others compare with it
 *
 * Return: 0; -EPROTO: it is not; other -errno.
 */
int leader_parts__check(enum leader_map map, int fd, int *nr_cpus);

/** leader_parts__check_diff() - the same of a map that followers read */
int leader_parts__check_diff(int fd);

/** leader_parts__check_chunk() - the same of a chunk of sums */
int leader_parts__check_chunk(int fd, enum sum_map kind, int nr_cpus);

#endif
