/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_CMD_STAT_EVLIST_H
#define PERF_CMD_STAT_EVLIST_H

/* The events of a command line: given, of metrics, default; and their cgroups. */

struct stat_cmd;

/** stat_cmd__set_metric_scope() - set what metrics may refer to; the target is settled */
void stat_cmd__set_metric_scope(struct stat_cmd *cmd);

/**
 * stat_cmd__add_metrics() - add the events of -M, and settle the target
 *
 * If no event can be counted in a task, perf counts on all CPUs, even if a command is given. That is so
 * for events of uncore PMUs and for duration_time. It is not so for the times that a command uses, nor
 * for an event with cpu=, which counts the command while it runs there.
 *
 * Return: 0, or after a message -ENOENT (no such metric) or another -errno.
 */
int stat_cmd__add_metrics(struct stat_cmd *cmd);

/**
 * stat_cmd__add_events() - add default events if there are none; set levels, names, cgroups of all
 *
 * Return: 0, -EINVAL or -ENOMEM, after a message.
 */
int stat_cmd__add_events(struct stat_cmd *cmd);

#endif
