// SPDX-License-Identifier: GPL-2.0
#include "util/run/pass.h"

#include "util/counter/bperf.h"
#include "util/counter/plain.h"
#include "util/counter/tool.h"
#include "util/event/evlist.h"
#include "util/event/open_error.h"
#include "util/host/capability.h"
#include "util/host/cpumap.h"
#include "util/host/perf_event.h"
#include "util/lib/msg.h"
#include "util/lib/util.h"
#include "util/target/cgroup_list.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static struct counter *(*const makers[NR_BACK_ENDS])(const struct counter_plan *) = {
	[BACK_END_PLAIN] = counter_plain__new,
	[BACK_END_BPERF] = counter_bperf__new,
	[BACK_END_TOOL] = counter_tool__new,
};

static enum back_end back_end_of(const struct stat_pass *pass, const struct evsel *evsel)
{
	if (evsel->tool != TOOL_NONE)
		return BACK_END_TOOL;
	return evsel->share && !pass->is_private ? BACK_END_BPERF : BACK_END_PLAIN;
}

/* Return: whether the event is a free place for a cgroup to come. */
static bool is_vacant(const struct evsel *evsel)
{
	return evsel->cgroup && evsel->cgroup->state == CGROUP_FREE;
}

int stat_pass__assign_counters(struct stat_pass *pass, int first)
{
	const struct counter_plan *plan = &pass->run->plan;

	for (int i = first; i < plan->evlist->nr; i++) {
		struct evsel *evsel = plan->evlist->evsels[i];
		enum back_end kind = back_end_of(pass, evsel);

		evsel->in_progs = plan->progs && kind == BACK_END_BPERF;
		evsel->threads = evsel->in_progs ? plan->prog_rows : plan->threads;
		/* Reset: the event may have been shared before. */
		evsel->threads_as_one = evsel->cpus_as_one = false;
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

/* The leader's maps, programs and links, and those that libbpf makes to probe the kernel. */
#define SHARING_FDS 96

int stat_pass__reserve_to_share(void)
{
	unsigned long limit = 0;
	int err = perf_event__reserve(SHARING_FDS, &limit);

	if (err)
		pr_err("cannot share events: too many open files: the limit is %lu, sharing needs %d: raise the limit with ulimit -n",
		       limit, SHARING_FDS + PERF_EVENT_SPARE_FDS);
	return err;
}

static int open_counter(struct counter *counter, struct refusal_sink *refusals)
{
	int err;

	counter->refusals = refusals;
	err = counter->ops->open(counter);
	counter->refusals = NULL;
	return err;
}

static int open_all(struct stat_pass *pass)
{
	int err = stat_pass__assign_counters(pass, 0);

	if (!err && pass->counters[BACK_END_BPERF])
		err = stat_pass__reserve_to_share();
	for (int c = 0; c < NR_BACK_ENDS && !err; c++) {
		if (pass->counters[c])
			err = open_counter(pass->counters[c], pass->run->refusals);
	}
	return err;
}

int stat_pass__open(struct stat_pass *pass)
{
	struct stat_run *run = pass->run;
	int err;

	pass->counters[BACK_END_BPERF] = run->parked;
	run->parked = NULL;
	if (run->refusals)
		run->refusals->begin(run->refusals);
	err = open_all(pass);
	/* For example, another session holds a lock for long. */
	if (err == COUNT_OTHERWISE) {
		stat_pass__close(pass, false);
		pass->is_private = true;
		err = open_all(pass);
	}
	if (run->refusals)
		run->refusals->end(run->refusals);
	return err;
}

void stat_pass__lower_privileges(const struct stat_pass *pass)
{
	const struct stat_run *run = pass->run;

	if (!pass->counters[BACK_END_BPERF] && run->config.options.run_count == 1 &&
	    !run->plan.cgroups->follows)
		capability__drop();
	else
		capability__lower();
}

static bool is_denied(const struct evsel *evsel)
{
	return evsel->err == EACCES || evsel->err == EPERM;
}

static void warn_unsupported(const struct stat_run *run, const struct evsel *evsel)
{
	char *text __cleanup(free_ptr) = open_error__text(evsel, &run->target);

	if (text && run->refusals)
		pr_warn("%s (%s)", text, strerror(evsel->err));
	else if (text)
		pr_verbose("%s (%s)", text, strerror(evsel->err));
}

static void explain(const struct stat_run *run, const struct evsel *evsel)
{
	if (run->refusals)
		run->refusals->print(run->refusals, evsel);
}

/*
 * If no event can be counted, the workload is not started. The error names the reason of the last
 * event, but prefers missing permissions: the user can get those. For the default set it is the first.
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
		else if (!last || !is_denied(last) || (is_denied(evsel) && !evsel->is_default))
			last = evsel;
	}
	if (!is_counting && last) {
		msg__count_error();
		pr_text("Error:\nNo supported events found.\n");
		open_error__print(last, &run->target);
		explain(run, last);
		return -ENODEV;
	}
	evlist__for_each(run->plan.evlist, evsel, i) {
		if (evsel->state == EVSEL_SKIPPED || evsel->is_latency)
			open_error__warn(evsel, &run->target);
		else if (evsel->state == EVSEL_NOT_SUPPORTED && !evsel->is_default)
			warn_unsupported(run, evsel);
		/* Each repeat opens the events again. */
		else if (evsel->state == EVSEL_NOT_SUPPORTED && evsel->keep_row && !run->is_opened)
			open_error__warn_default(evsel, &run->target);
		if (evsel->state != EVSEL_COUNTING)
			explain(run, evsel);
	}
	return 0;
}

int stat_pass__wakeup_fd(const struct stat_pass *pass, enum back_end back_end)
{
	struct counter *counter = pass->counters[back_end];

	return counter && counter->ops->wakeup_fd ? counter->ops->wakeup_fd(counter) : -1;
}

void stat_pass__start_clock(struct stat_pass *pass)
{
	const struct stat_run *run = pass->run;

	pass->start_ns = clock_ns();
	if (run->config.options.interval_ms)
		pass->next_print_ns =
			pass->start_ns + run->config.options.interval_ms * NSEC_PER_MSEC;
	if (run->timeout_ms)
		pass->end_at_ns = pass->start_ns + run->timeout_ms * NSEC_PER_MSEC;
}

void stat_pass__note_begin(struct stat_pass *pass)
{
	pass->has_begun = pass->run->has_begun = true;
}

int stat_pass__enable(struct stat_pass *pass)
{
	int err = 0;

	stat_pass__note_begin(pass);
	for (int c = 0; c < NR_BACK_ENDS && !err; c++) {
		if (pass->counters[c])
			err = pass->counters[c]->ops->enable(pass->counters[c]);
	}
	pass->is_enabled = true;
	return err;
}

/* Use the reverse order of stat_pass__enable(): windows nest. */
int stat_pass__disable(struct stat_pass *pass)
{
	int err = 0;

	for (int c = NR_BACK_ENDS - 1; c >= 0; c--) {
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

	for (int c = 0; c < NR_BACK_ENDS && !err; c++) {
		if (pass->counters[c])
			err = pass->counters[c]->ops->read(pass->counters[c]);
	}
	return err;
}

int stat_pass__call(struct stat_pass *pass,
		    int (*op_of(const struct counter_ops *ops))(struct counter *))
{
	int err = 0;

	for (int c = 0; c < NR_BACK_ENDS && !err; c++) {
		struct counter *counter = pass->counters[c];
		int (*op)(struct counter *) = counter ? op_of(counter->ops) : NULL;

		err = op ? op(counter) : 0;
	}
	return err;
}

void stat_pass__close(struct stat_pass *pass, bool keep)
{
	struct stat_run *run = pass->run;

	for (int c = 0; c < NR_BACK_ENDS; c++) {
		struct counter *counter = pass->counters[c];

		if (keep && counter && counter->ops->park && !counter->ops->park(counter))
			run->parked = counter;
		else if (counter)
			counter->ops->destroy(counter);
		pass->counters[c] = NULL;
	}
}
