/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_SYMBOL_DEBUGINFOD_H
#define PERF_SYMBOL_DEBUGINFOD_H

/*
 * A process that asks debuginfod servers for files with debug information, by their build ids.
 *
 * It has no capabilities and no files of perf, and is the user nobody if perf is root. It uses libdebuginfod, which
 * keeps files of ordinary users in their cache. The files of root are gone at the end. Its files are as foreign as
 * any: only the confined process of symbol_process.h may read them.
 */

#include "util/symbol/build_id.h"

struct debuginfod;

/**
 * debuginfod__start() - start the process
 * @urls: of servers, with blanks between; copied
 *
 * Call it before anything shared is mapped: the process is a copy of this one.
 * Return: ended by debuginfod__stop(); NULL with errno set.
 */
struct debuginfod *debuginfod__start(const char *urls);
void debuginfod__stop(struct debuginfod *debuginfod);

/**
 * debuginfod__watch() - call a function about once a second while a file is fetched
 * @fn: NULL: no more
 */
void debuginfod__watch(struct debuginfod *debuginfod, void (*fn)(void *ctx), void *ctx);

/**
 * debuginfod__fetch() - get the file with the debug information of a build id
 *
 * Servers that are silent for DEBUGINFOD_TIMEOUT seconds (10), and files that take five minutes, are given up. So are all
 * after a signal that ends perf. After such a failure and a warning, no further file is fetched.
 * Return: a descriptor, which the caller closes; -ENOENT: no server has it; other -errno.
 */
int debuginfod__fetch(struct debuginfod *debuginfod, const struct build_id *id);

#endif
