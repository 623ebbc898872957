/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_UTIL_SHARED_PRINT_H
#define PERF_UTIL_SHARED_PRINT_H

/* What is shared, printed to stdout; Documentation/perf-bperf.txt says what the columns mean. */

struct pmus;
struct shared_list;

/** shared_print__text() - tables of runs, events and PMUs, and a line that sums them up */
void shared_print__text(const struct shared_list *list, const char *path, struct pmus *pmus);

/** shared_print__json() - one object; also when nothing is shared. 0 or -ENOMEM */
int shared_print__json(const struct shared_list *list, const char *path, struct pmus *pmus);

#endif
