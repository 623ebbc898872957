/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_UTIL_WORKLOAD_H
#define PERF_UTIL_WORKLOAD_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* The command that is counted: forked at once, held before its exec, started when counting is. */
struct workload {
	pid_t pid;		/* 0: none */
	int go_fd;		/* writing a byte lets it exec; closing it ends it */
	int err_fd;		/* its errno, when exec failed */
	int pid_fd;		/* readable when it has ended */
	bool is_done;
	int status;		/* of wait4, when done */
	uint64_t user_ns, sys_ns;	/* of it and its children, when done */
};

/**
 * workload__fork() - make the child that will become @argv
 * @to_stderr: what it writes to stdout goes to stderr: stdout is taken
 *
 * It is held until workload__start(). If we die before, it ends without running the command.
 * Return: 0 or -errno.
 */
int workload__fork(struct workload *workload, char *const *argv, bool to_stderr);

/**
 * workload__start() - let it run
 *
 * Blocks until it has executed. Return: 0, or the -errno of exec.
 */
int workload__start(struct workload *workload);

/** workload__wait() - reap it: at once when it has ended; @block: wait for it. Whether it is done */
bool workload__wait(struct workload *workload, bool block);

/**
 * workload__wait_unless() - wait for its end, or for a signal
 * @signal: what the handlers of SIGINT and SIGTERM set; these must not be blocked
 *
 * Return: whether it is done.
 */
bool workload__wait_unless(struct workload *workload, const volatile sig_atomic_t *signal);

/**
 * workload__end() - tell it to end, if it still runs, and wait briefly
 *
 * What it does on the way out is over then, unless it takes longer.
 */
void workload__end(struct workload *workload);

/** workload__delete() - end it if it still is held, close descriptors; a running one is left alone */
void workload__delete(struct workload *workload);

#endif
