// SPDX-License-Identifier: GPL-2.0
/* Count shared events in tasks, in one row or a row for each thread. */

#include "util/bperf/leader_sync.h"
#include "util/bperf/leader_tasks.h"
#include "util/bperf/task_walk.h"
#include "util/counter/bperf_internal.h"
#include "util/counter/bperf_open.h"
#include "util/counter/scope_counter.h"
#include "util/event/evlist.h"
#include "util/host/cpumap.h"
#include "util/lib/msg.h"
#include "util/lib/util.h"
#include "util/target/target.h"
#include "util/target/thread_map.h"

#include <errno.h>
#include <string.h>

struct task_counter {
	struct scope_counter base;
	bool begins_at_exec; /* the first read() is the workload's exec, which is yet to come */
};

/* --- assigning tasks to scopes --- */

/* A process or a thread, and the scope that counts it. */
struct assigned {
	enum walk_kind kind;
	pid_t nr;
	int scope;
	bool is_found;
};

/*
 * List whole processes if all of their threads count in one row, otherwise the threads that were
 * found. Return: how many, or -ENOMEM.
 */
static int list_assigned(const struct bperf_rows *rows, const struct counter_plan *plan,
			 struct assigned **out)
{
	const struct target *target = plan->target;
	const struct thread_map *threads = plan->threads;
	const char *pos = target->pid_list;
	int nr = 0, cap = threads->nr;
	struct assigned *list;

	/* A thread of each process is in the list, but the user may have named a process twice. */
	for (const char *c = pos; c && *c; c++)
		cap += *c == ',';
	list = calloc(cap + 1, sizeof(*list));
	if (!list)
		return -ENOMEM;
	if (pos && !target->per_thread && !target->no_inherit) {
		while (*pos) {
			char *end;

			list[nr++] = (struct assigned){WALK_PROCESS, strtol(pos, &end, 10),
						       rows->scope_of[0], false};
			pos = *end ? end + 1 : end;
		}
	} else {
		for (; nr < threads->nr; nr++)
			list[nr] = (struct assigned){WALK_THREAD, threads->thread[nr].tid,
						     rows->scope_of[rows->nr_rows > 1 ? nr : 0],
						     false};
	}
	*out = list;
	return nr;
}

static int walk_round(struct bperf_leader *leader, struct assigned *list, int nr,
		      enum walk_when when, bool *is_changed)
{
	for (int i = 0; i < nr; i++) {
		int found = task_walk__assign(leader, list[i].scope, list[i].kind, list[i].nr, when,
					      is_changed);

		if (found < 0)
			return found;
		if (found)
			list[i].is_found = true;
	}
	return 0;
}

/*
 * Warn about tasks that the user named and that have ended. (In /proc some tasks always are on their way
 * out.) Return: 0; -ESRCH: no task was found.
 */
static int check_found(const struct target *target, const struct assigned *list, int nr)
{
	int nr_found = 0;

	for (int i = 0; i < nr; i++)
		nr_found += list[i].is_found;
	for (int i = 0; i < nr && nr_found && target__is_attached(target); i++) {
		if (!list[i].is_found)
			pr_warn("%s %d has ended: not counted",
				list[i].kind == WALK_PROCESS ? "process" : "thread", list[i].nr);
	}
	return nr_found ? 0 : -ESRCH;
}

static int assign(struct bperf_rows *rows, const struct counter_plan *plan)
{
	/* A workload before its exec neither forks nor ends: one walk is enough. */
	bool is_held = plan->workload && !target__is_attached(plan->target), has_waited = is_held;
	enum walk_when when = plan->enable_on_exec ? WALK_AT_EXEC : WALK_NOW;
	struct assigned *list __cleanup(free_ptr) = NULL;
	int nr = list_assigned(rows, plan, &list);
	int err = nr < 0 ? nr : 0;

	while (!err) {
		bool is_changed = false;

		task_walk__begin_round(rows->leader);
		err = walk_round(rows->leader, list, nr, when, &is_changed);
		if (err)
			return err;
		if (is_changed && !is_held) {
			has_waited = false;
			continue;
		}
		if (has_waited)
			break;
		has_waited = true;
		err = leader_sync__wait();
	}
	/* From here on no CPU is in a scope set that it should have left. */
	if (!err && !is_held)
		err = task_walk__sync(rows->leader);
	return err ? err : check_found(plan->target, list, nr);
}

/* Under the lock. */
static int add_rows(struct scope_counter *self)
{
	struct bperf_rows *rows = &self->rows;
	const struct counter_plan *plan = self->base.bperf->base.plan;
	int err = leader_tasks__attach(rows->leader);

	for (int row = 0; row < rows->nr_rows && !err; row++) {
		int scope = bperf_rows__add(rows, row, !plan->target->no_inherit, 0);

		err = scope < 0 ? scope : 0;
	}
	return err ? err : assign(rows, plan);
}

/* --- operations --- */

static bool task__counts(const struct evsel *evsel)
{
	return evsel->threads && !evsel->in_progs;
}

static struct bpf_counter *task__new(struct bperf *bperf)
{
	struct task_counter *self = calloc(1, sizeof(*self));

	if (!self)
		return NULL;
	self->base.base = (struct bpf_counter){&bperf_task_ops, bperf};
	return &self->base.base;
}

/* All tasks have ended. */
static void refuse_all(const struct bpf_counter *self)
{
	struct evsel *evsel;
	int i;

	evlist__for_each(self->bperf->base.plan->evlist, evsel, i) {
		if (bpf_counter__has(self, evsel))
			bperf_evsel__refuse(evsel, -ESRCH);
	}
}

static int task__open(struct bpf_counter *base)
{
	struct task_counter *self = (struct task_counter *)base;
	const struct counter_plan *plan = base->bperf->base.plan;
	int nr_rows = plan->target->per_thread ? plan->threads->nr : 1;
	int err = scope_counter__open(&self->base, SCOPE_SET_TASK, nr_rows, add_rows);

	self->begins_at_exec = plan->enable_on_exec;
	if (err == -ESRCH) {
		refuse_all(base);
		return 0;
	}
	return err;
}

/* @is_first: they have counted nothing yet */
static void account_rows(struct scope_counter *self, struct evsel *evsel, bool is_first)
{
	const struct bperf_evsel *priv = evsel->priv;
	const struct counts *counts = evsel->counts;

	for (int c = 0; c < counts->nr_cpus; c++) {
		for (int row = 0; row < self->rows.nr_rows; row++) {
			struct counts_values now = {};

			if (!is_first)
				now = bperf_rows__reading(&self->rows, priv->event, row,
							  evsel->cpus->cpu[c]);
			scope_counter__account(self, evsel, c * counts->nr_threads + row, &now);
		}
	}
}

/*
 * The first read of a workload happens before its exec. The sums start at the exec, so the window
 * begins at 0 and nothing is read.
 */
static void task__read(struct bpf_counter *base)
{
	struct task_counter *self = (struct task_counter *)base;
	bool is_first = self->begins_at_exec;
	struct evsel *evsel;
	int i;

	self->begins_at_exec = false;
	if (is_first)
		scope_counter__note_failed(&self->base);
	else if (!scope_counter__read(&self->base))
		return;
	evlist__for_each(base->bperf->base.plan->evlist, evsel, i) {
		if (bpf_counter__has(base, evsel))
			account_rows(&self->base, evsel, is_first);
	}
}

static void task__report(struct bpf_counter *base)
{
	const struct scope_counter *self = (const struct scope_counter *)base;

	scope_counter__report_missed(self);
	scope_counter__report_exits(self);
	scope_counter__report_unread(self);
}

static void task__delete(struct bpf_counter *base)
{
	scope_counter__clear((struct scope_counter *)base);
	free(base);
}

const struct bpf_counter_ops bperf_task_ops = {
	.counts = task__counts,
	.new = task__new,
	.open = task__open,
	.read = task__read,
	.nr_failed = scope_counter__nr_failed,
	.report = task__report,
	.delete = task__delete,
};
