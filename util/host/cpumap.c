// SPDX-License-Identifier: GPL-2.0
#include "util/host/cpumap.h"

#include <ctype.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/lib/array.h"
#include "util/lib/util.h"

/* Far above any kernel's NR_CPUS; keeps a mistyped range from filling the memory. */
#define MAX_CPUS 65536

static struct cpumap *alloc_map(int nr)
{
	struct cpumap *map = malloc(sizeof(*map) + (nr ? nr : 1) * sizeof(map->cpu[0]));

	if (!map)
		errno = ENOMEM;
	else
		map->nr = nr;
	return map;
}

struct cpumap *cpumap__any(void)
{
	/* static form of {-1}: a flexible array cannot be initialised portably */
	static union {
		struct cpumap map;
		int words[2];
	} any = {.words = {1, -1}};

	return &any.map;
}

struct cpumap *cpumap__new(const int *cpus, int nr)
{
	struct cpumap *map = alloc_map(nr);

	if (map && nr)
		memcpy(map->cpu, cpus, nr * sizeof(*cpus));
	return map;
}

struct cpumap *cpumap__dup(const struct cpumap *map)
{
	if (cpumap__is_any(map))
		return cpumap__any();
	return cpumap__new(map->cpu, map->nr);
}

void cpumap__delete(struct cpumap *map)
{
	if (map != cpumap__any())
		free(map);
}

/* The CPUs of a list, and why it is refused. */
struct cpu_list {
	uint64_t seen[MAX_CPUS / 64]; /* a bit for each CPU */
	int nr, max;
	int twice;	/* a CPU that was there already; -1: none */
	bool too_large; /* a number is */
};

/* Read a CPU number at *@pp and move behind it. Return: -1 if there is none or it is too large. */
static int parse_cpu(struct cpu_list *list, const char **pp)
{
	const char *p = *pp;
	long cpu = 0;

	if (!isdigit((unsigned char)*p))
		return -1;
	for (; isdigit((unsigned char)*p); p++) {
		cpu = cpu * 10 + (*p - '0');
		if (cpu >= MAX_CPUS) {
			list->too_large = true;
			return -1;
		}
	}
	*pp = p;
	return cpu;
}

static bool has_seen(const struct cpu_list *list, int cpu)
{
	return list->seen[cpu / 64] >> cpu % 64 & 1;
}

static bool add_range(struct cpu_list *list, int first, int last)
{
	int i;

	if (first < 0 || last < first)
		return false;
	for (i = first; i <= last; i++, list->nr++) {
		if (has_seen(list, i)) {
			list->twice = i;
			return false;
		}
		list->seen[i / 64] |= 1ULL << i % 64;
	}
	if (last > list->max)
		list->max = last;
	return true;
}

/* Return: 0 or -EINVAL. */
static int parse_list(struct cpu_list *list, const char *text)
{
	*list = (struct cpu_list){.max = -1, .twice = -1};
	for (;; text++) {
		int first = parse_cpu(list, &text), last = first;

		if (*text == '-' && first >= 0) {
			text++;
			last = parse_cpu(list, &text);
		}
		if (!add_range(list, first, last))
			return -EINVAL;
		if (*text != ',')
			break;
	}
	if (*text == '\n')
		text++;
	return *text ? -EINVAL : 0;
}

struct cpumap *cpumap__parse(const char *text)
{
	struct cpumap *map = NULL;
	struct cpu_list list;
	int err = parse_list(&list, text), i, at = 0;

	if (err)
		errno = -err;
	else
		map = alloc_map(list.nr);
	for (i = 0; map && i <= list.max; i++) {
		if (has_seen(&list, i))
			map->cpu[at++] = i;
	}
	return map;
}

char *cpumap__why_refused(const char *text)
{
	struct cpu_list list;

	(void)parse_list(&list, text);
	if (list.too_large)
		return xasprintf("the number of a CPU is too large: %d at most", MAX_CPUS - 1);
	if (list.twice >= 0)
		return xasprintf("CPU %d is there twice", list.twice);
	return strdup("not a list of CPUs such as 0-3,6");
}

static struct cpumap *read_map(const char *name)
{
	char *path __cleanup(free_ptr) = xasprintf("%s/devices/system/cpu/%s", sysfs_root(), name);
	char *line __cleanup(free_ptr) = path ? read_file_line(path) : NULL;

	return line ? cpumap__parse(line) : NULL;
}

struct cpumap *cpumap__online(void)
{
	return read_map("online");
}

struct cpumap *cpumap__possible(void)
{
	return read_map("possible");
}

struct cpumap *cpumap__present(void)
{
	return read_map("present");
}

int cpumap__idx(const struct cpumap *map, int cpu)
{
	int low = 0, high = map->nr - 1;

	while (low <= high) {
		int mid = low + (high - low) / 2;

		if (map->cpu[mid] == cpu)
			return mid;
		if (map->cpu[mid] < cpu)
			low = mid + 1;
		else
			high = mid - 1;
	}
	return -1;
}

bool cpumap__has(const struct cpumap *map, int cpu)
{
	return cpumap__idx(map, cpu) >= 0;
}

bool cpumap__is_any(const struct cpumap *map)
{
	return map->nr == 1 && map->cpu[0] == -1;
}

bool cpumap__equal(const struct cpumap *a, const struct cpumap *b)
{
	return a == b || (a->nr == b->nr && !memcmp(a->cpu, b->cpu, a->nr * sizeof(a->cpu[0])));
}

int cpumap__max(const struct cpumap *map)
{
	return map->nr ? map->cpu[map->nr - 1] : -1;
}

/* Return: the CPUs of @a that are in @b (@in) or not in @b (!@in). */
static struct cpumap *select_cpus(const struct cpumap *a, const struct cpumap *b, bool in)
{
	struct cpumap *map = alloc_map(a->nr);
	int i;

	if (!map)
		return NULL;
	map->nr = 0;
	for (i = 0; i < a->nr; i++) {
		if (cpumap__has(b, a->cpu[i]) == in)
			map->cpu[map->nr++] = a->cpu[i];
	}
	return map;
}

struct cpumap *cpumap__and(const struct cpumap *a, const struct cpumap *b)
{
	return select_cpus(a, b, true);
}

struct cpumap *cpumap__minus(const struct cpumap *a, const struct cpumap *b)
{
	return select_cpus(a, b, false);
}

struct cpumap *cpumap__or(const struct cpumap *a, const struct cpumap *b)
{
	struct cpumap *map = alloc_map(a->nr + b->nr);
	int i = 0, j = 0;

	if (!map)
		return NULL;
	map->nr = 0;
	while (i < a->nr || j < b->nr) {
		int cpu;

		if (j >= b->nr || (i < a->nr && a->cpu[i] <= b->cpu[j]))
			cpu = a->cpu[i++];
		else
			cpu = b->cpu[j++];
		if (!map->nr || map->cpu[map->nr - 1] != cpu)
			map->cpu[map->nr++] = cpu;
	}
	return map;
}

char *cpumap__str(const struct cpumap *map)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	int i, last;

	if (!out)
		return NULL;
	for (i = 0; i < map->nr; i = last + 1) {
		for (last = i; last + 1 < map->nr && map->cpu[last + 1] == map->cpu[last] + 1;)
			last++;
		fprintf(out, "%s%d", i ? "," : "", map->cpu[i]);
		if (last > i)
			fprintf(out, "-%d", map->cpu[last]);
	}
	if (fclose(out)) {
		free(text);
		errno = ENOMEM;
		return NULL;
	}
	return text;
}
