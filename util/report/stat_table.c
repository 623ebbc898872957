// SPDX-License-Identifier: GPL-2.0
#include "util/event/evlist.h"
#include "util/event/io_ports.h"
#include "util/event/pmu.h"
#include "util/event/tool_values.h"
#include "util/host/cpumap.h"
#include "util/lib/array.h"
#include "util/lib/printable.h"
#include "util/lib/util.h"
#include "util/metric/metric.h"
#include "util/metric/metric_shadow.h"
#include "util/report/aggr.h"
#include "util/report/stat_counts.h"
#include "util/report/stat_table.h"
#include "util/target/cgroup_list.h"
#include "util/target/target.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* State of one stat_table__fill(). */
struct filler {
	struct stat_table *table;
	const struct stat_config *config;
	const struct stat_counts *sc;
	struct metric *const *metrics;
	int nr_metrics;
	double time_s;
	bool is_default; /* the default event set: its metrics, no classic texts */
};

/* The row whose counts a metric uses. */
struct row_counts {
	const struct stat_counts *sc;
	const struct aggr *aggr;
	int row;
};

static bool count_in_row(const void *data, const struct evsel *evsel, struct metric_count *out)
{
	const struct row_counts *rc = data;
	const struct aggr_count *count = stat_counts__find(rc->sc, evsel, rc->aggr, rc->row);

	if (!count)
		return false;
	out->value = count->mean;
	out->nr = count->nr;
	out->nr_sources = rc->sc->events[evsel->idx].nr_sources;
	return true;
}

static struct stat_row *new_row(struct stat_table *table)
{
	return array__add(table->rows, table->nr_rows);
}

/* Return: space for one more metric of a row. The caller fills it and increments nr_metrics. */
static struct metric_value *new_metric(struct stat_row *row)
{
	struct metric_value *metric = array__add(row->metrics, row->nr_metrics);

	row->nr_metrics -= metric != NULL;
	return metric;
}

/* Metrics of an event to put on a row. */
enum share {
	SHARE_EVENT, /* those without a heading */
	SHARE_GROUP, /* those of one default group */
};

static int add_metrics(const struct filler *f, struct stat_row *row, const struct evsel *evsel,
		       const struct metric_source *source, enum share share)
{
	const struct metric *metric;
	struct metric_value *value;
	const char *group;
	int i, ret;

	for (i = 0; i < f->nr_metrics; i++) {
		metric = f->metrics[i];
		group = metric->def->default_group;
		if (metric->row_evsel != evsel || (share == SHARE_EVENT) != !group ||
		    (share == SHARE_GROUP && strcmp(group, row->group_name)))
			continue;
		value = new_metric(row);
		if (!value)
			return -ENOMEM;
		ret = metric__evaluate(metric, source, value);
		if (ret < 0)
			return ret;
		/* Columns of --metric-only stay; their cells are empty. */
		if (ret && value->is_uncounted && !f->config->options.metric_only) {
			metric_value__clear(value);
			ret = 0;
		}
		row->nr_metrics += ret;
	}
	return 0;
}

/*
 * Return: how many ratios the row may still get. Linux's perf prints no lines without an event for -e,
 * so programs that read CSV or JSON do not expect them. There, a row has one ratio.
 */
static int nr_ratios_left(const struct filler *f, const struct stat_row *row)
{
	const struct report_options *options = &f->config->options;

	if (options->metric_only || (!options->csv_sep && !options->json))
		return 2;
	return row->nr_metrics ? 0 : 1;
}

static int add_classic(const struct filler *f, struct stat_row *row, const struct evsel *evsel,
		       const struct metric_source *source)
{
	struct metric_value values[2], *value;
	int left = nr_ratios_left(f, row), i, nr;

	nr = metric_shadow__ratios(f->sc->evlist, evsel, f->config->options.metric_only, source,
				   values);
	if (nr < 0)
		return nr;
	while (nr > left)
		metric_value__clear(&values[--nr]);
	for (i = 0; i < nr; i++) {
		value = new_metric(row);
		if (!value) {
			for (; i < nr; i++)
				metric_value__clear(&values[i]);
			return -ENOMEM;
		}
		*value = values[i];
		value->core = evsel->pmu && evsel->pmu->is_core ? evsel->pmu : NULL;
		row->nr_metrics++;
	}
	return 0;
}

static int add_per_execution(const struct filler *f, struct stat_row *row,
			     const struct evsel *evsel, const struct metric_source *source)
{
	struct metric_value *value = new_metric(row);
	int nr;

	if (!value)
		return -ENOMEM;
	nr = metric_shadow__per_execution(f->sc->evlist, evsel, f->config->options.metric_only,
					  source, value);
	if (nr < 0)
		return nr;
	row->nr_metrics += nr;
	return 0;
}

/* Fill the event part of a row, also of a heading of a metric group. */
static void fill_row(const struct filler *f, struct stat_row *row, const struct evsel *evsel,
		     const struct aggr *aggr, int index, const struct aggr_count *count)
{
	const struct event_counts *event = &f->sc->events[evsel->idx];
	double integer;

	row->name = evsel->name;
	row->unit = evsel->unit ? evsel->unit : "";
	row->cgroup = evsel->cgroup ? evsel->cgroup->name : "";
	row->mode = aggr->mode;
	row->place = &aggr->rows[index];
	row->has_nr = aggr_style(aggr->mode)->counted && aggr == f->sc->aggr;
	row->nr = count->nr;
	row->enabled_ns = count->sum.enabled_ns;
	row->running_ns = count->sum.running_ns;
	row->is_integer = modf(evsel->scale, &integer) == 0;
	if (!event->supported)
		row->state = ROW_NOT_SUPPORTED;
	else if (!stat_counts__is_counted(event, count))
		row->state = ROW_NOT_COUNTED;
	if (row->state == ROW_COUNTED) {
		/* Only sensors have values below 0. */
		row->value = evsel->tool == TOOL_SENSOR ? (double)(int64_t)count->sum.value :
							  count->sum.value;
		row->value *= evsel->scale;
		row->variance_pct = count->variance_pct;
	}
}

/* Put an event of --iostat on the row of its port, as a column. */
static int add_column(const struct filler *f, struct stat_row *row, const struct evsel *evsel)
{
	struct stat_table *table = f->table;
	struct metric_value *value = new_metric(row);
	struct aggr_row *place;

	if (!table->ports)
		table->ports = calloc(f->sc->evlist->nr, sizeof(*table->ports));
	if (!value || !table->ports)
		return -ENOMEM;
	place = &table->ports[table->nr_ports];
	if (table->nr_ports && !strcmp(place[-1].name, evsel->port->name))
		place--;
	else
		table->nr_ports++;
	snprintf(place->name, sizeof(place->name), "%s", evsel->port->name);
	row->mode = AGGR_PORT;
	row->place = place;
	*value = (struct metric_value){
		.value = row->state == ROW_COUNTED ? row->value : NAN,
		.is_uncounted = row->state != ROW_COUNTED,
		.format = row->value > 0 ? evsel->port->format : "%8.0f",
		.text = strdup(evsel->name),
	};
	row->nr_metrics++;
	return value->text ? 0 : -ENOMEM;
}

/* Add a heading and the metrics of each default metric group that belongs to this event. */
static int add_group_rows(const struct filler *f, const struct evsel *evsel,
			  const struct aggr *aggr, int index, const struct aggr_count *count,
			  const struct metric_source *source)
{
	struct stat_row *row;
	const char *group;
	int i, j, err;

	for (i = 0; i < f->nr_metrics; i++) {
		group = f->metrics[i]->def->default_group;
		if (f->metrics[i]->row_evsel != evsel || !group)
			continue;
		for (j = 0; j < i; j++) {
			if (f->metrics[j]->row_evsel == evsel &&
			    f->metrics[j]->def->default_group &&
			    !strcmp(f->metrics[j]->def->default_group, group))
				break;
		}
		if (j < i)
			continue;
		row = new_row(f->table);
		if (!row)
			return -ENOMEM;
		fill_row(f, row, evsel, aggr, index, count);
		row->group_name = group;
		err = add_metrics(f, row, evsel, source, SHARE_GROUP);
		if (err)
			return err;
		if (!row->nr_metrics) {
			free(row->metrics);
			f->table->nr_rows--;
		}
	}
	return 0;
}

/* Return: whether the event has rows. A default event that is hidden has them for its metric. */
static bool has_rows(const struct filler *f, const struct evsel *evsel)
{
	if (!evsel->hidden)
		return true;
	for (int i = 0; evsel->is_default && evsel->metric_set && i < f->nr_metrics; i++) {
		if (f->metrics[i]->row_evsel == evsel && !f->metrics[i]->def->default_group)
			return true;
	}
	return false;
}

static bool is_row_hidden(const struct filler *f, const struct evsel *evsel,
			  const struct aggr *aggr, int index, const struct aggr_count *count)
{
	const struct event_counts *event = &f->sc->events[evsel->idx];
	const struct stat_config *config = f->config;

	/* The PMU does not count on these CPUs, or another row shows the tool event. */
	if (!count->nr)
		return true;
	if (evsel->tool && index != aggr->primary &&
	    (!count->sum.enabled_ns || (!count->sum.value && aggr->mode != AGGR_THREAD)))
		return true;
	if (!event->supported && evsel->is_default && !evsel->keep_row && !config->options.verbose)
		return true;
	if (count->sum.value)
		return false;
	/* With system-wide --per-thread, omit idle threads. */
	if (aggr->mode == AGGR_THREAD && config->env.target && config->env.target->system_wide)
		return true;
	return config->options.hide_zero && event->supported;
}

/* @index: the row in @aggr; @shown: row of the requested mode to print it as, -1: @index */
static int add_row(const struct filler *f, const struct evsel *evsel, const struct aggr *aggr,
		   int index, int shown)
{
	const struct aggr_count *count = &f->sc->events[evsel->idx].rows[index];
	struct row_counts rc = {.sc = f->sc, .aggr = aggr, .row = index};
	struct metric_source source = {
		.data = &rc,
		.count = count_in_row,
		.time_s = f->time_s,
	};
	struct stat_row *row;
	int err = 0;

	if (is_row_hidden(f, evsel, aggr, index, count))
		return 0;
	if (has_rows(f, evsel)) {
		row = new_row(f->table);
		if (!row)
			return -ENOMEM;
		fill_row(f, row, evsel, aggr, index, count);
		if (shown >= 0) {
			row->mode = f->sc->aggr->mode;
			row->place = &f->sc->aggr->rows[shown];
		}
		if (evsel->port)
			return add_column(f, row, evsel);
		if (f->config->options.no_metrics)
			return 0;
		err = add_metrics(f, row, evsel, &source, SHARE_EVENT);
		if (!err && f->config->options.bpf_prog_list)
			err = add_per_execution(f, row, evsel, &source);
		if (!err && !f->is_default && !evsel->metric_id && !evsel->runs)
			err = add_classic(f, row, evsel, &source);
	}
	if (!err && !f->config->options.no_metrics)
		err = add_group_rows(f, evsel, aggr, index, count, &source);
	return err;
}

/* Add all rows of one event. With percore_show_thread, the CPUs of a core repeat its sum. */
static int add_event(const struct filler *f, const struct evsel *evsel)
{
	const struct aggr *aggr = f->sc->events[evsel->idx].aggr;
	int i, row, err = 0;

	if (aggr != f->sc->aggr && f->config->options.percore_show_thread) {
		for (i = 0; i < f->sc->aggr->nr_rows && !err; i++) {
			row = aggr__row(aggr, f->sc->aggr->rows[i].id.cpu, 0);
			if (evsel->cpus && cpumap__has(evsel->cpus, f->sc->aggr->rows[i].id.cpu))
				err = add_row(f, evsel, aggr, row, i);
		}
		return err;
	}
	for (i = 0; i < aggr->nr_rows && !err; i++)
		err = add_row(f, evsel, aggr, i, -1);
	return err;
}

/* Add the events [first, end), in the order of the mode: row by row or event by event. */
static int add_block(const struct filler *f, int first, int end)
{
	const struct evlist *evlist = f->sc->evlist;
	int i, row, err = 0;

	if (!aggr_style(f->sc->aggr->mode)->counted) {
		for (i = first; i < end && !err; i++) {
			if (!f->sc->events[i].merged)
				err = add_event(f, evlist->evsels[i]);
		}
		return err;
	}
	for (row = 0; row < f->sc->aggr->nr_rows; row++) {
		for (i = first; i < end && !err; i++) {
			if (!f->sc->events[i].merged)
				err = add_row(f, evlist->evsels[i], f->sc->aggr, row, -1);
		}
	}
	return err;
}

/* The events of one cgroup, with the count to sort by. */
struct block {
	int first, end;
	double key;
};

static double block_key(const struct filler *f, const struct block *block)
{
	const struct evlist *evlist = f->sc->evlist;
	const char *name = f->config->options.sort_event;
	double sum = 0;
	int i, row;

	for (i = block->first; i < block->end; i++) {
		const struct event_counts *event = &f->sc->events[i];

		if (name && strcmp(evlist->evsels[i]->name, name))
			continue;
		for (row = 0; event->supported && row < event->aggr->nr_rows; row++)
			sum += event->rows[row].sum.value;
		break;
	}
	return sum;
}

/* Sort in descending order; equal blocks keep their order. */
static int compare_blocks(const void *a, const void *b)
{
	const struct block *one = a, *two = b;

	if (one->key != two->key)
		return one->key < two->key ? 1 : -1;
	return one->first - two->first;
}

static int add_all(const struct filler *f)
{
	bool sorts = f->config->options.sort_event || f->config->options.top;
	const struct evlist *evlist = f->sc->evlist;
	struct block *blocks __cleanup(free_ptr) = NULL;
	int first, end, nr = 0, i, err = 0;

	if (!f->config->options.for_each_cgroup)
		return add_block(f, 0, evlist->nr);
	blocks = malloc((evlist->nr + 1) * sizeof(*blocks));
	if (!blocks)
		return -ENOMEM;
	for (first = 0; first < evlist->nr; first = end) {
		const struct cgroup *cgroup = evlist->evsels[first]->cgroup;

		for (end = first + 1; end < evlist->nr; end++) {
			if (evlist->evsels[end]->cgroup != cgroup)
				break;
		}
		if (cgroup && !cgroup__is_counted(cgroup))
			continue;
		blocks[nr] = (struct block){.first = first, .end = end};
		blocks[nr].key = sorts ? block_key(f, &blocks[nr]) : 0;
		nr++;
	}
	if (sorts)
		qsort(blocks, nr, sizeof(*blocks), compare_blocks);
	if (f->config->options.top && nr > (int)f->config->options.top)
		nr = f->config->options.top;
	for (i = 0; i < nr && !err; i++)
		err = add_block(f, blocks[i].first, blocks[i].end);
	return err;
}

static bool is_starved(const struct stat_counts *sc, const struct evsel *evsel)
{
	const struct event_counts *event = &sc->events[evsel->idx];
	int i;

	if (!event->supported || !evsel->pmu || !evsel->pmu->is_core)
		return false;
	/* A task that never ran has enabled no counter; that is not the watchdog's fault. */
	for (i = 0; i < event->aggr->nr_rows; i++) {
		if (event->rows[i].sum.enabled_ns && !event->rows[i].sum.running_ns)
			return true;
	}
	return false;
}

static void prepare_columns(const struct filler *f)
{
	struct evsel *evsel;
	int i, width;

	f->table->unit_width = 4;
	evlist__for_each(f->sc->evlist, evsel, i) {
		width = evsel->unit && has_rows(f, evsel) ? printable__len(evsel->unit) : 0;
		if (width > f->table->unit_width)
			f->table->unit_width = width;
		f->table->has_cgroups |= evsel->cgroup != NULL;
		f->table->nmi_hint |= is_starved(f->sc, evsel);
	}
	f->table->nmi_hint = f->table->nmi_hint && tool__is_watchdog_on();
}

int stat_table__fill(struct stat_table *table, const struct stat_counts *sc,
		     struct metric *const *metrics, int nr_metrics, double time_s)
{
	struct filler f = {
		.table = table,
		.config = table->config,
		.sc = sc,
		.metrics = metrics,
		.nr_metrics = nr_metrics,
		.time_s = time_s,
	};
	struct evsel *evsel;
	int i;

	/* Without events there is only a heading. */
	table->mode = sc->evlist->nr ? sc->aggr->mode : sc->config->options.aggr_mode;
	evlist__for_each(sc->evlist, evsel, i) {
		f.is_default |= evsel->is_default;
		if (evsel->port)
			table->mode = AGGR_PORT;
	}
	prepare_columns(&f);
	return add_all(&f);
}

void stat_table__clear(struct stat_table *table)
{
	int i, j;

	for (i = 0; i < table->nr_rows; i++) {
		for (j = 0; j < table->rows[i].nr_metrics; j++)
			metric_value__clear(&table->rows[i].metrics[j]);
		free(table->rows[i].metrics);
	}
	free(table->rows);
	free(table->ports);
	table->rows = NULL;
	table->ports = NULL;
	table->nr_rows = 0;
}
