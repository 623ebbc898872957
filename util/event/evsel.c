// SPDX-License-Identifier: GPL-2.0
#include "util/event/evsel.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "util/event/counts.h"
#include "util/event/pmu_name.h"
#include "util/host/cpumap.h"
#include "util/host/perf_event.h"
#include "util/lib/util.h"
#include "util/target/thread_map.h"

struct evsel *evsel__new(const struct perf_event_attr *attr, const char *name)
{
	struct evsel *evsel = calloc(1, sizeof(*evsel));

	if (!evsel)
		goto no_memory;
	evsel->attr = *attr;
	evsel->attr.size = sizeof(evsel->attr);
	evsel->scale = 1.0;
	evsel->leader = evsel;
	evsel->nr_members = 1;
	evsel->idx = -1;
	evsel->name = strdup(name);
	/* clocks count ns, in any spelling; rows are in ms */
	if (evsel__is_clock(evsel)) {
		evsel->scale = 1e-6;
		evsel->unit = strdup("msec");
	} else {
		evsel->unit = strdup("");
	}
	if (evsel->name && evsel->unit)
		return evsel;
	evsel__delete(evsel);
no_memory:
	errno = ENOMEM;
	return NULL;
}

/* Copy a text; NULL stays NULL. Sets *failed without memory. */
static char *copy_text(const char *text, bool *failed)
{
	char *copy = text ? strdup(text) : NULL;

	*failed |= text && !copy;
	return copy;
}

static struct cpumap *copy_cpus(const struct cpumap *cpus, bool *failed)
{
	struct cpumap *copy = cpus ? cpumap__dup(cpus) : NULL;

	*failed |= cpus && !copy;
	return copy;
}

struct evsel *evsel__clone(const struct evsel *evsel)
{
	struct evsel *clone = malloc(sizeof(*clone));
	bool failed = false;

	if (!clone)
		return NULL;
	*clone = *evsel;
	clone->name = copy_text(evsel->name, &failed);
	clone->unit = copy_text(evsel->unit, &failed);
	clone->pmu_event = copy_text(evsel->pmu_event, &failed);
	clone->filter = copy_text(evsel->filter, &failed);
	clone->metric_id = copy_text(evsel->metric_id, &failed);
	clone->group_name = copy_text(evsel->group_name, &failed);
	clone->own_cpus = copy_cpus(evsel->own_cpus, &failed);
	clone->cpus = copy_cpus(evsel->cpus, &failed);
	clone->leader = clone;
	clone->nr_members = 1;
	clone->merge_leader = NULL;
	clone->idx = -1;
	clone->counter = NULL;
	clone->priv = NULL;
	clone->state = EVSEL_UNOPENED;
	clone->err = 0;
	clone->counts = NULL;
	if (!failed)
		return clone;
	evsel__delete(clone);
	errno = ENOMEM;
	return NULL;
}

void evsel__delete(struct evsel *evsel)
{
	if (!evsel)
		return;
	free(evsel->name);
	free((char *)evsel->unit); /* owned; const so that nobody changes it in place */
	free(evsel->pmu_event);
	free(evsel->filter);
	free(evsel->metric_id);
	free(evsel->group_name);
	cpumap__delete(evsel->own_cpus);
	cpumap__delete(evsel->cpus);
	free(evsel->counts);
	free(evsel);
}

bool evsel__is(const struct evsel *evsel, uint32_t type, uint64_t config)
{
	return !evsel->tool && evsel->attr.type == type && evsel->attr.config == config;
}

bool evsel__is_clock(const struct evsel *evsel)
{
	return !evsel->tool && perf_event__is_clock(&evsel->attr);
}

bool evsel__is_software(const struct evsel *evsel)
{
	/* dynamic PMUs in the kernel's software context, as the static types below */
	static const char *const software_pmus[] = {"kprobe", "uprobe", "msr"};
	size_t i;

	if (evsel->tool)
		return false;
	switch (evsel->attr.type) {
	case PERF_TYPE_SOFTWARE:
	case PERF_TYPE_TRACEPOINT:
	case PERF_TYPE_BREAKPOINT:
		return true;
	}
	for (i = 0; evsel->pmu && i < ARRAY_SIZE(software_pmus); i++) {
		if (!strcmp(evsel->pmu->name, software_pmus[i]))
			return true;
	}
	return false;
}

int evsel__alloc_counts(struct evsel *evsel)
{
	int nr_threads = evsel->threads && !evsel->threads_as_one ? evsel->threads->nr : 1;

	free(evsel->counts);
	evsel->counts = counts__new(evsel->cpus_as_one ? 1 : evsel->cpus->nr, nr_threads);
	return evsel->counts ? 0 : -ENOMEM;
}

/* Return: whether a modifier can be appended to the printed name without ':'. */
static bool takes_modifier(const struct evsel *evsel)
{
	const char *name = evsel->name;

	/* their colons and slashes belong to the event itself */
	if (evsel->named || evsel->attr.type == PERF_TYPE_TRACEPOINT ||
	    evsel->attr.type == PERF_TYPE_BREAKPOINT)
		return false;
	if (strchr(name, '/'))
		return true;
	return strchr(name, ':') && !isdigit((unsigned char)*name);
}

int evsel__name_modifiers(struct evsel *evsel, const char *modifiers)
{
	char *name = xasprintf("%s%s%s", evsel->name, takes_modifier(evsel) ? "" : ":", modifiers);

	if (!name)
		return -ENOMEM;
	free(evsel->name);
	evsel->name = name;
	return 0;
}

bool evsel__has_levels(const struct evsel *evsel)
{
	return !evsel->pmu || evsel->pmu->is_core || evsel->attr.type < PERF_TYPE_MAX;
}

int evsel__exclude_kernel(struct evsel *evsel)
{
	int err = evsel->attr.exclude_kernel ? -EALREADY : evsel__name_modifiers(evsel, "u");

	if (err)
		return err;
	evsel->attr.exclude_kernel = 1;
	evsel->attr.exclude_hv = 1;
	return 0;
}

int evsel__exclude_guest(struct evsel *evsel)
{
	int err = evsel->attr.exclude_guest ? -EALREADY : evsel__name_modifiers(evsel, "H");

	if (!err)
		evsel->attr.exclude_guest = 1;
	return err;
}

int evsel__use_clock(struct evsel *evsel, bool is_task)
{
	const char *clock = is_task ? "task-clock" : "cpu-clock";
	const char *modifiers = "";
	char *name, *unit;

	/* The upper half of config is the type of the core PMU. */
	if (evsel->attr.type != PERF_TYPE_HARDWARE || evsel->tool ||
	    (uint32_t)evsel->attr.config != PERF_COUNT_HW_CPU_CYCLES)
		return -EINVAL;
	if (!evsel->named && strchr(evsel->name, '/'))
		modifiers = strrchr(evsel->name, '/') + 1;
	else if (!evsel->named && takes_modifier(evsel))
		modifiers = strchr(evsel->name, ':') + 1;
	name = xasprintf("%s%s%s", clock, *modifiers ? ":" : "", modifiers);
	unit = strdup("msec");
	if (!name || !unit) {
		free(name);
		free(unit);
		return -ENOMEM;
	}
	free(evsel->name);
	free((char *)evsel->unit);
	evsel->name = name;
	evsel->unit = unit;
	evsel->scale = 1e-6;
	evsel->named = false;
	evsel->pmu = NULL;
	evsel->attr.type = PERF_TYPE_SOFTWARE;
	evsel->attr.config = is_task ? PERF_COUNT_SW_TASK_CLOCK : PERF_COUNT_SW_CPU_CLOCK;
	return 0;
}

char *evsel__pmu_event_name(const struct evsel *evsel)
{
	const char *name = evsel->name, *rest;

	if (!evsel->pmu || evsel->named || evsel->attr.type == PERF_TYPE_TRACEPOINT ||
	    evsel->attr.type == PERF_TYPE_BREAKPOINT)
		return strdup(name);
	rest = strchr(name, '/');
	if (rest && evsel->typed_pmu)
		return xasprintf("%s%s", evsel->pmu->name, rest);
	if (rest) /* EVENT/terms/ */
		return xasprintf("%s/%.*s%s%s", evsel->pmu->name, (int)(rest - name), name,
				 rest[1] == '/' ? "" : ",", rest + 1);
	rest = strchr(name, ':');
	if (rest)
		return xasprintf("%s/%.*s/%s", evsel->pmu->name, (int)(rest - name), name,
				 rest + 1);
	return xasprintf("%s/%s/", evsel->pmu->name, name);
}

const char *evsel__cpus_owner(const struct evsel *evsel)
{
	const struct pmu *pmu = evsel->pmu;

	if (pmu && (!evsel->own_cpus || (pmu->cpus && cpumap__equal(evsel->own_cpus, pmu->cpus))))
		return pmu->name;
	return evsel->own_cpus ? "its cpu=" : "the PMU";
}

void evsel__base_name(const struct evsel *evsel, char *base, int size)
{
	const char *name = evsel->name, *slash = strchr(name, '/'), *colon;
	int len;

	if (slash && evsel->attr.type != PERF_TYPE_BREAKPOINT) {
		name = slash + 1;
		len = strcspn(name, ",/");
	} else {
		colon = strrchr(name, ':');
		len = colon && evsel->attr.type != PERF_TYPE_TRACEPOINT &&
				      strspn(colon + 1, "ukhGHIpPSDeWbRX") == strlen(colon + 1) ?
			      colon - name :
			      (int)strlen(name);
	}
	snprintf(base, size, "%.*s", len, name);
}
