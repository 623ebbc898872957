// SPDX-License-Identifier: GPL-2.0
/* The search for new BPF programs in mid-run: util/run/progs.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#include "said.h"
#include "util/counter/counter.h"
#include "util/event/evlist.h"
#include "util/lib/util.h"
#include "util/run/pass.h"
#include "util/run/progs.h"
#include "util/target/bpf_prog_list.h"
#include "util/target/thread_map.h"

/* This machine has no BPF programs. Nothing else here needs a system call by number. */
long syscall(long nr, ...)
{
	errno = nr == SYS_bpf ? ENOENT : ENOSYS;
	return -1;
}

static int nr_followed, nr_failures, failure;

static int follow(struct counter *self __unused)
{
	return nr_followed++ < nr_failures ? failure : 0;
}

/* Look three times, of which the first ones fail. Return: the messages, owned by the caller. */
static char *look(int err, int nr)
{
	static const struct counter_ops ops = {.follow_progs = follow};
	struct bpf_prog_list progs = {.follows = true};
	struct counter counter = {.ops = &ops};
	struct stat_run run = {.plan = {.progs = &progs, .evlist = evlist__new()}};
	struct stat_pass pass = {.run = &run, .counters = {[BACK_END_BPERF] = &counter}};
	struct said said;
	char *text;

	nr_followed = 0;
	failure = err;
	nr_failures = nr;
	assert_non_null(run.plan.evlist);
	said__begin(&said);
	for (int i = 0; i < 3; i++)
		stat_pass__look_for_progs(&pass);
	text = said__end(&said);
	assert_true(pass.next_look_ns > 0);
	thread_map__delete(run.plan.prog_rows);
	evlist__delete(run.plan.evlist);
	return text;
}

static void a_look_that_fails_is_repeated_after_one_warning(void **state __unused)
{
	static const int errors[] = {ENOMEM, EMFILE, EPERM};

	for (size_t i = 0; i < ARRAY_SIZE(errors); i++) {
		char *text = look(-errors[i], 2);
		const char *warning = strstr(text, "-b: new programs cannot be counted for now: ");

		assert_int_equal(nr_followed, 3);
		assert_non_null(warning);
		assert_non_null(strstr(warning, strerror(errors[i])));
		assert_null(strstr(warning + 1, "-b:"));
		free(text);
	}
}

static void no_warning_is_printed_for_a_lock_or_without_an_error(void **state __unused)
{
	static const int errors[] = {0, ETIMEDOUT, EINTR};

	for (size_t i = 0; i < ARRAY_SIZE(errors); i++) {
		char *text = look(-errors[i], 2);

		assert_int_equal(nr_followed, 3);
		assert_string_equal(text, "");
		free(text);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_look_that_fails_is_repeated_after_one_warning),
		cmocka_unit_test(no_warning_is_printed_for_a_lock_or_without_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
