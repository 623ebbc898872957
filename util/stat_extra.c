// SPDX-License-Identifier: GPL-2.0
#include "stat_extra.h"

#include "cgroup.h"
#include "event_tables.h"
#include "evlist.h"
#include "pmu.h"
#include "util.h"

#include <errno.h>
#include <limits.h>
#include <stddef.h>
#include <string.h>

enum kind { FLAG, NUMBER, TEXT };

/* A key and the variable that it is about, for both directions. */
struct key {
	const char *name;
	enum kind kind;
	size_t offset;
};

#define RUN(field) offsetof(struct stat_extra, field)
static const struct key run_keys[] = {
	{ "workload", FLAG, RUN(is_workload) },
	{ "system-wide", FLAG, RUN(is_system_wide) },
	{ "no-merge", FLAG, RUN(no_merge) },
	{ "for-each-cgroup", FLAG, RUN(for_each_cgroup) },
	{ "null", FLAG, RUN(null_run) },
	{ "no-metrics", FLAG, RUN(no_metrics) },
	{ "metric-only", FLAG, RUN(metric_only) },
	{ "summary", FLAG, RUN(summary) },
	{ "percore-show-thread", FLAG, RUN(percore_show_thread) },
	{ "defaults", FLAG, RUN(has_defaults) },
	{ "detail", NUMBER, RUN(detail) },
	{ "metrics", TEXT, RUN(metrics) },
	{ "topdown", FLAG, RUN(topdown) },
	{ "transaction", FLAG, RUN(transaction) },
	{ "smi-cost", FLAG, RUN(smi_cost) },
	{ "td-level", NUMBER, RUN(td_level) },
	{ "metric-no-group", FLAG, RUN(metric_no_group) },
	{ "metric-no-merge", FLAG, RUN(metric_no_merge) },
	{ "metric-no-threshold", FLAG, RUN(metric_no_threshold) },
	{ "clusters", TEXT, RUN(clusters) },
	{},
};

#define EVENT(field) offsetof(struct evsel, field)
static const struct key event_keys[] = {
	{ "default", FLAG, EVENT(is_default) },
	{ "keep-row", FLAG, EVENT(keep_row) },
	{ "hidden", FLAG, EVENT(hidden) },
	{ "snapshot", FLAG, EVENT(snapshot) },
	{ "per-pkg", FLAG, EVENT(per_pkg) },
	{ "percore", FLAG, EVENT(percore) },
	{ "named", FLAG, EVENT(named) },
	{ "auto-merge", FLAG, EVENT(auto_merge) },
	{ "needs-cpu", FLAG, EVENT(needs_cpu) },
	{ "threads-as-one", FLAG, EVENT(threads_as_one) },
	{ "metric-id", TEXT, EVENT(metric_id) },
	{ "metric-set", NUMBER, EVENT(metric_set) },
	{},
};

static void put_text(struct bytes *out, const char *key, const char *value)
{
	bytes__put(out, key, strlen(key));
	bytes__put(out, "=", 1);
	bytes__put_text(out, value);
}

static void put_number(struct bytes *out, const char *key, int value)
{
	char *text __cleanup(free_ptr) = xasprintf("%d", value);

	out->has_failed |= !text;
	if (text)
		put_text(out, key, text);
}

static void put_keys(struct bytes *out, const struct key *key, const void *from)
{
	for (; key->name; key++) {
		const void *field = (const char *)from + key->offset;

		if (key->kind == FLAG && *(const bool *)field)
			bytes__put_text(out, key->name);
		else if (key->kind == NUMBER && *(const int *)field)
			put_number(out, key->name, *(const int *)field);
		else if (key->kind == TEXT && *(char *const *)field)
			put_text(out, key->name, *(char *const *)field);
	}
}

void stat_extra__put(struct bytes *out, const struct stat_extra *extra)
{
	put_keys(out, run_keys, extra);
}

static const char *tool_name(enum tool_event tool)
{
	for (const struct event_name *name = tool_events; name->name; name++) {
		if ((enum tool_event)name->config == tool)
			return name->name;
	}
	return NULL;
}

static enum tool_event tool_number(const char *text)
{
	for (const struct event_name *name = tool_events; name->name; name++) {
		if (!strcmp(name->name, text))
			return name->config;
	}
	return TOOL_NONE;
}

void stat_extra__put_event(struct bytes *out, const struct evlist *list, int idx)
{
	const struct evsel *evsel = list->evsels[idx];

	put_number(out, "event", idx);
	put_keys(out, event_keys, evsel);
	if (evsel->merge_leader)
		put_number(out, "merge", evsel->merge_leader->idx);
	if (evsel->nr_members > 1)
		put_number(out, "members", evsel->nr_members);
	if (evsel->tool && tool_name(evsel->tool))
		put_text(out, "tool", tool_name(evsel->tool));
	if (evsel->pmu)
		put_text(out, "pmu", evsel->pmu->name);
	if (evsel->cgroup)
		put_text(out, "cgroup", evsel->cgroup->name);
}

/* The value of a text that has this key; "" of a flag; NULL: it has another. */
static const char *value_of(const char *text, const char *key)
{
	size_t len = strlen(key);

	if (strncmp(text, key, len))
		return NULL;
	if (!text[len])
		return text + len;
	return text[len] == '=' ? text + len + 1 : NULL;
}

static int number(const char *text, int *value)
{
	char *end;
	long n = strtol(text, &end, 10);

	if (end == text || *end || n < 0 || n > INT_MAX)
		return -EINVAL;
	*value = n;
	return 0;
}

/* Return: 1: it is one of these; 0; or -errno */
static int read_key(const char *text, const struct key *key, void *to)
{
	for (; key->name; key++) {
		const char *value = value_of(text, key->name);
		void *field = (char *)to + key->offset;
		char **string = field;
		int err = 0;

		if (!value)
			continue;
		switch (key->kind) {
		case FLAG:
			*(bool *)field = true;
			break;
		case NUMBER:
			err = number(value, field);
			break;
		case TEXT:
			free(*string);
			*string = strdup(value);
			text__make_printable(*string);
			err = *string ? 0 : -ENOMEM;
			break;
		}
		return err ? err : 1;
	}
	return 0;
}

static const struct cgroup *cgroup_named(struct stat_extra *extra, const char *value)
{
	char *name __cleanup(free_ptr) = strdup(value);
	struct cgroup **cgroups, *cgroup;

	text__make_printable(name);
	for (int i = 0; name && i < extra->nr_cgroups; i++) {
		if (!strcmp(extra->cgroups[i]->name, name))
			return extra->cgroups[i];
	}
	cgroups = name ? realloc(extra->cgroups, (extra->nr_cgroups + 1) * sizeof(*cgroups)) : NULL;
	if (!cgroups)
		return NULL;
	extra->cgroups = cgroups;
	cgroup = calloc(1, sizeof(*cgroup));
	if (!cgroup)
		return NULL;
	cgroups[extra->nr_cgroups++] = cgroup;
	cgroup->state = CGROUP_LIVE;
	cgroup->name = strdup(name);
	return cgroup->name ? cgroup : NULL;
}

static int read_event(struct stat_extra *extra, struct evsel *evsel, struct evlist *list,
		      struct pmus *pmus, const char *text)
{
	int err = read_key(text, event_keys, evsel), other;
	const char *value;

	if (err)
		return err < 0 ? err : 0;
	if ((value = value_of(text, "merge"))) {
		err = number(value, &other);
		/* The sum is made in an earlier event that is itself no part of another. */
		if (err || other >= evsel->idx || list->evsels[other]->merge_leader)
			return -EINVAL;
		evsel->merge_leader = list->evsels[other];
	} else if ((value = value_of(text, "members"))) {
		if (number(value, &other) || other < 1 || other > list->nr - evsel->idx ||
		    evsel->nr_members != 1)
			return -EINVAL;
		for (int i = 1; i < other; i++) {
			if (list->evsels[evsel->idx + i]->nr_members != 1)
				return -EINVAL;
		}
		evlist__group(list, evsel->idx, other);
	} else if ((value = value_of(text, "tool"))) {
		evsel->tool = tool_number(value);
	} else if ((value = value_of(text, "pmu"))) {
		evsel->pmu = pmus__find(pmus, value);
	} else if ((value = value_of(text, "cgroup"))) {
		evsel->cgroup = cgroup_named(extra, value);
		return evsel->cgroup ? 0 : -ENOMEM;
	}
	return 0;
}

int stat_extra__read(struct stat_extra *extra, struct evlist *list, struct pmus *pmus,
		     const char *data, size_t len)
{
	struct byte_reader r = { .at = data, .left = len };
	struct evsel *evsel = NULL;
	int err = 0, idx;

	while (r.left && !err) {
		const char *text = byte_reader__text(&r), *value;

		if (!text)
			return -EINVAL;
		value = value_of(text, "event");
		if (value) {
			if (number(value, &idx) || idx >= list->nr)
				return -EINVAL;
			evsel = list->evsels[idx];
		} else if (evsel) {
			err = read_event(extra, evsel, list, pmus, text);
		} else {
			err = read_key(text, run_keys, extra);
			err = err < 0 ? err : 0;
		}
	}
	return err;
}

void stat_extra__clear(struct stat_extra *extra)
{
	free(extra->metrics);
	free(extra->clusters);
	for (int i = 0; i < extra->nr_cgroups; i++) {
		free(extra->cgroups[i]->name);
		free(extra->cgroups[i]);
	}
	free(extra->cgroups);
	memset(extra, 0, sizeof(*extra));
}
