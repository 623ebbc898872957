// SPDX-License-Identifier: GPL-2.0
#include "leader.h"

#include "attr_map.h"
#include "leader_events.h"
#include "leader_serve.h"
#include "leader_scopes.h"
#include "msg.h"
#include "prog_pair.h"
#include "registry.h"
#include "util.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

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

/* --- memory and ids --- */

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
	const char *stop = secure_getenv("PERF_TEST_KILL_AT");
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

/* --- a run --- */

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

int leader__join(struct attr_map *attr_map, bool with_cgroups, struct leader **out)
{
	struct leader *leader;
	bool said = false;
	int err;

	err = leader__find(attr_map, &leader);
	if (!err && !leader) {
		err = leader__load(attr_map, with_cgroups, &leader);
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

	leader_scopes__repair(leader);
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
	if (leader->run < 0)
		return;
	leader_scopes__remove(leader, leader->run);
	prog_pairs__leave(leader, leader->run);
	registry__remove_run(leader->registry, &io, leader->run);
	leader->run = -1;
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
