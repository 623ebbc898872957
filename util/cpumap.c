// SPDX-License-Identifier: GPL-2.0
#include "cpumap.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "util.h"

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
	/* a flexible array cannot be initialised portably: this is the static form of {-1} */
	static union {
		struct cpumap map;
		int words[2];
	} any = { .words = { 1, -1 } };

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

/* A CPU number at *@pp, which moves behind it; -1 when there is none or it is absurd. */
static int parse_cpu(const char **pp)
{
	const char *p = *pp;
	long cpu = 0;

	if (!isdigit((unsigned char)*p))
		return -1;
	for (; isdigit((unsigned char)*p); p++) {
		cpu = cpu * 10 + (*p - '0');
		if (cpu >= MAX_CPUS)
			return -1;
	}
	*pp = p;
	return cpu;
}

struct cpumap *cpumap__parse(const char *list)
{
	unsigned char *seen __cleanup(free_ptr) = calloc(1, MAX_CPUS);
	struct cpumap *map;
	int nr = 0, max = -1, i, at = 0;

	if (!seen) {
		errno = ENOMEM;
		return NULL;
	}
	for (;; list++) {
		int first = parse_cpu(&list), last = first;

		if (*list == '-' && first >= 0) {
			list++;
			last = parse_cpu(&list);
		}
		if (first < 0 || last < first)
			goto bad;
		for (i = first; i <= last; i++, nr++) {
			if (seen[i])
				goto bad;
			seen[i] = 1;
		}
		if (last > max)
			max = last;
		if (*list != ',')
			break;
	}
	if (*list == '\n')
		list++;
	if (*list)
		goto bad;
	map = alloc_map(nr);
	for (i = 0; map && i <= max; i++) {
		if (seen[i])
			map->cpu[at++] = i;
	}
	return map;
bad:
	errno = EINVAL;
	return NULL;
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
	return a == b ||
	       (a->nr == b->nr && !memcmp(a->cpu, b->cpu, a->nr * sizeof(a->cpu[0])));
}

int cpumap__max(const struct cpumap *map)
{
	return map->nr ? map->cpu[map->nr - 1] : -1;
}

/* The CPUs of @a that are in @b (@in) or are not in it (!@in). */
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
