// SPDX-License-Identifier: GPL-2.0
#include "util/run/progs.h"

#include "util/event/evlist.h"
#include "util/host/capability.h"
#include "util/lib/msg.h"
#include "util/lib/util.h"
#include "util/run/pass.h"
#include "util/target/bpf_prog_list.h"
#include "util/target/thread_map.h"

#include <errno.h>
#include <string.h>

#define LOOK_NS (100 * NSEC_PER_MSEC)

static int (*follow_of(const struct counter_ops *ops))(struct counter *)
{
	return ops->follow_progs;
}

/* Rebuild the rows, which may have moved, and point the events to them. */
static int update_rows(struct counter_plan *plan)
{
	int err = thread_map__update_progs(&plan->prog_rows, plan->progs), i;
	struct evsel *evsel;

	evlist__for_each(plan->evlist, evsel, i) {
		if (evsel->in_progs)
			evsel->threads = plan->prog_rows;
	}
	return err;
}

/* Counting continues, and the next look retries. */
static void put_off(struct stat_pass *pass, int err)
{
	if (!err || err == -EINTR || err == -ETIMEDOUT || pass->has_warned)
		return;
	pr_warn("-b: new programs cannot be counted for now: %s", strerror(-err));
	pass->has_warned = true;
}

/* Rows have the names of programs, which may have changed also where something failed. */
static int first_error(struct counter_plan *plan, int err)
{
	int err_rows = update_rows(plan);

	return err ? err : err_rows;
}

void stat_pass__look_for_progs(struct stat_pass *pass)
{
	struct counter_plan *plan = &pass->run->plan;
	int err;

	if (!plan->progs || !plan->progs->follows)
		return;
	pass->next_look_ns = clock_ns() + LOOK_NS;
	capability__raise();
	err = first_error(plan, bpf_prog_list__look(plan->progs));
	if (!err)
		err = first_error(plan, stat_pass__call(pass, follow_of));
	capability__lower();
	/* Before the first programs are counted, not all of them are known. */
	if (pass->counters[BACK_END_BPERF])
		bpf_prog_list__warn_left_out(plan->progs);
	put_off(pass, err);
}

int stat_pass__report_progs(struct stat_pass *pass)
{
	struct counter_plan *plan = &pass->run->plan;

	if (!plan->progs)
		return 0;
	bpf_prog_list__warn_left_out(plan->progs);
	return update_rows(plan);
}
