// SPDX-License-Identifier: GPL-2.0
/*
 * shares N ROUNDS: in each round execute N, 2 * N and N iterations of a loop of 2 instructions, in three
 * functions. First print their names and addresses, "a START END" in hexadecimal.
 */
#include "workload.h"

#define PART(name)                                                                                 \
	extern const char __start_mix_##name[], __stop_mix_##name[];                               \
	__attribute__((noinline, section("mix_" #name))) static void part_##name(unsigned long n)  \
	{                                                                                          \
		spin(n);                                                                           \
	}

PART(a)
PART(b)
PART(c)

#define PRINT(name)                                                                                \
	printf(#name " %lx %lx\n", (unsigned long)__start_mix_##name,                              \
	       (unsigned long)__stop_mix_##name)

int main(int argc, char **argv)
{
	unsigned long n, rounds;

	usage_unless(argc == 3, "N ROUNDS");
	n = number(argc, argv, 1, 0);
	rounds = number(argc, argv, 2, 0);
	PRINT(a);
	PRINT(b);
	PRINT(c);
	fflush(stdout);
	while (rounds--) {
		part_a(n);
		part_b(2 * n);
		part_c(n);
	}
	return 0;
}
