// SPDX-License-Identifier: GPL-2.0
#include "leader_marks.h"

#include "leader.h"
#include "leader_tasks.h"
#include "util.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <unistd.h>

/* For tasks that are made, but not woken yet: that takes microseconds, or somebody holds it up. */
#define BIRTH_TRIES 100
#define BIRTH_WAIT_US 1000

/* Kernels before 6.1 walk over all tasks whatever they are asked for, and do not say so. */
static int check_filter(int link, const union bpf_iter_link_info *want)
{
	struct bpf_link_info info = {};
	__u32 len = sizeof(info);

	if (bpf_obj_get_info_by_fd(link, &info, &len))
		return -errno;
	return info.iter.task.tid == want->task.tid && info.iter.task.pid == want->task.pid ?
		       0 : -EOPNOTSUPP;
}

/*
 * One walk of on_mark: over one process or thread, by its number in our pid namespace; over all
 * tasks for those of the process that the last such walk saw, or for really all.
 */
static int walk(struct leader *leader, enum mark_kind kind, pid_t nr, bool all)
{
	struct mark_request *request = leader->marking;
	union bpf_iter_link_info info = {};
	LIBBPF_OPTS(bpf_link_create_opts, opts, .iter_info = &info, .iter_info_len = sizeof(info));
	int link __cleanup(close_fd) = -1;
	int iter __cleanup(close_fd) = -1;
	char buf[64];
	ssize_t len;
	int err;

	request->seen = request->changed = request->unknown = request->failed = 0;
	request->unborn = 0;
	request->kind = all ? kind : MARK_WALKED;
	request->nr = request->process_nr;
	/* Of one that has ended, a walk would leave those of the process that was walked before. */
	if (!all)
		request->process_nr = request->nr_threads = 0;
	if (!all && kind == MARK_PROCESS)
		info.task.pid = nr;
	else if (!all && kind == MARK_THREAD)
		info.task.tid = nr;
	link = bpf_link_create(leader->prog_fds[LEADER_ON_MARK], 0, BPF_TRACE_ITER, &opts);
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
	leader__step("walked");
	return len < 0 ? -errno : 0;
}

static int set_transition(struct leader *leader, __u32 from, __u32 to)
{
	struct transition key = { .op = leader->marking->op, .from = from };

	leader->marking->nr_transitions++;
	if (bpf_map_update_elem(leader->map_fds[LEADER_TRANSITIONS], &key, &to, BPF_ANY))
		return -errno;
	leader__step("transition-added");
	return 0;
}

int leader_marks__move(struct leader *leader, __u32 from, __u32 to)
{
	int err = set_transition(leader, from, to);

	return err ? err : set_transition(leader, to, to);
}

/* Those of earlier markings do no harm, and to look for them at each would cost. */
static void forget_transitions(struct leader *leader)
{
	int fd = leader->map_fds[LEADER_TRANSITIONS];
	struct transition key;

	while (!bpf_map_get_next_key(fd, NULL, &key)) {
		if (bpf_map_delete_elem(fd, &key))
			return;
	}
	leader->marking->nr_transitions = 0;
}

static int add_wanted(struct leader *leader, int scope)
{
	int fd = leader->map_fds[LEADER_WANTED];
	__u32 class;

	while (!bpf_map_get_next_key(fd, NULL, &class)) {
		int to = 0, err;

		/* What a marking that died has left may be no class any more. */
		if (!class || leader->classes.class[class].state == REG_READY)
			to = classes__with(&leader->classes, class, scope);
		if (to < 0)
			return to;
		err = to ? leader_marks__move(leader, class, to) : 0;
		if (err)
			return err;
		if (bpf_map_delete_elem(fd, &class))
			return -errno;
	}
	return 0;
}

void leader_marks__begin(struct leader *leader, enum mark_when when)
{
	struct mark_request *request = leader->marking;

	request->when = when;
	request->op++;
	if (request->nr_transitions > MAX_TRANSITIONS / 2)
		forget_transitions(leader);
}

int leader_marks__mark(struct leader *leader, int scope, enum mark_kind kind, pid_t nr,
		       enum mark_when when, bool *is_changed)
{
	const struct mark_request *request = leader->marking;
	bool all = false;
	int found = 0, tries = 0, to, err;

	leader_marks__begin(leader, when);
	/* The common case, without a walk to find it out: nobody counts them yet. */
	to = classes__with(&leader->classes, 0, scope);
	err = to < 0 ? to : leader_marks__move(leader, 0, to);
	while (!err) {
		err = walk(leader, kind, nr, all);
		if (err)
			break;
		found = request->seen > (__u64)found ? (int)request->seen : found;
		if (request->failed) {
			leader->classes.full = FULL_TASKS;
			return -ENOSPC;
		}
		if (request->changed)
			*is_changed = true;
		if (request->unknown)
			err = add_wanted(leader, scope);
		else if (request->unborn && tries++ < BIRTH_TRIES)
			usleep(BIRTH_WAIT_US);
		else if (!request->changed && (all || kind != MARK_PROCESS ||
					       request->seen >= request->nr_threads))
			break;
		else if (!request->changed)
			all = true;	/* a filtered walk ends early when the thread it stands on ends */
	}
	return err ? err : found;
}

int leader_marks__walk_all(struct leader *leader)
{
	const struct mark_request *request = leader->marking;
	bool has_waited = false;
	int err = 0;

	while (!err) {
		err = walk(leader, MARK_ALL, 0, true);
		if (err || request->changed) {
			has_waited = false;
			continue;
		}
		if (has_waited)
			break;
		has_waited = true;
		err = leader_tasks__sync(leader, NULL, NULL);
		if (!err)
			err = leader_tasks__wait();
	}
	return err;
}
