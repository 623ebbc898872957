// SPDX-License-Identifier: GPL-2.0
#include "util/sample/sample_collect.h"

#include "util/lib/util.h"
#include "util/sample/sample_rate.h"
#include "util/sample/sample_sync.h"
#include "util/sample/sample_table.h"
#include "util/sample/sampler_internal.h"

#include <errno.h>

/* A table is emptied when a quarter of it, or of the single samples, may be used, but not more often than this. */
#define MIN_COLLECT_MS 50
#define MAX_COLLECT_MS 1000

/*
 * A stack stays in the store for at least half of its ring after a sample has had it. A session looks at the store
 * when another quarter may be written, and collects when one is.
 */
#define STORE_ROOM  (STORE_WORDS / 4)
#define MIN_LOOK_MS 10

#define NEEDS_STACKS (SAMPLE_NEEDS_KERNEL_STACK | SAMPLE_NEEDS_USER_STACK)

/* A row that was taken out of a table. Behind it are its frames, of the kernel and of user space. */
struct taken_row {
	struct sample_row row;
	int cpu, nr; /* its number in the table */
	int nr_kernel, nr_user;
	bool is_truncated;
	bool is_late;
};

static_assert(sizeof(struct taken_row) % sizeof(uint64_t) == 0, "frames are aligned");

static void add_sum(struct sample_sum *sum, const struct sample_row *row)
{
	sum->nr += row->nr;
	sum->weight += row->weight;
}

/* Return: frames; 0: none; -ESTALE. @kept: those of the innermost that the session wants */
static int read_stack(const struct sampler *sampler, int cpu, uint64_t pos, uint64_t *frames,
		      bool *is_truncated)
{
	int nr;

	if (pos < STACK_FIRST)
		return 0;
	nr = sample_table__read_stack(&sampler->object.cpus[cpu], pos, frames);
	if (nr >= sampler->options.max_frames) {
		nr = sampler->options.max_frames;
		*is_truncated = true;
	}
	return nr;
}

/* Return: whether a stack is missing that should be there. Kernel mode always has one. */
static bool lacks_stack(const struct sampler *sampler, const struct sample_key *key)
{
	if (key->user_stack == STACK_NO_USER)
		return true;
	return sampler->options.key & SAMPLE_KERNEL_STACK && !(key->flags & SAMPLED_USER) &&
	       !key->kernel_stack;
}

static struct sampled_event *event_of(const struct sampler *sampler, const struct sample_row *row)
{
	int slot = SAMPLED_SLOT(row->key.flags) % MAX_SAMPLE_SLOTS;

	return &sampler->events[sampler->events_of_slot[slot]];
}

/* Put a row of a table with its stacks behind those taken so far. @nr: its number in the table */
static void take_row(struct sampler *sampler, const struct sample_row *row, int nr, int cpu)
{
	size_t len = sampler->taken.len;
	uint64_t kernel[STACK_FRAMES], user[STACK_FRAMES];
	struct taken_row taken = {.row = *row, .cpu = cpu, .nr = nr};

	taken.row.comm[sizeof(taken.row.comm) - 1] = '\0';
	taken.nr_kernel =
		read_stack(sampler, cpu, row->key.kernel_stack, kernel, &taken.is_truncated);
	taken.nr_user = read_stack(sampler, cpu, row->key.user_stack, user, &taken.is_truncated);
	if (taken.nr_kernel < 0 || taken.nr_user < 0) {
		taken.is_late = true;
		taken.nr_kernel = taken.nr_user = 0;
	}
	byte_buffer__put(&sampler->taken, &taken, sizeof(taken));
	byte_buffer__put(&sampler->taken, kernel, taken.nr_kernel * sizeof(*kernel));
	byte_buffer__put(&sampler->taken, user, taken.nr_user * sizeof(*user));
	if (!sampler->taken.has_failed)
		return;
	/* Without memory it comes too late for its stacks. The next rows may be smaller. */
	sampler->taken.has_failed = false;
	sampler->taken.len = len;
	add_sum(&event_of(sampler, row)->late, row);
}

/* Empty the half of a CPU's table that is still. */
static void take_rows(struct sampler *sampler, int cpu)
{
	struct sample_table *table = &sampler->tables[cpu];
	struct sample_row *rows = table->rows[!(table->half & 1)];

	for (int i = 0; i < SAMPLE_ROWS; i++) {
		if (!rows[i].nr)
			continue;
		take_row(sampler, &rows[i], i, cpu);
		rows[i].nr = 0;
	}
}

static void describe(struct sampler *sampler, const struct taken_row *taken,
		     struct sample_entry *entry)
{
	const struct sample_row *row = &taken->row;
	const struct sample_key *key = &row->key;
	const uint64_t *frames = (const uint64_t *)(taken + 1);

	*entry = (struct sample_entry){
		.event = event_of(sampler, row) - sampler->events,
		.cpu = taken->cpu,
		.pid = key->pid,
		.tid = key->tid,
		.start_ns = key->start_ns,
		.exec_id = key->exec_id,
		.is_user = key->flags & SAMPLED_USER,
		.prio = key->prio,
		.cgroup = key->cgroup,
		.comm = row->comm,
		.ip = key->ip,
		.addr = key->addr,
		.kernel_ips = frames,
		.nr_kernel = taken->nr_kernel,
		.user_ips = frames + taken->nr_kernel,
		.nr_user = taken->nr_user,
		.is_user_unreadable = key->user_stack == STACK_NO_USER,
		.is_truncated = taken->is_truncated,
		.nr_samples = row->nr,
		.weight = row->weight,
	};
}

static int give_row(struct sampler *sampler, const struct taken_row *taken, sample_fn fn, void *ctx)
{
	const struct sample_row *row = &taken->row;
	struct sampled_event *event = event_of(sampler, row);
	struct sample_entry entry;

	if (taken->is_late) {
		add_sum(&event->late, row);
		return 0;
	}
	describe(sampler, taken, &entry);
	entry.singles = sample_singles__get(&sampler->singles, taken->nr, row, &entry.nr_singles);
	add_sum(&event->kept, row);
	if (entry.is_truncated)
		add_sum(&event->truncated, row);
	if (lacks_stack(sampler, &row->key))
		add_sum(&event->unreadable, row);
	return fn(ctx, &entry);
}

/* Return: the size of a row with its frames. */
static size_t size_of(const struct taken_row *taken)
{
	return sizeof(*taken) + (taken->nr_kernel + taken->nr_user) * sizeof(uint64_t);
}

static int announce_rows(struct sampler *sampler, sample_fn expect, void *ctx)
{
	int err = 0;

	for (size_t at = 0; at < sampler->taken.len && !err;) {
		struct taken_row *taken = (void *)(sampler->taken.data + at);
		struct sample_entry entry;

		describe(sampler, taken, &entry);
		err = expect(ctx, &entry);
		at += size_of(taken);
	}
	return err;
}

/* Rows that found no memory have single samples all the same, which must not be those of later rows. */
static int give_rows(struct sampler *sampler, sample_fn fn, void *ctx)
{
	size_t at = 0;
	int err = 0;

	for (int cpu = 0; cpu < sampler->object.nr_cpus && !err; cpu++) {
		if (!sample_sync__has(sampler, cpu))
			continue;
		sample_singles__take(&sampler->singles, &sampler->tables[cpu], cpu);
		while (at < sampler->taken.len && !err) {
			struct taken_row *taken = (void *)(sampler->taken.data + at);

			if (taken->cpu != cpu)
				break;
			err = give_row(sampler, taken, fn, ctx);
			at += size_of(taken);
		}
	}
	return err;
}

/* Stacks are overwritten while entries are handled, which can take long. So those of all CPUs are taken first. */
int sample_collect__all(struct sampler *sampler, sample_fn expect, sample_fn fn, void *ctx)
{
	int err;

	sampler->taken.len = 0;
	for (int cpu = 0; cpu < sampler->object.nr_cpus; cpu++) {
		if (sample_sync__has(sampler, cpu))
			take_rows(sampler, cpu);
	}
	err = expect ? announce_rows(sampler, expect, ctx) : 0;
	return err ? err : give_rows(sampler, fn, ctx);
}

/* Return: the time after which so much room may be taken, at so much a millisecond; at least min_ms. */
static int time_ms(double room, double per_ms, int min_ms)
{
	if (per_ms * MAX_COLLECT_MS < room)
		return MAX_COLLECT_MS;
	return per_ms * min_ms > room ? min_ms : room / per_ms;
}

static int table_ms(const struct sampler *sampler)
{
	uint32_t nr_singles = sampler->options.nr_singles;
	double room = (nr_singles && nr_singles < SAMPLE_ROWS ? nr_singles : SAMPLE_ROWS) / 4.0;
	double most = 0;

	for (int i = 0; i < sampler->nr_events; i++)
		most += sampler->events[i].per_ms;
	return time_ms(room, most, MIN_COLLECT_MS);
}

/* A disabled session whose tables are empty has no stacks that could be overwritten. All sessions fill the stores. */
int sample_collect__look_ms(const struct sampler *sampler)
{
	int store_ms = MAX_COLLECT_MS, own_ms = table_ms(sampler);

	if (!sampler->is_enabled && sampler->begun_ns >= sampler->disabled_at_ns)
		return MAX_COLLECT_MS;

	if (sampler->tables[0].needs & NEEDS_STACKS)
		store_ms = time_ms(STORE_ROOM, sample_rate__words_per_ms(sampler->object.plan),
				   MIN_LOOK_MS);
	return store_ms < own_ms ? store_ms : own_ms;
}

/* Return: the position of the next stack of a CPU. */
static uint64_t head_of(const struct sampler *sampler, int cpu)
{
	uint64_t head = __atomic_load_n(&sampler->object.cpus[cpu].head, __ATOMIC_RELAXED);

	return head ? head : STACK_FIRST;
}

void sample_collect__begin(struct sampler *sampler)
{
	sampler->begun_ns = clock_ns();
	for (int cpu = 0; cpu < sampler->object.nr_cpus; cpu++)
		sampler->heads[cpu] = head_of(sampler, cpu);
}

bool sample_collect__is_due(const struct sampler *sampler)
{
	bool is_due = clock_ns() - sampler->begun_ns >= table_ms(sampler) * NSEC_PER_MSEC;

	for (int cpu = 0; cpu < sampler->object.nr_cpus && !is_due; cpu++) {
		is_due = sampler->tables[cpu].needs & NEEDS_STACKS &&
			 sample_sync__has(sampler, cpu) &&
			 head_of(sampler, cpu) - sampler->heads[cpu] >= STORE_ROOM;
	}
	return is_due;
}
