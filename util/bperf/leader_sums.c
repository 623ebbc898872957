// SPDX-License-Identifier: GPL-2.0
#include "util/bperf/leader_sums.h"

#include "util/bperf/crash_point.h"
#include "util/bperf/leader_internal.h"
#include "util/bperf/leader_parts.h"
#include "util/host/bpf_info.h"
#include "util/host/capability.h"
#include "util/lib/util.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

static size_t chunk_size(const struct bperf_leader *leader, enum sum_map kind)
{
	return bpf_info__page_up(leader->nr_cpus * leader_parts__chunk_bytes(kind));
}

static int open_chunk(__u32 id)
{
	int fd;

	capability__raise();
	fd = id ? bpf_map_get_fd_by_id(id) : -ENOENT;
	capability__lower();
	return fd;
}

/*
 * Others can have made it while we were counting. Return: NULL with errno: ENOENT: there is none, or it was one
 * of another leader.
 */
static void *map_chunk(const struct bperf_leader *leader, enum sum_map kind, __u32 id)
{
	int fd __cleanup(close_fd) = open_chunk(id);
	int err = fd < 0 ? fd : leader_parts__check_chunk(fd, kind, leader->nr_cpus);
	void *chunk = NULL;

	errno = err == -EPROTO ? ENOENT : -err;
	if (!err)
		chunk = bpf_info__map_memory(fd, chunk_size(leader, kind), PROT_READ | PROT_WRITE);
	return chunk;
}

static struct sum_block *find_block(void *ctx, int chunk, int cpu)
{
	struct bperf_leader *leader = ctx;

	errno = ENOENT;
	if (chunk < 0 || chunk >= MAX_CHUNKS || cpu < 0 || cpu >= leader->nr_cpus)
		return NULL;
	if (!leader->chunks[chunk])
		leader->chunks[chunk] =
			map_chunk(leader, SUM_CELLS, leader->registry->chunk_ids[chunk]);
	if (!leader->chunks[chunk])
		return NULL;
	if (chunk >= leader->nr_chunks)
		leader->nr_chunks = chunk + 1;
	return &leader->chunks[chunk][cpu];
}

static struct carry_block *find_carry(void *ctx, int place, int cpu)
{
	struct bperf_leader *leader = ctx;

	errno = ENOENT;
	if (place < 0 || place >= MAX_CARRIES || cpu < 0 || cpu >= leader->nr_cpus)
		return NULL;
	if (!leader->carries[place])
		leader->carries[place] =
			map_chunk(leader, SUM_CARRIES, leader->registry->carry_ids[place]);
	if (!leader->carries[place])
		return NULL;
	if (place >= leader->nr_carries)
		leader->nr_carries = place + 1;
	return &leader->carries[place][cpu];
}

/* --- new ones --- */

/* So many are made and put into the map at a time at most: each needs a descriptor until it is there. */
#define MAX_NEW 128

/* New chunks in the order of their places. */
struct new_chunks {
	int nr;
	__u32 place[MAX_NEW], id[MAX_NEW];
	int fd[MAX_NEW];
};

static void close_chunks(struct new_chunks *new)
{
	while (new->nr)
		close(new->fd[--new->nr]);
}

/* Return: where the step ends that a chunk begins: little memory for few cells, few waits for many. */
static int end_of_step(const struct bperf_leader *leader, int chunk)
{
	int expected = (leader->scope_sets.expected + CHUNK_CELLS - 1) / CHUNK_CELLS,
	    least = chunk < 2 ? chunk + 1 : (chunk / CHUNK_STEP + 1) * CHUNK_STEP,
	    end = chunk + (expected < MAX_NEW ? expected : MAX_NEW);

	end = end < MAX_CHUNKS ? end : MAX_CHUNKS;
	return end > least ? end : least;
}

static int make_chunk(const struct bperf_leader *leader, int place, struct new_chunks *new)
{
	int fd __cleanup(close_fd) = leader_parts__new_chunk(SUM_CELLS, leader->nr_cpus), err;

	err = fd < 0 ? fd : bpf_info__map_id(fd, &new->id[new->nr]);
	if (err)
		return err;
	new->place[new->nr] = place;
	new->fd[new->nr++] = fd;
	fd = -1;
	return 0;
}

/* Make a chunk, and those of its step that are free, as far as the memory suffices. */
static int make_step(const struct bperf_leader *leader, int chunk, struct new_chunks *new)
{
	int end = end_of_step(leader, chunk), err = make_chunk(leader, chunk, new);

	while (!err && ++chunk < end && !leader->registry->chunk_ids[chunk])
		err = make_chunk(leader, chunk, new);
	return new->nr ? 0 : err;
}

/* Some of the new chunks, which a thread puts into the map. */
struct chunk_batch {
	const struct bperf_leader *leader;
	struct new_chunks *new;
	int first, err;
	bool is_apart;
	pthread_t thread;
};

static void *put_batch(void *arg)
{
	struct chunk_batch *batch = arg;
	__u32 rest = batch->new->nr - batch->first, nr = rest < CHUNK_STEP ? rest : CHUNK_STEP;

	batch->err = bpf_map_update_batch(batch->leader->map_fds[LEADER_SUMS],
					  &batch->new->place[batch->first],
					  &batch->new->fd[batch->first], &nr, NULL);
	return NULL;
}

/*
 * Put new chunks where programs find them. The kernel waits for a grace period, once for each batch since Linux
 * 6.8, before for each chunk. The threads wait together. A batch without a thread is put here.
 */
static int put_chunks(const struct bperf_leader *leader, struct new_chunks *new)
{
	struct chunk_batch batches[MAX_NEW / CHUNK_STEP];
	int nr = 0, err = 0;

	for (int first = 0; first < new->nr; first += CHUNK_STEP, nr++) {
		batches[nr] = (struct chunk_batch){.leader = leader, .new = new, .first = first};
		batches[nr].is_apart = first && !pthread_create(&batches[nr].thread, NULL,
								put_batch, &batches[nr]);
	}
	for (int i = 0; i < nr; i++) {
		if (batches[i].is_apart)
			pthread_join(batches[i].thread, NULL);
		else
			put_batch(&batches[i]);
		err = err ? err : batches[i].err;
	}
	return err;
}

/* The map of maps keeps them; a chunk stays as long as the leader. */
static int add_chunk(void *ctx, int chunk)
{
	struct bperf_leader *leader = ctx;
	struct new_chunks new __cleanup(close_chunks) = {};
	int err;

	/* Others can map one that this session cannot, and would go on with it. */
	if (find_block(leader, chunk, 0))
		return 0;
	if (errno != ENOENT)
		return -errno;
	err = make_step(leader, chunk, &new);
	if (!err)
		err = put_chunks(leader, &new);
	if (err)
		return err;
	for (int i = 0; i < new.nr; i++)
		leader->registry->chunk_ids[new.place[i]] = new.id[i];
	return find_block(leader, chunk, 0) ? 0 : -errno;
}

/* Programs do not look them up: on_switch keeps them. */
static int add_carry(void *ctx, int place)
{
	struct bperf_leader *leader = ctx;
	int fd __cleanup(close_fd) = -1, err;
	__u32 id;

	if (find_carry(leader, place, 0))
		return 0;
	if (errno != ENOENT)
		return -errno;
	fd = leader_parts__new_chunk(SUM_CARRIES, leader->nr_cpus);
	err = fd < 0 ? fd : bpf_info__map_id(fd, &id);
	if (err)
		return err;
	if (bpf_prog_bind_map(leader->prog_fds[LEADER_ON_SWITCH], fd, NULL))
		return -errno;
	crash_point__reach("carry-made");
	__atomic_store_n(&leader->registry->carry_ids[place], id, __ATOMIC_RELEASE);
	return find_carry(leader, place, 0) ? 0 : -errno;
}

/* --- for the leader --- */

void leader_sums__provide(struct bperf_leader *leader)
{
	struct scope_tables *c = &leader->scope_sets;

	c->block = find_block;
	c->add_chunk = add_chunk;
	c->carry = find_carry;
	c->add_carry = add_carry;
}

static void unmap_chunk(const struct bperf_leader *leader, enum sum_map kind, void *chunk)
{
	if (chunk)
		munmap(chunk, chunk_size(leader, kind));
}

void leader_sums__unmap(struct bperf_leader *leader)
{
	for (int i = 0; i < leader->nr_chunks; i++)
		unmap_chunk(leader, SUM_CELLS, leader->chunks[i]);
	for (int i = 0; i < leader->nr_carries; i++)
		unmap_chunk(leader, SUM_CARRIES, leader->carries[i]);
}
