// SPDX-License-Identifier: GPL-2.0
// Templates and members that compilers inline, so that addresses have several functions.
#include <cstdint>
#include <cstdio>

namespace mix {

template <typename T> class state {
public:
	explicit state(T seed) : value(seed) {}

	template <int n> inline __attribute__((always_inline)) void turns(T with)
	{
		for (int i = 0; i < n; i++)
			turn(with + i);
	}

	T value;

private:
	inline __attribute__((always_inline)) void turn(T with)
	{
		value = value * 6364136223846793005ULL + with;
		value ^= value >> 29;
	}
};

template <typename T> inline __attribute__((always_inline)) T mixed(T seed)
{
	state<T> both(seed);

	both.template turns<16>(seed);
	return both.value;
}

/* A function that calls another one has a frame. */
__attribute__((noinline)) void note(uint64_t all)
{
	asm volatile("" : : "r"(all));
}

__attribute__((noinline)) uint64_t sum(uint64_t nr)
{
	uint64_t all = 0;

	for (uint64_t i = 0; i < nr; i++) {
		all += mixed(i ^ all);
		if (!(i & 0xffff))
			note(all);
	}
	return all;
}

} // namespace mix

int main(int argc, char **argv)
{
	uint64_t nr = 0;

	for (const char *digit = argc > 1 ? argv[1] : "9"; *digit; digit++)
		nr = 10 * nr + (*digit - '0');
	printf("%llu\n", (unsigned long long)mix::sum(nr));
	return 0;
}
