/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_COUNTER_BPF_COUNTER_H
#define PERF_COUNTER_BPF_COUNTER_H

/*
 * The kinds of targets of shared events: CPUs, tasks, cgroups, BPF programs.
 * util/counter/bperf.c has the life cycle that all kinds share: join, count, leave.
 */

#include <linux/types.h>
#include <stdbool.h>

struct bperf;
struct evsel;

struct bpf_counter;

/* One kind of target. An operation may be left out unless noted. */
struct bpf_counter_ops {
	bool counts_whole_cpus; /* events of a whole package or box can be counted, too */
	bool is_only_shared;	/* without sharing there is no other way to count */

	/** counts() - whether an event is for this kind of target. Never left out */
	bool (*counts)(const struct evsel *evsel);

	/** new() - an object for a session that has such events; NULL: out of memory. Never left out */
	struct bpf_counter *(*new)(struct bperf *bperf);

	/**
	 * open() - have the open events counted for the targets. Never left out
	 *
	 * The attr map must not be locked. Return: 0, or -errno or COUNT_OTHERWISE after a message.
	 */
	int (*open)(struct bpf_counter *self);

	/** wakeup_fd() - readable when the targets have changed; borrowed, -1: none */
	int (*wakeup_fd)(struct bpf_counter *self);

	/** read() - account the readings of all its events. Never left out */
	void (*read)(struct bpf_counter *self);

	/** set_enabled() - the first window opens, the last one closes; a read() follows */
	void (*set_enabled)(struct bpf_counter *self, bool is_enabled);

	/** poll_cgroups(), add_cgroups(), drop_cgroups() - as in struct counter_ops */
	int (*poll_cgroups)(struct bpf_counter *self);
	int (*add_cgroups)(struct bpf_counter *self);
	int (*drop_cgroups)(struct bpf_counter *self);

	/** follow_progs() - as in struct counter_ops */
	int (*follow_progs)(struct bpf_counter *self);

	/** nr_failed() - readings of an event that failed in its windows, besides those accounted */
	__u32 (*nr_failed)(struct bpf_counter *self, const struct evsel *evsel);

	/** report() - warn about what could not be counted */
	void (*report)(struct bpf_counter *self);

	/** leave() - end the session's part in what the leader does not end itself */
	void (*leave)(struct bpf_counter *self);

	/** delete() - free the object, in any state. Never left out */
	void (*delete)(struct bpf_counter *self);
};

/* The targets of one kind in one session. */
struct bpf_counter {
	const struct bpf_counter_ops *ops;
	struct bperf *bperf;
};

#define NR_BPF_COUNTERS 4

extern const struct bpf_counter_ops bpf_program_profiler_ops;
extern const struct bpf_counter_ops bperf_task_ops;
extern const struct bpf_counter_ops bperf_cpu_ops;
extern const struct bpf_counter_ops bperf_cgrp_ops;

#endif
