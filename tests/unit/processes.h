/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_TESTS_UNIT_PROCESSES_H
#define PERF_TESTS_UNIT_PROCESSES_H

/* Processes of a test, for the tests of names and of the processes that have them. */

#include "util/host/proc_stat.h"
#include "util/symbol/process_table.h"

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static inline struct process_key key_of(pid_t pid)
{
	struct proc_stat stat;

	assert_int_equal(proc_stat__read(pid, &stat), 0);
	return (struct process_key){
		.pid = pid, .start_ns = stat.start_ns + 5, .comm = program_invocation_short_name};
}

/* Return: a child that waits for its end. */
static inline pid_t waiting_child(void)
{
	pid_t pid = fork();

	if (!pid) {
		alarm(60); /* if a test fails */
		for (;;)
			pause();
	}
	return pid;
}

static inline void end_child(pid_t pid)
{
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

#endif
