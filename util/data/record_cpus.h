/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_DATA_RECORD_CPUS_H
#define PERF_DATA_RECORD_CPUS_H

/* Sets of CPUs in records of perf.data. */

struct byte_reader;
struct cpumap;

/* Numbers of CPUs are below this: arrays by CPU are of this size. */
#define RECORD_MAX_CPUS 16384

/**
 * record_cpus__read() - read a list, mask or range of CPUs, as Linux's perf writes them
 *
 * Return: the CPUs sorted, each once, or "any"; owned by the caller. NULL with errno EINVAL (malformed) or
 * ENOMEM.
 */
struct cpumap *record_cpus__read(struct byte_reader *r);

#endif
