// SPDX-License-Identifier: GPL-2.0
/* The second function "twin" of the program of hot.c. */
#include <stdint.h>

uint64_t twin_work(uint64_t nr);

static __attribute__((noinline)) uint64_t twin(uint64_t nr)
{
	uint64_t value = 3;

	for (uint64_t i = 0; i < nr; i++)
		value = value * 2862933555777941757ULL + 3037000493ULL;
	return value;
}

uint64_t twin_work(uint64_t nr)
{
	return twin(nr);
}
