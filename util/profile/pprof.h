/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_PROFILE_PPROF_H
#define PERF_PROFILE_PPROF_H

/* Profiles in the format of pprof: a message of profile.proto, compressed by gzip. */

#include <stdio.h>

struct profile_report;

/**
 * pprof__write() - write all events
 * @path: not used
 *
 * Return: 0 or -ENOMEM; errors of writing stay in @out.
 */
int pprof__write(FILE *out, const struct profile_report *report, const char *path);

#endif
