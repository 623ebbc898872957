// SPDX-License-Identifier: GPL-2.0
/* The back ends of a run: which one counts an event, and all of them at once. */
#include "stat_pass.h"

#include "capability.h"
#include "cgroup.h"
#include "cpumap.h"
#include "evlist.h"
#include "explain.h"
#include "msg.h"
#include "open_error.h"
#include "util.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static struct counter *(*const makers[NR_COUNTERS])(const struct counter_plan *) = {
	[PLAIN] = counter_plain__new,
	[BPERF] = counter_bperf__new,
	[TOOL] = counter_tool__new,
};

static int counter_kind(const struct evsel *evsel)
{
	if (evsel->tool != TOOL_NONE)
		return TOOL;
	return evsel->share ? BPERF : PLAIN;
}

/* Kept for a cgroup to come. */
static bool is_vacant(const struct evsel *evsel)
{
	return evsel->cgroup && evsel->cgroup->state == CGROUP_FREE;
}

int stat_pass__assign_counters(struct stat_pass *pass, int first)
{
	const struct counter_plan *plan = &pass->run->plan;

	for (int i = first; i < plan->evlist->nr; i++) {
		struct evsel *evsel = plan->evlist->evsels[i];
		int kind = counter_kind(evsel);

		evsel->in_progs = plan->progs && kind == BPERF;
		evsel->threads = evsel->in_progs ? plan->prog_rows : plan->threads;
		evsel->state = EVSEL_UNOPENED;
		evsel->err = 0;
		free(evsel->counts);
		evsel->counts = NULL;
		evsel->counter = NULL;
		/* A CPU list and a PMU's own CPUs may have none in common. */
		if (!evsel->cpus->nr) {
			evsel->state = EVSEL_NOT_SUPPORTED;
			evsel->err = ENODEV;
			continue;
		}
		if (!pass->counters[kind])
			pass->counters[kind] = makers[kind](plan);
		if (!pass->counters[kind])
			return -ENOMEM;
		evsel->counter = pass->counters[kind];
	}
	return 0;
}

int stat_pass__open(struct stat_pass *pass)
{
	struct stat_run *run = pass->run;
	int err;

	pass->counters[BPERF] = run->kept;
	run->kept = NULL;
	err = stat_pass__assign_counters(pass, 0);
	for (int c = 0; c < NR_COUNTERS && !err; c++) {
		if (pass->counters[c])
			err = pass->counters[c]->ops->open(pass->counters[c]);
	}
	return err;
}

/* What is shared is left, and events are opened again, with privileges. */
void stat_pass__lower_privileges(const struct stat_pass *pass)
{
	const struct stat_run *run = pass->run;

	if (!pass->counters[BPERF] && run->config.run_count == 1 && !run->plan.cgroups->follows)
		capability__drop();
	else
		capability__lower();
}

static bool is_denied(const struct evsel *evsel)
{
	return evsel->err == EACCES || evsel->err == EPERM;
}

static void say_unsupported(const struct stat_run *run, const struct evsel *evsel)
{
	char *text __cleanup(free_ptr) = open_error__text(evsel, &run->target);

	if (text && run->explain)
		pr_warn("%s (%s)", text, strerror(evsel->err));
	else if (text)
		pr_verbose("%s (%s)", text, strerror(evsel->err));
}

/*
 * Without any event there is nothing to count, and the workload is not started. The reason given
 * then is the last one, but for missing permissions: those can be had.
 */
int stat_pass__check_opened(const struct stat_pass *pass)
{
	const struct stat_run *run = pass->run;
	const struct evsel *last = NULL;
	struct evsel *evsel;
	bool is_counting = false;
	int i;

	evlist__for_each(run->plan.evlist, evsel, i) {
		if (is_vacant(evsel))
			is_counting = true;
		else if (evsel->state == EVSEL_COUNTING)
			is_counting |= !evsel->hidden;
		else if (!last || is_denied(evsel) || !is_denied(last))
			last = evsel;
	}
	if (!is_counting && last) {
		pr_text("Error:\nNo supported events found.\n");
		open_error__print(last, &run->target);
		explain__print(run->plan.explain, last->idx, last->name);
		return STATUS_FAILED;
	}
	evlist__for_each(run->plan.evlist, evsel, i) {
		if (evsel->state == EVSEL_SKIPPED)
			open_error__warn(evsel, &run->target);
		else if (evsel->state == EVSEL_NOT_SUPPORTED && !evsel->is_default)
			say_unsupported(run, evsel);
		if (evsel->state != EVSEL_COUNTING)
			explain__print(run->plan.explain, evsel->idx, evsel->name);
	}
	return 0;
}

int stat_pass__calls_fd(const struct stat_pass *pass, int c)
{
	struct counter *counter = pass->counters[c];

	return counter && counter->ops->calls_fd ? counter->ops->calls_fd(counter) : -1;
}

void stat_pass__start_clock(struct stat_pass *pass)
{
	const struct stat_run *run = pass->run;

	pass->start_ns = clock_ns();
	if (run->config.interval_ms)
		pass->next_print_ns = pass->start_ns + run->config.interval_ms * NSEC_PER_MSEC;
	if (run->timeout_ms)
		pass->end_at_ns = pass->start_ns + run->timeout_ms * NSEC_PER_MSEC;
}

int stat_pass__enable(struct stat_pass *pass)
{
	int err = 0;

	for (int c = 0; c < NR_COUNTERS && !err; c++) {
		if (pass->counters[c])
			err = pass->counters[c]->ops->enable(pass->counters[c]);
	}
	pass->is_enabled = true;
	return err;
}

/* In the reverse order of stat_pass__enable(), so that windows nest. */
int stat_pass__disable(struct stat_pass *pass)
{
	int err = 0;

	for (int c = NR_COUNTERS - 1; c >= 0; c--) {
		int one = 0;

		if (pass->counters[c])
			one = pass->counters[c]->ops->disable(pass->counters[c]);
		err = err ? err : one;
	}
	pass->is_enabled = false;
	return err;
}

int stat_pass__read(struct stat_pass *pass)
{
	int err = 0;

	for (int c = 0; c < NR_COUNTERS && !err; c++) {
		if (pass->counters[c])
			err = pass->counters[c]->ops->read(pass->counters[c]);
	}
	return err;
}

int stat_pass__call(struct stat_pass *pass,
		    int (*op_of(const struct counter_ops *ops))(struct counter *))
{
	int err = 0;

	for (int c = 0; c < NR_COUNTERS && !err; c++) {
		struct counter *counter = pass->counters[c];
		int (*op)(struct counter *) = counter ? op_of(counter->ops) : NULL;

		err = op ? op(counter) : 0;
	}
	return err;
}

void stat_pass__close(struct stat_pass *pass, bool keep)
{
	struct stat_run *run = pass->run;

	for (int c = 0; c < NR_COUNTERS; c++) {
		struct counter *counter = pass->counters[c];

		if (keep && counter && counter->ops->retire && !counter->ops->retire(counter))
			run->kept = counter;
		else if (counter)
			counter->ops->destroy(counter);
	}
}

void stat_run__end(struct stat_run *run)
{
	if (!run->kept)
		return;
	run->kept->ops->destroy(run->kept);
	run->kept = NULL;
}
