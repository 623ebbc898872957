/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_CMD_BPERF_PRINT_H
#define PERF_CMD_BPERF_PRINT_H

/* Shared events, printed to stdout. Documentation/perf-bperf.txt explains the columns. */

struct pmus;
struct snapshot;

/** bperf_print__text() - print tables of sessions, events and PMUs, and a line with their numbers */
void bperf_print__text(const struct snapshot *list, const char *path, struct pmus *pmus);

/** bperf_print__json() - print one object, even if nothing is shared. 0 or -ENOMEM */
int bperf_print__json(const struct snapshot *list, const char *path, struct pmus *pmus);

#endif
