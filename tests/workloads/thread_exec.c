// SPDX-License-Identifier: GPL-2.0
/*
 * thread_exec N ITER: N times, let a second thread execute this program again. The exec ends all other
 * threads and makes it the first one: tids change owners. Each time the second thread spins ITER times
 * before its exec, and the first one ITER times before it starts the second.
 * Instructions in user space: 4 * N * ITER + N * a constant + a constant.
 */
#include "workload.h"
#include <pthread.h>

static unsigned long left, iter;

static void *thread(void *path)
{
	char left_text[32], iter_text[32];

	spin(iter);
	snprintf(left_text, sizeof(left_text), "%lu", left - 1);
	snprintf(iter_text, sizeof(iter_text), "%lu", iter);
	execl(path, "thread_exec", left_text, iter_text, NULL);
	die("exec");
}

int main(int argc, char **argv)
{
	pthread_t id;

	usage_unless(argc == 3, "N ITER");
	left = number(argc, argv, 1, 0);
	iter = number(argc, argv, 2, 0);
	if (!left)
		return 0;
	spin(iter);
	errno = pthread_create(&id, NULL, thread, "/proc/self/exe");
	if (errno)
		die("pthread_create");
	for (;;)
		pause();
}
