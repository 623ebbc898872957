// SPDX-License-Identifier: GPL-2.0
/* Any bytes are an ELF file with functions that can be found, or are refused, without reads beyond them. */
#include <assert.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "util/symbol/demangle.h"
#include "util/symbol/elf_symbols.h"
#include "util/symbol/symbol_table.h"
#include "util/symbol/xz_data.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_symbols(int fd)
{
	struct symbol_table table = {};
	int err = elf_symbols__add(fd, &table);

	assert(!err || err == -ENOEXEC);
	symbol_table__sort(&table);
	for (size_t i = 0; i < table.nr; i++) {
		const struct symbol *symbol = &table.symbols[i];
		const char *name = symbol_table__name(&table, symbol);

		assert(!i || symbol[-1].start < symbol->start);
		assert(symbol->name < table.names_len && *name);
		assert(symbol_table__find(&table, symbol->start) == symbol ||
		       symbol->end < symbol->start);
		free(demangle__name(name));
	}
	symbol_table__clear(&table);
}

static void check_segments(int fd)
{
	struct elf_segments segments;
	int err = elf_symbols__segments(fd, &segments);
	uint64_t address;

	assert(!err || err == -ENOEXEC);
	for (int i = 0; i < segments.nr; i++) {
		const struct elf_segment *segment = &segments.segments[i];

		if (segment->size && segment->offset + segment->size > segment->offset)
			assert(elf_segments__address(&segments, segment->offset, &address));
		(void)elf_segments__address(&segments, segment->offset + segment->size, &address);
	}
	free(segments.segments);
}

static void check_description(int fd)
{
	struct elf_description file;
	int err = elf_symbols__describe(fd, &file);
	char *path;

	assert(!err || err == -ENOEXEC);
	assert(strnlen(file.debug_link, sizeof(file.debug_link)) < sizeof(file.debug_link));
	assert(file.id.len <= BUILD_ID_MAX && (!err || !file.id.len));
	path = build_id__debug_path(&file.id);
	assert(!path == !file.id.len);
	assert(!path ||
	       strlen(path) == strlen("usr/lib/debug/.build-id//.debug") + 2 * file.id.len);
	free(path);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static bool is_ready;
	int fd = memfd_create("elf", MFD_CLOEXEC);

	is_ready = is_ready || (demangle__init() && xz_data__init());
	assert(is_ready && fd >= 0 && write(fd, data, size) == (ssize_t)size);
	check_description(fd);
	check_symbols(fd);
	check_segments(fd);
	close(fd);
	return 0;
}
