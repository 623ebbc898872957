/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_CMD_PROFILE_STORED_H
#define PERF_CMD_PROFILE_STORED_H

/* perf profile report: a profile that -o wrote, printed again. */

struct profile_cmd;

/**
 * profile_stored() - read a file and print it as cmd->run.report prints a live profile
 * @argv: "report", and options and the file in any order
 *
 * Return: an exit status.
 */
int profile_stored(struct profile_cmd *cmd, int argc, char **argv);

#endif
