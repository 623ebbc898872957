/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_SAMPLE_SAMPLE_OBJECT_H
#define PERF_SAMPLE_SAMPLE_OBJECT_H

/*
 * The BPF object for sampling. The first session that samples loads it. Later ones find it through the
 * leader's registry, and believe that only as far as the maps are those of the program it names.
 */

#include "bpf_skel/leader_registry.h"
#include "bpf_skel/sample.h"

#include <stdbool.h>
#include <stdint.h>

struct bperf_leader;

struct sample_object {
	struct bperf_leader *leader; /* borrowed */
	int nr_cpus;
	int sync_fd; /* on_sample_sync */
	int map_fds[NR_SAMPLE_MAPS];
	struct sample_plan *plan; /* mapped, as is the next */
	struct sample_cpu *cpus;  /* one per CPU of the leader */
};

/**
 * sample_object__open() - find the object, or load it, under the lock of tasks
 *
 * Return: 0; -ENOMEM; other -errno after a message; sample_object__close() in all cases.
 */
int sample_object__open(struct sample_object *object, struct bperf_leader *leader);

/**
 * sample_object__load_prog() - load the program for the events of a slot, as this kernel can
 * @gen: its generation
 *
 * Return: a descriptor or -errno.
 */
int sample_object__load_prog(const struct sample_object *object, int slot, uint32_t gen);

/** sample_object__new_table() - make the tables of a session; a descriptor or -errno */
int sample_object__new_table(int nr_cpus);

/**
 * sample_object__new_records() - make room for records of single samples
 * @size: so many in each half of each CPU
 *
 * Return: a descriptor or -errno; -E2BIG: more than a map can have.
 */
int sample_object__new_records(int nr_cpus, uint32_t size);

/**
 * sample_object__sync() - run on_sample_sync on a CPU
 * @ops: SAMPLE_*
 * @slots: mask
 *
 * Return: 0; -ENXIO: the CPU is offline; other -errno.
 */
int sample_object__sync(const struct sample_object *object, int cpu, int sampler, uint32_t ops,
			uint64_t slots);

/** sample_object__wake() - wake all sessions, or none if that fails: those that sleep then look later */
void sample_object__wake(const struct sample_object *object);

/** sample_object__close() - let go of it */
void sample_object__close(struct sample_object *object);

#endif
