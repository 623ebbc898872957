// SPDX-License-Identifier: GPL-2.0
#include "util/run/sink.h"

int stat_sinks__begin(struct stat_sink *sinks, const struct stat_run *run)
{
	int err = 0;

	for (; sinks && !err; sinks = sinks->next)
		err = sinks->begin ? sinks->begin(sinks->ctx, run) : 0;
	return err;
}

int stat_sinks__round(struct stat_sink *sinks, const struct stat_run *run,
		      const struct stat_round *round)
{
	int err = 0;

	for (; sinks && !err; sinks = sinks->next)
		err = sinks->round ? sinks->round(sinks->ctx, run, round) : 0;
	return err;
}

int stat_sinks__finish(struct stat_sink *sinks, const struct stat_run *run)
{
	int err = 0;

	for (; sinks; sinks = sinks->next) {
		int one = sinks->finish ? sinks->finish(sinks->ctx, run) : 0;

		err = err ? err : one;
	}
	return err;
}
