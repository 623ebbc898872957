// SPDX-License-Identifier: GPL-2.0
#include "util/profile/ring_sampler.h"

#include "util/event/evlist.h"
#include "util/host/perf_event.h"
#include "util/host/cpu_idle.h"
#include "util/host/cpumap.h"
#include "util/host/task_namespace.h"
#include "util/lib/address_ranges.h"
#include "util/lib/array.h"
#include "util/lib/byte_buffer.h"
#include "util/lib/msg.h"
#include "util/lib/util.h"
#include "util/profile/callchain.h"
#include "util/profile/comm_cache.h"
#include "util/profile/prio_cache.h"
#include "util/profile/ring_account.h"
#include "util/profile/ring_events.h"
#include "util/symbol/symbols.h"
#include "util/target/target.h"
#include "util/target/thread_map.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Bytes of a sample with the deepest stack, about. */
#define MAX_SAMPLE_BYTES (64 + 8 * SAMPLE_MAX_FRAMES)
/* Rates of periods are not known before: look often. */
#define PERIOD_COLLECT_MS 100
#define MAX_COLLECT_MS	  1000
/* The priority of a task must be read before it ends. */
#define PRIO_COLLECT_MS 50

/* A record, copied out of its ring. */
struct record {
	uint64_t time_ns;
	size_t at; /* in records */
	bool has_build_id;
};

/*
 * The count of an event between two collections, and how many samples stand for it. In frequency mode software events
 * sample with periods that are not those that have passed (page-faults on 6.18: up to 17 times the count).
 */
struct batch {
	bool is_needed;
	uint64_t counted; /* at the last collection */
	uint64_t part; /* for the samples of this one; without samples for those of the next one */
	uint64_t nr, nr_taken;
};

struct ring_sampler {
	struct ring_events ring;
	struct symbols *symbols;
	const struct evlist *events;
	struct comm_cache comms;
	struct prio_cache prios;
	struct sample_account *accounts; /* without the counts */
	struct batch *batches;		 /* of each event */
	uint64_t nr_forks;		 /* tasks that the sampled ones made */
	uint32_t key;
	uint64_t rate; /* 0: by period */
	uint64_t period;
	unsigned int addr_bits;
	int max_frames; /* of each level */
	int max_stack;	/* of both, that the kernel gives */
	bool has_ranges;
	const struct address_ranges *ranges; /* NULL: not set yet */
	bool with_idle;
	bool is_enabled;
	bool times_idle;      /* the idle time of its CPUs is a part of the count of a clock */
	uint64_t *idle_at_ns; /* by CPU, see cpu_idle__read(): up to then... */
	uint64_t idle_ns;     /* ...all CPUs were idle for so long while it was enabled */
	bool has_threads;
	bool has_cgroups;
	bool is_inherited;
	bool has_prog;
	bool lacks_tasks; /* those outside of our pid namespace have the number of the idle task, 0 */
	struct byte_buffer records; /* of one collection */
	struct record *order;
	int nr;
	int unpaired; /* position in order of a mapping's first record in the ring that is being read; -1: none */
	sample_fn fn;
	void *ctx;
};

/* --- samples --- */

/* Keep the innermost frames. */
static void cut(struct sample_entry *entry, int *nr, int max)
{
	if (*nr < max)
		return;
	*nr = max;
	entry->is_truncated = true;
}

/*
 * @single: the same sample with its time, for the entry
 *
 * Return: the entry's position among events; -1: the record is not of ours, or too short.
 */
static int read_sample(const struct ring_sampler *sampler, const struct perf_event_header *record,
		       struct sample_entry *entry, struct sample_single *single)
{
	struct byte_reader reader = {.at = (const char *)(record + 1),
				     .left = record->size - sizeof(*record)};
	uint64_t id = byte_reader__u64(&reader), time_ns;
	uint32_t level = record->misc & PERF_RECORD_MISC_CPUMODE_MASK;

	*entry = (struct sample_entry){.exec_id = EXEC_ID_LATEST, .nr_samples = 1};
	entry->ip = byte_reader__u64(&reader);
	entry->pid = byte_reader__u32(&reader);
	entry->tid = byte_reader__u32(&reader);
	time_ns = byte_reader__u64(&reader);
	if (sampler->key & SAMPLE_ADDR)
		entry->addr = byte_reader__u64(&reader) & ~0ULL << sampler->addr_bits;
	entry->cpu = byte_reader__u32(&reader);
	byte_reader__u32(&reader);
	entry->weight = sampler->period ? sampler->period : byte_reader__u64(&reader);
	*single = (struct sample_single){time_ns, entry->weight};
	entry->singles = single;
	entry->nr_singles = 1;
	entry->is_user = level == PERF_RECORD_MISC_USER || level == PERF_RECORD_MISC_GUEST_USER;
	if (sampler->key & (SAMPLE_KERNEL_STACK | SAMPLE_USER_STACK)) {
		uint64_t nr = byte_reader__u64(&reader);
		const char *ips = nr <= reader.left / sizeof(uint64_t) ?
					  byte_reader__skip(&reader, nr * sizeof(uint64_t)) :
					  NULL;

		if (!ips)
			return -1;
		/* Records are aligned to 8 bytes, and so are all fields before. */
		callchain__split((const void *)ips, nr, entry);
		entry->is_truncated = entry->nr_kernel + entry->nr_user >= sampler->max_stack;
		cut(entry, &entry->nr_kernel, sampler->max_frames);
		cut(entry, &entry->nr_user, sampler->max_frames);
	}
	if (sampler->key & SAMPLE_CGROUP)
		entry->cgroup = byte_reader__u64(&reader);
	return reader.is_short || !id ? -1 : id_map__get(&sampler->ring.by_id, id);
}

/* --- weights of software events --- */

static bool is_sample_of(const struct ring_sampler *sampler, int i, int event)
{
	const struct perf_event_header *record =
		(const void *)(sampler->records.data + sampler->order[i].at);
	uint64_t id;

	memcpy(&id, record + 1, sizeof(id));
	return record->type == PERF_RECORD_SAMPLE && id_map__get(&sampler->ring.by_id, id) == event;
}

/* All records have been read. */
static void begin_batch(struct ring_sampler *sampler, int event)
{
	struct batch *batch = &sampler->batches[event];

	batch->nr = batch->nr_taken = 0;
	for (int i = 0; i < sampler->nr; i++)
		batch->nr += is_sample_of(sampler, i, event);
}

/* Add what was counted before the records are read. */
static void count_batch(struct ring_sampler *sampler, int event)
{
	struct batch *batch = &sampler->batches[event];
	struct ring_count count;

	/* The last collection gave it to its samples. */
	if (batch->nr)
		batch->part = 0;
	ring_events__read(&sampler->ring, event, &count);
	if (count.counted <= batch->counted)
		return;
	batch->part += count.counted - batch->counted;
	batch->counted = count.counted;
}

/* Return: the next sample's share. All shares together are the part. */
static uint64_t next_share(struct batch *batch)
{
	uint64_t share = batch->part / batch->nr;

	share += batch->nr_taken++ < batch->part % batch->nr;
	return share;
}

/* --- entries --- */

static void add(struct sample_sum *sum, const struct sample_entry *entry)
{
	sum->nr++;
	sum->weight += entry->weight;
}

static bool leaves_idle_out(const struct ring_sampler *sampler, const struct evsel *evsel)
{
	const struct perf_event_attr *attr = &evsel->attr;

	return evsel__is_clock(evsel) &&
	       (!sampler->with_idle || attr->exclude_idle || attr->exclude_kernel);
}

/* Return: the sum of samples that the entry belongs to, if it is left out; else NULL. The kernel filters other events. */
static struct sample_sum *sum_of_left_out(const struct ring_sampler *sampler,
					  const struct evsel *evsel,
					  const struct sample_entry *entry,
					  struct sample_account *account)
{
	const struct perf_event_attr *attr = &evsel->attr;

	if (sampler->lacks_tasks && !entry->pid)
		return &account->other;
	if (!entry->pid && leaves_idle_out(sampler, evsel))
		return &account->idle;
	if (evsel__is_clock(evsel) && (entry->is_user ? attr->exclude_user : attr->exclude_kernel))
		return &account->mode;
	if (sampler->has_ranges &&
	    !(sampler->ranges && address_ranges__has(sampler->ranges, entry->ip)))
		return &account->other;
	return NULL;
}

/* Kernel threads have no stack of user space, and nothing tells them apart. */
static bool lacks_stack(const struct ring_sampler *sampler, const struct sample_entry *entry)
{
	if (entry->is_user)
		return sampler->key & SAMPLE_USER_STACK && !entry->nr_user;
	return sampler->key & SAMPLE_KERNEL_STACK && !entry->nr_kernel;
}

static int take_sample(struct ring_sampler *sampler, const struct perf_event_header *record)
{
	struct sample_sum *left_out;
	struct sample_account *account;
	struct sample_single single;
	struct sample_entry entry;
	int event = read_sample(sampler, record, &entry, &single);

	if (event < 0)
		return 0;
	entry.event = event;
	if (sampler->batches[event].is_needed)
		entry.weight = single.weight = next_share(&sampler->batches[event]);
	account = &sampler->accounts[event];
	left_out = sum_of_left_out(sampler, sampler->events->evsels[event], &entry, account);
	if (left_out) {
		add(left_out, &entry);
		return 0;
	}
	add(&account->kept, &entry);
	if (entry.is_truncated)
		add(&account->truncated, &entry);
	if (lacks_stack(sampler, &entry))
		add(&account->unreadable, &entry);
	if (sampler->key & SAMPLE_PRIO)
		entry.prio = prio_cache__get(&sampler->prios, entry.tid);
	entry.comm = comm_cache__get(&sampler->comms, entry.pid, entry.tid);
	return sampler->fn(sampler->ctx, &entry);
}

/* --- records --- */

static int note_names(struct ring_sampler *sampler, const struct perf_event_header *record)
{
	const uint32_t *words = (const uint32_t *)(record + 1);

	/* COMM: process, thread, name. FORK: process, its parent, thread, its parent. */
	if (record->type == PERF_RECORD_COMM)
		return comm_cache__set(&sampler->comms, words[1], (const char *)(words + 2));
	if (record->type != PERF_RECORD_FORK)
		return 0;
	sampler->nr_forks++;
	prio_cache__forget(&sampler->prios, words[2]);
	return comm_cache__fork(&sampler->comms, words[2], words[3]);
}

static int take_record(struct ring_sampler *sampler, const struct perf_event_header *record,
		       bool has_build_id)
{
	int err;

	if (has_build_id)
		return symbols__apply_id(sampler->symbols, record, record->size);
	if (record->type == PERF_RECORD_SAMPLE)
		return take_sample(sampler, record);
	err = note_names(sampler, record);
	return err ? err : symbols__apply(sampler->symbols, record, record->size);
}

/* Return: the position of the event that a record is of; its number ends the record. */
static int event_of(const struct ring_sampler *sampler, const struct perf_event_header *record)
{
	uint64_t id;

	if (record->size < sizeof(*record) + sizeof(id))
		return -1;
	memcpy(&id, (const char *)record + record->size - sizeof(id), sizeof(id));
	return id ? id_map__get(&sampler->ring.by_id, id) : -1;
}

static void count_loss(struct ring_sampler *sampler, const struct perf_event_header *record)
{
	int event = event_of(sampler, record);
	struct sample_sum *sum;
	uint64_t nr = 1;

	/* The event's number is better: without another record these are not told. */
	if (event < 0 || event == RING_BUILD_IDS ||
	    (record->type == PERF_RECORD_LOST && !sampler->ring.lacks_lost))
		return;
	sum = &sampler->accounts[event]
		       .lost[record->type == PERF_RECORD_THROTTLE ? SAMPLE_LOST_THROTTLE :
								    SAMPLE_LOST_LATE];
	/* The event's number, then the number of records. The PMU's own buffer has only the latter. */
	if (record->type == PERF_RECORD_LOST)
		memcpy(&nr, (const char *)(record + 1) + sizeof(uint64_t), sizeof(nr));
	else if (record->type == PERF_RECORD_LOST_SAMPLES)
		memcpy(&nr, record + 1, sizeof(nr));
	sum->nr += nr;
}

/* The time is the field behind process and thread: in samples after two others, else before the last two. */
static uint64_t time_of(const struct perf_event_header *record)
{
	const char *at = record->type == PERF_RECORD_SAMPLE ?
				 (const char *)(record + 1) + 3 * sizeof(uint64_t) :
				 (const char *)record + record->size - 3 * sizeof(uint64_t);
	uint64_t time_ns;

	memcpy(&time_ns, at, sizeof(time_ns));
	return time_ns;
}

/*
 * A mapping has two records, of two events, which the kernel serves in either order. Hardware events have a
 * context of their own before Linux 6.2. A task's child inherits in the order of PMUs. In the buffer only samples
 * come between the two. Give both the time of the first, so that the build id can come first.
 */
static void pair_up(struct ring_sampler *sampler, const struct perf_event_header *record)
{
	/* process, thread, address, length, offset */
	const size_t same = 2 * sizeof(uint32_t) + 3 * sizeof(uint64_t);
	struct record *added = &sampler->order[sampler->nr - 1];
	struct record *first = sampler->unpaired < 0 ? NULL : &sampler->order[sampler->unpaired];

	if (record->type != PERF_RECORD_MMAP2 || record->size < sizeof(*record) + same)
		return;
	added->has_build_id = event_of(sampler, record) == RING_BUILD_IDS;
	sampler->unpaired = sampler->nr - 1;
	if (!first || first->has_build_id == added->has_build_id ||
	    memcmp(sampler->records.data + first->at + sizeof(*record), record + 1, same) != 0)
		return;
	added->time_ns = first->time_ns;
	sampler->unpaired = -1;
}

static int keep(void *ctx, const struct perf_event_header *record)
{
	struct ring_sampler *sampler = ctx;
	struct record *added;

	if (record->type == PERF_RECORD_LOST || record->type == PERF_RECORD_LOST_SAMPLES ||
	    record->type == PERF_RECORD_THROTTLE) {
		count_loss(sampler, record);
		return 0;
	}
	if (record->size < sizeof(*record) + 4 * sizeof(uint64_t))
		return 0;
	added = array__add(sampler->order, sampler->nr);
	if (!added)
		return -ENOMEM;
	*added = (struct record){.time_ns = time_of(record), .at = sampler->records.len};
	byte_buffer__put(&sampler->records, record, record->size);
	if (sampler->records.has_failed)
		return -ENOMEM;
	pair_up(sampler, record);
	return 0;
}

static int compare_times(const void *a, const void *b)
{
	const struct record *x = a, *y = b;

	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? -1 : 1;
	if (x->has_build_id != y->has_build_id)
		return x->has_build_id ? -1 : 1;
	return x->at < y->at ? -1 : x->at > y->at;
}

/* Events of tasks and cgroups count no idle time. */
static bool times_idle(const struct ring_sampler *sampler)
{
	bool does = false;

	for (int i = 0; i < sampler->events->nr; i++)
		does |= leaves_idle_out(sampler, sampler->events->evsels[i]);
	return does && !sampler->has_threads && !sampler->has_cgroups;
}

/* Add the idle time since the last call, in which the events were enabled or not. */
static void add_idle_time(struct ring_sampler *sampler)
{
	const struct cpumap *cpus = sampler->ring.cpus;
	int nr = cpumap__max(cpus) + 1;
	uint64_t *now_ns;

	if (!sampler->times_idle)
		return;
	now_ns = calloc(nr, sizeof(*now_ns));
	if (now_ns)
		cpu_idle__read(now_ns, nr);
	for (int i = 0; i < cpus->nr && now_ns && sampler->idle_at_ns; i++) {
		int cpu = cpus->cpu[i];
		int64_t passed = cpu_idle__between(sampler->idle_at_ns[cpu], now_ns[cpu]);

		if (sampler->is_enabled && passed > 0)
			sampler->idle_ns += passed;
	}
	free(sampler->idle_at_ns);
	sampler->idle_at_ns = now_ns;
}

int ring_sampler__collect(struct ring_sampler *sampler, sample_fn fn, void *ctx)
{
	int err = 0;

	add_idle_time(sampler);
	for (int event = 0; event < sampler->events->nr; event++) {
		if (sampler->batches[event].is_needed)
			count_batch(sampler, event);
	}
	prio_cache__begin(&sampler->prios);
	sampler->records.len = 0;
	sampler->nr = 0;
	sampler->fn = fn;
	sampler->ctx = ctx;
	for (int i = 0; i < sampler->ring.cpus->nr && !err; i++) {
		sampler->unpaired = -1;
		if (sampler->ring.rings[i].page)
			err = perf_ring__take(&sampler->ring.rings[i], keep, sampler);
	}
	for (int event = 0; event < sampler->events->nr; event++) {
		if (sampler->batches[event].is_needed)
			begin_batch(sampler, event);
	}
	if (sampler->nr)
		qsort(sampler->order, sampler->nr, sizeof(*sampler->order), compare_times);
	for (int i = 0; i < sampler->nr && !err; i++)
		err = take_record(sampler,
				  (const void *)(sampler->records.data + sampler->order[i].at),
				  sampler->order[i].has_build_id);
	return err;
}

/* --- the rest --- */

static int note_threads(struct ring_sampler *sampler, const struct thread_map *threads)
{
	int err = 0;

	for (int i = 0; threads && i < threads->nr && !err; i++) {
		const char *comm = threads->thread[i].comm;

		/* A thread without a name had ended when it was listed. */
		err = *comm ? comm_cache__set(&sampler->comms, threads->thread[i].tid, comm) : 0;
	}
	return err;
}

/*
 * The kernel tells of new names as long as the events are enabled. So this is what threads are called from then on, also
 * those that end before their first sample is read.
 */
static int note_current_names(struct ring_sampler *sampler)
{
	struct thread_map *all;
	int err;

	if (sampler->has_threads) {
		comm_cache__refresh(&sampler->comms);
		return 0;
	}
	all = thread_map__new_all();
	err = note_threads(sampler, all);
	thread_map__delete(all);
	return err;
}

int ring_sampler__open(const struct sampler_options *options, struct evlist *events,
		       const struct thread_map *threads, struct symbols *symbols,
		       struct ring_sampler **out)
{
	const struct ring_request request = {options, events, threads,
					     symbols__makes_places(symbols)};
	struct ring_sampler *sampler = calloc(1, sizeof(*sampler));
	int err;

	if (!sampler)
		return -ENOMEM;
	sampler->symbols = symbols;
	sampler->events = events;
	sampler->key = options->key;
	sampler->addr_bits = options->addr_bits;
	sampler->max_frames = sampler_options__max_frames(options);
	sampler->max_stack = perf_event__max_stack();
	sampler->has_ranges = options->has_ranges;
	sampler->with_idle = options->with_idle;
	sampler->has_threads = threads;
	sampler->has_cgroups = options->nr_cgroups;
	sampler->is_inherited = threads && !options->target->no_inherit;
	sampler->rate = options->rate_kind == SAMPLE_BY_FREQ ? options->rate : 0;
	sampler->period = options->rate_kind == SAMPLE_BY_PERIOD ? options->rate : 0;
	sampler->times_idle = times_idle(sampler);
	sampler->has_prog = options->prog_fd;
	sampler->lacks_tasks = task_namespace__hides_tasks();
	sampler->accounts = calloc(events->nr, sizeof(*sampler->accounts));
	sampler->batches = calloc(events->nr, sizeof(*sampler->batches));
	err = sampler->accounts && sampler->batches ? ring_events__open(&sampler->ring, &request) :
						      -ENOMEM;
	for (int i = 0; i < events->nr && !err; i++)
		sampler->batches[i].is_needed =
			sampler->rate && events->evsels[i]->attr.type == PERF_TYPE_SOFTWARE &&
			!evsel__is_clock(events->evsels[i]);
	if (!err && !threads && sampler->lacks_tasks)
		pr_warn("perf runs in a pid namespace: samples of tasks outside of it are left out");
	if (!err)
		err = note_threads(sampler, threads);
	if (err) {
		ring_sampler__delete(sampler);
		return err;
	}
	*out = sampler;
	return 0;
}

void ring_sampler__delete(struct ring_sampler *sampler)
{
	if (!sampler)
		return;
	ring_events__close(&sampler->ring);
	comm_cache__clear(&sampler->comms);
	prio_cache__clear(&sampler->prios);
	byte_buffer__clear(&sampler->records);
	free(sampler->order);
	free(sampler->idle_at_ns);
	free(sampler->accounts);
	free(sampler->batches);
	free(sampler);
}

int ring_sampler__set(struct ring_sampler *sampler, bool enable)
{
	int err = ring_events__set(&sampler->ring, enable);

	add_idle_time(sampler);
	sampler->is_enabled = enable;
	if (!err && enable)
		err = note_current_names(sampler);
	if (err)
		pr_err("cannot %s sampling: %s", enable ? "begin" : "end", strerror(-err));
	return err;
}

void ring_sampler__set_ranges(struct ring_sampler *sampler, const struct address_ranges *ranges)
{
	sampler->ranges = ranges;
}

int ring_sampler__collect_ms(const struct ring_sampler *sampler)
{
	uint64_t max = sampler->key & SAMPLE_PRIO ? PRIO_COLLECT_MS : MAX_COLLECT_MS;
	uint64_t ms = PERIOD_COLLECT_MS;
	size_t ring_bytes = 0;

	for (int i = 0; i < sampler->ring.cpus->nr; i++) {
		if (sampler->ring.rings[i].page)
			ring_bytes = sampler->ring.rings[i].data_size;
	}
	/* Half of a ring, for all events together. */
	if (sampler->rate)
		ms = ring_bytes * 1000 / 2 /
		     (sampler->rate * sampler->events->nr * MAX_SAMPLE_BYTES);
	return ms < 1 ? 1 : ms < max ? ms : max;
}

/* Samples of an event that have arrived since the last collection. */
struct pending {
	const struct ring_sampler *sampler;
	int event;
	uint64_t weight;
};

static int add_pending(void *ctx, const struct perf_event_header *record)
{
	struct pending *pending = ctx;
	struct sample_single single;
	struct sample_entry entry;

	if (record->type == PERF_RECORD_SAMPLE &&
	    read_sample(pending->sampler, record, &entry, &single) == pending->event)
		pending->weight += entry.weight;
	return 0;
}

static uint64_t pending_of(const struct ring_sampler *sampler, int event)
{
	struct pending pending = {sampler, event, 0};

	for (int i = 0; i < sampler->ring.cpus->nr; i++) {
		if (sampler->ring.rings[i].page)
			perf_ring__look(&sampler->ring.rings[i], add_pending, &pending);
	}
	return pending.weight;
}

static struct ring_tally tally_of(const struct ring_sampler *sampler, int event,
				  const struct ring_count *count)
{
	const struct evsel *evsel = sampler->events->evsels[event];
	struct ring_tally tally = {
		.evsel = evsel,
		.period = sampler->period,
		.nr_begun = count->nr,
		.hides_modes = sampler->ring.hides_modes,
		.has_prog = sampler->has_prog,
	};

	if (evsel__is_clock(evsel)) {
		if (sampler->rate)
			tally.period = NSEC_PER_SEC / sampler->rate;
		if (leaves_idle_out(sampler, evsel)) {
			tally.idle_ns = sampler->idle_ns;
			tally.step_ns = sampler->ring.cpus->nr * cpu_idle__step_ns();
		}
		/* The kernel adds earlier time to those of a cgroup, in which others counted (seen on 6.18). */
		if (!sampler->has_cgroups && count->running_ns > count->counted)
			tally.stood_ns = count->running_ns - count->counted;
	}
	/* Each task that inherited the event had one on each CPU. */
	if (sampler->is_inherited)
		tally.nr_begun += sampler->nr_forks * sampler->ring.cpus->nr;
	return tally;
}

void ring_sampler__account(const struct ring_sampler *sampler, int event,
			   struct sample_account *account)
{
	struct ring_tally tally;
	struct ring_count count;
	uint64_t pending;

	ring_events__read(&sampler->ring, event, &count);
	*account = sampler->accounts[event];
	/* The next account has the samples that arrived in the meantime, with their part of the count. */
	if (sampler->batches[event].is_needed) {
		account->counted = sampler->batches[event].counted;
	} else {
		pending = pending_of(sampler, event);
		account->counted = count.counted > pending ? count.counted - pending : 0;
	}
	account->failed_reads = count.failed;
	account->lost[SAMPLE_LOST_LATE].nr += count.lost;
	/* The event of a task and a CPU is enabled also while the task runs on another CPU. */
	account->enabled_ns =
		sampler->has_threads ? count.enabled_ns / sampler->ring.cpus->nr : count.enabled_ns;
	account->running_ns = count.running_ns;
	tally = tally_of(sampler, event, &count);
	ring_account__split(&tally, account);
}
