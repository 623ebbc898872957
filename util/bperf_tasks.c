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

/* A process, or a thread, and the row that counts it. */
struct marked {
	enum mark_kind kind;
	pid_t nr;
	int scope;
	bool is_found;
};

/*
 * What is to be marked: whole processes, when all their threads count in one row; else the threads
 * that were found. Return: how many, or -ENOMEM.
 */
static int list_marked(const struct bperf_tasks *tasks, const struct counter_plan *plan,
		       const int *scopes, struct marked **out)
{
	const struct target *target = plan->target;
	const struct thread_map *threads = plan->threads;
	const char *pos = target->pid_list;
	int nr = 0, cap = threads->nr;
	struct marked *list;

	/* There is a thread of each process in the list, but processes may be in it twice. */
	for (const char *c = pos; c && *c; c++)
		cap += *c == ',';
	list = calloc(cap + 1, sizeof(*list));
	if (!list)
		return -ENOMEM;
	if (pos && !target->per_thread && !target->no_inherit) {
		while (*pos) {
			char *end;

			list[nr++] = (struct marked){ MARK_PROCESS, strtol(pos, &end, 10), scopes[0], false };
			pos = *end ? end + 1 : end;
		}
	} else {
		for (; nr < threads->nr; nr++)
			list[nr] = (struct marked){ MARK_THREAD, threads->thread[nr].tid,
						    scopes[tasks->scopes.nr_rows > 1 ? nr : 0], false };
	}
	*out = list;
	return nr;
}

static int mark_round(struct leader *leader, struct marked *list, int nr, enum mark_when when,
		      bool *is_changed)
{
	for (int i = 0; i < nr; i++) {
		int found = leader_tasks__mark(leader, list[i].scope, list[i].kind, list[i].nr, when,
					       is_changed);

		if (found < 0)
			return found;
		if (found)
			list[i].is_found = true;
	}
	return 0;
}

/*
 * -ESRCH: none was found; of several named by the user, those that were not are told. (Of all tasks
 * in /proc some always are on their way out.)
 */
static int check_found(const struct target *target, const struct marked *list, int nr)
{
	int nr_found = 0;

	for (int i = 0; i < nr; i++)
		nr_found += list[i].is_found;
	for (int i = 0; i < nr && nr_found && target__is_attached(target); i++) {
		if (!list[i].is_found)
			pr_warn("%s %d has ended: not counted",
				list[i].kind == MARK_PROCESS ? "process" : "thread", list[i].nr);
	}
	return nr_found ? 0 : -ESRCH;
}

static int mark(struct bperf_tasks *tasks, const struct counter_plan *plan, const int *scopes)
{
	/* A workload before its exec neither forks nor ends: one look is enough. */
	bool is_held = plan->workload && !target__is_attached(plan->target), has_waited = is_held;
	enum mark_when when = plan->enable_on_exec ? MARK_AT_EXEC : MARK_NOW;
	struct marked *list __cleanup(free_ptr) = NULL;
	int nr = list_marked(tasks, plan, scopes, &list);
	int err = nr < 0 ? nr : 0;

	while (!err) {
		bool is_changed = false;

		err = mark_round(tasks->scopes.leader, list, nr, when, &is_changed);
		if (err)
			return err;
		if (is_changed && !is_held) {
			has_waited = false;
			continue;
		}
		if (has_waited)
			break;
		has_waited = true;
		err = leader_tasks__wait(tasks->scopes.leader);
	}
	/* From here on no CPU is in a class that it should have left. */
	if (!err && !is_held)
		err = leader_tasks__sync(tasks->scopes.leader, NULL, NULL);
	return err ? err : check_found(plan->target, list, nr);
}

static void explain(const struct leader *leader, int err)
{
	static const struct {
		const char *what;
		int max;
	} limits[] = {
		[FULL_SCOPES] = { "rows of tasks (a run has one, with --per-thread each thread)",
				  MAX_SCOPES - 1 },
		[FULL_CLASSES] = { "different sets of runs that count a task", FOR_JOINING(MAX_CLASSES) - 1 },
		[FULL_SETS] = { "different sets of events", FOR_JOINING(MAX_SETS) - 1 },
		[FULL_CELLS] = { "sums of events (an event of a set of runs is one)", FOR_JOINING(MAX_CELLS) },
		[FULL_TASKS] = { "tasks", MAX_TASKS },
	};
	enum classes_full full = leader->classes.full;

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
		pr_err("cannot share events: all runs together count too many %s: at most %d (count fewer, or end other runs)",
		       limits[full].what, limits[full].max);
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
		explain(leader, err);
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
