/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_CMD_STAT_SINKS_H
#define PERF_CMD_STAT_SINKS_H

/* The sinks of perf stat: the table, the recorder and the explainer. */

struct stat_cmd;

/** stat_cmd__add_sinks() - give the run its sinks: cmd->stat, cmd->record unless NULL, --explain */
void stat_cmd__add_sinks(struct stat_cmd *cmd);

#endif
