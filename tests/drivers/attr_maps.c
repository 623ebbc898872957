// SPDX-License-Identifier: GPL-2.0
/*
 * Open, lock and change one attr map from many processes at once, some of which die or remove it.
 *
 *	attr_maps PATH ROUNDS
 *
 * In each round there is no map at PATH at first. All processes begin at the same time, and each adds an entry
 * and raises the value of one that all have, a few times under the lock. Some end by SIGKILL. In every second
 * round one removes map and lock, as an administrator may: the others go on with the next map.
 * The holder of the lock checks that nobody else has it, that the pinned map is its own, and that its entry is
 * there. Prints "ROUNDS rounds, N locks, N killed, N maps removed"; exit status 1 after a
 * message: something was wrong.
 */
#include "bpf_skel/leader.h"
#include "util/bperf/attr_map.h"
#include "util/host/bpf_info.h"
#include "util/host/capability.h"
#include "util/lib/msg.h"
#include "util/lib/util.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define NR_PROCESSES 8
#define NR_LOCKS     6 /* of each process */

static struct shared {
	int go;
	int holder;	 /* its number, from 1; 0: nobody has the lock, or it died */
	uint32_t map_id; /* that the last holder had; 0: it is removed */
	uint32_t raised; /* how often the value that all have was raised in this map */
	int nr_locks, nr_removed;
	bool is_wrong;
} * shared;

static unsigned int seed;

static int random_below(int n)
{
	return rand_r(&seed) % n;
}

static void check(bool holds, const char *text)
{
	if (holds)
		return;
	pr_err("process %d: not so: %s", getpid(), text);
	__atomic_store_n(&shared->is_wrong, true, __ATOMIC_SEQ_CST);
	_exit(1);
}

static struct attr_key key_of(int nr)
{
	struct perf_event_attr attr = {.type = PERF_TYPE_RAW, .config = nr};
	const uint64_t more[NR_MORE_CONFIG] = {};
	struct attr_key key;

	attr_map__key(&attr, more, &key);
	return key;
}

static uint32_t pinned_id(const char *path)
{
	int fd __cleanup(close_fd) = bpf_obj_get(path);
	struct bpf_map_info info;

	return fd >= 0 && !bpf_info__map(fd, &info) ? info.id : 0;
}

/* A process that dies under the lock says so. */
static void die_sometimes(bool has_lock)
{
	if (random_below(40))
		return;
	if (has_lock)
		__atomic_store_n(&shared->holder, 0, __ATOMIC_SEQ_CST);
	raise(SIGKILL);
}

/* The entry that all have: its value is as high as it was raised in this map. */
static void raise_value(struct attr_map *map)
{
	const struct attr_key key = key_of(0);
	struct attr_map_value value = {};
	int err = attr_map__get(map, &key, &value);

	check(!err || err == -ENOENT, "the common entry can be read");
	check(value.link_id == shared->raised, "no raise is lost");
	die_sometimes(true);
	value.link_id++;
	check(!(err ? attr_map__add : attr_map__replace)(map, &key, &value),
	      "the common entry can be written");
	shared->raised++;
}

static void change(struct attr_map *map, int nr, uint32_t *added_to)
{
	const struct attr_key key = key_of(nr);
	struct attr_map_value value = {.link_id = nr};

	if (*added_to != map->id) {
		check(!attr_map__add(map, &key, &value), "an entry can be added");
		*added_to = map->id;
	} else {
		check(!attr_map__get(map, &key, &value) && value.link_id == (uint32_t)nr,
		      "an entry is still there");
		check(attr_map__add(map, &key, &value) == -EEXIST, "an entry is there once");
	}
}

static void remove_all(const char *path)
{
	char *lock __cleanup(free_ptr) = xasprintf("%s_lock", path);
	char *tasks __cleanup(free_ptr) = xasprintf("%s_lock/tasks", path);
	char *content __cleanup(free_ptr) = xasprintf("%s_lock/tasks/in_use", path);

	unlink(path);
	unlink(content);
	rmdir(tasks);
	rmdir(lock);
}

static void live(const char *path, int nr, bool removes)
{
	uint32_t added_to = 0;

	while (!__atomic_load_n(&shared->go, __ATOMIC_SEQ_CST))
		sched_yield();
	for (int i = 0; i < NR_LOCKS; i++) {
		struct attr_map *map;

		check(!attr_map__open(path, NULL, NULL, &map), "the map can be opened");
		die_sometimes(false);
		check(!attr_map__lock(map), "the map can be locked");
		check(!__atomic_exchange_n(&shared->holder, nr, __ATOMIC_SEQ_CST),
		      "nobody else has the lock");
		check(pinned_id(path) == map->id, "the pinned map is the locked one");
		if (map->id != shared->map_id) {
			check(!shared->map_id, "a map lasts until it is removed");
			shared->map_id = map->id;
			shared->raised = 0;
		}
		change(map, nr, &added_to);
		raise_value(map);
		shared->nr_locks++;
		die_sometimes(true);
		if (removes && i == NR_LOCKS / 2) {
			shared->map_id = 0;
			shared->nr_removed++;
		}
		check(__atomic_exchange_n(&shared->holder, 0, __ATOMIC_SEQ_CST) == nr,
		      "nobody else got the lock");
		/* From here on others can have the next lock. */
		if (removes && i == NR_LOCKS / 2)
			remove_all(path);
		attr_map__unlock(map);
		attr_map__delete(map);
	}
	_exit(0);
}

/* Return: how many were killed. */
static int play_round(const char *path, bool removes, int round)
{
	int nr_killed = 0, status;

	remove_all(path);
	shared->go = shared->holder = 0;
	shared->map_id = 0;
	for (int nr = 1; nr <= NR_PROCESSES; nr++) {
		seed = round * NR_PROCESSES + nr;
		if (!fork())
			live(path, nr, removes && nr == 1);
	}
	__atomic_store_n(&shared->go, 1, __ATOMIC_SEQ_CST);
	while (wait(&status) > 0)
		nr_killed += WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
	remove_all(path);
	return nr_killed;
}

int main(int argc, char **argv)
{
	int rounds = argc == 3 ? atoi(argv[2]) : 0, nr_killed = 0;

	msg__init("attr_maps");
	capability__init();
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	if (rounds < 1 || shared == MAP_FAILED)
		return 2;
	for (int i = 0; i < rounds && !shared->is_wrong; i++)
		nr_killed += play_round(argv[1], i % 2, i);
	printf("%d rounds, %d locks, %d killed, %d maps removed\n", rounds, shared->nr_locks,
	       nr_killed, shared->nr_removed);
	return shared->is_wrong;
}
