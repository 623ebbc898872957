// SPDX-License-Identifier: GPL-2.0
/* Lists of threads and processes: util/target/thread_map.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "util/lib/util.h"
#include "util/target/thread_map.h"

#define NR_THREADS 40 /* more than one doubling of the map */

struct crowd {
	pthread_t threads[NR_THREADS];
	pthread_barrier_t here, end;
};

static void *stand(void *arg)
{
	struct crowd *crowd = arg;

	pthread_barrier_wait(&crowd->here);
	pthread_barrier_wait(&crowd->end);
	return NULL;
}

static void crowd__gather(struct crowd *crowd)
{
	pthread_barrier_init(&crowd->here, NULL, NR_THREADS + 1);
	pthread_barrier_init(&crowd->end, NULL, NR_THREADS + 1);
	for (int i = 0; i < NR_THREADS; i++)
		assert_int_equal(pthread_create(&crowd->threads[i], NULL, stand, crowd), 0);
	pthread_barrier_wait(&crowd->here);
}

static void crowd__leave(struct crowd *crowd)
{
	pthread_barrier_wait(&crowd->end);
	for (int i = 0; i < NR_THREADS; i++)
		pthread_join(crowd->threads[i], NULL);
}

static int find(const struct thread_map *map, pid_t tid)
{
	for (int i = 0; i < map->nr; i++) {
		if (map->thread[i].tid == tid)
			return i;
	}
	return -1;
}

static void invalid_lists_are_refused(void **state)
{
	static const char *const lists[] = {
		"",
		",",
		"1,",
		",1",
		"1,,2",
		"0",
		"-1",
		"+1",
		"1x",
		"x",
		" 1",
		"1 ",
		"1, 2",
		"0x1",
		"1;2",
		"2147483648",
		"99999999999999999999",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(lists); i++) {
		errno = 0;
		if (thread_map__new_pids(lists[i]) || errno != EINVAL)
			fail_msg("'%s' was accepted as processes", lists[i]);
		errno = 0;
		if (thread_map__new_tids(lists[i]) || errno != EINVAL)
			fail_msg("'%s' was accepted as threads", lists[i]);
	}
}

static void process_has_all_its_threads(void **state)
{
	struct crowd crowd;
	struct thread_map *map;
	char list[64];

	(void)state;
	crowd__gather(&crowd);
	/* A process named twice is in the map once. */
	snprintf(list, sizeof(list), "%d,%d", getpid(), getpid());
	map = thread_map__new_pids(list);
	assert_non_null(map);
	assert_int_equal(map->nr, NR_THREADS + 1);
	assert_int_equal(map->thread[0].tid, getpid());
	for (int i = 0; i < map->nr; i++)
		assert_string_equal(map->thread[i].comm, "thread_map");
	thread_map__delete(map);
	crowd__leave(&crowd);
}

static void threads_keep_their_order(void **state)
{
	struct thread_map *map;
	char list[64];

	(void)state;
	snprintf(list, sizeof(list), "%d,1,%d", getpid(), getpid());
	map = thread_map__new_tids(list);
	assert_non_null(map);
	assert_int_equal(map->nr, 2);
	assert_int_equal(map->thread[0].tid, getpid());
	assert_int_equal(map->thread[1].tid, 1);
	thread_map__delete(map);
}

static void ended_process_is_not_found(void **state)
{
	pid_t pid = fork();
	struct thread_map *map;
	char list[64];

	(void)state;
	if (!pid)
		_exit(0);
	waitpid(pid, NULL, 0);
	snprintf(list, sizeof(list), "%d,%d", getpid(), pid);
	errno = 0;
	assert_null(thread_map__new_pids(list));
	assert_int_equal(errno, ESRCH);
	/* A missing thread is only noticed when its event is opened. */
	snprintf(list, sizeof(list), "%d", pid);
	map = thread_map__new_tids(list);
	assert_non_null(map);
	assert_string_equal(map->thread[0].comm, "");
	thread_map__delete(map);
}

static void all_threads_include_self(void **state)
{
	struct crowd crowd;
	struct thread_map *map;
	int first;

	(void)state;
	crowd__gather(&crowd);
	map = thread_map__new_all();
	assert_non_null(map);
	first = find(map, getpid());
	assert_true(first >= 0 && first + NR_THREADS < map->nr);
	for (int i = 1; i <= NR_THREADS; i++)
		assert_string_equal(map->thread[first + i].comm, "thread_map");
	thread_map__delete(map);
	crowd__leave(&crowd);
	map = thread_map__new_one(getpid());
	assert_non_null(map);
	assert_int_equal(map->nr, 1);
	thread_map__delete(map);
	thread_map__delete(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(invalid_lists_are_refused),
		cmocka_unit_test(process_has_all_its_threads),
		cmocka_unit_test(threads_keep_their_order),
		cmocka_unit_test(ended_process_is_not_found),
		cmocka_unit_test(all_threads_include_self),
	};

	return cmocka_run_group_tests_name("thread_map", tests, NULL, NULL);
}
