/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_CMD_STAT_CMD_H
#define PERF_CMD_STAT_CMD_H

/* One command line of perf stat. */

#include "util/cmd/stat_explain.h"
#include "util/data/annotations.h"
#include "util/event/io_ports.h"
#include "util/event/parse_events.h"
#include "util/host/config.h"
#include "util/metric/metric_options.h"
#include "util/run/control.h"
#include "util/run/sink.h"
#include "util/run/stat_run.h"

#include <limits.h>

struct bpf_prog_list;
struct cgroup;
struct definitions;
struct evlist;
struct pmus;
struct stat;
struct stat_record;

#define NO_LOG_FD INT_MIN

/* The cookie behind the FILE of -o or --log-fd. */
struct stat_output {
	int fd;
	bool is_new;   /* this run made the file, and nothing is in it */
	bool replaces; /* the file's old text is still there */
	bool is_over;  /* drop further text */
	int err;       /* of the first write that failed, -errno; 0: none */
};

struct stat_cmd {
	struct stat_run run;
	struct definitions *defs;
	struct pmus *pmus;
	struct evlist *evlist;
	struct metric_options metrics;
	struct bpf_prog_list *progs; /* -b */
	struct control control;
	struct config settings;		   /* of the configuration files */
	struct parse_events_options parse; /* of the -e that follow */
	int last_e;			   /* index of the first event of the last -e */
	bool has_e;
	bool all_user, all_kernel;
	int detail;		 /* -d */
	unsigned int aggr_modes; /* bits of the enum: -A, --per-core and so on */
	bool no_big_num, big_num;
	const struct cgroup **cgroup_of; /* -G: by event, NULL: unrestricted */
	int nr_cgroups, nr_before_G;	 /* places of those; events given before the last -G */
	const char *each_cgroup;	 /* --for-each-cgroup LIST */
	const char *control_spec;	 /* --control; NULL: none */
	char *pre, *post;		 /* commands before and after each run */
	bool affinity;			 /* --affinity: no effect */
	bool explain;			 /* --explain */
	struct io_ports io_ports;	 /* --iostat */
	bool has_iostat, lists_ports;	 /* --iostat, --iostat=list */
	bool record_tpebs;		 /* --record-tpebs, --tpebs-mode: no effect */
	bool sync;			 /* -S: flush file systems before each run */
	const char *output_path;	 /* -o */
	int log_fd;
	bool append;
	bool quiet;
	struct stat_output output;
	FILE *file;			/* what -o or --log-fd opened; NULL: stderr */
	const char *data_path;		/* perf stat record: -o; NULL: not that */
	struct annotations annotations; /* of perf stat record */
	struct stat *stat;
	struct stat_record *record; /* NULL: not perf stat record */
	struct stat_sink table_sink, record_sink;
	struct stat_explain explain_sink;
	const char *input_path; /* perf stat report: -i */
};

#endif
