/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_TARGET_WORKLOAD_H
#define PERF_TARGET_WORKLOAD_H

/* The command to count, held before its exec until counting starts. */

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct workload {
	pid_t pid;  /* 0: none */
	int go_fd;  /* a written byte lets the child exec; closing it ends the child */
	int err_fd; /* has the errno of a failed exec */
	int pid_fd; /* readable when the child has ended; -1: unsupported */
	bool is_done;
	bool is_lost;		  /* reaped by other code: status and times are unknown */
	int status;		  /* of wait4(), if done */
	uint64_t user_ns, sys_ns; /* of it and its children, if done */
};

/**
 * workload__fork() - fork the child that will execute @argv
 * @to_stderr: redirect its stdout to stderr, because perf uses stdout
 *
 * The child waits for workload__start(). If perf dies before, the child exits without running the command. It
 * soon holds no descriptor that its exec closes: others need not wait for it.
 * Return: 0 or -errno.
 */
int workload__fork(struct workload *workload, char *const *argv, bool to_stderr);

/**
 * workload__start() - let the child execute the command
 *
 * Blocks until the exec is done. Return: 0, or the -errno of exec.
 */
int workload__start(struct workload *workload);

/**
 * workload__hold() - trace the child, so that workload__start_held() can stop it
 *
 * The kernel then ignores the set-user-ID bit of the command, unless perf has CAP_SYS_PTRACE. Return: 0 or
 * -errno; -EPERM: another process traces the child.
 */
int workload__hold(struct workload *workload);

/**
 * workload__start_held() - let the child execute the command, and stop before its first instruction
 *
 * Signals reach the child meanwhile. Return: 1: it stopped there, and workload__continue() lets it run; 0: a
 * signal ended it before; -errno.
 */
int workload__start_held(struct workload *workload);
void workload__continue(struct workload *workload);

/** workload__wait() - reap the child if it has ended; @block: wait for that. Return true if it is done */
bool workload__wait(struct workload *workload, bool block);

/**
 * workload__wait_unless() - wait until the child ends or a signal arrives
 * @signal: set by the handlers of SIGINT and SIGTERM, which must not be blocked
 *
 * Return: true if the child is done.
 */
bool workload__wait_unless(struct workload *workload, const volatile sig_atomic_t *signal);

/**
 * workload__end() - send SIGTERM to a running child and wait briefly for its end
 */
void workload__end(struct workload *workload);

/** workload__delete() - end a held child and close descriptors; leaves a running child alone */
void workload__delete(struct workload *workload);

#endif
