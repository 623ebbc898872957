// SPDX-License-Identifier: GPL-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "util/lib/util.h"
#include "util/symbol/debug_info.h"
#include "util/symbol/elf_symbols.h"
#include "util/symbol/jit_dump.h"
#include "util/symbol/life_sign.h"
#include "util/symbol/perf_map.h"
#include "util/symbol/symbol_table.h"

#define NR_RECORDS  1000
#define DEBUG_BYTES (1 << 20)

static int nr_signs;

static void count(void *ctx)
{
	int *nr = ctx;

	(*nr)++;
}

static int begin(void **state __unused)
{
	nr_signs = 0;
	life_sign__set(count, &nr_signs);
	return 0;
}

static int end(void **state __unused)
{
	life_sign__set(NULL, NULL);
	return 0;
}

static void test_each_record_of_a_jit_dump_shows_life(void **state __unused)
{
	static const uint32_t header[10] = {0x4a695444, 1, 40};
	static const uint32_t record[4] = {3, sizeof(record)};
	int fd = memfd_create("jit.dump", MFD_CLOEXEC);
	struct jit_dump dump = {};

	assert_int_equal(write(fd, header, sizeof(header)), sizeof(header));
	for (int i = 0; i < NR_RECORDS; i++)
		assert_int_equal(write(fd, record, sizeof(record)), sizeof(record));
	assert_int_equal(jit_dump__read(fd, &dump), 0);
	assert_true(nr_signs >= NR_RECORDS);
	jit_dump__clear(&dump);
	close(fd);
}

static void test_each_line_of_a_perf_map_shows_life(void **state __unused)
{
	int fd = memfd_create("map", MFD_CLOEXEC);
	struct perf_map map = {};

	/* The sweep over functions has signs of its own: these have no code. */
	for (int i = 1; i <= NR_RECORDS; i++)
		dprintf(fd, "%x000 0 f%d\n", i, i);
	assert_int_equal(perf_map__read(fd, &map), 0);
	assert_true(nr_signs >= NR_RECORDS);
	perf_map__clear(&map);
	close(fd);
}

/* The first fields of the head of an ELF file that this machine executes. */
#define EXECUTABLE                                                                                 \
	.e_ident = {ELFMAG0,                                                                       \
		    ELFMAG1,                                                                       \
		    ELFMAG2,                                                                       \
		    ELFMAG3,                                                                       \
		    ELFCLASS64,                                                                    \
		    __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB,         \
		    EV_CURRENT},                                                                   \
	.e_type = ET_EXEC, .e_version = EV_CURRENT

/* Each table is read once, not each section for each segment. */
static void test_segments_and_sections_show_life_once_each(void **state __unused)
{
	enum { NR_SEGMENTS = 1000, NR_SECTIONS = 1000 };
	static struct {
		Elf64_Ehdr head;
		Elf64_Phdr segments[NR_SEGMENTS];
		Elf64_Shdr sections[NR_SECTIONS];
	} file = {
		.head =
			{
				EXECUTABLE,
				.e_phoff = offsetof(__typeof__(file), segments),
				.e_shoff = offsetof(__typeof__(file), sections),
				.e_ehsize = sizeof(Elf64_Ehdr),
				.e_phentsize = sizeof(Elf64_Phdr),
				.e_phnum = NR_SEGMENTS,
				.e_shentsize = sizeof(Elf64_Shdr),
				.e_shnum = NR_SECTIONS,
			},
	};
	int fd = memfd_create("segments", MFD_CLOEXEC);
	struct elf_segments segments;

	for (int i = 0; i < NR_SEGMENTS; i++)
		file.segments[i].p_type = PT_LOAD;
	assert_int_equal(write(fd, &file, sizeof(file)), sizeof(file));
	assert_int_equal(elf_symbols__segments(fd, &segments), 0);
	assert_int_equal(segments.nr, NR_SEGMENTS);
	assert_in_range(nr_signs, NR_SEGMENTS, NR_SEGMENTS + NR_SECTIONS);
	free(segments.segments);
	close(fd);
}

/* An ELF file that names a debug file by its checksum, which is wrong. */
static int linked_file(void)
{
	static const struct {
		Elf64_Ehdr head;
		Elf64_Shdr sections[3];
		char names[32];
		char link[8]; /* name and checksum */
	} file = {
		.head =
			{
				EXECUTABLE,
				.e_shoff = offsetof(__typeof__(file), sections),
				.e_ehsize = sizeof(Elf64_Ehdr),
				.e_shentsize = sizeof(Elf64_Shdr),
				.e_shnum = 3,
				.e_shstrndx = 2,
			},
		.sections =
			{
				{},
				{.sh_name = 1,
				 .sh_type = SHT_PROGBITS,
				 .sh_offset = offsetof(__typeof__(file), link),
				 .sh_size = sizeof(file.link)},
				{.sh_name = 16,
				 .sh_type = SHT_STRTAB,
				 .sh_offset = offsetof(__typeof__(file), names),
				 .sh_size = sizeof(file.names)},
			},
		.names = "\0.gnu_debuglink\0.shstrtab",
		.link = "d",
	};
	int fd = memfd_create("linked", MFD_CLOEXEC);

	assert_int_equal(write(fd, &file, sizeof(file)), sizeof(file));
	return fd;
}

static void test_each_block_of_a_checksum_shows_life(void **state __unused)
{
	int fd = linked_file(), debug_fd = linked_file();

	assert_return_code(ftruncate(debug_fd, DEBUG_BYTES), errno);
	assert_false(elf_symbols__is_debug_file(fd, debug_fd));
	assert_true(nr_signs >= DEBUG_BYTES / (16 << 10));
	close(fd);
	close(debug_fd);
}

static void test_each_symbol_shows_life(void **state __unused)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	struct symbol_table table = {};

	assert_int_equal(elf_symbols__add(fd, &table), 0);
	assert_true((size_t)nr_signs >= table.nr && table.nr > 100);
	symbol_table__clear(&table);
	close(fd);
}

static void test_units_and_their_functions_show_life(void **state __unused)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC), nr_before;
	struct debug_info *info = debug_info__init() ? debug_info__open(fd, -1) : NULL;
	struct debug_frame frames[DEBUG_MAX_FRAMES];
	struct symbol_table table = {};

	if (!info)
		skip(); /* no libdw, or no -g */
	assert_true(nr_signs > 10);
	assert_int_equal(elf_symbols__add(fd, &table), 0);
	nr_before = nr_signs;
	for (size_t i = 0; i < table.nr; i++)
		assert_true(debug_info__frames(info, table.symbols[i].start, frames) >= 0);
	assert_true(nr_signs - nr_before > 1000);
	symbol_table__clear(&table);
	debug_info__close(info);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_each_record_of_a_jit_dump_shows_life, begin,
						end),
		cmocka_unit_test_setup_teardown(test_each_line_of_a_perf_map_shows_life, begin,
						end),
		cmocka_unit_test_setup_teardown(test_segments_and_sections_show_life_once_each,
						begin, end),
		cmocka_unit_test_setup_teardown(test_each_block_of_a_checksum_shows_life, begin,
						end),
		cmocka_unit_test_setup_teardown(test_each_symbol_shows_life, begin, end),
		cmocka_unit_test_setup_teardown(test_units_and_their_functions_show_life, begin,
						end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
