// SPDX-License-Identifier: GPL-2.0
/*
 * flat FILE: write the code of an endless loop into FILE, map it, and run it. FILE is not an ELF file, so the
 * loop has no name, and it clears the frame pointer, so its stacks have one frame.
 */
#include "workload.h"

#include <fcntl.h>
#include <stdint.h>
#include <sys/mman.h>

#if defined(__x86_64__)
static const uint8_t code[] = {0x31, 0xed, 0xeb, 0xfe};
#elif defined(__aarch64__)
static const uint32_t code[] = {0xaa1f03fd, 0x14000000};
#else
#error no code for this machine
#endif

int main(int argc, char **argv)
{
	void *memory;
	int fd;

	usage_unless(argc == 2, "FILE");
	fd = open(argv[1], O_RDWR | O_CREAT | O_CLOEXEC, 0666);
	if (fd < 0 || write(fd, code, sizeof(code)) != sizeof(code))
		die("%s", argv[1]);
	memory = mmap(NULL, sizeof(code), PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	if (memory == MAP_FAILED)
		die("mmap");
	((void (*)(void))memory)();
	return 0;
}
