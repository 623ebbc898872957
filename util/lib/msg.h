/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_LIB_MSG_H
#define PERF_LIB_MSG_H

/*
 * Diagnostics on stderr, one line per problem. Nothing else writes them. Texts are escaped as
 * printable.h describes. Line breaks and tabs of a format stay, those of its arguments do not.
 */

#include "util/lib/util.h"

/**
 * msg__init() - set the prefix of all messages
 * @prefix: e.g. "perf stat"; borrowed, must live as long as the program. Messages have
 *	program__name() in place of the word perf.
 */
void msg__init(const char *prefix);

/** msg__prefix() - the prefix, with the word perf; borrowed */
const char *msg__prefix(void);

/** msg__set_verbose() - how often -v was given; pr_verbose() and pr_debug() depend on it */
void msg__set_verbose(int level);
int msg__verbose(void);

/** msg__set_least_verbose() - a level that holds if -v asks for less; for perf --debug verbose=LEVEL */
void msg__set_least_verbose(int level);

/**
 * msg__hold(), msg__release() - hold messages back, and write them
 *
 * A full pipe or job control can stop a writer, which must not happen to the holder of a lock.
 * Calls nest: the last release writes.
 */
void msg__hold(void);
void msg__release(void);

/**
 * msg__keep_warnings(), msg__print_warnings() - hold warnings back, and write them
 *
 * Keeps rows together that programs read from stderr. msg__defer_warnings() is for warnings that come
 * before the options that hide them are known: an error also writes these.
 */
void msg__keep_warnings(void);
void msg__defer_warnings(void);
void msg__print_warnings(void);

/**
 * msg__hide() - suppress hints, or hints and warnings
 *
 * MSG_HIDE_HINTS suppresses pr_hint(), MSG_HIDE_WARNINGS also pr_warn() and pr_note().
 */
enum msg_hidden { MSG_HIDE_NOTHING, MSG_HIDE_HINTS, MSG_HIDE_WARNINGS };
void msg__hide(enum msg_hidden hidden);

/** pr_err(), pr_warn() - "PREFIX: text", for errors and for warnings */
void pr_err(const char *fmt, ...) __printf(1, 2);
void pr_warn(const char *fmt, ...) __printf(1, 2);

/**
 * msg__nr_errors() - how often pr_err() was called; every failure must be one
 *
 * msg__count_error() is for errors that are printed in other ways.
 */
unsigned int msg__nr_errors(void);
void msg__count_error(void);

/** pr_verbose() - the same, from -v on; pr_debug() - from -vv on */
void pr_verbose(const char *fmt, ...) __printf(1, 2);
void pr_debug(const char *fmt, ...) __printf(1, 2);

/** pr_hint() - "Warning:" and a line, for options without the intended effect */
void pr_hint(const char *fmt, ...) __printf(1, 2);

/** pr_text() - text without a prefix, for blocks whose lines the reference prescribes */
void pr_text(const char *fmt, ...) __printf(1, 2);

/** pr_note() - the same for progress of the run, hidden where warnings are */
void pr_note(const char *fmt, ...) __printf(1, 2);

/** pr_lines() - the same for a text whose line breaks and tabs all stay */
void pr_lines(const char *lines);

/**
 * pr_status() - show a short text in the last line of a terminal, in place of the one before
 * @text: NULL: erase it, as the next message does
 *
 * Call it only if stderr is a terminal. Hidden where warnings are.
 */
void pr_status(const char *text);

#endif
