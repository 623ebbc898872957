/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_SYMBOL_SANDBOX_H
#define PERF_SYMBOL_SANDBOX_H

/* Confinement of a process that reads hostile files. */

#include <stdbool.h>
#include <stdint.h>

/**
 * sandbox__drop_privileges() - give up all capabilities and descriptors for good
 * @keep_fd: becomes descriptor SANDBOX_FD; standard error stays, input and output become /dev/null
 *
 * Also ends this process when its parent ends. Return: 0 or -errno.
 */
#define SANDBOX_FD 3
int sandbox__drop_privileges(int keep_fd);

/**
 * sandbox__become_nobody() - if this process is root's, make it one of the user nobody
 *
 * Files of root, and those that only root may read, are none of its business. The root of a user namespace without
 * such a user stays, since it is an ordinary user outside. Capabilities may remain: drop them.
 * Return: 0 or -errno.
 */
int sandbox__become_nobody(void);

/** sandbox__drop_capabilities() - give up all capabilities, also for programs that are executed; 0 or -errno */
int sandbox__drop_capabilities(void);

/** sandbox__limit() - lower a limit of setrlimit() to @most, if it is higher. Return: 0 or -errno */
int sandbox__limit(int resource, uint64_t most);

/**
 * sandbox__enter() - allow only system calls that read open files, take memory, and send messages
 *
 * Opening files and reading links fails; any other call kills the process. Memory is limited to SANDBOX_MAX_BYTES, except with sanitizers.
 * Return: 0; -ENOSYS: no filter is known for this architecture; other -errno.
 */
#define SANDBOX_MAX_BYTES (8UL << 30)
int sandbox__enter(void);

/**
 * sandbox__answer_open() - give a descriptor to the next attempt of a library to open a file, whatever its name
 * @fd: the library closes it; -1: attempts fail again, as they do after the next one
 *
 * Call it after sandbox__enter(). Return: the descriptor that nobody has taken; -1: there is none.
 */
int sandbox__answer_open(int fd);

/** sandbox__can_answer_open() - whether this architecture has that */
bool sandbox__can_answer_open(void);

#endif
