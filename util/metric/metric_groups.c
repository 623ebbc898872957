// SPDX-License-Identifier: GPL-2.0
#include "util/metric/metric_groups.h"

#include "util/event/evlist.h"
#include "util/event/parse_events.h"
#include "util/event/pmu.h"
#include "util/lib/array.h"
#include "util/lib/msg.h"
#include "util/lib/util.h"
#include "util/metric/metric_request.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* Events that are opened together. */
struct set {
	const struct metric_request
		*largest; /* the request whose group it is; of single events the first */
	char **ids;	  /* of all its metrics; owned array of borrowed texts */
	int nr_ids;
};

static bool same_kind(const struct metric_request *a, const struct metric_request *b)
{
	return a->is_grouped == b->is_grouped && a->def.pmu == b->def.pmu &&
	       !strcmp(a->modifiers ? a->modifiers : "", b->modifiers ? b->modifiers : "");
}

static bool serves(const struct set *set, const struct metric_request *request)
{
	int i;

	if (!same_kind(set->largest, request))
		return false;
	for (i = 0; i < request->nr_ids && request->is_grouped; i++) {
		if (!metric_request__has_id(set->ids, set->nr_ids, request->ids[i]))
			return false;
	}
	return true;
}

static int extend(struct set *set, const struct metric_request *request)
{
	char **added;
	int i;

	for (i = 0; i < request->nr_ids; i++) {
		if (metric_request__has_id(set->ids, set->nr_ids, request->ids[i]))
			continue;
		added = array__add(set->ids, set->nr_ids);
		if (!added)
			return -ENOMEM;
		*added = request->ids[i];
	}
	return 0;
}

static int compare_sizes(const void *a, const void *b)
{
	const struct metric_request *one = *(struct metric_request *const *)a;
	const struct metric_request *two = *(struct metric_request *const *)b;

	if (one->nr_ids != two->nr_ids)
		return two->nr_ids - one->nr_ids;
	return one < two ? -1 : one > two;
}

/* Assign every request to a set, the largest first, so that smaller ones can use its set. */
static int make_sets(struct metric_requests *requests, struct set *sets, int *nr,
		     const struct metric_request_options *options)
{
	struct metric_request **sorted __cleanup(free_ptr) = calloc(requests->nr, sizeof(*sorted));
	int i, s, err = 0;

	if (!sorted)
		return -ENOMEM;
	for (i = 0; i < requests->nr; i++)
		sorted[i] = &requests->requests[i];
	qsort(sorted, requests->nr, sizeof(*sorted), compare_sizes);
	for (i = 0; i < requests->nr && !err; i++) {
		for (s = 0; s < *nr; s++) {
			if (!options->no_merge && serves(&sets[s], sorted[i]))
				break;
		}
		if (s == *nr)
			sets[(*nr)++].largest = sorted[i];
		err = extend(&sets[s], sorted[i]);
		/* 0 means no set. */
		sorted[i]->set = s + 1;
	}
	return err;
}

/* Return: "{a,b}:Wu,tool" or "a,b,tool"; owned. */
static char *set_text(const struct metric_requests *requests, const struct set *set,
		      struct pmus *pmus)
{
	const char *modifiers = set->largest->modifiers ? set->largest->modifiers : "";
	bool is_group = set->largest->is_grouped && set->nr_ids > 1;
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	int i;

	if (!out)
		return NULL;
	for (i = 0; i < set->nr_ids; i++) {
		char *event __cleanup(free_ptr) =
			metric_request__event_text(set->largest, pmus, set->ids[i]);

		/* A group adds its modifiers to those of its events, so make each event a group. */
		fprintf(out, "%s%s%s", i ? "," : "",
			is_group   ? i ? "" : "{" :
			*modifiers ? "{" :
				     "",
			event ? event : "");
		if (!is_group && *modifiers)
			fprintf(out, "}:%s", modifiers);
	}
	if (is_group)
		fprintf(out, "}:W%s", modifiers);
	for (i = 0; i < requests->nr_tools; i++)
		fprintf(out, "%s%s", set->nr_ids || i ? "," : "", requests->tools[i]);
	if (fclose(out)) {
		free(text);
		return NULL;
	}
	return text;
}

/*
 * Distinguish the rows of NAME:u and NAME. Software events keep their plain names, as in the
 * reference.
 */
static int name_modifiers(struct evsel *evsel, const char *modifiers)
{
	if (!modifiers || evsel->tool || evsel->named || evsel__is_software(evsel))
		return 0;
	return evsel__name_modifiers(evsel, modifiers);
}

static int add_set(const struct metric_requests *requests, const struct set *set, int number,
		   struct evlist *list, const struct metric_request_options *options)
{
	struct pmus *pmus = options->scope.pmus;
	char *text __cleanup(free_ptr) = set_text(requests, set, pmus);
	const char **ids __cleanup(free_ptr) =
		calloc(set->nr_ids + requests->nr_tools + 1, sizeof(*ids));
	struct parse_events_options parse = {.quiet = true, .metric_ids = ids};
	struct parse_error error = {};
	int first = list->nr, err, i;

	if (!text || !ids)
		return -ENOMEM;
	if (!*text) /* a constant */
		return 0;
	for (i = 0; i < set->nr_ids; i++)
		ids[i] = set->ids[i];
	for (i = 0; i < requests->nr_tools; i++)
		ids[set->nr_ids + i] = requests->tools[i];
	err = parse_events_opts(list, pmus, text, &parse, &error);
	if (err == -EINVAL) {
		pr_err("Cannot resolve IDs for %s: %s", set->largest->def.name,
		       set->largest->def.expr);
		parse_error__print(&error);
	}
	parse_error__clear(&error);
	for (; !err && first < list->nr; first++) {
		list->evsels[first]->metric_set = number;
		err = name_modifiers(list->evsels[first], set->largest->modifiers);
	}
	return err;
}

/* Return: the position of a group's core PMU; groups without one stay behind the group before. */
static int core_position(const struct evsel *leader, int before)
{
	return leader->pmu && leader->pmu->is_core ? leader->pmu->idx : before;
}

/* On heterogeneous machines, move the groups of one kind of core before those of the next. */
static int sort_by_core(struct evlist *list, int first, struct pmus *pmus)
{
	struct evsel **sorted __cleanup(free_ptr) = NULL;
	int nr_core = pmus__nr_core(pmus), nr = 0, core, i;

	if (nr_core < 2)
		return 0;
	sorted = calloc(list->nr - first + 1, sizeof(*sorted));
	if (!sorted)
		return -ENOMEM;
	for (core = 0; core < nr_core; core++) {
		int position = 0;

		for (i = first; i < list->nr; i++) {
			position = core_position(list->evsels[i]->leader, position);
			if (position == core)
				sorted[nr++] = list->evsels[i];
		}
	}
	for (i = 0; i < nr; i++) {
		list->evsels[first + i] = sorted[i];
		sorted[i]->idx = first + i;
	}
	return 0;
}

int metric_requests__add_events(struct metric_requests *requests, struct evlist *list,
				const struct metric_request_options *options)
{
	struct set *sets = calloc(requests->nr + 1, sizeof(*sets));
	int first = list->nr, nr = 0, err = sets ? 0 : -ENOMEM, i;

	if (!err && requests->nr)
		err = make_sets(requests, sets, &nr, options);
	for (i = 0; i < nr && !err; i++)
		err = add_set(requests, &sets[i], i + 1, list, options);
	if (!err)
		err = sort_by_core(list, first, options->scope.pmus);
	for (i = 0; i < nr; i++)
		free(sets[i].ids);
	free(sets);
	return err;
}
