/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_CMD_TOP_KEYS_H
#define PERF_CMD_TOP_KEYS_H

/* The keys of perf top. */

#include <stdio.h>

struct top_cmd;

/**
 * top_keys__take() - do what a key asks for
 * @key: as key_input__take() returned it
 *
 * Return: 0, 1: end.
 */
int top_keys__take(struct top_cmd *top, int key);

/** top_keys__print_help() - list all keys with the present values */
void top_keys__print_help(FILE *out, const struct top_cmd *top);

/** top_keys__print_bottom() - the last line of the screen: a question, a note, or the state */
void top_keys__print_bottom(FILE *out, const struct top_cmd *top);

#endif
