// SPDX-License-Identifier: GPL-2.0
/* Visits to CPUs: util/host/cpu_visits.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "util/host/cpu_visits.h"
#include "util/host/cpumap.h"
#include "util/lib/util.h"

/* A number that no machine has. */
#define NO_CPU 9999

/* The visits, in their order */
struct log {
	int nr;
	int found[CPU_SETSIZE];
	cpu_set_t own; /* before the visits */
	sigset_t signals;
	bool is_busy; /* the first CPU executes something else */
	bool was_called_back;
};

static struct log *visits;

/* As a busy CPU: the visit goes on only when the thread may leave. At most 10 s. */
static void wait_for_call_back(void)
{
	for (int i = 0; i < 1000 && !visits->was_called_back; i++) {
		cpu_set_t now;

		usleep(10000);
		visits->was_called_back =
			!sched_getaffinity(0, sizeof(now), &now) && CPU_EQUAL(&now, &visits->own);
	}
}

/* In the place of the C library's: note where a thread is that has sent itself to a CPU. */
int sched_setaffinity(pid_t tid, size_t size, const cpu_set_t *set)
{
	int err = syscall(SYS_sched_setaffinity, tid, size, set);

	if (tid)
		return err;
	assert_in_range(visits->nr, 0, CPU_SETSIZE - 1);
	visits->found[visits->nr++] = sched_getcpu();
	pthread_sigmask(SIG_SETMASK, NULL, &visits->signals);
	if (visits->is_busy && visits->nr == 1)
		wait_for_call_back();
	return err;
}

static void visit_all(const struct cpumap *cpus, struct log *log)
{
	visits = log;
	cpu_visits__make(cpus);
}

static struct cpumap *usable_cpus(cpu_set_t *own)
{
	int cpus[CPU_SETSIZE], nr = 0;
	struct cpumap *map;

	assert_int_equal(sched_getaffinity(0, sizeof(*own), own), 0);
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		if (CPU_ISSET(cpu, own))
			cpus[nr++] = cpu;
	}
	map = cpumap__new(cpus, nr);
	assert_non_null(map);
	return map;
}

static void assert_same_cpus(const cpu_set_t *own)
{
	cpu_set_t now;

	assert_int_equal(sched_getaffinity(0, sizeof(now), &now), 0);
	assert_true(CPU_EQUAL(&now, own));
}

/* The first CPU is visited again at the end. */
static void assert_visits(const struct log *log, const struct cpumap *cpus, int from)
{
	assert_int_equal(log->nr, cpus->nr + (cpus->nr > 1));
	for (int i = from; i < cpus->nr; i++)
		assert_int_equal(log->found[i], cpus->cpu[i]);
	assert_int_equal(log->found[log->nr - 1], cpus->cpu[0]);
}

static void each_cpu_is_visited(void **state __unused)
{
	struct log log = {};
	struct cpumap *cpus = usable_cpus(&log.own);

	visit_all(cpus, &log);
	assert_visits(&log, cpus, 0);
	assert_same_cpus(&log.own);
	cpumap__delete(cpus);
}

static void a_cpu_that_is_not_there_is_passed_over(void **state __unused)
{
	struct log log = {};
	struct cpumap *usable = usable_cpus(&log.own);
	const int list[] = {NO_CPU, usable->cpu[0]};
	struct cpumap *cpus = cpumap__new(list, 2);

	assert_non_null(cpus);
	visit_all(cpus, &log);
	assert_int_equal(log.found[0], usable->cpu[0]);
	cpumap__delete(usable);
	cpumap__delete(cpus);
}

static void a_cpu_that_gives_no_time_is_left(void **state __unused)
{
	struct log log = {.is_busy = true};
	struct cpumap *cpus = usable_cpus(&log.own);

	if (cpus->nr < 2) {
		cpumap__delete(cpus);
		skip();
	}
	visit_all(cpus, &log);
	assert_true(log.was_called_back);
	assert_visits(&log, cpus, 1);
	cpumap__delete(cpus);
}

static void signals_are_left_to_the_caller(void **state __unused)
{
	struct log log = {};
	struct cpumap *cpus = usable_cpus(&log.own);
	sigset_t after;

	visit_all(cpus, &log);
	assert_true(sigismember(&log.signals, SIGINT));
	assert_int_equal(sigprocmask(SIG_SETMASK, NULL, &after), 0);
	assert_false(sigismember(&after, SIGINT));
	cpumap__delete(cpus);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_cpu_is_visited),
		cmocka_unit_test(a_cpu_that_is_not_there_is_passed_over),
		cmocka_unit_test(a_cpu_that_gives_no_time_is_left),
		cmocka_unit_test(signals_are_left_to_the_caller),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
