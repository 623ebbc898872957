// SPDX-License-Identifier: GPL-2.0
/* A loop that has nearly all samples, a function of the same name elsewhere, and one that nobody calls. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

uint64_t twin_work(uint64_t nr);

static inline __attribute__((always_inline)) uint64_t only_inlined(uint64_t value)
{
	return value ^ value >> 33;
}

__attribute__((noinline)) uint64_t hot(uint64_t nr)
{
	uint64_t value = 1;

	for (uint64_t i = 0; i < nr; i++)
		value = only_inlined(value * 6364136223846793005ULL + 1442695040888963407ULL);
	return value;
}

static __attribute__((noinline)) uint64_t twin(uint64_t nr)
{
	return hot(nr) + 1;
}

__attribute__((noinline, used)) uint64_t cold(uint64_t nr)
{
	return nr / 3;
}

int main(int argc, char **argv)
{
	uint64_t nr = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
	uint64_t sum = argc > 2 ? twin_work(nr) : 0;

	printf("%d\n", (int)((twin(nr) + sum) & 1));
	return 0;
}
