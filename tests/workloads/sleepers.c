// SPDX-License-Identifier: GPL-2.0
/*
 * sleepers N: start N further threads, with small stacks, that only sleep, and print "ready". SIGTERM
 * ends the program.
 */
#include "workload.h"
#include <limits.h>
#include <pthread.h>

static void *thread(void *arg)
{
	for (;;)
		pause();
	return arg;
}

int main(int argc, char **argv)
{
	pthread_attr_t attr;
	unsigned long n;
	pthread_t id;

	usage_unless(argc == 2, "N");
	errno = pthread_attr_init(&attr);
	if (!errno)
		errno = pthread_attr_setstacksize(&attr, PTHREAD_STACK_MIN + 16384);
	if (errno)
		die("pthread_attr_setstacksize");
	for (n = number(argc, argv, 1, 0); n; n--) {
		errno = pthread_create(&id, &attr, thread, NULL);
		if (errno)
			die("pthread_create");
	}
	puts("ready");
	fflush(stdout);
	thread(NULL);
	return 0;
}
