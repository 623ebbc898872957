/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_SAMPLE_SAMPLE_TYPES_H
#define PERF_SAMPLE_SAMPLE_TYPES_H

/* The options of sampling, and the entries and totals that come of it. */

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct cgroup;
struct cgroup_fs;
struct cpumap;
struct evlist;
struct target;

/* The parts of an entry's key. Samples that agree in all of them share an entry. */
#define SAMPLE_KERNEL_STACK 0x01
#define SAMPLE_USER_STACK   0x02
#define SAMPLE_IP	    0x04 /* the sampled instruction; of no use beside the stack of its level */
#define SAMPLE_PROCESS	    0x08 /* tgid, start time, exec id: needed to resolve user addresses */
#define SAMPLE_THREAD	    0x10 /* tid */
#define SAMPLE_CPU	    0x20
#define SAMPLE_CGROUP	    0x40  /* the kernel's number of the task's cgroup in the v2 hierarchy */
#define SAMPLE_ADDR	    0x80  /* the data address; for events that have one */
#define SAMPLE_LEVEL	    0x100 /* user or kernel mode; implied by SAMPLE_IP and stacks */
#define SAMPLE_PRIO	    0x200 /* the task's kernel priority (task_struct.prio) */
#define SAMPLE_COMM	    0x400 /* the task's name; otherwise comm is one of an entry's samples */

#define SAMPLE_MAX_FRAMES 127

/* In place of a priority that nobody saw before the task ended. */
#define SAMPLE_PRIO_UNKNOWN INT32_MIN

enum sample_rate_kind {
	SAMPLE_BY_FREQ,	  /* rate: samples a second of a busy CPU; at least so many */
	SAMPLE_BY_PERIOD, /* rate: event units between two samples */
};

struct sampler_options {
	const struct target *target; /* validated; borrowed while the sampler lives */
	const struct evlist *events; /* no tool events, no groups; borrowed likewise */
	const struct cpumap *cpus;   /* only these; borrowed likewise; NULL: all, also later ones */
	struct cgroup *const *cgroups; /* --for-each-cgroup, -G: only these; borrowed likewise */
	int nr_cgroups;		       /* 0: not restricted to cgroups */
	const struct cgroup_fs *cgroup_fs; /* where they are; NULL without cgroups */
	pid_t workload;			   /* a held workload, before its exec; 0: none */
	enum sample_rate_kind rate_kind;
	uint64_t rate;
	uint32_t key;		/* SAMPLE_* */
	int max_frames;		/* per level; 0: SAMPLE_MAX_FRAMES */
	unsigned int addr_bits; /* so many low bits of SAMPLE_ADDR are 0 in all entries */
	bool has_ranges;	/* nothing is sampled before sampler__set_ranges() */
	bool with_idle;		/* clocks: also samples of the idle task (tid 0) */
	uint32_t
		nr_singles; /* room for so many single samples of each CPU until they are collected; 0: none */
	int prog_fd; /* of a program that decides about each sample, without sharing; 0: none */
	const char *attr_map_path;   /* NULL: the default */
	const uid_t *trusted_owners; /* as for attr_map__open() */
	const char *otherwise;	     /* the consequence of SAMPLE_OTHERWISE, for its warning */
};

/* A sample of an entry. */
struct sample_single {
	uint64_t time_ns; /* CLOCK_MONOTONIC */
	uint64_t weight;
};

/* An aggregated entry. Valid during the callback only. Fields outside of the key are 0. */
struct sample_entry {
	int event;	/* position in the evlist */
	int cpu;	/* the CPU that took it, also without SAMPLE_CPU: then merge entries */
	pid_t pid, tid; /* in the initial pid namespace, without BPF in our own; 0: the idle task */
	uint64_t
		start_ns; /* start of the process since boot (CLOCK_BOOTTIME), for SAMPLE_PROCESS... */
	uint32_t exec_id; /* ...and the number of its execs: a pid alone is no identity */
	bool is_user;	  /* user mode was sampled */
	int prio;
	uint64_t cgroup;
	const char *comm;	    /* at most 15 bytes; not NULL */
	uint64_t ip;		    /* for SAMPLE_IP */
	uint64_t addr;		    /* for SAMPLE_ADDR */
	const uint64_t *kernel_ips; /* innermost first */
	int nr_kernel;
	const uint64_t *user_ips;
	int nr_user;
	bool is_truncated;	 /* a stack had more frames than max_frames */
	bool is_user_unreadable; /* the kernel could not read the user stack */
	uint64_t nr_samples;
	uint64_t weight; /* in units of the event: sums of weights approximate its count */
	const struct sample_single *singles; /* with nr_singles: those that had room, by time */
	uint32_t nr_singles;
};

/** sample_fn - gets one entry; a value other than 0 ends the collection, which returns it */
typedef int (*sample_fn)(void *ctx, const struct sample_entry *entry);

/* Reasons why samples of the target are in no entry. */
enum sample_loss {
	SAMPLE_LOST_TABLE, /* no room for a new entry: more distinct keys than fit */
	SAMPLE_LOST_LATE,  /* the stack was overwritten before this session collected it */
	SAMPLE_LOST_BLIND, /* the kernel dropped overflows: other BPF programs, or late timers */
	/* The kernel throttled the event. Without BPF: of clocks; of others nr is how often, and the weight is unknown */
	SAMPLE_LOST_THROTTLE,
	SAMPLE_LOST_TIMER, /* without BPF: its timer or its interrupt came later than the next one was due */
	NR_SAMPLE_LOSSES
};

/* Samples with their weight. */
struct sample_sum {
	uint64_t nr;
	uint64_t weight;
};

/* Totals of one event since sampler__enable(), as of the last sampler__collect(). */
struct sample_account {
	struct sample_sum taken; /* by the event's programs, for all sessions */
	struct sample_sum kept;	 /* in entries, given to sample_fn or still in the tables */
	struct sample_sum idle;	 /* left out: of the idle task */
	struct sample_sum mode;	 /* left out: in modes that a clock excludes, without `idle` */
	struct sample_sum other; /* left out: not of the target (of all that the event took) */
	struct sample_sum
		elsewhere; /* left out: what the kernel took no sample of, in place of these three */
	struct sample_sum truncated;  /* of kept: stacks cut at max_frames */
	struct sample_sum unreadable; /* of kept: without a stack that should be there */
	struct sample_sum lost[NR_SAMPLE_LOSSES];
	/* A part of kept: not among the single samples, where these are wanted. The collector counts it. */
	struct sample_sum unrecorded;
	uint64_t thinned; /* weight that is not enough for another sample yet */
	/* A clock's, where the kernel may show only one mode: weight of the other mode, or lost. */
	uint64_t unseen;
	uint64_t refused; /* weight that a program of the user's left out, or that was lost */
	/*
	 * The event's own count on the target's CPUs, of all tasks: without losses
	 * kept + idle + mode + other + elsewhere + thinned. A clock's is its enabled time. A hardware event does not count
	 * while it is throttled. So its losses by that are an estimate, which is added to this.
	 */
	uint64_t counted;
	uint64_t enabled_ns, running_ns; /* running < enabled: multiplexed */
	uint64_t
		absent_ns; /* of CPUs that had no event: it was being opened again, or could not be; not counted */
	uint64_t failed_reads; /* of the event's own count, which may be short */
	uint64_t period;       /* of the events; 0: the kernel adapts it */
};

#endif
