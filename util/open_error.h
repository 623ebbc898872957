/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_UTIL_OPEN_ERROR_H
#define PERF_UTIL_OPEN_ERROR_H

/* Why an event could not be opened, in words that name the remedy. */

struct evsel;
struct target;

/** open_error__print() - the reason of evsel->err to stderr, as the last lines of an error */
void open_error__print(const struct evsel *evsel, const struct target *target);

/** open_error__text() - the reason alone, owned by the caller; NULL: no memory */
char *open_error__text(const struct evsel *evsel, const struct target *target);

/** open_error__warn() - one line: this event is skipped, the others go on */
void open_error__warn(const struct evsel *evsel, const struct target *target);

#endif
