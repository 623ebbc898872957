/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_CMD_PROFILE_CHECK_H
#define PERF_CMD_PROFILE_CHECK_H

/* Contradicting options of perf profile, and everything that follows from the options. */

struct profile_cmd;

/**
 * profile_cmd__check() - refuse what contradicts itself, and settle everything else
 *
 * Return: 0 or -errno after a message.
 */
int profile_cmd__check(struct profile_cmd *cmd);

/** profile_cmd__check_files() - refuse files that cannot be. Return: 0 or -EINVAL after a message */
int profile_cmd__check_files(const struct profile_cmd *cmd);

#endif
