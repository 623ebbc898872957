// SPDX-License-Identifier: GPL-2.0
#include "default_events.h"

#include <errno.h>
#include <string.h>

#include "evlist.h"
#include "msg.h"
#include "parse_events.h"
#include "util.h"

#define MAX_MEMBERS 3

enum clock { ANY_TARGET, CPU_TARGET, TASK_TARGET };

/*
 * One group of a metric, or an event that stands alone; in the order of rows. The formulas with a
 * clock in them use the events of the other groups.
 */
static const struct default_group {
	int detail;			/* from this many -d on */
	enum clock clock;		/* for these targets only */
	struct {
		const char *event;
		bool shown;		/* a default metric is printed in its row */
	} members[MAX_MEMBERS];
} default_groups[] = {
	{ 0, ANY_TARGET, { { "context-switches", true } } },
	{ 0, CPU_TARGET, { { "cpu-clock", true } } },
	{ 0, ANY_TARGET, { { "cpu-migrations", true } } },
	{ 0, ANY_TARGET, { { "page-faults", true } } },
	{ 0, TASK_TARGET, { { "task-clock", true } } },
	{ 1, ANY_TARGET, { { "L1-dcache-load-misses", true }, { "L1-dcache-loads", false } } },
	{ 3, ANY_TARGET, { { "L1-dcache-prefetch-misses", false }, { "L1-dcache-prefetches", true } } },
	{ 2, ANY_TARGET, { { "L1-icache-load-misses", true }, { "L1-icache-loads", false } } },
	{ 1, ANY_TARGET, { { "LLC-load-misses", false }, { "LLC-loads", true } } },
	{ 0, ANY_TARGET, { { "branch-misses", true }, { "branches", true } } },
	{ 0, ANY_TARGET, { { "cpu-cycles", true }, { "instructions", true } } },
	{ 0, ANY_TARGET, { { "cpu-cycles", false }, { "stalled-cycles-frontend", true } } },
	{ 0, ANY_TARGET, { { "cpu-cycles", false }, { "stalled-cycles-backend", true } } },
	{ 2, ANY_TARGET, { { "dTLB-load-misses", false }, { "dTLB-loads", true } } },
	{ 2, ANY_TARGET, { { "iTLB-load-misses", false }, { "iTLB-loads", true } } },
	{ 0, ANY_TARGET, { { "instructions", false }, { "stalled-cycles-backend", true },
			   { "stalled-cycles-frontend", false } } },
	{ 0, ANY_TARGET, { { "duration_time", false } } },
};

/* "{a,b}:W", or "a" when there is one; owned. */
static char *group_text(const struct default_group *group)
{
	const char *second = group->members[1].event, *third = group->members[2].event;

	if (!second)
		return strdup(group->members[0].event);
	return xasprintf("{%s,%s%s%s}:W", group->members[0].event, second, third ? "," : "",
			 third ? third : "");
}

/* The member an event came from; on several core PMUs names have the PMU in them. */
static int member_of(const struct default_group *group, const struct evsel *evsel)
{
	int i;

	for (i = 0; i < MAX_MEMBERS && group->members[i].event; i++) {
		const char *event = group->members[i].event;
		const char *found = strstr(evsel->name, event);
		char after = found ? found[strlen(event)] : 'x';

		if ((!after || after == '/') && (found == evsel->name || found[-1] == '/'))
			return i;
	}
	return 0;
}

static int add_group(struct evlist *list, struct pmus *pmus, const struct default_group *group)
{
	static const struct parse_events_options quiet = { .quiet = true };
	char *text __cleanup(free_ptr) = group_text(group);
	struct parse_error error;
	int i = list->nr, err;

	if (!text)
		return -ENOMEM;
	err = parse_events_opts(list, pmus, text, &quiet, &error);
	if (err) {
		/* --pmu-filter may leave no PMU for generic names */
		pr_verbose("default events '%s' left out: %s", text,
			   error.reason ? error.reason : strerror(-err));
		parse_error__clear(&error);
		return err == -EINVAL ? 0 : err;
	}
	for (; i < list->nr; i++) {
		struct evsel *evsel = list->evsels[i];
		int member = member_of(group, evsel);

		evsel->hidden = !group->members[member].shown;
		evsel->is_default = true;
		evsel->keep_row = !evsel->hidden &&
				  !strcmp(group->members[member].event, "cpu-cycles");
	}
	return 0;
}

int default_events__add(struct evlist *list, struct pmus *pmus, bool cpu_target, int detail)
{
	size_t i;
	int err;

	for (i = 0; i < ARRAY_SIZE(default_groups); i++) {
		const struct default_group *group = &default_groups[i];

		if (group->detail > detail ||
		    group->clock == (cpu_target ? TASK_TARGET : CPU_TARGET))
			continue;
		err = add_group(list, pmus, group);
		if (err)
			return err;
	}
	return 0;
}
