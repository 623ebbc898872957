// SPDX-License-Identifier: GPL-2.0
#include "util/counter/bperf_progs.h"

#include "util/bperf/leader.h"
#include "util/bperf/pair_entry.h"
#include "util/bperf/prog_columns.h"
#include "util/bperf/prog_pair.h"
#include "util/lib/array.h"
#include "util/lib/msg.h"
#include "util/lib/util.h"
#include "util/target/bpf_prog.h"
#include "util/target/bpf_prog_list.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* How long a session that begins waits for others that put probes at the same programs. */
#define JOIN_WAIT_MS 1000
/* A replaced program is given up when it has not run for this time. */
#define IDLE_NS	   (10 * NSEC_PER_SEC)
#define AT_ONCE_NS (500 * NSEC_PER_MSEC)
/* The kernel frees a program a moment after its last user has let go of it. */
#define LOOK_AGAIN_NS NSEC_PER_SEC

/* Executions of a program on all CPUs that its counts lack, or have only in part. */
struct irregular {
	__u64 executions;
	__u64 preempted;
	__u64 unmeasured;
	__u64 unseen;
	__u64 unread[MAX_EVENTS]; /* by event */
	__u64 preempted_counts[MAX_EVENTS];
};

struct counted_prog {
	struct prog_pair pair;		/* idx -1: not joined */
	int column[MAX_EVENTS];		/* of each event */
	struct prog_cpu *cpus;		/* as last read; NULL: not counted */
	struct irregular base, windows; /* where the window began; in those that are over */
	__u64 runs;			/* of one that was replaced: at the last look, */
	uint64_t idle_since_ns;		/* since when there were no more; 0: not looked yet */
	uint64_t look_again_ns;		/* when one that was given up should be gone */
	uint64_t waits_since_ns;	/* for another session that works at the pair; 0: no wait */
};

struct bperf_progs {
	struct bperf_leader *leader;
	struct bpf_prog_list *targets;
	int nr_cpus;
	bool has_stuck; /* a CPU that could not be read has been reported */
	int nr;		/* events */
	int slots[MAX_EVENTS];
	const char *names[MAX_EVENTS];
	int nr_progs;
	struct counted_prog *prog; /* one per target */
};

static bool is_joined(const struct bperf_progs *progs, int target)
{
	return target < progs->nr_progs && progs->prog[target].pair.idx >= 0;
}

bool bperf_progs__is_counted(const struct bperf_progs *progs, int target)
{
	return is_joined(progs, target) && progs->prog[target].cpus;
}

static void forget(struct counted_prog *prog)
{
	free(prog->cpus);
	*prog = (struct counted_prog){.pair.idx = -1};
}

static void read_one(struct bperf_progs *progs, int t)
{
	for (int cpu = 0; cpu < progs->nr_cpus; cpu++) {
		if (prog_pair__copy(&progs->prog[t].pair, cpu, &progs->prog[t].cpus[cpu]) ||
		    progs->has_stuck)
			continue;
		pr_warn("CPU %d is always in the middle of adding up what a BPF program did: its counts are late",
			cpu);
		progs->has_stuck = true;
	}
}

/* --- executions that could not be counted exactly --- */

static void look(const struct bperf_progs *progs, const struct counted_prog *prog,
		 struct irregular *irregular)
{
	memset(irregular, 0, sizeof(*irregular));
	irregular->unseen = prog_pair__unseen(&prog->pair);
	for (int cpu = 0; cpu < progs->nr_cpus; cpu++) {
		const struct prog_cpu *state = &prog->cpus[cpu];

		irregular->executions += state->runs;
		irregular->preempted += state->preempted;
		irregular->unmeasured += state->unmeasured;
		for (int i = 0; i < progs->nr; i++) {
			irregular->unread[i] += state->unread[prog->column[i]];
			irregular->preempted_counts[i] +=
				state->preempted_sum[prog->column[i]].counter;
		}
	}
}

static void end_one(const struct bperf_progs *progs, struct counted_prog *prog)
{
	struct irregular now;
	/* All members are numbers of one kind. */
	__u64 *to = (__u64 *)&prog->windows;
	const __u64 *from = (const __u64 *)&now, *base = (const __u64 *)&prog->base;

	look(progs, prog, &now);
	for (size_t i = 0; i < sizeof(now) / sizeof(*to); i++)
		to[i] += from[i] - base[i];
}

/* "cycles 123, instructions 456"; owned. */
static char *preempted_text(const struct bperf_progs *progs, const struct irregular *irregular)
{
	char *text = strdup("");

	for (int i = 0; i < progs->nr && text; i++) {
		char *longer = xasprintf("%s%s%s %" PRIu64, text, i ? ", " : "", progs->names[i],
					 (uint64_t)irregular->preempted_counts[i]);

		free(text);
		text = longer;
	}
	return text;
}

static void report_one(const struct bperf_progs *progs, const struct bpf_prog *target,
		       const struct irregular *irregular)
{
	char *who __cleanup(free_ptr) = xasprintf("'%s' (id %u)", target->name, target->id);
	char *counts __cleanup(free_ptr) = preempted_text(progs, irregular);

	if (!who || !counts)
		return;
	if (irregular->preempted)
		pr_warn("%s: %llu of %llu executions were preempted; their counts are excluded: %s",
			who, irregular->preempted, irregular->executions, counts);
	if (irregular->unmeasured)
		pr_warn("%s: %llu of %llu executions are counted without events: nobody saw them begin",
			who, irregular->unmeasured, irregular->executions);
	if (irregular->unseen)
		pr_warn("%s: %llu more executions ended unseen: they interrupted the counting of another (recursion_misses)",
			who, irregular->unseen);
	for (int i = 0; i < progs->nr; i++) {
		if (irregular->unread[i])
			pr_warn("%s: '%s' could not be read in %llu of %llu executions", who,
				progs->names[i], irregular->unread[i], irregular->executions);
	}
}

/* --- joining --- */

static int grow(struct bperf_progs *progs)
{
	while (progs->nr_progs < progs->targets->nr) {
		struct counted_prog *added = array__add(progs->prog, progs->nr_progs);

		if (!added)
			return -ENOMEM;
		added->pair.idx = -1;
	}
	return 0;
}

static int set_up(struct bperf_progs *progs, struct counted_prog *prog)
{
	for (int i = 0; i < progs->nr; i++) {
		prog->column[i] = prog_columns__find(prog->pair.plan, progs->slots[i]);
		/* Another session has just removed our columns from the plan. */
		if (prog->column[i] < 0)
			return -ESTALE;
	}
	prog->cpus = calloc(progs->nr_cpus, sizeof(*prog->cpus));
	return prog->cpus ? 0 : -ENOMEM;
}

/* Also those that another look joined, and found no memory for. Return: how many are counted now, or -errno. */
static int set_up_all(struct bperf_progs *progs)
{
	int nr = 0, err = 0;

	for (int t = 0; t < progs->nr_progs; t++) {
		int one;

		if (!is_joined(progs, t) || bperf_progs__is_counted(progs, t))
			continue;
		one = set_up(progs, &progs->prog[t]);
		nr += !one;
		err = err ? err : one;
	}
	return err ? err : nr;
}

/* Collect the wanted programs; with all programs as target, leave out perf's own. */
static int collect(struct bperf_progs *progs, struct pair_request *requests)
{
	struct bpf_prog_list *targets = progs->targets;
	int nr = 0;

	for (int t = 0; t < targets->nr; t++) {
		struct bpf_prog *target = &targets->prog[t];

		if (target->state != BPF_PROG_WANTED || is_joined(progs, t))
			continue;
		if (target->is_any && pair_entries__has_prog(progs->leader, target->id)) {
			bpf_prog_list__leave_out(targets, target, "a part of this perf");
			continue;
		}
		requests[nr++] = (struct pair_request){target, &progs->prog[t].pair, 0};
	}
	return nr;
}

/* Another session works at the pair of a new program, usually for milliseconds. */
static bool may_wait(struct bperf_progs *progs, const struct pair_request *request)
{
	struct counted_prog *prog = &progs->prog[request->target - progs->targets->prog];
	uint64_t now_ns = clock_ns();

	if (request->err != -EAGAIN)
		return false;
	if (!prog->waits_since_ns)
		prog->waits_since_ns = now_ns;
	return now_ns - prog->waits_since_ns < JOIN_WAIT_MS * NSEC_PER_MSEC;
}

/* Report a program now; if another session works at its pair, try it again later. */
static void leave_out(struct bperf_progs *progs, const struct pair_request *request)
{
	struct bpf_prog *target = &progs->targets->prog[request->target - progs->targets->prog];
	char *why __cleanup(free_ptr) = prog_pairs__why_not(progs->leader, request);

	bpf_prog_list__leave_out(progs->targets, target, why ? why : strerror(-request->err));
	if (request->err == -EAGAIN)
		target->state = BPF_PROG_WANTED;
}

/* @failed: a program that was not joined, preferably a named one. Return: how many are counted now, or -errno */
static int join(struct bperf_progs *progs, bool waits, struct pair_request *failed)
{
	struct pair_request *requests __cleanup(free_ptr) =
		calloc(progs->targets->nr + 1, sizeof(*requests));
	int nr, nr_counted, err;

	if (!requests || grow(progs))
		return -ENOMEM;
	nr = collect(progs, requests);
	err = prog_pairs__join(progs->leader, requests, nr, waits);
	for (int i = 0; i < nr; i++) {
		if (requests[i].pair->idx >= 0 || err || (!waits && may_wait(progs, &requests[i])))
			continue;
		leave_out(progs, &requests[i]);
		if (!failed->target || !failed->target->is_named)
			*failed = requests[i];
	}
	nr_counted = set_up_all(progs);
	return err ? err : nr_counted;
}

static void report_failed(const struct bperf_leader *leader, const struct pair_request *failed)
{
	char *why __cleanup(free_ptr) = prog_pairs__why_not(leader, failed);

	pr_err("cannot count '%s' (id %u): %s", failed->target->name, failed->target->id,
	       why ? why : strerror(-failed->err));
}

int bperf_progs__new(struct bperf_leader *leader, struct bpf_prog_list *targets, const int *slots,
		     const char *const *names, int nr, struct bperf_progs **out)
{
	struct bperf_progs *progs = calloc(1, sizeof(*progs));
	struct pair_request failed = {};
	int nr_counted;

	if (!progs)
		return -ENOMEM;
	progs->leader = leader;
	progs->targets = targets;
	progs->nr_cpus = bperf_leader__nr_cpus(leader);
	progs->nr = nr;
	memcpy(progs->slots, slots, nr * sizeof(*slots));
	memcpy(progs->names, names, nr * sizeof(*names));
	nr_counted = join(progs, true, &failed);
	*out = progs;
	if (nr_counted < 0)
		return nr_counted;
	if (!failed.target || (nr_counted && !failed.target->is_named))
		return 0;
	report_failed(leader, &failed);
	return failed.err;
}

/* --- coming and going --- */

/*
 * A program that still exists a second after it was given up has another user, and is counted again to the
 * end. If only another session keeps it, both sessions try to let go once more, at the same time.
 */
static void look_again(struct bperf_progs *progs, int t)
{
	struct bpf_prog *target = &progs->targets->prog[t], again;
	struct counted_prog *prog = &progs->prog[t];
	__u32 next = 0;

	if (clock_ns() < prog->look_again_ns)
		return;
	prog->look_again_ns = clock_ns() + LOOK_AGAIN_NS;
	if (bpf_prog_get_next_id(target->id - 1, &next) ? errno == ENOENT : next != target->id) {
		target->state = BPF_PROG_OVER;
		return;
	}
	if (bpf_prog__by_id(target->id, &again))
		return;
	target->fd = again.fd;
	again.fd = -1;
	bpf_prog__clear(&again);
	target->state = BPF_PROG_WANTED;
	target->stays =
		target->nr_given_up > 1 || !pair_entries__has_pair(progs->leader, target->id);
}

int bperf_progs__follow(struct bperf_progs *progs, bool is_enabled)
{
	struct pair_request failed = {};
	int first = progs->nr_progs, nr;
	bool *was_counted __cleanup(free_ptr) = calloc(progs->targets->nr + 1, sizeof(bool));

	if (!was_counted)
		return -ENOMEM;
	for (int t = 0; t < first; t++) {
		was_counted[t] = bperf_progs__is_counted(progs, t);
		if (progs->targets->prog[t].state == BPF_PROG_GIVEN_UP)
			look_again(progs, t);
	}
	nr = join(progs, false, &failed);
	for (int t = 0; t < progs->nr_progs && nr && is_enabled; t++) {
		if (!was_counted[t] && bperf_progs__is_counted(progs, t)) {
			read_one(progs, t);
			look(progs, &progs->prog[t], &progs->prog[t].base);
		}
	}
	return nr;
}

int bperf_progs__find_idle(struct bperf_progs *progs)
{
	uint64_t now_ns = clock_ns();

	for (int t = 0; t < progs->nr_progs; t++) {
		const struct bpf_prog *target = &progs->targets->prog[t];
		struct counted_prog *prog = &progs->prog[t];
		__u64 runs;

		if (!target->is_replaced || target->stays || !bperf_progs__is_counted(progs, t))
			continue;
		runs = prog_pair__runs(&prog->pair);
		if (!prog->idle_since_ns || runs != prog->runs)
			prog->idle_since_ns = now_ns;
		prog->runs = runs;
		/* The second time, all sessions at once. */
		if (now_ns - prog->idle_since_ns >= IDLE_NS &&
		    (!target->nr_given_up || now_ns % IDLE_NS <= AT_ONCE_NS))
			return t;
	}
	return -1;
}

int bperf_progs__give_up(struct bperf_progs *progs, int t, bool is_enabled)
{
	struct bpf_prog *target = &progs->targets->prog[t];
	struct counted_prog *prog = &progs->prog[t];
	struct prog_pair *pair = &prog->pair;
	int err;

	read_one(progs, t);
	if (is_enabled)
		end_one(progs, prog);
	err = prog_pairs__leave(progs->leader, &pair, 1);
	if (err) {
		if (is_enabled)
			look(progs, prog, &prog->base);
		return err;
	}
	pr_verbose("'%s' (id %u) has a newer one and has not run for 10 s: it is given up",
		   target->name, target->id);
	report_one(progs, target, &prog->windows);
	forget(prog);
	prog->look_again_ns = clock_ns() + LOOK_AGAIN_NS;
	close_fd(&target->fd);
	target->state = BPF_PROG_GIVEN_UP;
	target->nr_given_up++;
	return 0;
}

void bperf_progs__leave(struct bperf_progs *progs)
{
	struct prog_pair **pairs __cleanup(free_ptr) =
		progs ? calloc(progs->nr_progs + 1, sizeof(*pairs)) : NULL;
	int nr = 0;

	if (!progs)
		return;
	for (int t = 0; pairs && t < progs->nr_progs; t++) {
		if (is_joined(progs, t))
			pairs[nr++] = &progs->prog[t].pair;
	}
	/* Without the lock, leave our part; the next session removes it with our others. */
	(void)prog_pairs__leave(progs->leader, pairs, nr);
}

void bperf_progs__delete(struct bperf_progs *progs)
{
	if (!progs)
		return;
	for (int t = 0; t < progs->nr_progs; t++) {
		if (progs->prog[t].pair.idx >= 0)
			prog_pair__put(&progs->prog[t].pair);
		forget(&progs->prog[t]);
	}
	free(progs->prog);
	free(progs);
}

void bperf_progs__read(struct bperf_progs *progs)
{
	for (int t = 0; t < progs->nr_progs; t++) {
		if (bperf_progs__is_counted(progs, t))
			read_one(progs, t);
	}
}

struct counts_values bperf_progs__event(const struct bperf_progs *progs, int target, int cpu,
					int event)
{
	const struct counted_prog *prog = &progs->prog[target];
	const struct sum *sum;

	if (cpu >= progs->nr_cpus)
		return (struct counts_values){};
	sum = &prog->cpus[cpu].sum[prog->column[event]];
	return (struct counts_values){
		.value = sum->counter,
		.enabled_ns = sum->enabled_ns,
		.running_ns = sum->running_ns,
	};
}

__u64 bperf_progs__runs(const struct bperf_progs *progs, int target, int cpu, bool exact)
{
	const struct prog_cpu *state;

	if (cpu >= progs->nr_cpus)
		return 0;
	state = &progs->prog[target].cpus[cpu];
	return exact ? state->runs - state->preempted - state->unmeasured : state->runs;
}

void bperf_progs__begin(struct bperf_progs *progs)
{
	for (int t = 0; t < progs->nr_progs; t++) {
		if (bperf_progs__is_counted(progs, t))
			look(progs, &progs->prog[t], &progs->prog[t].base);
	}
}

void bperf_progs__end(struct bperf_progs *progs)
{
	for (int t = 0; t < progs->nr_progs; t++) {
		if (bperf_progs__is_counted(progs, t))
			end_one(progs, &progs->prog[t]);
	}
}

void bperf_progs__report(const struct bperf_progs *progs)
{
	for (int t = 0; t < progs->nr_progs; t++) {
		if (bperf_progs__is_counted(progs, t))
			report_one(progs, &progs->targets->prog[t], &progs->prog[t].windows);
	}
}
