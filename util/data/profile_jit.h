/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_DATA_PROFILE_JIT_H
#define PERF_DATA_PROFILE_JIT_H

/* The code of JIT compilers in a profile: their jitdumps, with the sampled functions alone. */

#include <stdint.h>

struct data_writer;
struct profile_names;
struct symbols;

/**
 * profile_jit__put() - write the code of all sampled functions that a jitdump has, behind all names
 * @id: of an event
 *
 * At most 64 MiB, with a warning if there is more. Return: 0 or -errno after a message.
 */
int profile_jit__put(const struct profile_names *names, struct symbols *symbols,
		     struct data_writer *writer, uint64_t id);

#endif
