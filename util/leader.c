// SPDX-License-Identifier: GPL-2.0
#include "leader.h"

#include "attr_map.h"
#include "capability.h"
#include "cpumap.h"
#include "leader_events.h"
#include "leader_links.h"
#include "leader_serve.h"
#include "leader_tasks.h"
#include "msg.h"
#include "prog_pair.h"
#include "registry.h"
#include "util.h"

#include "bpf_skel/leader.skel.h"

#include <assert.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>

/*
 * The tracepoint of the link that the attr map names. It must exist in most kernels and practically
 * never fire; a run of on_switch there does no harm.
 */
static const char *const quiet_tracepoints[] = { "sched_process_hang", "cpuhp_enter" };

#define SYNC_TRIES 1000

/*
 * Whether an id still names something, asked without taking a reference: two who ask must not keep
 * the dead alive for each other. Not being allowed to ask does not make anything dead.
 */
static bool is_next(int err, __u32 id, __u32 next)
{
	return err ? err != ENOENT : next == id;
}

bool leader__is_run_alive(__u32 token)
{
	__u32 next = 0;
	int err = bpf_map_get_next_id(token - 1, &next) ? errno : 0;

	return is_next(err, token, next);
}

bool leader__is_link_alive(__u32 id)
{
	__u32 next = 0;
	int err;

	if (!id)
		return false;
	err = bpf_link_get_next_id(id - 1, &next) ? errno : 0;
	return is_next(err, id, next);
}

/* --- the world around the registry --- */

static bool io_is_alive(void *ctx __unused, __u32 token)
{
	return leader__is_run_alive(token);
}

static bool io_is_followed(void *ctx, int first)
{
	return leader_serve__has_followers(((struct leader_opening *)ctx)->leader, first);
}

/*
 * For the tests of crashes: PERF_TEST_KILL_AT=STEP ends the process there, as SIGKILL would; with a
 * number N at the N-th step, whatever its name, which is told.
 */
void leader__step(const char *name)
{
	const char *stop = getenv("PERF_TEST_KILL_AT");
	static int nr;

	nr++;
	if (!stop || (strcmp(stop, name) && atoi(stop) != nr))
		return;
	pr_text("killed at %s\n", name);
	kill(getpid(), SIGKILL);
}

static struct registry_io make_io(struct leader_opening *opening)
{
	return (struct registry_io){
		.is_alive = io_is_alive,
		.open = leader_events__open,
		.close = leader_events__close,
		.announce = leader_events__announce,
		.is_followed = io_is_followed,
		.step = leader__step,
		.ctx = opening,
	};
}

/* --- finding and loading --- */

static struct leader *leader__alloc(struct attr_map *attr_map)
{
	struct leader *leader = calloc(1, sizeof(*leader));

	if (!leader)
		return NULL;
	leader->attr_map = attr_map;
	leader->link_fd = -1;
	leader->hotplug_link_fd = -1;
	leader->token_fd = -1;
	leader->run = -1;
	memset(leader->map_fds, -1, sizeof(leader->map_fds));
	memset(leader->prog_fds, -1, sizeof(leader->prog_fds));
	memset(leader->task_link_fds, -1, sizeof(leader->task_link_fds));
	return leader;
}

void *leader__map_memory(int fd, size_t size, int prot)
{
	void *mem = mmap(NULL, size, prot, MAP_SHARED, fd, 0);

	return mem == MAP_FAILED ? NULL : mem;
}

/* The kernel rounds a value up to 8 bytes and the whole array up to pages. */
size_t leader__page_up(size_t size)
{
	size_t page = sysconf(_SC_PAGESIZE);

	return (size + page - 1) / page * page;
}

static size_t readings_size(const struct leader *leader)
{
	return leader__page_up(leader->nr_cpus * sizeof(struct cpu_readings));
}

static bool is_for_cgroups(enum leader_prog prog)
{
	return prog == LEADER_ON_CGROUP_SWITCH || prog == LEADER_ON_CGROUP_SYNC ||
	       prog == LEADER_ON_ATTACH || prog == LEADER_ON_MKDIR;
}

/*
 * Take hold of every part that the registry names. A part that is gone means that the last run has
 * just ended and the leader is being taken apart: -ENOENT.
 */
static int take_parts(struct leader *leader)
{
	const struct registry *reg = leader->registry;

	leader->nr_cpus = reg->nr_cpus;
	leader->link_fd = bpf_link_get_fd_by_id(reg->link_id);
	if (leader->link_fd < 0)
		return -errno;
	if (reg->hotplug_link_id) {
		leader->hotplug_link_fd = bpf_link_get_fd_by_id(reg->hotplug_link_id);
		if (leader->hotplug_link_fd < 0)
			return -errno;
	}
	for (int i = 0; i < NR_LEADER_MAPS; i++) {
		if (leader->map_fds[i] < 0)
			leader->map_fds[i] = bpf_map_get_fd_by_id(reg->map_ids[i]);
		if (leader->map_fds[i] < 0)
			return -errno;
	}
	for (int i = 0; i < NR_LEADER_PROGS; i++) {
		/* One is optional: 0 where the kernel would not have it. */
		if (!reg->prog_ids[i])
			continue;
		leader->prog_fds[i] = bpf_prog_get_fd_by_id(reg->prog_ids[i]);
		/* Those for cgroups live no longer than the runs that count cgroups. */
		if (leader->prog_fds[i] < 0 && !is_for_cgroups(i))
			return -errno;
	}
	leader->readings = leader__map_memory(leader->map_fds[LEADER_READINGS], readings_size(leader),
				      PROT_READ);
	return leader->readings ? leader_tasks__map(leader) : -errno;
}

/*
 * A leader through its registry, whose descriptor this takes over. -ENOENT: not one of our layout
 * for this attr map, or not complete.
 */
static int from_registry(struct attr_map *attr_map, int fd, struct leader **out)
{
	struct leader *leader = leader__alloc(attr_map);
	int err;

	if (!leader) {
		close(fd);
		return -ENOMEM;
	}
	leader->map_fds[LEADER_REGISTRY] = fd;
	leader->registry = leader__map_memory(fd, leader__page_up(sizeof(struct registry)), PROT_READ | PROT_WRITE);
	if (!leader->registry) {
		err = -errno;
		goto out;
	}
	err = -ENOENT;
	if (leader->registry->layout != LEADER_LAYOUT ||
	    leader->registry->size != sizeof(struct registry) ||
	    leader->registry->attr_map_id != attr_map->id)
		goto out;
	err = take_parts(leader);
out:
	if (err)
		leader__delete(leader);
	else
		*out = leader;
	return err;
}

/* The registry among the maps of a link's program, if that is a leader of our kind; -1: none. */
static int find_registry(__u32 link_id)
{
	int link __cleanup(close_fd) = bpf_link_get_fd_by_id(link_id);
	int prog __cleanup(close_fd) = -1;
	struct bpf_link_info link_info = {};
	__u32 map_ids[64];
	struct bpf_prog_info info = {};
	__u32 len = sizeof(link_info);

	if (link < 0 || bpf_obj_get_info_by_fd(link, &link_info, &len) ||
	    link_info.type != BPF_LINK_TYPE_RAW_TRACEPOINT)
		return -1;
	prog = bpf_prog_get_fd_by_id(link_info.prog_id);
	info.map_ids = (uintptr_t)map_ids;
	info.nr_map_ids = ARRAY_SIZE(map_ids);
	len = sizeof(info);
	if (prog < 0 || bpf_obj_get_info_by_fd(prog, &info, &len) || strcmp(info.name, "on_switch"))
		return -1;
	for (__u32 i = 0; i < info.nr_map_ids && i < ARRAY_SIZE(map_ids); i++) {
		int fd = bpf_map_get_fd_by_id(map_ids[i]);
		struct bpf_map_info map = {};

		len = sizeof(map);
		if (fd >= 0 && !bpf_obj_get_info_by_fd(fd, &map, &len) &&
		    map.type == BPF_MAP_TYPE_ARRAY && !strcmp(map.name, "registry") &&
		    map.value_size == sizeof(struct registry) && map.max_entries == 1)
			return fd;
		close_fd(&fd);
	}
	return -1;
}

struct find_ctx {
	struct attr_map *attr_map;
	struct leader *found;
	__u32 last_link;	/* entries of one leader all name the same link */
};

static int from_link(struct find_ctx *ctx, __u32 link_id)
{
	int fd = find_registry(link_id), err;

	if (fd < 0)
		return 0;
	err = from_registry(ctx->attr_map, fd, &ctx->found);
	return err == -ENOMEM ? err : ctx->found != NULL;
}

static int visit_entry(void *data, const struct attr_map_value *value, bool *drop)
{
	struct find_ctx *ctx = data;

	if (!leader__is_link_alive(value->link_id)) {
		*drop = true;
		return 0;
	}
	if (ctx->found || value->link_id == ctx->last_link)
		return 0;
	ctx->last_link = value->link_id;
	return from_link(ctx, value->link_id) < 0 ? -ENOMEM : 0;
}

/* Entries can be missing: a full map, a crash between loading and announcing. Then ask the kernel. */
static int walk_links(struct find_ctx *ctx)
{
	__u32 id = 0;
	int err = 0;

	while (!err && !bpf_link_get_next_id(id, &id))
		err = from_link(ctx, id);
	return err < 0 ? err : 0;
}

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

int leader__map_id(int fd, __u32 *id)
{
	struct bpf_map_info info = {};
	__u32 len = sizeof(info);

	if (bpf_obj_get_info_by_fd(fd, &info, &len))
		return -errno;
	*id = info.id;
	return 0;
}

int leader__link_id(int fd, __u32 *id)
{
	struct bpf_link_info info = {};
	__u32 len = sizeof(info);

	if (bpf_obj_get_info_by_fd(fd, &info, &len))
		return -errno;
	*id = info.id;
	return 0;
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
	if (getenv("PERF_TEST_MAX_TASKS"))
		bpf_map__set_max_entries(skel->maps.tasks, atoi(getenv("PERF_TEST_MAX_TASKS")));
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
		if (is_for_cgroups(i))
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
static int load(struct attr_map *attr_map, bool with_cgroups, struct leader **out)
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
	err = fd < 0 ? -errno : from_registry(attr_map, fd, out);
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
		if (!is_for_cgroups(i))
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

		if (!is_for_cgroups(i))
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
		bpf_program__set_autoload(progs[i], is_for_cgroups(i));
	if (!err)
		err = leader_bpf__load(skel);
	if (!err)
		err = add_cgroup_progs(leader, progs);
	if (err)
		explain_load(err);
	leader_bpf__destroy(skel);
	return err;
}

static int register_run(struct leader *leader)
{
	struct leader_opening opening = { .leader = leader };
	const struct registry_io io = make_io(&opening);
	struct reg_run run = { .pid = getpid(), .start_ns = clock_ns() };
	int err;

	leader->token_fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "perf_run", sizeof(__u32),
					  sizeof(__u32), 1, NULL);
	if (leader->token_fd < 0)
		return -errno;
	err = leader__map_id(leader->token_fd, &run.token);
	if (err)
		return err;
	prctl(PR_GET_NAME, run.comm);
	leader__repair(leader);
	leader->run = registry__add_run(leader->registry, &io, &run);
	if (leader->run < 0)
		pr_err("cannot share events: %d runs count already, the most there can be", MAX_RUNS);
	return leader->run < 0 ? leader->run : 0;
}

int leader__find(struct attr_map *attr_map, struct leader **out)
{
	struct find_ctx ctx = { .attr_map = attr_map };
	int err;

	err = attr_map__each(attr_map, visit_entry, &ctx);
	if (!err && !ctx.found)
		err = walk_links(&ctx);
	*out = ctx.found;
	return err;
}

int leader__join(struct attr_map *attr_map, bool with_cgroups, struct leader **out)
{
	struct leader *leader;
	bool said = false;
	int err;

	err = leader__find(attr_map, &leader);
	if (!err && !leader) {
		err = load(attr_map, with_cgroups, &leader);
		said = err != 0;
	}
	if (!err)
		err = register_run(leader);
	if (err) {
		if (!said && err != -ENOSPC)
			pr_err("cannot share events: %s%s", strerror(-err),
			       err == -EPERM ? " (needs CAP_SYS_ADMIN: run as root)" : "");
		leader__delete(leader);
		return err;
	}
	*out = leader;
	return 0;
}

void leader__set_mode(struct leader *leader, __u32 mode, bool on)
{
	for (int cpu = 0; cpu < leader->nr_cpus; cpu++) {
		__u32 *word = &leader->cpus[cpu].mode;

		__atomic_store_n(word, on ? *word | mode : *word & ~mode, __ATOMIC_RELEASE);
	}
}

void leader__repair(struct leader *leader)
{
	struct leader_opening opening = { .leader = leader };
	const struct registry_io io = make_io(&opening);

	leader_tasks__repair(leader);
	prog_pairs__repair(leader);
	registry__repair(leader->registry, &io);
	leader_serve__repair(leader);
	leader_events__repair(leader);
}

int leader__add_events(struct leader *leader, const struct attr_key *keys, int nr,
		       const struct cpumap *cpus, int *refused)
{
	struct leader_opening opening = { .leader = leader, .cpus = cpus, .refused = -1 };
	const struct registry_io io = make_io(&opening);
	int first;

	first = nr > MAX_EVENTS ? -ENOSPC : registry__join(leader->registry, &io, leader->run, keys, nr);
	*refused = opening.refused;
	return first;
}

void leader__leave(struct leader *leader)
{
	struct leader_opening opening = { .leader = leader };
	const struct registry_io io = make_io(&opening);

	leader__repair(leader);
	if (leader->run >= 0)
		leader_tasks__remove_scopes(leader, leader->run);
	if (leader->run >= 0)
		prog_pairs__leave(leader, leader->run);
	if (leader->run >= 0)
		registry__remove_run(leader->registry, &io, leader->run);
	leader->run = -1;
}

void leader__delete(struct leader *leader)
{
	if (!leader)
		return;
	leader_tasks__detach(leader);
	leader_events__unmap(leader);
	if (leader->readings)
		munmap(leader->readings, readings_size(leader));
	if (leader->registry)
		munmap(leader->registry, leader__page_up(sizeof(*leader->registry)));
	close_fd(&leader->token_fd);
	close_fd(&leader->link_fd);
	close_fd(&leader->hotplug_link_fd);
	for (int i = 0; i < NR_LEADER_PROGS; i++)
		close_fd(&leader->prog_fds[i]);
	for (int i = 0; i < NR_LEADER_MAPS; i++)
		close_fd(&leader->map_fds[i]);
	free(leader);
}

/* --- reading --- */

/* The highest slot in a mask, plus 1. */
static uint64_t nr_slots(const uint64_t mask[MASK_WORDS])
{
	for (int w = MASK_WORDS - 1; w >= 0; w--) {
		if (mask[w])
			return w * 64 + 64 - __builtin_clzll(mask[w]);
	}
	return 0;
}

/* Run a program on a CPU until it says that it has done its work. */
static int run_on(int prog_fd, int cpu, const uint64_t *args, size_t size)
{
	LIBBPF_OPTS(bpf_test_run_opts, opts, .ctx_in = args, .ctx_size_in = size,
		    .flags = BPF_F_TEST_RUN_ON_CPU, .cpu = cpu);

	for (int i = 0; i < SYNC_TRIES; i++) {
		if (bpf_prog_test_run_opts(prog_fd, &opts)) {
			if (errno == EINTR || errno == EAGAIN)
				continue;
			return -errno;
		}
		if (opts.retval == 1)
			return 0;
		sched_yield();	/* another run's sync is under way there */
	}
	return -EBUSY;
}

int leader__sync(const struct leader *leader, int cpu, const uint64_t mask[MASK_WORDS],
		 bool with_tasks)
{
	uint64_t args[MASK_WORDS + 2];

	memcpy(args, mask, MASK_WORDS * sizeof(*args));
	args[MASK_WORDS] = nr_slots(mask);
	args[MASK_WORDS + 1] = with_tasks;
	return run_on(leader->prog_fds[LEADER_ON_SYNC], cpu, args, sizeof(args));
}

int leader__sync_cgroup(const struct leader *leader, int cpu)
{
	return run_on(leader->prog_fds[LEADER_ON_CGROUP_SYNC], cpu, NULL, 0);
}

void leader__readings(const struct leader *leader, int cpu, const int *slots, int nr,
		      struct event_reading *out)
{
	const struct cpu_readings *row =
		(const struct cpu_readings *)leader->readings + cpu;
	uint64_t seq;

	/* A writer is gone within microseconds: it runs in an interrupt or with preemption off. */
	do {
		seq = __atomic_load_n(&row->seq, __ATOMIC_ACQUIRE);
		for (int i = 0; i < nr; i++)
			out[i] = *(const volatile struct event_reading *)&row->event[slots[i]];
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
	} while (seq & 1 || __atomic_load_n(&row->seq, __ATOMIC_RELAXED) != seq);
}
