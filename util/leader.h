/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_UTIL_LEADER_H
#define PERF_UTIL_LEADER_H

/*
 * The leader: the BPF programs and maps that read shared events, one set per machine.
 *
 *	attr map entry -> link -> on_switch -> its maps -> registry, whose header has all ids
 *
 * Nobody owns it: every run holds a descriptor of each link, program and map, and with the last
 * run the kernel frees them, and with the maps the perf events in them.
 */

#include "../bpf_skel/leader_registry.h"
#include "classes.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct attr_map;
struct cpumap;

struct leader {
	struct registry *registry;	/* mapped; see util/registry.h */
	int nr_cpus;			/* possible ones */
	int link_fd;
	int hotplug_link_fd;
	int map_fds[NR_LEADER_MAPS];
	int prog_fds[NR_LEADER_PROGS];
	__u8 *readings;			/* mapped */
	struct attr_map *attr_map;	/* borrowed */
	int run;			/* our number in the registry, -1: not registered */
	int token_fd;			/* our liveness token */

	/* Of util/leader_events.c, mapped when first needed */
	unsigned long *calls_seen;	/* how far the calls have been looked at */
	const unsigned long *calls_made;

	struct foreign_watch *watch;	/* of util/leader_foreign.c; CPU x slot; NULL until needed */

	/* Of util/leader_tasks.c, mapped */
	struct cpu_state *cpus;		/* per CPU */
	struct task_bucket *buckets;
	struct mark_request *marking;
	struct leader_counts *counts;
	struct classes classes;
	struct sum_block *chunks[MAX_CHUNKS];	/* one block per CPU; NULL: not mapped yet */
	int task_link_fds[NR_TASK_LINKS];
	struct cgroup_clock *cgroup_clock;
	struct newborn *newborns;	/* MAX_NEWBORNS */
	struct reg_cgroup *cgroups;	/* MAX_CGROUPS */
};

/* Shared with util/leader_*.c: memory of maps, liveness, and the steps that tests stop at. */
void *leader__map_memory(int fd, size_t size, int prot);
size_t leader__page_up(size_t size);
bool leader__is_run_alive(__u32 token);
bool leader__is_link_alive(__u32 id);
int leader__link_id(int fd, __u32 *id);
int leader__map_id(int fd, __u32 *id);
void leader__set_mode(struct leader *leader, __u32 mode, bool on);
void leader__step(const char *name);

/** leader__is_for_cgroups() - whether a program is loaded only when cgroups are counted */
bool leader__is_for_cgroups(enum leader_prog prog);

/**
 * leader__from_registry() - hold all parts of the leader that a registry describes
 * @fd: of the map `registry`; taken over
 * @out: on success the leader, released by leader__delete()
 *
 * Return: 0 or -errno; -ENOENT: not one of our layout for this attr map, or not complete.
 */
int leader__from_registry(struct attr_map *attr_map, int fd, struct leader **out);

/**
 * leader__load() - load the programs of a new leader, attach them, and hold it
 *
 * The attr map must be locked. Return: 0, or -errno after a message.
 */
int leader__load(struct attr_map *attr_map, bool with_cgroups, struct leader **out);

/**
 * leader__join() - find the machine's leader, or load it, and register this run
 * @attr_map: locked
 * @with_cgroups: cgroups will be counted: when it is loaded, what follows them is loaded at once
 * @out: on success the leader, released by leader__leave() or leader__delete()
 *
 * What dead runs left is cleaned up first.
 * Return: 0, or -errno after a message.
 */
int leader__join(struct attr_map *attr_map, bool with_cgroups, struct leader **out);

/**
 * leader__find() - the leader that serves an attr map, without joining it
 * @attr_map: locked; entries of dead leaders are deleted
 * @out: the leader, released by leader__delete(); NULL when there is none
 *
 * Return: 0 or -errno.
 */
int leader__find(struct attr_map *attr_map, struct leader **out);

/**
 * leader__repair() - clean up after runs that died, and open events on CPUs that came online
 *
 * The attr map must be locked.
 */
void leader__repair(struct leader *leader);

/**
 * leader__add_events() - count a group of events, shared with whoever counts the same
 * @leader: its attr map locked
 * @keys: of the events; a single one is a group of one
 * @cpus: the CPUs the events' PMU counts on
 * @refused: on error, which of the keys perf_event_open() refused; -1: another error
 *
 * Return: the first of @nr consecutive slots, or -errno without a message; -ENOSPC with @refused
 * -1: no slot is left.
 */
int leader__add_events(struct leader *leader, const struct attr_key *keys, int nr,
		       const struct cpumap *cpus, int *refused);

/** leader__leave() - take this run out of the registry; @leader's attr map must be locked */
void leader__leave(struct leader *leader);

/** leader__delete() - let go of everything; without leave() as if the run had died. NULL is ignored */
void leader__delete(struct leader *leader);

/**
 * leader__sync() - have a CPU read the events of a mask into its row
 * @with_tasks: also charge the task it runs
 *
 * Return: 0; -ENXIO: the CPU is offline; other -errno.
 */
int leader__sync(const struct leader *leader, int cpu, const uint64_t mask[MASK_WORDS],
		 bool with_tasks);

/** leader__sync_cgroup() - have a CPU charge the cgroup it runs; the same errors */
int leader__sync_cgroup(const struct leader *leader, int cpu);

/**
 * leader__load_cgroups() - load the programs that follow cgroups, unless they are there
 *
 * The attr map must be locked. Return: 0, or -errno after a message.
 */
int leader__load_cgroups(struct leader *leader);

/**
 * leader__readings() - copy readings of one CPU, all from the same sync
 * @slots: which
 * @out: @nr readings
 */
void leader__readings(const struct leader *leader, int cpu, const int *slots, int nr,
		      struct event_reading *out);

#endif
