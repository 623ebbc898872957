/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_UTIL_COUNTER_H
#define PERF_UTIL_COUNTER_H

#include <stdbool.h>
#include <sys/types.h>

struct bpf_targets;
struct cgroup_list;
struct evlist;
struct evsel;
struct explain;
struct target;
struct thread_map;
struct workload;

/* What every back end is told; constant after counter__open(). */
struct counter_plan {
	struct evlist *evlist;
	const struct target *target;
	struct thread_map *threads;	/* of the task target; NULL for CPU targets */
	struct cgroup_list *cgroups;	/* that evsels are restricted to */
	bool by_cpu;			/* bperf: tasks are counted CPU by CPU, as evsel->cpus has them */
	const struct bpf_targets *progs;	/* BPF programs that are counted; NULL: none */
	struct thread_map *prog_rows;	/* these as rows; of the same order */
	bool enable_on_exec;		/* a held workload starts the counting itself */
	const char *attr_map_path;	/* bperf: where the map of shared events is pinned; NULL: default */
	const uid_t *trusted_owners;	/* bperf: of that map, see attr_map__lock() */
	struct explain *explain;	/* told of each event that is refused; NULL: nobody asked */
	const struct workload *workload;	/* tool: whose rusage counts once it has ended; NULL: none */
};

struct counter;

/*
 * A way of counting. A run makes one object per way in use; it counts the evsels whose ->counter
 * it is. Functions return 0 or -errno, messages have been written.
 */
struct counter_ops {
	const char *name;

	/**
	 * open() - open the events of this back end; they count nothing yet
	 *
	 * Sets state and err of each evsel. An event the kernel refuses is no error of open().
	 */
	int (*open)(struct counter *self);

	/** enable(), disable() - a window begins, a window ends; any number of them */
	int (*enable)(struct counter *self);
	int (*disable)(struct counter *self);

	/**
	 * set_event() - let one event, and its group with it, count or not
	 *
	 * enable() and disable() set all of them again.
	 */
	int (*set_event)(struct counter *self, struct evsel *evsel, bool counts);

	/** read() - bring evsel->counts up to date */
	int (*read)(struct counter *self);

	/**
	 * calls_fd() - can be read from when answer() should be called; -1: never
	 *
	 * Both may be left out.
	 */
	int (*calls_fd)(struct counter *self);
	void (*answer)(struct counter *self);

	/** look() - note cgroups that came, and perhaps went since, in the plan's list. May be left out */
	int (*look)(struct counter *self);

	/**
	 * add() - count events of cgroups that came, too: CGROUP_NEW
	 *
	 * Their evsels are UNOPENED, or are left from a cgroup that was dropped.
	 */
	int (*add)(struct counter *self);

	/** drop() - count those of cgroups that are gone no more: CGROUP_GONE; their counts stay */
	int (*drop)(struct counter *self);

	/**
	 * retire() - count nothing any more, but keep what opening again would take long to get
	 *
	 * open() may follow, with another plan of the same events. May be left out. On errors, without
	 * a message, only destroy() may.
	 */
	int (*retire)(struct counter *self);

	/** destroy() - release everything, from any state, evsel->priv included */
	void (*destroy)(struct counter *self);
};

struct counter {
	const struct counter_ops *ops;
	const struct counter_plan *plan;
};

/** counter_plain__new() - plain perf events, for every target; NULL with errno ENOMEM */
struct counter *counter_plain__new(const struct counter_plan *plan);

/** counter_bperf__new() - shared perf events, see Documentation/design.md */
struct counter *counter_bperf__new(const struct counter_plan *plan);

/** counter_tool__new() - values perf itself provides (duration_time, ...) */
struct counter *counter_tool__new(const struct counter_plan *plan);

#endif
