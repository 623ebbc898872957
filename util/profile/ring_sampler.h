/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_PROFILE_RING_SAMPLER_H
#define PERF_PROFILE_RING_SAMPLER_H

/*
 * Sampling without BPF: the kernel copies every sample into a ring buffer, and perf sums up here.
 *
 * For users who may not share, and for machines without BPF. The interface is that of sampler.h, but
 * entries are single samples with start_ns 0 and EXEC_ID_LATEST. Between two of them the records of new
 * mappings have been applied in the order of time.
 */

#include "util/sample/sampler.h"

struct address_ranges;
struct evlist;
struct symbols;
struct thread_map;

struct ring_sampler;

/**
 * ring_sampler__open() - open events for this session alone, disabled
 * @events: an event that is refused for the kernel's part is limited to user level, and renamed
 * @threads: of a target of tasks; NULL: CPUs or cgroups. Borrowed during the call
 * @symbols: gets the records of mappings; borrowed
 *
 * Return: 0 or -errno after a message. Released by ring_sampler__delete().
 */
int ring_sampler__open(const struct sampler_options *options, struct evlist *events,
		       const struct thread_map *threads, struct symbols *symbols,
		       struct ring_sampler **out);
void ring_sampler__delete(struct ring_sampler *sampler);

/** ring_sampler__set() - enable, disable; 0 or -errno */
int ring_sampler__set(struct ring_sampler *sampler, bool enable);

/** ring_sampler__set_ranges() - as sampler__set_ranges(); @ranges are borrowed */
void ring_sampler__set_ranges(struct ring_sampler *sampler, const struct address_ranges *ranges);

/** ring_sampler__collect() - as sampler__collect() */
int ring_sampler__collect(struct ring_sampler *sampler, sample_fn fn, void *ctx);

/** ring_sampler__collect_ms() - the time after which the buffers may be full at the sampled rate */
int ring_sampler__collect_ms(const struct ring_sampler *sampler);

/** ring_sampler__account() - as sampler__account() */
void ring_sampler__account(const struct ring_sampler *sampler, int event,
			   struct sample_account *account);

#endif
