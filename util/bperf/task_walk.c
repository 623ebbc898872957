// SPDX-License-Identifier: GPL-2.0
#include "util/bperf/task_walk.h"

#include "util/bperf/crash_point.h"
#include "util/bperf/leader_internal.h"
#include "util/bperf/leader_sync.h"
#include "util/bperf/scope_set.h"
#include "util/host/bpf_info.h"
#include "util/lib/util.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

/* For tasks that are made, but not woken yet: that takes microseconds, or somebody holds it up. */
#define CREATE_TRIES   100
#define CREATE_WAIT_US 1000

#define MEMORY_TRIES 3

/*
 * A walk repeats its steps as long as they change something. The memory that tells so may be wrong, so
 * there is an end. The first steps do not look at the clock, since a session may have been stopped.
 */
#define MIN_STEPS    20
#define WALK_WAIT_NS (5 * NSEC_PER_SEC)

/* Kernels before 6.1 walk over all tasks whatever they are asked for, and do not report it. */
static int check_filter(int link, const union bpf_iter_link_info *want)
{
	struct bpf_link_info info;

	if (bpf_info__link(link, &info))
		return -errno;
	return info.iter.task.tid == want->task.tid && info.iter.task.pid == want->task.pid ?
		       0 :
		       -EOPNOTSUPP;
}

/*
 * Do one walk of on_walk. It is over one process or thread, by its number in our pid namespace. Or it is
 * over all tasks: for those of the process that the last such walk saw, or for really all.
 */
static int walk(struct bperf_leader *leader, enum walk_kind kind, pid_t nr, bool all)
{
	struct walk_request *request = leader->walk;
	union bpf_iter_link_info info = {};
	LIBBPF_OPTS(bpf_link_create_opts, opts, .iter_info = &info, .iter_info_len = sizeof(info));
	int link __cleanup(close_fd) = -1;
	int iter __cleanup(close_fd) = -1;
	char buf[64];
	ssize_t len;
	int err;

	request->seen = request->changed = request->unknown = request->failed = 0;
	request->task_new = request->no_memory = 0;
	request->kind = all ? kind : WALK_WALKED;
	request->nr = request->process_nr;
	/* Otherwise a walk over a process that has ended would report the values of the previous one. */
	if (!all)
		request->process_nr = request->nr_threads = 0;
	if (!all && kind == WALK_PROCESS)
		info.task.pid = nr;
	else if (!all && kind == WALK_THREAD)
		info.task.tid = nr;
	link = bpf_link_create(leader->prog_fds[LEADER_ON_WALK], 0, BPF_TRACE_ITER, &opts);
	if (link < 0)
		return errno == ESRCH ? 0 : errno == E2BIG ? -EOPNOTSUPP : -errno;
	err = all ? 0 : check_filter(link, &info);
	if (err)
		return err;
	iter = bpf_iter_create(link);
	if (iter < 0)
		return -errno;
	do {
		len = read(iter, buf, sizeof(buf));
	} while (len > 0 || (len < 0 && (errno == EAGAIN || errno == EINTR)));
	crash_point__reach("walked");
	return len < 0 ? -errno : 0;
}

static void set_transition(struct bperf_leader *leader, __u32 from, __u32 to)
{
	struct transition *transition = &leader->transitions[from];

	transition->to = to;
	transition->op = leader->walk->op;
	crash_point__reach("transition-added");
}

void task_walk__move(struct bperf_leader *leader, __u32 from, __u32 to)
{
	set_transition(leader, from, to);
	set_transition(leader, to, to);
}

static bool goes_on(int nr_steps, uint64_t end_ns)
{
	return nr_steps < MIN_STEPS || clock_ns() < end_ns;
}

/* Add the transitions of the scope sets that the last walk has marked. */
static int add_wanted(struct bperf_leader *leader, int scope)
{
	struct scope_tables *c = &leader->scope_sets;
	__u32 nr = scope_set__nr(c);

	for (__u32 i = 0; i < nr; i++) {
		const struct transition *transition = &leader->transitions[i];
		int to;

		if (transition->op != leader->walk->op || transition->to != TO_WANTED ||
		    (i && c->scope_set[i].state != REG_READY))
			continue;
		to = scope_set__with(c, i, scope);
		if (to < 0)
			return to;
		task_walk__move(leader, i, to);
	}
	return 0;
}

void task_walk__begin(struct bperf_leader *leader, enum walk_when when)
{
	struct walk_request *request = leader->walk;

	request->when = when;
	if (request->op >= UINT16_MAX) {
		memset(leader->transitions, 0, MAX_SCOPE_SETS * sizeof(*leader->transitions));
		request->op = 0;
	}
	request->op++;
}

int task_walk__assign(struct bperf_leader *leader, int scope, enum walk_kind kind, pid_t nr,
		      enum walk_when when, bool *is_changed)
{
	const struct walk_request *request = leader->walk;
	bool all = false;
	uint64_t end_ns = clock_ns() + WALK_WAIT_NS;
	int found = 0, tries = 0, nr_walks = 0, nr_short = 0, to, err;

	task_walk__begin(leader, when);
	/* The common case needs no walk to find out: no session counts the tasks yet. */
	to = scope_set__with(&leader->scope_sets, 0, scope);
	err = to < 0 ? to : 0;
	if (!err)
		task_walk__move(leader, 0, to);
	while (!err) {
		int seen;

		err = goes_on(nr_walks++, end_ns) ? walk(leader, kind, nr, all) : -EAGAIN;
		if (err)
			break;
		seen = __atomic_load_n(&request->seen, __ATOMIC_RELAXED) & INT_MAX;
		found = seen > found ? seen : found;
		if (request->changed)
			*is_changed = true;
		/* The kernel asks for more memory after an entry found none: the next walk may find some. */
		if (request->no_memory && nr_short++ < MEMORY_TRIES)
			continue;
		if (request->failed) {
			leader->scope_sets.full = FULL_TASKS;
			return request->no_memory ? -ENOMEM : -ENOSPC;
		}
		if (request->unknown)
			err = add_wanted(leader, scope);
		else if (request->task_new && tries++ < CREATE_TRIES)
			usleep(CREATE_WAIT_US);
		else if (!request->changed &&
			 (all || kind != WALK_PROCESS || request->seen >= request->nr_threads))
			break;
		else if (!request->changed)
			all = true; /* a filtered walk ends early when the thread it stands on ends */
	}
	return err ? err : found;
}

void task_walk__begin_round(struct bperf_leader *leader)
{
	leader->walk->round++;
}

static bool is_noted(void *ctx, const struct cpu_state *state)
{
	const struct bperf_leader *leader = ctx;

	return __atomic_load_n(&state->walk_round, __ATOMIC_RELAXED) == leader->walk->round;
}

int task_walk__sync(struct bperf_leader *leader)
{
	return leader_sync__tasks(leader, is_noted, leader);
}

/* Return: whether a CPU is in a scope set that its task has left. */
static bool is_left(void *ctx, const struct cpu_state *state)
{
	const struct bperf_leader *leader = ctx;
	const struct transition *transition;
	__u32 scope_set;

	if (!leader_sync__scope_set(state, &scope_set))
		return true;
	transition = &leader->transitions[scope_set < MAX_SCOPE_SETS ? scope_set : 0];
	return transition->op == leader->walk->op && transition->to != scope_set;
}

int task_walk__all(struct bperf_leader *leader)
{
	const struct walk_request *request = leader->walk;
	uint64_t end_ns = clock_ns() + WALK_WAIT_NS;
	bool has_waited = false;
	int err = 0, nr_walks = 0;

	while (!err) {
		err = goes_on(nr_walks++, end_ns) ? walk(leader, WALK_ALL, 0, true) : -EAGAIN;
		if (err || request->changed) {
			has_waited = false;
			continue;
		}
		if (has_waited)
			break;
		has_waited = true;
		err = leader_sync__wait();
	}
	/* No program is left that has looked up a task before; other CPUs than these know where theirs is. */
	return err ? err : leader_sync__tasks(leader, is_left, leader);
}
