// SPDX-License-Identifier: GPL-2.0
/*
 * Any bytes are a program and the file with its functions (.dwo), or a package of such files (.dwp), or are refused. The
 * first two bytes are the length of the program.
 */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "util/lib/byte_buffer.h"
#include "tests/fuzz/debug_frames.h"
#include "util/symbol/debug_info.h"
#include "util/symbol/demangle.h"
#include "util/symbol/dwp_file.h"
#include "util/symbol/sandbox.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The seeds' code is at such addresses. */
#define FIRST 0x1000
#define LAST  0x1060

/*
 * libdw calls the one or the other, as it was built. It gets what the filter of the confined process would give it. The
 * header would make one symbol of both names.
 */
int open_32(const char *path, int flags, ...) __asm__("open");
int open_64(const char *path, int flags, ...) __asm__("open64");

int open_32(const char *path __attribute__((unused)), int flags __attribute__((unused)), ...)
{
	int fd = sandbox__answer_open(-1);

	if (fd < 0)
		errno = ENOENT;
	return fd;
}

int open_64(const char *path, int flags, ...)
{
	return open_32(path, flags);
}

static int memory_file(const void *bytes, size_t len)
{
	int fd = memfd_create("elf", MFD_CLOEXEC);

	assert(fd >= 0 && write(fd, bytes, len) == (ssize_t)len);
	return fd;
}

/* Return: the file of a unit, as perf makes it of the second file; owned by the caller. */
static int open_split(int fd, const struct debug_split *split)
{
	struct byte_buffer unit = {};
	int err = dwp_file__unit(fd, split->id, &unit);
	int ret = err ? dup(fd) : memory_file(unit.data, unit.len);

	byte_buffer__clear(&unit);
	assert(ret >= 0);
	return ret;
}

static void add_splits(struct debug_info *info, int fd)
{
	static struct debug_split split;

	debug_info__begin(info);
	for (uint64_t address = FIRST; address < LAST; address++) {
		if (debug_info__missing(info, address, &split) && *split.path)
			debug_info__add(info, split.nr, open_split(fd, &split));
	}
}

static void check(const uint8_t *program, size_t len, const uint8_t *split, size_t split_len)
{
	int fd = memory_file(program, len), split_fd = memory_file(split, split_len);
	struct debug_info *info = debug_info__open(fd, -1);

	if (info)
		add_splits(info, split_fd);
	for (uint64_t address = FIRST; info && address < LAST; address++)
		check_frames(info, address);
	debug_info__close(info);
	close(fd);
	close(split_fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static bool is_ready;
	size_t len = size < 2 ? 0 : data[0] | data[1] << 8;

	is_ready = is_ready || (demangle__init() && debug_info__init());
	assert(is_ready);
	if (len + 2 <= size)
		check(data + 2, len, data + 2 + len, size - 2 - len);
	return 0;
}
