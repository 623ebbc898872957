// SPDX-License-Identifier: GPL-2.0
#include "util/host/topology.h"

#include "util/host/cpumap.h"
#include "util/lib/util.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

/* Files of a CPU's topology directory; the kernel omits levels that the machine lacks. */
static const struct {
	const char *file;
	size_t offset;
} topology_files[] = {
	{"physical_package_id", offsetof(struct cpu_topology, socket)},
	{"die_id", offsetof(struct cpu_topology, die)},
	{"cluster_id", offsetof(struct cpu_topology, cluster)},
	{"core_id", offsetof(struct cpu_topology, core)},
};

static char *read_cpu_line(const char *sysfs, int cpu, const char *file)
{
	char *path = xasprintf("%s/devices/system/cpu/cpu%d/%s", sysfs, cpu, file), *line;

	if (!path)
		return NULL;
	line = read_file_line(path);
	free(path);
	return line;
}

static int read_cpu_int(const char *sysfs, int cpu, const char *file, int missing)
{
	char *line = read_cpu_line(sysfs, cpu, file), *end;
	int value = missing;
	long number;

	if (line) {
		number = strtol(line, &end, 10);
		/* The kernel reports -1 if the firmware reports nothing. */
		if (end != line && number >= 0)
			value = number;
	}
	free(line);
	return value;
}

/*
 * Read the cache of the wanted level, or of the highest. Its number is its first CPU. A CPU without
 * that level has cache -1; a CPU without caches also has level -1.
 */
static void read_cache(struct cpu_topology *place, const char *sysfs, int cpu, int wanted)
{
	char file[64], *shared;
	int i, level;

	place->cache_level = -1;
	place->cache = -1;
	for (i = 0;; i++) {
		snprintf(file, sizeof(file), "cache/index%d/level", i);
		level = read_cpu_int(sysfs, cpu, file, -1);
		if (level < 0)
			return;
		if (wanted)
			place->cache_level = wanted;
		if (wanted ? level != wanted || place->cache >= 0 : level <= place->cache_level)
			continue;
		snprintf(file, sizeof(file), "cache/index%d/shared_cpu_list", i);
		shared = read_cpu_line(sysfs, cpu, file);
		if (shared && isdigit((unsigned char)*shared)) {
			place->cache_level = level;
			place->cache = strtol(shared, NULL, 10);
		}
		free(shared);
	}
}

void cpu_topology__read(struct cpu_topology *place, const char *sysfs, int cpu, int cache_level)
{
	char file[64];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(topology_files); i++) {
		snprintf(file, sizeof(file), "topology/%s", topology_files[i].file);
		*(int *)((char *)place + topology_files[i].offset) =
			read_cpu_int(sysfs, cpu, file, 0);
	}
	read_cache(place, sysfs, cpu, cache_level);
}

/* Each NUMA node lists its CPUs. */
void cpu_topology__read_nodes(struct cpu_topology *cpus, int nr_cpus, const char *sysfs)
{
	char *dir_path = xasprintf("%s/devices/system/node", sysfs), *path, *list;
	DIR *dir = dir_path ? opendir(dir_path) : NULL;
	struct cpumap *map;
	struct dirent *entry;
	int node, i;

	while (dir && (entry = readdir(dir))) {
		if (sscanf(entry->d_name, "node%d", &node) != 1)
			continue;
		path = xasprintf("%s/%s/cpulist", dir_path, entry->d_name);
		list = path ? read_file_line(path) : NULL;
		map = list ? cpumap__parse(list) : NULL;
		for (i = 0; map && i < map->nr; i++) {
			if (map->cpu[i] >= 0 && map->cpu[i] < nr_cpus)
				cpus[map->cpu[i]].node = node;
		}
		cpumap__delete(map);
		free(list);
		free(path);
	}
	if (dir)
		closedir(dir);
	free(dir_path);
}

struct topology *topology__new(int nr_cpus)
{
	struct topology *topology = calloc(1, sizeof(*topology));

	if (!topology)
		return NULL;
	topology->nr_cpus = nr_cpus;
	topology->cpus = calloc(nr_cpus, sizeof(*topology->cpus));
	topology->caches = malloc(nr_cpus * sizeof(*topology->caches));
	if (!topology->cpus || !topology->caches) {
		topology__delete(topology);
		errno = ENOMEM;
		return NULL;
	}
	for (int cpu = 0; cpu < nr_cpus; cpu++) {
		for (int level = 0; level < NR_CACHE_LEVELS; level++)
			topology->caches[cpu][level] = -1;
	}
	return topology;
}

void topology__delete(struct topology *topology)
{
	if (!topology)
		return;
	free(topology->cpus);
	free(topology->caches);
	free(topology);
}

void topology__find(const struct topology *topology, int cpu, int cache_level,
		    struct cpu_topology *place)
{
	int first = cache_level ? cache_level : NR_CACHE_LEVELS;

	memset(place, 0, sizeof(*place));
	place->cache_level = place->cache = -1;
	if (cpu >= topology->nr_cpus)
		return;
	*place = topology->cpus[cpu];
	place->cache_level = place->cache = -1;
	for (int level = first; level >= (cache_level ? cache_level : 1); level--) {
		if (topology->caches[cpu][level - 1] < 0)
			continue;
		place->cache_level = level;
		place->cache = topology->caches[cpu][level - 1];
		return;
	}
	for (int level = 0; cache_level && level < NR_CACHE_LEVELS; level++) {
		if (topology->caches[cpu][level] >= 0)
			place->cache_level = cache_level;
	}
}
