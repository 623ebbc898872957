// SPDX-License-Identifier: GPL-2.0
#include "bperf_tasks.h"

#include "bperf_scopes.h"
#include "counter.h"
#include "leader.h"
#include "leader_tasks.h"
#include "msg.h"
#include "target.h"
#include "thread_map.h"
#include "util.h"

#include <errno.h>
#include <string.h>

struct bperf_tasks {
	struct bperf_scopes scopes;	/* a row per thread, or one */
};

int bperf_tasks__read(struct bperf_tasks *tasks)
{
	return bperf_scopes__read(&tasks->scopes);
}

struct counts_values bperf_tasks__on_cpu(const struct bperf_tasks *tasks, int event, int row,
					 int cpu)
{
	return bperf_scopes__on_cpu(&tasks->scopes, event, row, cpu);
}

struct counts_values bperf_tasks__total(const struct bperf_tasks *tasks, int event, int row)
{
	return bperf_scopes__total(&tasks->scopes, event, row);
}

int bperf_tasks__nr_scopes(const struct bperf_tasks *tasks)
{
	return tasks->scopes.nr_rows;
}

/* --- marking --- */

/* Where the marking of one target stands. */
struct marking {
	struct bperf_tasks *tasks;
	const struct counter_plan *plan;
	const int *scopes;
	bool is_found;			/* at least one task */
	bool is_changed;		/* in this round */
};

static int mark_one(struct marking *m, int scope, enum mark_kind kind, pid_t nr)
{
	enum mark_when when = m->plan->enable_on_exec ? MARK_AT_EXEC : MARK_NOW;
	int found = leader_tasks__mark(m->tasks->scopes.leader, scope, kind, nr, when, &m->is_changed);

	if (found > 0)
		m->is_found = true;
	return found < 0 ? found : 0;
}

/* Whole processes, when all their threads count in one row; else the threads that were found. */
static int mark_round(struct marking *m)
{
	const struct target *target = m->plan->target;
	const struct thread_map *threads = m->plan->threads;
	int err = 0;

	if (target->pid_list && !target->per_thread && !target->no_inherit) {
		for (const char *pos = target->pid_list; *pos && !err;) {
			char *end;

			err = mark_one(m, m->scopes[0], MARK_PROCESS, strtol(pos, &end, 10));
			pos = *end ? end + 1 : end;
		}
		return err;
	}
	for (int i = 0; i < threads->nr && !err; i++)
		err = mark_one(m, m->scopes[m->tasks->scopes.nr_rows > 1 ? i : 0], MARK_THREAD,
			       threads->thread[i].tid);
	return err;
}

static int mark(struct bperf_tasks *tasks, const struct counter_plan *plan, const int *scopes)
{
	/* A workload before its exec neither forks nor ends: one look is enough. */
	bool is_held = plan->workload && !target__is_attached(plan->target);
	struct marking m = { .tasks = tasks, .plan = plan, .scopes = scopes };
	bool has_waited = is_held;
	int err;

	for (;;) {
		m.is_changed = false;
		err = mark_round(&m);
		if (err)
			return err;
		if (m.is_changed && !is_held) {
			has_waited = false;
			continue;
		}
		if (has_waited)
			break;
		has_waited = true;
		err = leader_tasks__wait(tasks->scopes.leader);
		if (err)
			return err;
	}
	/* From here on no CPU is in a class that it should have left. */
	if (!is_held)
		err = leader_tasks__sync(tasks->scopes.leader, NULL, NULL);
	return err ? err : m.is_found ? 0 : -ESRCH;
}

static void explain(int err)
{
	switch (-err) {
	case ESRCH:
		return;
	case E2BIG:
		pr_err("cannot share events: more than %d different ones on one task", SET_EVENTS);
		return;
	case EOPNOTSUPP:
		pr_err("cannot share events of tasks: this kernel cannot walk over one task alone (needs Linux 6.1)");
		return;
	case ENOSPC:
		pr_err("cannot share events: too many counted tasks or threads (at most %d scopes, %d classes)",
		       MAX_SCOPES - 1, MAX_CLASSES - 1);
		return;
	default:
		pr_err("cannot share events: marking the tasks failed: %s", strerror(-err));
	}
}

int bperf_tasks__new(struct leader *leader, const struct counter_plan *plan, const int *slots,
		     const int *is_switches, int nr, struct bperf_tasks **out)
{
	int nr_rows = plan->target->per_thread ? plan->threads->nr : 1;
	int *scopes __cleanup(free_ptr) = malloc(nr_rows * sizeof(*scopes));
	struct bperf_tasks *tasks = calloc(1, sizeof(*tasks));
	int err = -ENOMEM;

	if (!tasks)
		return -ENOMEM;
	if (scopes)
		err = bperf_scopes__init(&tasks->scopes, leader, OF_TASK, slots, nr, nr_rows);
	if (!err)
		err = leader_tasks__attach(leader);
	for (int row = 0; row < nr_rows && !err; row++) {
		scopes[row] = bperf_scopes__add(&tasks->scopes, row, is_switches,
						!plan->target->no_inherit, 0);
		err = scopes[row] < 0 ? scopes[row] : 0;
	}
	if (!err)
		err = mark(tasks, plan, scopes);
	if (err) {
		explain(err);
		bperf_tasks__delete(tasks);
		return err;
	}
	*out = tasks;
	return 0;
}

void bperf_tasks__delete(struct bperf_tasks *tasks)
{
	if (!tasks)
		return;
	bperf_scopes__clear(&tasks->scopes);
	free(tasks);
}
