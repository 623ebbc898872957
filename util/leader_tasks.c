// SPDX-License-Identifier: GPL-2.0
#include "leader_tasks.h"

#include "capability.h"
#include "classes.h"
#include "cpumap.h"
#include "leader.h"
#include "leader_cgroups.h"
#include "leader_links.h"
#include "leader_newborns.h"
#include "msg.h"
#include "util.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

/* Grace periods until tasks that were being released are gone. */
#define RELEASE_WAITS 3
/* For tasks that are made, but not woken yet: that takes microseconds, or somebody holds it up. */
#define BIRTH_TRIES 100
#define BIRTH_WAIT_US 1000

/* --- memory --- */

static struct sum_block *find_block(void *ctx, int chunk, int cpu)
{
	struct leader *leader = ctx;
	size_t size = leader__page_up(leader->nr_cpus * sizeof(struct sum_block));

	if (!leader->chunks[chunk] && leader->registry->chunk_ids[chunk]) {
		int fd __cleanup(close_fd) = -1;

		/* Others can have made it while we were counting. */
		capability__raise();
		fd = bpf_map_get_fd_by_id(leader->registry->chunk_ids[chunk]);
		capability__lower();
		leader->chunks[chunk] = leader__map_memory(fd, size, PROT_READ | PROT_WRITE);
	}
	return leader->chunks[chunk] ? &leader->chunks[chunk][cpu] : NULL;
}

int leader_tasks__new_chunk(int nr_cpus)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = BPF_F_MMAPABLE);
	int fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "sums", sizeof(__u32),
				sizeof(struct sum_block), nr_cpus, &opts);

	return fd < 0 ? -errno : fd;
}

/* The map of maps keeps it; a chunk stays as long as the leader. */
static int add_chunk(void *ctx, int chunk)
{
	struct leader *leader = ctx;
	struct bpf_map_info info = {};
	__u32 len = sizeof(info), key = chunk;
	int fd __cleanup(close_fd) = leader_tasks__new_chunk(leader->nr_cpus);

	if (fd < 0)
		return fd;
	if (bpf_obj_get_info_by_fd(fd, &info, &len) ||
	    bpf_map_update_elem(leader->map_fds[LEADER_SUMS], &key, &fd, BPF_ANY))
		return -errno;
	leader->registry->chunk_ids[chunk] = info.id;
	return find_block(leader, chunk, 0) ? 0 : -ENOMEM;
}

static void *map_table(const struct leader *leader, enum leader_map map, size_t size)
{
	return leader__map_memory(leader->map_fds[map], leader__page_up(size),
				  PROT_READ | PROT_WRITE);
}

static void unmap_table(void *table, size_t size)
{
	if (table)
		munmap(table, leader__page_up(size));
}

int leader_tasks__map(struct leader *leader)
{
	struct classes *c = &leader->classes;

	leader->cpus = map_table(leader, LEADER_CPUS, leader->nr_cpus * sizeof(*leader->cpus));
	leader->buckets = map_table(leader, LEADER_BUCKETS, sizeof(struct task_bucket) << BUCKET_BITS);
	leader->marking = map_table(leader, LEADER_MARKING, sizeof(*leader->marking));
	leader->counts = map_table(leader, LEADER_COUNTS, sizeof(*leader->counts));
	leader->cgroup_clock = map_table(leader, LEADER_CLOCK, sizeof(*leader->cgroup_clock));
	leader->newborns = map_table(leader, LEADER_NEWBORNS,
				     MAX_NEWBORNS * sizeof(*leader->newborns));
	leader->cgroups = map_table(leader, LEADER_CGROUPS,
				    MAX_CGROUPS * sizeof(*leader->cgroups));
	c->reg = leader->registry;
	c->class = map_table(leader, LEADER_CLASSES, MAX_CLASSES * sizeof(*c->class));
	c->set = map_table(leader, LEADER_SETS, MAX_SETS * sizeof(*c->set));
	c->nr_cpus = leader->nr_cpus;
	c->block = find_block;
	c->add_chunk = add_chunk;
	c->step = leader__step;
	c->ctx = leader;
	return leader->cpus && leader->buckets && leader->marking && leader->counts &&
			       leader->cgroup_clock && leader->newborns && leader->cgroups && c->class && c->set ?
		       0 :
		       -ENOMEM;
}

void leader_tasks__detach(struct leader *leader)
{
	leader_links__close(leader);
	unmap_table(leader->cgroup_clock, sizeof(*leader->cgroup_clock));
	unmap_table(leader->newborns, MAX_NEWBORNS * sizeof(*leader->newborns));
	unmap_table(leader->cgroups, MAX_CGROUPS * sizeof(*leader->cgroups));
	unmap_table(leader->cpus, leader->nr_cpus * sizeof(*leader->cpus));
	unmap_table(leader->buckets, sizeof(struct task_bucket) << BUCKET_BITS);
	unmap_table(leader->marking, sizeof(*leader->marking));
	unmap_table(leader->counts, sizeof(*leader->counts));
	unmap_table(leader->classes.class, MAX_CLASSES * sizeof(struct reg_class));
	unmap_table(leader->classes.set, MAX_SETS * sizeof(struct reg_set));
	for (int i = 0; i < MAX_CHUNKS; i++)
		unmap_table(leader->chunks[i], leader->nr_cpus * sizeof(struct sum_block));
}

/* --- sync --- */

int leader_tasks__sync(struct leader *leader, bool (*is_wanted)(void *ctx, int class), void *ctx)
{
	const uint64_t no_events[MASK_WORDS] = {};

	for (int cpu = 0; cpu < leader->nr_cpus; cpu++) {
		__u32 class = __atomic_load_n(&leader->cpus[cpu].class[OF_TASK],
					      __ATOMIC_ACQUIRE);
		int err;

		if (is_wanted && !is_wanted(ctx, class))
			continue;
		err = leader__sync(leader, cpu, no_events, true);
		leader__step("synced");
		/* An offline CPU runs nothing; one that went while a class ran there stopped then. */
		if (err && err != -ENXIO)
			return err;
	}
	return 0;
}

/* The kernel waits for that when a map of maps is changed. */
int leader_tasks__wait(void)
{
	int inner __cleanup(close_fd) = bpf_map_create(BPF_MAP_TYPE_ARRAY, "perf_wait",
						       sizeof(__u32), sizeof(__u32), 1, NULL);
	LIBBPF_OPTS(bpf_map_create_opts, opts, .inner_map_fd = inner);
	int outer __cleanup(close_fd) = bpf_map_create(BPF_MAP_TYPE_ARRAY_OF_MAPS, "perf_waits",
						       sizeof(__u32), sizeof(__u32), 1, &opts);
	__u32 key = 0;

	if (inner < 0 || outer < 0 || bpf_map_update_elem(outer, &key, &inner, BPF_ANY))
		return -errno;
	leader__step("waited");
	return 0;
}

__u64 leader_tasks__lost(const struct leader *leader)
{
	__u64 lost = leader->counts->failed_inserts;

	for (int cpu = 0; cpu < leader->nr_cpus; cpu++)
		lost += leader->cpus[cpu].failed_reads + leader->cpus[cpu].lost;
	return lost + leader_links__skipped(leader);
}

/* --- following --- */

/* Nobody has followed the tasks for a while: what the tables say of them means nothing. */
static int purge(struct leader *leader)
{
	struct classes *c = &leader->classes;
	__u64 task;
	int err;

	/* Nobody ever has: there is nothing to look for. */
	if (leader->registry->nr_scopes == 1)
		return 0;
	leader__set_mode(leader, MODE_TASKS, false);
	/* A link's id goes before its program is detached: what still runs could write after us. */
	err = leader_tasks__wait();
	if (err)
		return err;
	while (!bpf_map_get_next_key(leader->map_fds[LEADER_TASKS], NULL, &task)) {
		if (bpf_map_delete_elem(leader->map_fds[LEADER_TASKS], &task) && errno != ENOENT)
			return -errno;
	}
	memset(leader->buckets, 0, sizeof(struct task_bucket) << BUCKET_BITS);
	leader__step("buckets-emptied");
	err = leader_tasks__sync(leader, NULL, NULL);
	if (err)
		return err;
	/* Whatever an offline CPU ran when nobody looked, it does not any more. */
	for (int cpu = 0; cpu < leader->nr_cpus; cpu++)
		leader->cpus[cpu].class[OF_TASK] = 0;
	for (__u32 i = 1; i < leader->registry->nr_classes; i++) {
		if (c->class[i].state != REG_FREE && !classes__of_cgroups(c, i))
			err = classes__fold(c, i, 0);
		if (err)
			return err;
	}
	for (__u32 i = 1; i < leader->registry->nr_scopes; i++) {
		if (leader->registry->scope[i].run && !leader->registry->scope[i].cgroup)
			classes__free_scope(c, i);
	}
	return 0;
}

int leader_tasks__attach(struct leader *leader)
{
	int err = leader_links__take(leader, LINKS_TASKS);

	/* Any other error says nothing of the links: what others count must not be cleared. */
	if (err == -ENOENT) {
		err = purge(leader);
		if (!err)
			err = leader_links__make(leader, LINKS_TASKS);
		if (!err)
			leader__set_mode(leader, MODE_TASKS, true);
	}
	return err;
}

/* --- marking --- */

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

/* Tell on_mark where tasks of a class go; and that those which are there already stay. */
static int add_transition(struct leader *leader, __u32 from, __u32 to)
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
		err = to ? add_transition(leader, class, to) : 0;
		if (err)
			return err;
		if (bpf_map_delete_elem(fd, &class))
			return -errno;
	}
	return 0;
}

static void begin_marking(struct leader *leader, enum mark_when when)
{
	struct mark_request *request = leader->marking;

	request->when = when;
	request->op++;
	if (request->nr_transitions > MAX_TRANSITIONS / 2)
		forget_transitions(leader);
}

int leader_tasks__mark(struct leader *leader, int scope, enum mark_kind kind, pid_t nr,
		       enum mark_when when, bool *is_changed)
{
	const struct mark_request *request = leader->marking;
	bool all = false;
	int found = 0, tries = 0, to, err;

	begin_marking(leader, when);
	/* The common case, without a walk to find it out: nobody counts them yet. */
	to = classes__with(&leader->classes, 0, scope);
	err = to < 0 ? to : add_transition(leader, 0, to);
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

/* --- the end of scopes --- */

static bool is_of_run(const struct leader *leader, int scope, int run)
{
	return leader->registry->scope[scope].run == (__u32)run + 1;
}

/* Whether a class has a scope of the run, and how many of all. */
static bool find_scope(const struct leader *leader, int class, int run, int *depth)
{
	const struct reg_class *table = leader->classes.class;
	bool is_found = false;

	*depth = 0;
	for (; class; class = table[class].base) {
		++*depth;
		is_found |= is_of_run(leader, table[class].scope, run);
	}
	return is_found;
}

/* Whether tasks are in a class with a scope of the run. */
static bool has_tasks(const struct leader *leader, int run)
{
	int depth;

	for (__u32 i = 1; i < leader->registry->nr_classes; i++) {
		const struct reg_class *class = &leader->classes.class[i];

		if (class->state == REG_READY && class->members &&
		    find_scope(leader, i, run, &depth))
			return true;
	}
	return false;
}

/* Whether a CPU is in one, or may just be leaving one. */
static bool has_cpus(const struct leader *leader, int run)
{
	int depth;

	for (int cpu = 0; cpu < leader->nr_cpus; cpu++) {
		const struct cpu_state *state = &leader->cpus[cpu];
		__u32 class = __atomic_load_n(&state->class[OF_TASK], __ATOMIC_ACQUIRE);

		/* It may have left a class whose sums are still on their way to us. */
		if (find_scope(leader, class, run, &depth) ||
		    __atomic_load_n(&state->seq, __ATOMIC_ACQUIRE) & 1)
			return true;
	}
	return false;
}

static int unmark(struct leader *leader, int run)
{
	const struct mark_request *request = leader->marking;
	bool has_waited = false;
	int err = 0, depth;

	begin_marking(leader, MARK_NOW);
	for (__u32 i = 1; i < leader->registry->nr_classes && !err; i++) {
		int to;

		if (leader->classes.class[i].state != REG_READY ||
		    classes__of_cgroups(&leader->classes, i) ||
		    !find_scope(leader, i, run, &depth))
			continue;
		to = classes__without(&leader->classes, i, run);
		err = to < 0 ? to : add_transition(leader, i, to);
	}
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

/* Whether a run has scopes of tasks, or of cgroups. @run -1: any run */
static bool has_scopes(const struct leader *leader, int run, enum class_kind kind)
{
	for (__u32 i = 1; i < leader->registry->nr_scopes; i++) {
		const struct reg_scope *scope = &leader->registry->scope[i];

		if (run < 0 ? scope->run : is_of_run(leader, i, run)) {
			if (!scope->cgroup == (kind == OF_TASK))
				return true;
		}
	}
	return false;
}

struct leaving_class { int class, depth; };

/* Those with the most scopes first: bases go last. */
static int compare_depth(const void *a, const void *b)
{
	return ((const struct leaving_class *)b)->depth - ((const struct leaving_class *)a)->depth;
}

/* Give up all classes of a kind with a scope of the run; nothing is in them any more. */
static int fold_all(struct leader *leader, int run, enum class_kind kind)
{
	struct leaving_class *leaving __cleanup(free_ptr) =
		malloc(leader->registry->nr_classes * sizeof(*leaving));
	int nr = 0, err = 0;

	if (!leaving)
		return -ENOMEM;
	for (__u32 i = 1; i < leader->registry->nr_classes; i++) {
		if (leader->classes.class[i].state == REG_READY &&
		    classes__of_cgroups(&leader->classes, i) == (kind == OF_CGROUP) &&
		    find_scope(leader, i, run, &leaving[nr].depth))
			leaving[nr++].class = i;
	}
	qsort(leaving, nr, sizeof(*leaving), compare_depth);
	for (int i = 0; i < nr && !err; i++) {
		int into = classes__without(&leader->classes, leaving[i].class, run);

		err = into < 0 ? into : classes__fold(&leader->classes, leaving[i].class, into);
	}
	return err;
}

/* No task is in a class with a scope of the run any more. */
static int leave_tasks(struct leader *leader, int run)
{
	int err = 0;

	if (has_tasks(leader, run) || has_cpus(leader, run))
		err = unmark(leader, run);
	/* A task that was just released is in no walk any more, and out of its class a little later. */
	for (int i = 0; i < RELEASE_WAITS && !err && has_tasks(leader, run); i++)
		err = leader_tasks__wait();
	/* From inside a pid namespace not all can be seen: somebody outside will. */
	return !err && has_tasks(leader, run) ? -EAGAIN : err;
}

/* What cannot be removed must not be taken for another run's that gets the same number. */
static void end_scopes(struct leader *leader, int run, enum class_kind kind, bool is_removed)
{
	for (__u32 i = 1; i < leader->registry->nr_scopes; i++) {
		if (!is_of_run(leader, i, run) ||
		    !leader->registry->scope[i].cgroup != (kind == OF_TASK))
			continue;
		if (is_removed)
			classes__free_scope(&leader->classes, i);
		else
			classes__drop_scope(&leader->classes, i);
	}
}

void leader_tasks__remove_kind(struct leader *leader, int run, enum class_kind kind)
{
	int err;

	if (!has_scopes(leader, run, kind) &&
	    !(kind == OF_CGROUP && leader_newborns__watches(leader, run)))
		return;
	err = kind == OF_TASK ? leave_tasks(leader, run) : leader_cgroups__unmark(leader, run);
	if (!err)
		err = fold_all(leader, run, kind);
	end_scopes(leader, run, kind, !err);
	if (err)
		pr_verbose("what was counted could not all be removed: %s", strerror(-err));
}

void leader_tasks__remove_scopes(struct leader *leader, int run)
{
	leader_tasks__remove_kind(leader, run, OF_TASK);
	leader_tasks__remove_kind(leader, run, OF_CGROUP);
}

void leader_tasks__repair(struct leader *leader)
{
	const struct registry *reg = leader->registry;
	bool has_any[NO_RUN + 1] = {};

	classes__repair(&leader->classes);
	/* The last run that counted tasks died: nothing follows them any more. */
	if (has_scopes(leader, -1, OF_TASK) && !leader_links__are_alive(leader, LINKS_TASKS))
		purge(leader);
	/* Of runs that died, and what those that left could not remove. */
	for (__u32 i = 1; i < reg->nr_scopes; i++) {
		if (reg->scope[i].run && reg->scope[i].run <= NO_RUN + 1)
			has_any[reg->scope[i].run - 1] = true;
	}
	for (int run = NO_RUN; run >= 0; run--) {
		if (has_any[run] && (run == NO_RUN || !reg->run[run].token ||
				     !leader__is_run_alive(reg->run[run].token)))
			leader_tasks__remove_scopes(leader, run);
	}
}

int leader_tasks__add_scope(struct leader *leader, const __u16 *slots, const __u8 *is_switches,
			    int nr, bool inherits, __u64 cgroup)
{
	int set = classes__add_set(&leader->classes, slots, is_switches, nr);

	if (set < 0)
		return set;
	return classes__add_scope(&leader->classes, leader->run, set, inherits, cgroup);
}
