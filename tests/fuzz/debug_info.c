// SPDX-License-Identifier: GPL-2.0
/* Any bytes are a file with debug information that can be asked for each address, or is refused. */
#include <assert.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/fuzz/debug_frames.h"
#include "util/symbol/debug_info.h"
#include "util/symbol/demangle.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The seeds' code is at such addresses. */
#define FIRST 0x1000
#define LAST  0x1200

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static bool is_ready;
	int fd = memfd_create("elf", MFD_CLOEXEC);
	struct debug_info *info;

	is_ready = is_ready || (demangle__init() && debug_info__init());
	assert(is_ready && fd >= 0 && write(fd, data, size) == (ssize_t)size);
	info = debug_info__open(fd, fd);
	for (uint64_t address = FIRST; info && address < LAST; address++)
		check_frames(info, address);
	debug_info__close(info);
	close(fd);
	return 0;
}
