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
	if (err == -EINTR || err == -ETIMEDOUT || pass->has_warned)
		return;
	pr_warn("-b: looking for new programs failed: %s", strerror(-err));
	pass->has_warned = true;
}

int stat_pass__look_for_progs(struct stat_pass *pass)
{
	struct counter_plan *plan = &pass->run->plan;
	int err;

	if (!plan->progs || !plan->progs->follows)
		return 0;
	pass->next_look_ns = clock_ns() + LOOK_NS;
	capability__raise();
	err = bpf_prog_list__look(plan->progs);
	if (!err)
		err = update_rows(plan);
	if (!err)
		err = stat_pass__call(pass, follow_of);
	if (!err)
		err = update_rows(plan);
	capability__lower();
	/* Before the first programs are counted, not all of them are known. */
	if (pass->counters[BACK_END_BPERF])
		bpf_prog_list__warn_left_out(plan->progs);
	if (err && err != -ENOMEM)
		put_off(pass, err);
	return err == -ENOMEM ? err : 0;
}

int stat_pass__report_progs(struct stat_pass *pass)
{
	struct counter_plan *plan = &pass->run->plan;

	if (!plan->progs)
		return 0;
	bpf_prog_list__warn_left_out(plan->progs);
	return update_rows(plan);
}
