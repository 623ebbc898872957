/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_CMD_TOP_PARSE_H
#define PERF_CMD_TOP_PARSE_H

/* The options of perf top. */

#include <stdbool.h>

struct top_cmd;

/**
 * top_cmd__parse() - read the options, and settle what follows from them
 *
 * Return: 0, or an exit status, after a message if it is a failure.
 */
int top_cmd__parse(struct top_cmd *top, int argc, char **argv);

/** top_cmd__is_ours() - whether ours has all of these options, and takes their values */
bool top_cmd__is_ours(int argc, char **argv);

/** top_parse__delay() - read seconds; returns milliseconds, 0: not from 0.1 to 3600 */
unsigned int top_parse__delay(const char *text);

#endif
