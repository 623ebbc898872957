// SPDX-License-Identifier: GPL-2.0
#include "util/data/header_read.h"

#include "util/host/cpumap.h"
#include "util/host/topology.h"
#include "util/lib/byte_buffer.h"
#include "util/lib/util.h"

#include <errno.h>
#include <string.h>

#define MAX_CPUS 65535 /* numbers of CPUs have 16 bits in records */

static int set_text(char **text, struct byte_reader *r)
{
	const char *string = byte_reader__string(r);

	if (!string)
		return -EINVAL;
	free(*text);
	*text = strdup(string);
	return *text ? 0 : -ENOMEM;
}

static int read_command(struct header_fields *fields, struct byte_reader *r)
{
	uint32_t nr = byte_reader__u32(r);
	struct byte_buffer line = {};

	for (uint32_t i = 0; i < nr && !r->is_short; i++) {
		const char *word = byte_reader__string(r);

		if (i && word)
			byte_buffer__put(&line, " ", 1);
		if (word)
			byte_buffer__put(&line, word, strlen(word));
	}
	byte_buffer__put_text(&line, "");
	free(fields->command);
	fields->command = line.data;
	return line.has_failed ? -ENOMEM : 0;
}

static int read_names(struct header_fields *fields, struct byte_reader *r)
{
	uint32_t nr = byte_reader__u32(r), attr_size = byte_reader__u32(r);

	/* Each takes more than a byte. */
	if (fields->names || nr > r->left)
		return -EINVAL;
	fields->names = calloc(nr + 1, sizeof(*fields->names));
	if (!fields->names)
		return -ENOMEM;
	for (uint32_t i = 0; i < nr && !r->is_short; i++) {
		uint32_t nr_ids;
		int err;

		byte_reader__skip(r, attr_size);
		nr_ids = byte_reader__u32(r);
		err = set_text(&fields->names[i], r);
		if (err)
			return err;
		fields->nr_names = i + 1;
		byte_reader__skip(r, nr_ids * sizeof(uint64_t));
	}
	return 0;
}

static int read_pmus(struct header_fields *fields, struct byte_reader *r)
{
	uint32_t nr = byte_reader__u32(r);

	if (fields->pmus || nr > r->left)
		return -EINVAL;
	fields->pmus = calloc(nr + 1, sizeof(*fields->pmus));
	if (!fields->pmus)
		return -ENOMEM;
	for (uint32_t i = 0; i < nr && !r->is_short; i++) {
		int err;

		fields->pmus[i].type = byte_reader__u32(r);
		err = set_text(&fields->pmus[i].name, r);
		if (err)
			return err;
		fields->nr_pmus = i + 1;
	}
	return 0;
}

static int read_nr_cpus(struct header_fields *fields, struct byte_reader *r)
{
	uint32_t nr = byte_reader__u32(r), nr_online = byte_reader__u32(r);

	/* Their order has changed between releases. */
	nr = nr_online > nr ? nr_online : nr;
	if (!nr || nr > MAX_CPUS || fields->topology)
		return -EINVAL;
	fields->topology = topology__new(nr);
	return fields->topology ? 0 : -ENOMEM;
}

static void skip_strings(struct byte_reader *r)
{
	uint32_t nr = byte_reader__u32(r);

	while (nr-- && !r->is_short)
		byte_reader__string(r);
}

/* CPUs that were offline have no place: use 0. */
static int place(uint32_t number)
{
	return number > INT32_MAX ? 0 : number;
}

static int read_topology(struct header_fields *fields, struct byte_reader *r)
{
	struct topology *topology = fields->topology;

	if (!topology)
		return 0;
	skip_strings(r);
	skip_strings(r);
	for (int cpu = 0; cpu < topology->nr_cpus; cpu++) {
		topology->cpus[cpu].core = place(byte_reader__u32(r));
		topology->cpus[cpu].socket = place(byte_reader__u32(r));
	}
	/* perf wrote no dies before 5.0. */
	if (!r->left)
		return 0;
	skip_strings(r);
	for (int cpu = 0; cpu < topology->nr_cpus; cpu++)
		topology->cpus[cpu].die = place(byte_reader__u32(r));
	return 0;
}

static int read_nodes(struct header_fields *fields, struct byte_reader *r)
{
	struct topology *topology = fields->topology;
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

static int read_caches(struct header_fields *fields, struct byte_reader *r)
{
	struct topology *topology = fields->topology;
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

int header_fields__add(struct header_fields *fields, enum data_feature feature, const char *data,
		       size_t len)
{
	struct byte_reader r = {.at = data, .left = len};
	int err = 0;

	switch (feature) {
	case FEATURE_VERSION:
		err = set_text(&fields->version, &r);
		break;
	case FEATURE_NRCPUS:
		err = read_nr_cpus(fields, &r);
		break;
	case FEATURE_CMDLINE:
		err = read_command(fields, &r);
		break;
	case FEATURE_EVENT_DESC:
		err = read_names(fields, &r);
		break;
	case FEATURE_CPU_TOPOLOGY:
		err = read_topology(fields, &r);
		break;
	case FEATURE_NUMA_TOPOLOGY:
		err = read_nodes(fields, &r);
		break;
	case FEATURE_PMU_MAPPINGS:
		err = read_pmus(fields, &r);
		break;
	case FEATURE_CACHE:
		err = read_caches(fields, &r);
		break;
	default:
		break;
	}
	return !err && r.is_short ? -EINVAL : err;
}

const char *header_fields__pmu(const struct header_fields *fields, uint32_t type)
{
	for (int i = 0; i < fields->nr_pmus; i++) {
		if (fields->pmus[i].type == type)
			return fields->pmus[i].name;
	}
	return NULL;
}

void header_fields__clear(struct header_fields *fields)
{
	free(fields->command);
	free(fields->version);
	for (int i = 0; i < fields->nr_names; i++)
		free(fields->names[i]);
	free(fields->names);
	for (int i = 0; i < fields->nr_pmus; i++)
		free(fields->pmus[i].name);
	free(fields->pmus);
	topology__delete(fields->topology);
	memset(fields, 0, sizeof(*fields));
}
