// SPDX-License-Identifier: GPL-2.0
#include "util/symbol/map_events.h"

#include "util/host/capability.h"
#include "util/host/cpumap.h"
#include "util/host/perf_event.h"
#include "util/host/perf_ring.h"
#include "util/lib/array.h"
#include "util/lib/byte_buffer.h"
#include "util/lib/util.h"
#include "util/symbol/process_table.h"
#include "util/symbol/symbol_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>

/* Two to the power of this many pages for the records of a CPU: 512 KB, some 2,000 mappings. */
#define RING_PAGES_SHIFT 7

struct ring {
	int fd, id_fd;
	uint64_t id; /* of the event of id_fd; 0: none */
	struct perf_ring buffer;
};

struct map_events {
	struct ring *rings;
	int nr;
	struct byte_buffer records; /* of one map_events__take() */
	uint64_t id;		    /* of the ring that is being taken */
	struct map_record *order;
	int nr_order;
	uint64_t nr_lost;
};

/* --- open and close --- */

/* The dummy event counts nothing: records cost only where they arise. */
static int open_event(int cpu, bool is_for_ids)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_DUMMY,
		.size = sizeof(attr),
		.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_IDENTIFIER,
		.sample_id_all = 1,
		.mmap = 1,
		.mmap2 = 1,
		.build_id = is_for_ids,
		.comm = !is_for_ids,
		.comm_exec = !is_for_ids,
		.task = !is_for_ids,
		.ksymbol = !is_for_ids,
		.use_clockid = 1,
		.clockid = CLOCK_BOOTTIME,
		.watermark = 1,
		.wakeup_watermark = 1U << 30, /* never: perf looks by itself */
	};

	return perf_event__open(&attr, -1, cpu, -1, 0);
}

/*
 * A record has either the inode of a file or its build id. So a second event, which kernels before
 * 5.12 refuse, delivers the build ids. The kernel serves the later event first.
 */
static void add_ids(struct ring *ring, int cpu)
{
	ring->id_fd = open_event(cpu, true);
	if (ring->id_fd < 0)
		return;
	if (ioctl(ring->id_fd, PERF_EVENT_IOC_ID, &ring->id) ||
	    ioctl(ring->id_fd, PERF_EVENT_IOC_SET_OUTPUT, ring->fd))
		close_fd(&ring->id_fd);
}

static int open_ring(struct ring *ring, int cpu)
{
	int err;

	ring->fd = open_event(cpu, false);
	if (ring->fd < 0)
		return ring->fd;
	err = perf_ring__map(&ring->buffer, ring->fd, RING_PAGES_SHIFT);
	if (!err)
		add_ids(ring, cpu);
	return err;
}

static int open_rings(struct map_events *events, const struct cpumap *cpus)
{
	int err = 0;

	events->rings = calloc(cpus->nr, sizeof(*events->rings));
	if (!events->rings)
		return -ENOMEM;
	for (int i = 0; i < cpus->nr; i++)
		events->rings[i].fd = events->rings[i].id_fd = -1;
	events->nr = cpus->nr;
	capability__raise();
	for (int i = 0; i < cpus->nr && !err; i++)
		err = open_ring(&events->rings[i], cpus->cpu[i]);
	capability__lower();
	return err;
}

struct map_events *map_events__open(void)
{
	struct map_events *events = calloc(1, sizeof(*events));
	struct cpumap *cpus = events ? cpumap__online() : NULL;
	int err = cpus ? 0 : -errno;

	if (!err)
		err = open_rings(events, cpus);
	cpumap__delete(cpus);
	if (!err)
		return events;
	map_events__close(events);
	errno = -err;
	return NULL;
}

void map_events__close(struct map_events *events)
{
	if (!events)
		return;
	for (int i = 0; i < events->nr; i++) {
		perf_ring__unmap(&events->rings[i].buffer);
		close_fd(&events->rings[i].id_fd);
		close_fd(&events->rings[i].fd);
	}
	byte_buffer__clear(&events->records);
	free(events->order);
	free(events->rings);
	free(events);
}

uint64_t map_events__nr_lost(const struct map_events *events)
{
	return events->nr_lost;
}

/* --- records --- */

/* Tasks outside of our pid namespace have the number 0, all of them. */
static bool is_outside(struct byte_reader fields)
{
	return !byte_reader__u32(&fields) && !fields.is_short;
}

/* The text at the end of a record, without the fields of the sample behind it. */
static const char *text_of(struct byte_reader *reader, size_t *len)
{
	const char *text = reader->at;

	*len = strnlen(text, reader->left);
	return *len < reader->left ? text : NULL;
}

static int apply_comm(struct byte_reader *reader, bool is_exec, struct process_table *processes)
{
	uint32_t pid = byte_reader__u32(reader), tid = byte_reader__u32(reader);
	size_t len;
	const char *comm = text_of(reader, &len);

	if (!comm)
		return -EBADMSG;
	/* Threads have names of their own. */
	return pid == tid ? process_table__renamed(processes, pid, comm, is_exec) : 0;
}

static int apply_fork(struct byte_reader *reader, struct process_table *processes)
{
	uint32_t pid = byte_reader__u32(reader), parent = byte_reader__u32(reader);
	uint64_t time_ns;

	byte_reader__skip(reader, 2 * sizeof(uint32_t)); /* threads */
	time_ns = byte_reader__u64(reader);
	if (reader->is_short)
		return -EBADMSG;
	return pid == parent ? 0 : process_table__forked(processes, pid, parent, time_ns);
}

static int apply_mmap2(struct byte_reader *reader, struct process_table *processes)
{
	static const char deleted[] = " (deleted)";
	const size_t tail = sizeof(deleted) - 1;
	struct new_mapping mapping = {};
	uint32_t pid = byte_reader__u32(reader);

	byte_reader__u32(reader); /* thread */
	mapping.start = byte_reader__u64(reader);
	mapping.end = mapping.start + byte_reader__u64(reader);
	mapping.offset = byte_reader__u64(reader);
	mapping.major = byte_reader__u32(reader);
	mapping.minor = byte_reader__u32(reader);
	mapping.inode = byte_reader__u64(reader);
	/* Generation of the inode, protection, flags. */
	byte_reader__skip(reader, sizeof(uint64_t) + 2 * sizeof(uint32_t));
	mapping.path = text_of(reader, &mapping.path_len);
	if (reader->is_short || !mapping.path)
		return -EBADMSG;
	if (mapping.path_len > tail && !strcmp(mapping.path + mapping.path_len - tail, deleted))
		mapping.path_len -= tail;
	return process_table__mapped(processes, pid, &mapping);
}

/* BPF programs keep their names after they are unloaded, until another one has their memory: samples may be older. */
static int apply_ksymbol(struct byte_reader *reader, struct symbol_table *kernel)
{
	uint64_t address = byte_reader__u64(reader);
	uint32_t size = byte_reader__u32(reader);
	uint16_t type = byte_reader__u16(reader), flags = byte_reader__u16(reader);
	size_t len = 0;
	const char *name = text_of(reader, &len);
	struct new_symbol symbol = {
		.start = address,
		.size = size,
		.name = name,
		.name_len = len,
		.rank = SYMBOL_GLOBAL,
	};

	if (!name)
		return -EBADMSG;
	if (flags & PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER || type != PERF_RECORD_KSYMBOL_TYPE_BPF)
		return 0;
	symbol_table__drop(kernel, address, address + size);
	symbol.owner = symbol_table__add_name(kernel, "[bpf]", 5);
	symbol_table__add(kernel, &symbol);
	return kernel->has_failed ? -ENOMEM : 0;
}

int map_events__apply(const void *record, size_t len, struct process_table *processes,
		      struct symbol_table *kernel)
{
	struct perf_event_header header;
	struct byte_reader reader = {.at = record, .left = len};

	byte_reader__get(&reader, &header, sizeof(header));
	if (header.type != PERF_RECORD_KSYMBOL && is_outside(reader))
		return 0;
	switch (header.type) {
	case PERF_RECORD_COMM:
		return apply_comm(&reader, header.misc & PERF_RECORD_MISC_COMM_EXEC, processes);
	case PERF_RECORD_FORK:
		return apply_fork(&reader, processes);
	case PERF_RECORD_MMAP2:
		return apply_mmap2(&reader, processes);
	case PERF_RECORD_KSYMBOL:
		return apply_ksymbol(&reader, kernel);
	default:
		return 0;
	}
}

/* The build id takes the place of the inode in a record. */
int map_events__apply_id(const void *record, size_t len, struct process_table *processes)
{
	struct identified identified = {};
	struct perf_event_header header;
	struct byte_reader reader = {.at = record, .left = len};
	uint8_t id_len = 0;
	uint32_t pid;

	byte_reader__get(&reader, &header, sizeof(header));
	if (header.type != PERF_RECORD_MMAP2 || !(header.misc & PERF_RECORD_MISC_MMAP_BUILD_ID) ||
	    is_outside(reader))
		return 0;
	pid = byte_reader__u32(&reader);
	byte_reader__u32(&reader); /* thread */
	identified.start = byte_reader__u64(&reader);
	identified.end = identified.start + byte_reader__u64(&reader);
	identified.offset = byte_reader__u64(&reader);
	byte_reader__get(&reader, &id_len, sizeof(id_len));
	byte_reader__skip(&reader, 3);
	byte_reader__get(&reader, identified.id.bytes, sizeof(identified.id.bytes));
	identified.id.len = id_len;
	if (reader.is_short || id_len > sizeof(identified.id.bytes))
		return -EBADMSG;
	return process_table__identified(processes, pid, &identified);
}

/* --- the rings --- */

static int note_record(struct map_events *events, size_t at, size_t len)
{
	const char *end = events->records.data + at + len;
	struct map_record *order = array__add(events->order, events->nr_order);
	uint64_t id;

	if (!order)
		return -ENOMEM;
	*order = (struct map_record){.at = at, .len = len};
	/* The fields of the sample end every record. The last are its time and the id of its event. */
	memcpy(&order->time_ns, end - 2 * sizeof(uint64_t), sizeof(uint64_t));
	memcpy(&id, end - sizeof(uint64_t), sizeof(uint64_t));
	order->has_build_id = events->id && id == events->id;
	return 0;
}

static int take_record(void *ctx, const struct perf_event_header *record)
{
	struct map_events *events = ctx;
	size_t at = events->records.len;

	if (record->type == PERF_RECORD_LOST) {
		uint64_t lost;

		/* The id of the event is before the number. */
		memcpy(&lost, (const char *)record + sizeof(*record) + sizeof(uint64_t),
		       sizeof(lost));
		events->nr_lost += lost;
		return 0;
	}
	if (record->size < sizeof(*record) + 2 * sizeof(uint64_t))
		return 0;
	byte_buffer__put(&events->records, record, record->size);
	return events->records.has_failed ? -ENOMEM : note_record(events, at, record->size);
}

/* Equal times are of one CPU, and there the order of arrival counts. */
static int compare_times(const void *a, const void *b)
{
	const struct map_record *x = a, *y = b;

	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? -1 : 1;
	return x->at < y->at ? -1 : x->at > y->at;
}

int map_events__take(struct map_events *events, struct process_table *processes,
		     struct symbol_table *kernel)
{
	uint64_t nr_lost = events->nr_lost;
	int err = 0;

	events->records.len = 0;
	events->nr_order = 0;
	for (int i = 0; i < events->nr && !err; i++) {
		events->id = events->rings[i].id;
		err = perf_ring__take(&events->rings[i].buffer, take_record, events);
	}
	if (events->nr_order)
		qsort(events->order, events->nr_order, sizeof(*events->order), compare_times);
	for (int i = 0; i < events->nr_order && !err; i++) {
		const struct map_record *record = &events->order[i];
		const char *data = events->records.data + record->at;

		err = record->has_build_id ?
			      map_events__apply_id(data, record->len, processes) :
			      map_events__apply(data, record->len, processes, kernel);
		if (err == -EBADMSG)
			err = 0;
	}
	if (err || events->nr_lost != nr_lost)
		process_table__lost(processes);
	return err;
}
