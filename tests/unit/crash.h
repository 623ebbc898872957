/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_TESTS_UNIT_CRASH_H
#define PERF_TESTS_UNIT_CRASH_H

/*
 * Kill a "process" at a step of the code under test. That code calls crash__step() between any two
 * changes, and a jump from there stands for SIGKILL. A loop over all steps lets it die at each:
 *
 *	for (int step = 0; crash__at(step, live, world); step++)
 *		...repair and check...
 */

#include <assert.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static struct {
	jmp_buf env;
	int countdown;	  /* steps until death; -1 for none */
	const char *name; /* name of the step of its death */
} crash = {.countdown = -1};

static inline void crash__step(const char *name)
{
	if (crash.countdown < 0 || crash.countdown--)
		return;
	crash.name = name;
	longjmp(crash.env, 1);
}

/*
 * Let a function die at its step number @step, from 0. Return: false if it returned before that step.
 * (gcc never inlines functions that call setjmp(), so the caller's variables are safe.)
 */
static inline bool crash__at(int step, void (*fn)(void *ctx), void *ctx)
{
	crash.countdown = step;
	if (setjmp(crash.env))
		return true;
	fn(ctx);
	crash.countdown = -1;
	return false;
}

/* The names of the steps at which the function died in a walk. */
struct crash_names {
	const char *name[64];
	int nr;
};

static inline void crash__note(struct crash_names *names)
{
	for (int i = 0; i < names->nr; i++) {
		if (!strcmp(names->name[i], crash.name))
			return;
	}
	assert_true(names->nr < (int)(sizeof(names->name) / sizeof(names->name[0])));
	names->name[names->nr++] = crash.name;
}

#endif
