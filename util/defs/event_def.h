/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_DEFS_EVENT_DEF_H
#define PERF_DEFS_EVENT_DEF_H

/* The definition of a PMU's event, read from a file. */

#include <stdbool.h>

struct event_def {
	char *name;		      /* lower case */
	char *terms;		      /* event=0x3c,umask=0x1 */
	const char *pmu;	      /* the PMU's name or family; NULL: core PMUs */
	const char *compat;	      /* only PMUs whose identifier matches; NULL: all */
	const char *desc, *long_desc; /* NULL: none */
	const char *topic;	      /* "Topic", otherwise that of the file */
	const char *scale_unit;	      /* "64Bytes"; NULL: none */
	bool per_pkg, deprecated;
};

#endif
