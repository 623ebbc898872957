/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_UTIL_STAT_CMD_H
#define PERF_UTIL_STAT_CMD_H

/*
 * What one command line of perf stat says, shared by builtin-stat.c and the files it consists of:
 * stat_options.c, stat_check.c, stat_events.c, stat_output.c.
 */

#include "config.h"
#include "control.h"
#include "metric_plan.h"
#include "parse_events.h"
#include "stat_extra.h"
#include "stat_run.h"

#include <limits.h>

struct bpf_targets;
struct cgroup;
struct definitions;
struct evlist;
struct pmus;
struct stat_record;

#define NO_LOG_FD INT_MIN

/* What is behind the FILE of -o or --log-fd. */
struct stat_output {
	int fd;
	bool is_new;		/* this run made the file, and nothing is in it */
	bool replaces;		/* the file's old text is still there */
	bool is_over;		/* what comes now is dropped */
	int err;		/* of the first write that failed, -errno; 0: none */
};

struct stat_cmd {
	struct stat_run run;
	struct definitions *defs;
	struct pmus *pmus;
	struct evlist *evlist;
	struct metric_plan metrics;
	struct bpf_targets *progs;	/* -b */
	struct control control;
	struct config settings;		/* of the configuration files */
	struct parse_events_options parse;	/* of the -e that follow */
	int last_e;			/* index of the first event of the last -e */
	bool has_e;
	bool all_user, all_kernel;
	int detail;			/* -d */
	bool no_big_num, big_num;
	const struct cgroup **cgroup_of;	/* -G: by event, NULL: unrestricted */
	int nr_cgroups, nr_before_G;	/* places of those; events given before the last -G */
	const char *each_cgroup;	/* --for-each-cgroup LIST */
	const char *control_spec;	/* --control; NULL: none */
	bool has_control;		/* it has been opened */
	char *pre, *post;		/* commands before and after each run */
	bool affinity;			/* --affinity: taken, without effect */
	bool sync;			/* -S: flush file systems before each run */
	const char *output_path;	/* -o */
	int log_fd;
	bool append;
	bool quiet;
	struct stat_output output;
	FILE *file;			/* what -o or --log-fd opened; NULL: stderr */
	const char *data_path;		/* perf stat record: -o; NULL: not that */
	struct stat_extra extra;	/* what is recorded of the run */
	const char *input_path;		/* perf stat report: -i */
};

/* --- stat_options.c --- */

/**
 * stat_cmd__parse_options() - read the options
 *
 * Return: the index of the first argument that is none, or the negative exit status.
 */
int stat_cmd__parse_options(struct stat_cmd *cmd, int argc, char **argv);

/** stat_cmd__parse_report_options() - the same of perf stat report, which has some of them */
int stat_cmd__parse_report_options(struct stat_cmd *cmd, int argc, char **argv);

/* --- stat_check.c --- */

/** stat_cmd__check() - refuse what cannot be meant together. Return: 0, or -EINVAL after a message */
int stat_cmd__check(const struct stat_cmd *cmd);

/** stat_cmd__check_output() - the same of options about printing alone */
int stat_cmd__check_output(const struct stat_cmd *cmd);

/** stat_cmd__check_record() - the same of what cannot be recorded; events and cgroups are known */
int stat_cmd__check_record(const struct stat_cmd *cmd);

/** stat_cmd__warn() - say what is hardly meant, and go on */
void stat_cmd__warn(const struct stat_cmd *cmd);

/* --- stat_events.c --- */

/**
 * stat_cmd__widen_target() - count on all CPUs where no event can be counted in a task
 *
 * Events that no task has (those of uncore PMUs, and duration_time) make a run of nothing else
 * system-wide, its command notwithstanding. The times a command uses are not among them, nor is
 * an event with cpu=, which counts the command where it runs there.
 */
void stat_cmd__widen_target(struct stat_cmd *cmd);

/** stat_cmd__set_metric_scope() - what metrics may refer to; the target is settled */
void stat_cmd__set_metric_scope(struct stat_cmd *cmd);

/** stat_cmd__add_metrics() - the events of -M. Return: 0, or an exit status after a message */
int stat_cmd__add_metrics(struct stat_cmd *cmd);

/** stat_cmd__add_events() - the default events where needed; levels, names and cgroups of all. */
int stat_cmd__add_events(struct stat_cmd *cmd);

/* --- stat_output.c --- */

/**
 * stat_cmd__open_output() - where the counts go
 *
 * A file is opened, but keeps its old text until the first table. Return: 0, or an exit status after
 * a message.
 */
int stat_cmd__open_output(struct stat_cmd *cmd);

/**
 * stat_cmd__close_output() - everything has been printed, or nothing will be
 *
 * A new file without a table in it is removed. Return: 0, or -errno after a message.
 */
int stat_cmd__close_output(struct stat_cmd *cmd);

#endif
