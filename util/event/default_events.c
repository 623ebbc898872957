// SPDX-License-Identifier: GPL-2.0
#include "util/event/default_events.h"

#include <errno.h>
#include <string.h>

#include "util/event/evlist.h"
#include "util/event/parse_events.h"
#include "util/lib/msg.h"
#include "util/lib/util.h"

#define MAX_MEMBERS 3

enum clock { CLOCK_OF_ANY, CLOCK_OF_CPU, CLOCK_OF_TASK };

/*
 * One group of a metric, or a single event, in the order of rows. Formulas with a clock use the
 * events of the other groups.
 */
static const struct default_group {
	int detail;	  /* least number of -d */
	enum clock clock; /* for these targets only */
	struct {
		const char *event;
		bool shown; /* a default metric is printed in its row */
	} members[MAX_MEMBERS];
} default_groups[] = {
	{0, CLOCK_OF_ANY, {{"context-switches", true}}},
	{0, CLOCK_OF_CPU, {{"cpu-clock", true}}},
	{0, CLOCK_OF_ANY, {{"cpu-migrations", true}}},
	{0, CLOCK_OF_ANY, {{"page-faults", true}}},
	{0, CLOCK_OF_TASK, {{"task-clock", true}}},
	{1, CLOCK_OF_ANY, {{"L1-dcache-load-misses", true}, {"L1-dcache-loads", false}}},
	{3, CLOCK_OF_ANY, {{"L1-dcache-prefetch-misses", false}, {"L1-dcache-prefetches", true}}},
	{2, CLOCK_OF_ANY, {{"L1-icache-load-misses", true}, {"L1-icache-loads", false}}},
	{1, CLOCK_OF_ANY, {{"LLC-load-misses", false}, {"LLC-loads", true}}},
	{0, CLOCK_OF_ANY, {{"branch-misses", true}, {"branches", true}}},
	{0, CLOCK_OF_ANY, {{"cpu-cycles", true}, {"instructions", true}}},
	{0, CLOCK_OF_ANY, {{"cpu-cycles", false}, {"stalled-cycles-frontend", true}}},
	{0, CLOCK_OF_ANY, {{"cpu-cycles", false}, {"stalled-cycles-backend", true}}},
	{2, CLOCK_OF_ANY, {{"dTLB-load-misses", false}, {"dTLB-loads", true}}},
	{2, CLOCK_OF_ANY, {{"iTLB-load-misses", false}, {"iTLB-loads", true}}},
	{0,
	 CLOCK_OF_ANY,
	 {{"instructions", false},
	  {"stalled-cycles-backend", true},
	  {"stalled-cycles-frontend", false}}},
	{0, CLOCK_OF_ANY, {{"duration_time", false}}},
};

/* Return: "{a,b}:W", or "a" for a single event; owned. */
static char *group_text(const struct default_group *group)
{
	const char *second = group->members[1].event, *third = group->members[2].event;

	if (!second)
		return strdup(group->members[0].event);
	return xasprintf("{%s,%s%s%s}:W", group->members[0].event, second, third ? "," : "",
			 third ? third : "");
}

/* Return: the member that became an event. With several core PMUs the name contains the PMU. */
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
	static const struct parse_events_options quiet = {.quiet = true};
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
		evsel->keep_row =
			!evsel->hidden && !strcmp(group->members[member].event, "cpu-cycles");
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
		    group->clock == (cpu_target ? CLOCK_OF_TASK : CLOCK_OF_CPU))
			continue;
		err = add_group(list, pmus, group);
		if (err)
			return err;
	}
	return 0;
}
