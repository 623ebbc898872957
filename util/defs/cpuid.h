/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_DEFS_CPUID_H
#define PERF_DEFS_CPUID_H

/* The identifier of a CPU's model, as in vendors' mapfile.csv. */

#include <stdbool.h>

/**
 * cpuid__get() - this machine's: "GenuineIntel-6-6A-6", "0x00000000410fd0c0"
 *
 * $PERF_CPUID replaces it, for tests. Return: owned by the caller; NULL if unknown.
 */
char *cpuid__get(void);

/**
 * cpuid__matches() - whether a pattern of mapfile.csv or strcmp_cpuid_str() matches a CPU
 * @pattern: x86: an extended regular expression, anchored, optionally without stepping. arm64: a
 * MIDR whose variant and revision are 0 or the lowest that match. Otherwise: the identifier itself
 */
bool cpuid__matches(const char *pattern, const char *cpuid);

#endif
