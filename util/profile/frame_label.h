/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_PROFILE_FRAME_LABEL_H
#define PERF_PROFILE_FRAME_LABEL_H

/* Frames of stacks and call trees as text: functions, with --lines also their positions in the source. */

#include "util/symbol/symbol_wire.h"

#include <stdbool.h>

struct profile_options;
struct symbols;

/* The name of a function and that of a file, " (inlined)" and a number. */
#define FRAME_LABEL_MAX (2 * SYMBOL_MAX_NAME + 64)

/** frame_label__text() - the text of a place; borrowed from @symbols or @buf */
const char *frame_label__text(const struct profile_options *options, const struct symbols *symbols,
			      int place, char buf[FRAME_LABEL_MAX]);

/** frame_label__file() - the last part of the name of a source file */
const char *frame_label__file(const char *path);

#endif
