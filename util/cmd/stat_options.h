/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_CMD_STAT_OPTIONS_H
#define PERF_CMD_STAT_OPTIONS_H

/* The options of perf stat and of its subcommands. */

struct stat_cmd;

/**
 * stat_cmd__parse_options() - read the options
 *
 * Return: the index of the first argument that is none, or the negative exit status.
 */
int stat_cmd__parse_options(struct stat_cmd *cmd, int argc, char **argv);

/** stat_cmd__parse_report_options() - the same for perf stat report, which has some of them */
int stat_cmd__parse_report_options(struct stat_cmd *cmd, int argc, char **argv);

#endif
