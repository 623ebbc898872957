// SPDX-License-Identifier: GPL-2.0
#include "bperf_tasks.h"

#include "attr_map.h"
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
	struct leader *leader;
	int *slots;
	int nr_events;
	int nr_scopes;
	int *row_of;			/* scope -> row, -1: another run's */
	struct sum *totals;		/* row x event x CPU, as of the last read */
};

/* --- reading --- */

static struct sum *total_at(const struct bperf_tasks *tasks, int row, int event, int cpu)
{
	return &tasks->totals[(row * tasks->nr_events + event) * tasks->leader->nr_cpus + cpu];
}

static size_t nr_totals(const struct bperf_tasks *tasks)
{
	return (size_t)tasks->nr_scopes * tasks->nr_events * tasks->leader->nr_cpus;
}

/* Whether a class contains a scope of ours. */
static bool is_ours(void *ctx, int class)
{
	const struct bperf_tasks *tasks = ctx;
	const struct reg_class *table = tasks->leader->classes.class;

	for (; class; class = table[class].base) {
		if (tasks->row_of[table[class].scope] >= 0)
			return true;
	}
	return false;
}

/* What one class counted belongs to each of its scopes. */
static void add_class(struct bperf_tasks *tasks, int class)
{
	const struct leader *leader = tasks->leader;
	const struct reg_class *table = leader->classes.class;

	for (int event = 0; event < tasks->nr_events; event++) {
		int pos = classes__event(&leader->classes, class, tasks->slots[event]);

		for (int cpu = 0; pos >= 0 && cpu < leader->nr_cpus; cpu++) {
			struct sum sum = {};

			classes__add_sum(&leader->classes, class, pos, cpu, &leader->cpus[cpu].seq,
					 &sum);
			for (int up = class; up; up = table[up].base) {
				int row = tasks->row_of[table[up].scope];
				struct sum *to;

				if (row < 0)
					continue;
				to = total_at(tasks, row, event, cpu);
				to->counter += sum.counter;
				to->enabled_ns += sum.enabled_ns;
				to->running_ns += sum.running_ns;
			}
		}
	}
}

/* A run died while it moved sums: what it left is finished under the lock. */
static int repair(struct bperf_tasks *tasks)
{
	struct attr_map *attr_map = tasks->leader->attr_map;
	int err = attr_map__relock(attr_map);

	if (err)
		return err;
	leader__repair(tasks->leader);
	attr_map__unlock(attr_map);
	return 0;
}

int bperf_tasks__read(struct bperf_tasks *tasks)
{
	struct leader *leader = tasks->leader;
	int err = leader_tasks__sync(leader, is_ours, tasks);

	while (!err) {
		__s64 gen = classes__begin_read(&leader->classes);

		if (gen < 0) {
			err = repair(tasks);
			continue;
		}
		memset(tasks->totals, 0, nr_totals(tasks) * sizeof(*tasks->totals));
		for (__u32 i = 1; i < leader->registry->nr_classes; i++) {
			__u32 state = __atomic_load_n(&leader->classes.class[i].state,
						      __ATOMIC_ACQUIRE);

			if (state == REG_READY && is_ours(tasks, i))
				add_class(tasks, i);
		}
		if (classes__end_read(&leader->classes, gen))
			break;
	}
	return err;
}

struct counts_values bperf_tasks__on_cpu(const struct bperf_tasks *tasks, int event, int scope,
					 int cpu)
{
	const struct sum *sum = total_at(tasks, scope, event, cpu);

	return (struct counts_values){ sum->counter, sum->enabled_ns, sum->running_ns };
}

struct counts_values bperf_tasks__total(const struct bperf_tasks *tasks, int event, int scope)
{
	struct counts_values total = {};

	for (int cpu = 0; cpu < tasks->leader->nr_cpus; cpu++) {
		struct counts_values one = bperf_tasks__on_cpu(tasks, event, scope, cpu);

		total.val += one.val;
		total.ena += one.ena;
		total.run += one.run;
	}
	return total;
}

int bperf_tasks__nr_scopes(const struct bperf_tasks *tasks)
{
	return tasks->nr_scopes;
}

/* --- marking --- */

static int compare_slots(const void *a, const void *b)
{
	return *(const __u16 *)a - *(const __u16 *)b;
}

static int add_scopes(struct bperf_tasks *tasks, const bool *is_switches, bool inherits,
		      int *scopes)
{
	__u16 slots[SET_EVENTS];
	__u8 switches[SET_EVENTS];

	if (tasks->nr_events > SET_EVENTS)
		return -E2BIG;
	for (int i = 0; i < tasks->nr_events; i++)
		slots[i] = tasks->slots[i];
	qsort(slots, tasks->nr_events, sizeof(slots[0]), compare_slots);
	for (int i = 0; i < tasks->nr_events; i++) {
		for (int e = 0; e < tasks->nr_events; e++) {
			if (tasks->slots[e] == slots[i])
				switches[i] = is_switches[e];
		}
	}
	for (int row = 0; row < tasks->nr_scopes; row++) {
		scopes[row] = leader_tasks__add_scope(tasks->leader, slots, switches,
						      tasks->nr_events, inherits);
		if (scopes[row] < 0)
			return scopes[row];
		tasks->row_of[scopes[row]] = row;
	}
	return 0;
}

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
						    scopes[tasks->nr_scopes > 1 ? nr : 0], false };
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

		err = mark_round(tasks->leader, list, nr, when, &is_changed);
		if (err)
			return err;
		if (is_changed && !is_held) {
			has_waited = false;
			continue;
		}
		if (has_waited)
			break;
		has_waited = true;
		err = leader_tasks__wait(tasks->leader);
	}
	/* From here on no CPU is in a class that it should have left. */
	if (!err && !is_held)
		err = leader_tasks__sync(tasks->leader, NULL, NULL);
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
		     const bool *is_switches, int nr, struct bperf_tasks **out)
{
	int *scopes __cleanup(free_ptr) = NULL;
	struct bperf_tasks *tasks = calloc(1, sizeof(*tasks));
	int err = -ENOMEM;

	if (!tasks)
		return -ENOMEM;
	tasks->leader = leader;
	tasks->nr_events = nr;
	tasks->nr_scopes = plan->target->per_thread ? plan->threads->nr : 1;
	tasks->slots = malloc(nr * sizeof(*slots) + 1);
	tasks->row_of = malloc(MAX_SCOPES * sizeof(*tasks->row_of));
	tasks->totals = calloc(nr_totals(tasks) + 1, sizeof(*tasks->totals));
	scopes = malloc(tasks->nr_scopes * sizeof(*scopes));
	if (tasks->slots && tasks->row_of && tasks->totals && scopes) {
		memcpy(tasks->slots, slots, nr * sizeof(*slots));
		memset(tasks->row_of, -1, MAX_SCOPES * sizeof(*tasks->row_of));
		err = leader_tasks__attach(leader);
	}
	if (!err)
		err = add_scopes(tasks, is_switches, !plan->target->no_inherit, scopes);
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
	free(tasks->slots);
	free(tasks->row_of);
	free(tasks->totals);
	free(tasks);
}
