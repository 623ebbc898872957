// SPDX-License-Identifier: GPL-2.0
#include "util/metric/metric_request.h"

#include "util/defs/definitions.h"
#include "util/defs/metric_builtin.h"
#include "util/event/event_names.h"
#include "util/event/modifiers.h"
#include "util/event/parse_events.h"
#include "util/event/pmu.h"
#include "util/event/tool_values.h"
#include "util/lib/array.h"
#include "util/lib/msg.h"
#include "util/lib/program.h"
#include "util/lib/util.h"
#include "util/metric/expr_eval.h"
#include "util/metric/expr_parse.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

static void clear_request(struct metric_request *request)
{
	while (request->nr_ids)
		free(request->ids[--request->nr_ids]);
	free(request->ids);
	free(request->label);
	free(request->modifiers);
}

void metric_requests__clear(struct metric_requests *requests)
{
	while (requests->nr)
		clear_request(&requests->requests[--requests->nr]);
	free(requests->requests);
	while (requests->nr_tools)
		free(requests->tools[--requests->nr_tools]);
	free(requests->tools);
	memset(requests, 0, sizeof(*requests));
}

bool metric_request__has_id(char *const *ids, int nr, const char *id)
{
	int i;

	for (i = 0; i < nr; i++) {
		if (!strcasecmp(ids[i], id))
			return true;
	}
	return false;
}

static int add_id(char ***ids, int *nr, const char *id)
{
	char **added;

	if (metric_request__has_id(*ids, *nr, id))
		return 0;
	added = array__add(*ids, *nr);
	if (!added)
		return -ENOMEM;
	*added = strdup(id);
	return *added ? 0 : -ENOMEM;
}

/* --- the events of a metric --- */

/* The search for a metric's events. Constants decide which branches of a formula exist. */
struct lookup {
	const struct metric_request_options *options;
	struct metric_requests *requests;
	struct metric_request *request;
	bool quiet, has_tools;
	const struct metric_def **seen; /* metrics whose events have been collected; owned */
	int nr_seen;
};

/* The metrics whose formulas are being read, from the innermost; detects loops. */
struct chain {
	const struct metric_def *def;
	const struct chain *outer;
	int depth;
};

static double literal_value(void *data, const char *name)
{
	const struct lookup *lookup = data;

	return metric_scope__literal(&lookup->options->scope, name);
}

static bool has_event(void *data, const char *name)
{
	const struct lookup *lookup = data;

	return lookup->options->scope.pmus &&
	       parse_events__is_known(lookup->options->scope.pmus, name);
}

static bool is_this_cpu(void *data, const char *pattern)
{
	const struct lookup *lookup = data;

	return metric_scope__is_cpu(&lookup->options->scope, pattern);
}

static bool is_in_chain(const struct chain *chain, const struct metric_def *def)
{
	for (; chain; chain = chain->outer) {
		if (chain->def == def)
			return true;
	}
	return false;
}

static bool is_seen(const struct lookup *lookup, const struct metric_def *def)
{
	int i;

	for (i = 0; i < lookup->nr_seen; i++) {
		if (lookup->seen[i] == def)
			return true;
	}
	return false;
}

static int set_seen(struct lookup *lookup, const struct metric_def *def)
{
	const struct metric_def **seen = array__add(lookup->seen, lookup->nr_seen);

	if (!seen)
		return -ENOMEM;
	*seen = def;
	return 0;
}

static int collect(struct lookup *lookup, const struct metric_def *def, const char *text,
		   bool is_threshold, const struct chain *outer);

static int collect_id(struct lookup *lookup, const char *id, const struct chain *chain)
{
	struct metric_request *request = lookup->request;
	const struct metric_def *other =
		definitions__find_metric(lookup->options->scope.defs, id, request->def.pmu);

	/* A metric may have the name of an event that it uses. */
	if (other && !(is_in_chain(chain, other) && has_event(lookup, id)))
		return is_seen(lookup, other) ? 0 :
						collect(lookup, other, other->expr, false, chain);
	if (event_name__find(tool_events, id)) {
		lookup->has_tools = true;
		return add_id(&lookup->requests->tools, &lookup->requests->nr_tools, id);
	}
	return add_id(&request->ids, &request->nr_ids, id);
}

static int collect(struct lookup *lookup, const struct metric_def *def, const char *text,
		   bool is_threshold, const struct chain *outer)
{
	const struct chain chain = {
		.def = def,
		.outer = outer,
		.depth = outer ? outer->depth + 1 : 0,
	};
	struct metric_expr_ctx ctx = {
		.data = lookup,
		.literal = literal_value,
		.has_event = has_event,
		.match_cpuid = is_this_cpu,
	};
	struct metric_expr_error error;
	struct metric_expr *expr = NULL;
	bool *needed __cleanup(free_ptr) = NULL;
	int i, nr, err;

	if (is_in_chain(outer, def)) {
		if (!lookup->quiet)
			pr_err("metric '%s' refers to itself", def->name);
		return -EINVAL;
	}
	if (chain.depth == MAX_METRIC_DEPTH) {
		if (!lookup->quiet)
			pr_err("metric '%s' is made of metrics made of metrics: %d levels at most",
			       lookup->request->def.name, MAX_METRIC_DEPTH);
		return -EINVAL;
	}
	err = metric_expr__parse(text, &expr, &error);
	if (err == -EINVAL && !lookup->quiet)
		pr_err("metric '%s': %s at column %d of '%.200s'", def->name, error.reason,
		       error.column + 1, text);
	if (err)
		return err;
	nr = metric_expr__nr_ids(expr);
	needed = calloc(nr + 1, sizeof(*needed));
	if (!needed)
		err = -ENOMEM;
	else
		metric_expr__find_needed(expr, &ctx, needed);
	for (i = 0; i < nr && !err; i++) {
		const char *id = metric_expr__id(expr, i);

		if (needed[i] && !(is_threshold && !strcasecmp(id, def->name)))
			err = collect_id(lookup, id, &chain);
	}
	metric_expr__delete(expr);
	return err ? err : set_seen(lookup, def);
}

char *metric_request__event_text(const struct metric_request *request, struct pmus *pmus,
				 const char *id)
{
	const struct pmu *pmu = request->def.pmu ? pmus__find(pmus, request->def.pmu) : NULL;
	char *text;

	if (!pmu || !pmu->is_core || strpbrk(id, "/:") || event_name__find(sw_events, id))
		return strdup(id);
	text = xasprintf("%s/%s/", pmu->name, id);
	if (!text || parse_events__is_known(pmus, text))
		return text;
	/* Metrics of cores also use events of uncore PMUs and of msr, by their plain names. */
	free(text);
	return strdup(id);
}

/* Return: whether all events can be parsed; otherwise *@unknown receives the bad one, owned. */
static bool can_parse(const struct metric_request *request, struct pmus *pmus, char **unknown)
{
	int i;

	for (i = 0; i < request->nr_ids; i++) {
		char *text = metric_request__event_text(request, pmus, request->ids[i]);

		if (!text || !parse_events__is_known(pmus, text)) {
			*unknown = text;
			return false;
		}
		free(text);
	}
	return true;
}

/* Return: whether a metric's constraint permits a group, on this machine and now. */
static bool permits_group(const struct metric_def *def,
			  const struct metric_request_options *options)
{
	const char *constraint = def->constraint ? def->constraint : "";

	if (!strcmp(constraint, "NO_GROUP_EVENTS"))
		return false;
	if (!strcmp(constraint, "NO_GROUP_EVENTS_NMI") || !strcmp(constraint, "NO_NMI_WATCHDOG"))
		return !tool__is_watchdog_on();
	if (!strcmp(constraint, "NO_THRESHOLD_AND_NMI"))
		return options->no_threshold || !def->threshold || !tool__is_watchdog_on();
	if (!strcmp(constraint, "NO_GROUP_EVENTS_SMT"))
		return metric_scope__literal(&options->scope, "smt_on") != 1;
	return true;
}

static bool is_groupable(const struct metric_request *request,
			 const struct metric_request_options *options)
{
	if (request->group && metric_def__has_word(request->def.no_group_in, request->group))
		return false;
	return !options->no_group && permits_group(&request->def, options);
}

/* --- the metrics --- */

static int describe(struct metric_request *request, const struct metric_def *def,
		    const char *modifiers)
{
	request->def = *def;
	request->modifiers = modifiers ? strdup(modifiers) : NULL;
	request->label = modifiers ? xasprintf("%s:%s", def->name, modifiers) : strdup(def->name);
	request->def.label = request->label;
	return request->label && (!modifiers || request->modifiers) ? 0 : -ENOMEM;
}

static int add_request(struct metric_requests *requests, const struct metric_def *def,
		       const char *modifiers, const char *group,
		       const struct metric_request_options *options)
{
	struct metric_request request = {.group = group}, *added;
	struct lookup lookup = {
		.options = options,
		.requests = requests,
		.request = &request,
		.quiet = group,
	};
	char *unknown __cleanup(free_ptr) = NULL;
	int nr_tools = requests->nr_tools, err;

	err = describe(&request, def, modifiers);
	if (!requests->is_default)
		request.def.default_group = NULL;
	if (!err)
		err = collect(&lookup, def, def->expr, false, NULL);
	if (!err && def->threshold && !options->no_threshold)
		err = collect(&lookup, def, def->threshold, true, NULL);
	/* A constant metric has no event with a row: use duration_time. */
	if (!err && !request.nr_ids && !lookup.has_tools)
		err = add_id(&requests->tools, &requests->nr_tools, "duration_time");
	free(lookup.seen);
	if (!err && !can_parse(&request, options->scope.pmus, &unknown)) {
		if (!unknown)
			err = -ENOMEM;
		else if (group)
			pr_verbose("metric '%s' is left out: event '%s' is not known here",
				   def->name, unknown);
		else
			pr_err("Cannot resolve IDs for %s: %s (event '%s' is not known here)",
			       def->name, def->expr, unknown);
		err = err ? err : -EINVAL;
	}
	if (!err) {
		request.is_grouped = is_groupable(&request, options);
		added = array__add(requests->requests, requests->nr);
		if (added) {
			*added = request;
			return 0;
		}
		err = -ENOMEM;
	}
	while (requests->nr_tools > nr_tools)
		free(requests->tools[--requests->nr_tools]);
	clear_request(&request);
	return group && err == -EINVAL ? 0 : err;
}

static bool is_requested(const struct metric_requests *requests, const struct metric_def *def,
			 const char *modifiers)
{
	const struct metric_request *request;
	int i;

	for (i = 0; i < requests->nr; i++) {
		request = &requests->requests[i];
		if (request->def.name == def->name && request->def.pmu == def->pmu &&
		    !strcmp(request->modifiers ? request->modifiers : "",
			    modifiers ? modifiers : ""))
			return true;
	}
	return false;
}

static int add_def(struct metric_requests *requests, const struct metric_def *def,
		   const char *modifiers, const char *group,
		   const struct metric_request_options *options)
{
	if (is_requested(requests, def, modifiers))
		return 0;
	return add_request(requests, def, modifiers, group, options);
}

static bool is_in_group(const struct metric_def *def, const char *name)
{
	if (!strcasecmp(name, "all"))
		return true;
	if (!strcasecmp(name, "No_group"))
		return !def->group;
	return metric_def__in_group(def, name);
}

/* Return: whether this machine has the PMU of a metric. */
static bool is_here(const struct metric_def *def, struct pmus *pmus)
{
	const struct pmu *pmu = NULL;

	if (!def->pmu)
		return true;
	while ((pmu = pmus__next(pmus, pmu))) {
		if (pmu__matches(pmu, def->pmu) && pmu__has_identifier(pmu, def->compat))
			return true;
	}
	return false;
}

/*
 * Add metrics with that name, otherwise the members of that group. A metric that cannot be counted
 * here costs only itself. Return: number or -errno.
 */
static int add_named(struct metric_requests *requests, const char *name, const char *modifiers,
		     const struct metric_request_options *options)
{
	struct definitions *defs = options->scope.defs;
	const struct metric_def *def = NULL;
	int nr = 0, err = 0;

	while (!err && (def = definitions__next_metric(defs, def))) {
		if (strcasecmp(def->name, name) || !is_here(def, options->scope.pmus))
			continue;
		err = add_def(requests, def, modifiers, NULL, options);
		err = err == -EINVAL ? 0 : err;
		nr++;
	}
	if (nr)
		return err ? err : nr;
	while (!err && (def = definitions__next_metric(defs, def))) {
		if (!is_in_group(def, name) || !is_here(def, options->scope.pmus))
			continue;
		err = add_def(requests, def, modifiers, name, options);
		nr++;
	}
	return err ? err : nr;
}

static void report_unknown(struct definitions *defs, const char *name)
{
	const char **names __cleanup(free_ptr) = NULL, *near;
	const struct metric_def *def = NULL;
	int nr = 0;

	while ((def = definitions__next_metric(defs, def)))
		nr++;
	names = calloc(nr + 1, sizeof(*names));
	for (nr = 0; names && (def = definitions__next_metric(defs, def));)
		names[nr++] = def->name;
	near = names ? nearest_name(name, names) : NULL;
	pr_text("Cannot find metric or group `%s'\n", name);
	if (near)
		pr_text("Did you mean '%s'?\n", near);
	pr_text("Run '%s list metrics' for a list of them\n", program__name());
}

static int add_word(struct metric_requests *requests, const char *word,
		    const struct metric_request_options *options)
{
	const char *colon = strrchr(word, ':');
	char *name __cleanup(free_ptr) = NULL;
	int nr = add_named(requests, word, NULL, options);

	if (nr)
		return nr < 0 ? nr : 0;
	if (colon && colon[1] && modifiers__is_word(colon + 1, strlen(colon + 1))) {
		name = strndup(word, colon - word);
		nr = name ? add_named(requests, name, colon + 1, options) : -ENOMEM;
	}
	if (nr)
		return nr < 0 ? nr : 0;
	report_unknown(options->scope.defs, word);
	return -ENOENT;
}

int metric_requests__add(struct metric_requests *requests, const char *list,
			 const struct metric_request_options *options)
{
	char *words __cleanup(free_ptr) = strdup(list), *rest = words, *word;
	unsigned int nr_errors = msg__nr_errors();
	int err = words ? 0 : -ENOMEM;

	while (!err && (word = strsep(&rest, ",")))
		err = add_word(requests, word, options);
	if (err || requests->nr)
		return err;
	if (msg__nr_errors() == nr_errors)
		pr_err("-M %s: no metric of it can be counted here (-v: why)", list);
	return -EINVAL;
}

int metric_requests__add_defaults(struct metric_requests *requests, int detail,
				  const struct metric_request_options *options)
{
	static const char *const groups[] = {"Default", "Default2", "Default3", "Default4"};
	struct definitions *defs = options->scope.defs;
	const struct metric_def *def = NULL;
	int g, err = 0;

	/* Do not parse files without default metrics, which most are. */
	if (!definitions__mentions(defs, groups[0]))
		return 0;
	requests->is_default = true;
	for (g = 0; g < (int)ARRAY_SIZE(groups) && g <= detail; g++) {
		while (!err && (def = definitions__next_metric(defs, def))) {
			if (metric_def__in_group(def, groups[g]) &&
			    !metric_builtin__find(def->name) && is_here(def, options->scope.pmus))
				err = add_def(requests, def, NULL, groups[g], options);
		}
	}
	return err;
}

bool metric_requests__has_group(const char *name, const struct metric_request_options *options)
{
	const struct metric_def *def = NULL;

	while ((def = definitions__next_metric(options->scope.defs, def))) {
		if (metric_def__in_group(def, name) && is_here(def, options->scope.pmus))
			return true;
	}
	return false;
}

bool metric_requests__show_events(const struct metric_requests *requests, int set)
{
	int i;

	for (i = 0; i < requests->nr; i++) {
		if (requests->requests[i].set == set && requests->requests[i].def.show_events)
			return true;
	}
	return false;
}
