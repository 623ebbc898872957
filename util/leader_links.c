// SPDX-License-Identifier: GPL-2.0
#include "leader_links.h"

#include "leader.h"
#include "perf_event.h"
#include "util.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <string.h>

/* A tracepoint that still has the link of a run that is just ending (EEXIST up to 6.1). */
#define ATTACH_TRIES 100
#define ATTACH_WAIT_US 10000

/* The order is that of attaching: nothing may be marked before all of it can be followed. */
static const struct {
	enum leader_prog prog;
	const char *tracepoint;		/* raw; NULL: the kprobe */
	bool is_optional;
	enum link_kind kind;
} links[NR_TASK_LINKS] = {
	[TASK_LINK_NEWTASK] = { LEADER_ON_NEWTASK, "sched_wakeup_new", false, LINKS_TASKS },
	[TASK_LINK_FREE] = { LEADER_ON_FREE, "sched_process_free", false, LINKS_TASKS },
	[TASK_LINK_EXIT_EVENT] = { LEADER_ON_EXIT_EVENT, NULL, true, LINKS_TASKS },
	/* Only without the kprobe: in 6.1 it comes earlier, and what is between would be lost. */
	[TASK_LINK_EXIT] = { LEADER_ON_EXIT, "sched_process_exit", true, LINKS_TASKS },
	[TASK_LINK_RENAME] = { LEADER_ON_RENAME, "task_rename", false, LINKS_TASKS },
	[TASK_LINK_SWITCH] = { LEADER_ON_SWITCH, "sched_switch", false, LINKS_TASKS },
	[CGROUP_LINK_ATTACH] = { LEADER_ON_ATTACH, "cgroup_attach_task", false, LINKS_CGROUPS },
	[WATCH_LINK_MKDIR] = { LEADER_ON_MKDIR, "cgroup_mkdir", false, LINKS_NEW_CGROUPS },
	[CGROUP_LINK_SWITCH] = { LEADER_ON_CGROUP_SWITCH, "sched_switch", false, LINKS_CGROUPS },
};

/*
 * How often a program was skipped because another task, preempted in it, had not left it yet on
 * that CPU: an exec, exit or move that nobody saw.
 */
static __u64 nr_skipped(int prog_fd)
{
	struct bpf_prog_info info = {};
	__u32 len = sizeof(info);

	return prog_fd < 0 || bpf_obj_get_info_by_fd(prog_fd, &info, &len) ? 0 :
									     info.recursion_misses;
}

__u64 leader_links__skipped(const struct leader *leader)
{
	__u64 skipped = 0;

	for (int i = 0; i < NR_TASK_LINKS; i++)
		skipped += nr_skipped(leader->prog_fds[links[i].prog]);
	return skipped;
}

static int open_raw_tracepoint(const char *name, int prog_fd)
{
	for (int i = 0;; i++) {
		int fd = bpf_raw_tracepoint_open(name, prog_fd);

		if (fd >= 0 || errno != EEXIST || i == ATTACH_TRIES)
			return fd < 0 ? -errno : fd;
		usleep(ATTACH_WAIT_US);
	}
}

/* A link to a kprobe; the kernel has had such since 5.15. */
static int open_kprobe(const char *function, int prog_fd)
{
	char *file __cleanup(free_ptr) =
		xasprintf("%s/bus/event_source/devices/kprobe/type", sysfs_root());
	char *type __cleanup(free_ptr) = file ? read_file_line(file) : NULL;
	struct perf_event_attr attr = { .size = sizeof(attr) };
	int event __cleanup(close_fd) = -1;
	int fd;

	if (!type || prog_fd < 0)
		return -ENOENT;
	attr.type = atoi(type);
	attr.kprobe_func = (uintptr_t)function;
	event = perf_event__open(&attr, -1, 0, -1, 0);
	if (event < 0)
		return event;
	fd = bpf_link_create(prog_fd, event, BPF_PERF_EVENT, NULL);
	return fd < 0 ? -errno : fd;
}

static int open_link(enum task_link link, int prog_fd)
{
	return links[link].tracepoint ? open_raw_tracepoint(links[link].tracepoint, prog_fd) :
					open_kprobe("perf_event_exit_task", prog_fd);
}

int leader_links__try_kprobe(int prog_fd)
{
	int fd __cleanup(close_fd) = open_link(TASK_LINK_EXIT_EVENT, prog_fd);

	return fd < 0 ? fd : 0;
}

void leader_links__close(struct leader *leader)
{
	for (int i = 0; i < NR_TASK_LINKS; i++)
		close_fd(&leader->task_link_fds[i]);
}

/* 0; -ENOENT: there is none, or the last run that held it is just ending. */
static int take_link(struct leader *leader, enum task_link link)
{
	__u32 id = leader->registry->task_link_ids[link];

	if (leader->task_link_fds[link] >= 0)
		return 0;
	if (!id)
		return -ENOENT;
	leader->task_link_fds[link] = bpf_link_get_fd_by_id(id);
	return leader->task_link_fds[link] < 0 ? -errno : 0;
}

/* Switches may be followed for other reasons than the rest. */
static void close_kind(struct leader *leader, enum link_kind kind)
{
	for (int i = 0; i < NR_TASK_LINKS; i++) {
		if (links[i].kind == kind && i != TASK_LINK_SWITCH)
			close_fd(&leader->task_link_fds[i]);
	}
}

int leader_links__take(struct leader *leader, enum link_kind kind)
{
	int err = 0;

	for (int i = 0; i < NR_TASK_LINKS && !err; i++) {
		if (links[i].kind == kind &&
		    (leader->registry->task_link_ids[i] || !links[i].is_optional))
			err = take_link(leader, i);
	}
	if (err)
		close_kind(leader, kind);
	return err;
}

static int make_link(struct leader *leader, enum task_link link)
{
	int fd, err;

	leader->registry->task_link_ids[link] = 0;
	fd = open_link(link, leader->prog_fds[links[link].prog]);
	if (fd < 0)
		return fd;
	leader->task_link_fds[link] = fd;
	err = leader__link_id(fd, &leader->registry->task_link_ids[link]);
	if (!err)
		leader__step("task-link-made");
	return err;
}

int leader_links__follow_switches(struct leader *leader)
{
	int err = take_link(leader, TASK_LINK_SWITCH);

	return err == -ENOENT ? make_link(leader, TASK_LINK_SWITCH) : err;
}

void leader_links__leave_switches(struct leader *leader)
{
	if (leader->task_link_fds[TASK_LINK_NEWTASK] < 0)
		close_fd(&leader->task_link_fds[TASK_LINK_SWITCH]);
}

int leader_links__make(struct leader *leader, enum link_kind kind)
{
	int err = 0;

	for (int i = 0; i < NR_TASK_LINKS && !err; i++) {
		/* One of the two that see exits is not loaded. */
		if (links[i].kind != kind || leader->prog_fds[links[i].prog] < 0)
			continue;
		err = i == TASK_LINK_SWITCH ? leader_links__follow_switches(leader) :
					      make_link(leader, i);
	}
	return err;
}

bool leader_links__are_alive(const struct leader *leader, enum link_kind kind)
{
	static const enum task_link one_of[] = {
		[LINKS_TASKS] = TASK_LINK_NEWTASK,
		[LINKS_CGROUPS] = CGROUP_LINK_SWITCH,
		[LINKS_NEW_CGROUPS] = WATCH_LINK_MKDIR,
	};

	return leader__is_link_alive(leader->registry->task_link_ids[one_of[kind]]);
}
