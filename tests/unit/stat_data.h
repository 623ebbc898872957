/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_TESTS_UNIT_STAT_DATA_H
#define PERF_TESTS_UNIT_STAT_DATA_H

/* Events with invented counts, and the output of stat for them. */

#include <assert.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/event/counts.h"
#include "util/event/evlist.h"
#include "util/host/cpumap.h"
#include "util/lib/util.h"
#include "util/report/stat.h"
#include "util/target/cgroup_list.h"
#include "util/target/target.h"
#include "util/target/thread_map.h"

/* One event: val/ena/run of every counter in turn; ena and run of 0 stand for 100. */
struct event {
	const char *name;
	uint32_t type;
	uint64_t config;
	const char *cpus; /* NULL for any */
	struct counts_values values[4];
	const char *unit;
	double scale;		/* 0 for the default */
	enum evsel_state state; /* 0 is counting */
	enum tool_event tool;
	const char *cgroup;
	bool is_default, hidden, keep_row, percore, per_pkg, snapshot;
	int merge_into; /* 1 + index of the merge leader */
	int group;	/* number of members of a group that begins here */
};

#define SW(name) PERF_TYPE_SOFTWARE, PERF_COUNT_SW_##name
#define HW(name) PERF_TYPE_HARDWARE, PERF_COUNT_HW_##name
#define RAW	 PERF_TYPE_RAW, 1

static inline void put_counts(struct evsel *evsel, const struct counts_values *values)
{
	int i, nr = evsel->counts->nr_cpus * evsel->counts->nr_threads;

	for (i = 0; i < nr; i++)
		evsel->counts->values[i] = values[i];
}

/* Return: a cgroup, the same one for the same name, which lives as long as the program. */
static inline const struct cgroup *cgroup_named(const char *name)
{
	static struct cgroup cgroups[8];
	size_t i;

	for (i = 0; cgroups[i].name && strcmp(cgroups[i].name, name); i++)
		assert(i + 1 < ARRAY_SIZE(cgroups));
	cgroups[i].name = (char *)name;
	cgroups[i].state = CGROUP_LIVE;
	return &cgroups[i];
}

static inline struct evlist *make_list(const struct event *events, int nr,
				       struct thread_map *threads)
{
	struct evlist *list = evlist__new();
	int i;

	assert(list);
	for (i = 0; i < nr; i++) {
		const struct event *e = &events[i];
		struct perf_event_attr attr = {.type = e->type, .config = e->config};
		struct evsel *evsel = evsel__new(&attr, e->name);

		assert(evsel && !evlist__add(list, evsel));
		evsel->cpus = e->cpus ? cpumap__parse(e->cpus) : cpumap__any();
		evsel->threads = threads;
		evsel->state = e->state ? e->state : EVSEL_COUNTING;
		evsel->tool = e->tool;
		evsel->cgroup = e->cgroup ? cgroup_named(e->cgroup) : NULL;
		evsel->is_default = e->is_default;
		evsel->hidden = e->hidden;
		evsel->keep_row = e->keep_row;
		evsel->percore = e->percore;
		evsel->per_pkg = e->per_pkg;
		evsel->snapshot = e->snapshot;
		if (e->unit) {
			free((char *)evsel->unit);
			evsel->unit = strdup(e->unit);
		}
		if (e->scale != 0)
			evsel->scale = e->scale;
		if (e->merge_into) {
			evsel->auto_merge = true;
			evsel->merge_leader = list->evsels[e->merge_into - 1];
			evsel->merge_leader->auto_merge = true;
		}
		assert(evsel->cpus && !evsel__alloc_counts(evsel));
		put_counts(evsel, e->values);
	}
	for (i = 0; i < nr; i++) {
		if (events[i].group)
			evlist__group(list, i, events[i].group);
	}
	return list;
}

/* Return: the output for these events in run_count equal repeats; owned by the caller. */
static inline char *print_run(struct stat_config config, struct evlist *list,
			      const struct stat_times *times)
{
	char *text = NULL, *copy;
	size_t size;
	struct stat *stat;
	int repeats = 0;

	config.env.output = open_memstream(&text, &size);
	assert(config.env.output);
	stat = stat__new(&config, list);
	assert(stat);
	do {
		assert(!stat__add_repeat(stat, times));
	} while (++repeats < config.options.run_count);
	assert(!stat__print(stat));
	stat__delete(stat);
	fclose(config.env.output);
	/* A copy, because gcc does not see that the closed stream no longer writes to the variable. */
	copy = strdup(text);
	assert(copy);
	free(text);
	return copy;
}

/* Return: only the lines between header and footer of the standard format. */
static inline char *rows_of(char *text)
{
	char *start = strstr(text, ":\n\n"), *end;

	assert(start);
	start += 3;
	end = strstr(start, "\n\n");
	assert(end);
	end[1] = '\0';
	memmove(text, start, strlen(start) + 1);
	return text;
}

#endif
