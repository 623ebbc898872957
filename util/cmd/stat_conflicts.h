/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_CMD_STAT_CONFLICTS_H
#define PERF_CMD_STAT_CONFLICTS_H

/* Conflicting options (errors) and suspicious ones (warnings). */

struct stat_cmd;

/** stat_cmd__check() - refuse options that exclude each other. Return: 0, or -EINVAL after a message */
int stat_cmd__check(const struct stat_cmd *cmd);

/** stat_cmd__check_output() - the same for options about printing only */
int stat_cmd__check_output(const struct stat_cmd *cmd);

/** stat_cmd__check_record() - refuse what cannot be recorded; events and cgroups are known */
int stat_cmd__check_record(const struct stat_cmd *cmd);

/** stat_cmd__warn() - warn about suspicious combinations */
void stat_cmd__warn(const struct stat_cmd *cmd);

#endif
