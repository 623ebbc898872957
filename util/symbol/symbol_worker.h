/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_SYMBOL_SYMBOL_WORKER_H
#define PERF_SYMBOL_SYMBOL_WORKER_H

/* The confined process: it reads ELF files and perf maps, and answers with names. */

/**
 * symbol_worker__serve() - answer requests from a socket until its other end is closed
 * @fd: has the messages of symbol_wire.h
 *
 * A request that takes more than SYMBOL_WORKER_SECONDS ends the process by SIGALRM.
 * Return: 0 at the end of the requests, or -errno.
 */
#define SYMBOL_WORKER_SECONDS 60
int symbol_worker__serve(int fd);

#endif
