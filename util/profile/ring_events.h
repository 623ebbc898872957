/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_PROFILE_RING_EVENTS_H
#define PERF_PROFILE_RING_EVENTS_H

/* Sampling events of one's own, and their ring buffers, one on each CPU. */

#include "util/host/cgroup_times.h"
#include "util/host/perf_ring.h"
#include "util/lib/id_map.h"
#include "util/sample/sampler.h"

#include <stdint.h>

struct cpumap;
struct evlist;
struct thread_map;

/*
 * The fields of every sample and record, in this order. Where they are needed, ADDR comes behind TIME, and PERIOD,
 * CALLCHAIN and CGROUP come last. Software events with PERIOD sample each occurrence, whatever their fixed period is.
 */
#define RING_SAMPLE_TYPE                                                                           \
	(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |            \
	 PERF_SAMPLE_CPU)

/* In place of a position in the evlist: an event that counts nothing, and delivers build ids of mapped files. */
#define RING_BUILD_IDS INT32_MAX

struct ring_fd {
	int fd;
	int event; /* position in the evlist, or RING_BUILD_IDS */
};

struct ring_events {
	struct ring_fd *fds;
	int nr;
	struct perf_ring *rings; /* by position in cpus */
	int *owners;		 /* descriptor whose buffer a ring is; -1: none yet */
	struct cpumap *cpus;
	struct id_map by_id;	   /* the kernel's number of an event: as in struct ring_fd */
	struct cgroup_times times; /* if there are events of cgroups */
	bool lacks_lost; /* the kernel does not count the lost records of each event (before 6.0) */
	bool lacks_ids; /* nobody wants build ids, the kernel delivers none (before 5.12), or too few files may be open */
	bool hides_modes; /* the kernel refuses to sample the modes that clocks exclude */
};

/* The input of ring_events__open(). */
struct ring_request {
	const struct sampler_options *options;
	struct evlist *events;		  /* a refused event may be limited to user level */
	const struct thread_map *threads; /* NULL: CPUs or cgroups */
	bool has_maps;			  /* records of mappings and BPF programs are wanted */
};

/**
 * ring_events__open() - open all events, disabled
 *
 * Return: 0, or -errno after a message. ring_events__close() releases in any case.
 */
int ring_events__open(struct ring_events *ring, const struct ring_request *request);
void ring_events__close(struct ring_events *ring);

/** ring_events__set() - enable or disable all; 0 or -errno */
int ring_events__set(struct ring_events *ring, bool enable);

/* Sums of an event's descriptors. */
struct ring_count {
	uint64_t counted, enabled_ns, running_ns;
	uint64_t lost;	 /* records without room in a ring; 0 if the kernel does not count them */
	uint64_t nr;	 /* of those that have counted */
	uint64_t failed; /* readings */
};

/** ring_events__read() - the sum of what an event has counted */
void ring_events__read(const struct ring_events *ring, int event, struct ring_count *count);

#endif
