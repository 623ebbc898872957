// SPDX-License-Identifier: GPL-2.0
/* The life of one pass: start the workload, open, count, end, clear up. */
#include "stat_pass.h"

#include "capability.h"
#include "explain.h"
#include "msg.h"
#include "stat_record.h"
#include "supervisor.h"
#include "thread_map.h"
#include "util.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int start(struct stat_pass *pass)
{
	struct stat_run *run = pass->run;
	int err = 0;

	stat_pass__start_clock(pass);
	if (run->delay_ms)
		pr_text("Events disabled\n");
	else
		err = stat_pass__enable(pass);
	if (err)
		return err;
	if (run->delay_ms > 0) {
		pass->enable_at_ns = pass->start_ns + run->delay_ms * NSEC_PER_MSEC;
		pass->next_print_ns = pass->end_at_ns = 0;
	}
	/* Of a command the variable is its own business. */
	if (!pass->workload.pid) {
		supervisor__ready();
		return 0;
	}
	err = workload__start(&pass->workload);
	if (err)
		pr_text("Workload failed: %s\n", strerror(-err));
	return err;
}

static int finish(struct stat_pass *pass)
{
	struct stat_run *run = pass->run;
	struct stat_times times;
	bool is_interval;
	int added = stat_pass__add_cgroups(pass), err = stat_pass__disable(pass);

	times.elapsed_ns = clock_ns() - pass->start_ns;
	if (!err)
		err = stat_pass__read(pass);
	times.user_ns = pass->workload.user_ns;
	times.sys_ns = pass->workload.sys_ns;
	/* What is left since the last interval. */
	is_interval = run->config.interval_ms && (!run->interval_count || pass->next_print_ns);
	if (!err && is_interval)
		err = stat__interval(run->stat, times.elapsed_ns);
	if (!err && run->record)
		err = stat_record__round(run->record, run->plan.evlist,
					 is_interval ? ROUND_INTERVAL : ROUND_FINAL, times.elapsed_ns,
					 &times);
	if (!err)
		err = stat__run_done(run->stat, &times);
	return err ? err : added;
}

int stat_run__once(struct stat_run *run, int *status)
{
	struct stat_pass pass = { .run = run };
	int err = 0, failed = 0;

	*status = 0;
	run->plan.target = &run->target;
	run->plan.workload = NULL;
	if (run->target.argc) {
		err = workload__fork(&pass.workload, run->target.argv,
				     run->record && stat_record__is_stdout(run->record));
		if (err) {
			pr_err("cannot start '%s': %s", run->target.argv[0], strerror(-err));
			return STATUS_FAILED;
		}
		run->plan.workload = &pass.workload;
	}
	run->plan.enable_on_exec = target__has_task(&run->target) && run->target.argc &&
				   !target__is_attached(&run->target) && !run->delay_ms;
	failed = stat_pass__find_threads(&pass);
	if (failed)
		goto out;
	failed = STATUS_FAILED;
	capability__raise();
	run->plan.explain = run->explain ? explain__start() : NULL;
	err = stat_pass__open(&pass);
	explain__stop(run->plan.explain);
	if (err) {
		explain__print(run->plan.explain, -1, "sharing");
		goto out;
	}
	stat_pass__lower_privileges(&pass);
	if (stat_pass__check_opened(&pass))
		goto out;
	if (stat_pass__watch_tasks(&pass))
		goto out;
	if (run->record && stat_record__begin(run->record, run))
		goto out;
	err = start(&pass);
	if (err)
		goto out;
	err = stat_pass__loop(&pass);
	/* What a command does on the way out is counted, too. */
	workload__end(&pass.workload);
	if (!err)
		err = finish(&pass);
	failed = err ? STATUS_FAILED : 0;
	run->has_counted = !err;
	*status = stat_pass__status(&pass);
out:
	if (err == -ENOMEM)
		pr_err("out of memory");
	explain__delete(run->plan.explain);
	run->plan.explain = NULL;
	/* Between the passes of a series, what is shared stays open; it is ours to close when one fails. */
	stat_pass__close(&pass, !failed && run->config.run_count != 1 && !*run->signal);
	stat_pass__release_tasks(&pass);
	return failed;
}
