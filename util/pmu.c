// SPDX-License-Identifier: GPL-2.0
#include "pmu.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "cpumap.h"
#include "hwmon.h"
#include "msg.h"
#include "pmu_priv.h"
#include "util.h"

/* One name of one PMU; the index of all of them is sorted by name, then by PMU. */
struct index_entry {
	const char *name;
	int pmu;
};

struct pmus {
	struct pmu **pmus;
	int nr;
	int cap;
	int nr_core;
	const struct pmu *only_core;	/* --cputype, or NULL */
	const struct pmu *only;		/* --pmu-filter, or NULL */
	/* of all event names; made when first needed. names[i] is an event of owners[i] */
	const char **names;
	struct pmu **owners;
	int nr_names;
	bool has_sensors;		/* those of chips are among them */
};

static void delete_pmu(struct pmu *pmu)
{
	if (!pmu)
		return;
	pmu_priv__delete(pmu->priv);
	cpumap__delete(pmu->cpus);
	free(pmu->name);
	free(pmu->alias);
	free(pmu);
}

static struct pmu *alloc_pmu(const char *name, uint32_t type)
{
	struct pmu *pmu = calloc(1, sizeof(*pmu));

	if (!pmu)
		return NULL;
	pmu->type = type;
	pmu->max_precise = -1;
	pmu->name = strdup(name);
	if (pmu->name)
		return pmu;
	delete_pmu(pmu);
	return NULL;
}

static char *read_line_of(const char *dir, const char *file)
{
	char *path __cleanup(free_ptr) = xasprintf("%s/%s", dir, file);

	return path ? read_file_line(path) : NULL;
}

/* The map in @file, an empty one if the PMU has no CPU; NULL when there is no such file. */
static struct cpumap *read_cpus(const char *dir, const char *file)
{
	char *line __cleanup(free_ptr) = read_line_of(dir, file);
	struct cpumap *map;

	if (!line)
		return NULL;
	if (!*line)
		return cpumap__new(NULL, 0);
	map = cpumap__parse(line);
	if (!map)
		pr_debug("%s/%s: not a list of CPUs: '%s'", dir, file, line);
	return map;
}

/* NULL with errno: ENOENT when the directory describes no PMU. */
static struct pmu *read_pmu(const char *devices, const char *name)
{
	char *dir = xasprintf("%s/%s", devices, name);
	char *type __cleanup(free_ptr) = dir ? read_line_of(dir, "type") : NULL;
	char *precise __cleanup(free_ptr) = NULL;
	unsigned long long value;
	struct pmu *pmu;
	char *end;

	if (!type) {
		free(dir);
		return NULL;
	}
	errno = 0;
	value = strtoull(type, &end, 10);
	if (errno || end == type || *end || value > UINT32_MAX) {
		free(dir);
		errno = ENOENT;
		return NULL;
	}
	pmu = alloc_pmu(name, value);
	if (pmu)
		pmu->priv = pmu_priv__new(pmu, dir);
	if (!pmu || !pmu->priv) {
		free(dir);
		delete_pmu(pmu);
		errno = ENOMEM;
		return NULL;
	}
	pmu->alias = read_line_of(dir, "alias");
	pmu->cpus = read_cpus(dir, "cpus");
	pmu->is_core = pmu->cpus || !strcmp(name, "cpu") || !strcmp(name, "cpum_cf");
	if (!pmu->is_core) {
		pmu->cpus = read_cpus(dir, "cpumask");
		pmu->is_uncore = pmu->cpus != NULL;
	}
	precise = read_line_of(dir, "caps/max_precise");
	if (precise && isdigit((unsigned char)*precise))
		pmu->max_precise = atoi(precise);
	return pmu;
}

static int add_pmu(struct pmus *pmus, struct pmu *pmu)
{
	if (!pmu)
		return -ENOMEM;
	if (pmus->nr == pmus->cap) {
		int cap = pmus->cap ? pmus->cap * 2 : 16;
		struct pmu **grown = realloc(pmus->pmus, cap * sizeof(*grown));

		if (!grown) {
			delete_pmu(pmu);
			return -ENOMEM;
		}
		pmus->pmus = grown;
		pmus->cap = cap;
	}
	pmus->pmus[pmus->nr++] = pmu;
	pmus->nr_core += pmu->is_core;
	return 0;
}

/* A PMU that perf knows by itself, unless sysfs had it. */
static int add_known(struct pmus *pmus, const char *name, uint32_t type)
{
	struct pmu *pmu;

	if (pmus__find(pmus, name))
		return 0;
	pmu = alloc_pmu(name, type);
	if (pmu) {
		pmu->priv = pmu_priv__new(pmu, NULL);
		if (!pmu->priv) {
			delete_pmu(pmu);
			pmu = NULL;
		}
	}
	return add_pmu(pmus, pmu);
}

/* Chips may have one name: all but the first get a number behind it. */
static int add_chip(struct pmus *pmus, const char *chips, const char *entry, int nr)
{
	char *dir = xasprintf("%s/%s", chips, entry);
	char *chip __cleanup(free_ptr) = dir ? read_line_of(dir, "name") : NULL;
	char *name __cleanup(free_ptr) = NULL;
	struct pmu *pmu;

	if (!chip) {
		free(dir);
		return dir ? 0 : -ENOMEM;
	}
	name = xasprintf("hwmon_%s", chip);
	for (int i = 1; name && pmus__find(pmus, name); i++) {
		free(name);
		name = xasprintf("hwmon_%s_%d", chip, i);
	}
	pmu = name ? alloc_pmu(name, PMU_TYPE_HWMON + nr) : NULL;
	if (pmu) {
		pmu->is_hwmon = true;
		pmu->priv = pmu_priv__new(pmu, dir);
	}
	if (!pmu || !pmu->priv) {
		free(dir);
		delete_pmu(pmu);
		return -ENOMEM;
	}
	return add_pmu(pmus, pmu);
}

static int add_chips(struct pmus *pmus, const char *sysfs)
{
	char *chips __cleanup(free_ptr) = xasprintf("%s/class/hwmon", sysfs);
	struct dirent **entries = NULL;
	int nr, i, err = chips ? 0 : -ENOMEM;

	nr = chips ? scandir(chips, &entries, NULL, versionsort) : 0;
	for (i = 0; i < nr; i++) {
		if (!err && entries[i]->d_name[0] != '.')
			err = add_chip(pmus, chips, entries[i]->d_name, i);
		free(entries[i]);
	}
	free(entries);
	return err;
}

int pmu__family_len(const struct pmu *pmu)
{
	const char *name = pmu->name;
	int len = strlen(name), digits = len, hex = len;

	while (digits > 0 && isdigit((unsigned char)name[digits - 1]))
		digits--;
	while (hex > 0 && isxdigit((unsigned char)name[hex - 1]))
		hex--;
	/* addresses, as in arm_pmu_2b000; short ones would be words such as "_ad" */
	if (hex < digits && len - hex > 2 && hex > 0 && name[hex - 1] == '_')
		digits = hex;
	if (digits == len || !digits)
		return len;
	return name[digits - 1] == '_' ? digits - 1 : digits;
}

bool pmu__same_family(const struct pmu *a, const struct pmu *b)
{
	int len = pmu__family_len(a);

	return len == pmu__family_len(b) && !strncmp(a->name, b->name, len);
}

static unsigned long instance_of(const struct pmu *pmu, int family)
{
	const char *number = pmu->name + family;

	number += *number == '_';
	return strtoul(number, NULL, number[strspn(number, "0123456789")] ? 16 : 10);
}

/* Core PMUs first, then by family, then by number: the first of a family leads its sum. */
static int compare_pmus(const void *a, const void *b)
{
	const struct pmu *one = *(struct pmu *const *)a, *two = *(struct pmu *const *)b;
	int len_one = pmu__family_len(one), len_two = pmu__family_len(two), order;
	unsigned long nr_one, nr_two;

	if (one->is_core != two->is_core)
		return two->is_core - one->is_core;
	/* the PMU with the lowest type is the one raw events belong to */
	if (one->is_core && one->type != two->type)
		return one->type < two->type ? -1 : 1;
	order = strncmp(one->name, two->name, len_one < len_two ? len_one : len_two);
	if (order || len_one != len_two)
		return order ? order : len_one - len_two;
	nr_one = instance_of(one, len_one);
	nr_two = instance_of(two, len_two);
	return nr_one != nr_two ? (nr_one < nr_two ? -1 : 1) : strcmp(one->name, two->name);
}

struct pmus *pmus__new(const char *sysfs)
{
	char *devices __cleanup(free_ptr) = xasprintf("%s/bus/event_source/devices", sysfs);
	struct pmus *pmus = calloc(1, sizeof(*pmus));
	struct dirent *entry;
	DIR *dir;
	int i;

	if (!devices || !pmus)
		goto no_memory;
	dir = opendir(devices);
	while (dir && (entry = readdir(dir))) {
		struct pmu *pmu;

		if (entry->d_name[0] == '.')
			continue;
		pmu = read_pmu(devices, entry->d_name);
		if ((!pmu && errno == ENOMEM) || (pmu && add_pmu(pmus, pmu))) {
			closedir(dir);
			goto no_memory;
		}
	}
	if (dir)
		closedir(dir);
	if (add_chips(pmus, sysfs))
		goto no_memory;
	if (pmus->nr)
		qsort(pmus->pmus, pmus->nr, sizeof(*pmus->pmus), compare_pmus);
	if (add_known(pmus, "software", PERF_TYPE_SOFTWARE) ||
	    add_known(pmus, "tool", PMU_TYPE_TOOL))
		goto no_memory;
	for (i = 0; i < pmus->nr; i++)
		pmus->pmus[i]->idx = i;
	return pmus;
no_memory:
	pmus__delete(pmus);
	errno = ENOMEM;
	return NULL;
}

void pmus__delete(struct pmus *pmus)
{
	int i;

	if (!pmus)
		return;
	for (i = 0; i < pmus->nr; i++)
		delete_pmu(pmus->pmus[i]);
	free(pmus->pmus);
	free(pmus->names);
	free(pmus->owners);
	free(pmus);
}

void pmus__set_definitions(struct pmus *pmus, struct definitions *defs)
{
	int i;

	for (i = 0; i < pmus->nr; i++)
		pmu_priv__set_definitions(pmus->pmus[i]->priv, defs);
}

struct pmu *pmus__find(struct pmus *pmus, const char *name)
{
	int i;

	for (i = 0; i < pmus->nr; i++) {
		struct pmu *pmu = pmus->pmus[i];

		if (!strcmp(pmu->name, name) || (pmu->alias && !strcmp(pmu->alias, name)))
			return pmu;
	}
	return NULL;
}

struct pmu *pmus__find_type(struct pmus *pmus, uint32_t type)
{
	int i;

	for (i = 0; i < pmus->nr; i++) {
		if (pmus->pmus[i]->type == type)
			return pmus->pmus[i];
	}
	return NULL;
}

struct pmu *pmus__core(struct pmus *pmus)
{
	return pmus->nr && pmus->pmus[0]->is_core ? pmus->pmus[0] : NULL;
}

int pmus__nr_core(const struct pmus *pmus)
{
	return pmus->nr_core;
}

struct pmu *pmus__next(struct pmus *pmus, const struct pmu *prev)
{
	int i = prev ? prev->idx + 1 : 0;

	return i < pmus->nr ? pmus->pmus[i] : NULL;
}

int pmus__set_cputype(struct pmus *pmus, const char *name)
{
	int i;

	for (i = 0; i < pmus->nr_core; i++) {
		const char *full = pmus->pmus[i]->name;

		if (!strcmp(full, name) || (!strncmp(full, "cpu_", 4) && !strcmp(full + 4, name))) {
			pmus->only_core = pmus->pmus[i];
			return 0;
		}
	}
	return -ENOENT;
}

int pmus__set_filter(struct pmus *pmus, const char *name)
{
	const struct pmu *pmu = pmus__find(pmus, name);

	if (!pmu)
		return -ENOENT;
	pmus->only = pmu;
	return 0;
}

bool pmus__is_kept(const struct pmus *pmus, const struct pmu *pmu)
{
	/* a kind of core whose CPUs are all offline: the PMU stays, its list of CPUs is empty */
	if (pmu->is_core && pmu->cpus && !pmu->cpus->nr)
		return false;
	if (pmus->only_core && pmu->is_core && pmu != pmus->only_core)
		return false;
	return !pmus->only || pmu == pmus->only || pmu__is_software(pmu) || pmu__is_tool(pmu);
}

static int compare_entries(const void *a, const void *b)
{
	const struct index_entry *one = a, *two = b;
	int order = strcasecmp(one->name, two->name);

	return order ? order : one->pmu - two->pmu;
}

/* A chip is only looked at for names that sensors can have: its files are many. */
static bool is_in_index(const struct pmus *pmus, int i)
{
	return pmus->has_sensors || !pmus->pmus[i]->is_hwmon;
}

static int make_index(struct pmus *pmus)
{
	struct index_entry *entries __cleanup(free_ptr) = NULL;
	const struct pmu_event *event;
	int nr = 0, at = 0, i;

	for (i = 0; i < pmus->nr; i++) {
		for (event = NULL;
		     is_in_index(pmus, i) && (event = pmu__next_event(pmus->pmus[i], event));)
			nr += event->alias ? 2 : 1;
	}
	entries = calloc(nr + 1, sizeof(*entries));
	pmus->names = calloc(nr + 1, sizeof(*pmus->names));
	pmus->owners = calloc(nr + 1, sizeof(*pmus->owners));
	if (!entries || !pmus->names || !pmus->owners)
		return -ENOMEM;
	for (i = 0; i < pmus->nr; i++) {
		for (event = NULL;
		     is_in_index(pmus, i) && (event = pmu__next_event(pmus->pmus[i], event));) {
			entries[at++] = (struct index_entry){ event->name, i };
			if (event->alias)
				entries[at++] = (struct index_entry){ event->alias, i };
		}
	}
	qsort(entries, nr, sizeof(*entries), compare_entries);
	for (i = 0; i < nr; i++) {
		pmus->names[i] = entries[i].name;
		pmus->owners[i] = pmus->pmus[entries[i].pmu];
	}
	pmus->nr_names = nr;
	return 0;
}

/* The first position in the index whose name is not before @name. */
static int lower_bound(const struct pmus *pmus, const char *name)
{
	int low = 0, high = pmus->nr_names;

	while (low < high) {
		int mid = low + (high - low) / 2;

		if (strcasecmp(pmus->names[mid], name) < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

struct pmu *const *pmus__with_event(struct pmus *pmus, const char *name, int *nr)
{
	int first, i;

	*nr = 0;
	if (!pmus->has_sensors && hwmon__kind(name)) {
		pmus->has_sensors = true;
		free_ptr(&pmus->names);
		free_ptr(&pmus->owners);
	}
	if (!pmus->names && make_index(pmus))
		return NULL;
	first = lower_bound(pmus, name);
	for (i = first; i < pmus->nr_names && !strcasecmp(pmus->names[i], name); i++)
		(*nr)++;
	return *nr ? pmus->owners + first : NULL;
}

static const char *skip_uncore(const char *name)
{
	return strncmp(name, "uncore_", 7) ? name : name + 7;
}

static bool name_matches(const char *name, const char *pattern)
{
	size_t len = strlen(pattern), digits, hex;
	const char *rest;

	if (!len)
		return false;
	if (strpbrk(pattern, "*?["))
		return !fnmatch(pattern, name, 0);
	if (strncmp(name, pattern, len))
		return false;
	rest = name + len;
	if (!*rest)
		return true;
	/* the number starts here: "imc1" is no instance of "imc" if "imc1_0" is meant */
	if (*rest == '_')
		rest++;
	else if (isdigit((unsigned char)pattern[len - 1]))
		return false;
	digits = strspn(rest, "0123456789");
	hex = strspn(rest, "0123456789abcdefABCDEF");
	return *rest && (!rest[digits] || (!rest[hex] && hex > 2));
}

bool pmu__matches(const struct pmu *pmu, const char *pattern)
{
	const char *core = skip_uncore(pattern);

	return name_matches(pmu->name, pattern) || name_matches(skip_uncore(pmu->name), core) ||
	       (pmu->alias && name_matches(skip_uncore(pmu->alias), core));
}

bool pmu__is_software(const struct pmu *pmu)
{
	return pmu->type == PERF_TYPE_SOFTWARE;
}

bool pmu__is_tool(const struct pmu *pmu)
{
	return pmu->type == PMU_TYPE_TOOL;
}
