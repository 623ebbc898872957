/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_COUNTER_WINDOW_H
#define PERF_COUNTER_WINDOW_H

/*
 * Count a growing value in windows of time. The value itself never stops: a window is the difference
 * of two readings. So enabling and disabling change nothing in the kernel, and nothing from outside a
 * window can get in.
 */

#include "util/event/counts.h"

#include <stdbool.h>

/* The purpose of a reading. */
enum window_moment { WINDOW_NONE, WINDOW_BEGIN, WINDOW_READ, WINDOW_END };

/* All zero: no window was open yet. */
struct window {
	struct counts_values base;   /* the reading at which the open window began */
	struct counts_values before; /* the sum of the windows before it */
	bool has_base;		     /* a window is open, and its first reading did not fail */
};

/**
 * window__account() - update the count of all windows by one reading
 * @moment: WINDOW_NONE: the reading is ignored
 * @count: the sum of all windows; written by this function only
 *
 * A window that is read without a base begins with this reading.
 * Return: 0; -ERANGE: the value was larger before. The window goes on from the new value.
 */
int window__account(struct window *window, enum window_moment moment,
		    const struct counts_values *now, struct counts_values *count);

/** window__forget() - end a window without a reading: it counts up to its last one */
void window__forget(struct window *window);

#endif
