/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_TESTS_UNIT_EVENT_DATA_H
#define PERF_TESTS_UNIT_EVENT_DATA_H

/* Access to the sysfs and tracefs trees of tests/data. */

#include <assert.h>
#include <stdlib.h>

#include "util/event/pmu.h"
#include "util/lib/util.h"

/* Return: a path below the test data, owned by the caller. */
static inline char *data_path(const char *name)
{
	const char *data = getenv("TESTS_DATA");
	char *path = xasprintf("%s/%s", data ? data : "tests/data", name);

	assert(path);
	return path;
}

/* Return: the PMUs of one tree: x86, arm, hybrid, none. */
static inline struct pmus *data_pmus(const char *tree)
{
	char *name = xasprintf("sysfs-%s", tree), *path = data_path(name);
	struct pmus *pmus = pmus__new(path);

	assert(pmus);
	free(name);
	free(path);
	return pmus;
}

#endif
