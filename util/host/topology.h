/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_HOST_TOPOLOGY_H
#define PERF_HOST_TOPOLOGY_H

/* The topology of CPUs, read from sysfs or from recorded counts. */

#define NR_CACHE_LEVELS 4

/* Place of a CPU; numbers as in sysfs. */
struct cpu_topology {
	int node, socket, die, cluster, core;
	int cache_level, cache; /* cache -1: none of that level; level -1: none at all */
};

/* Places of all CPUs, with all levels of caches. */
struct topology {
	int nr_cpus;
	struct cpu_topology *cpus;	/* without caches, which are below */
	int (*caches)[NR_CACHE_LEVELS]; /* per CPU, [i] is level 1 + i: its first CPU; -1: none */
};

/**
 * cpu_topology__read() - read the place of a CPU, except its node
 * @sysfs: root of sysfs
 * @cache_level: the level of the cache; 0: the highest
 */
void cpu_topology__read(struct cpu_topology *place, const char *sysfs, int cpu, int cache_level);

/** cpu_topology__read_nodes() - read the nodes of all CPUs; unchanged without NUMA */
void cpu_topology__read_nodes(struct cpu_topology *cpus, int nr_cpus, const char *sysfs);

/** topology__new() - a topology of zeros without caches; NULL with errno ENOMEM */
struct topology *topology__new(int nr_cpus);
void topology__delete(struct topology *topology);

/** topology__find() - the place of a CPU; unknown CPUs have place 0 */
void topology__find(const struct topology *topology, int cpu, int cache_level,
		    struct cpu_topology *place);

#endif
