/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_PROFILE_PRINT_ROWS_H
#define PERF_PROFILE_PRINT_ROWS_H

/* Rows of functions, with call trees, as text, CSV or JSON. */

#include "util/profile/print_context.h"

struct samples;

/** print_rows() - make and print the rows of an event. Return: 0 or -ENOMEM */
int print_rows(const struct print_context *context, const struct samples *samples, int event);

#endif
