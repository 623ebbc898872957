// SPDX-License-Identifier: GPL-2.0
/*
 * stacks N [DEPTH]: call two functions in another order each time, DEPTH calls deep (20), and execute N
 * iterations of a loop of 2 instructions there. The first million of stacks are all different. It never ends.
 */
#include "workload.h"

static unsigned long iterations;
static int max_depth;

static void go_on(unsigned int path, int depth);

/* Not the last thing that it does, or the call would be a jump. */
#define STEP(name)                                                                                 \
	__attribute__((noinline, optimize("no-omit-frame-pointer"))) static void name(             \
		unsigned int path, int depth)                                                      \
	{                                                                                          \
		go_on(path >> 1, depth + 1);                                                       \
		asm volatile("");                                                                  \
	}

STEP(left)
STEP(right)

__attribute__((noinline, optimize("no-omit-frame-pointer"))) static void go_on(unsigned int path,
									       int depth)
{
	if (depth == max_depth)
		spin(iterations);
	else if (path & 1)
		right(path, depth);
	else
		left(path, depth);
	asm volatile("");
}

int main(int argc, char **argv)
{
	usage_unless(argc == 2 || argc == 3, "N [DEPTH]");
	iterations = number(argc, argv, 1, 0);
	max_depth = number(argc, argv, 2, 20);
	for (unsigned int i = 0;; i++)
		go_on(i, 0);
}
