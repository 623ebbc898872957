// SPDX-License-Identifier: GPL-2.0
/*
 * threads N ITER: start N threads at the same time that spin ITER times each. The main thread waits.
 * Instructions in user space: 2 * N * ITER + N * a constant + a constant.
 */
#include "workload.h"
#include <pthread.h>

static void *thread(void *iter)
{
	spin(*(unsigned long *)iter);
	return NULL;
}

int main(int argc, char **argv)
{
	unsigned long n, iter, i;
	pthread_t *threads;

	usage_unless(argc == 3, "N ITER");
	n = number(argc, argv, 1, 0);
	iter = number(argc, argv, 2, 0);
	threads = calloc(n + 1, sizeof(*threads));
	if (!threads)
		die("calloc");
	for (i = 0; i < n; i++) {
		errno = pthread_create(&threads[i], NULL, thread, &iter);
		if (errno)
			die("pthread_create");
	}
	for (i = 0; i < n; i++) {
		errno = pthread_join(threads[i], NULL);
		if (errno)
			die("pthread_join");
	}
	free(threads);
	return 0;
}
