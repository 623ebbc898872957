// SPDX-License-Identifier: GPL-2.0
/*
 * blend [TURNS]: blend_a, blend_b and blend::c execute instructions at 1:2:1, called by blend_main, in turns of some
 * microseconds. blend_deep calls itself seven times, and the innermost does as much as blend_a. All have frame
 * pointers. blend::c has a name as C++ mangles it. Turns differ in length: samples at equal distances would fall into
 * the same functions of equal turns.
 */
#include "workload.h"

/* Functions begin at cache lines: a loop's speed depends on its place in one. */
#define NOINLINE                                                                                   \
	__attribute__((noinline, noclone, aligned(64),                                             \
		       optimize("no-optimize-sibling-calls", "no-omit-frame-pointer")))

/* The mean length of what blend_a does. */
#define PART 2000

static volatile unsigned long sink;

/* Compilers leave out the frame pointer of functions that call no other. */
#define KEEP_FRAME() asm volatile("" : : "r"(__builtin_frame_address(0)))

NOINLINE void blend_a(unsigned long part)
{
	KEEP_FRAME();
	spin(part);
	sink++;
}

NOINLINE void blend_b(unsigned long part)
{
	KEEP_FRAME();
	spin(2 * part);
	sink++;
}

void blend_c(unsigned long part) __asm__("_ZN5blend1cEv");
NOINLINE void blend_c(unsigned long part)
{
	KEEP_FRAME();
	spin(part);
	sink++;
}

NOINLINE void blend_deep(int depth, unsigned long part)
{
	KEEP_FRAME();
	if (depth > 1)
		blend_deep(depth - 1, part);
	else
		spin(part);
	sink++;
}

NOINLINE void blend_main(unsigned long turns)
{
	unsigned int random = 1;

	KEEP_FRAME();
	for (; turns; turns--) {
		unsigned long part;

		/* The generator of the C standard's example of rand(). */
		random = random * 1103515245 + 12345;
		part = PART / 2 + (random >> 16) % PART;
		blend_a(part);
		blend_b(part);
		blend_c(part);
		blend_deep(8, part);
	}
	sink++;
}

int main(int argc, char **argv)
{
	blend_main(number(argc, argv, 1, 100000));
	return 0;
}
