// SPDX-License-Identifier: GPL-2.0
/*
 * gang THREADS ITER [CHILDREN]: print "ready" and the ids of its THREADS further threads, and sleep.
 * At each SIGUSR1 all threads work at the same time: the first one spins ITER times, the next 2 * ITER,
 * the next 3 * ITER... Then the first forks CHILDREN children one after the other that spin ITER times
 * each, and prints "done". SIGTERM ends the program.
 * Instructions in user space, a signal: 2 * ITER * (1 + 2 + ... + (THREADS + 1) + CHILDREN) + a
 * constant. Asleep it executes none.
 */
#include "workload.h"
#include <pthread.h>
#include <signal.h>

#define MAX_THREADS 64

static pthread_barrier_t barrier;
static unsigned long iter;
static volatile pid_t tids[MAX_THREADS];

static void meet(void)
{
	int err = pthread_barrier_wait(&barrier);

	if (err && err != PTHREAD_BARRIER_SERIAL_THREAD)
		die("pthread_barrier_wait");
}

static void *thread(void *arg)
{
	unsigned long nr = (unsigned long)arg;

	tids[nr] = gettid();
	meet();
	for (;;) {
		meet();
		spin(iter * (nr + 2));
		meet();
	}
	return NULL;
}

static void work(unsigned long children)
{
	meet();
	spin(iter);
	meet();
	spin_in_children(children, iter);
	puts("done");
	fflush(stdout);
}

int main(int argc, char **argv)
{
	unsigned long nr, children, i;
	pthread_t id;
	sigset_t set;
	int sig;

	usage_unless(argc == 3 || argc == 4, "THREADS ITER [CHILDREN]");
	nr = number(argc, argv, 1, 0);
	iter = number(argc, argv, 2, 0);
	children = number(argc, argv, 3, 0);
	usage_unless(nr <= MAX_THREADS, "THREADS(up to 64) ITER [CHILDREN]");
	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGUSR1);
	if (sigprocmask(SIG_BLOCK, &set, NULL))
		die("sigprocmask");
	errno = pthread_barrier_init(&barrier, NULL, nr + 1);
	if (errno)
		die("pthread_barrier_init");
	for (i = 0; i < nr; i++) {
		errno = pthread_create(&id, NULL, thread, (void *)i);
		if (errno)
			die("pthread_create");
	}
	meet();
	printf("ready");
	for (i = 0; i < nr; i++)
		printf(" %d", tids[i]);
	putchar('\n');
	fflush(stdout);
	for (;;) {
		errno = sigwait(&set, &sig);
		if (errno)
			die("sigwait");
		if (sig == SIGTERM)
			return 0;
		work(children);
	}
}
