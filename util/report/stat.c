// SPDX-License-Identifier: GPL-2.0
#include "util/event/evlist.h"
#include "util/lib/array.h"
#include "util/lib/msg.h"
#include "util/lib/util.h"
#include "util/metric/metric.h"
#include "util/metric/metric_bind.h"
#include "util/report/aggr.h"
#include "util/report/display.h"
#include "util/report/stat.h"
#include "util/report/stat_counts.h"
#include "util/report/stat_table.h"
#include "util/target/target.h"

#include <errno.h>
#include <math.h>
#include <string.h>

/* Number of intervals after which the heading is printed again. */
#define HEADING_PERIOD 26

/* Mean and squared deviations of a growing series (Welford's algorithm). */
struct series {
	int n;
	double mean, m2;
};

/* Statistics of one event over the repeats of -r. */
struct event_repeats {
	struct series values;
	uint64_t enabled_ns, running_ns; /* of the last repeat that counted it */
};

struct stat {
	const struct stat_config *config;
	struct evlist *evlist;
	struct stat_counts *counts; /* of the current or the last repeat; NULL: none yet */
	bool is_over;		    /* that repeat is done: the next one makes new counts */

	struct metric **metrics;
	int nr_metrics;
	int nr_given; /* by stat__add_metric(); the rest is bound here */
	int nr_bound; /* length of the evlist when the rest was bound; -1: not bound yet */

	uint64_t prev_ts_ns;
	unsigned int nr_intervals;

	struct event_repeats *events; /* by evsel->idx; NULL: no repeat is done */
	int nr_events;
	struct series elapsed_s;
	struct stat_times times; /* of the last repeat */
	double *repeats_s;
	int nr_repeats;
};

static void add_value(struct series *series, double value)
{
	double delta = value - series->mean;

	series->n++;
	series->mean += delta / series->n;
	series->m2 += delta * (value - series->mean);
}

/* Return: the standard error of the mean; 0 for a single value. */
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

static void forget_repeats(struct stat *stat)
{
	free(stat->events);
	free(stat->repeats_s);
	stat->events = NULL;
	stat->nr_events = 0;
	stat->repeats_s = NULL;
	stat->nr_repeats = 0;
	memset(&stat->elapsed_s, 0, sizeof(stat->elapsed_s));
}

void stat__reset(struct stat *stat)
{
	forget_repeats(stat);
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
	struct metric **added = array__add(stat->metrics, stat->nr_metrics);

	if (!added) {
		metric__delete(metric);
		return -ENOMEM;
	}
	*added = metric;
	return 0;
}

/* Take ownership of an array of metrics, also on failure. */
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

/* Bind default and requested metrics. Call it after opening, which shows the events that exist. */
static int bind_metrics(struct stat *stat)
{
	const struct stat_config *config = stat->config;
	struct metric_scope scope = {
		.evlist = stat->evlist,
		.target_cpu = config->env.target && !target__has_task(config->env.target),
		.literal = config->env.literal,
		.target = config->env.target,
		.defs = config->env.defs,
		.pmus = config->env.pmus,
	};
	struct metric **metrics;
	struct evsel *evsel;
	bool is_default = false;
	int i, nr, err = 0;

	/* New cgroups bring events, which have their own metrics. */
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
	if (!err && config->env.requests) {
		err = metric__bind_requests(&scope, config->env.requests, &metrics, &nr);
		if (!err)
			err = add_metrics(stat, metrics, nr);
	}
	if (err)
		return err;
	for (i = 0; i < stat->nr_metrics; i++)
		metric__choose_row(stat->metrics[i], stat->metrics, stat->nr_metrics);
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
	if (!err && stat->config->options.verbose &&
	    delta == (stat->config->options.interval_ms != 0))
		stat_counts__dump(stat->counts);
	return err;
}

static int show(struct stat *stat, struct stat_table *table, double time_s)
{
	int err = stat_table__fill(table, stat->counts, stat->metrics, stat->nr_metrics, time_s);

	if (stat->config->env.keeps_warnings)
		msg__keep_warnings();
	if (!err)
		err = display__print(table);
	stat_table__clear(table);
	fflush(stat->config->env.output);
	return err;
}

int stat__interval(struct stat *stat, uint64_t ts_ns)
{
	const struct stat_config *config = stat->config;
	struct stat_table table = {.config = config, .is_interval = true, .ts_ns = ts_ns};
	double time_s;
	int err;

	err = collect(stat, true);
	if (err)
		return err;
	if (config->options.interval_clear) {
		fputs("\033[H\033[2J\n", stdout);
		fflush(stdout);
	}
	/* Programs that read CSV expect a single heading. */
	if (!config->options.csv_sep)
		table.has_heading =
			config->options.interval_clear || stat->nr_intervals % HEADING_PERIOD == 0;
	else
		table.has_heading = !stat->nr_intervals;
	stat->nr_intervals++;
	time_s = (double)(ts_ns - stat->prev_ts_ns) / NSEC_PER_SEC;
	stat->prev_ts_ns = ts_ns;
	return show(stat, &table, time_s);
}

/* Replace the counts of the last repeat by the means of all repeats. */
static void put_means(struct stat *stat)
{
	struct event_repeats *repeats;
	struct aggr_count *count;
	struct evsel *evsel;
	bool is_counted;
	int i;

	if (stat->counts->aggr->mode != AGGR_GLOBAL)
		return;
	evlist__for_each(stat->evlist, evsel, i) {
		repeats = &stat->events[i];
		count = &stat->counts->events[i].rows[0];
		is_counted = stat_counts__is_counted(&stat->counts->events[i], count);
		if (is_counted) {
			/* Only sensors have values below 0. */
			add_value(&repeats->values, (int64_t)count->sum.value);
			repeats->enabled_ns = count->sum.enabled_ns;
			repeats->running_ns = count->sum.running_ns;
		}
		if (!repeats->values.n)
			continue;
		count->sum.enabled_ns = repeats->enabled_ns;
		count->sum.running_ns = repeats->running_ns;
		/* Keep a single value: it may have more digits than a double. */
		if (repeats->values.n > 1 || !is_counted)
			count->sum.value = (int64_t)repeats->values.mean;
		count->mean = repeats->values.mean;
		if (repeats->values.mean > 0)
			count->variance_pct =
				100 * standard_error(&repeats->values) / repeats->values.mean;
	}
}

/* Extend to the current evlist, which grows as cgroups appear. */
static int grow_repeats(struct stat *stat)
{
	while (stat->nr_events < stat->evlist->nr) {
		if (!array__add(stat->events, stat->nr_events))
			return -ENOMEM;
	}
	return 0;
}

int stat__add_repeat(struct stat *stat, const struct stat_times *times)
{
	double elapsed_s = (double)times->elapsed_ns / NSEC_PER_SEC, *repeat_s;
	int err;

	err = collect(stat, false);
	stat->is_over = true;
	if (err)
		return err;
	if (!stat->config->options.run_count)
		forget_repeats(stat);
	err = grow_repeats(stat);
	if (err)
		return err;
	repeat_s = array__add(stat->repeats_s, stat->nr_repeats);
	if (!repeat_s)
		return -ENOMEM;
	*repeat_s = elapsed_s;
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
		.is_total = config->options.interval_ms != 0,
		.is_summary = config->options.summary &&
			      (config->options.interval_ms || !config->options.metric_only),
		.elapsed_s =
			{
				.mean = stat->elapsed_s.mean,
				.error = standard_error(&stat->elapsed_s),
			},
		.user_s = (double)stat->times.user_ns / NSEC_PER_SEC,
		.sys_s = (double)stat->times.sys_ns / NSEC_PER_SEC,
		.repeats_s = stat->repeats_s,
		.nr_repeats = stat->nr_repeats,
	};

	if (!stat->counts || (config->options.interval_ms && !config->options.summary))
		return 0;
	table.has_heading = config->options.metric_only && !table.is_total;
	return show(stat, &table, stat->elapsed_s.mean);
}
