// SPDX-License-Identifier: GPL-2.0
#include "util/bperf/crash_point.h"

#include "util/lib/util.h"

#ifdef CRASH_POINTS

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool is_asked_for(const char *variable, const char *name, int nr)
{
	const char *at = secure_getenv(variable);

	return at && (!strcmp(at, name) || atoi(at) == nr);
}

/* It prints to the descriptor, since perf keeps messages back while it holds a lock. */
void crash_point__reach(const char *name)
{
	const char *by = secure_getenv("PERF_TEST_STOP_BY");
	const char *after = secure_getenv("PERF_TEST_KILL_AFTER");
	static bool can_be_killed;
	static int nr;

	nr++;
	can_be_killed |= !after || !strcmp(after, name);
	if (can_be_killed && is_asked_for("PERF_TEST_KILL_AT", name, nr)) {
		dprintf(STDERR_FILENO, "killed at %s\n", name);
		kill(getpid(), SIGKILL);
	} else if (is_asked_for("PERF_TEST_STOP_AT", name, nr)) {
		dprintf(STDERR_FILENO, "stopped at %s\n", name);
		kill(getpid(), by ? atoi(by) : SIGSTOP);
	}
}

__u64 crash_point__setting(enum crash_setting setting, __u64 otherwise)
{
	static const char *const variables[] = {
		[CRASH_MAX_SESSIONS] = "PERF_TEST_MAX_SESSIONS",
		[CRASH_MAX_SETS] = "PERF_TEST_MAX_SETS",
		[CRASH_MAX_TASKS] = "PERF_TEST_MAX_TASKS",
		[CRASH_MAX_CGROUP_IDS] = "PERF_TEST_MAX_CGROUP_IDS",
		[CRASH_READY_BYTES] = "PERF_TEST_READY_BYTES",
		[CRASH_MAX_VALUES] = "PERF_TEST_MAX_VALUES",
		[CRASH_SERVE_MS] = "PERF_TEST_SERVE_MS",
		[CRASH_LOCK_MS] = "PERF_TEST_LOCK_MS",
		[CRASH_OPENING_MS] = "PERF_TEST_OPENING_MS",
	};
	const char *number = secure_getenv(variables[setting]);

	return number ? strtoull(number, NULL, 10) : otherwise;
}

#else

void crash_point__reach(const char *name __unused)
{
}

__u64 crash_point__setting(enum crash_setting setting __unused, __u64 otherwise)
{
	return otherwise;
}

#endif
