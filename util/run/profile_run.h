/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_RUN_PROFILE_RUN_H
#define PERF_RUN_PROFILE_RUN_H

/* The life of one perf profile: start the workload, sample, collect, hand over reports. */

#include "util/profile/early_maps.h"
#include "util/profile/profile_ranges.h"
#include "util/profile/samples.h"
#include "util/run/stat_run.h"
#include "util/sample/sampler.h"

#include <signal.h>

struct each_sample;
struct evlist;
struct prog_object;
struct sample_source;
struct symbols;

/* The samples of an interval, or of the whole time. */
struct profile_round {
	const struct sample_account *accounts; /* of each event, since the last round */
	uint64_t time_ns;		       /* since sampling began */
	uint64_t elapsed_ns;		       /* since the last round */
};

struct profile_run {
	/* Shared with perf stat: target, delay, timeout, intervals, control, signal, attr map, tasks. */
	struct stat_run base;
	struct sampler_options
		sampling; /* profile_run__once() fills in target, CPUs, events and workload */
	struct evlist *events;
	struct profile_ranges ranges; /* --range: only samples of these; the caller clears it */
	struct prog_object *prog;     /* --prog: runs at each sample; borrowed. NULL: none */
	bool no_bpf;		      /* --no-bpf: ring buffers, although sharing may be possible */
	struct symbols *symbols;      /* borrowed */
	struct samples samples;	      /* since the last round; the caller resets it */
	struct each_sample *each; /* --each: also every single sample; borrowed. NULL: not wanted */

	/* Prints run->samples. Return: 0 or -errno after a message. */
	int (*report)(void *ctx, const struct profile_round *round);
	/*
	 * Keys of perf top, or NULL. Called once before the first samples, and whenever the run wakes up. It may
	 * change the interval. Return: 0, 1: end the run, or -errno.
	 */
	int (*input)(void *ctx);
	int input_fd;		       /* wakes the run up; -1: none */
	const sigset_t *input_signals; /* these also wake it up, and come at no other time */
	void *ctx;

	/* Set while it runs. */
	struct cpumap *cpus; /* -C: those that are online */
	struct sample_source *source;
	struct early_maps early_maps;
	struct sample_account *accounts;     /* of each event, of the round */
	struct sample_account *old_accounts; /* up to the round */
	struct sample_sum *lost;	     /* of each event: there was no memory for them */
	uint64_t look_at_ns, old_round_ns;
	int last_cpu; /* of the last entry of a collection; -1: none */
	bool has_sampled;
	bool has_bad_range; /* a name that nothing has */
};

/**
 * profile_run__once() - sample until the target ends, the time is over or a signal comes
 * @status: receives the exit status of the workload
 *
 * Return: STATUS_OK, or, after a message, STATUS_INVALID: there are no such tasks; STATUS_FAILED.
 */
enum stat_status profile_run__once(struct profile_run *run, int *status);

#endif
