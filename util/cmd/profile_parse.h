/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_CMD_PROFILE_PARSE_H
#define PERF_CMD_PROFILE_PARSE_H

/* The options of perf profile. */

struct option_row;
struct profile_cmd;

/**
 * profile_cmd__parse() - read the options
 *
 * Return: the index of the first argument that is none, or the negative exit status.
 */
int profile_cmd__parse(struct profile_cmd *cmd, int argc, char **argv);

/** profile_parse__option() - the row of an option of perf profile by its long name; there must be one */
const struct option_row *profile_parse__option(const char *name);

#endif
