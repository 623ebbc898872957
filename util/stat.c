// SPDX-License-Identifier: GPL-2.0
#include "stat.h"
#include "aggr.h"
#include "display.h"
#include "evlist.h"
#include "metric.h"
#include "stat_counts.h"
#include "stat_rows.h"
#include "target.h"
#include "util.h"

#include <errno.h>
#include <math.h>
#include <string.h>

/* The heading of intervals comes back after this many. */
#define HEADING_PERIOD 26

/* Mean and spread of a growing series (Welford). */
struct series {
	int n;
	double mean, m2;
};

/* What the runs of -r have made of one event. */
struct event_runs {
	struct series values;
	uint64_t ena, run;		/* of the last run that counted it */
};

struct stat {
	const struct stat_config *config;
	struct evlist *evlist;
	struct stat_counts *counts;	/* of the current or the last run; NULL: none yet */
	bool is_over;			/* that run is done: the next one makes new counts */

	struct metric **metrics;
	int nr_metrics;
	int nr_given;			/* of them: the others are default ones */
	int nr_bound;			/* events that those are bound to; -1: not bound yet */

	uint64_t prev_ts_ns;
	unsigned int nr_intervals;

	struct event_runs *events;	/* by evsel->idx; NULL: no run is done */
	int nr_events;
	struct series elapsed_s;
	struct stat_times times;	/* of the last run */
	double *runs_s;
	int nr_runs;
};

static void add_value(struct series *series, double value)
{
	double delta = value - series->mean;

	series->n++;
	series->mean += delta / series->n;
	series->m2 += delta * (value - series->mean);
}

/* The standard error of the mean; 0 when one value is all there is. */
static double standard_error(const struct series *series)
{
	return series->n > 1 ? sqrt(series->m2 / (series->n - 1) / series->n) : 0;
}

struct stat *stat__new(const struct stat_config *config, struct evlist *evlist)
{
	struct stat *stat = calloc(1, sizeof(*stat));

	if (!stat)
		return NULL;
	stat->config = config;
	stat->evlist = evlist;
	stat->nr_bound = -1;
	return stat;
}

static void forget_runs(struct stat *stat)
{
	free(stat->events);
	free(stat->runs_s);
	stat->events = NULL;
	stat->nr_events = 0;
	stat->runs_s = NULL;
	stat->nr_runs = 0;
	memset(&stat->elapsed_s, 0, sizeof(stat->elapsed_s));
}

void stat__reset(struct stat *stat)
{
	forget_runs(stat);
	stat_counts__delete(stat->counts);
	stat->counts = NULL;
	stat->is_over = false;
	stat->prev_ts_ns = 0;
	stat->nr_intervals = 0;
	memset(&stat->times, 0, sizeof(stat->times));
}

void stat__delete(struct stat *stat)
{
	int i;

	if (!stat)
		return;
	stat__reset(stat);
	for (i = 0; i < stat->nr_metrics; i++)
		metric__delete(stat->metrics[i]);
	free(stat->metrics);
	free(stat);
}

int stat__add_metric(struct stat *stat, struct metric *metric)
{
	struct metric **metrics = realloc(stat->metrics,
					  (stat->nr_metrics + 1) * sizeof(*metrics));

	if (!metrics) {
		metric__delete(metric);
		return -ENOMEM;
	}
	stat->metrics = metrics;
	metrics[stat->nr_metrics++] = metric;
	return 0;
}

/* Take over an array of metrics, also when that fails. */
static int add_metrics(struct stat *stat, struct metric **metrics, int nr)
{
	int i, err = 0;

	for (i = 0; i < nr; i++) {
		if (!err)
			err = stat__add_metric(stat, metrics[i]);
		else
			metric__delete(metrics[i]);
	}
	free(metrics);
	return err;
}

/* After opening, when it is known which events exist. */
static int bind_metrics(struct stat *stat)
{
	const struct stat_config *config = stat->config;
	struct metric_scope scope = {
		.evlist = stat->evlist,
		.target_cpu = config->target && !target__has_task(config->target),
		.literal = config->literal,
		.target = config->target,
		.defs = config->defs,
		.pmus = config->pmus,
	};
	struct metric **metrics;
	struct evsel *evsel;
	bool is_default = false;
	int i, nr, err = 0;

	/* Cgroups that came have events for metrics of their own. */
	if (stat->nr_bound == stat->evlist->nr)
		return 0;
	if (stat->nr_bound < 0)
		stat->nr_given = stat->nr_metrics;
	while (stat->nr_metrics > stat->nr_given)
		metric__delete(stat->metrics[--stat->nr_metrics]);
	evlist__for_each(stat->evlist, evsel, i)
		is_default |= evsel->is_default;
	if (is_default) {
		err = metric__bind_defaults(&scope, &metrics, &nr);
		if (!err)
			err = add_metrics(stat, metrics, nr);
	}
	if (!err && config->requests) {
		err = metric__bind_requests(&scope, config->requests, &metrics, &nr);
		if (!err)
			err = add_metrics(stat, metrics, nr);
	}
	if (err)
		return err;
	for (i = 0; i < stat->nr_metrics; i++) {
		metric__choose_row(stat->metrics[i], stat->metrics, stat->nr_metrics);
		/* Of a default set, rows are those that carry a metric. */
		evsel = stat->metrics[i]->row_evsel;
		if (evsel && evsel->is_default && evsel->metric_set &&
		    !stat->metrics[i]->def->default_group)
			evsel->hidden = false;
	}
	stat->nr_bound = stat->evlist->nr;
	return 0;
}

static int collect(struct stat *stat, bool delta)
{
	int err;

	if (stat->is_over) {
		stat_counts__delete(stat->counts);
		stat->counts = NULL;
		stat->is_over = false;
		stat->prev_ts_ns = 0;
	}
	if (!stat->counts) {
		stat->counts = stat_counts__new(stat->config, stat->evlist);
		if (!stat->counts)
			return -errno;
	}
	err = bind_metrics(stat);
	if (err)
		return err;
	err = stat_counts__collect(stat->counts, delta);
	if (!err && stat->config->verbose && delta == (stat->config->interval_ms != 0))
		stat_counts__dump(stat->counts);
	return err;
}

static int show(struct stat *stat, struct stat_table *table, double time_s)
{
	int err = stat_table__fill(table, stat->counts, stat->metrics, stat->nr_metrics, time_s);

	if (!err)
		err = display__print(table);
	stat_table__clear(table);
	fflush(stat->config->output);
	return err;
}

int stat__interval(struct stat *stat, uint64_t ts_ns)
{
	const struct stat_config *config = stat->config;
	struct stat_table table = { .config = config, .is_interval = true, .ts_ns = ts_ns };
	double time_s;
	int err;

	err = collect(stat, true);
	if (err)
		return err;
	if (config->interval_clear) {
		fputs("\033[H\033[2J\n", stdout);
		fflush(stdout);
	}
	/* A program that reads CSV wants one heading, and only columns without it need one. */
	if (!config->csv_sep)
		table.has_heading = config->interval_clear ||
				    stat->nr_intervals % HEADING_PERIOD == 0;
	else
		table.has_heading = !stat->nr_intervals;
	stat->nr_intervals++;
	time_s = (double)(ts_ns - stat->prev_ts_ns) / NSEC_PER_SEC;
	stat->prev_ts_ns = ts_ns;
	return show(stat, &table, time_s);
}

/* Replace what the last run counted by what all runs have counted on average. */
static void put_means(struct stat *stat)
{
	struct event_runs *runs;
	struct aggr_count *count;
	struct evsel *evsel;
	bool is_counted;
	int i;

	if (stat->counts->aggr->mode != AGGR_GLOBAL)
		return;
	evlist__for_each(stat->evlist, evsel, i) {
		runs = &stat->events[i];
		count = &stat->counts->events[i].rows[0];
		is_counted = stat_counts__is_counted(&stat->counts->events[i], count);
		if (is_counted) {
			/* Only sensors have values below 0. */
			add_value(&runs->values, (int64_t)count->val);
			runs->ena = count->ena;
			runs->run = count->run;
		}
		if (!runs->values.n)
			continue;
		count->ena = runs->ena;
		count->run = runs->run;
		/* A single value may have more digits than its mean. */
		if (runs->values.n > 1 || !is_counted)
			count->val = (int64_t)runs->values.mean;
		count->mean = runs->values.mean;
		if (runs->values.mean > 0)
			count->variance_pct = 100 * standard_error(&runs->values) /
					      runs->values.mean;
	}
}

/* The list may have got longer since the last run: cgroups come. */
static int grow_runs(struct stat *stat)
{
	int nr = stat->evlist->nr;
	struct event_runs *events;

	if (stat->events && nr == stat->nr_events)
		return 0;
	events = realloc(stat->events, (nr + 1) * sizeof(*events));
	if (!events)
		return -ENOMEM;
	memset(&events[stat->nr_events], 0, (nr - stat->nr_events) * sizeof(*events));
	stat->events = events;
	stat->nr_events = nr;
	return 0;
}

int stat__run_done(struct stat *stat, const struct stat_times *times)
{
	double elapsed_s = (double)times->elapsed_ns / NSEC_PER_SEC, *runs_s;
	int err;

	err = collect(stat, false);
	stat->is_over = true;
	if (err)
		return err;
	if (!stat->config->run_count)
		forget_runs(stat);
	err = grow_runs(stat);
	if (err)
		return err;
	runs_s = realloc(stat->runs_s, (stat->nr_runs + 1) * sizeof(*runs_s));
	if (!runs_s)
		return -ENOMEM;
	stat->runs_s = runs_s;
	runs_s[stat->nr_runs++] = elapsed_s;
	add_value(&stat->elapsed_s, elapsed_s);
	stat->times = *times;
	put_means(stat);
	return 0;
}

int stat__print(struct stat *stat)
{
	const struct stat_config *config = stat->config;
	struct stat_table table = {
		.config = config,
		.is_total = config->interval_ms != 0,
		.is_summary = config->summary && (config->interval_ms || !config->metric_only),
		.elapsed_s = {
			.mean = stat->elapsed_s.mean,
			.error = standard_error(&stat->elapsed_s),
		},
		.user_s = (double)stat->times.user_ns / NSEC_PER_SEC,
		.sys_s = (double)stat->times.sys_ns / NSEC_PER_SEC,
		.runs_s = stat->runs_s,
		.nr_runs = stat->nr_runs,
	};

	if (!stat->counts || (config->interval_ms && !config->summary))
		return 0;
	table.has_heading = config->metric_only && !table.is_total;
	return show(stat, &table, stat->elapsed_s.mean);
}
