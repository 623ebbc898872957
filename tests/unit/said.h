/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_TESTS_UNIT_SAID_H
#define PERF_TESTS_UNIT_SAID_H

/* Capture the messages on stderr, for comparison. */

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

struct said {
	FILE *before;
	char *text;
	size_t size;
};

/* Send stderr to said->text, until said__end(). */
static inline void said__begin(struct said *said)
{
	said->before = stderr;
	stderr = open_memstream(&said->text, &said->size);
	assert(stderr);
}

/* Return: the text, owned by the caller. */
static inline char *said__end(struct said *said)
{
	fclose(stderr);
	stderr = said->before;
	return said->text;
}

#endif
