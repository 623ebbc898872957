/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_EVENT_OPEN_ERROR_H
#define PERF_EVENT_OPEN_ERROR_H

/* Reasons and remedies for an event that cannot be opened. */

struct evsel;
struct target;

/** open_error__print() - print the reason of evsel->err as the last lines of an error */
void open_error__print(const struct evsel *evsel, const struct target *target);

/** open_error__text() - the reason, owned by the caller; NULL: no memory */
char *open_error__text(const struct evsel *evsel, const struct target *target);

/** open_error__warn() - warn that this event is skipped */
void open_error__warn(const struct evsel *evsel, const struct target *target);

/** open_error__warn_default() - warn if no PMU is the reason that this default event has no count */
void open_error__warn_default(const struct evsel *evsel, const struct target *target);

#endif
