// SPDX-License-Identifier: GPL-2.0
/*
 * jit [ROUNDS]: write the code of a loop into memory without a file, list it in /tmp/perf-PID.map as
 * "jitted loop", and run it. The map is removed at the end.
 */
#include "workload.h"

#include <stdint.h>
#include <sys/mman.h>

/* Count the first argument down to 0. */
#if defined(__x86_64__)
static const uint8_t code[] = {0x48, 0x83, 0xef, 0x01, 0x75, 0xfa, 0xc3};
#elif defined(__aarch64__)
static const uint32_t code[] = {0xf1000400, 0x54ffffe1, 0xd65f03c0};
#else
#error no code for this machine
#endif

int main(int argc, char **argv)
{
	unsigned long rounds = number(argc, argv, 1, 100);
	void *memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char path[64];
	FILE *map;

	if (memory == MAP_FAILED)
		die("mmap");
	memcpy(memory, code, sizeof(code));
	if (mprotect(memory, 4096, PROT_READ | PROT_EXEC))
		die("mprotect");
	__builtin___clear_cache(memory, (char *)memory + sizeof(code));
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", getpid());
	map = fopen(path, "w");
	if (!map)
		die("%s", path);
	fprintf(map, "%lx %zx jitted loop\n", (unsigned long)memory, sizeof(code));
	fclose(map);
	while (rounds--)
		((void (*)(unsigned long))memory)(10000000);
	unlink(path);
	return 0;
}
