// SPDX-License-Identifier: GPL-2.0
#include "util/bperf/leader_sync.h"

#include "util/bperf/crash_point.h"
#include "util/bperf/leader_internal.h"
#include "util/bperf/seq_wait.h"
#include "util/host/bpf_info.h"
#include "util/lib/util.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <sched.h>
#include <string.h>
#include <unistd.h>

#define SYNC_TRIES   1000
#define SYNC_WAIT_US 100

/* The highest slot in a mask, plus 1. */
static uint64_t nr_slots(const uint64_t mask[MASK_WORDS])
{
	for (int w = MASK_WORDS - 1; w >= 0; w--) {
		if (mask[w])
			return w * 64 + 64 - __builtin_clzll(mask[w]);
	}
	return 0;
}

/* Run a program on a CPU until it returns that its work is done. */
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
		/* Another session's sync is under way there, or on_hotplug, which Linux 7 can preempt. */
		if (i < SYNC_TRIES / 10)
			sched_yield();
		else
			usleep(SYNC_WAIT_US);
	}
	return -EBUSY;
}

int leader_sync__cpu(const struct bperf_leader *leader, int cpu, const uint64_t mask[MASK_WORDS])
{
	uint64_t args[MASK_WORDS + 1];

	memcpy(args, mask, MASK_WORDS * sizeof(*args));
	args[MASK_WORDS] = nr_slots(mask);
	return run_on(leader->prog_fds[LEADER_ON_SYNC], cpu, args, sizeof(args));
}

void leader_sync__readings(const struct bperf_leader *leader, int cpu, const int *slots, int nr,
			   struct event_reading *out)
{
	const struct cpu_readings *row = (const struct cpu_readings *)leader->readings + cpu;
	struct seq_wait wait = {};

	/* A writer is gone within microseconds: it runs in an interrupt or with preemption off. */
	do {
		uint64_t seq = __atomic_load_n(&row->seq, __ATOMIC_ACQUIRE);

		for (int i = 0; i < nr; i++)
			out[i] = *(const volatile struct event_reading *)&row->event[slots[i]];
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		if (!(seq & 1) && __atomic_load_n(&row->seq, __ATOMIC_RELAXED) == seq)
			return;
	} while (seq_wait__more(&wait));
	for (int i = 0; i < nr; i++)
		out[i] = (struct event_reading){.err = EAGAIN};
}

int leader_sync__task(const struct bperf_leader *leader, int cpu)
{
	int prog_fd = leader->prog_fds[LEADER_ON_TASK_SYNC];

	return prog_fd < 0 ? 0 : run_on(prog_fd, cpu, NULL, 0);
}

bool leader_sync__scope_set(const struct cpu_state *state, __u32 *scope_set)
{
	struct seq_wait wait = {};

	do {
		__u64 seq = __atomic_load_n(&state->seq, __ATOMIC_ACQUIRE);

		*scope_set = __atomic_load_n(&state->scope_set[SCOPE_SET_TASK], __ATOMIC_ACQUIRE);
		if (!(seq & 1) && __atomic_load_n(&state->seq, __ATOMIC_ACQUIRE) == seq)
			return true;
	} while (seq_wait__more(&wait));
	return false;
}

int leader_sync__tasks(struct bperf_leader *leader, leader_sync__filter is_wanted, void *ctx)
{
	for (int cpu = 0; cpu < leader->nr_cpus; cpu++) {
		int err;

		if (is_wanted && !is_wanted(ctx, &leader->cpus[cpu]))
			continue;
		err = leader_sync__task(leader, cpu);
		crash_point__reach("synced");
		/* An offline CPU runs nothing; one that went while a scope set ran there stopped then. */
		if (err && err != -ENXIO)
			return err;
	}
	return 0;
}

static int sync_cgroup(struct bperf_leader *leader, int cpu)
{
	int err = run_on(leader->prog_fds[LEADER_ON_CGROUP_SYNC], cpu, NULL, 0);

	crash_point__reach("cgroup-synced");
	return err;
}

int leader_sync__cgroups(struct bperf_leader *leader, leader_sync__filter is_wanted, void *ctx)
{
	for (int cpu = 0; cpu < leader->nr_cpus; cpu++) {
		int err = is_wanted(ctx, &leader->cpus[cpu]) ? sync_cgroup(leader, cpu) : 0;

		/* An offline CPU runs nothing. */
		if (err && err != -ENXIO)
			return err;
	}
	return 0;
}

/* Return: whether a CPU charges the scope set that its cgroup has now; false: nobody can tell. */
static bool is_up_to_date(const struct bperf_leader *leader, int cpu)
{
	uint64_t args[] = {cpu};
	LIBBPF_OPTS(bpf_test_run_opts, opts, .ctx_in = args, .ctx_size_in = sizeof(args));

	/* Sums of a scope set that the CPU has just left may still be on their way to us. */
	return !bpf_prog_test_run_opts(leader->prog_fds[LEADER_ON_CGROUP_LOOK], &opts) &&
	       opts.retval == 1 && !(__atomic_load_n(&leader->cpus[cpu].seq, __ATOMIC_ACQUIRE) & 1);
}

int leader_sync__changed_cgroups(struct bperf_leader *leader)
{
	for (int cpu = 0; cpu < leader->nr_cpus; cpu++) {
		__u32 *scope_set = &leader->cpus[cpu].scope_set[SCOPE_SET_CGROUP];
		__u32 last = __atomic_load_n(scope_set, __ATOMIC_ACQUIRE);
		int err = is_up_to_date(leader, cpu) ? 0 : sync_cgroup(leader, cpu);

		/* An offline CPU runs nothing, and does not begin with what it was last in. It can be online by now. */
		if (err == -ENXIO)
			__atomic_compare_exchange_n(scope_set, &last, 0, false, __ATOMIC_ACQ_REL,
						    __ATOMIC_ACQUIRE);
		else if (err)
			return err;
	}
	return 0;
}

/* The kernel waits for that when a map of maps is changed. */
int leader_sync__wait(void)
{
	int inner __cleanup(close_fd) = bpf_info__new_map("perf_wait", -1);
	int outer __cleanup(close_fd) = inner < 0 ? inner : bpf_info__new_map("perf_waits", inner);
	__u32 key = 0;

	if (outer < 0)
		return outer;
	if (bpf_map_update_elem(outer, &key, &inner, BPF_ANY))
		return -errno;
	crash_point__reach("waited");
	return 0;
}
