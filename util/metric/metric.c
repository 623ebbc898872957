// SPDX-License-Identifier: GPL-2.0
#include "util/metric/metric.h"

#include "util/defs/definitions.h"
#include "util/defs/metric_builtin.h"
#include "util/event/evlist.h"
#include "util/event/parse_events.h"
#include "util/event/pmu.h"
#include "util/lib/array.h"
#include "util/lib/msg.h"
#include "util/lib/util.h"
#include "util/metric/expr_eval.h"
#include "util/metric/expr_parse.h"

#include <errno.h>
#include <limits.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Tool events count time in ns; formulas use seconds. */
#define NS_TO_S 1e-9

static bool is_in_scope(const struct metric_scope *scope, const struct evsel *evsel)
{
	if (scope->cgroup != evsel->cgroup)
		return false;
	if (scope->set && scope->set != evsel->metric_set)
		return false;
	return !scope->pmu || !evsel->pmu || !evsel->pmu->is_core || evsel->pmu == scope->pmu;
}

static bool has_id(const struct evsel *evsel, const char *id)
{
	char base[128];

	if (evsel->metric_id)
		return !strcasecmp(evsel->metric_id, id);
	if (!strcasecmp(evsel->name, id))
		return true;
	evsel__base_name(evsel, base, sizeof(base));
	return !strcasecmp(base, id);
}

/*
 * Find the event of an identifier. Lists repeat events so that groups are complete: prefer one in the
 * group of the row's event, then a shown one.
 */
static struct evsel *find_evsel(const struct metric_scope *scope, const char *id,
				const struct evsel *row)
{
	struct evsel *evsel, *best = NULL;
	int i, rank, best_rank = -1;

	evlist__for_each(scope->evlist, evsel, i) {
		if (!is_in_scope(scope, evsel) || !has_id(evsel, id))
			continue;
		rank = evsel == row ? 3 : row && evsel->leader == row->leader ? 2 : !evsel->hidden;
		if (rank > best_rank) {
			best_rank = rank;
			best = evsel;
		}
	}
	return best;
}

/* Find the event whose row the definition names: the first that is shown, or the last. */
static struct evsel *find_row(const struct metric_scope *scope, const struct metric_def *def)
{
	struct evsel *evsel, *found = NULL;
	int i, j;

	for (j = 0; j < (int)ARRAY_SIZE(def->rows) && def->rows[j] && !found; j++) {
		evlist__for_each(scope->evlist, evsel, i) {
			if (!is_in_scope(scope, evsel) || !has_id(evsel, def->rows[j]) ||
			    evsel->hidden || (found && !def->own_row))
				continue;
			found = evsel;
		}
	}
	return found;
}

/* Find duration_time, also outside the scope: time is the same everywhere. */
static struct evsel *find_duration(const struct metric_scope *scope)
{
	struct evsel *evsel, *any = NULL;
	int i;

	evlist__for_each(scope->evlist, evsel, i) {
		if (evsel->tool != TOOL_DURATION_TIME)
			continue;
		if (scope->cgroup == evsel->cgroup &&
		    (!scope->set || scope->set == evsel->metric_set))
			return evsel;
		any = any ? any : evsel;
	}
	return any;
}

/* The data of expression callbacks. @source is NULL before counting. */
struct context {
	const struct metric *metric;
	const struct metric_formula *formula;
	const struct metric_source *source;
	double self;
	bool lacks_count; /* an input or an event that the formula asked for was not counted */
};

static double part_value(struct metric *part, const struct metric_source *source);

static bool count_input(struct context *c, int id, struct metric_count *count)
{
	const struct metric_input *input = &c->formula->inputs[id];
	bool is_counted = input->kind == METRIC_INPUT_EVSEL &&
			  c->source->count(c->source->data, input->evsel, count);

	c->lacks_count |= !is_counted;
	return is_counted;
}

static double metric_input_value(struct context *c, struct metric *part)
{
	double value = part_value(part, c->source);

	c->lacks_count |= part->lacks_count;
	return value;
}

static bool is_time(const struct evsel *evsel)
{
	return evsel->tool == TOOL_DURATION_TIME || evsel->tool == TOOL_USER_TIME ||
	       evsel->tool == TOOL_SYSTEM_TIME;
}

static double input_value(void *data, int id)
{
	struct context *c = data;
	const struct metric_input *input = &c->formula->inputs[id];
	struct metric_count count;

	switch (input->kind) {
	case METRIC_INPUT_SELF:
		return c->self;
	case METRIC_INPUT_TIME:
		return c->source->time_s;
	case METRIC_INPUT_METRIC:
		return metric_input_value(c, input->metric);
	case METRIC_INPUT_EVSEL:
		if (count_input(c, id, &count))
			return is_time(input->evsel) ? count.value * NS_TO_S : count.value;
		return input->evsel->tool == TOOL_DURATION_TIME ? c->source->time_s : NAN;
	default:
		c->lacks_count = true;
		return NAN;
	}
}

static double input_sources(void *data, int id)
{
	struct metric_count count;

	return count_input(data, id, &count) ? count.nr_sources : NAN;
}

static double input_counters(void *data, int id)
{
	struct metric_count count;

	return count_input(data, id, &count) ? count.nr : NAN;
}

static double literal_value(void *data, const char *name)
{
	return metric_scope__literal(&((const struct context *)data)->metric->scope, name);
}

static bool event_exists(void *data, const char *name)
{
	struct context *c = data;
	const struct metric_scope *scope = &c->metric->scope;
	const struct evsel *evsel = find_evsel(scope, name, c->metric->row_evsel);
	bool exists;

	if (!evsel)
		exists = scope->pmus && parse_events__is_known(scope->pmus, name);
	else
		exists = evsel->state != EVSEL_NOT_SUPPORTED && evsel->state != EVSEL_SKIPPED;
	c->lacks_count |= !exists;
	return exists;
}

static bool is_this_cpu(void *data, const char *pattern)
{
	return metric_scope__is_cpu(&((const struct context *)data)->metric->scope, pattern);
}

static struct metric_expr_ctx make_ctx(struct context *c)
{
	return (struct metric_expr_ctx){
		.data = c,
		.value = input_value,
		.source_count = input_sources,
		.aggr_nr = input_counters,
		.literal = literal_value,
		.has_event = event_exists,
		.match_cpuid = is_this_cpu,
	};
}

/* @lacks_count: set if an event was not counted, which makes most formulas NaN; NULL: ignored */
static double evaluate(const struct metric *metric, const struct metric_formula *formula,
		       const struct metric_source *source, double self, bool *lacks_count, int *err)
{
	struct context c = {
		.metric = metric,
		.formula = formula,
		.source = source,
		.self = self,
	};
	struct metric_expr_ctx ctx = make_ctx(&c);
	double value;

	*err = metric_expr__eval(formula->expr, &ctx, &value);
	if (lacks_count)
		*lacks_count = c.lacks_count;
	return value;
}

/* Compute each part once: formulas refer to the same metrics repeatedly. */
static double part_value(struct metric *part, const struct metric_source *source)
{
	int err;

	if (!part->is_known) {
		part->now = evaluate(part, &part->value, source, NAN, &part->lacks_count, &err);
		if (err)
			part->now = NAN;
		part->is_known = true;
	}
	return part->now;
}

/* The metrics whose formulas are being bound, from the innermost; detects loops. */
struct chain {
	const struct metric_def *def;
	const struct chain *outer;
	struct metric *root; /* the outermost, which owns all parts */
	int depth;
};

static struct metric *new_metric(const struct metric_def *def, const struct metric_scope *scope,
				 const struct chain *outer);

static bool is_in_chain(const struct chain *chain, const struct metric_def *def)
{
	for (; chain; chain = chain->outer) {
		if (chain->def == def)
			return true;
	}
	return false;
}

/* Return: the part with that definition, made if missing; NULL with errno. */
static struct metric *get_part(const struct metric_def *def, const struct metric_scope *scope,
			       const struct chain *chain)
{
	struct metric *root = chain->root, *part, **added;
	int i;

	for (i = 0; i < root->nr_parts; i++) {
		if (root->parts[i]->def == def)
			return root->parts[i];
	}
	part = new_metric(def, scope, chain);
	if (!part)
		return NULL;
	added = array__add(root->parts, root->nr_parts);
	if (!added) {
		metric__delete(part);
		errno = ENOMEM;
		return NULL;
	}
	*added = part;
	return part;
}

static int bind_input(struct metric *metric, struct metric_input *input, const char *id,
		      bool is_threshold, const struct chain *chain)
{
	const struct metric_def *def;

	if (is_threshold && !strcasecmp(id, metric->def->name)) {
		input->kind = METRIC_INPUT_SELF;
		return 0;
	}
	input->evsel = strcmp(id, "duration_time") ?
			       find_evsel(&metric->scope, id, metric->row_evsel) :
			       find_duration(&metric->scope);
	if (input->evsel) {
		input->kind = METRIC_INPUT_EVSEL;
		return 0;
	}
	if (!strcmp(id, "duration_time")) {
		input->kind = METRIC_INPUT_TIME;
		return 0;
	}
	def = metric->scope.defs ?
		      definitions__find_metric(metric->scope.defs, id, metric->def->pmu) :
		      metric_builtin__find(id);
	/* Skip metrics in branches that are never taken. */
	if (!def || !input->needed)
		return 0;
	input->metric = get_part(def, &metric->scope, chain);
	if (!input->metric)
		return -errno;
	input->kind = METRIC_INPUT_METRIC;
	return 0;
}

static int bind_formula(struct metric *metric, struct metric_formula *formula, const char *text,
			bool is_threshold, const struct chain *chain)
{
	struct context c = {.metric = metric, .formula = formula};
	struct metric_expr_ctx ctx = make_ctx(&c);
	struct metric_expr_error error;
	bool *needed;
	int i, nr, err;

	err = metric_expr__parse(text, &formula->expr, &error);
	if (err == -EINVAL)
		pr_err("metric '%s': %s at column %d of '%.200s'", metric->def->name, error.reason,
		       error.column + 1, text);
	if (err)
		return err;
	nr = metric_expr__nr_ids(formula->expr);
	formula->inputs = calloc(nr ? nr : 1, sizeof(*formula->inputs));
	needed = calloc(nr ? nr : 1, sizeof(*needed));
	if (!formula->inputs || !needed) {
		free(needed);
		return -ENOMEM;
	}
	metric_expr__find_needed(formula->expr, &ctx, needed);
	for (i = 0; i < nr && !err; i++) {
		formula->inputs[i].needed = needed[i];
		err = bind_input(metric, &formula->inputs[i], metric_expr__id(formula->expr, i),
				 is_threshold, chain);
	}
	free(needed);
	return err;
}

/* Parse a unit such as "100%". The factor has a decimal point in any locale. */
static int parse_unit(struct metric *metric)
{
	const char *name = metric->def->label ? metric->def->label : metric->def->name;
	const char *unit = metric->def->unit;
	locale_t c_locale;
	char *end;

	metric->scale = 1;
	if (unit) {
		c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
		if (!c_locale)
			return -ENOMEM;
		metric->scale = strtod_l(unit, &end, c_locale);
		freelocale(c_locale);
		if (end == unit)
			metric->scale = 1;
		unit = end;
	}
	metric->has_unit = unit && *unit;
	if (metric->has_unit)
		metric->text = xasprintf("%s  %s", unit, name);
	else
		metric->text = strdup(name);
	return metric->text ? 0 : -ENOMEM;
}

static struct metric *new_metric(const struct metric_def *def, const struct metric_scope *scope,
				 const struct chain *outer)
{
	struct chain chain = {.def = def, .outer = outer, .depth = outer ? outer->depth + 1 : 0};
	struct metric *metric;
	int err;

	if (is_in_chain(outer, def) || chain.depth == MAX_METRIC_DEPTH) {
		pr_err("metric '%s' refers to itself", def->name);
		errno = ELOOP;
		return NULL;
	}
	metric = calloc(1, sizeof(*metric));
	if (!metric) {
		errno = ENOMEM;
		return NULL;
	}
	metric->def = def;
	metric->scope = *scope;
	metric->row_evsel = find_row(scope, def);
	chain.root = outer ? outer->root : metric;
	err = parse_unit(metric);
	if (!err)
		err = bind_formula(metric, &metric->value, def->expr, false, &chain);
	metric->nr_value_parts = metric->nr_parts;
	if (!err && def->threshold && !outer)
		err = bind_formula(metric, &metric->threshold, def->threshold, true, &chain);
	if (err) {
		metric__delete(metric);
		errno = -err;
		return NULL;
	}
	return metric;
}

struct metric *metric__new(const struct metric_def *def, const struct metric_scope *scope)
{
	return new_metric(def, scope, NULL);
}

static void delete_formula(struct metric_formula *formula)
{
	free(formula->inputs);
	metric_expr__delete(formula->expr);
}

void metric__delete(struct metric *metric)
{
	if (!metric)
		return;
	while (metric->nr_parts)
		metric__delete(metric->parts[--metric->nr_parts]);
	free(metric->parts);
	delete_formula(&metric->value);
	delete_formula(&metric->threshold);
	free(metric->text);
	free(metric);
}

static bool uses_itself(const struct metric *metric, const struct evsel *evsel)
{
	const struct metric_input *input;
	int i;

	for (i = 0; i < metric_expr__nr_ids(metric->value.expr); i++) {
		input = &metric->value.inputs[i];
		if (input->needed && input->kind == METRIC_INPUT_EVSEL && input->evsel == evsel)
			return true;
	}
	return false;
}

bool metric__uses(const struct metric *metric, const struct evsel *evsel)
{
	int i;

	for (i = 0; i < metric->nr_value_parts; i++) {
		if (uses_itself(metric->parts[i], evsel))
			return true;
	}
	return uses_itself(metric, evsel);
}

void metric__choose_row(struct metric *metric, struct metric *const *metrics, int nr)
{
	int i, j, uses, fewest = INT_MAX;
	struct evsel *evsel;

	if (metric->row_evsel)
		return;
	evlist__for_each(metric->scope.evlist, evsel, i) {
		if (!metric__uses(metric, evsel))
			continue;
		/* Rank tool and hidden events last: more users than any other event. */
		uses = (evsel->tool || evsel->hidden) ? nr + 1 : 0;
		for (j = 0; j < nr; j++)
			uses += metric__uses(metrics[j], evsel);
		if (uses < fewest) {
			fewest = uses;
			metric->row_evsel = evsel;
		}
	}
	if (metric->row_evsel)
		return;
	/* a constant metric: see add_request() in metric_request.c */
	evlist__for_each(metric->scope.evlist, evsel, i) {
		if (evsel->tool == TOOL_DURATION_TIME && evsel->metric_set == metric->scope.set)
			metric->row_evsel = evsel;
	}
}

int metric__evaluate(const struct metric *metric, const struct metric_source *source,
		     struct metric_value *out)
{
	double result, bad;
	bool lacks_count;
	int err, i;

	memset(out, 0, sizeof(*out));
	for (i = 0; i < metric->nr_parts; i++)
		metric->parts[i]->is_known = false;
	result = evaluate(metric, &metric->value, source, NAN, &lacks_count, &err);
	if (err == -EDOM)
		return 0;
	out->is_uncounted = isnan(result) && lacks_count;
	out->rank = metric->rank;
	out->core = metric->uses_core ? metric->scope.pmu : NULL;
	out->value = result * metric->scale;
	out->format = metric->has_unit ? "%8.1f" : "%8.2f";
	if (metric->threshold.expr && !isnan(result)) {
		bad = evaluate(metric, &metric->threshold, source, result, NULL, &err);
		if (!err && !isnan(bad)) {
			out->color = bad != 0 ? METRIC_RED : METRIC_GREEN;
			out->threshold = bad != 0 ? "bad" : "good";
		}
	}
	out->text = strdup(metric->text);
	return out->text ? 1 : -ENOMEM;
}
