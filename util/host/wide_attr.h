/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_HOST_WIDE_ATTR_H
#define PERF_HOST_WIDE_ATTR_H

/* The attr of an event with config3 and config4, whatever the headers of the build have. */

#include <linux/perf_event.h>
#include <stdint.h>

/* config3 (Linux 6.3) and config4 follow the members that headers of Linux 6.1 have. */
#define NR_MORE_CONFIG	   2
#define MORE_CONFIG_OFFSET PERF_ATTR_SIZE_VER7

union wide_attr {
	struct perf_event_attr attr;
	uint8_t bytes[MORE_CONFIG_OFFSET + NR_MORE_CONFIG * sizeof(uint64_t)];
};

/**
 * wide_attr__set_size() - set attr.size, so that the kernel reads no more than the event needs
 *
 * Kernels that lack a word refuse a larger size only if the word is not 0.
 */
void wide_attr__set_size(union wide_attr *wide);

/** wide_attr__more() - config3 (@i 0) or config4 (1) of an attr with attr->size bytes; 0 if it is shorter */
uint64_t wide_attr__more(const struct perf_event_attr *attr, int i);

#endif
