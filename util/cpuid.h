/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_UTIL_CPUID_H
#define PERF_UTIL_CPUID_H

/* What identifies the model of a CPU, in the words of vendors' mapfile.csv. */

#include <stdbool.h>

/**
 * cpuid__get() - this machine's: "GenuineIntel-6-6A-6", "0x00000000410fd0c0"
 *
 * $PERF_CPUID replaces it, for tests. Return: owned by the caller; NULL when it is not known.
 */
char *cpuid__get(void);

/**
 * cpuid__matches() - whether a line of mapfile.csv, or strcmp_cpuid_str(), means that CPU
 * @pattern: x86: an extended regular expression for all of it, the stepping may be missing; arm64:
 * a MIDR, variant and revision 0 or the least that will do; else the identifier itself
 */
bool cpuid__matches(const char *pattern, const char *cpuid);

#endif
