// SPDX-License-Identifier: GPL-2.0
/* Any bytes are a file with debug information that can be asked for each address, or is refused. */
#include <assert.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "util/symbol/debug_info.h"
#include "util/symbol/demangle.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
const char *__asan_default_options(void);

/* libdw 0.188 reads beyond texts without an end. The sanitizer would see that in what libdw itself does. */
const char *__asan_default_options(void)
{
	return "replace_str=0:intercept_strlen=0:intercept_strchr=0:intercept_strndup=0";
}

/* The seeds' code is at such addresses. */
#define FIRST 0x1000
#define LAST  0x1200

static void check_frames(const struct debug_frame *frames, int nr)
{
	size_t len = 0;

	assert(nr >= 0 && nr <= DEBUG_MAX_FRAMES);
	for (int i = 0; i < nr; i++) {
		len += frames[i].name ? strlen(frames[i].name) : 0;
		len += frames[i].file ? strlen(frames[i].file) : 0;
		assert(frames[i].line <= INT32_MAX);
	}
	assert(len < 1 << 30);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static bool is_ready;
	struct debug_frame frames[DEBUG_MAX_FRAMES];
	int fd = memfd_create("elf", MFD_CLOEXEC);
	struct debug_info *info;

	is_ready = is_ready || (demangle__init() && debug_info__init());
	assert(is_ready && fd >= 0 && write(fd, data, size) == (ssize_t)size);
	info = debug_info__open(fd, fd);
	for (uint64_t address = FIRST; info && address < LAST; address++)
		check_frames(frames, debug_info__frames(info, address, frames));
	debug_info__close(info);
	close(fd);
	return 0;
}
