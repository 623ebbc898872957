// SPDX-License-Identifier: GPL-2.0
#include "bperf_tasks.h"

#include "bperf_scopes.h"
#include "counter.h"
#include "leader.h"
#include "leader_marks.h"
#include "leader_tasks.h"
#include "msg.h"
#include "target.h"
#include "thread_map.h"
#include "util.h"

#include <errno.h>
#include <string.h>

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
static int list_marked(const struct bperf_scopes *rows, const struct counter_plan *plan,
		       struct marked **out)
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

			list[nr++] = (struct marked){ MARK_PROCESS, strtol(pos, &end, 10),
						      rows->scope_of[0], false };
			pos = *end ? end + 1 : end;
		}
	} else {
		for (; nr < threads->nr; nr++)
			list[nr] = (struct marked){ MARK_THREAD, threads->thread[nr].tid,
						    rows->scope_of[rows->nr_rows > 1 ? nr : 0], false };
	}
	*out = list;
	return nr;
}

static int mark_round(struct leader *leader, struct marked *list, int nr, enum mark_when when,
		      bool *is_changed)
{
	for (int i = 0; i < nr; i++) {
		int found = leader_marks__mark(leader, list[i].scope, list[i].kind, list[i].nr, when,
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

static int mark(struct bperf_scopes *rows, const struct counter_plan *plan)
{
	/* A workload before its exec neither forks nor ends: one look is enough. */
	bool is_held = plan->workload && !target__is_attached(plan->target), has_waited = is_held;
	enum mark_when when = plan->enable_on_exec ? MARK_AT_EXEC : MARK_NOW;
	struct marked *list __cleanup(free_ptr) = NULL;
	int nr = list_marked(rows, plan, &list);
	int err = nr < 0 ? nr : 0;

	while (!err) {
		bool is_changed = false;

		err = mark_round(rows->leader, list, nr, when, &is_changed);
		if (err)
			return err;
		if (is_changed && !is_held) {
			has_waited = false;
			continue;
		}
		if (has_waited)
			break;
		has_waited = true;
		err = leader_tasks__wait();
	}
	/* From here on no CPU is in a class that it should have left. */
	if (!err && !is_held)
		err = leader_tasks__sync(rows->leader, NULL, NULL);
	return err ? err : check_found(plan->target, list, nr);
}

int bperf_tasks__new(struct leader *leader, const struct counter_plan *plan, const int *slots,
		     const int *is_switches, int nr, struct bperf_scopes **out)
{
	int nr_rows = plan->target->per_thread ? plan->threads->nr : 1;
	struct bperf_scopes *rows = calloc(1, sizeof(*rows));
	int err;

	if (!rows)
		return -ENOMEM;
	err = bperf_scopes__init(rows, leader, OF_TASK, slots, nr, nr_rows);
	if (!err)
		err = leader_tasks__attach(leader);
	for (int row = 0; row < nr_rows && !err; row++) {
		int scope = bperf_scopes__add(rows, row, is_switches, !plan->target->no_inherit, 0);

		err = scope < 0 ? scope : 0;
	}
	if (!err)
		err = mark(rows, plan);
	if (err) {
		if (err != -ESRCH)
			bperf_scopes__explain(rows, err);
		bperf_tasks__delete(rows);
		return err;
	}
	*out = rows;
	return 0;
}

void bperf_tasks__delete(struct bperf_scopes *rows)
{
	if (!rows)
		return;
	bperf_scopes__clear(rows);
	free(rows);
}
