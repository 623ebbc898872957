// SPDX-License-Identifier: GPL-2.0
#include "util/sample/sample_collect.h"

#include "util/lib/util.h"
#include "util/sample/sample_sync.h"
#include "util/sample/sample_table.h"
#include "util/sample/sampler_internal.h"

#include <errno.h>

/* A table is emptied when a quarter of it, or of the single samples, may be used, but not more often than this. */
#define MIN_COLLECT_MS 50
#define MAX_COLLECT_MS 1000

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

int sample_collect__ms(const struct sampler *sampler)
{
	double most = 0; /* samples a millisecond */
	uint32_t nr_singles = sampler->options.nr_singles;
	double room = (nr_singles && nr_singles < SAMPLE_ROWS ? nr_singles : SAMPLE_ROWS) / 4.0;

	for (int i = 0; i < sampler->nr_events; i++) {
		const struct sampled_event *event = &sampler->events[i];

		/* The rate of other periods is unknown. */
		if (!event->is_periodic)
			most += event->rate / 1e3;
		else if (event->is_clock)
			most += 1e6 / event->rate;
		else
			most += 4e6 / event->rate;
	}
	if (most * MAX_COLLECT_MS < room)
		return MAX_COLLECT_MS;
	return most * MIN_COLLECT_MS > room ? MIN_COLLECT_MS : room / most;
}
