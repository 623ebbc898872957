// SPDX-License-Identifier: GPL-2.0
#include "util/event/evlist.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "util/event/pmu.h"
#include "util/host/cpumap.h"
#include "util/lib/array.h"
#include "util/lib/msg.h"
#include "util/lib/util.h"

struct evlist *evlist__new(void)
{
	struct evlist *list = calloc(1, sizeof(*list));

	if (!list)
		errno = ENOMEM;
	return list;
}

void evlist__delete(struct evlist *list)
{
	if (!list)
		return;
	evlist__truncate(list, 0);
	free(list->evsels);
	free(list);
}

int evlist__add(struct evlist *list, struct evsel *evsel)
{
	struct evsel **added = array__add(list->evsels, list->nr);

	if (!added)
		return -ENOMEM;
	evsel->idx = list->nr - 1;
	*added = evsel;
	return 0;
}

int evlist__repeat(struct evlist *list, int nr, const struct cgroup *cgroup)
{
	int first = list->nr;

	for (int i = 0; i < nr; i++) {
		struct evsel *clone = evsel__clone(list->evsels[i]);

		if (!clone)
			return -ENOMEM;
		clone->cgroup = cgroup;
		clone->model = list->evsels[i];
		if (evlist__add(list, clone)) {
			evsel__delete(clone);
			return -ENOMEM;
		}
	}
	for (int i = 0; i < nr; i++) {
		const struct evsel *model = list->evsels[i];
		struct evsel *clone = list->evsels[first + i];

		clone->leader = list->evsels[first + model->leader->idx];
		clone->nr_members = model->nr_members;
		if (model->merge_leader)
			clone->merge_leader = list->evsels[first + model->merge_leader->idx];
	}
	return first;
}

void evlist__truncate(struct evlist *list, int nr)
{
	while (list->nr > nr)
		evsel__delete(list->evsels[--list->nr]);
}

void evlist__move(struct evlist *list, int from, int to)
{
	struct evsel *evsel = list->evsels[from];
	int i;

	memmove(&list->evsels[to + 1], &list->evsels[to], (from - to) * sizeof(evsel));
	list->evsels[to] = evsel;
	for (i = to; i <= from; i++)
		list->evsels[i]->idx = i;
}

void evlist__group(struct evlist *list, int first, int nr)
{
	struct evsel *leader = list->evsels[first];
	int i;

	for (i = first; i < first + nr; i++) {
		list->evsels[i]->leader = leader;
		list->evsels[i]->nr_members = 0;
	}
	leader->nr_members = nr;
}

void evlist__ungroup(struct evlist *list, struct evsel *leader)
{
	int i, end = leader->idx + leader->nr_members;

	for (i = leader->idx; i < end; i++) {
		list->evsels[i]->leader = list->evsels[i];
		list->evsels[i]->nr_members = 1;
	}
}

int evlist__set_filter(struct evlist *list, int first, const char *filter)
{
	int i;

	if (first >= list->nr) {
		pr_err("--filter '%s': there is no event to filter: give it after its -e", filter);
		return -EINVAL;
	}
	for (i = first; i < list->nr; i++) {
		if (list->evsels[i]->attr.type != PERF_TYPE_TRACEPOINT) {
			pr_err("--filter '%s': '%s' is not a tracepoint: give it an -e of its own",
			       filter, list->evsels[i]->name);
			return -EINVAL;
		}
	}
	for (i = first; i < list->nr; i++) {
		struct evsel *evsel = list->evsels[i];
		char *text = evsel->filter ? xasprintf("(%s) && (%s)", evsel->filter, filter) :
					     strdup(filter);

		if (!text)
			return -ENOMEM;
		free(evsel->filter);
		evsel->filter = text;
	}
	return 0;
}

void evlist__only_level(struct evlist *list, bool user)
{
	struct evsel *evsel;
	int i;

	evlist__for_each(list, evsel, i) {
		evsel->attr.exclude_user = !user;
		evsel->attr.exclude_kernel = user;
		evsel->levels_given = true;
	}
}

/* Order by name, then by position. */
static int compare_names(const void *a, const void *b)
{
	const struct evsel *one = *(struct evsel *const *)a, *two = *(struct evsel *const *)b;
	int order = strcmp(one->name, two->name);

	return order ? order : one->idx - two->idx;
}

static const struct evsel *row_of(const struct evsel *evsel)
{
	return evsel->merge_leader ? evsel->merge_leader : evsel;
}

/* Return: whether all events are on the only core PMU, so that names need no PMU. */
static bool is_core_only(const struct evlist *list)
{
	const struct pmu *pmu = list->nr ? list->evsels[0]->pmu : NULL;
	int i;

	for (i = 1; i < list->nr; i++) {
		if (list->evsels[i]->pmu != pmu)
			return false;
	}
	return !pmu || pmu->is_core;
}

/* Return: whether the type has the same names on every machine, which imply the PMU. */
static bool is_generic(const struct evsel *evsel)
{
	return evsel->legacy ||
	       (evsel->attr.type < PERF_TYPE_MAX && evsel->attr.type != PERF_TYPE_RAW);
}

int evlist__uniquify_names(struct evlist *list, bool no_merge)
{
	struct evsel **sorted __cleanup(free_ptr) = NULL;
	bool *prefix __cleanup(free_ptr) = calloc(list->nr + 1, sizeof(*prefix));
	int i, j, k;

	sorted = malloc((list->nr + 1) * sizeof(*sorted));
	if (!sorted || !prefix)
		return -ENOMEM;
	if (no_merge) {
		bool is_plain = is_core_only(list);

		for (i = 0; i < list->nr; i++)
			prefix[i] = !is_plain && !is_generic(list->evsels[i]);
	} else if (list->nr) {
		memcpy(sorted, list->evsels, list->nr * sizeof(*sorted));
		qsort(sorted, list->nr, sizeof(*sorted), compare_names);
		for (i = 0; i < list->nr; i = j) {
			bool clash = false;

			for (j = i + 1; j < list->nr && !strcmp(sorted[i]->name, sorted[j]->name);
			     j++) {
				if (row_of(sorted[j])->pmu != row_of(sorted[i])->pmu)
					clash = true;
			}
			for (k = i; clash && k < j; k++)
				prefix[sorted[k]->idx] = true;
		}
	}
	for (i = 0; i < list->nr; i++) {
		struct evsel *evsel = list->evsels[i];
		char *name;

		if (!prefix[i] || evsel->named)
			continue;
		name = evsel__pmu_event_name(evsel);
		if (!name)
			return -ENOMEM;
		free(evsel->name);
		evsel->name = name;
		evsel->typed_pmu = strchr(name, '/') != NULL;
	}
	return 0;
}

char *evlist__group_text(const struct evlist *list, const struct evsel *leader)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	int i;

	if (!out)
		return NULL;
	fprintf(out, "%s { ", leader->group_name ? leader->group_name : "anon group");
	for (i = leader->idx; i < leader->idx + leader->nr_members; i++)
		fprintf(out, "%s%s", i > leader->idx ? ", " : "", list->evsels[i]->name);
	fputs(" }", out);
	if (fclose(out)) {
		free(text);
		errno = ENOMEM;
		return NULL;
	}
	return text;
}

void evlist__check_groups(struct evlist *list)
{
	int first, i;

	for (first = 0; first < list->nr; first++) {
		struct evsel *leader = list->evsels[first];
		int end = first + leader->nr_members, kept = 1;
		char *text;

		if (!evsel__is_leader(leader) || leader->nr_members < 2 || !leader->cpus)
			continue;
		for (i = first + 1; i < end; i++) {
			const struct cpumap *cpus = list->evsels[i]->cpus;

			kept += cpus && cpumap__equal(cpus, leader->cpus);
		}
		if (kept == end - first)
			continue;
		text = evlist__group_text(list, leader);
		pr_warn("%s: members counted on other CPUs than the first are taken out of the group",
			text ? text : leader->name);
		free(text);
		evlist__ungroup(list, leader);
		/* the remaining members move up to the leader: a group is contiguous */
		for (i = first + 1, kept = 1; i < end; i++) {
			const struct cpumap *cpus = list->evsels[i]->cpus;

			if (cpus && cpumap__equal(cpus, leader->cpus))
				evlist__move(list, i, first + kept++);
		}
		evlist__group(list, first, kept);
	}
}
