// SPDX-License-Identifier: GPL-2.0
/*
 * calls [ROUNDS]: call functions of the C library, and print "ADDRESS NAME" of each.
 *
 * Linked dynamically, at a fixed address: so the address of a function of another file is that of the entry through
 * which this file calls it.
 */
#include "workload.h"

#include <stdint.h>

#define PRINT(function) printf("%lx %s\n", (unsigned long)(uintptr_t)(function), #function)

int main(int argc, char **argv)
{
	unsigned long rounds = number(argc, argv, 1, 100000);
	long sum = 0;

	PRINT(lrand48);
	PRINT(mrand48);
	PRINT(random);
	for (unsigned long i = 0; i < rounds; i++)
		sum += lrand48() + mrand48() + random();
	return sum == 42;
}
