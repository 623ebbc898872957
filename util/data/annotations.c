// SPDX-License-Identifier: GPL-2.0
#include "util/data/annotations.h"

#include "util/event/event_names.h"
#include "util/event/evlist.h"
#include "util/event/pmu.h"
#include "util/lib/array.h"
#include "util/lib/util.h"
#include "util/target/cgroup_list.h"

#include <errno.h>
#include <limits.h>
#include <stddef.h>
#include <string.h>

enum key_kind { KEY_FLAG, KEY_NUMBER, KEY_TEXT };

/* A key and its variable, for reading and writing. */
struct key {
	const char *name;
	enum key_kind kind;
	size_t offset;
};

#define RUN(field) offsetof(struct annotations, field)
static const struct key run_keys[] = {
	{"workload", KEY_FLAG, RUN(is_workload)},
	{"system-wide", KEY_FLAG, RUN(is_system_wide)},
	{"no-merge", KEY_FLAG, RUN(options.no_merge)},
	{"for-each-cgroup", KEY_FLAG, RUN(options.for_each_cgroup)},
	{"null", KEY_FLAG, RUN(options.null_run)},
	{"no-metrics", KEY_FLAG, RUN(options.no_metrics)},
	{"metric-only", KEY_FLAG, RUN(options.metric_only)},
	{"summary", KEY_FLAG, RUN(options.summary)},
	{"percore-show-thread", KEY_FLAG, RUN(options.percore_show_thread)},
	{"defaults", KEY_FLAG, RUN(has_defaults)},
	{"detail", KEY_NUMBER, RUN(detail)},
	{"metrics", KEY_TEXT, RUN(metrics.names)},
	{"topdown", KEY_FLAG, RUN(metrics.topdown)},
	{"transaction", KEY_FLAG, RUN(metrics.transaction)},
	{"smi-cost", KEY_FLAG, RUN(metrics.smi_cost)},
	{"td-level", KEY_NUMBER, RUN(metrics.td_level)},
	{"metric-no-group", KEY_FLAG, RUN(metrics.options.no_group)},
	{"metric-no-merge", KEY_FLAG, RUN(metrics.options.no_merge)},
	{"metric-no-threshold", KEY_FLAG, RUN(metrics.options.no_threshold)},
	{"clusters", KEY_TEXT, RUN(clusters)},
	{},
};

#define EVENT(field) offsetof(struct evsel, field)
static const struct key event_keys[] = {
	{"default", KEY_FLAG, EVENT(is_default)},
	{"keep-row", KEY_FLAG, EVENT(keep_row)},
	{"hidden", KEY_FLAG, EVENT(hidden)},
	{"snapshot", KEY_FLAG, EVENT(snapshot)},
	{"per-pkg", KEY_FLAG, EVENT(per_pkg)},
	{"percore", KEY_FLAG, EVENT(percore)},
	{"named", KEY_FLAG, EVENT(named)},
	{"auto-merge", KEY_FLAG, EVENT(auto_merge)},
	{"needs-cpu", KEY_FLAG, EVENT(needs_cpu)},
	{"threads-as-one", KEY_FLAG, EVENT(threads_as_one)},
	{"metric-id", KEY_TEXT, EVENT(metric_id)},
	{"metric-set", KEY_NUMBER, EVENT(metric_set)},
	{},
};

static void put_text(struct byte_buffer *out, const char *key, const char *value)
{
	byte_buffer__put(out, key, strlen(key));
	byte_buffer__put(out, "=", 1);
	byte_buffer__put_text(out, value);
}

static void put_number(struct byte_buffer *out, const char *key, int value)
{
	char *text __cleanup(free_ptr) = xasprintf("%d", value);

	out->has_failed |= !text;
	if (text)
		put_text(out, key, text);
}

static void put_keys(struct byte_buffer *out, const struct key *key, const void *from)
{
	for (; key->name; key++) {
		const void *field = (const char *)from + key->offset;

		if (key->kind == KEY_FLAG && *(const bool *)field)
			byte_buffer__put_text(out, key->name);
		else if (key->kind == KEY_NUMBER && *(const int *)field)
			put_number(out, key->name, *(const int *)field);
		else if (key->kind == KEY_TEXT && *(char *const *)field)
			put_text(out, key->name, *(char *const *)field);
	}
}

void annotations__put(struct byte_buffer *out, const struct annotations *annotations)
{
	put_keys(out, run_keys, annotations);
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

void annotations__put_event(struct byte_buffer *out, const struct evlist *list, int idx)
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

/* Return: the value of a text with this key, "" of a flag; NULL: another key. */
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

/* Return: 1 if the text has one of the keys, 0 if not, or -errno */
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
		case KEY_FLAG:
			*(bool *)field = true;
			break;
		case KEY_NUMBER:
			err = number(value, field);
			break;
		case KEY_TEXT:
			free(*string);
			*string = strdup(value);
			err = *string ? 0 : -ENOMEM;
			break;
		}
		return err ? err : 1;
	}
	return 0;
}

static const struct cgroup *cgroup_named(struct annotations *annotations, const char *name)
{
	struct cgroup **added, *cgroup;

	for (int i = 0; i < annotations->nr_cgroups; i++) {
		if (!strcmp(annotations->cgroups[i]->name, name))
			return annotations->cgroups[i];
	}
	cgroup = calloc(1, sizeof(*cgroup));
	added = cgroup ? array__add(annotations->cgroups, annotations->nr_cgroups) : NULL;
	if (!added) {
		free(cgroup);
		return NULL;
	}
	*added = cgroup;
	cgroup->state = CGROUP_LIVE;
	cgroup->name = strdup(name);
	return cgroup->name ? cgroup : NULL;
}

static int read_event(struct annotations *annotations, struct evsel *evsel, struct evlist *list,
		      struct pmus *pmus, const char *text)
{
	int err = read_key(text, event_keys, evsel), other;
	const char *value;

	if (err)
		return err < 0 ? err : 0;
	if ((value = value_of(text, "merge"))) {
		err = number(value, &other);
		/* The sum belongs to an earlier event, which is itself not merged. */
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
		evsel->cgroup = cgroup_named(annotations, value);
		return evsel->cgroup ? 0 : -ENOMEM;
	}
	return 0;
}

int annotations__read(struct annotations *annotations, struct evlist *list, struct pmus *pmus,
		      const char *data, size_t len)
{
	struct byte_reader r = {.at = data, .left = len};
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
			err = read_event(annotations, evsel, list, pmus, text);
		} else {
			err = read_key(text, run_keys, annotations);
			err = err < 0 ? err : 0;
		}
	}
	return err;
}

void annotations__clear(struct annotations *annotations)
{
	free(annotations->metrics.names);
	free(annotations->clusters);
	for (int i = 0; i < annotations->nr_cgroups; i++) {
		free(annotations->cgroups[i]->name);
		free(annotations->cgroups[i]);
	}
	free(annotations->cgroups);
	memset(annotations, 0, sizeof(*annotations));
}
