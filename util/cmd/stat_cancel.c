// SPDX-License-Identifier: GPL-2.0
#include "util/cmd/stat_cancel.h"

#include "util/cmd/stat_cmd.h"
#include "util/lib/msg.h"
#include "util/lib/util.h"

void stat_cancel__merge(void *ctx)
{
	struct stat_cmd *cmd = ctx;

	cmd->run.config.options.no_merge = false;
	cmd->aggr_modes &= ~(1 << AGGR_NONE);
}

void stat_cancel__topdown(void *ctx)
{
	struct stat_cmd *cmd = ctx;

	cmd->metrics.topdown = cmd->run.config.options.metric_only = false;
}

void stat_cancel__verbose(void *ctx)
{
	struct stat_cmd *cmd = ctx;

	cmd->run.config.options.verbose = 0;
	msg__set_verbose(0);
}

void stat_cancel__smi_cost(void *ctx)
{
	struct stat_cmd *cmd = ctx;

	cmd->metrics.smi_cost = cmd->run.config.options.metric_only = false;
}

void stat_cancel__hybrid_merge(void *ctx)
{
	((struct stat_cmd *)ctx)->parse.hybrid_merge = false;
}

void stat_cancel__all_user(void *ctx)
{
	((struct stat_cmd *)ctx)->all_user = false;
}

void stat_cancel__all_kernel(void *ctx)
{
	((struct stat_cmd *)ctx)->all_kernel = false;
}

void stat_cancel__interval(void *ctx)
{
	((struct stat_cmd *)ctx)->run.config.options.interval_ms = 0;
}

void stat_cancel__separator(void *ctx)
{
	((struct stat_cmd *)ctx)->run.config.options.csv_sep = NULL;
}

void stat_cancel__cache(void *ctx)
{
	struct stat_cmd *cmd = ctx;

	cmd->run.config.options.cache_level = 0;
	cmd->aggr_modes &= ~(1 << AGGR_CACHE);
}

void stat_cancel__iostat(void *ctx)
{
	struct stat_cmd *cmd = ctx;

	io_ports__clear(&cmd->io_ports);
	cmd->has_iostat = cmd->lists_ports = false;
}

void stat_cancel__tpebs(void *ctx)
{
	((struct stat_cmd *)ctx)->record_tpebs = false;
}
