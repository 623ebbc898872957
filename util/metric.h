/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_UTIL_METRIC_H
#define PERF_UTIL_METRIC_H

/*
 * Metrics: definitions (built in, or read from files by others), metrics bound to the events that
 * feed them, and the values that end up behind '#'.
 */

#include <stdbool.h>

struct cgroup;
struct definitions;
struct evlist;
struct evsel;
struct metric_expr;
struct metric_requests;
struct pmu;
struct pmus;
struct target;

/* What a metric is. Built-in ones are constant; strings of others belong to their reader. */
struct metric_def {
	const char *name;
	const char *label;		/* printed in the place of the name; NULL: the name */
	int instance;			/* 1 + what replaces "?" in identifiers; 0: nothing does */
	const char *group;		/* several are separated by ';' */
	const char *description;
	const char *expr;
	const char *unit;		/* ScaleUnit: number and unit text, "100%"; NULL: none */
	const char *threshold;		/* true means bad; NULL: none */
	const char *long_description;	/* NULL: none */
	const char *constraint;		/* MetricConstraint: when its events are not grouped; NULL */
	const char *no_group_in;	/* MetricgroupNoGroup: groups in which they are not; NULL */
	const char *pmu;		/* whose events it is about: cpu_core; NULL: any */
	const char *compat;		/* the identifier of that PMU; NULL: any */
	bool show_events;		/* DefaultShowEvents */
	const char *default_group;	/* DefaultMetricgroupName; NULL: has an event's row */
	const char *rows[2];		/* the event whose row it is on, or an alternative; NULL: any */
	bool own_row;			/* its row is the last event of that name, shared with no other */
};

/**
 * metric_defs__next() - walk the built-in definitions: NULL gives the first, NULL after the last
 *
 * Groups Default, Default2, Default3, Default4, in this order.
 */
const struct metric_def *metric_defs__next(const struct metric_def *prev);

/** metric_defs__find() - by name, ignoring case; NULL when there is none */
const struct metric_def *metric_defs__find(const char *name);

/** metric_def__in_group() - one of its groups has that name, ignoring case */
bool metric_def__in_group(const struct metric_def *def, const char *group);

/** metric_def__has_word() - a list separated by ';', which may be NULL, has that word */
bool metric_def__has_word(const char *list, const char *word);

/* So many metrics may be made of each other, one of the next; more would overflow the stack. */
#define MAX_METRIC_DEPTH 256

enum metric_color {
	METRIC_PLAIN,
	METRIC_RED,
	METRIC_MAGENTA,
	METRIC_YELLOW,
	METRIC_GREEN,
};

/* A computed metric, ready to print. */
struct metric_value {
	double value;			/* in its unit; NaN: cannot be computed */
	const char *format;		/* of the value in standard format, borrowed */
	char *text;			/* unit and name; owned */
	enum metric_color color;
	const char *threshold;		/* "bad", "good"; NULL: not known */
};

/** metric_value__clear() - free what it owns */
void metric_value__clear(struct metric_value *value);

/* What an event counted where a metric is wanted. */
struct metric_count {
	double value;			/* scaled for multiplexing, before the event's scale */
	int nr;				/* counters summed in it */
	int nr_sources;			/* PMU instances summed in it */
};

/* Where metrics get their numbers from: one row. */
struct metric_source {
	const void *data;
	/* false: not counted there */
	bool (*count)(const void *data, const struct evsel *evsel, struct metric_count *count);
	double time_s;			/* duration; used when no duration_time event counted it */
};

/* Which events a metric may be bound to, and what is known before anything is counted. */
struct metric_scope {
	const struct evlist *evlist;
	const struct cgroup *cgroup;	/* events of this cgroup; NULL: without one */
	const struct pmu *pmu;		/* core PMU; NULL: any */
	bool target_cpu;		/* #target_cpu */
	/* other literals, without '#'; NULL: all NaN */
	double (*literal)(const struct target *target, const char *name);
	const struct target *target;	/* for literal() */
	struct definitions *defs;	/* other metrics, the CPU; NULL: those built in, none */
	struct pmus *pmus;		/* for has_event() of what is not in the list; NULL: says no */
	int set;			/* only events whose metric_set this is; 0: all */
	int instance;			/* of the metric, and so of those it refers to */
};

/** metric_scope__literal() - the value of #NAME; NaN when it is not known */
double metric_scope__literal(const struct metric_scope *scope, const char *name);

/** metric_scope__is_cpu() - whether a pattern of identifiers means this machine's CPU */
bool metric_scope__is_cpu(const struct metric_scope *scope, const char *pattern);


enum metric_input_kind {
	METRIC_INPUT_NONE,		/* no such event: NaN */
	METRIC_INPUT_EVSEL,
	METRIC_INPUT_METRIC,
	METRIC_INPUT_TIME,
	METRIC_INPUT_SELF,		/* in a threshold: the metric itself */
};

struct metric_input {
	enum metric_input_kind kind;
	bool needed;			/* not only mentioned in a branch that is never taken */
	struct evsel *evsel;		/* borrowed */
	struct metric *metric;		/* borrowed: one of the parts of the metric it is for */
};

/* An expression with an input per identifier. */
struct metric_formula {
	struct metric_expr *expr;	/* NULL: no formula */
	struct metric_input *inputs;
};

/* A metric bound to events. */
struct metric {
	const struct metric_def *def;	/* borrowed */
	struct metric_scope scope;
	struct metric_formula value, threshold;
	struct evsel *row_evsel;	/* on whose row it is printed; borrowed, NULL: none */
	/* metrics its formulas refer to, directly or not, each once; owned. Those have none themselves */
	struct metric **parts;
	int nr_parts;
	int nr_value_parts;		/* the first so many are what the value needs */
	double now;			/* of a part: its value in what is being evaluated... */
	bool is_known;			/* ...if it has been computed */
	double scale;			/* printed value = result * scale */
	char *text;			/* UNIT  NAME */
	bool has_unit;
};

/**
 * metric__new() - bind a definition to events
 * @scope: its evlist is borrowed for the metric's life
 *
 * Of several events of a name those in the group of the row's event come first, then those that are
 * not hidden. Identifiers without an event make the value NaN. row_evsel is the event def->rows
 * names; when it names none, metric__choose_row() finds one.
 * Return: NULL with errno EINVAL (bad expression, after a message), ELOOP (refers to itself, after
 * a message) or ENOMEM.
 */
struct metric *metric__new(const struct metric_def *def, const struct metric_scope *scope);
void metric__delete(struct metric *metric);

/** metric__uses() - the value (not just the threshold) needs this event, perhaps indirectly */
bool metric__uses(const struct metric *metric, const struct evsel *evsel);

/**
 * metric__choose_row() - put a metric on the row of its event that the fewest metrics use
 * @metrics: all of them, @nr many
 *
 * Tool and hidden events are taken only if it has nothing else; the first of several wins. Does
 * nothing when the metric has a row.
 */
void metric__choose_row(struct metric *metric, struct metric *const *metrics, int nr);

/**
 * metric__evaluate() - compute a metric
 * @out: filled; released by metric_value__clear()
 *
 * Return: 1, 0 when it is uncomputable and not to be printed at all, or -ENOMEM.
 */
int metric__evaluate(const struct metric *metric, const struct metric_source *source,
		     struct metric_value *out);

/**
 * metric__bind_defaults() - make the default metrics of a list that is the default event set
 * @scope: its cgroup and pmu are ignored: there is one set per cgroup and per core PMU
 * @out: receives an array (owned) of @nr metrics (owned)
 *
 * Metrics whose row is not in the list are left out. Return: 0 or -ENOMEM.
 */
int metric__bind_defaults(const struct metric_scope *scope, struct metric ***out, int *nr);

/**
 * metric__bind_requests() - make the metrics of -M, when their events are in the list
 * @scope: its cgroup, pmu, set and instance are ignored: there is one of each per cgroup, and per
 * core PMU if it uses one
 * @requests: borrowed as long as the metrics live
 * @out: receives an array (owned) of @nr metrics (owned), which may have no row yet
 *
 * Return: 0 or -ENOMEM.
 */
int metric__bind_requests(const struct metric_scope *scope, const struct metric_requests *requests,
			  struct metric ***out, int *nr);

/**
 * classic_metric__compute() - the ratios that perf printed for any event list until 6.x
 * @fixed_unit: rates are per second and named after the event, for columns
 * @out: receives up to two metrics, released by metric_value__clear()
 *
 * Return: how many, or -ENOMEM.
 */
int classic_metric__compute(const struct evlist *evlist, const struct evsel *evsel,
			    bool fixed_unit, const struct metric_source *source,
			    struct metric_value out[2]);

/**
 * prog_metric__compute() - what an event comes to in one execution of a BPF program
 * @in_columns: its text names the event, too
 * @out: one metric, released by metric_value__clear()
 *
 * Return: 1; 0 when no BPF programs are counted or did not run; or -ENOMEM.
 */
int prog_metric__compute(const struct evlist *evlist, const struct evsel *evsel, bool in_columns,
			 const struct metric_source *source, struct metric_value *out);

/**
 * event_name__base() - the bare name in an event's printed name
 * @base: receives "cycles" for cycles:u, cpu_core/cycles/ and cycles; @size bytes
 */
void event_name__base(const struct evsel *evsel, char *base, int size);

#endif
