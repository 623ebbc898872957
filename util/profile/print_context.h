/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_PROFILE_PRINT_CONTEXT_H
#define PERF_PROFILE_PRINT_CONTEXT_H

/* The circumstances of printing one event of a profile. */

#include "util/profile/profile_options.h"

#include <stdint.h>

struct symbols;

struct print_context {
	FILE *out;
	const struct profile_options *options;
	const struct symbols *symbols;
	const char *event; /* its name */
	uint64_t time_ns;  /* of the interval, if there are any */
};

#endif
