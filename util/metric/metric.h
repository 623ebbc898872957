/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_METRIC_METRIC_H
#define PERF_METRIC_METRIC_H

/* A metric that is bound to the events of a list, and its computation. */

#include "util/defs/metric_def.h"
#include "util/metric/metric_scope.h"
#include "util/metric/metric_value.h"

#include <stdbool.h>

struct evlist;
struct evsel;
struct metric_expr;

enum metric_input_kind {
	METRIC_INPUT_NONE, /* no such event: NaN */
	METRIC_INPUT_EVSEL,
	METRIC_INPUT_METRIC,
	METRIC_INPUT_TIME,
	METRIC_INPUT_SELF, /* in a threshold: the metric itself */
};

struct metric_input {
	enum metric_input_kind kind;
	bool needed;	       /* occurs in a branch that may be taken */
	struct evsel *evsel;   /* borrowed */
	struct metric *metric; /* borrowed: a part of the metric */
};

/* An expression with an input per identifier. */
struct metric_formula {
	struct metric_expr *expr; /* NULL: no formula */
	struct metric_input *inputs;
};

/* A metric bound to events. */
struct metric {
	const struct metric_def *def; /* borrowed */
	struct metric_scope scope;
	struct metric_formula value, threshold;
	struct evsel *row_evsel; /* the event whose row it is printed on; borrowed, NULL: none */
	/* metrics that its formulas refer to, also indirectly, each once; owned. Parts have no parts */
	struct metric **parts;
	int nr_parts;
	int nr_value_parts; /* the first ones, which the value needs */
	double now;	    /* of a part: its value in the current evaluation... */
	bool is_known;	    /* ...if it has been computed */
	bool lacks_count;   /* ...and whether an event of it was not counted */
	double scale;	    /* printed value = result * scale */
	char *text;	    /* UNIT  NAME */
	bool has_unit;
	bool uses_core; /* an event of a core PMU */
	int rank;	/* position among the metrics of -M, from 1; 0: others */
};

/**
 * metric__new() - bind a definition to events
 * @scope: its evlist is borrowed for the metric's life
 *
 * If several events have the same name, an event in the group of the row's event is preferred, then
 * a shown one. Identifiers without an event make the value NaN. row_evsel is the event that def->rows
 * names; otherwise metric__choose_row() chooses one.
 * Return: NULL with errno EINVAL (bad expression, after a message), ELOOP (refers to itself, after
 * a message) or ENOMEM.
 */
struct metric *metric__new(const struct metric_def *def, const struct metric_scope *scope);
void metric__delete(struct metric *metric);

/** metric__uses() - whether the value needs this event, also indirectly */
bool metric__uses(const struct metric *metric, const struct evsel *evsel);

/**
 * metric__choose_row() - choose the row of the event that the fewest metrics use
 * @metrics: all of them, @nr many
 *
 * Prefers other events to tool and hidden ones; the first of several wins. Does nothing if the
 * metric has a row.
 */
void metric__choose_row(struct metric *metric, struct metric *const *metrics, int nr);

/**
 * metric__evaluate() - compute a metric
 * @out: filled; released by metric_value__clear()
 *
 * Return: 1, 0 if it is uncomputable and must not be printed, or -ENOMEM.
 */
int metric__evaluate(const struct metric *metric, const struct metric_source *source,
		     struct metric_value *out);

#endif
