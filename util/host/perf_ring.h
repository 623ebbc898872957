/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_HOST_PERF_RING_H
#define PERF_HOST_PERF_RING_H

/* The ring buffer of a perf event, which the kernel fills with records. */

#include <linux/perf_event.h>
#include <stddef.h>

struct perf_ring {
	struct perf_event_mmap_page *page; /* NULL: not mapped */
	size_t page_size, data_size;
};

/**
 * perf_ring__map() - map the ring buffer of an event
 * @pages_shift: the buffer gets two to the power of this many pages
 *
 * Return: 0 or -errno; -EPERM: above kernel.perf_event_mlock_kb.
 */
int perf_ring__map(struct perf_ring *ring, int fd, int pages_shift);
void perf_ring__unmap(struct perf_ring *ring);

/* Gets a record in one piece. Return: 0, or a value that ends the reading. */
typedef int (*perf_ring_fn)(void *ctx, const struct perf_event_header *record);

/**
 * perf_ring__take() - hand over the records that have arrived, and free their place
 *
 * Return: 0, or what @fn returned.
 */
int perf_ring__take(struct perf_ring *ring, perf_ring_fn fn, void *ctx);

/** perf_ring__look() - the same, but the records stay */
int perf_ring__look(const struct perf_ring *ring, perf_ring_fn fn, void *ctx);

#endif
