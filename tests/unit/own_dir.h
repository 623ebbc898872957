/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_TESTS_UNIT_OWN_DIR_H
#define PERF_TESTS_UNIT_OWN_DIR_H

/*
 * A directory of a test's own, in which its tests run. They write the file x, and perf keeps the one before as x.old. A
 * test removes all others itself: else the group fails.
 */

#include <stdlib.h>
#include <unistd.h>

static char own_dir[] = "/tmp/perf_unit.XXXXXX";

static inline int make_own_dir(void **state __attribute__((unused)))
{
	return mkdtemp(own_dir) && !chdir(own_dir) ? 0 : -1;
}

static inline int remove_own_dir(void **state __attribute__((unused)))
{
	unlink("x");
	unlink("x.old");
	return chdir("/") || rmdir(own_dir);
}

#endif
