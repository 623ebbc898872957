/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_SAMPLE_SAMPLE_TABLE_H
#define PERF_SAMPLE_SAMPLE_TABLE_H

/* Reading the tables and stacks that the sampling program writes. Pure logic over memory. */

#include "bpf_skel/sample.h"

#include <stdbool.h>
#include <stdint.h>

/**
 * sample_table__set_key() - choose the parts of a session's key, SAMPLE_*, and what its samples need;
 * max_records is set
 * @addr_bits: low bits of the data address that are no part of it
 */
void sample_table__set_key(struct sample_table *table, uint32_t parts, unsigned int addr_bits);

/**
 * sample_table__read_stack() - copy a stack out of the store of a CPU, which goes on writing
 * @pos: from a key
 * @frames: room for STACK_FRAMES
 *
 * Return: how many frames; -ESTALE: it has been overwritten.
 */
int sample_table__read_stack(const struct sample_cpu *cpu, uint64_t pos, uint64_t *frames);

#endif
