// SPDX-License-Identifier: GPL-2.0
#include "util/bperf/leader_links.h"

#include "util/bperf/attr_map.h"
#include "util/bperf/crash_point.h"
#include "util/bperf/leader_internal.h"
#include "util/bperf/leader_progs.h"
#include "util/host/bpf_info.h"
#include "util/host/perf_event.h"
#include "util/lib/util.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <sys/ioctl.h>

/* A tracepoint still has the link of a session that is just ending (EEXIST up to 6.1). */
#define ATTACH_WAIT_US 10000

/*
 * The order of enum task_link, not that of these rows, is the order of attaching. No task may be
 * in a scope set before all programs can follow it.
 */
static const struct {
	enum leader_prog prog;
	const char *tracepoint; /* raw */
	bool is_optional;
	enum link_kind kind;
} links[NR_TASK_LINKS] = {
	[TASK_LINK_NEWTASK] = {LEADER_ON_NEWTASK, "sched_wakeup_new", false, LINKS_TASKS},
	[TASK_LINK_FREE] = {LEADER_ON_FREE, "sched_process_free", false, LINKS_TASKS},
	/* Only without the kprobe: in 6.1 it comes earlier, and what is between would be lost. */
	[TASK_LINK_EXIT] = {LEADER_ON_EXIT, "sched_process_exit", true, LINKS_TASKS},
	[TASK_LINK_RENAME] = {LEADER_ON_RENAME, "task_rename", false, LINKS_TASKS},
	[TASK_LINK_SWITCH] = {LEADER_ON_TASK_SWITCH, "sched_switch", false, LINKS_TASKS},
	[CGROUP_LINK_ATTACH] = {LEADER_ON_ATTACH, "cgroup_attach_task", false, LINKS_CGROUPS},
	[WATCH_LINK_MKDIR] = {LEADER_ON_MKDIR, "cgroup_mkdir", false, LINKS_NEW_CGROUPS},
	[CGROUP_LINK_SWITCH] = {LEADER_ON_CGROUP_SWITCH, "sched_switch", false, LINKS_CGROUPS},
	[SERVE_LINK_SWITCH] = {LEADER_ON_SWITCH, "sched_switch", false, LINKS_SERVE},
};

/*
 * How often the kernel skipped a program on a CPU. Another task was preempted there in the same
 * program (since Linux 7): an exec or a move was missed. Or, for the kprobe, in a system call on a
 * BPF map: the kernel runs no kprobe program meanwhile (bpf_prog_active).
 */
static __u64 nr_skipped(int prog_fd)
{
	struct bpf_prog_info info;

	return prog_fd < 0 || bpf_info__prog(prog_fd, &info) ? 0 : info.recursion_misses;
}

static bool is_exit(enum leader_prog prog)
{
	return prog == LEADER_ON_EXIT || prog == LEADER_ON_EXIT_EVENT;
}

static __u64 all_skipped(const struct bperf_leader *leader, bool of_exits)
{
	__u64 skipped = nr_skipped(leader->prog_fds[LEADER_ON_EXIT_EVENT]);

	for (int i = 0; i < NR_TASK_LINKS; i++) {
		if (is_exit(links[i].prog) == of_exits && links[i].kind != LINKS_SERVE)
			skipped += nr_skipped(leader->prog_fds[links[i].prog]);
	}
	return skipped;
}

__u64 leader_links__skipped(const struct bperf_leader *leader)
{
	return all_skipped(leader, false);
}

__u64 leader_links__skipped_exits(const struct bperf_leader *leader)
{
	return all_skipped(leader, true);
}

static int open_raw_tracepoint(const char *name, int prog_fd)
{
	int fd = bpf_raw_tracepoint_open(name, prog_fd);

	return fd < 0 ? -errno : fd;
}

/* Have a program run at a function of the kernel, while the event lives. */
static int open_kprobe(const char *function, int prog_fd)
{
	char *file __cleanup(free_ptr) =
		xasprintf("%s/bus/event_source/devices/kprobe/type", sysfs_root());
	char *type __cleanup(free_ptr) = file ? read_file_line(file) : NULL;
	struct perf_event_attr attr = {.size = sizeof(attr)};
	int fd;

	if (!type || prog_fd < 0)
		return -ENOENT;
	attr.type = atoi(type);
	attr.kprobe_func = (uintptr_t)function;
	fd = perf_event__open(&attr, -1, 0, -1, 0);
	if (fd >= 0 && ioctl(fd, PERF_EVENT_IOC_SET_BPF, prog_fd)) {
		int err = -errno;

		close(fd);
		return err;
	}
	return fd;
}

/*
 * The end of a kprobe waits for several grace periods. So the event stays in a map, for as long as the
 * leader lives. A task that no session counts costs the program one look.
 */
static int make_exit_event(struct bperf_leader *leader)
{
	int event __cleanup(close_fd) = -1;
	__u32 key = 0;

	if (leader->registry->has_exit_event)
		return 0;
	event = open_kprobe("perf_event_exit_task", leader->prog_fds[LEADER_ON_EXIT_EVENT]);
	if (event < 0)
		return event;
	if (bpf_map_update_elem(leader->map_fds[LEADER_EXIT_EVENT], &key, &event, BPF_ANY))
		return -errno;
	crash_point__reach("exit-event-made");
	leader->registry->has_exit_event = 1;
	return 0;
}

void leader_links__leave(struct bperf_leader *leader, bool ends)
{
	for (int i = 0; i < NR_TASK_LINKS; i++) {
		if (links[i].kind != LINKS_SERVE && (ends || links[i].kind != LINKS_TASKS))
			close_fd(&leader->task_link_fds[i]);
	}
}

__u32 leader_links__entry(const struct registry *reg)
{
	return reg->is_serving ? reg->task_link_ids[SERVE_LINK_SWITCH] : reg->link_id;
}

bool leader_links__is_own(const struct registry *reg, __u32 link_id)
{
	return link_id &&
	       (link_id == reg->link_id || link_id == reg->task_link_ids[SERVE_LINK_SWITCH]);
}

/* 0; -ENOENT: there is none, or the last session that held it is just ending. */
static int hold_link(struct bperf_leader *leader, enum task_link link)
{
	__u32 id = leader->registry->task_link_ids[link];

	if (leader->task_link_fds[link] >= 0)
		return 0;
	if (!id)
		return -ENOENT;
	leader->task_link_fds[link] = bpf_link_get_fd_by_id(id);
	return leader->task_link_fds[link] < 0 ? -errno : 0;
}

static void close_kind(struct bperf_leader *leader, enum link_kind kind)
{
	for (int i = 0; i < NR_TASK_LINKS; i++) {
		if (links[i].kind == kind)
			close_fd(&leader->task_link_fds[i]);
	}
}

int leader_links__hold(struct bperf_leader *leader, enum link_kind kind)
{
	int err = 0;

	for (int i = 0; i < NR_TASK_LINKS && !err; i++) {
		if (links[i].kind == kind &&
		    (leader->registry->task_link_ids[i] || !links[i].is_optional))
			err = hold_link(leader, i);
	}
	if (err)
		close_kind(leader, kind);
	return err;
}

static int make_link(struct bperf_leader *leader, enum task_link link)
{
	int fd, err;

	leader->registry->task_link_ids[link] = 0;
	fd = open_raw_tracepoint(links[link].tracepoint, leader->prog_fds[links[link].prog]);
	if (fd < 0)
		return fd;
	leader->task_link_fds[link] = fd;
	err = bpf_info__link_id(fd, &leader->registry->task_link_ids[link]);
	if (err)
		close_fd(&leader->task_link_fds[link]);
	else
		crash_point__reach("task-link-made");
	return err;
}

int leader_links__follow_switches(struct bperf_leader *leader)
{
	int err = hold_link(leader, SERVE_LINK_SWITCH);

	if (err == -ENOENT)
		err = make_link(leader, SERVE_LINK_SWITCH);
	if (leader->session >= 0)
		leader->registry->session[leader->session].holds_switches = !err;
	return err;
}

void leader_links__disown_switches(struct bperf_leader *leader)
{
	if (leader->session >= 0)
		leader->registry->session[leader->session].holds_switches = 0;
}

void leader_links__leave_switches(struct bperf_leader *leader)
{
	leader_links__disown_switches(leader);
	close_fd(&leader->task_link_fds[SERVE_LINK_SWITCH]);
}

bool leader_links__has_holder(const struct bperf_leader *leader)
{
	for (int session = 0; session < MAX_SESSIONS; session++) {
		const struct reg_session *entry = &leader->registry->session[session];
		__u32 token = entry->token;

		if (token && entry->pid && entry->holds_switches && bpf_info__is_map_alive(token))
			return true;
	}
	return false;
}

/* Waits with the lock of tasks only, within the time of waiting for locks. */
static int make_patiently(struct bperf_leader *leader, enum task_link link)
{
	int err;

	do {
		err = make_link(leader, link);
	} while (err == -EEXIST && attr_map__pause(leader->attr_map, ATTACH_WAIT_US));
	return err;
}

/* One of two programs sees exits: the tracepoint's if the kernel has no kprobe for the other. */
static int make_exit_link(struct bperf_leader *leader)
{
	int err = leader->prog_fds[LEADER_ON_EXIT_EVENT] < 0 ? -ENOENT : make_exit_event(leader);

	leader->registry->task_link_ids[TASK_LINK_EXIT] = 0;
	if (!err)
		return 0;
	err = leader_progs__load(leader, PROGS_EXIT);
	return err ? err : make_patiently(leader, TASK_LINK_EXIT);
}

int leader_links__make(struct bperf_leader *leader, enum link_kind kind)
{
	int err = 0;

	for (int i = 0; i < NR_TASK_LINKS && !err; i++) {
		if (links[i].kind == kind)
			err = i == TASK_LINK_EXIT ? make_exit_link(leader) :
						    make_patiently(leader, i);
	}
	return err;
}

bool leader_links__are_alive(const struct bperf_leader *leader, enum link_kind kind)
{
	static const enum task_link one_of[] = {
		[LINKS_TASKS] = TASK_LINK_NEWTASK,
		[LINKS_CGROUPS] = CGROUP_LINK_SWITCH,
		[LINKS_NEW_CGROUPS] = WATCH_LINK_MKDIR,
	};

	return bpf_info__is_link_alive(leader->registry->task_link_ids[one_of[kind]]);
}
