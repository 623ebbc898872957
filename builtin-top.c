// SPDX-License-Identifier: GPL-2.0
/* perf top: a profile that is redrawn. */
#include "builtin.h"

#include "util/cmd/profile_life.h"
#include "util/cmd/top_cmd.h"
#include "util/cmd/top_parse.h"
#include "util/cmd/top_screen.h"
#include "util/event/evlist.h"
#include "util/lib/msg.h"
#include "util/lib/util.h"
#include "util/profile/profile_report.h"

#include <errno.h>
#include <locale.h>
#include <stdio.h>

static int print(struct top_cmd *top)
{
	struct profile_report page;
	int err;

	top_screen__make_report(top, &page);
	err = profile_report__print(stdout, &page);
	top->profile.has_lost_reader = err == -EPIPE;
	return err;
}

/* Return: whether it is what is left after the last interval, and would take that one's place. */
static bool is_rest(const struct top_cmd *top, const struct profile_round *round)
{
	uint64_t interval_ns = top->profile.run.base.config.options.interval_ms * NSEC_PER_MSEC;

	return top->is_screen && top->zero && top->history.nr_events &&
	       round->elapsed_ns < interval_ns / 2;
}

static int report(void *ctx, const struct profile_round *round)
{
	struct top_cmd *top = ctx;
	struct profile_run *run = &top->profile.run;
	int err;

	if (is_rest(top, round))
		return 0;
	err = history__add(&top->history, &run->samples, round->accounts, run->events->nr,
			   round->elapsed_ns, top->zero);
	top->time_ns = round->time_ns;
	top->resolve_ns = clock_ns();
	if (!err)
		err = profile_cmd__resolve(&top->profile,
					   top->is_screen ? top_screen__progress : NULL, top);
	if (err)
		return err;
	return top->is_screen ? top_screen__draw(top) : print(top);
}

static int top(struct top_cmd *top, int argc, char **argv)
{
	int status = top_cmd__parse(top, argc, argv);

	if (status)
		return status;
	if (top->is_screen)
		top_screen__init(top);
	status = profile_cmd__run(&top->profile);
	top_screen__end(top);
	return status;
}

int cmd_top(int argc, char **argv)
{
	struct top_cmd cmd = {.profile.run.report = report};
	int status;

	cmd.profile.run.ctx = &cmd;
	msg__init("perf top");
	setlocale(LC_CTYPE, "");
	status = profile_cmd__prepare(&cmd.profile) ? STATUS_FAILED : top(&cmd, argc, argv);
	history__clear(&cmd.history);
	profile_cmd__clear(&cmd.profile);
	profile_cmd__die_if_unread(&cmd.profile);
	return status;
}

bool cmd_top_is_ours(int argc, char **argv)
{
	return top_cmd__is_ours(argc, argv);
}
