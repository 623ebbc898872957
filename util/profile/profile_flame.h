/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_PROFILE_PROFILE_FLAME_H
#define PERF_PROFILE_PROFILE_FLAME_H

/* The flame graph of a profile, with its samples and losses in the title. */

#include <stdbool.h>
#include <stdio.h>

struct profile_report;

/** profile_flame__write() - draw the first event. @path: the name of the file. Return: 0 or -ENOMEM */
int profile_flame__write(FILE *out, const struct profile_report *report, const char *path);

/** profile_flame__is_name() - whether a file name ends in .svg or .html */
bool profile_flame__is_name(const char *path);

/** profile_flame__is_html() - whether it ends in .html */
bool profile_flame__is_html(const char *path);

#endif
