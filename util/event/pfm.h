/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_EVENT_PFM_H
#define PERF_EVENT_PFM_H

/* Events by the names of libpfm4, if perf was built with it. */

#include <stdbool.h>

struct evlist;
struct parse_error;
struct pmus;

/** pfm__is_built_in() - whether perf was built with libpfm4 */
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

/* Visit a countable event, or an event with one of its unit masks. */
typedef void (*pfm_fn)(void *ctx, const char *pmu, const char *name, const char *desc);

/** pfm__for_each() - visit the events of this machine's PMUs, as libpfm4 finds them */
void pfm__for_each(pfm_fn fn, void *ctx);

#endif
