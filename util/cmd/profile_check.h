/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_CMD_PROFILE_CHECK_H
#define PERF_CMD_PROFILE_CHECK_H

/* Contradicting options of perf profile, and everything that follows from the options. */

#include <stdbool.h>

struct profile_cmd;

/**
 * profile_cmd__check() - refuse what contradicts itself, and settle everything else
 *
 * Return: 0 or -errno after a message.
 */
int profile_cmd__check(struct profile_cmd *cmd);

/** profile_cmd__is_sampling() - whether a target, an event, a time or another option of sampling is given */
bool profile_cmd__is_sampling(const struct profile_cmd *cmd);

/** profile_cmd__has_stdout() - whether a file goes to standard output, which then has no report */
bool profile_cmd__has_stdout(const struct profile_cmd *cmd);

/** profile_cmd__check_conflicts() - refuse options that contradict each other; 0 or -EINVAL after a message */
int profile_cmd__check_conflicts(const struct profile_cmd *cmd);

/** profile_cmd__choose_output() - settle view, format and columns; 0 or -errno after a message */
int profile_cmd__choose_output(struct profile_cmd *cmd);

/** profile_cmd__check_tools() - refuse --annotate without a disassembler; 0 or -ENOENT after a message */
int profile_cmd__check_tools(const struct profile_cmd *cmd);

/** profile_cmd__check_files() - refuse files that cannot be. Return: 0 or -EINVAL after a message */
int profile_cmd__check_files(const struct profile_cmd *cmd);

#endif
