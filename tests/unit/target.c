// SPDX-License-Identifier: GPL-2.0
/* Options that override each other: util/target/target.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "said.h"
#include "util/lib/msg.h"
#include "util/lib/util.h"
#include "util/target/pid_list.h"
#include "util/target/target.h"

static char *const argv[] = {(char *)"true", NULL};

static void contradicting_options_have_one_winner(void **state)
{
	static const struct {
		struct target given, left;
		const char *said;
	} cases[] = {
		{{}, {.system_wide = true}, ""},
		{{.argc = 1}, {.argc = 1}, ""},
		{{.system_wide = true, .argc = 1}, {.system_wide = true, .argc = 1}, ""},
		{{.cpu_list = "0"}, {.cpu_list = "0"}, ""},
		{{.pid_list = "1"}, {.pid_list = "1"}, ""},
		{{.pid_list = "1", .tid_list = "2"},
		 {.pid_list = "1"},
		 "Warning:\n-p overrides -t: only the processes are counted\n"},
		{{.pid_list = "1", .cpu_list = "0"},
		 {.pid_list = "1"},
		 "Warning:\n-p overrides -C: tasks are counted on every CPU\n"},
		{{.tid_list = "1", .system_wide = true},
		 {.tid_list = "1"},
		 "Warning:\n-t overrides -a: only the tasks are counted\n"},
		{{.bpf_list = "1", .argc = 1},
		 {.bpf_list = "1", .system_wide = true, .argc = 1},
		 ""},
		{{.bpf_list = "1", .cpu_list = "0"}, {.bpf_list = "1", .cpu_list = "0"}, ""},
		{{.bpf_list = "1", .system_wide = true},
		 {.bpf_list = "1", .system_wide = true},
		 ""},
		{{.bpf_list = "1", .pid_list = "1"},
		 {.bpf_list = "1", .system_wide = true},
		 "Warning:\n-b overrides -p: BPF programs are counted in all tasks\n"},
		{{.bpf_list = "1", .tid_list = "1"},
		 {.bpf_list = "1", .system_wide = true},
		 "Warning:\n-b overrides -t: BPF programs are counted in all tasks\n"},
		{{.per_thread = true}, {.per_thread = true, .system_wide = true}, ""},
		{{.per_thread = true, .tid_list = "1"}, {.per_thread = true, .tid_list = "1"}, ""},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct target target = cases[i].given;
		struct said capture;
		char *said;
		int err;

		said__begin(&capture);
		err = target__validate(&target);
		said = said__end(&capture);
		assert_int_equal(err, 0);
		assert_string_equal(said, cases[i].said);
		assert_memory_equal(&target, &cases[i].left, sizeof(target));
		free(said);
	}
}

static void per_thread_needs_known_threads(void **state)
{
	struct target command = {.per_thread = true, .argc = 1, .argv = argv};
	struct target cpus = {.per_thread = true, .cpu_list = "0"};
	struct said capture;
	char *said;

	(void)state;
	msg__init("perf stat");
	said__begin(&capture);
	assert_int_equal(target__validate(&command), -EINVAL);
	said = said__end(&capture);
	assert_string_equal(said, "perf stat: --per-thread needs threads to list: -p, -t or -a\n");
	free(said);
	said__begin(&capture);
	assert_int_equal(target__validate(&cpus), -EINVAL);
	free(said__end(&capture));
}

static void tasks_are_told_from_cpus(void **state)
{
	const struct target command = {.argc = 1, .argv = argv};
	const struct target process = {.pid_list = "1"}, thread = {.tid_list = "1"};
	const struct target machine = {.system_wide = true}, cpus = {.cpu_list = "0"};

	(void)state;
	assert_true(target__has_task(&command) && !target__is_attached(&command));
	assert_true(target__has_task(&process) && target__is_attached(&process));
	assert_true(target__has_task(&thread) && target__is_attached(&thread));
	assert_false(target__has_task(&machine) || target__is_attached(&machine));
	assert_false(target__has_task(&cpus) || target__is_attached(&cpus));
}

static bool has(const struct pid_list *list, pid_t pid)
{
	for (int i = 0; i < list->nr; i++) {
		if (list->pids[i] == pid)
			return true;
	}
	return false;
}

static void test_processes_of_a_target_are_listed(void **state __unused)
{
	const struct target listed = {.pid_list = "7,8"}, everybody = {.system_wide = true};
	struct pid_list list = {};

	assert_int_equal(pid_list__find(&list, &listed), 0);
	assert_int_equal(list.nr, 2);
	assert_true(has(&list, 7) && has(&list, 8));
	pid_list__clear(&list);
	assert_int_equal(pid_list__find(&list, &everybody), 0);
	assert_true(has(&list, getpid()) && has(&list, 1));
	pid_list__clear(&list);
}

static void *list_own_process(void *ctx)
{
	char *tid = xasprintf("%d", (int)gettid());
	const struct target target = {.tid_list = tid};
	int err = pid_list__find(ctx, &target);

	free(tid);
	return err ? NULL : ctx;
}

static void test_a_thread_stands_for_its_process(void **state __unused)
{
	struct pid_list list = {};
	pthread_t thread;
	void *ret;

	assert_int_equal(pthread_create(&thread, NULL, list_own_process, &list), 0);
	assert_int_equal(pthread_join(thread, &ret), 0);
	assert_ptr_equal(ret, &list);
	assert_int_equal(list.nr, 1);
	assert_int_equal(list.pids[0], getpid());
	pid_list__clear(&list);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_processes_of_a_target_are_listed),
		cmocka_unit_test(test_a_thread_stands_for_its_process),
		cmocka_unit_test(contradicting_options_have_one_winner),
		cmocka_unit_test(per_thread_needs_known_threads),
		cmocka_unit_test(tasks_are_told_from_cpus),
	};

	return cmocka_run_group_tests_name("target", tests, NULL, NULL);
}
