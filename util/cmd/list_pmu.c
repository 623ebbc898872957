// SPDX-License-Identifier: GPL-2.0
#include "util/cmd/list_pmu.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "util/cmd/list.h"
#include "util/defs/definitions.h"
#include "util/event/event_names.h"
#include "util/event/pmu.h"
#include "util/lib/array.h"
#include "util/lib/util.h"

/* Return: whether this machine can open the event, at least at user level. */
static bool can_open(struct lister *l, uint32_t type, uint64_t config)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr), .type = type, .config = config, .disabled = 1};
	const struct pmu *core = pmus__core(l->pmus);
	int fd __cleanup(close_fd) = -1;

	if (core && pmus__nr_core(l->pmus) > 1)
		attr.config |= (uint64_t)core->type << 32;
	fd = syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0 && (errno == EACCES || errno == EPERM)) {
		attr.exclude_kernel = 1;
		attr.exclude_hv = 1;
		fd = syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	}
	return fd >= 0;
}

void list__hw(struct lister *l)
{
	const struct pmu *core = pmus__core(l->pmus);
	const struct event_name *event;

	for (event = hw_events; event->name; event++) {
		char encoding[64];
		struct list_row row = {
			.name = event->name,
			.alias = event->alias,
			.type = "Hardware event",
			.json_type = "Hardware event",
			.topic = "legacy hardware",
			.pmu = core ? core->name : NULL,
			.encoding = encoding,
		};

		if (!list__has_unit(l, core, "cpu") ||
		    !can_open(l, PERF_TYPE_HARDWARE, event->config))
			continue;
		snprintf(encoding, sizeof(encoding), "%d:0x%llx", PERF_TYPE_HARDWARE,
			 (unsigned long long)event->config);
		list__row(l, &row);
	}
}

void list__cache(struct lister *l)
{
	const struct pmu *core = pmus__core(l->pmus);
	char name[CACHE_NAME_MAX], encoding[64];
	uint64_t config;
	int pos = 0;

	while (cache_event__next(&pos, name, &config)) {
		struct list_row row = {
			.name = name,
			.type = "Hardware cache event",
			.json_type = "Hardware cache event",
			.topic = "legacy cache",
			.pmu = core ? core->name : NULL,
			.encoding = encoding,
		};

		if (!list__has_unit(l, core, "cpu") || !can_open(l, PERF_TYPE_HW_CACHE, config))
			continue;
		snprintf(encoding, sizeof(encoding), "%d:0x%llx", PERF_TYPE_HW_CACHE,
			 (unsigned long long)config);
		list__row(l, &row);
	}
}

static bool is_clock(const char *pmu, const struct event_name *event)
{
	return !strcmp(pmu, "software") && (event->config == PERF_COUNT_SW_CPU_CLOCK ||
					    event->config == PERF_COUNT_SW_TASK_CLOCK);
}

void list__table(struct lister *l, const char *pmu, const struct event_name *event,
		 const char *type)
{
	for (; event->name && list__has_unit(l, NULL, pmu); event++) {
		char encoding[64];
		struct list_row row = {
			.name = event->name,
			.alias = event->alias,
			.type = type,
			.json_type = type,
			.pmu = pmu,
			.topic = pmu,
			.desc = event->desc,
			.scale_unit = is_clock(pmu, event) ? "1e-06msec" : NULL,
			.encoding = encoding,
		};

		snprintf(encoding, sizeof(encoding), "%s/config=0x%llx/", pmu,
			 (unsigned long long)event->config);
		list__row(l, &row);
	}
}

/* Return: whether one entry stands for all instances, as their counts are summed. */
static bool has_family(const struct lister *l, const struct pmu *pmu)
{
	return !l->instances && !pmu->is_core && !pmu->is_hwmon && !pmu->is_drm;
}

static bool has_earlier_instance(struct lister *l, const struct pmu *pmu)
{
	const struct pmu *other = NULL;

	while ((other = pmus__next(l->pmus, other)) && other != pmu) {
		if (!other->is_core && pmu__same_family(other, pmu))
			return true;
	}
	return false;
}

bool list_pmu__is_shown(struct lister *l, const struct pmu *pmu)
{
	return !has_family(l, pmu) || !has_earlier_instance(l, pmu);
}

static bool has_instances(struct lister *l, const struct pmu *pmu)
{
	const struct pmu *other = NULL;

	while ((other = pmus__next(l->pmus, other))) {
		if (other != pmu && !other->is_core && pmu__same_family(other, pmu))
			return true;
	}
	return false;
}

/* Events of files need no PMU in their names, and have the vendor's texts. */
static void describe(struct list_row *row, const struct event_def *def)
{
	row->name = def->name;
	row->alias = row->raw = row->type = NULL;
	row->topic = def->topic;
	row->desc = def->desc;
	row->long_desc = def->long_desc;
	row->is_deprecated = def->deprecated;
}

/* The values of chips and of GPU drivers. */
static void describe_value(struct list_row *row, const struct pmu *pmu,
			   const struct pmu_event *event)
{
	row->name = event->name;
	row->alias = event->alias;
	row->type = row->json_type = pmu->is_drm ? "DRM event" : "Hwmon event";
	row->topic = pmu->is_drm ? "drm" : "hwmon";
	row->desc = event->desc;
}

/* Return: the terms that the user must complete, ",cmask=?" of "event=0x12,cmask=?"; owned. */
static char *parameters(const char *terms)
{
	char *copy __cleanup(free_ptr) = strdup(terms), *rest = copy, *term, *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	while (rest && (term = strsep(&rest, ","))) {
		size_t len = strlen(term);

		if (len > 2 && !strcmp(term + len - 2, "=?"))
			fprintf(out, ",%s", term);
	}
	if (fclose(out)) {
		free(text);
		return NULL;
	}
	return text;
}

/* An event to list. */
struct found {
	const struct pmu *pmu;
	const char *name;
	const struct pmu_event *event; /* NULL: it cannot be read */
	int place;
};

static const char *topic_of(const struct found *found)
{
	return found->event && found->event->def ? found->event->def->topic : "";
}

/* Events of sysfs come first, PMU by PMU, then those of vendors by topic, as in Linux's perf. */
static int compare_found(const void *a, const void *b)
{
	const struct found *one = a, *two = b;
	int order = strcmp(topic_of(one), topic_of(two));

	return order ? order : one->place - two->place;
}

static void list_event(struct lister *l, const struct pmu *pmu, const char *event_name,
		       const struct pmu_event *event)
{
	bool family = has_family(l, pmu) && has_instances(l, pmu);
	int len = family ? pmu__family_len(pmu) : (int)strlen(pmu->name);
	const char *terms = event && event->terms ? event->terms : "";
	char *name __cleanup(free_ptr) = NULL, *encoding __cleanup(free_ptr) = NULL;
	char *short_name __cleanup(free_ptr) = xasprintf("%.*s", len, pmu->name);
	char *scale_unit __cleanup(free_ptr) = NULL,
			 *params __cleanup(free_ptr) = parameters(terms);

	name = xasprintf("%.*s/%s%s/", len, pmu->name, event_name, params ? params : "");
	encoding = xasprintf("%s/%s/", pmu->name, terms);
	if (event && (event->unit[0] || event->has_scale))
		scale_unit = xasprintf("%g%s", event->scale, event->unit);
	if (name && encoding && short_name) {
		struct list_row row = {
			.name = pmu->is_core ? event_name : name,
			.alias = pmu->is_core ? name : NULL,
			.raw = name,
			.type = "Kernel PMU event",
			.json_type = "Kernel PMU event",
			.pmu = short_name,
			.topic = short_name,
			.scale_unit = scale_unit,
			.encoding = encoding,
		};

		if (event && event->def)
			describe(&row, event->def);
		else if (pmu->is_hwmon || pmu->is_drm)
			describe_value(&row, pmu, event);
		list__row(l, &row);
	}
}

static int find_events_of(const struct pmu *pmu, struct found **all, int *nr)
{
	const struct pmu_event *next = NULL;
	struct found *found;

	while ((next = pmu__next_event(pmu, next))) {
		found = array__add(*all, *nr);
		if (!found)
			return -ENOMEM;
		*found = (struct found){pmu, next->name, pmu__event(pmu, next->name), *nr};
	}
	return 0;
}

void list__pmus(struct lister *l)
{
	struct found *all __cleanup(free_ptr) = NULL;
	const struct pmu *pmu = NULL;
	int i, nr = 0;

	pmus__load_drm(l->pmus);
	while ((pmu = pmus__next(l->pmus, pmu))) {
		if (pmu__is_software(pmu) || pmu__is_tool(pmu) || !list__has_unit(l, pmu, NULL) ||
		    !pmus__is_kept(l->pmus, pmu))
			continue;
		if (list_pmu__is_shown(l, pmu) && find_events_of(pmu, &all, &nr))
			l->failed = true;
	}
	if (nr)
		qsort(all, nr, sizeof(*all), compare_found);
	for (i = 0; i < nr; i++)
		list_event(l, all[i].pmu, all[i].name, all[i].event);
}
