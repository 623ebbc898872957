// SPDX-License-Identifier: GPL-2.0
#include "util/run/interval.h"

#include "util/lib/util.h"
#include "util/run/cgroups.h"
#include "util/run/pass.h"
#include "util/run/sink.h"

int stat_pass__print_interval(struct stat_pass *pass)
{
	struct stat_run *run = pass->run;
	struct stat_round round = {.is_interval = true};
	int err;

	stat_pass__add_cgroups(pass);
	err = stat_pass__read(pass);
	round.time_ns = clock_ns() - pass->start_ns;
	if (!err)
		err = stat_sinks__round(run->sinks, run, &round);
	if (!err)
		stat_pass__drop_cgroups(pass);
	pass->nr_printed++;
	return err;
}
