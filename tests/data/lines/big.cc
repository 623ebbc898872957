// SPDX-License-Identifier: GPL-2.0
/* Many functions of templates, each with inlined ones of others. */
#include <cstdint>

namespace big {

template <typename T, int N> struct state {
	T value;

	__attribute__((always_inline)) inline void turn(T with)
	{
		value = value * 5 + with + N;
		value ^= value >> (N % 13 + 1);
	}
};

template <int N> __attribute__((noinline)) uint64_t step(uint64_t seed)
{
	state<uint64_t, N> s{seed};
	state<uint32_t, N> t{(uint32_t)seed};

	for (int i = 0; i < N % 7; i++)
		s.turn(i);
	s.turn(seed);
	t.turn(N);
	return s.value + t.value;
}

template <int N> struct steps {
	static uint64_t (*const table[4])(uint64_t);
};

template <int N> uint64_t all(uint64_t seed)
{
	if constexpr (N > 0)
		return all<N - 1>(step<N>(seed));
	return seed;
}

}

uint64_t begin(uint64_t seed)
{
	return big::all<250>(seed);
}
