// SPDX-License-Identifier: GPL-2.0
/* Loading the leader's BPF programs, and later those that follow cgroups. */
#include "leader.h"

#include "attr_map.h"
#include "capability.h"
#include "cpumap.h"
#include "leader_links.h"
#include "leader_tasks.h"
#include "msg.h"
#include "util.h"

#include "bpf_skel/leader.skel.h"

#include <assert.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/*
 * The tracepoint of the link that the attr map names. It must exist in most kernels and practically
 * never fire; a run of on_switch there does no harm.
 */
static const char *const quiet_tracepoints[] = { "sched_process_hang", "cpuhp_enter" };

static int drop_verbose(enum libbpf_print_level level, const char *fmt, va_list ap)
{
	char *text __cleanup(free_ptr) = NULL;

	if (msg__verbose() < 2 || (level == LIBBPF_DEBUG && msg__verbose() < 3))
		return 0;
	if (vasprintf(&text, fmt, ap) < 0) {
		text = NULL;
		return 0;
	}
	pr_text("%s", text);
	return 0;
}

static void explain_load(int err)
{
	char *file __cleanup(free_ptr) = xasprintf("%s/kernel/btf/vmlinux", sysfs_root());
	char *missing __cleanup(free_ptr) = capability__missing_to_share();
	const char *why = "";

	if ((err == -EPERM || err == -EACCES) && missing)
		why = " (needs CAP_BPF, CAP_PERFMON and CAP_SYS_ADMIN: run as root)";
	else if (err == -EPERM || err == -EACCES)
		why = " (we may, as far as we know: a user namespace, whose capabilities are not the machine's, lockdown, or a security module)";
	else if (file && access(file, F_OK))
		why = " (this kernel has no BTF: it needs CONFIG_DEBUG_INFO_BTF)";
	else if (err == -EINVAL || err == -ENOTSUP || err == -EOPNOTSUPP)
		why = " (kernel too old, or without a BPF JIT: needs Linux 6.1 and net.core.bpf_jit_enable=1; -vv has the verifier's words)";
	pr_err("cannot share events: loading the BPF programs failed: %s%s", strerror(-err), why);
}

static int prog_id(int fd, __u32 *id)
{
	struct bpf_prog_info info = {};
	__u32 len = sizeof(info);

	if (bpf_obj_get_info_by_fd(fd, &info, &len))
		return -errno;
	*id = info.id;
	return 0;
}

static struct bpf_link *attach_quiet(struct bpf_program *prog)
{
	for (size_t i = 0; i < ARRAY_SIZE(quiet_tracepoints); i++) {
		struct bpf_link *link = bpf_program__attach_raw_tracepoint(prog,
									   quiet_tracepoints[i]);

		if (link || errno != ENOENT)
			return link;
	}
	errno = ENOENT;
	return NULL;
}

static void list_parts(const struct leader_bpf *skel, struct bpf_map *maps[NR_LEADER_MAPS],
		       struct bpf_program *progs[NR_LEADER_PROGS])
{
	maps[LEADER_REGISTRY] = skel->maps.registry;
	maps[LEADER_EVENTS] = skel->maps.events;
	maps[LEADER_READINGS] = skel->maps.readings;
	maps[LEADER_SHARED] = skel->maps.perf_shared_v0;
	maps[LEADER_CPUS] = skel->maps.cpus;
	maps[LEADER_CLASSES] = skel->maps.classes;
	maps[LEADER_SETS] = skel->maps.sets;
	maps[LEADER_SUMS] = skel->maps.sums;
	maps[LEADER_TASKS] = skel->maps.tasks;
	maps[LEADER_BUCKETS] = skel->maps.buckets;
	maps[LEADER_MARKING] = skel->maps.marking;
	maps[LEADER_TRANSITIONS] = skel->maps.transitions;
	maps[LEADER_WANTED] = skel->maps.wanted;
	maps[LEADER_COUNTS] = skel->maps.counts;
	maps[LEADER_CALLS] = skel->maps.calls;
	maps[LEADER_FOREIGN] = skel->maps.foreign;
	maps[LEADER_DIFFS] = skel->maps.diffs;
	maps[LEADER_CLOCK] = skel->maps.bss;
	maps[LEADER_NEWBORNS] = skel->maps.newborns;
	maps[LEADER_CGROUPS] = skel->maps.cgroups;
	maps[LEADER_CGROUP_IDS] = skel->maps.cgroup_ids;
	progs[LEADER_ON_SWITCH] = skel->progs.on_switch;
	progs[LEADER_ON_SYNC] = skel->progs.on_sync;
	progs[LEADER_ON_NEWTASK] = skel->progs.on_newtask;
	progs[LEADER_ON_RENAME] = skel->progs.on_rename;
	progs[LEADER_ON_EXIT] = skel->progs.on_exit;
	progs[LEADER_ON_FREE] = skel->progs.on_free;
	progs[LEADER_ON_MARK] = skel->progs.on_mark;
	progs[LEADER_ON_EXIT_EVENT] = skel->progs.on_exit_event;
	progs[LEADER_ON_HOTPLUG] = skel->progs.on_hotplug;
	progs[LEADER_ON_CGROUP_SWITCH] = skel->progs.on_cgroup_switch;
	progs[LEADER_ON_CGROUP_SYNC] = skel->progs.on_cgroup_sync;
	progs[LEADER_ON_ATTACH] = skel->progs.on_attach;
	progs[LEADER_ON_MKDIR] = skel->progs.on_mkdir;
}

/* Fill in the registry's header; the layout goes last: it makes the leader complete. */
static int write_header(struct attr_map *attr_map, struct leader_bpf *skel, struct bpf_link *link,
			struct bpf_link *hotplug_link)
{
	struct bpf_map *maps[NR_LEADER_MAPS];
	struct bpf_program *progs[NR_LEADER_PROGS];
	struct registry *reg;
	int err = 0;

	list_parts(skel, maps, progs);
	reg = leader__map_memory(bpf_map__fd(skel->maps.registry), leader__page_up(sizeof(*reg)),
			 PROT_READ | PROT_WRITE);
	if (!reg)
		return -errno;
	for (int i = 0; i < NR_LEADER_MAPS && !err; i++)
		err = leader__map_id(bpf_map__fd(maps[i]), &reg->map_ids[i]);
	for (int i = 0; i < NR_LEADER_PROGS && !err; i++) {
		if (bpf_program__autoload(progs[i]))
			err = prog_id(bpf_program__fd(progs[i]), &reg->prog_ids[i]);
	}
	reg->nr_classes = reg->nr_scopes = 1;
	/* The registry is found among the maps of the program that the link leads to. */
	for (int i = 0; i < NR_LEADER_MAPS && !err; i++) {
		if (bpf_prog_bind_map(bpf_program__fd(skel->progs.on_switch), bpf_map__fd(maps[i]),
				      NULL))
			err = -errno;
	}
	if (!err)
		err = leader__link_id(bpf_link__fd(link), &reg->link_id);
	if (!err && hotplug_link)
		err = leader__link_id(bpf_link__fd(hotplug_link), &reg->hotplug_link_id);
	if (!err) {
		reg->attr_map_id = attr_map->id;
		reg->nr_cpus = bpf_map__max_entries(skel->maps.readings);
		reg->size = sizeof(*reg);
		leader__step("leader-written");
		__atomic_store_n(&reg->layout, LEADER_LAYOUT, __ATOMIC_RELEASE);
		leader__step("leader-complete");
	}
	munmap(reg, leader__page_up(sizeof(*reg)));
	return err;
}

static int open_and_load(int nr_cpus, bool with_kprobe, bool with_cgroups, struct leader_bpf **out)
{
	int chunk __cleanup(close_fd) = leader_tasks__new_chunk(nr_cpus);
	struct bpf_map *maps[NR_LEADER_MAPS];
	struct bpf_program *progs[NR_LEADER_PROGS];
	const char *max_tasks = secure_getenv("PERF_TEST_MAX_TASKS");
	struct leader_bpf *skel;
	int err;

	if (chunk < 0)
		return chunk;
	skel = leader_bpf__open();
	if (!skel)
		return -errno;
	assert(bpf_map__value_size(skel->maps.registry) == sizeof(struct registry));
	skel->rodata->nr_cpus = nr_cpus;
	bpf_map__set_max_entries(skel->maps.events, MAX_EVENTS * nr_cpus);
	bpf_map__set_max_entries(skel->maps.readings, nr_cpus);
	bpf_map__set_max_entries(skel->maps.cpus, nr_cpus);
	bpf_map__set_max_entries(skel->maps.calls, sysconf(_SC_PAGESIZE));
	/* For the tests: so many tasks as there can be, no test can have. */
	if (max_tasks)
		bpf_map__set_max_entries(skel->maps.tasks, atoi(max_tasks));
	/* What chunks look like; libbpf up to 1.4 has no other way to size them. */
	err = bpf_map__set_inner_map_fd(skel->maps.sums, chunk);
	if (err) {
		leader_bpf__destroy(skel);
		return err;
	}
	/* Verified as long as anything else here, so only one of them. */
	bpf_program__set_autoload(skel->progs.on_exit_event, with_kprobe);
	list_parts(skel, maps, progs);
	for (int i = 0; i < NR_LEADER_PROGS; i++) {
		if (leader__is_for_cgroups(i))
			bpf_program__set_autoload(progs[i], with_cgroups);
	}
	bpf_program__set_autoload(skel->progs.on_exit, !with_kprobe);
	err = leader_bpf__load(skel);
	if (!err && with_kprobe)
		err = leader_links__try_kprobe(bpf_program__fd(skel->progs.on_exit_event));
	if (err) {
		leader_bpf__destroy(skel);
		return err;
	}
	*out = skel;
	return 0;
}

/* A leader of our own making is joined like any other: by its ids. */
int leader__load(struct attr_map *attr_map, bool with_cgroups, struct leader **out)
{
	char *kprobes __cleanup(free_ptr) =
		xasprintf("%s/bus/event_source/devices/kprobe", sysfs_root());
	struct cpumap *possible = cpumap__possible();
	bool with_kprobe = kprobes && !access(kprobes, F_OK);
	struct leader_bpf *skel = NULL;
	struct bpf_link *link = NULL, *hotplug_link = NULL;
	int err, fd;

	if (!possible)
		return -errno;
	libbpf_set_print(drop_verbose);
	err = open_and_load(cpumap__max(possible) + 1, with_kprobe, with_cgroups, &skel);
	if (err && with_kprobe)
		err = open_and_load(cpumap__max(possible) + 1, false, with_cgroups, &skel);
	if (err)
		goto out;
	link = attach_quiet(skel->progs.on_switch);
	if (!link) {
		err = -errno;
		goto out;
	}
	hotplug_link = bpf_program__attach(skel->progs.on_hotplug);
	if (!hotplug_link)
		pr_verbose("CPUs that come back will not be noticed: %s", strerror(errno));
	err = write_header(attr_map, skel, link, hotplug_link);
	if (err)
		goto out;
	fd = fcntl(bpf_map__fd(skel->maps.registry), F_DUPFD_CLOEXEC, 3);
	err = fd < 0 ? -errno : leader__from_registry(attr_map, fd, out);
out:
	if (err)
		explain_load(err);
	bpf_link__destroy(link);
	bpf_link__destroy(hotplug_link);
	leader_bpf__destroy(skel);
	cpumap__delete(possible);
	return err;
}

/* Let others find the programs. */
static int add_cgroup_progs(struct leader *leader, struct bpf_program *const *progs)
{
	int err = 0;

	for (int i = 0; i < NR_LEADER_PROGS && !err; i++) {
		if (!leader__is_for_cgroups(i))
			continue;
		close_fd(&leader->prog_fds[i]);
		leader->prog_fds[i] = fcntl(bpf_program__fd(progs[i]), F_DUPFD_CLOEXEC, 3);
		if (leader->prog_fds[i] < 0)
			return -errno;
		err = prog_id(leader->prog_fds[i], &leader->registry->prog_ids[i]);
	}
	return err;
}

/* The same object once more, with the leader's maps and only these programs. */
int leader__load_cgroups(struct leader *leader)
{
	struct bpf_map *maps[NR_LEADER_MAPS];
	struct bpf_program *progs[NR_LEADER_PROGS];
	struct leader_bpf *skel;
	bool is_there = true;
	int err = 0;

	for (int i = 0; i < NR_LEADER_PROGS; i++) {
		__u32 id = leader->registry->prog_ids[i];

		if (!leader__is_for_cgroups(i))
			continue;
		if (leader->prog_fds[i] < 0 && id)
			leader->prog_fds[i] = bpf_prog_get_fd_by_id(id);
		is_there &= leader->prog_fds[i] >= 0;
	}
	if (is_there)
		return 0;
	libbpf_set_print(drop_verbose);
	skel = leader_bpf__open();
	if (!skel)
		return -errno;
	list_parts(skel, maps, progs);
	skel->rodata->nr_cpus = leader->nr_cpus;
	for (int i = 0; i < NR_LEADER_MAPS && !err; i++)
		err = bpf_map__reuse_fd(maps[i], leader->map_fds[i]);
	for (int i = 0; i < NR_LEADER_PROGS; i++)
		bpf_program__set_autoload(progs[i], leader__is_for_cgroups(i));
	if (!err)
		err = leader_bpf__load(skel);
	if (!err)
		err = add_cgroup_progs(leader, progs);
	if (err)
		explain_load(err);
	leader_bpf__destroy(skel);
	return err;
}
