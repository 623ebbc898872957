// SPDX-License-Identifier: GPL-2.0
#include "util/data/header_write.h"

#include "util/event/evlist.h"
#include "util/event/pmu.h"
#include "util/host/cpumap.h"
#include "util/lib/util.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

/* The CPUs, and texts of sysfs about them. */
struct machine {
	const char *sysfs;
	struct cpumap *online, *present;
	int nr_cpus; /* numbers they can have */
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

static void put_uname(struct byte_buffer *features)
{
	struct utsname name;

	byte_buffer__put_string(&features[FEATURE_VERSION], PERF_VERSION);
	if (uname(&name))
		return;
	byte_buffer__put_string(&features[FEATURE_HOSTNAME], name.nodename);
	byte_buffer__put_string(&features[FEATURE_OSRELEASE], name.release);
	byte_buffer__put_string(&features[FEATURE_ARCH], name.machine);
}

/* Return: the text after the colon of the first line that begins with @key; owned. */
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

static void put_proc(struct byte_buffer *features)
{
	char *model __cleanup(free_ptr) = proc_line("cpuinfo", "model name");
	char *memory __cleanup(free_ptr) = proc_line("meminfo", "MemTotal");

	if (model)
		byte_buffer__put_string(&features[FEATURE_CPUDESC], model);
	if (memory)
		byte_buffer__put_u64(&features[FEATURE_TOTAL_MEM], strtoull(memory, NULL, 10));
}

static void put_command(struct byte_buffer *bytes, int argc, char *const *argv)
{
	byte_buffer__put_u32(bytes, argc + 1);
	byte_buffer__put_string(bytes, program_invocation_name);
	for (int i = 0; i < argc; i++)
		byte_buffer__put_string(bytes, argv[i]);
}

static void put_events(struct byte_buffer *bytes, const struct evlist *evlist,
		       const struct data_attr *attrs)
{
	struct evsel *evsel;
	int i;

	if (!evlist->nr)
		return;
	byte_buffer__put_u32(bytes, evlist->nr);
	byte_buffer__put_u32(bytes, attrs[0].attr.size);
	evlist__for_each(evlist, evsel, i) {
		byte_buffer__put(bytes, &attrs[i].attr, attrs[i].attr.size);
		byte_buffer__put_u32(bytes, attrs[i].nr_ids);
		byte_buffer__put_string(bytes, evsel->name);
		byte_buffer__put(bytes, attrs[i].ids, attrs[i].nr_ids * sizeof(*attrs[i].ids));
	}
}

static void put_groups(struct byte_buffer *bytes, const struct evlist *evlist)
{
	struct evsel *evsel;
	uint32_t nr = 0;
	int i;

	evlist__for_each(evlist, evsel, i)
		nr += evsel->nr_members > 1;
	if (!nr)
		return;
	byte_buffer__put_u32(bytes, nr);
	evlist__for_each(evlist, evsel, i) {
		if (evsel->nr_members <= 1)
			continue;
		byte_buffer__put_string(bytes,
					evsel->group_name ? evsel->group_name : "{anon_group}");
		byte_buffer__put_u32(bytes, i);
		byte_buffer__put_u32(bytes, evsel->nr_members);
	}
}

static void put_pmus(struct byte_buffer *bytes, struct pmus *pmus)
{
	struct pmu *pmu;
	uint32_t nr = 0;

	for (pmu = pmus__next(pmus, NULL); pmu; pmu = pmus__next(pmus, pmu))
		nr += pmu->type != PMU_TYPE_TOOL;
	byte_buffer__put_u32(bytes, nr);
	for (pmu = pmus__next(pmus, NULL); pmu; pmu = pmus__next(pmus, pmu)) {
		if (pmu->type == PMU_TYPE_TOOL)
			continue;
		byte_buffer__put_u32(bytes, pmu->type);
		byte_buffer__put_string(bytes, pmu->name);
	}
}

/* Write the different texts of all CPUs in the first of these files that exists. */
static void put_siblings(struct byte_buffer *bytes, const struct machine *m,
			 const char *const files[2])
{
	struct byte_buffer strings = {};
	uint32_t nr = 0;

	for (int i = 0; i < m->online->nr; i++) {
		char *text __cleanup(free_ptr) = cpu_text(m, m->online->cpu[i], files[0]);
		struct cpumap *map;

		if (!text)
			text = cpu_text(m, m->online->cpu[i], files[1]);
		map = text ? cpumap__parse(text) : NULL;
		/* The first online CPU of each set writes it. */
		for (int c = 0; map && c < map->nr; c++) {
			if (!cpumap__has(m->online, map->cpu[c]))
				continue;
			if (map->cpu[c] == m->online->cpu[i]) {
				byte_buffer__put_string(&strings, text);
				nr++;
			}
			break;
		}
		cpumap__delete(map);
	}
	byte_buffer__put_u32(bytes, nr);
	byte_buffer__put(bytes, strings.data, strings.len);
	bytes->has_failed |= strings.has_failed;
	byte_buffer__clear(&strings);
}

static void put_topology(struct byte_buffer *bytes, const struct machine *m)
{
	static const char *const cores[] = {"topology/package_cpus_list",
					    "topology/core_siblings_list"};
	static const char *const threads[] = {"topology/core_cpus_list",
					      "topology/thread_siblings_list"};
	static const char *const dies[] = {"topology/die_cpus_list", "topology/package_cpus_list"};

	put_siblings(bytes, m, cores);
	put_siblings(bytes, m, threads);
	for (int cpu = 0; cpu < m->nr_cpus; cpu++) {
		uint32_t missing = cpumap__has(m->online, cpu) ? 0 : UINT32_MAX;

		byte_buffer__put_u32(bytes, cpu_number(m, cpu, "topology/core_id", missing));
		byte_buffer__put_u32(bytes,
				     cpu_number(m, cpu, "topology/physical_package_id", missing));
	}
	put_siblings(bytes, m, dies);
	for (int cpu = 0; cpu < m->nr_cpus; cpu++)
		byte_buffer__put_u32(bytes,
				     cpu_number(m, cpu, "topology/die_id",
						cpumap__has(m->online, cpu) ? 0 : UINT32_MAX));
}

static uint64_t node_memory(const char *text, const char *key)
{
	const char *at = text ? strstr(text, key) : NULL;

	return at ? strtoull(at + strlen(key), NULL, 10) : 0;
}

static void put_nodes(struct byte_buffer *bytes, const struct machine *m)
{
	char *list_path __cleanup(free_ptr) = xasprintf("%s/devices/system/node/online", m->sysfs);
	char *list __cleanup(free_ptr) = list_path ? read_file_line(list_path) : NULL;
	struct cpumap *nodes = list ? cpumap__parse(list) : NULL;

	if (!nodes)
		return;
	byte_buffer__put_u32(bytes, nodes->nr);
	for (int i = 0; i < nodes->nr; i++) {
		char *dir __cleanup(free_ptr) =
			xasprintf("%s/devices/system/node/node%d", m->sysfs, nodes->cpu[i]);
		char *mem_path __cleanup(free_ptr) = dir ? xasprintf("%s/meminfo", dir) : NULL;
		char *cpus_path __cleanup(free_ptr) = dir ? xasprintf("%s/cpulist", dir) : NULL;
		char *memory __cleanup(free_ptr) = mem_path ? read_file(mem_path, NULL) : NULL;
		char *cpus __cleanup(free_ptr) = cpus_path ? read_file_line(cpus_path) : NULL;

		byte_buffer__put_u32(bytes, nodes->cpu[i]);
		byte_buffer__put_u64(bytes, node_memory(memory, "MemTotal:"));
		byte_buffer__put_u64(bytes, node_memory(memory, "MemFree:"));
		byte_buffer__put_string(bytes, cpus ? cpus : "");
	}
	cpumap__delete(nodes);
}

/* Write one cache, unless an earlier CPU has written it. Return: whether it exists. */
static bool put_cache(struct byte_buffer *bytes, uint32_t *nr, const struct machine *m, int cpu,
		      int index)
{
	static const char *const numbers[] = {"level", "coherency_line_size", "number_of_sets",
					      "ways_of_associativity"};
	static const char *const texts[] = {"type", "size", "shared_cpu_list"};
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
		byte_buffer__put_u32(bytes, cpu_number(m, cpu, file, 0));
	}
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		char *text __cleanup(free_ptr) = NULL;

		snprintf(file, sizeof(file), "cache/index%d/%s", index, texts[i]);
		text = cpu_text(m, cpu, file);
		byte_buffer__put_string(bytes, text ? text : "");
	}
	++*nr;
	return true;
}

static void put_caches(struct byte_buffer *bytes, const struct machine *m)
{
	struct byte_buffer caches = {};
	uint32_t nr = 0;

	for (int i = 0; i < m->online->nr; i++) {
		for (int index = 0; put_cache(&caches, &nr, m, m->online->cpu[i], index); index++)
			;
	}
	byte_buffer__put_u32(bytes, 1); /* version */
	byte_buffer__put_u32(bytes, nr);
	byte_buffer__put(bytes, caches.data, caches.len);
	bytes->has_failed |= caches.has_failed;
	byte_buffer__clear(&caches);
}

static void put_machine(struct byte_buffer *features, const char *sysfs)
{
	struct machine m = {
		.sysfs = sysfs, .online = cpumap__online(), .present = cpumap__present()};

	if (m.online && m.present) {
		m.nr_cpus = cpumap__max(m.present) + 1;
		/* Linux's perf writes the possible CPUs first. */
		byte_buffer__put_u32(&features[FEATURE_NRCPUS], m.nr_cpus);
		byte_buffer__put_u32(&features[FEATURE_NRCPUS], m.online->nr);
		put_topology(&features[FEATURE_CPU_TOPOLOGY], &m);
		put_nodes(&features[FEATURE_NUMA_TOPOLOGY], &m);
		put_caches(&features[FEATURE_CACHE], &m);
	}
	cpumap__delete(m.online);
	cpumap__delete(m.present);
}

int header_write__fill(struct byte_buffer features[NR_FEATURES], const struct header_source *source)
{
	bool has_failed = false;

	put_uname(features);
	put_proc(features);
	put_command(&features[FEATURE_CMDLINE], source->argc, source->argv);
	put_events(&features[FEATURE_EVENT_DESC], source->evlist, source->attrs);
	put_groups(&features[FEATURE_GROUP_DESC], source->evlist);
	put_pmus(&features[FEATURE_PMU_MAPPINGS], source->pmus);
	put_machine(features, source->sysfs);
	for (int f = 0; f < NR_FEATURES; f++)
		has_failed |= features[f].has_failed;
	return has_failed ? -ENOMEM : 0;
}

void header_write__clear(struct byte_buffer features[NR_FEATURES])
{
	for (int f = 0; f < NR_FEATURES; f++)
		byte_buffer__clear(&features[f]);
}
