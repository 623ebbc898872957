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
	int found = leader_tasks__mark(m->tasks->leader, scope, kind, nr, when, &m->is_changed);

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
		err = mark_one(m, m->scopes[m->tasks->nr_scopes > 1 ? i : 0], MARK_THREAD,
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
		err = leader_tasks__wait(tasks->leader);
		if (err)
			return err;
	}
	/* From here on no CPU is in a class that it should have left. */
	if (!is_held)
		err = leader_tasks__sync(tasks->leader, NULL, NULL);
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
	free(tasks->slots);
	free(tasks->row_of);
	free(tasks->totals);
	free(tasks);
}
