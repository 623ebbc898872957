/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_UTIL_STAT_H
#define PERF_UTIL_STAT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct definitions;
struct evlist;
struct metric;
struct metric_requests;
struct pmus;
struct target;
struct topology;

/* Numbers as in STAT_CONFIG records of perf.data; finest wins is decided by the command line. */
enum aggr_mode {
	AGGR_NONE,
	AGGR_GLOBAL,
	AGGR_SOCKET,
	AGGR_DIE,
	AGGR_CLUSTER,
	AGGR_CACHE,
	AGGR_CORE,
	AGGR_THREAD,
	AGGR_UNSET,
	AGGR_NODE,
	AGGR_PROG,		/* ours alone: BPF programs */
};

/* How to print; filled by the command line, then constant. */
struct stat_config {
	enum aggr_mode aggr_mode;
	int cache_level;		/* --per-cache=LN; 0: the highest */
	unsigned int interval_ms;	/* 0: none */
	bool interval_clear;
	bool summary, no_csv_summary;
	const char *csv_sep;		/* -x; NULL: not CSV */
	bool json;
	bool metric_only;
	bool no_metrics;		/* --no-metrics */
	int big_num;			/* 1 group digits, 0 do not */
	bool no_scale;
	bool null_run;
	bool hide_zero;
	bool no_merge;			/* show each PMU instance */
	bool table;
	int run_count;			/* -r; 1 by default, 0 forever */
	int verbose;
	FILE *output;			/* counts, headers, footers */
	bool color;			/* output is a terminal */
	const struct target *target;
	const char *bpf_prog_list;	/* -b LIST, NULL */
	const char *title;		/* whom the header names; NULL: made from target */
	bool for_each_cgroup;		/* the list repeats per cgroup: cgroups outermost */
	const char *sort_event;		/* --sort: cgroups with the most of it first; NULL: none */
	unsigned int top;		/* --top: only so many cgroups; 0: all of them */
	const struct topology *topology;	/* where CPUs are; NULL: as sysfs says. Borrowed */
	bool percore_show_thread;	/* -A: percore events show the core's sum on each CPU */
	/* #NAME in metrics; NULL: only #target_cpu is known */
	double (*literal)(const struct target *target, const char *name);
	struct definitions *defs;	/* metrics of files; NULL: none. Borrowed */
	const struct metric_requests *requests;	/* -M, its events are in the list; NULL: none. Borrowed */
	struct pmus *pmus;		/* has_event() in metrics asks them; NULL: says no. Borrowed */
};

/* What the run loop measured besides the events. */
struct stat_times {
	uint64_t elapsed_ns;
	uint64_t user_ns, sys_ns;	/* of the workload, from wait4 */
};

/*
 * Turns what the back ends read (evsel->counts) into rows and prints them. Knows neither back
 * ends nor the run loop.
 */
struct stat;

/** stat__new() - NULL with errno set; @config and @evlist are borrowed */
struct stat *stat__new(const struct stat_config *config, struct evlist *evlist);
void stat__delete(struct stat *stat);

/**
 * stat__add_metric() - print this metric too, on the row of metric->row_evsel
 *
 * The metric's evsels must be in the evlist. Takes ownership of @metric, on failure too.
 * Return: 0 or -ENOMEM.
 */
int stat__add_metric(struct stat *stat, struct metric *metric);

/**
 * stat__interval() - print the differences to the previous interval
 * @ts_ns: time since counting began
 *
 * Reads evsel->counts as the back ends left them, and flushes the output. With interval_clear
 * stdout gets the sequence that clears a terminal. Return: 0 or -ENOMEM.
 */
int stat__interval(struct stat *stat, uint64_t ts_ns);

/**
 * stat__run_done() - one run of -r N is over: take its counts into the statistics
 * @times: of this run
 *
 * Called once also without -r, before the events are closed or their thread maps freed. Forgets
 * what intervals remember. With run_count 0 (forever) every run stands alone.
 * Return: 0 or -ENOMEM.
 */
int stat__run_done(struct stat *stat, const struct stat_times *times);

/**
 * stat__reset() - forget intervals and runs, as if newly made
 *
 * Metrics given by stat__add_metric() stay. Between the runs of -r nothing needs to be reset.
 */
void stat__reset(struct stat *stat);

/**
 * stat__print() - the final table: header, rows, footer in the format asked for
 *
 * After stat__run_done(); with intervals it prints only what --summary asks for.
 * Return: 0 or -ENOMEM.
 */
int stat__print(struct stat *stat);

#endif
