/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_CMD_STAT_OUTPUT_H
#define PERF_CMD_STAT_OUTPUT_H

/* Destination of the counts: stderr, the file of -o, the descriptor of --log-fd. */

struct stat_cmd;

/**
 * stat_cmd__open_output() - open the destination of the counts
 *
 * A file keeps its old text until the first table. Return: 0 or -errno after a message,
 * -EINVAL only for a descriptor that cannot be written to.
 */
int stat_cmd__open_output(struct stat_cmd *cmd);

/**
 * stat_cmd__close_output() - close it, after the last table or without any
 *
 * Removes a new file without a table in it. Return: 0, or -errno after a message.
 */
int stat_cmd__close_output(struct stat_cmd *cmd);

#endif
