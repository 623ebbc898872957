/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_TESTS_UNIT_REFUSED_PROFILE_H
#define PERF_TESTS_UNIT_REFUSED_PROFILE_H

/* Files of profiles that perf refuses. */

#include "said.h"
#include "util/data/profile_replay.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The file is refused with one line, which has this reason. */
static inline void assert_refused(const char *path, const char *why)
{
	struct profile_replay replay = {};
	struct said said;
	char *text;

	said__begin(&said);
	assert_int_equal(profile_replay__read(&replay, path), -EINVAL);
	text = said__end(&said);
	assert_non_null(strstr(text, why));
	/* One line. */
	assert_ptr_equal(strchr(text, '\n'), text + strlen(text) - 1);
	free(text);
	profile_replay__clear(&replay);
}

#endif
