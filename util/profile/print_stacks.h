/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_PROFILE_PRINT_STACKS_H
#define PERF_PROFILE_PRINT_STACKS_H

/* Whole stacks: a frame on a line, folded on one line, or as JSON. */

#include "util/profile/print_context.h"

struct samples;

/** print_stacks() - print all stacks of an event. Return: 0 or -ENOMEM */
int print_stacks(const struct print_context *context, const struct samples *samples, int event);

#endif
