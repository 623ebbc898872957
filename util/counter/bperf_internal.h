/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_COUNTER_BPERF_INTERNAL_H
#define PERF_COUNTER_BPERF_INTERNAL_H

/* The state of one session and of its shared events. */

#include "util/counter/bpf_counter.h"
#include "util/counter/counter.h"
#include "util/counter/window.h"
#include "util/event/evsel.h"

#include <stdbool.h>

struct attr_map;
struct bperf_leader;

/* An event of a session. */
struct bperf_evsel {
	struct bpf_counter *counter; /* of the kind of target that it is counted for; borrowed */
	int slot;		     /* of the leader's; -1: executions of BPF programs */
	int event;		     /* position among the slots of its bpf_counter */
	int nr_errors;		     /* readings that failed */
	int last_err;
	__u32 failed_base;    /* failed reads of the slot when the open window began */
	__u32 failed;	      /* those in windows that are over */
	bool is_wanted;	      /* a window is to be open after the next bperf__account() */
	bool is_open;	      /* a window is open */
	struct window cell[]; /* as counts->values; the columns are rows of tasks or BPF programs */
};

struct bperf {
	struct counter base;
	struct attr_map *attr_map;
	struct bperf_leader *leader;
	struct bpf_counter *counters[NR_BPF_COUNTERS]; /* NULL: no event is for such targets */
	int wakeup_fd;	  /* epoll: wakeups by programs, and the timer */
	int timer_fd;	  /* ticks while foreign events are read, or a lock is tried again */
	bool has_foreign; /* events of other leaders are read, too */
	bool is_enabled;  /* any event counts */
	bool has_late;	  /* has warned about a CPU that the leader has no room for */
	bool gives_up;	  /* leaves like one that was killed: it could not get a lock */
};

static inline bool bperf__is_counting(const struct bperf *bperf, const struct evsel *evsel)
{
	return evsel->counter == &bperf->base && evsel->state == EVSEL_COUNTING;
}

/* Return: whether it counts for the targets of @self. */
static inline bool bpf_counter__has(const struct bpf_counter *self, const struct evsel *evsel)
{
	return bperf__is_counting(self->bperf, evsel) &&
	       ((const struct bperf_evsel *)evsel->priv)->counter == self;
}

#endif
