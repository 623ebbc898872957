// SPDX-License-Identifier: GPL-2.0
#include "util/counter/bperf_rows.h"

#include "util/bperf/leader.h"
#include "util/bperf/leader_sync.h"
#include "util/bperf/scope.h"
#include "util/bperf/scope_set.h"
#include "util/lib/msg.h"
#include "util/lib/util.h"

#include <errno.h>
#include <sched.h>
#include <string.h>

/*
 * How long a reading is repeated because sums have moved meanwhile. A session that ends moves sums for
 * each scope set that it gives up, which takes microseconds.
 */
#define READ_WAIT_NS (500 * NSEC_PER_MSEC)

/* --- reading --- */

static struct counts_values *total_at(const struct bperf_rows *scopes, int row, int event, int cpu)
{
	return &scopes->totals[((size_t)row * scopes->nr_events + event) * scopes->nr_columns +
			       (scopes->is_summed ? 0 : cpu)];
}

static size_t nr_totals(const struct bperf_rows *scopes, int nr_rows)
{
	return (size_t)nr_rows * scopes->nr_events * scopes->nr_columns;
}

/* Return: whether a scope set contains a scope of ours. */
static bool is_ours(void *ctx, int scope_set)
{
	const struct bperf_rows *scopes = ctx;

	for_each_parent(bperf_leader__scope_tables(scopes->leader), walk, scope_set) {
		if (scopes->row_after[walk.scope])
			return true;
	}
	return false;
}

static bool runs_ours(void *ctx, const struct cpu_state *state)
{
	const struct bperf_rows *scopes = ctx;

	return is_ours(ctx, __atomic_load_n(&state->scope_set[scopes->kind], __ATOMIC_ACQUIRE));
}

/* Add the sums of one scope set to each row whose scope it contains. */
static int add_scope_set(struct bperf_rows *scopes, const struct scope_sets_view *view,
			 int scope_set)
{
	const struct bperf_leader *leader = scopes->leader;
	const struct scope_tables *tables = bperf_leader__scope_tables(leader);
	int nr_cpus = bperf_leader__nr_cpus(leader), nr_rows = 0;

	/* A walk visits no scope twice, so there is room for all. */
	for_each_parent(tables, walk, scope_set) {
		int after = scopes->row_after[walk.scope];

		if (after)
			scopes->rows[nr_rows++] = after - 1;
	}
	for (int event = 0; event < scopes->nr_events; event++) {
		int pos = scope_set__event(tables, scope_set, scopes->events[event].slot);

		for (int cpu = 0; pos >= 0 && cpu < nr_cpus; cpu++) {
			const struct cpu_event at = {pos, cpu, bperf_leader__seq(leader, cpu)};
			struct counts_values now;
			struct sum sum = {};
			int err;

			if (scopes->is_summed && !scopes->is_summed[cpu])
				continue;
			err = scope_set__add_sum(tables, view, scope_set, &at, &sum);
			if (err)
				return err;
			now = (struct counts_values){sum.counter, sum.enabled_ns, sum.running_ns};
			for (int i = 0; i < nr_rows; i++) {
				counts_values__add(total_at(scopes, scopes->rows[i], event, cpu),
						   &now);
			}
		}
	}
	return 0;
}

/* Sum up all scope sets. Return: 0; 1: they have changed meanwhile; -errno. */
static int add_scope_sets(struct bperf_rows *scopes)
{
	const struct scope_tables *tables = bperf_leader__scope_tables(scopes->leader);
	struct scope_sets_view view;
	int err = 0;
	__u32 nr;

	scope_set__begin_read(tables, &view);
	nr = scope_set__nr(tables);
	memset(scopes->totals, 0, nr_totals(scopes, scopes->nr_rows) * sizeof(*scopes->totals));
	scopes->failed = 0;
	for (__u32 i = 1; i < nr && !err; i++) {
		__u32 state = __atomic_load_n(&tables->scope_set[i].state, __ATOMIC_ACQUIRE);

		if (state != REG_READY || scope_set__is_given_up(&view, i) || !is_ours(scopes, i))
			continue;
		scopes->failed += __atomic_load_n(&tables->scope_set[i].failed, __ATOMIC_RELAXED);
		err = add_scope_set(scopes, &view, i);
	}
	/* If the tables have changed, an error may be due to that: try again. */
	return scope_set__end_read(tables, &view) ? err : 1;
}

int bperf_rows__read(struct bperf_rows *scopes)
{
	struct bperf_leader *leader = scopes->leader;
	uint64_t end_ns = clock_ns() + READ_WAIT_NS;
	int err = scopes->kind == SCOPE_SET_TASK ? leader_sync__tasks(leader, runs_ours, scopes) :
						   leader_sync__cgroups(leader, runs_ours, scopes);

	while (!err) {
		err = add_scope_sets(scopes);
		if (err <= 0 && err != -EAGAIN)
			break;
		err = clock_ns() < end_ns ? 0 : -EAGAIN;
		sched_yield();
	}
	return err;
}

struct counts_values bperf_rows__reading(const struct bperf_rows *scopes, int event, int row,
					 int cpu)
{
	if (!scopes->is_summed && cpu >= scopes->nr_columns)
		return (struct counts_values){};
	return *total_at(scopes, row, event, cpu);
}

/* --- rows --- */

static int compare_slots(const void *a, const void *b)
{
	return *(const __u16 *)a - *(const __u16 *)b;
}

int bperf_rows__add(struct bperf_rows *scopes, int row, bool inherits, __u64 cgroup)
{
	__u16 slots[SET_EVENTS];
	__u8 switches[SET_EVENTS];
	int scope;

	if (scopes->nr_events > SET_EVENTS)
		return -E2BIG;
	for (int i = 0; i < scopes->nr_events; i++)
		slots[i] = scopes->events[i].slot;
	qsort(slots, scopes->nr_events, sizeof(slots[0]), compare_slots);
	for (int i = 0; i < scopes->nr_events; i++) {
		for (int e = 0; e < scopes->nr_events; e++) {
			if (scopes->events[e].slot == slots[i])
				switches[i] = scopes->events[e].switches;
		}
	}
	scope = scope__add(scopes->leader, slots, switches, scopes->nr_events, inherits, cgroup);
	if (scope > 0 && row >= 0) {
		scopes->row_after[scope] = row + 1;
		scopes->scope_of[row] = scope;
	}
	return scope;
}

void bperf_rows__drop(struct bperf_rows *scopes, int row)
{
	int scope = scopes->scope_of[row];

	if (!scope)
		return;
	scope__drop(scopes->leader, scope);
	scopes->row_after[scope] = 0;
	scopes->scope_of[row] = 0;
}

void bperf_rows__explain(const struct bperf_rows *scopes, int err)
{
	/* leader_progs__load() has printed a message. */
	if (err == -ENOEXEC)
		return;
	if (err == -EOPNOTSUPP && scopes->kind == SCOPE_SET_TASK) {
		pr_err("cannot share events of tasks: this kernel cannot walk over one task alone (needs Linux 6.1)");
		return;
	}
	pr_err("cannot share events: %s: %s",
	       scopes->kind == SCOPE_SET_TASK ? "assigning the scopes to tasks failed" :
						"counting by cgroup failed",
	       strerror(-err));
}

int bperf_rows__grow(struct bperf_rows *scopes, int nr_rows)
{
	size_t before = nr_totals(scopes, scopes->nr_rows), size = nr_totals(scopes, nr_rows);
	struct counts_values *totals = realloc(scopes->totals, (size + 1) * sizeof(*totals));
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

int bperf_rows__init(struct bperf_rows *scopes, struct bperf_leader *leader,
		     enum scope_set_kind kind, const struct scope_event *events, int nr)
{
	memset(scopes, 0, sizeof(*scopes));
	scopes->leader = leader;
	scopes->kind = kind;
	scopes->nr_events = nr;
	scopes->nr_columns = bperf_leader__nr_cpus(leader);
	scopes->events = malloc(nr * sizeof(*events) + 1);
	scopes->row_after = calloc(MAX_SCOPES, sizeof(*scopes->row_after));
	scopes->rows = malloc(MAX_SCOPES * sizeof(*scopes->rows));
	if (!scopes->events || !scopes->row_after || !scopes->rows)
		return -ENOMEM;
	memcpy(scopes->events, events, nr * sizeof(*events));
	return 0;
}

void bperf_rows__sum_cpus(struct bperf_rows *scopes, bool *is_summed)
{
	scopes->is_summed = is_summed;
	scopes->nr_columns = 1;
}

void bperf_rows__clear(struct bperf_rows *scopes)
{
	free(scopes->events);
	free(scopes->row_after);
	free(scopes->rows);
	free(scopes->scope_of);
	free(scopes->is_summed);
	free(scopes->totals);
	memset(scopes, 0, sizeof(*scopes));
}
