// SPDX-License-Identifier: GPL-2.0
#include "util/bperf/leader_progs.h"

#include "util/bperf/crash_point.h"
#include "util/bperf/kernel_btf.h"
#include "util/bperf/leader_internal.h"
#include "util/bperf/leader_maps.h"
#include "util/bperf/leader_parts.h"
#include "util/bperf/prog_load.h"
#include "util/host/bpf_info.h"
#include "util/host/capability.h"
#include "util/lib/msg.h"
#include "util/lib/util.h"

#include "bpf_skel/leader.skel.h"
#include "bpf_skel/leader_cgroups.skel.h"
#include "bpf_skel/leader_tasks.skel.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* --- the programs --- */

static const struct {
	const char *name;
	enum prog_kind kind;
	enum leader_map kept; /* the table of programs of its type; LEADER_REGISTRY: none */
} progs[NR_LEADER_PROGS] = {
	[LEADER_ON_SWITCH] = {"on_switch", PROGS_ALWAYS, LEADER_REGISTRY},
	[LEADER_ON_SYNC] = {"on_sync", PROGS_ALWAYS, LEADER_REGISTRY},
	[LEADER_ON_HOTPLUG] = {"on_hotplug", PROGS_ALWAYS, LEADER_REGISTRY},
	[LEADER_ON_TASK_SWITCH] = {"on_task_switch", PROGS_TASKS, LEADER_KEPT},
	[LEADER_ON_TASK_SYNC] = {"on_task_sync", PROGS_TASKS, LEADER_KEPT},
	[LEADER_ON_NEWTASK] = {"on_newtask", PROGS_TASKS, LEADER_KEPT},
	[LEADER_ON_RENAME] = {"on_rename", PROGS_TASKS, LEADER_KEPT},
	[LEADER_ON_FREE] = {"on_free", PROGS_TASKS, LEADER_KEPT},
	[LEADER_ON_WALK] = {"on_walk", PROGS_TASKS, LEADER_KEPT_WALK},
	[LEADER_ON_EXIT_EVENT] = {"on_exit_event", PROGS_EXIT_EVENT, LEADER_REGISTRY},
	[LEADER_ON_EXIT] = {"on_exit", PROGS_EXIT, LEADER_KEPT},
	[LEADER_ON_CGROUP_SWITCH] = {"on_cgroup_switch", PROGS_CGROUPS, LEADER_KEPT},
	[LEADER_ON_CGROUP_SYNC] = {"on_cgroup_sync", PROGS_CGROUPS, LEADER_KEPT},
	[LEADER_ON_ATTACH] = {"on_attach", PROGS_CGROUPS, LEADER_KEPT},
	[LEADER_ON_MKDIR] = {"on_mkdir", PROGS_CGROUPS, LEADER_KEPT},
	[LEADER_ON_CGROUP_LOOK] = {"on_cgroup_look", PROGS_CGROUPS, LEADER_KEPT},
	[LEADER_ON_ABOVE] = {"on_above", PROGS_CGROUPS, LEADER_KEPT_ABOVE},
};

bool leader_progs__is_optional(enum leader_prog prog)
{
	return progs[prog].kind != PROGS_ALWAYS;
}

bool leader_progs__hold(struct bperf_leader *leader, enum prog_kind kind)
{
	bool is_complete = true;

	for (int i = 0; i < NR_LEADER_PROGS; i++) {
		__u32 id = leader->registry->prog_ids[i];

		if (progs[i].kind != kind)
			continue;
		if (leader->prog_fds[i] < 0 && id)
			leader->prog_fds[i] = bpf_prog_get_fd_by_id(id);
		is_complete &= leader->prog_fds[i] >= 0;
	}
	return is_complete;
}

/* --- loading them --- */

static const void *object_bytes(__u32 kinds, size_t *size)
{
	if (kinds & PROGS_ALWAYS)
		return leader_bpf__elf_bytes(size);
	return kinds & PROGS_CGROUPS ? leader_cgroups_bpf__elf_bytes(size) :
				       leader_tasks_bpf__elf_bytes(size);
}

/* Use the leader's maps, and load only the programs of these kinds. */
static int prepare(const struct bperf_leader *leader, struct bpf_object *obj, __u32 kinds)
{
	const __u32 nr_cpus = leader->nr_cpus;
	int err;

	err = bpf_map__set_initial_value(bpf_object__find_map_by_name(obj, ".rodata"), &nr_cpus,
					 sizeof(nr_cpus));
	for (int i = 0; i < NR_LEADER_MAPS && !err; i++) {
		struct bpf_map *map = bpf_object__find_map_by_name(obj, leader_parts__name(i));

		if (map)
			err = bpf_map__reuse_fd(map, leader->map_fds[i]);
	}
	for (int i = 0; i < NR_LEADER_PROGS && !err; i++) {
		struct bpf_program *prog = bpf_object__find_program_by_name(obj, progs[i].name);

		if (prog)
			err = bpf_program__set_autoload(prog, progs[i].kind & kinds);
	}
	return err;
}

/*
 * Let others find a program, and keep it as long as the leader. The tables of programs hold it for as
 * long as any session holds the tables. If one of them refuses it, it ends with its sessions.
 */
static int add_prog(struct bperf_leader *leader, enum leader_prog prog, int fd)
{
	__u32 key = prog;
	int err;

	close_fd(&leader->prog_fds[prog]);
	leader->prog_fds[prog] = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	if (leader->prog_fds[prog] < 0)
		return -errno;
	if (progs[prog].kept &&
	    bpf_map_update_elem(leader->map_fds[progs[prog].kept], &key, &fd, BPF_ANY))
		pr_verbose("the program %s ends with its last session: %s", progs[prog].name,
			   strerror(errno));
	err = bpf_info__prog_id(fd, &leader->registry->prog_ids[prog]);
	if (!err)
		crash_point__reach("program-added");
	return err;
}

static int add_progs(struct bperf_leader *leader, struct bpf_object *obj, __u32 kinds)
{
	int err = 0;

	for (int i = 0; i < NR_LEADER_PROGS && !err; i++) {
		if (progs[i].kind & kinds)
			err = add_prog(leader, i,
				       bpf_program__fd(bpf_object__find_program_by_name(
					       obj, progs[i].name)));
	}
	return err;
}

static int load_object(struct bperf_leader *leader, __u32 kinds, struct bpf_object_open_opts *opts)
{
	struct bpf_object *obj;
	const void *bytes;
	size_t size;
	int err;

	opts->object_name = "leader";
	prog_load__begin();
	bytes = object_bytes(kinds, &size);
	obj = bpf_object__open_mem(bytes, size, opts);
	err = obj ? prepare(leader, obj, kinds) : -errno;
	if (!err)
		err = bpf_object__load(obj);
	if (!err)
		err = add_progs(leader, obj, kinds);
	bpf_object__close(obj);
	return err;
}

static int load(struct bperf_leader *leader, __u32 kinds)
{
	LIBBPF_OPTS(bpf_object_open_opts, opts);
	int err = kinds == PROGS_ALWAYS ? 0 : prog_load__set_types(&opts);

	return err ? err : load_object(leader, kinds, &opts);
}

/*
 * Plain perf events of a task end in perf_event_exit_task(). A program at a kprobe there sees that, and
 * since Linux 6.16 also one at the tracepoint right before it.
 */
static int load_tasks(struct bperf_leader *leader)
{
	char *kprobes __cleanup(free_ptr) =
		xasprintf("%s/bus/event_source/devices/kprobe", sysfs_root());
	const struct kernel_btf *types;
	int err = prog_load__types(&types);

	if (err)
		return err;
	if (!types->exits_late && kprobes && !access(kprobes, F_OK))
		return load(leader, PROGS_TASKS | PROGS_EXIT_EVENT);
	return load(leader, PROGS_TASKS | PROGS_EXIT);
}

static bool is_complete(struct bperf_leader *leader, enum prog_kind kind)
{
	return leader_progs__hold(leader, kind) &&
	       (kind != PROGS_TASKS || leader_progs__hold(leader, PROGS_EXIT_EVENT) ||
		leader_progs__hold(leader, PROGS_EXIT));
}

/* The maps that the programs of a kind need. The leader is made with those of others. */
static int need_maps(struct bperf_leader *leader, enum prog_kind kind)
{
	int err = kind & (PROGS_TASKS | PROGS_CGROUPS) ? leader_maps__need(leader, MAPS_SCOPES) : 0;

	if (err || kind == PROGS_TASKS)
		return err ? err : leader_maps__need(leader, MAPS_TASKS);
	return kind == PROGS_CGROUPS ? leader_maps__need(leader, MAPS_CGROUPS) : 0;
}

int leader_progs__load(struct bperf_leader *leader, enum prog_kind kind)
{
	int err = need_maps(leader, kind);

	if (!err && !is_complete(leader, kind))
		err = kind == PROGS_TASKS ? load_tasks(leader) : load(leader, kind);
	if (!err)
		return 0;
	leader_progs__explain(err);
	/* Callers have words of their own for other errors. */
	return -ENOEXEC;
}

/* --- errors --- */

/*
 * libbpf reports all that can be wrong with the kernel's BTF by one errno: look again. Return: a reason, and
 * its -errno in @err; NULL: nothing is wrong.
 */
static const char *wrong_with_btf(int *err)
{
	struct btf *btf = btf__parse_raw(KERNEL_BTF);

	if (!btf)
		*err = errno == ENOMEM ? -ENOMEM : -EINVAL;
	if (!btf)
		return *err == -ENOMEM ?
			       " (too little memory to read the kernel's BTF: raise the limit with ulimit -v)" :
			       " (the kernel's BTF, kernel/btf/vmlinux below /sys, is empty or cut off: mount sysfs there again)";
	btf__free(btf);
	return NULL;
}

void leader_progs__explain(int err)
{
	char *missing __cleanup(free_ptr) = capability__missing_to_share();
	const char *why = "", *btf;
	char text[128];

	if ((err == -EPERM || err == -EACCES) && missing)
		why = " (needs CAP_BPF, CAP_PERFMON and CAP_SYS_ADMIN: run as root)";
	else if (err == -EPERM || err == -EACCES)
		why = " (we may, as far as we know: a user namespace, whose capabilities are not the machine's, lockdown, or a security module)";
	else if (access(KERNEL_BTF, F_OK))
		why = " (this kernel has no BTF: it needs CONFIG_DEBUG_INFO_BTF)";
	else if ((btf = wrong_with_btf(&err)))
		why = btf;
	else if (err == -EINVAL || err == -ENOTSUP || err == -EOPNOTSUPP)
		why = " (kernel too old, or without a BPF JIT: needs Linux 6.1 and net.core.bpf_jit_enable=1; -vv has the verifier's words)";
	/* libbpf has errors of its own. */
	libbpf_strerror(err, text, sizeof(text));
	pr_err("cannot share events: loading the BPF programs failed: %s%s", text, why);
}
