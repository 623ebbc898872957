/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_SYMBOL_SYMBOL_WORKER_H
#define PERF_SYMBOL_SYMBOL_WORKER_H

/* The confined process: it reads ELF files and perf maps, and answers with names. */

/**
 * symbol_worker__serve() - answer requests from a socket until its other end is closed
 * @fd: has the messages of symbol_wire.h
 *
 * Sends SYMBOL_REPLY_BUSY about once a second while a request goes on.
 * Return: 0 at the end of the requests, or -errno.
 */
int symbol_worker__serve(int fd);

#endif
