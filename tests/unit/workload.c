// SPDX-License-Identifier: GPL-2.0
/* Commands that end before they are executed: util/target/workload.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <signal.h>
#include <sys/wait.h>

#include "util/lib/util.h"
#include "util/target/workload.h"

static char *const command[] = {(char *)"true", NULL};

/* Kill the held child, and wait for its end, which is left to workload__wait(). */
static void kill_child(const struct workload *workload)
{
	siginfo_t info;

	assert_int_equal(kill(workload->pid, SIGKILL), 0);
	assert_int_equal(waitid(P_PID, workload->pid, &info, WEXITED | WNOWAIT), 0);
}

static void assert_killed(struct workload *workload)
{
	assert_true(workload__wait(workload, true));
	assert_true(WIFSIGNALED(workload->status));
	assert_int_equal(WTERMSIG(workload->status), SIGKILL);
	workload__delete(workload);
}

static void a_child_that_is_killed_before_the_start_cannot_start(void **state __unused)
{
	struct workload workload;

	assert_int_equal(workload__fork(&workload, command, false), 0);
	kill_child(&workload);
	assert_int_equal(workload__start(&workload), -EPIPE);
	assert_killed(&workload);
}

static void a_traced_child_that_is_killed_before_the_start_cannot_start(void **state __unused)
{
	struct workload workload;

	assert_int_equal(workload__fork(&workload, command, false), 0);
	assert_int_equal(workload__hold(&workload), 0);
	kill_child(&workload);
	assert_int_equal(workload__start_held(&workload), -EPIPE);
	assert_killed(&workload);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_child_that_is_killed_before_the_start_cannot_start),
		cmocka_unit_test(a_traced_child_that_is_killed_before_the_start_cannot_start),
	};

	signal(SIGPIPE, SIG_IGN);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
