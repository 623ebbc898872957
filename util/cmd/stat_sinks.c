// SPDX-License-Identifier: GPL-2.0
#include "util/cmd/stat_sinks.h"

#include "util/cmd/stat_cmd.h"
#include "util/data/record.h"
#include "util/lib/util.h"
#include "util/report/stat.h"

/* --- the table --- */

static int fill_table(void *ctx, const struct stat_run *run __unused,
		      const struct stat_round *round)
{
	struct stat_cmd *cmd = ctx;
	int err = round->is_interval ? stat__interval(cmd->stat, round->time_ns) : 0;

	return !err && round->times ? stat__add_repeat(cmd->stat, round->times) : err;
}

static int print_table(void *ctx, const struct stat_run *run __unused)
{
	struct stat_cmd *cmd = ctx;

	return stat__print(cmd->stat);
}

/* --- the recorder --- */

static int begin_record(void *ctx, const struct stat_run *run)
{
	struct stat_cmd *cmd = ctx;

	return stat_record__begin(cmd->record, run, &cmd->annotations);
}

static int record_round(void *ctx, const struct stat_run *run, const struct stat_round *round)
{
	struct stat_cmd *cmd = ctx;

	return stat_record__round(cmd->record, run->plan.evlist, round);
}

static int finish_record(void *ctx, const struct stat_run *run)
{
	struct stat_cmd *cmd = ctx;

	return run->has_counted ? stat_record__finish(cmd->record) : 0;
}

void stat_cmd__add_sinks(struct stat_cmd *cmd)
{
	cmd->table_sink = (struct stat_sink){
		.ctx = cmd,
		.round = fill_table,
		.finish = print_table,
	};
	cmd->record_sink = (struct stat_sink){
		.ctx = cmd,
		.begin = begin_record,
		.round = record_round,
		.finish = finish_record,
	};
	if (cmd->record) {
		cmd->table_sink.next = &cmd->record_sink;
		/* The file has the counts of each CPU. */
		cmd->run.plan.sums_cpus = false;
	}
	cmd->run.sinks = &cmd->table_sink;
	if (cmd->explain)
		cmd->run.refusals = stat_explain__init(&cmd->explain_sink);
}
