/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_HOST_CONFIG_H
#define PERF_HOST_CONFIG_H

/*
 * Defaults of options and the trusted attr map, from configuration files. These are shared with
 * Linux's perf, which has many more sections, so unknown sections and keys are ignored.
 */

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct config {
	bool no_big_num;	  /* stat.big-num = false */
	bool no_csv_summary;	  /* stat.no-csv-summary */
	char *bpf_counter_events; /* stat.bpf-counter-events; NULL: none */
	char *color_ui;		  /* color.ui; NULL: auto */
	char *pager_help; /* pager.help, pager.list: a command or a truth value; NULL: none */
	char *pager_list;
	char *debuginfod; /* buildid-cache.debuginfod: URLs; NULL: none */
	char *attr_map;	  /* bperf.attr-map; NULL: the default */
	/* bperf.trusted-owners, ended by -1: users besides root and ourselves; NULL: nobody */
	uid_t *trusted;
};

/**
 * config__load() - read the system's file, then the user's, whose values win
 * @config: receives the values, to be released by config__clear() in any case
 *
 * Reads /etc/perfconfig and ~/.perfconfig, or $PERF_CONFIG instead of both. Absent files are no
 * error. Files of other users, and bad lines, are skipped with a warning.
 * Return: 0, or -ENOMEM after a message.
 */
int config__load(struct config *config);

/** config__parse() - the same for one file; messages contain @path */
int config__parse(struct config *config, const char *path);

/** config__clear() - release the values */
void config__clear(struct config *config);

/** config__shares() - whether a list such as bpf_counter_events contains an event */
bool config__shares(const char *list, const char *name);

/**
 * config__parse_bool() - the truth value that a text means
 * @value: the text; NULL means true, as for a key without a value
 *
 * Return: 0, or -EINVAL if it is none; *out has no meaning then.
 */
int config__parse_bool(const char *value, bool *out);

/** config__pager() - the value of pager.COMMAND, borrowed; NULL: none */
const char *config__pager(const struct config *config, const char *command);

/**
 * config__has_color() - whether output to a descriptor has colours
 *
 * By default if it is a terminal that is not dumb; color.ui changes that. $NO_COLOR overrides both.
 */
bool config__has_color(const struct config *config, int fd);

#endif
