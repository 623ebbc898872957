// SPDX-License-Identifier: GPL-2.0
/*
 * crew N ITER: start N threads that wait, and print their thread ids, one a line. At each SIGUSR1 the
 * first thread spins ITER times, then the second 2 * ITER times, and so on, one after the other. The
 * main thread only waits. SIGTERM ends the program.
 * Instructions in user space, thread I, each signal: 2 * I * ITER + a constant.
 */
#include "workload.h"
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>

static unsigned long iter;
static sem_t done;

struct member {
	unsigned long number;
	sem_t go;
};

static void down(sem_t *sem)
{
	while (sem_wait(sem))
		if (errno != EINTR)
			die("sem_wait");
}

static void *work(void *arg)
{
	struct member *member = arg;

	printf("%d\n", gettid());
	fflush(stdout);
	for (;;) {
		sem_post(&done);
		down(&member->go);
		spin(member->number * iter);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	struct member *members;
	unsigned long n, i;
	pthread_t thread;
	sigset_t set;
	int sig;

	usage_unless(argc == 3, "N ITER");
	n = number(argc, argv, 1, 0);
	iter = number(argc, argv, 2, 0);
	members = calloc(n + 1, sizeof(*members));
	if (!members)
		die("calloc");
	/* Block the signals in all threads: the main thread waits for them, so none gets lost. */
	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGUSR1);
	if (sigprocmask(SIG_BLOCK, &set, NULL) || sem_init(&done, 0, 0))
		die("sigprocmask");
	for (i = 0; i < n; i++) {
		members[i].number = i + 1;
		if (sem_init(&members[i].go, 0, 0))
			die("sem_init");
		errno = pthread_create(&thread, NULL, work, &members[i]);
		if (errno)
			die("pthread_create");
		down(&done);
	}
	puts("ready");
	fflush(stdout);
	for (;;) {
		errno = sigwait(&set, &sig);
		if (errno)
			die("sigwait");
		if (sig == SIGTERM)
			return 0;
		for (i = 0; i < n; i++) {
			sem_post(&members[i].go);
			down(&done);
		}
	}
}
