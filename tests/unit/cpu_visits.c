// SPDX-License-Identifier: GPL-2.0
/* Calls on certain CPUs: util/host/cpu_visits.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <unistd.h>

#include "util/host/cpu_visits.h"
#include "util/host/cpumap.h"
#include "util/lib/util.h"

/* A number that no machine has. */
#define NO_CPU 9999

/* The calls, in their order */
struct log {
	int nr;
	int asked[CPU_SETSIZE], found[CPU_SETSIZE];
	cpu_set_t own; /* before the visits */
	bool was_called_back;
};

static void note(void *ctx, int cpu)
{
	struct log *log = ctx;

	assert_in_range(log->nr, 0, CPU_SETSIZE - 1);
	log->asked[log->nr] = cpu;
	log->found[log->nr++] = sched_getcpu();
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

static void calls_are_made_on_their_cpus(void **state __unused)
{
	struct log log = {};
	struct cpumap *cpus = usable_cpus(&log.own);

	cpu_visits__make(cpus, note, &log);
	assert_int_equal(log.nr, cpus->nr);
	for (int i = 0; i < log.nr; i++) {
		assert_int_equal(log.asked[i], cpus->cpu[i]);
		assert_int_equal(log.found[i], cpus->cpu[i]);
	}
	assert_same_cpus(&log.own);
	cpumap__delete(cpus);
}

static void a_cpu_that_is_not_there_is_served_from_another(void **state __unused)
{
	static const int list[] = {0, NO_CPU};
	struct cpumap *cpus = cpumap__new(list, 2);
	struct log log = {};

	assert_non_null(cpus);
	cpu_visits__make(cpus, note, &log);
	assert_int_equal(log.nr, 2);
	assert_int_equal(log.asked[1], NO_CPU);
	cpumap__delete(cpus);
}

/* As a CPU that executes something else: the call goes on only when the thread may leave. At most 10 s. */
static void wait_for_call_back(void *ctx, int cpu)
{
	struct log *log = ctx;

	note(ctx, cpu);
	if (log->nr > 1)
		return;
	for (int i = 0; i < 1000 && !log->was_called_back; i++) {
		cpu_set_t now;

		usleep(10000);
		log->was_called_back =
			!sched_getaffinity(0, sizeof(now), &now) && CPU_EQUAL(&now, &log->own);
	}
}

static void a_cpu_that_gives_no_time_is_left(void **state __unused)
{
	struct log log = {};
	struct cpumap *cpus = usable_cpus(&log.own);

	if (cpus->nr < 2) {
		cpumap__delete(cpus);
		skip();
	}
	cpu_visits__make(cpus, wait_for_call_back, &log);
	assert_true(log.was_called_back);
	assert_int_equal(log.nr, cpus->nr);
	assert_int_equal(log.found[1], cpus->cpu[1]);
	cpumap__delete(cpus);
}

static void note_signals(void *ctx, int cpu __unused)
{
	pthread_sigmask(SIG_SETMASK, NULL, ctx);
}

static void signals_are_left_to_the_caller(void **state __unused)
{
	struct cpumap *cpus = cpumap__new((int[]){0}, 1);
	sigset_t during, after;

	assert_non_null(cpus);
	cpu_visits__make(cpus, note_signals, &during);
	assert_true(sigismember(&during, SIGINT));
	assert_int_equal(sigprocmask(SIG_SETMASK, NULL, &after), 0);
	assert_false(sigismember(&after, SIGINT));
	cpumap__delete(cpus);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(calls_are_made_on_their_cpus),
		cmocka_unit_test(a_cpu_that_is_not_there_is_served_from_another),
		cmocka_unit_test(a_cpu_that_gives_no_time_is_left),
		cmocka_unit_test(signals_are_left_to_the_caller),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
