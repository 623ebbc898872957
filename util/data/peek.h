/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_DATA_PEEK_H
#define PERF_DATA_PEEK_H

/* A look at a recording that takes nothing out of it. */

#include <stdbool.h>

/**
 * peek__is_foreign() - whether this is a recording that data_reader cannot read, but Linux's perf may
 * @path: the file; "-" is standard input
 *
 * Samples, directories, and recordings of the other byte order are foreign. A pipe is waited for until its
 * first event or its end has come, and all of it stays in the pipe. Anything that cannot be
 * read is not foreign: the message about it is ours.
 */
bool peek__is_foreign(const char *path);

#endif
