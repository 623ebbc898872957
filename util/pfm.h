/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_UTIL_PFM_H
#define PERF_UTIL_PFM_H

/* Events by the names of libpfm4, where that was there when perf was built. */

#include <stdbool.h>

struct evlist;
struct parse_error;
struct pmus;

/** pfm__is_built_in() - whether there is libpfm4 */
bool pfm__is_built_in(void);

/**
 * pfm__parse() - append the events of a list such as "{pmu::EVENT:UMASK:u,OTHER},THIRD"
 * @list: receives them, unchanged on error
 * @text: the argument of --pfm-events
 * @err: filled on error; released by parse_error__clear()
 *
 * Return: 0; -EINVAL with @err filled; -ENOSYS: not built in; -ENOMEM.
 */
int pfm__parse(struct evlist *list, struct pmus *pmus, const char *text, struct parse_error *err);

/* One event, or one with one of its unit masks, that can be counted as it is called here. */
typedef void (*pfm_fn)(void *ctx, const char *pmu, const char *name, const char *desc);

/** pfm__for_each() - walk the events of the PMUs that libpfm4 finds on this machine */
void pfm__for_each(pfm_fn fn, void *ctx);

#endif
