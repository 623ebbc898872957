/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_PROFILE_PROFILE_OPTIONS_H
#define PERF_PROFILE_PROFILE_OPTIONS_H

/* How a profile is printed. */

#include "util/profile/sort_keys.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct cgroup_names;

enum profile_view {
	VIEW_LIST,	 /* a row for each function, or for what -s names */
	VIEW_TREE,	 /* -g: with the callers or callees of each row */
	VIEW_STACKS,	 /* --stacks: every stack, a frame on a line */
	VIEW_FOLDED,	 /* --folded: every stack on one line */
	VIEW_ANNOTATION, /* --annotate: the instructions of a function */
};

enum profile_format { FORMAT_TEXT, FORMAT_CSV, FORMAT_JSON };

struct profile_options {
	enum profile_view view;
	enum profile_format format;
	const char *csv_sep;
	struct sort_keys sort;
	bool is_caller;		     /* -g caller: trees grow from callers to callees */
	bool is_icicle;		     /* flame graphs have the commands on top */
	bool no_children;	     /* rows have the samples of the function itself only */
	bool hide_kernel, hide_user; /* VIEW_LIST: rows that are not printed */
	bool has_lines;		     /* --lines: frames of stacks have their source lines */
	bool has_interval;	     /* -I: every report begins with its time */
	double percent_limit;	     /* leave out lighter rows and branches; in percent */
	bool hides_in_trees;  /* hide_kernel and hide_user also leave out rows of VIEW_TREE */
	uint64_t min_samples; /* leave out rows with fewer; FORMAT_TEXT */
	int max_rows;	      /* print at most so many; 0: all; FORMAT_TEXT */
	const char *filter; /* print only rows with this text in a column; NULL: all; FORMAT_TEXT */
	const struct cgroup_names *cgroups; /* names for SORT_CGROUP; borrowed */
};

#endif
