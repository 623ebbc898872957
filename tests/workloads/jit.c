// SPDX-License-Identifier: GPL-2.0
/*
 * jit [ROUNDS]: write the code of a loop into memory without a file, list it in /tmp/perf-PID.map as
 * "jitted loop", and run it. The map is removed at the end.
 *
 * jit ROUNDS DIR: list it in DIR/jit-PID.dump, which is removed as soon as it is mapped. "first" takes two
 * thirds of the time, in line 10 of first.lang. "JS:second", a name of the kind that V8 gives, has been moved, and lies in
 * line 20 of JS:second.lang.
 */
#include "workload.h"

#include <elf.h>
#include <fcntl.h>
#include <stdint.h>
#include <sys/mman.h>

#define PAGE 4096

/* Count the first argument down to 0. */
#if defined(__x86_64__)
#define MACHINE EM_X86_64
static const uint8_t code[] = {0x48, 0x83, 0xef, 0x01, 0x75, 0xfa, 0xc3};
#elif defined(__aarch64__)
#define MACHINE EM_AARCH64
static const uint32_t code[] = {0xf1000400, 0x54ffffe1, 0xd65f03c0};
#else
#error no code for this machine
#endif

enum { CODE_LOAD, CODE_MOVE, CODE_DEBUG_INFO, CODE_CLOSE };

static void run(const char *memory, unsigned long turns)
{
	((void (*)(unsigned long))memory)(turns);
}

/* --- /tmp/perf-PID.map --- */

static void run_with_map(const char *memory, unsigned long rounds)
{
	char path[64];
	FILE *map;

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", getpid());
	map = fopen(path, "w");
	if (!map)
		die("%s", path);
	fprintf(map, "%lx %zx jitted loop\n", (unsigned long)memory, sizeof(code));
	fclose(map);
	while (rounds--)
		run(memory, 10000000);
	unlink(path);
}

/* --- jit-PID.dump --- */

static void put(FILE *dump, const void *data, size_t len)
{
	if (fwrite(data, len, 1, dump) != 1)
		die("write");
}

static void put_u32(FILE *dump, uint32_t value)
{
	put(dump, &value, sizeof(value));
}

static void put_u64(FILE *dump, uint64_t value)
{
	put(dump, &value, sizeof(value));
}

static void put_head(FILE *dump, uint32_t kind, size_t size)
{
	put_u32(dump, kind);
	put_u32(dump, 16 + size);
	put_u64(dump, 0);
}

static void put_header(FILE *dump)
{
	put_u32(dump, 0x4a695444);
	put_u32(dump, 1);
	put_u32(dump, 40);
	put_u32(dump, MACHINE);
	put_u32(dump, 0);
	put_u32(dump, getpid());
	put_u64(dump, 0);
	put_u64(dump, 0);
}

static void put_line(FILE *dump, const char *address, uint32_t line, const char *file)
{
	put_u64(dump, (uintptr_t)address);
	put_u32(dump, line);
	put_u32(dump, 0);
	put(dump, file, strlen(file) + 1);
}

/* Both lines are those of one file; the second begins at the return. */
static void put_function(FILE *dump, const char *address, uint64_t index, const char *name,
			 const char *file, uint32_t line)
{
	put_head(dump, CODE_DEBUG_INFO, 16 + 2 * 16 + strlen(file) + 1 + 2);
	put_u64(dump, (uintptr_t)address);
	put_u64(dump, 2);
	put_line(dump, address, line, file);
	put_line(dump, address + sizeof(code) - sizeof(code[0]), line + 1, "\xff");
	put_head(dump, CODE_LOAD, 40 + strlen(name) + 1 + sizeof(code));
	put_u32(dump, getpid());
	put_u32(dump, getpid());
	put_u64(dump, (uintptr_t)address);
	put_u64(dump, (uintptr_t)address);
	put_u64(dump, sizeof(code));
	put_u64(dump, index);
	put(dump, name, strlen(name) + 1);
	put(dump, code, sizeof(code));
}

static void put_move(FILE *dump, const char *from, const char *to, uint64_t index)
{
	put_head(dump, CODE_MOVE, 48);
	put_u32(dump, getpid());
	put_u32(dump, getpid());
	put_u64(dump, (uintptr_t)to);
	put_u64(dump, (uintptr_t)from);
	put_u64(dump, (uintptr_t)to);
	put_u64(dump, sizeof(code));
	put_u64(dump, index);
}

static void run_with_dump(const char *memory, unsigned long rounds, const char *dir)
{
	char path[4096];
	FILE *dump;

	snprintf(path, sizeof(path), "%s/jit-%d.dump", dir, getpid());
	dump = fopen(path, "w+");
	if (!dump)
		die("%s", path);
	put_header(dump);
	if (mmap(NULL, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE, fileno(dump), 0) == MAP_FAILED)
		die("mmap of %s", path);
	put_function(dump, memory, 7, "first", "first.lang", 10);
	put_function(dump, memory + PAGE, 8, "JS:second", "JS:second.lang", 20);
	put_move(dump, memory + PAGE, memory + PAGE / 2, 8);
	put_head(dump, CODE_CLOSE, 0);
	/* A record that is not complete. */
	put_head(dump, CODE_LOAD, 1000);
	fflush(dump);
	unlink(path);
	while (rounds--) {
		run(memory, 20000000);
		run(memory + PAGE / 2, 10000000);
	}
}

int main(int argc, char **argv)
{
	unsigned long rounds = number(argc, argv, 1, 100);
	char *memory = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		die("mmap");
	memcpy(memory, code, sizeof(code));
	memcpy(memory + PAGE / 2, code, sizeof(code));
	if (mprotect(memory, PAGE, PROT_READ | PROT_EXEC))
		die("mprotect");
	__builtin___clear_cache(memory, memory + PAGE);
	if (argc > 2)
		run_with_dump(memory, rounds, argv[2]);
	else
		run_with_map(memory, rounds);
	return 0;
}
