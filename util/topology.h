/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_UTIL_TOPOLOGY_H
#define PERF_UTIL_TOPOLOGY_H

/* Where CPUs are: as sysfs says, or as a file of recorded counts has it of another machine. */

#define NR_CACHE_LEVELS 4

/* Where a CPU is; numbers as sysfs gives them. */
struct cpu_topology {
	int node, socket, die, cluster, core;
	int cache_level, cache;		/* cache -1: none of that level; level -1: none at all */
};

/* That of all CPUs, of every level of caches. */
struct topology {
	int nr_cpus;
	struct cpu_topology *cpus;	/* their caches are in caches */
	int (*caches)[NR_CACHE_LEVELS];	/* of level 1 + i: its first CPU; -1: none */
};

/**
 * cpu_topology__read() - where a CPU is, but for its node
 * @sysfs: root of sysfs
 * @cache_level: which cache; 0: the one of the highest level
 */
void cpu_topology__read(struct cpu_topology *place, const char *sysfs, int cpu, int cache_level);

/** cpu_topology__read_nodes() - the nodes of all; without NUMA they stay as they are */
void cpu_topology__read_nodes(struct cpu_topology *cpus, int nr_cpus, const char *sysfs);

/** topology__new() - everything 0, and no caches; NULL with errno ENOMEM */
struct topology *topology__new(int nr_cpus);
void topology__delete(struct topology *topology);

/** topology__find() - as cpu_topology__read(), and the node; CPUs it has not are in place 0 */
void topology__find(const struct topology *topology, int cpu, int cache_level,
		    struct cpu_topology *place);

#endif
