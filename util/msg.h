/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_UTIL_MSG_H
#define PERF_UTIL_MSG_H

/* The one place that writes diagnostics: always to stderr, one line per problem. */

#include "util.h"

/**
 * msg__init() - set the prefix of all messages
 * @prefix: e.g. "perf stat"; borrowed, must live as long as the program
 */
void msg__init(const char *prefix);

/** msg__set_verbose() - how often -v was given; pr_verbose() and pr_debug() depend on it */
void msg__set_verbose(int level);
int msg__verbose(void);

/** pr_err(), pr_warn() - "PREFIX: text", for errors and for what goes on all the same */
void pr_err(const char *fmt, ...) __printf(1, 2);
void pr_warn(const char *fmt, ...) __printf(1, 2);

/** pr_verbose() - the same, from -v on; pr_debug() - from -vv on */
void pr_verbose(const char *fmt, ...) __printf(1, 2);
void pr_debug(const char *fmt, ...) __printf(1, 2);

/** pr_text() - text without a prefix: blocks whose lines the reference prescribes */
void pr_text(const char *fmt, ...) __printf(1, 2);

#endif
