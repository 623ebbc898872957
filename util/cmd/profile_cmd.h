/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_CMD_PROFILE_CMD_H
#define PERF_CMD_PROFILE_CMD_H

/* One command line of perf profile. */

#include "util/host/config.h"
#include "util/profile/cgroup_names.h"
#include "util/profile/profile_files.h"
#include "util/profile/profile_options.h"
#include "util/run/control.h"
#include "util/run/profile_run.h"

/* Commands are told apart only when that is asked for, as in perf top. */
#define PROFILE_DEFAULT_SORT "dso,sym"

struct cgroup_list;
struct pmus;
struct profile_record;

struct profile_cmd {
	struct profile_run run;
	struct profile_options options;
	struct profile_files files;    /* --flamegraph, --pprof */
	const char *data_path;	       /* -o; NULL: none */
	struct profile_record *record; /* NULL: none */
	int argc;		       /* of the whole command line, for perf.data */
	char **argv;
	struct pmus *pmus;
	struct cgroup_list *cgroups;
	struct cgroup_names cgroup_names;
	struct control control;
	struct config settings;	  /* of the configuration files */
	const char *control_spec; /* --control; NULL: none */
	const char *each_cgroup;  /* --for-each-cgroup LIST */
	bool has_G;
	const char *user;     /* -u */
	char *user_pids;      /* its processes, for the target */
	const char *sort;     /* -s; NULL: the default */
	const char *by;	      /* --ip: the default in its place; NULL: not given */
	const char *prog;     /* --prog FILE; NULL: none */
	const char *annotate; /* --annotate SYMBOL; NULL: none */
	bool dump_maps;
	bool data; /* -d */
	bool lines, inlines;
	const char *diff;	/* --diff: the profile before; NULL: none */
	const char *debuginfod; /* --debuginfod URLS; "": none; NULL: as configured */
	bool json;
	bool is_max_rate; /* -F max */
	bool has_rate;	  /* -F or -c was given */
	bool g, stacks, folded;
	bool is_callee; /* --call-graph=callee */
	bool only_kernel_chains, only_user_chains;
	bool hide_kernel, hide_user; /* -K, -U */
	bool has_lost_reader;	     /* of standard output */
	bool has_warned;	     /* of stacks with one frame */
	int verbose;
	unsigned int max_stack;
	char *target_text, *rate_text; /* "system wide", "99 Hz"; owned */
};

#endif
