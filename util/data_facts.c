// SPDX-License-Identifier: GPL-2.0
/* Reading what data_features.c or Linux's perf wrote; it may be anything. */
#include "data_features.h"

#include "cpumap.h"
#include "topology.h"
#include "util.h"

#include <errno.h>
#include <string.h>

#define MAX_CPUS 65535		/* numbers of CPUs have 16 bits in records */

static int set_text(char **text, struct byte_reader *r)
{
	const char *string = byte_reader__string(r);

	if (!string)
		return -EINVAL;
	free(*text);
	*text = strdup(string);
	text__make_printable(*text);
	return *text ? 0 : -ENOMEM;
}

static int read_command(struct data_facts *facts, struct byte_reader *r)
{
	uint32_t nr = byte_reader__u32(r);
	struct bytes line = {};

	for (uint32_t i = 0; i < nr && !r->is_short; i++) {
		const char *word = byte_reader__string(r);

		if (i && word)
			bytes__put(&line, " ", 1);
		if (word)
			bytes__put(&line, word, strlen(word));
	}
	bytes__put_text(&line, "");
	if (!line.has_failed)
		text__make_printable(line.data);
	free(facts->command);
	facts->command = line.data;
	return line.has_failed ? -ENOMEM : 0;
}

static int read_names(struct data_facts *facts, struct byte_reader *r)
{
	uint32_t nr = byte_reader__u32(r), attr_size = byte_reader__u32(r);

	/* Each takes more than a byte: so many there can be. */
	if (facts->names || nr > r->left)
		return -EINVAL;
	facts->names = calloc(nr + 1, sizeof(*facts->names));
	if (!facts->names)
		return -ENOMEM;
	for (uint32_t i = 0; i < nr && !r->is_short; i++) {
		uint32_t nr_ids;
		int err;

		byte_reader__skip(r, attr_size);
		nr_ids = byte_reader__u32(r);
		err = set_text(&facts->names[i], r);
		if (err)
			return err;
		facts->nr_names = i + 1;
		byte_reader__skip(r, nr_ids * sizeof(uint64_t));
	}
	return 0;
}

static int read_pmus(struct data_facts *facts, struct byte_reader *r)
{
	uint32_t nr = byte_reader__u32(r);

	if (facts->pmus || nr > r->left)
		return -EINVAL;
	facts->pmus = calloc(nr + 1, sizeof(*facts->pmus));
	if (!facts->pmus)
		return -ENOMEM;
	for (uint32_t i = 0; i < nr && !r->is_short; i++) {
		int err;

		facts->pmus[i].type = byte_reader__u32(r);
		err = set_text(&facts->pmus[i].name, r);
		if (err)
			return err;
		facts->nr_pmus = i + 1;
	}
	return 0;
}

static int read_nr_cpus(struct data_facts *facts, struct byte_reader *r)
{
	uint32_t nr = byte_reader__u32(r), nr_online = byte_reader__u32(r);

	/* Which of them comes first has not always been the same. */
	nr = nr_online > nr ? nr_online : nr;
	if (!nr || nr > MAX_CPUS || facts->topology)
		return -EINVAL;
	facts->topology = topology__new(nr);
	return facts->topology ? 0 : -ENOMEM;
}

static void skip_strings(struct byte_reader *r)
{
	uint32_t nr = byte_reader__u32(r);

	while (nr-- && !r->is_short)
		byte_reader__string(r);
}

/* A CPU that was offline has no place. */
static int place(uint32_t number)
{
	return number > INT32_MAX ? 0 : number;
}

static int read_topology(struct data_facts *facts, struct byte_reader *r)
{
	struct topology *topology = facts->topology;

	if (!topology)
		return 0;
	skip_strings(r);
	skip_strings(r);
	for (int cpu = 0; cpu < topology->nr_cpus; cpu++) {
		topology->cpus[cpu].core = place(byte_reader__u32(r));
		topology->cpus[cpu].socket = place(byte_reader__u32(r));
	}
	/* Before 5.0 nothing was said of dies. */
	if (!r->left)
		return 0;
	skip_strings(r);
	for (int cpu = 0; cpu < topology->nr_cpus; cpu++)
		topology->cpus[cpu].die = place(byte_reader__u32(r));
	return 0;
}

static int read_nodes(struct data_facts *facts, struct byte_reader *r)
{
	struct topology *topology = facts->topology;
	uint32_t nr = byte_reader__u32(r);

	for (uint32_t i = 0; topology && i < nr && !r->is_short; i++) {
		uint32_t node = byte_reader__u32(r);
		const char *list;
		struct cpumap *map;

		byte_reader__skip(r, 2 * sizeof(uint64_t));
		list = byte_reader__string(r);
		map = list ? cpumap__parse(list) : NULL;
		for (int c = 0; map && c < map->nr; c++) {
			if (map->cpu[c] >= 0 && map->cpu[c] < topology->nr_cpus)
				topology->cpus[map->cpu[c]].node = place(node);
		}
		cpumap__delete(map);
	}
	return 0;
}

static int read_caches(struct data_facts *facts, struct byte_reader *r)
{
	struct topology *topology = facts->topology;
	uint32_t version = byte_reader__u32(r), nr = byte_reader__u32(r);

	for (uint32_t i = 0; version == 1 && topology && i < nr && !r->is_short; i++) {
		uint32_t level = byte_reader__u32(r);
		struct cpumap *map;
		const char *list;

		byte_reader__skip(r, 3 * sizeof(uint32_t));
		byte_reader__string(r);
		byte_reader__string(r);
		list = byte_reader__string(r);
		map = list && level >= 1 && level <= NR_CACHE_LEVELS ? cpumap__parse(list) : NULL;
		for (int c = 0; map && c < map->nr; c++) {
			int cpu = map->cpu[c];

			if (cpu >= 0 && cpu < topology->nr_cpus &&
			    topology->caches[cpu][level - 1] < 0)
				topology->caches[cpu][level - 1] = map->cpu[0];
		}
		cpumap__delete(map);
	}
	return 0;
}

int data_facts__add(struct data_facts *facts, enum data_feature feature, const char *data,
		    size_t len)
{
	struct byte_reader r = { .at = data, .left = len };
	int err = 0;

	switch (feature) {
	case FEATURE_VERSION:
		err = set_text(&facts->version, &r);
		break;
	case FEATURE_NRCPUS:
		err = read_nr_cpus(facts, &r);
		break;
	case FEATURE_CMDLINE:
		err = read_command(facts, &r);
		break;
	case FEATURE_EVENT_DESC:
		err = read_names(facts, &r);
		break;
	case FEATURE_CPU_TOPOLOGY:
		err = read_topology(facts, &r);
		break;
	case FEATURE_NUMA_TOPOLOGY:
		err = read_nodes(facts, &r);
		break;
	case FEATURE_PMU_MAPPINGS:
		err = read_pmus(facts, &r);
		break;
	case FEATURE_CACHE:
		err = read_caches(facts, &r);
		break;
	default:
		break;
	}
	return !err && r.is_short ? -EINVAL : err;
}

const char *data_facts__pmu(const struct data_facts *facts, uint32_t type)
{
	for (int i = 0; i < facts->nr_pmus; i++) {
		if (facts->pmus[i].type == type)
			return facts->pmus[i].name;
	}
	return NULL;
}

void data_facts__clear(struct data_facts *facts)
{
	free(facts->command);
	free(facts->version);
	for (int i = 0; i < facts->nr_names; i++)
		free(facts->names[i]);
	free(facts->names);
	for (int i = 0; i < facts->nr_pmus; i++)
		free(facts->pmus[i].name);
	free(facts->pmus);
	topology__delete(facts->topology);
	memset(facts, 0, sizeof(*facts));
}
