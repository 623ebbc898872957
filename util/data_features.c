// SPDX-License-Identifier: GPL-2.0
/* Describing this machine and run; data_facts.c reads it. */
#include "data_features.h"

#include "cpumap.h"
#include "evlist.h"
#include "pmu.h"
#include "util.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

/* The CPUs, and texts of sysfs about them. */
struct machine {
	const char *sysfs;
	struct cpumap *online, *present;
	int nr_cpus;			/* numbers they can have */
};

static char *cpu_text(const struct machine *m, int cpu, const char *file)
{
	char *path __cleanup(free_ptr) =
		xasprintf("%s/devices/system/cpu/cpu%d/%s", m->sysfs, cpu, file);

	return path ? read_file_line(path) : NULL;
}

static uint32_t cpu_number(const struct machine *m, int cpu, const char *file, uint32_t missing)
{
	char *text __cleanup(free_ptr) = cpu_text(m, cpu, file);

	return text && *text != '-' ? strtoul(text, NULL, 10) : missing;
}

static void put_uname(struct bytes *features)
{
	struct utsname name;

	bytes__put_string(&features[FEATURE_VERSION], PERF_VERSION);
	if (uname(&name))
		return;
	bytes__put_string(&features[FEATURE_HOSTNAME], name.nodename);
	bytes__put_string(&features[FEATURE_OSRELEASE], name.release);
	bytes__put_string(&features[FEATURE_ARCH], name.machine);
}

/* What stands behind the colon of the first line that begins with @key. */
static char *proc_line(const char *file, const char *key)
{
	char *path __cleanup(free_ptr) = xasprintf("%s/%s", procfs_root(), file);
	char *text __cleanup(free_ptr) = path ? read_file(path, NULL) : NULL;
	char *line = text ? strstr(text, key) : NULL, *value = line ? strchr(line, ':') : NULL;

	if (!value)
		return NULL;
	value += 1 + strspn(value + 1, " \t");
	return strndup(value, strcspn(value, "\n"));
}

static void put_proc(struct bytes *features)
{
	char *model __cleanup(free_ptr) = proc_line("cpuinfo", "model name");
	char *memory __cleanup(free_ptr) = proc_line("meminfo", "MemTotal");

	if (model)
		bytes__put_string(&features[FEATURE_CPUDESC], model);
	if (memory)
		bytes__put_u64(&features[FEATURE_TOTAL_MEM], strtoull(memory, NULL, 10));
}

static void put_command(struct bytes *bytes, int argc, char *const *argv)
{
	bytes__put_u32(bytes, argc + 1);
	bytes__put_string(bytes, program_invocation_name);
	for (int i = 0; i < argc; i++)
		bytes__put_string(bytes, argv[i]);
}

static void put_events(struct bytes *bytes, const struct evlist *evlist,
		       const struct data_attr *attrs)
{
	struct evsel *evsel;
	int i;

	if (!evlist->nr)
		return;
	bytes__put_u32(bytes, evlist->nr);
	bytes__put_u32(bytes, attrs[0].attr.size);
	evlist__for_each(evlist, evsel, i) {
		bytes__put(bytes, &attrs[i].attr, attrs[i].attr.size);
		bytes__put_u32(bytes, attrs[i].nr_ids);
		bytes__put_string(bytes, evsel->name);
		bytes__put(bytes, attrs[i].ids, attrs[i].nr_ids * sizeof(*attrs[i].ids));
	}
}

static void put_groups(struct bytes *bytes, const struct evlist *evlist)
{
	struct evsel *evsel;
	uint32_t nr = 0;
	int i;

	evlist__for_each(evlist, evsel, i)
		nr += evsel->nr_members > 1;
	if (!nr)
		return;
	bytes__put_u32(bytes, nr);
	evlist__for_each(evlist, evsel, i) {
		if (evsel->nr_members <= 1)
			continue;
		bytes__put_string(bytes, evsel->group_name ? evsel->group_name : "{anon_group}");
		bytes__put_u32(bytes, i);
		bytes__put_u32(bytes, evsel->nr_members);
	}
}

static void put_pmus(struct bytes *bytes, struct pmus *pmus)
{
	struct pmu *pmu;
	uint32_t nr = 0;

	for (pmu = pmus__next(pmus, NULL); pmu; pmu = pmus__next(pmus, pmu))
		nr += pmu->type != PMU_TYPE_TOOL;
	bytes__put_u32(bytes, nr);
	for (pmu = pmus__next(pmus, NULL); pmu; pmu = pmus__next(pmus, pmu)) {
		if (pmu->type == PMU_TYPE_TOOL)
			continue;
		bytes__put_u32(bytes, pmu->type);
		bytes__put_string(bytes, pmu->name);
	}
}

/* The different texts that one of these files has, of all CPUs; the first that exists. */
static void put_siblings(struct bytes *bytes, const struct machine *m, const char *const files[2])
{
	struct bytes strings = {};
	uint32_t nr = 0;

	for (int i = 0; i < m->online->nr; i++) {
		char *text __cleanup(free_ptr) = cpu_text(m, m->online->cpu[i], files[0]);
		struct cpumap *map;

		if (!text)
			text = cpu_text(m, m->online->cpu[i], files[1]);
		map = text ? cpumap__parse(text) : NULL;
		/* Each is said by its first CPU that is there. */
		for (int c = 0; map && c < map->nr; c++) {
			if (!cpumap__has(m->online, map->cpu[c]))
				continue;
			if (map->cpu[c] == m->online->cpu[i]) {
				bytes__put_string(&strings, text);
				nr++;
			}
			break;
		}
		cpumap__delete(map);
	}
	bytes__put_u32(bytes, nr);
	bytes__put(bytes, strings.data, strings.len);
	bytes->has_failed |= strings.has_failed;
	bytes__clear(&strings);
}

static void put_topology(struct bytes *bytes, const struct machine *m)
{
	static const char *const cores[] = { "topology/package_cpus_list",
					     "topology/core_siblings_list" };
	static const char *const threads[] = { "topology/core_cpus_list",
					       "topology/thread_siblings_list" };
	static const char *const dies[] = { "topology/die_cpus_list",
					    "topology/package_cpus_list" };

	put_siblings(bytes, m, cores);
	put_siblings(bytes, m, threads);
	for (int cpu = 0; cpu < m->nr_cpus; cpu++) {
		uint32_t missing = cpumap__has(m->online, cpu) ? 0 : UINT32_MAX;

		bytes__put_u32(bytes, cpu_number(m, cpu, "topology/core_id", missing));
		bytes__put_u32(bytes, cpu_number(m, cpu, "topology/physical_package_id", missing));
	}
	put_siblings(bytes, m, dies);
	for (int cpu = 0; cpu < m->nr_cpus; cpu++)
		bytes__put_u32(bytes, cpu_number(m, cpu, "topology/die_id",
						 cpumap__has(m->online, cpu) ? 0 : UINT32_MAX));
}

static uint64_t node_memory(const char *text, const char *key)
{
	const char *at = text ? strstr(text, key) : NULL;

	return at ? strtoull(at + strlen(key), NULL, 10) : 0;
}

static void put_nodes(struct bytes *bytes, const struct machine *m)
{
	char *list_path __cleanup(free_ptr) = xasprintf("%s/devices/system/node/online", m->sysfs);
	char *list __cleanup(free_ptr) = list_path ? read_file_line(list_path) : NULL;
	struct cpumap *nodes = list ? cpumap__parse(list) : NULL;

	if (!nodes)
		return;
	bytes__put_u32(bytes, nodes->nr);
	for (int i = 0; i < nodes->nr; i++) {
		char *dir __cleanup(free_ptr) = xasprintf("%s/devices/system/node/node%d", m->sysfs,
							  nodes->cpu[i]);
		char *mem_path __cleanup(free_ptr) = dir ? xasprintf("%s/meminfo", dir) : NULL;
		char *cpus_path __cleanup(free_ptr) = dir ? xasprintf("%s/cpulist", dir) : NULL;
		char *memory __cleanup(free_ptr) = mem_path ? read_file(mem_path, NULL) : NULL;
		char *cpus __cleanup(free_ptr) = cpus_path ? read_file_line(cpus_path) : NULL;

		bytes__put_u32(bytes, nodes->cpu[i]);
		bytes__put_u64(bytes, node_memory(memory, "MemTotal:"));
		bytes__put_u64(bytes, node_memory(memory, "MemFree:"));
		bytes__put_string(bytes, cpus ? cpus : "");
	}
	cpumap__delete(nodes);
}

/* One cache, unless a CPU before this one has told of it. Return: whether there is one at all. */
static bool put_cache(struct bytes *bytes, uint32_t *nr, const struct machine *m, int cpu,
		      int index)
{
	static const char *const numbers[] = { "level", "coherency_line_size", "number_of_sets",
					       "ways_of_associativity" };
	static const char *const texts[] = { "type", "size", "shared_cpu_list" };
	char *shared __cleanup(free_ptr) = NULL;
	struct cpumap *map;
	char file[64];
	bool is_first;

	snprintf(file, sizeof(file), "cache/index%d/shared_cpu_list", index);
	shared = cpu_text(m, cpu, file);
	if (!shared)
		return false;
	map = cpumap__parse(shared);
	is_first = map && map->nr && map->cpu[0] == cpu;
	cpumap__delete(map);
	if (!is_first)
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++) {
		snprintf(file, sizeof(file), "cache/index%d/%s", index, numbers[i]);
		bytes__put_u32(bytes, cpu_number(m, cpu, file, 0));
	}
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		char *text __cleanup(free_ptr) = NULL;

		snprintf(file, sizeof(file), "cache/index%d/%s", index, texts[i]);
		text = cpu_text(m, cpu, file);
		bytes__put_string(bytes, text ? text : "");
	}
	++*nr;
	return true;
}

static void put_caches(struct bytes *bytes, const struct machine *m)
{
	struct bytes caches = {};
	uint32_t nr = 0;

	for (int i = 0; i < m->online->nr; i++) {
		for (int index = 0; put_cache(&caches, &nr, m, m->online->cpu[i], index); index++)
			;
	}
	bytes__put_u32(bytes, 1);	/* version */
	bytes__put_u32(bytes, nr);
	bytes__put(bytes, caches.data, caches.len);
	bytes->has_failed |= caches.has_failed;
	bytes__clear(&caches);
}

static void put_machine(struct bytes *features, const char *sysfs)
{
	struct machine m = { .sysfs = sysfs,
			     .online = cpumap__online(),
			     .present = cpumap__present() };

	if (m.online && m.present) {
		m.nr_cpus = cpumap__max(m.present) + 1;
		/* As Linux's perf has it: those there can be come first. */
		bytes__put_u32(&features[FEATURE_NRCPUS], m.nr_cpus);
		bytes__put_u32(&features[FEATURE_NRCPUS], m.online->nr);
		put_topology(&features[FEATURE_CPU_TOPOLOGY], &m);
		put_nodes(&features[FEATURE_NUMA_TOPOLOGY], &m);
		put_caches(&features[FEATURE_CACHE], &m);
	}
	cpumap__delete(m.online);
	cpumap__delete(m.present);
}

int data_features__fill(struct bytes features[NR_FEATURES], const struct evlist *evlist,
			const struct data_attr *attrs, struct pmus *pmus, int argc,
			char *const *argv, const char *sysfs)
{
	bool has_failed = false;

	put_uname(features);
	put_proc(features);
	put_command(&features[FEATURE_CMDLINE], argc, argv);
	put_events(&features[FEATURE_EVENT_DESC], evlist, attrs);
	put_groups(&features[FEATURE_GROUP_DESC], evlist);
	put_pmus(&features[FEATURE_PMU_MAPPINGS], pmus);
	put_machine(features, sysfs);
	for (int f = 0; f < NR_FEATURES; f++)
		has_failed |= features[f].has_failed;
	return has_failed ? -ENOMEM : 0;
}

void data_features__clear(struct bytes features[NR_FEATURES])
{
	for (int f = 0; f < NR_FEATURES; f++)
		bytes__clear(&features[f]);
}
