/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_REPORT_STAT_CONFIG_H
#define PERF_REPORT_STAT_CONFIG_H

/* Options of the report, and its environment. */

#include "util/report/aggr.h"

#include <stdbool.h>
#include <stdio.h>

struct definitions;
struct metric_requests;
struct pmus;
struct target;
struct topology;

/* The choices of the user. Texts are borrowed. */
struct report_options {
	enum aggr_mode aggr_mode;
	int cache_level;	  /* --per-cache=LN; 0: the highest */
	unsigned int interval_ms; /* 0: none */
	bool interval_clear;
	bool summary, no_csv_summary;
	const char *csv_sep; /* -x; NULL: not CSV */
	bool json;
	bool metric_only;
	bool no_metrics; /* --no-metrics */
	int big_num;	 /* 1 group digits, 0 do not */
	bool no_scale;
	bool null_run;
	bool hide_zero;
	bool no_merge; /* show each PMU instance */
	bool table;
	int run_count; /* -r; 1 by default, 0 forever */
	int verbose;
	const char *bpf_prog_list; /* -b LIST, NULL */
	bool for_each_cgroup;	   /* the list repeats per cgroup: cgroups outermost */
	const char *sort_event;	   /* --sort: cgroups with its highest counts first; NULL: none */
	unsigned int top;	   /* --top: number of cgroups to print; 0: all */
	bool percore_show_thread;  /* -A: percore events show the core's sum on each CPU */
};

/* The environment of the report. Pointers are borrowed. */
struct report_env {
	FILE *output;	     /* counts, headers, footers */
	bool color;	     /* metrics get the colours of their thresholds */
	bool keeps_warnings; /* CSV or JSON rows go to stderr: print warnings after them */
	const struct target *target;
	const char *title;		 /* target as named by the header; NULL: made from target */
	const struct topology *topology; /* of the CPUs; NULL: read from sysfs */
	/* value of #NAME in metrics; NULL: only #target_cpu is known */
	double (*literal)(const struct target *target, const char *name);
	struct definitions *defs;		/* metrics of files; NULL: none */
	const struct metric_requests *requests; /* -M; its events are in the list. NULL: none */
	struct pmus *pmus; /* for has_event() in metrics; NULL: it is always false */
};

/* Filled by the command line, then constant. */
struct stat_config {
	struct report_options options;
	struct report_env env;
};

#endif
