// SPDX-License-Identifier: GPL-2.0
/* Any bytes are the list of a JIT compiler whose functions and lines can be found, or are refused. */
#include <assert.h>
#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "util/symbol/jit_dump.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct jit_dump *dump, uint64_t address)
{
	struct jit_place place;

	if (!jit_dump__find(dump, address, &place))
		return;
	assert(strlen(place.name) <= 1024 && strlen(place.file) <= 1024);
	assert(place.offset <= address && place.line <= INT32_MAX);
}

static void check_code(void *ctx, uint64_t start, uint64_t end, uint64_t code)
{
	size_t size = *(const size_t *)ctx;

	assert(start < end && code <= size && end - start <= size - code);
}

static void check_same(const struct jit_dump *dump, const struct jit_dump *copy, uint64_t address)
{
	struct jit_place a, b;

	assert(jit_dump__find(dump, address, &a) && jit_dump__find(copy, address, &b));
	assert(!strcmp(a.name, b.name) && a.offset == b.offset);
	assert(!strcmp(a.file, b.file) && a.line == b.line);
}

/* Functions that are put into another file are the same there. */
static void check_copy(const struct jit_dump *dump, int fd, uint64_t address)
{
	static const uint32_t header[10] = {0x4a695444, 1, sizeof(header)};
	struct byte_buffer bytes = {};
	struct jit_dump copy = {};
	uint64_t end = 0;
	int copy_fd;

	byte_buffer__put(&bytes, header, sizeof(header));
	assert(!jit_dump__put(dump, fd, address, &end, &bytes));
	if (bytes.len > sizeof(header)) {
		copy_fd = memfd_create("copy.dump", MFD_CLOEXEC);
		assert(write(copy_fd, bytes.data, bytes.len) == (ssize_t)bytes.len);
		assert(!jit_dump__read(copy_fd, &copy));
		check_same(dump, &copy, address);
		check_same(dump, &copy, end - 1);
		close(copy_fd);
	}
	jit_dump__clear(&copy);
	byte_buffer__clear(&bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int fd = memfd_create("jit.dump", MFD_CLOEXEC), err;
	struct jit_dump dump = {};

	assert(fd >= 0 && write(fd, data, size) == (ssize_t)size);
	err = jit_dump__read(fd, &dump);
	assert(!err || err == -ENOEXEC);
	/* Every number of the file may be an address. */
	for (size_t i = 0; !err && i + sizeof(uint64_t) <= size; i++) {
		uint64_t address;

		memcpy(&address, data + i, sizeof(address));
		check(&dump, address);
		check(&dump, address - 1);
		check(&dump, address + 1);
		check_copy(&dump, fd, address);
	}
	if (!err) {
		jit_dump__find_name(&dump, "", check_code, &size);
		jit_dump__find_name(&dump, "f", check_code, &size);
	}
	jit_dump__clear(&dump);
	close(fd);
	return 0;
}
