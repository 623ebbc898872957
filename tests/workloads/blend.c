// SPDX-License-Identifier: GPL-2.0
/*
 * blend [TURNS]: blend_a, blend_b and blend::c execute instructions at 1:2:1, called by blend_main, in turns of some
 * microseconds. blend_deep calls itself seven times, and the innermost does as much as blend_a. All have frame
 * pointers. blend::c has a name as C++ mangles it.
 */
#include "workload.h"

#define NOINLINE                                                                                   \
	__attribute__((noinline, noclone,                                                          \
		       optimize("no-optimize-sibling-calls", "no-omit-frame-pointer")))

/* A quarter, or half, of a turn. */
#define PART 2000

static volatile unsigned long sink;

/* Compilers leave out the frame pointer of functions that call no other. */
#define KEEP_FRAME() asm volatile("" : : "r"(__builtin_frame_address(0)))

NOINLINE void blend_a(void)
{
	KEEP_FRAME();
	spin(PART);
	sink++;
}

NOINLINE void blend_b(void)
{
	KEEP_FRAME();
	spin(2 * PART);
	sink++;
}

void blend_c(void) __asm__("_ZN5blend1cEv");
NOINLINE void blend_c(void)
{
	KEEP_FRAME();
	spin(PART);
	sink++;
}

NOINLINE void blend_deep(int depth)
{
	KEEP_FRAME();
	if (depth > 1)
		blend_deep(depth - 1);
	else
		spin(PART);
	sink++;
}

NOINLINE void blend_main(unsigned long turns)
{
	KEEP_FRAME();
	for (; turns; turns--) {
		blend_a();
		blend_b();
		blend_c();
		blend_deep(8);
	}
	sink++;
}

int main(int argc, char **argv)
{
	blend_main(number(argc, argv, 1, 100000));
	return 0;
}
