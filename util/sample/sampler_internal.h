/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_SAMPLE_SAMPLER_INTERNAL_H
#define PERF_SAMPLE_SAMPLER_INTERNAL_H

/* The state of one sampling session, for the files of this room. */

#include "util/lib/byte_buffer.h"
#include "util/sample/sample_object.h"
#include "util/sample/sample_singles.h"
#include "util/sample/sample_sleepers.h"
#include "util/sample/sample_types.h"

struct cpumap;

/* An event of the session. */
struct sampled_event {
	int slot;	  /* -1: not claimed */
	uint64_t rate;	  /* that the session asks for */
	double per_ms;	  /* samples of a busy CPU in a millisecond, at that rate */
	bool is_clock;	  /* its count is time */
	bool is_periodic; /* of SAMPLE_CLASS_PERIOD */
	bool takes_idle;
	bool weighs_count;	     /* each sample has all that was counted since the last one */
	uint64_t credit;	     /* that all CPUs began with */
	struct sample_reading *last; /* per CPU: as of the last sync */
	struct sample_reading sum;   /* of all CPUs, while enabled */
	bool stops_throttled;	     /* it does not count while it is throttled */
	double stopped;		     /* estimate of what it did not count because of that */
	double idle_rest,
		mode_rest; /* estimates of what no sample stands for, as the parts of sum.seen */
	double idle_missed; /* of a clock: idle time without samples, where the kernel tells the idle time */
	struct sample_sum kept, truncated, unreadable, late;
	uint64_t *read_ns;  /* per CPU: behind the last reading; 0: none, or it was offline */
	bool *is_absent;    /* per CPU: it could not be opened there */
	uint64_t absent_ns; /* of all CPUs, while enabled */
	bool has_warned;
};

struct sampler {
	struct sampler_options options;
	struct attr_map *attr_map;
	struct bperf_leader *leader;
	struct sample_object object;
	bool has_object;
	int number; /* of the sampler; -1: none */
	int table_fd;
	struct sample_table *tables; /* one per CPU of the leader */
	struct sample_singles singles;
	struct sampled_event *events;
	int nr_events;
	bool has_clocks; /* of these events */
	uint64_t *idle_ns,
		*last_idle_ns; /* per CPU: cpu_idle__read() at this sync and the last one */
	bool has_scopes;       /* it samples tasks or cgroups */
	uint64_t lost;	       /* switches and tasks that nobody could follow before */
	uint64_t slots;	       /* mask */
	uint64_t given_up;     /* mask of slots of others that it could not bring up to date */
	uint64_t failed;       /* mask of its own slots with an event that could not be opened */
	bool is_enabled;
	uint64_t enabled_at_ns, disabled_at_ns;
	bool has_rates; /* its events sample at its rates; a session that is disabled for long lets go of them */
	uint64_t begun_ns;	  /* the last collection; enabling is one */
	uint64_t *heads;	  /* per CPU: of the store of stacks then */
	struct byte_buffer taken; /* rows of a collection, with their stacks */
	int wakeup_fd;		  /* epoll: wakeups by the leader's programs */
	bool has_late;		  /* it has warned about a CPU that the leader has no room for */
	bool gives_up;		  /* it waited in vain for a lock */
	bool has_reported;	  /* switches that were missed */
	bool has_left;		  /* nothing is left to give up */
	bool has_synced;	  /* its CPUs were brought up to date */
	uint64_t repaired_ns;	  /* when dead sessions were looked for */
	struct sample_sleepers sleepers;
	int events_of_slot[MAX_SAMPLE_SLOTS];
};

#endif
