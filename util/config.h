/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_UTIL_CONFIG_H
#define PERF_UTIL_CONFIG_H

/*
 * The configuration files: defaults of options, and what is shared through whom. They are those of
 * Linux's perf, which has many more sections; what we do not know is left to it.
 */

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct config {
	bool no_big_num;		/* stat.big-num = false */
	bool no_csv_summary;		/* stat.no-csv-summary */
	char *bpf_counter_events;	/* stat.bpf-counter-events; NULL: none */
	char *attr_map;			/* bperf.attr-map; NULL: the default */
	/* bperf.trusted-owners, ended by -1: users besides root and oneself; NULL: nobody */
	uid_t *trusted;
};

/**
 * config__load() - read the system's file, then the user's, whose values win
 * @config: receives the values, to be released by config__clear() in any case
 *
 * /etc/perfconfig and ~/.perfconfig; $PERF_CONFIG names one to be read instead of both. A file that
 * is not there is none; one that belongs to others is skipped with a warning.
 * Return: 0, or -errno after a message that names file and line.
 */
int config__load(struct config *config);

/** config__parse() - the same for one file; @path is also what messages say */
int config__parse(struct config *config, const char *path);

/** config__clear() - release the values */
void config__clear(struct config *config);

/** config__shares() - whether an event of this name is in a list as of bpf_counter_events */
bool config__shares(const char *list, const char *name);

#endif
