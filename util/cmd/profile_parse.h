/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_CMD_PROFILE_PARSE_H
#define PERF_CMD_PROFILE_PARSE_H

/* The options of perf profile. */

struct profile_cmd;

/**
 * profile_cmd__parse() - read the options
 *
 * Return: the index of the first argument that is none, or the negative exit status.
 */
int profile_cmd__parse(struct profile_cmd *cmd, int argc, char **argv);

#endif
