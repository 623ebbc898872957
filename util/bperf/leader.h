/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_BPERF_LEADER_H
#define PERF_BPERF_LEADER_H

/*
 * The leader's descriptors and mapped memory in this process. The leader is the BPF programs and maps
 * that read shared events, one set per machine.
 *
 *	record -> link -> on_switch -> its maps -> registry, whose header has all ids
 *
 * No session owns it: every session holds a descriptor of each link, program and map. When the last
 * session ends, the kernel frees them, and with the maps the perf events in them.
 */

#include <linux/types.h>
#include <stdbool.h>

struct attr_map;

struct bperf_leader;
struct registry;
struct scope_tables;

/** bperf_leader__new() - make a leader that holds nothing yet; NULL: no memory */
struct bperf_leader *bperf_leader__new(struct attr_map *attr_map);

/**
 * bperf_leader__map() - map the memory that every session needs, of maps that are open
 * bperf_leader__map_scopes() - map the tables of scope sets, unless they are mapped
 * bperf_leader__map_walk() - the same of the tables of task walks
 * bperf_leader__map_buckets() - the same of the table of tasks
 * bperf_leader__map_cgroups() - the same of the tables of cgroups
 *
 * All but the first need the lock of tasks: they make maps that no session has needed so far.
 * Return: 0 or -errno.
 */
int bperf_leader__map(struct bperf_leader *leader);
int bperf_leader__map_scopes(struct bperf_leader *leader);
int bperf_leader__map_walk(struct bperf_leader *leader);
int bperf_leader__map_buckets(struct bperf_leader *leader);
int bperf_leader__map_cgroups(struct bperf_leader *leader);

/**
 * bperf_leader__delete() - let go of everything. NULL is ignored
 *
 * Without session__leave() before it other sessions take this one for dead.
 */
void bperf_leader__delete(struct bperf_leader *leader);

/** bperf_leader__set_cpu_mode() - set or clear a bit of cpu_state.mode, and MODE_CAREFUL if that follows */
void bperf_leader__set_cpu_mode(struct bperf_leader *leader, int cpu, __u32 mode, bool on);

/** bperf_leader__set_mode() - the same on all CPUs */
void bperf_leader__set_mode(struct bperf_leader *leader, __u32 mode, bool on);

/* --- for the rooms after this one, which do not see the struct --- */

/** bperf_leader__registry() - the mapped registry; others change it at any time */
const struct registry *bperf_leader__registry(const struct bperf_leader *leader);

/** bperf_leader__scope_tables() - the tables of scopes and their sums, borrowed */
const struct scope_tables *bperf_leader__scope_tables(const struct bperf_leader *leader);

/**
 * bperf_leader__nr_cpus() - the number of CPUs that the leader can count: those with smaller numbers
 *
 * A CPU that was added later may have a larger one: see util/bperf/late_cpus.h.
 */
int bperf_leader__nr_cpus(const struct bperf_leader *leader);

/** bperf_leader__seq() - the sequence count of a CPU's sums, odd while they change */
const __u64 *bperf_leader__seq(const struct bperf_leader *leader, int cpu);

/** bperf_leader__is_serving() - whether foreign followers have been seen */
bool bperf_leader__is_serving(const struct bperf_leader *leader);

#endif
