// SPDX-License-Identifier: GPL-2.0
/* Functions that compilers inline, so that addresses have several of them. */
#include <stdint.h>
#include <stdio.h>

static inline __attribute__((always_inline)) uint64_t turn(uint64_t value, uint64_t with)
{
	value = value * 6364136223846793005ULL + with;
	return value ^ value >> 29;
}

static inline __attribute__((always_inline)) uint64_t mixed(uint64_t seed)
{
	uint64_t value = seed;

	for (int i = 0; i < 16; i++)
		value = turn(value, seed + i);
	return value;
}

__attribute__((noinline)) uint64_t sum(uint64_t nr)
{
	uint64_t all = 0;

	for (uint64_t i = 0; i < nr; i++)
		all += mixed(i ^ all);
	return all;
}

int main(int argc, char **argv)
{
	uint64_t nr = 0;

	for (const char *digit = argc > 1 ? argv[1] : "9"; *digit; digit++)
		nr = 10 * nr + (*digit - '0');
	printf("%llu\n", (unsigned long long)sum(nr));
	return 0;
}
