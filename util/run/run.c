// SPDX-License-Identifier: GPL-2.0
#include "util/run/run.h"

#include "util/host/capability.h"
#include "util/host/sd_notify.h"
#include "util/lib/msg.h"
#include "util/lib/util.h"
#include "util/run/cgroups.h"
#include "util/run/loop.h"
#include "util/run/pass.h"
#include "util/run/progs.h"
#include "util/run/sink.h"
#include "util/run/tasks.h"
#include "util/target/thread_map.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int start(struct stat_pass *pass)
{
	struct stat_run *run = pass->run;
	int err = 0;

	stat_pass__start_clock(pass);
	/* With --control, nothing may ever be enabled. The table is printed anyway. */
	if (run->delay_ms < 0)
		stat_pass__note_begin(pass);
	if (run->delay_ms)
		pr_note("Events disabled\n");
	else
		err = stat_pass__enable(pass);
	if (err)
		return err;
	if (run->delay_ms > 0) {
		pass->enable_at_ns = pass->start_ns + run->delay_ms * NSEC_PER_MSEC;
		pass->next_print_ns = pass->end_at_ns = 0;
	}
	/* NOTIFY_SOCKET belongs to the workload. */
	if (!pass->workload.pid) {
		sd_notify__ready();
		return 0;
	}
	err = workload__start(&pass->workload);
	if (!err)
		return 0;
	msg__count_error();
	pr_text("Workload failed: '%s': %s\n", run->target.argv[0], strerror(-err));
	return err;
}

static int finish(struct stat_pass *pass)
{
	struct stat_run *run = pass->run;
	struct stat_times times;
	struct stat_round round = {.times = &times};
	int err;

	stat_pass__add_last_cgroups(pass, false);
	err = stat_pass__disable(pass);
	times.elapsed_ns = clock_ns() - pass->start_ns;
	if (!err)
		err = stat_pass__read(pass);
	times.user_ns = pass->workload.user_ns;
	times.sys_ns = pass->workload.sys_ns;
	/* The rest since the last interval; none after the last one of --interval-count. */
	round.is_interval =
		run->config.options.interval_ms && (!run->interval_count || pass->next_print_ns);
	round.time_ns = times.elapsed_ns;
	return err ? err : stat_sinks__round(run->sinks, run, &round);
}

/* Release the last pass; @is_followed: shared events stay open for the next one. */
static void end_pass(struct stat_run *run, bool is_followed)
{
	struct stat_pass *pass = run->pass;

	run->pass = NULL;
	if (!pass)
		return;
	stat_pass__close(pass, is_followed);
	stat_pass__release_tasks(pass);
	free(pass);
}

void stat_run__end(struct stat_run *run)
{
	end_pass(run, false);
	if (run->parked)
		run->parked->ops->destroy(run->parked);
	run->parked = NULL;
}

/* Return: 0 or -errno after a message. */
static int fork_workload(struct stat_pass *pass)
{
	struct stat_run *run = pass->run;
	int err;

	if (!run->target.argc)
		return 0;
	err = workload__fork(&pass->workload, run->target.argv, run->stdout_has_data);
	if (err) {
		pr_err("cannot start '%s': %s", run->target.argv[0], strerror(-err));
		return err;
	}
	run->plan.workload = &pass->workload;
	return 0;
}

/* Return: 0 or -errno. */
static int open_pass(struct stat_pass *pass)
{
	struct stat_run *run = pass->run;
	int err;

	capability__raise();
	stat_pass__look_for_progs(pass);
	err = stat_pass__open(pass);
	if (!err)
		err = stat_pass__report_progs(pass);
	if (err) {
		if (run->refusals)
			run->refusals->print(run->refusals, NULL);
		return err;
	}
	stat_pass__lower_privileges(pass);
	err = stat_pass__check_opened(pass);
	run->is_opened = true;
	return err;
}

/* Return: 0 or -errno. */
static int count(struct stat_pass *pass)
{
	struct stat_run *run = pass->run;
	int err = stat_pass__watch_tasks(pass);

	/* Opening may have waited since the list was made, and follows new cgroups only from now on. */
	if (!err)
		stat_pass__add_last_cgroups(pass, true);
	if (!err)
		err = stat_sinks__begin(run->sinks, run);
	if (!err)
		err = start(pass);
	if (err)
		return err;
	err = stat_pass__loop(pass);
	/* Count what a command does while it exits. */
	workload__end(&pass->workload);
	run->was_too_early = !pass->has_begun && *run->signal;
	if (err || run->was_too_early)
		return err;
	run->has_begun = true;
	return finish(pass);
}

/* A function that knows more has written a message; a signal needs none. */
static void report_failure(int err, unsigned int nr_errors)
{
	if (err == -EINTR || err == -ETIMEDOUT || msg__nr_errors() != nr_errors)
		return;
	pr_err("counting failed: %s", err == -ENOMEM ? "out of memory" : strerror(-err));
}

/* Return: 0 or -errno. */
static int carry_out(struct stat_pass *pass, int *status)
{
	struct stat_run *run = pass->run;
	int err = open_pass(pass);

	if (err)
		return err;
	err = count(pass);
	run->has_counted = !err;
	*status = stat_pass__status(pass);
	return err;
}

enum stat_status stat_run__once(struct stat_run *run, int *status)
{
	unsigned int nr_errors = msg__nr_errors();
	bool is_valid = true;
	struct stat_pass *pass;
	int err;

	end_pass(run, true);
	*status = 0;
	pass = run->pass = calloc(1, sizeof(*pass));
	if (!pass) {
		pr_err("out of memory");
		return STATUS_FAILED;
	}
	pass->run = run;
	run->plan.target = &run->target;
	run->plan.workload = NULL;
	err = fork_workload(pass);
	run->plan.enable_on_exec = target__has_task(&run->target) && run->target.argc &&
				   !target__is_attached(&run->target) && !run->delay_ms;
	if (!err) {
		err = stat_pass__find_threads(pass);
		is_valid = !err;
	}
	if (!err)
		err = carry_out(pass, status);
	if (err) {
		report_failure(err, nr_errors);
		end_pass(run, false);
	}
	return !err ? STATUS_OK : is_valid ? STATUS_FAILED : STATUS_INVALID;
}
