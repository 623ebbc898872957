/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_CMD_PROFILE_DIFF_H
#define PERF_CMD_PROFILE_DIFF_H

/* perf profile --diff: two profiles compared, as a table or a flame graph. */

struct profile_cmd;

/**
 * profile_diff() - read two files of folded stacks, print or draw the difference
 * @argv: the arguments behind the options
 *
 * Return: an exit status, after a message if it is not 0.
 */
int profile_diff(struct profile_cmd *cmd, int argc, char **argv);

#endif
