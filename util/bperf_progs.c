// SPDX-License-Identifier: GPL-2.0
#include "bperf_progs.h"

#include "bpf_target.h"
#include "leader.h"
#include "msg.h"
#include "prog_pair.h"
#include "util.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* What is known of a program on all CPUs besides its counts. */
struct oddities {
	__u64 runs;
	__u64 switched;
	__u64 unmeasured;
	__u64 unseen;
	__u64 unread[MAX_EVENTS];	/* by event */
	__u64 apart[MAX_EVENTS];
};

struct counted_prog {
	struct prog_pair pair;
	int column[MAX_EVENTS];		/* of each event */
	struct prog_cpu *cpus;		/* as last read */
	struct oddities base, windows;	/* where the window began; in those that are over */
};

struct bperf_progs {
	const struct bpf_targets *targets;
	int nr_cpus;
	int nr;				/* events */
	const char *names[MAX_EVENTS];
	struct counted_prog prog[];	/* one per target */
};

int bperf_progs__new(struct leader *leader, const struct bpf_targets *targets, const int *slots,
		     const char *const *names, int nr, struct bperf_progs **out)
{
	struct bperf_progs *progs = calloc(1, sizeof(*progs) +
						      targets->nr * sizeof(progs->prog[0]));
	int err = progs ? 0 : -ENOMEM;

	if (err)
		return err;
	progs->targets = targets;
	progs->nr_cpus = leader->nr_cpus;
	progs->nr = nr;
	memcpy(progs->names, names, nr * sizeof(*names));
	for (int t = 0; t < targets->nr; t++)
		progs->prog[t].pair.idx = -1;
	for (int t = 0; t < targets->nr && !err; t++) {
		struct counted_prog *prog = &progs->prog[t];

		prog->cpus = calloc(progs->nr_cpus, sizeof(*prog->cpus));
		err = prog->cpus ? prog_pair__join(leader, &targets->target[t], &prog->pair) :
				   -ENOMEM;
		for (int i = 0; i < nr && !err; i++)
			prog->column[i] = prog_pair__column(&prog->pair, slots[i]);
	}
	if (err)
		bperf_progs__delete(progs);
	else
		*out = progs;
	return err;
}

void bperf_progs__delete(struct bperf_progs *progs)
{
	if (!progs)
		return;
	for (int t = 0; t < progs->targets->nr; t++) {
		if (progs->prog[t].pair.idx >= 0)
			prog_pair__put(&progs->prog[t].pair);
		free(progs->prog[t].cpus);
	}
	free(progs);
}

void bperf_progs__read(struct bperf_progs *progs)
{
	for (int t = 0; t < progs->targets->nr; t++) {
		for (int cpu = 0; cpu < progs->nr_cpus; cpu++)
			prog_pair__copy(&progs->prog[t].pair, cpu, &progs->prog[t].cpus[cpu]);
	}
}

struct event_reading bperf_progs__event(const struct bperf_progs *progs, int target, int cpu,
					int event)
{
	const struct counted_prog *prog = &progs->prog[target];
	const struct sum *sum = &prog->cpus[cpu].sum[prog->column[event]];

	return (struct event_reading){
		.counter = sum->counter,
		.enabled_ns = sum->enabled_ns,
		.running_ns = sum->running_ns,
	};
}

__u64 bperf_progs__runs(const struct bperf_progs *progs, int target, int cpu, bool exact)
{
	const struct prog_cpu *state = &progs->prog[target].cpus[cpu];

	return exact ? state->runs - state->switched - state->unmeasured : state->runs;
}

/* --- what could not be counted as it should --- */

static void look(const struct bperf_progs *progs, const struct counted_prog *prog,
		 struct oddities *odd)
{
	memset(odd, 0, sizeof(*odd));
	odd->unseen = prog_pair__unseen(&prog->pair);
	for (int cpu = 0; cpu < progs->nr_cpus; cpu++) {
		const struct prog_cpu *state = &prog->cpus[cpu];

		odd->runs += state->runs;
		odd->switched += state->switched;
		odd->unmeasured += state->unmeasured;
		for (int i = 0; i < progs->nr; i++) {
			odd->unread[i] += state->unread[prog->column[i]];
			odd->apart[i] += state->apart[prog->column[i]].counter;
		}
	}
}

void bperf_progs__begin(struct bperf_progs *progs)
{
	for (int t = 0; t < progs->targets->nr; t++)
		look(progs, &progs->prog[t], &progs->prog[t].base);
}

void bperf_progs__end(struct bperf_progs *progs)
{
	for (int t = 0; t < progs->targets->nr; t++) {
		struct counted_prog *prog = &progs->prog[t];
		struct oddities now;
		/* All members are numbers of one kind. */
		__u64 *to = (__u64 *)&prog->windows;
		const __u64 *from = (const __u64 *)&now, *base = (const __u64 *)&prog->base;

		look(progs, prog, &now);
		for (size_t i = 0; i < sizeof(now) / sizeof(*to); i++)
			to[i] += from[i] - base[i];
	}
}

/* "cycles 123, instructions 456"; owned. */
static char *apart_text(const struct bperf_progs *progs, const struct oddities *odd)
{
	char *text = strdup("");

	for (int i = 0; i < progs->nr && text; i++) {
		char *longer = xasprintf("%s%s%s %" PRIu64, text, i ? ", " : "", progs->names[i],
					 (uint64_t)odd->apart[i]);

		free(text);
		text = longer;
	}
	return text;
}

static void say_one(const struct bperf_progs *progs, const struct bpf_target *target,
		    const struct oddities *odd)
{
	char *who __cleanup(free_ptr) = xasprintf("'%s' (id %u)", target->name, target->id);
	char *apart __cleanup(free_ptr) = apart_text(progs, odd);

	if (!who || !apart)
		return;
	if (odd->switched)
		pr_warn("%s: in %llu of %llu runs the CPU was given to other tasks meanwhile; what events counted in these, others' work included, is not in the counts: %s",
			who, odd->switched, odd->runs, apart);
	if (odd->unmeasured)
		pr_warn("%s: %llu of %llu runs count as runs only: nobody saw them begin", who,
			odd->unmeasured, odd->runs);
	if (odd->unseen)
		pr_warn("%s: %llu more runs ended unseen: they interrupted the counting of another (recursion_misses)",
			who, odd->unseen);
	for (int i = 0; i < progs->nr; i++) {
		if (odd->unread[i])
			pr_warn("%s: '%s' could not be read in %llu of %llu runs", who,
				progs->names[i], odd->unread[i], odd->runs);
	}
}

void bperf_progs__say(const struct bperf_progs *progs)
{
	for (int t = 0; t < progs->targets->nr; t++)
		say_one(progs, &progs->targets->target[t], &progs->prog[t].windows);
}
