// SPDX-License-Identifier: GPL-2.0
#include "bperf_scopes.h"

#include "attr_map.h"
#include "leader.h"
#include "leader_cgroups.h"
#include "leader_scopes.h"
#include "leader_tasks.h"
#include "msg.h"
#include "util.h"

#include <errno.h>
#include <string.h>

/* --- reading --- */

static struct sum *total_at(const struct bperf_scopes *scopes, int row, int event, int cpu)
{
	return &scopes->totals[((size_t)row * scopes->nr_events + event) * scopes->leader->nr_cpus + cpu];
}

static size_t nr_totals(const struct bperf_scopes *scopes, int nr_rows)
{
	return (size_t)nr_rows * scopes->nr_events * scopes->leader->nr_cpus;
}

/* Whether a class contains a scope of ours. */
static bool is_ours(void *ctx, int class)
{
	const struct bperf_scopes *scopes = ctx;
	const struct reg_class *table = scopes->leader->classes.class;

	for (; class; class = table[class].base) {
		if (scopes->row_of[table[class].scope] >= 0)
			return true;
	}
	return false;
}

/* What one class counted belongs to each of its scopes. */
static int add_class(struct bperf_scopes *scopes, int class)
{
	const struct leader *leader = scopes->leader;
	const struct reg_class *table = leader->classes.class;

	for (int event = 0; event < scopes->nr_events; event++) {
		int pos = classes__event(&leader->classes, class, scopes->slots[event]);

		for (int cpu = 0; pos >= 0 && cpu < leader->nr_cpus; cpu++) {
			struct sum sum = {};
			int err = classes__add_sum(&leader->classes, class, pos, cpu,
						   &leader->cpus[cpu].seq, &sum);

			if (err)
				return err;
			for (int up = class; up; up = table[up].base) {
				int row = scopes->row_of[table[up].scope];
				struct sum *to;

				if (row < 0)
					continue;
				to = total_at(scopes, row, event, cpu);
				to->counter += sum.counter;
				to->enabled_ns += sum.enabled_ns;
				to->running_ns += sum.running_ns;
			}
		}
	}
	return 0;
}

/* A run died while it moved sums: what it left is finished under the lock. */
static int repair(struct bperf_scopes *scopes)
{
	struct attr_map *attr_map = scopes->leader->attr_map;
	int err = attr_map__relock(attr_map);

	if (err)
		return err;
	leader__repair(scopes->leader);
	attr_map__unlock(attr_map);
	return 0;
}

int bperf_scopes__read(struct bperf_scopes *scopes)
{
	struct leader *leader = scopes->leader;
	int err = scopes->kind == OF_TASK ? leader_tasks__sync(leader, is_ours, scopes) :
					    leader_cgroups__sync(leader, is_ours, scopes);

	while (!err) {
		__s64 gen = classes__begin_read(&leader->classes);

		if (gen < 0) {
			err = repair(scopes);
			continue;
		}
		memset(scopes->totals, 0, nr_totals(scopes, scopes->nr_rows) * sizeof(*scopes->totals));
		for (__u32 i = 1; i < leader->registry->nr_classes && !err; i++) {
			__u32 state = __atomic_load_n(&leader->classes.class[i].state,
						      __ATOMIC_ACQUIRE);

			if (state == REG_READY && is_ours(scopes, i))
				err = add_class(scopes, i);
		}
		if (classes__end_read(&leader->classes, gen))
			break;
		/* What was seen in the middle of a move says nothing. */
		err = 0;
	}
	return err;
}

struct counts_values bperf_scopes__on_cpu(const struct bperf_scopes *scopes, int event, int row,
					 int cpu)
{
	const struct sum *sum = total_at(scopes, row, event, cpu);

	return (struct counts_values){ sum->counter, sum->enabled_ns, sum->running_ns };
}

struct counts_values bperf_scopes__total(const struct bperf_scopes *scopes, int event, int row)
{
	struct counts_values total = {};

	for (int cpu = 0; cpu < scopes->leader->nr_cpus; cpu++) {
		struct counts_values one = bperf_scopes__on_cpu(scopes, event, row, cpu);

		total.val += one.val;
		total.ena += one.ena;
		total.run += one.run;
	}
	return total;
}

/* --- rows --- */

static int compare_slots(const void *a, const void *b)
{
	return *(const __u16 *)a - *(const __u16 *)b;
}

int bperf_scopes__add(struct bperf_scopes *scopes, int row, const int *is_switches, bool inherits,
		      __u64 cgroup)
{
	__u16 slots[SET_EVENTS];
	__u8 switches[SET_EVENTS];
	int scope;

	if (scopes->nr_events > SET_EVENTS)
		return -E2BIG;
	for (int i = 0; i < scopes->nr_events; i++)
		slots[i] = scopes->slots[i];
	qsort(slots, scopes->nr_events, sizeof(slots[0]), compare_slots);
	for (int i = 0; i < scopes->nr_events; i++) {
		for (int e = 0; e < scopes->nr_events; e++) {
			if (scopes->slots[e] == slots[i])
				switches[i] = is_switches[e];
		}
	}
	scope = leader_scopes__add(scopes->leader, slots, switches, scopes->nr_events, inherits,
					cgroup);
	if (scope > 0 && row >= 0) {
		scopes->row_of[scope] = row;
		scopes->scope_of[row] = scope;
	}
	return scope;
}

void bperf_scopes__drop(struct bperf_scopes *scopes, int row)
{
	int scope = scopes->scope_of[row];

	if (!scope)
		return;
	classes__drop_scope(&scopes->leader->classes, scope);
	scopes->row_of[scope] = -1;
	scopes->scope_of[row] = 0;
}

void bperf_scopes__explain(const struct bperf_scopes *scopes, int err)
{
	static const char *const whose[NR_CLASS_KINDS] = { "task", "cgroup" };
	static const struct {
		const char *what[NR_CLASS_KINDS];
		int max;
	} limits[] = {
		[FULL_SCOPES] = { { "rows of tasks (a run has one, with --per-thread each thread)",
				    "rows (each cgroup of a run has one)" }, MAX_SCOPES - 1 },
		[FULL_CLASSES] = { { "different sets of runs that count a task",
				     "different sets of runs that count a cgroup" },
				   FOR_JOINING(MAX_CLASSES) - 1 },
		[FULL_SETS] = { { "different sets of events", "different sets of events" },
				FOR_JOINING(MAX_SETS) - 1 },
		[FULL_CELLS] = { { "sums of events (an event of a set of runs is one)",
				   "sums of events (an event of a cgroup is one)" },
				 FOR_JOINING(MAX_CELLS) },
		[FULL_TASKS] = { { "tasks", "tasks" }, MAX_TASKS },
		[FULL_CGROUPS] = { { "cgroups", "cgroups" }, MAX_CGROUPS },
	};

	switch (-err) {
	case E2BIG:
		pr_err("cannot share events: more than %d different ones on one %s", SET_EVENTS,
		       whose[scopes->kind]);
		return;
	case ENOSPC:
		pr_err("cannot share events: all runs together count too many %s: at most %d (count fewer, or end other runs)",
		       limits[scopes->leader->classes.full].what[scopes->kind],
		       limits[scopes->leader->classes.full].max);
		return;
	case EOPNOTSUPP:
		if (scopes->kind == OF_CGROUP)
			break;
		pr_err("cannot share events of tasks: this kernel cannot walk over one task alone (needs Linux 6.1)");
		return;
	}
	pr_err("cannot share events: %s: %s",
	       scopes->kind == OF_TASK ? "marking the tasks failed" : "counting by cgroup failed",
	       strerror(-err));
}

int bperf_scopes__grow(struct bperf_scopes *scopes, int nr_rows)
{
	size_t before = nr_totals(scopes, scopes->nr_rows), size = nr_totals(scopes, nr_rows);
	struct sum *totals = realloc(scopes->totals, (size + 1) * sizeof(*totals));
	int *scope_of = realloc(scopes->scope_of, (nr_rows + 1) * sizeof(*scope_of));

	scopes->totals = totals ? totals : scopes->totals;
	scopes->scope_of = scope_of ? scope_of : scopes->scope_of;
	if (!totals || !scope_of)
		return -ENOMEM;
	memset(&scope_of[scopes->nr_rows], 0, (nr_rows - scopes->nr_rows) * sizeof(*scope_of));
	memset(&totals[before], 0, (size - before) * sizeof(*totals));
	scopes->nr_rows = nr_rows;
	return 0;
}

int bperf_scopes__init(struct bperf_scopes *scopes, struct leader *leader, enum class_kind kind,
		       const int *slots, int nr, int nr_rows)
{
	memset(scopes, 0, sizeof(*scopes));
	scopes->leader = leader;
	scopes->kind = kind;
	scopes->nr_events = nr;
	scopes->slots = malloc(nr * sizeof(*slots) + 1);
	scopes->row_of = malloc(MAX_SCOPES * sizeof(*scopes->row_of));
	if (!scopes->slots || !scopes->row_of)
		return -ENOMEM;
	memcpy(scopes->slots, slots, nr * sizeof(*slots));
	memset(scopes->row_of, -1, MAX_SCOPES * sizeof(*scopes->row_of));
	return bperf_scopes__grow(scopes, nr_rows);
}

void bperf_scopes__clear(struct bperf_scopes *scopes)
{
	free(scopes->slots);
	free(scopes->row_of);
	free(scopes->scope_of);
	free(scopes->totals);
	memset(scopes, 0, sizeof(*scopes));
}
