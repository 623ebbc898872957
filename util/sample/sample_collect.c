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
#define STORE_ROOM (STORE_WORDS / 4)

#define NEEDS_STACKS (SAMPLE_NEEDS_KERNEL_STACK | SAMPLE_NEEDS_USER_STACK)

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

static void describe(struct sample_entry *entry, const struct sample_row *row, int event, int cpu)
{
	const struct sample_key *key = &row->key;

	*entry = (struct sample_entry){
		.event = event,
		.cpu = cpu,
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
		.is_user_unreadable = key->user_stack == STACK_NO_USER,
		.nr_samples = row->nr,
		.weight = row->weight,
	};
}

/* Return: whether a stack is missing that should be there. Kernel mode always has one. */
static bool lacks_stack(const struct sampler *sampler, const struct sample_key *key)
{
	if (key->user_stack == STACK_NO_USER)
		return true;
	return sampler->options.key & SAMPLE_KERNEL_STACK && !(key->flags & SAMPLED_USER) &&
	       !key->kernel_stack;
}

/* @nr: its number in the table. The row is a copy, which nobody changes meanwhile. */
static int give_row(struct sampler *sampler, const struct sample_row *row, int nr, int cpu,
		    sample_fn fn, void *ctx)
{
	uint64_t kernel[STACK_FRAMES], user[STACK_FRAMES];
	int idx = sampler->events_of_slot[SAMPLED_SLOT(row->key.flags) % MAX_SAMPLE_SLOTS];
	struct sampled_event *event = &sampler->events[idx];
	struct sample_entry entry;

	describe(&entry, row, idx, cpu);
	entry.kernel_ips = kernel;
	entry.user_ips = user;
	entry.nr_kernel =
		read_stack(sampler, cpu, row->key.kernel_stack, kernel, &entry.is_truncated);
	entry.nr_user = read_stack(sampler, cpu, row->key.user_stack, user, &entry.is_truncated);
	entry.singles = sample_singles__get(&sampler->singles, nr, row, &entry.nr_singles);
	if (entry.nr_kernel < 0 || entry.nr_user < 0) {
		add_sum(&event->late, row);
		return 0;
	}
	add_sum(&event->kept, row);
	if (entry.is_truncated)
		add_sum(&event->truncated, row);
	if (lacks_stack(sampler, &row->key))
		add_sum(&event->unreadable, row);
	return fn(ctx, &entry);
}

/* Empty the half of a CPU's table that is still. */
static int empty(struct sampler *sampler, int cpu, sample_fn fn, void *ctx)
{
	struct sample_table *table = &sampler->tables[cpu];
	struct sample_row *rows = table->rows[!(table->half & 1)];
	int err = 0;

	sample_singles__take(&sampler->singles, table, cpu);
	for (int i = 0; i < SAMPLE_ROWS; i++) {
		struct sample_row row;

		if (!rows[i].nr)
			continue;
		row = rows[i];
		row.comm[sizeof(row.comm) - 1] = '\0';
		if (!err)
			err = give_row(sampler, &row, i, cpu, fn, ctx);
		rows[i].nr = 0;
	}
	return err;
}

int sample_collect__all(struct sampler *sampler, sample_fn fn, void *ctx)
{
	int err = 0;

	for (int cpu = 0; cpu < sampler->object.nr_cpus && !err; cpu++) {
		if (sample_sync__has(sampler, cpu))
			err = empty(sampler, cpu, fn, ctx);
	}
	return err;
}

/* Return: the time after which so much room may be taken, at so much a millisecond. */
static int time_ms(double room, double per_ms)
{
	if (per_ms * MAX_COLLECT_MS < room)
		return MAX_COLLECT_MS;
	return per_ms * MIN_COLLECT_MS > room ? MIN_COLLECT_MS : room / per_ms;
}

static int table_ms(const struct sampler *sampler)
{
	uint32_t nr_singles = sampler->options.nr_singles;
	double room = (nr_singles && nr_singles < SAMPLE_ROWS ? nr_singles : SAMPLE_ROWS) / 4.0;
	double most = 0;

	for (int i = 0; i < sampler->nr_events; i++)
		most += sampler->events[i].per_ms;
	return time_ms(room, most);
}

/* All sessions fill the stores of stacks. */
int sample_collect__look_ms(const struct sampler *sampler)
{
	int store_ms = MAX_COLLECT_MS, own_ms = table_ms(sampler);

	if (sampler->tables[0].needs & NEEDS_STACKS)
		store_ms = time_ms(STORE_ROOM, sample_rate__words_per_ms(sampler->object.plan));
	return store_ms < own_ms ? store_ms : own_ms;
}

void sample_collect__begin(struct sampler *sampler)
{
	sampler->begun_ns = clock_ns();
	for (int cpu = 0; cpu < sampler->object.nr_cpus; cpu++)
		sampler->heads[cpu] =
			__atomic_load_n(&sampler->object.cpus[cpu].head, __ATOMIC_RELAXED);
}

bool sample_collect__is_due(const struct sampler *sampler)
{
	bool is_due = clock_ns() - sampler->begun_ns >= table_ms(sampler) * NSEC_PER_MSEC;

	for (int cpu = 0; cpu < sampler->object.nr_cpus && !is_due; cpu++) {
		uint64_t head = __atomic_load_n(&sampler->object.cpus[cpu].head, __ATOMIC_RELAXED);

		is_due = sampler->tables[cpu].needs & NEEDS_STACKS &&
			 sample_sync__has(sampler, cpu) && head - sampler->heads[cpu] >= STORE_ROOM;
	}
	return is_due;
}
