/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_PROFILE_PROFILE_REPORT_H
#define PERF_PROFILE_PROFILE_REPORT_H

/* A profile on paper: all events of one interval, or of the whole time. */

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct annotation;
struct evlist;
struct profile_options;
struct sample_account;
struct samples;

struct profile_report {
	const struct profile_options *options;
	const struct samples *samples;	     /* with names: symbols__resolve() was called */
	const struct annotation *annotation; /* of VIEW_ANNOTATION */
	const struct evlist *events;
	const struct sample_account *accounts; /* of this report, one for each event */
	const char *target;		       /* "system wide"; for text */
	const char *rate;		       /* "99 Hz"; for text */
	uint64_t time_ns;		       /* since the start */
	uint64_t elapsed_ns;		       /* that the report is of */
};

/** profile_report__print() - print in the view and format of the options; 0 or -errno of writing after a message (none for EPIPE) */
int profile_report__print(FILE *out, const struct profile_report *report);

/** profile_report__print_page() - text of one event for a screen: first all about the samples, then rows */
int profile_report__print_page(FILE *out, const struct profile_report *report, int event);
/** profile_report__put_title() - print the samples, event, rate, target and time, without a line feed */
void profile_report__put_title(FILE *out, const struct profile_report *report, int event);

/** profile_report__has_flat_stacks() - most user stacks have one frame only */
bool profile_report__has_flat_stacks(const struct samples *samples);

#endif
