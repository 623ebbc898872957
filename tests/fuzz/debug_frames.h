/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_FUZZ_DEBUG_FRAMES_H
#define PERF_FUZZ_DEBUG_FRAMES_H

/* Checks of the answers of libdw, for the fuzzers that use it; each has one file that includes this. */

#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "util/symbol/debug_info.h"

const char *__asan_default_options(void);

/* libdw 0.188 reads beyond texts without an end. The sanitizer would see that in what libdw itself does. */
const char *__asan_default_options(void)
{
	return "replace_str=0:intercept_strlen=0:intercept_strchr=0:intercept_strndup=0";
}

static inline void check_frames(struct debug_info *info, uint64_t address)
{
	struct debug_frame frames[DEBUG_MAX_FRAMES];
	int nr = debug_info__frames(info, address, frames);
	size_t len = 0;

	assert(nr >= 0 && nr <= DEBUG_MAX_FRAMES);
	for (int i = 0; i < nr; i++) {
		len += frames[i].name ? strlen(frames[i].name) : 0;
		len += frames[i].file ? strlen(frames[i].file) : 0;
		assert(frames[i].line <= INT32_MAX);
	}
	assert(len < 1 << 30);
}

#endif
