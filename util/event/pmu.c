// SPDX-License-Identifier: GPL-2.0
#include "util/event/pmu.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "util/event/drm_pmu.h"
#include "util/event/hwmon_pmu.h"
#include "util/host/cpumap.h"
#include "util/lib/array.h"
#include "util/lib/msg.h"
#include "util/lib/util.h"

/* One event name of one PMU; the index of all is sorted by name, then by PMU. */
struct index_entry {
	const char *name;
	int pmu;
};

struct pmus {
	struct pmu **pmus;
	int nr;
	int nr_core;
	const struct pmu *only_core; /* --cputype, or NULL */
	const struct pmu *only;	     /* --pmu-filter, or NULL */
	/* index of all event names, made when first needed; names[i] is an event of owners[i] */
	const char **names;
	struct pmu **owners;
	int nr_names;
	bool has_sensors; /* the index contains events of chips */
	bool has_drm;	  /* GPU drivers have been looked for */
};

static void delete_pmu(struct pmu *pmu)
{
	if (!pmu)
		return;
	pmu_sysfs__delete(pmu->priv);
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

/* Return: the map in @file, empty if the PMU has no CPU; NULL without such a file. */
static struct cpumap *read_cpus(int dir, const char *name, const char *file)
{
	char *line __cleanup(free_ptr) = read_file_line_at(dir, file);
	struct cpumap *map;

	if (!line)
		return NULL;
	if (!*line)
		return cpumap__new(NULL, 0);
	map = cpumap__parse(line);
	if (!map)
		pr_debug("%s/%s: not a list of CPUs: '%s'", name, file, line);
	return map;
}

static void read_properties(struct pmu *pmu, int dir)
{
	char *precise __cleanup(free_ptr) = read_file_line_at(dir, "caps/max_precise");

	pmu->alias = read_file_line_at(dir, "alias");
	pmu->cpus = read_cpus(dir, pmu->name, "cpus");
	pmu->is_core = pmu->cpus || !strcmp(pmu->name, "cpu") || !strcmp(pmu->name, "cpum_cf");
	if (!pmu->is_core) {
		pmu->cpus = read_cpus(dir, pmu->name, "cpumask");
		pmu->is_uncore = pmu->cpus != NULL;
	}
	if (precise && isdigit((unsigned char)*precise))
		pmu->max_precise = atoi(precise);
}

/* Return: NULL with errno; ENOENT: the directory does not describe a PMU. */
static struct pmu *read_pmu(int devices, const char *path, const char *name)
{
	int dir __cleanup(close_fd) = openat(devices, name, O_PATH | O_DIRECTORY | O_CLOEXEC);
	char *type __cleanup(free_ptr) = dir < 0 ? NULL : read_file_line_at(dir, "type");
	unsigned long long value;
	struct pmu *pmu;
	char *end, *pmu_path;

	if (!type)
		return NULL;
	errno = 0;
	value = strtoull(type, &end, 10);
	if (errno || end == type || *end || value > UINT32_MAX) {
		errno = ENOENT;
		return NULL;
	}
	pmu_path = xasprintf("%s/%s", path, name);
	pmu = pmu_path ? alloc_pmu(name, value) : NULL;
	if (pmu)
		pmu->priv = pmu_sysfs__new(pmu, pmu_path);
	if (!pmu || !pmu->priv) {
		free(pmu_path);
		delete_pmu(pmu);
		errno = ENOMEM;
		return NULL;
	}
	read_properties(pmu, dir);
	return pmu;
}

static int add_pmu(struct pmus *pmus, struct pmu *pmu)
{
	struct pmu **added;

	if (!pmu)
		return -ENOMEM;
	added = array__add(pmus->pmus, pmus->nr);
	if (!added) {
		delete_pmu(pmu);
		return -ENOMEM;
	}
	*added = pmu;
	pmus->nr_core += pmu->is_core;
	return 0;
}

/* Add a PMU that perf knows, unless sysfs has it. */
static int add_known(struct pmus *pmus, const char *name, uint32_t type)
{
	struct pmu *pmu;

	if (pmus__find(pmus, name))
		return 0;
	pmu = alloc_pmu(name, type);
	if (pmu) {
		pmu->priv = pmu_sysfs__new(pmu, NULL);
		if (!pmu->priv) {
			delete_pmu(pmu);
			pmu = NULL;
		}
	}
	return add_pmu(pmus, pmu);
}

/* Add a chip. If chips have the same name, all but the first get a number. */
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
		pmu->priv = pmu_sysfs__new(pmu, dir);
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

/* --- GPU drivers --- */

static struct pmu *get_drm(struct pmus *pmus, const char *driver)
{
	char *name __cleanup(free_ptr) = xasprintf("drm_%s", driver);
	struct pmu *pmu;

	for (int i = 0; name && i < pmus->nr; i++) {
		if (!strcmp(pmus->pmus[i]->name, name))
			return pmus->pmus[i]->is_drm ? pmus->pmus[i] : NULL;
	}
	pmu = name ? alloc_pmu(name, PMU_TYPE_DRM + pmus->nr) : NULL;
	if (pmu)
		pmu->priv = pmu_sysfs__new(pmu, NULL);
	if (!pmu || !pmu->priv || add_pmu(pmus, pmu))
		return NULL;
	pmu->is_drm = true;
	pmu->idx = pmus->nr - 1;
	return pmu;
}

static int add_key(void *data, const char *driver, const char *key)
{
	struct pmu *pmu = get_drm(data, driver);

	return pmu ? pmu_sysfs__add_drm(pmu->priv, key) : 0;
}

void pmus__load_drm(struct pmus *pmus)
{
	if (pmus->has_drm)
		return;
	pmus->has_drm = true;
	(void)drm_pmu__for_each_key(add_key, pmus);
	for (int i = 0; i < pmus->nr; i++) {
		if (pmus->pmus[i]->is_drm)
			(void)pmu_sysfs__finish_drm(pmus->pmus[i]->priv);
	}
	free_ptr(&pmus->names);
	free_ptr(&pmus->owners);
}

static unsigned long instance_of(const struct pmu *pmu, int family)
{
	const char *number = pmu->name + family;

	number += *number == '_';
	return strtoul(number, NULL, number[strspn(number, "0123456789")] ? 16 : 10);
}

/* Core PMUs first, then by family and number: events merge into the first of a family. */
static int compare_pmus(const void *a, const void *b)
{
	const struct pmu *one = *(struct pmu *const *)a, *two = *(struct pmu *const *)b;
	int len_one = pmu__family_len(one), len_two = pmu__family_len(two), order;
	unsigned long nr_one, nr_two;

	if (one->is_core != two->is_core)
		return two->is_core - one->is_core;
	/* raw events belong to the PMU with the lowest type */
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
		pmu = read_pmu(dirfd(dir), devices, entry->d_name);
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
		pmu_sysfs__set_definitions(pmus->pmus[i]->priv, defs);
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
	/* if all CPUs of a kind are offline, its PMU stays with an empty list */
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

/* Chips have many files: read them only for names that a sensor can have. */
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
			entries[at++] = (struct index_entry){event->name, i};
			if (event->alias)
				entries[at++] = (struct index_entry){event->alias, i};
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

/* Return: the first position in the index whose name is not before @name. */
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
	if (!strncasecmp(name, "drm-", strlen("drm-")))
		pmus__load_drm(pmus);
	if (!pmus->has_sensors && hwmon_pmu__kind(name)) {
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
