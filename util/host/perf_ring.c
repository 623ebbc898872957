// SPDX-License-Identifier: GPL-2.0
#include "util/host/perf_ring.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int perf_ring__map(struct perf_ring *ring, int fd, int pages_shift)
{
	void *page;

	ring->page_size = sysconf(_SC_PAGESIZE);
	ring->data_size = ring->page_size << pages_shift;
	page = mmap(NULL, ring->page_size + ring->data_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
		    0);
	if (page == MAP_FAILED)
		return -errno;
	ring->page = page;
	return 0;
}

void perf_ring__unmap(struct perf_ring *ring)
{
	if (ring->page)
		munmap(ring->page, ring->page_size + ring->data_size);
	ring->page = NULL;
}

/* Copy out of the ring, around its end. */
static void copy_out(const struct perf_ring *ring, uint64_t from, void *to, size_t len)
{
	const char *data = (const char *)ring->page + ring->page_size;
	size_t at = from & (ring->data_size - 1);
	size_t first = ring->data_size - at < len ? ring->data_size - at : len;

	memcpy(to, data + at, first);
	memcpy((char *)to + first, data, len - first);
}

/* Return: 0, or what @fn returned. @tail: where to begin; then behind the last record that @fn got */
static int walk(const struct perf_ring *ring, uint64_t *tail, perf_ring_fn fn, void *ctx)
{
	uint64_t head = __atomic_load_n(&ring->page->data_head, __ATOMIC_ACQUIRE), at = *tail;
	int err = 0;

	*tail = head;
	while (at != head && !err) {
		union {
			struct perf_event_header header;
			char bytes[UINT16_MAX + 1]; /* the size of a record has 16 bits */
		} record;

		copy_out(ring, at, &record.header, sizeof(record.header));
		if (record.header.size < sizeof(record.header))
			break;
		copy_out(ring, at, &record, record.header.size);
		at += record.header.size;
		err = fn(ctx, &record.header);
		if (err)
			*tail = at;
	}
	return err;
}

int perf_ring__take(struct perf_ring *ring, perf_ring_fn fn, void *ctx)
{
	uint64_t tail = ring->page->data_tail;
	int err = walk(ring, &tail, fn, ctx);

	__atomic_store_n(&ring->page->data_tail, tail, __ATOMIC_RELEASE);
	return err;
}

int perf_ring__look(const struct perf_ring *ring, perf_ring_fn fn, void *ctx)
{
	uint64_t tail = ring->page->data_tail;

	return walk(ring, &tail, fn, ctx);
}
