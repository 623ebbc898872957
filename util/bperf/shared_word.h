/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_BPERF_SHARED_WORD_H
#define PERF_BPERF_SHARED_WORD_H

/*
 * Reading memory that other sessions map. A session with a defect, or a hostile one, can change any word
 * at any time. So a word is read once, into a local, and bounded before it is an index or a number.
 */

#include <linux/types.h>

/** shared_id() - an index; 0, which names nothing in all tables of ids, unless it is below @max */
static inline __u32 shared_id(const __u32 *word, __u32 max)
{
	__u32 id = __atomic_load_n(word, __ATOMIC_RELAXED);

	return id < max ? id : 0;
}

/** shared_nr() - a number of entries; at most @max */
static inline __u32 shared_nr(const __u32 *word, __u32 max)
{
	__u32 nr = __atomic_load_n(word, __ATOMIC_RELAXED);

	return nr < max ? nr : max;
}

#endif
