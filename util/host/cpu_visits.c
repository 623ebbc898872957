// SPDX-License-Identifier: GPL-2.0
#include "util/host/cpu_visits.h"

#include "util/host/cpumap.h"
#include "util/lib/util.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

/* The kernel takes no set that is smaller than its own (sched_getaffinity(2)). */
#define MAX_SET_SIZE 65536

/* How long a CPU may keep the thread waiting, and how many may: nobody waits for a second. */
#define WAIT_MS	  100
#define MAX_WAITS 5

struct visits {
	const struct cpumap *cpus;
	cpu_set_t *own, *one; /* of the CPUs that perf may use, and of the one visited */
	size_t set_size;      /* of each, in bytes */
	int done_fd;	      /* an eventfd: counts the visits made, and the end */
	pid_t tid;	      /* of the thread, when it has begun */
	bool stays;	      /* too many CPUs kept it waiting */
};

static bool alloc_sets(struct visits *visits)
{
	for (size_t size = sizeof(cpu_set_t); size <= MAX_SET_SIZE; size *= 2) {
		free(visits->own);
		visits->own = malloc(size);
		visits->set_size = size;
		if (!visits->own)
			return false;
		if (!sched_getaffinity(0, size, visits->own)) {
			visits->one = calloc(1, size);
			return visits->one;
		}
		if (errno != EINVAL)
			return false;
	}
	return false;
}

static void visit(struct visits *visits, int cpu)
{
	if ((size_t)cpu >= visits->set_size * 8 ||
	    __atomic_load_n(&visits->stays, __ATOMIC_RELAXED))
		return;
	CPU_SET_S(cpu, visits->set_size, visits->one);
	sched_setaffinity(0, visits->set_size, visits->one);
	CPU_CLR_S(cpu, visits->set_size, visits->one);
}

static void *make_all(void *ctx)
{
	struct visits *visits = ctx;

	__atomic_store_n(&visits->tid, gettid(), __ATOMIC_RELEASE);
	for (int i = 0; i < visits->cpus->nr; i++) {
		visit(visits, visits->cpus->cpu[i]);
		eventfd_write(visits->done_fd, 1);
	}
	/* Leaving a CPU switches it to a kernel thread, ending does not. */
	if (visits->cpus->nr > 1)
		visit(visits, visits->cpus->cpu[0]);
	eventfd_write(visits->done_fd, 1);
	return NULL;
}

/* Get the thread back from a CPU on which it does not get to execute. */
static void call_back(struct visits *visits)
{
	pid_t tid = __atomic_load_n(&visits->tid, __ATOMIC_ACQUIRE);

	if (tid)
		sched_setaffinity(tid, visits->set_size, visits->own);
}

static void wait_for_all(struct visits *visits)
{
	struct pollfd done = {.fd = visits->done_fd, .events = POLLIN};
	eventfd_t nr;

	for (int nr_done = 0, nr_waits = 0; nr_done <= visits->cpus->nr;) {
		if (poll(&done, 1, WAIT_MS) > 0) {
			if (!eventfd_read(visits->done_fd, &nr))
				nr_done += nr;
			continue;
		}
		if (++nr_waits >= MAX_WAITS)
			__atomic_store_n(&visits->stays, true, __ATOMIC_RELAXED);
		call_back(visits);
	}
}

static void make_in_thread(struct visits *visits)
{
	sigset_t all, before;
	pthread_t thread;
	int err;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	err = pthread_create(&thread, NULL, make_all, visits);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (err)
		return;
	wait_for_all(visits);
	pthread_join(thread, NULL);
}

void cpu_visits__make(const struct cpumap *cpus)
{
	struct visits visits = {.cpus = cpus, .done_fd = eventfd(0, EFD_CLOEXEC)};

	if (visits.done_fd >= 0 && alloc_sets(&visits))
		make_in_thread(&visits);
	close_fd(&visits.done_fd);
	free(visits.own);
	free(visits.one);
}
