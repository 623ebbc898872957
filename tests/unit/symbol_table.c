// SPDX-License-Identifier: GPL-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <bpf/bpf.h>
#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "util/lib/byte_buffer.h"
#include "util/lib/util.h"
#include "util/symbol/build_id.h"
#include "util/symbol/demangle.h"
#include "util/symbol/kallsyms.h"
#include "util/symbol/perf_map.h"
#include "util/symbol/symbol_table.h"

/* Return: the name at an address, "-" if there is none. */
static const char *at(const struct symbol_table *table, uint64_t address)
{
	const struct symbol *symbol = symbol_table__find(table, address);

	return symbol ? symbol_table__name(table, symbol) : "-";
}

static void put(struct symbol_table *table, uint64_t start, uint64_t size, const char *name,
		enum symbol_rank rank)
{
	symbol_table__add(table, &(struct new_symbol){
					 .start = start,
					 .size = size,
					 .name = name,
					 .name_len = strlen(name),
					 .rank = rank,
				 });
}

static void test_a_symbol_reaches_to_its_end(void **state __unused)
{
	struct symbol_table table = {};

	put(&table, 0x200, 0, "open_end", SYMBOL_LOCAL);
	put(&table, 0x100, 0x10, "sized", SYMBOL_LOCAL);
	put(&table, 0x300, 0, "last", SYMBOL_LOCAL);
	symbol_table__sort(&table);
	assert_string_equal(at(&table, 0xff), "-");
	assert_string_equal(at(&table, 0x100), "sized");
	assert_string_equal(at(&table, 0x10f), "sized");
	assert_string_equal(at(&table, 0x110), "-");
	assert_string_equal(at(&table, 0x2ff), "open_end");
	assert_string_equal(at(&table, 0x300 + SYMBOL_LAST_SIZE - 1), "last");
	assert_string_equal(at(&table, 0x300 + SYMBOL_LAST_SIZE), "-");
	symbol_table__clear(&table);
}

static void test_the_best_of_several_names_is_kept(void **state __unused)
{
	struct symbol_table table = {};

	put(&table, 0x100, 8, "local", SYMBOL_LOCAL);
	put(&table, 0x100, 8, "__global", SYMBOL_GLOBAL);
	put(&table, 0x100, 8, "global", SYMBOL_GLOBAL);
	put(&table, 0x100, 8, "weak", SYMBOL_WEAK);
	put(&table, 0x200, 8, "short", SYMBOL_LOCAL);
	put(&table, 0x200, 9, "wide", SYMBOL_LOCAL);
	put(&table, 0x300, 8, "b", SYMBOL_LOCAL);
	put(&table, 0x300, 8, "a", SYMBOL_LOCAL);
	symbol_table__sort(&table);
	assert_string_equal(at(&table, 0x100), "global");
	assert_string_equal(at(&table, 0x200), "wide");
	assert_string_equal(at(&table, 0x300), "a");
	symbol_table__clear(&table);
}

static void test_a_label_inside_does_not_hide_the_function(void **state __unused)
{
	struct symbol_table table = {};

	put(&table, 0x100, 0x100, "outer", SYMBOL_GLOBAL);
	put(&table, 0x140, 0x10, "inner", SYMBOL_LOCAL);
	symbol_table__sort(&table);
	assert_string_equal(at(&table, 0x145), "inner");
	assert_string_equal(at(&table, 0x150), "outer");
	symbol_table__clear(&table);
}

static void test_an_empty_table_has_no_names(void **state __unused)
{
	struct symbol_table table = {};

	symbol_table__sort(&table);
	assert_null(symbol_table__find(&table, 0));
	symbol_table__add_data(&table, 5);
	symbol_table__sort(&table);
	assert_null(symbol_table__find(&table, 5));
	symbol_table__clear(&table);
}

/* Symbols in the order of their addresses, in any other, and some that come later, give the same table. */
static void test_the_order_in_which_symbols_come_does_not_matter(void **state __unused)
{
	enum { NR = 400 };
	unsigned int random = 1;

	for (int round = 0; round < 50; round++) {
		struct symbol_table tables[3] = {};
		uint64_t starts[NR];
		char name[16];

		/* Some are equal, or rise for a while. */
		for (int i = 0; i < NR; i++) {
			random = random * 1103515245 + 12345;
			starts[i] = (i < round * 8 ? i : (int)((random >> 16) % NR)) * 16 + 16;
		}
		for (int i = 0; i < NR; i++) {
			snprintf(name, sizeof(name), "f%d", i);
			put(&tables[0], starts[i], 16, name, SYMBOL_GLOBAL);
			put(&tables[1], starts[i], 16, name, SYMBOL_GLOBAL);
			if (i % (round + 1) == 0)
				symbol_table__sort(&tables[1]);
		}
		for (int address = 16; address <= NR * 16; address += 16) {
			for (int i = 0; i < NR; i++) {
				snprintf(name, sizeof(name), "f%d", i);
				if (starts[i] == (uint64_t)address)
					put(&tables[2], starts[i], 16, name, SYMBOL_GLOBAL);
			}
		}
		for (int i = 0; i < 3; i++)
			symbol_table__sort(&tables[i]);
		assert_int_equal(tables[0].nr, tables[1].nr);
		assert_int_equal(tables[0].nr, tables[2].nr);
		for (size_t i = 0; i < tables[0].nr; i++) {
			const char *expected =
				symbol_table__name(&tables[0], &tables[0].symbols[i]);

			assert_true(!i ||
				    tables[0].symbols[i - 1].start < tables[0].symbols[i].start);
			assert_string_equal(at(&tables[1], tables[0].symbols[i].start), expected);
			assert_string_equal(at(&tables[2], tables[0].symbols[i].start), expected);
		}
		for (int i = 0; i < 3; i++)
			symbol_table__clear(&tables[i]);
	}
}

static const char kernel[] = "ffffffff81000000 T _text\n"
			     "ffffffff81000000 T startup_64\n"
			     "ffffffff81000100 t local_one\n"
			     "ffffffff81000180 D some_data\n"
			     "ffffffff81000200 W weak_one\n"
			     "ffffffff81000280 t $x\n"
			     "a broken line\n"
			     "ffffffffc0000000 t ext4_read\t[ext4]\n"
			     "ffffffffc0000040 t ext4_write\t[ext4]\n"
			     "ffffffffc0000080 t bpf_prog_6deef7357e7b4530_on_switch\t[bpf]";

static void test_kallsyms_have_functions_modules_and_bpf_programs(void **state __unused)
{
	struct symbol_table table = {};
	const struct symbol *symbol;

	assert_false(kallsyms__parse(kernel, strlen(kernel), &table));
	symbol_table__sort(&table);
	assert_string_equal(at(&table, 0xffffffff81000010), "startup_64");
	assert_string_equal(at(&table, 0xffffffff81000150), "local_one");
	assert_string_equal(at(&table, 0xffffffff81000190), "-");
	assert_string_equal(at(&table, 0xffffffff81000290), "weak_one");
	symbol = symbol_table__find(&table, 0xffffffff81000150);
	assert_int_equal(symbol->owner, 0);
	symbol = symbol_table__find(&table, 0xffffffffc0000041);
	assert_string_equal(symbol_table__name(&table, symbol), "ext4_write");
	assert_string_equal(table.names + symbol->owner, "[ext4]");
	symbol = symbol_table__find(&table, 0xffffffffc0000081);
	assert_string_equal(symbol_table__name(&table, symbol),
			    "bpf_prog_6deef7357e7b4530_on_switch");
	assert_string_equal(table.names + symbol->owner, "[bpf]");
	symbol_table__clear(&table);
}

static void test_the_last_function_of_a_module_does_not_reach_to_the_next_one(void **state __unused)
{
	static const char text[] = "f0000000 t long_one\t[ext4]\n"
				   "f0008000 t last_one\t[ext4]\n"
				   "f0010000 t other_one\t[xfs]\n"
				   "f0020000 d other_data\t[xfs]\n"
				   "f0030000 t program\t[bpf]\n"
				   "f0040000 t third_one\t[fat]\n";
	struct symbol_table table = {};

	/* Twice, as when it is read again: the names of the modules are not those of the first time. */
	for (int i = 0; i < 2; i++) {
		assert_false(kallsyms__parse(text, strlen(text), &table));
		symbol_table__sort(&table);
		assert_string_equal(at(&table, 0xf0007fff), "long_one");
		assert_string_equal(at(&table, 0xf0008fff), "last_one");
		assert_string_equal(at(&table, 0xf0009000), "-");
		assert_string_equal(at(&table, 0xf001ffff), "other_one");
		assert_string_equal(at(&table, 0xf003ffff), "program");
	}
	symbol_table__clear(&table);
}

static void test_nothing_behind_the_text_of_kallsyms_is_read(void **state __unused)
{
	static const char text[] = "f100 t $\0.";
	struct symbol_table table = {};

	assert_false(kallsyms__parse(text, strlen(text), &table));
	symbol_table__sort(&table);
	assert_string_equal(at(&table, 0xf100), "$");
	symbol_table__clear(&table);
}

static void test_hidden_addresses_are_noticed(void **state __unused)
{
	static const char hidden[] = "0000000000000000 T _text\n0000000000000000 t local_one\n";
	struct symbol_table table = {};

	assert_true(kallsyms__parse(hidden, strlen(hidden), &table));
	assert_int_equal(table.nr, 0);
	assert_false(kallsyms__parse("", 0, &table));
	/* Per-CPU data of x86-64 starts at 0. */
	assert_false(kallsyms__parse("0000000000000000 A fixed_percpu_data\n", 37, &table));
	symbol_table__clear(&table);
}

/* Load a program. Return: its descriptor. */
static int load_program(void)
{
	static const struct bpf_insn nothing[] = {
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0},
		{.code = BPF_JMP | BPF_EXIT},
	};
	int fd = bpf_prog_load(BPF_PROG_TYPE_SOCKET_FILTER, "nothing", "GPL", nothing,
			       ARRAY_SIZE(nothing), NULL);

	assert_true(fd >= 0);
	return fd;
}

/* Return: the address of a program's only function; 0: it has no machine code. */
static uint64_t address_of(int fd)
{
	uint64_t address = 0;
	struct bpf_prog_info info = {.jited_ksyms = (uintptr_t)&address, .nr_jited_ksyms = 1};
	__u32 len = sizeof(info);

	assert_int_equal(bpf_obj_get_info_by_fd(fd, &info, &len), 0);
	return address;
}

/* A file system like /proc for kallsyms: whoever reads it has the first text once, then the second, each time. */
static void show_texts(const char *dir, const char *first, const char *second)
{
	char *path = xasprintf("%s/kallsyms", dir), *next = xasprintf("%s/next", dir);
	int fd = open(next, O_WRONLY | O_CREAT, 0600);

	assert_true(dprintf(fd, "%s", second) > 0);
	close(fd);
	assert_int_equal(mkfifo(path, 0600), 0);
	setenv("PROCFS_PATH", dir, 1);
	if (!fork()) {
		alarm(60); /* if nobody reads it */
		fd = open(path, O_WRONLY);
		if (!rename(next, path))
			dprintf(fd, "%s", first);
		_exit(0);
	}
	free(path);
	free(next);
}

static void show_texts_no_more(const char *dir)
{
	char *path = xasprintf("%s/kallsyms", dir);

	while (wait(NULL) > 0)
		;
	unsetenv("PROCFS_PATH");
	unlink(path);
	assert_int_equal(rmdir(dir), 0);
	free(path);
}

/* Return: the name of a program's function if these texts are read; "-": it has none. */
static char *name_of(uint64_t address, const char *first, const char *second)
{
	char dir[] = "/tmp/perf-unit-XXXXXX", *name;
	struct symbol_table table = {};
	bool is_hidden;

	assert_non_null(mkdtemp(dir));
	show_texts(dir, first, second);
	assert_int_equal(kallsyms__read(&table, &is_hidden), 0);
	show_texts_no_more(dir);
	assert_false(is_hidden);
	assert_string_equal(at(&table, 0x1000), "first");
	name = strdup(at(&table, address));
	symbol_table__clear(&table);
	return name;
}

static void test_a_bpf_program_that_was_passed_over_is_found(void **state __unused)
{
	static const char lacking[] = "1000 T first\n",
			  form[] = "%s%llx t bpf_prog_nothing\t[bpf]\n";
	char *complete, *name;
	uint64_t address;
	int prog;

	if (geteuid())
		skip();
	prog = load_program();
	address = address_of(prog);
	if (!address)
		skip(); /* the kernel interprets programs */
	complete = xasprintf(form, lacking, (unsigned long long)address);
	name = name_of(address, lacking, complete);
	assert_string_equal(name, "bpf_prog_nothing");
	free(name);
	/* With net.core.bpf_jit_harden the kernel lists no program. */
	name = name_of(address, lacking, lacking);
	assert_string_equal(name, "-");
	free(name);
	free(complete);
	close(prog);
}

/* Return: "name+offset" of an address; "-": there is none. Valid until the next call. */
static const char *in_map(const struct perf_map *map, uint64_t address)
{
	static char text[64];
	uint64_t offset;
	const char *name = perf_map__find(map, address, &offset);

	snprintf(text, sizeof(text), name ? "%s+%d" : "-", name, name ? (int)offset : 0);
	return text;
}

static void test_perf_maps_have_blanks_in_names_and_the_last_line_wins(void **state __unused)
{
	static const char text[] = "7f0000001000 20 LazyCompile:*run /app/x.js:1\n"
				   "0x7f0000002000 0x10 hexed\n"
				   "7f0000003000 10\n"
				   "not a line\n"
				   "7f0000004000 0 empty\n"
				   "7f0000005000 10 old\r\n"
				   "7f0000005000 20 new\n"
				   "1234567890abcdef 9 digits\n"
				   "234567890ABCDEF0 f capitals\n"
				   "7f0000006000 10 unfinished";
	struct perf_map map = {};

	assert_int_equal(perf_map__parse(text, strlen(text), &map), 0);
	assert_int_equal(map.functions.nr_parts, 6);
	assert_string_equal(in_map(&map, 0x1234567890abcdef + 8), "digits+8");
	assert_string_equal(in_map(&map, 0x234567890abcdef0 + 14), "capitals+14");
	assert_string_equal(in_map(&map, 0x7f000000101f), "LazyCompile:*run /app/x.js:1+31");
	assert_string_equal(in_map(&map, 0x7f0000001020), "-");
	assert_string_equal(in_map(&map, 0x7f0000002000), "hexed+0");
	assert_string_equal(in_map(&map, 0x7f0000005018), "new+24");
	assert_string_equal(in_map(&map, 0x7f0000006000), "unfinished+0");
	perf_map__clear(&map);
}

static void test_stale_lines_of_a_perf_map_hide_no_later_ones(void **state __unused)
{
	static const char text[] = "1100 100 old\n"
				   "1000 2000 new\n"
				   "5000 1000 big\n"
				   "5800 10 inside\n";
	struct perf_map map = {};

	assert_int_equal(perf_map__parse(text, strlen(text), &map), 0);
	assert_string_equal(in_map(&map, 0x1150), "new+336");
	assert_string_equal(in_map(&map, 0x57ff), "big+2047");
	assert_string_equal(in_map(&map, 0x5801), "inside+1");
	assert_string_equal(in_map(&map, 0x5810), "big+2064");
	perf_map__clear(&map);
}

static void test_a_long_line_of_a_perf_map_is_found_behind_many_short_ones(void **state __unused)
{
	struct byte_buffer text = {};
	struct perf_map map = {};

	byte_buffer__put(&text, "1000 2000 big\n", 14);
	for (int i = 0; i < 20; i++) {
		char line[32];

		byte_buffer__put(&text, line,
				 snprintf(line, sizeof(line), "%x 2 short\n", 0x1100 + 4 * i));
	}
	assert_int_equal(perf_map__parse(text.data, text.len, &map), 0);
	assert_string_equal(in_map(&map, 0x1400), "big+1024");
	assert_string_equal(in_map(&map, 0x1104), "short+0");
	assert_string_equal(in_map(&map, 0x1106), "big+262");
	perf_map__clear(&map);
	byte_buffer__clear(&text);
}

static void test_a_perf_map_is_read_from_a_file(void **state __unused)
{
	struct perf_map map = {};
	FILE *file = tmpfile();

	fputs("1000 10 one\n", file);
	fflush(file);
	assert_int_equal(perf_map__read(fileno(file), &map), 0);
	assert_string_equal(in_map(&map, 0x1008), "one+8");
	perf_map__clear(&map);
	fclose(file);
	assert_int_equal(perf_map__read(-1, &map), -EBADF);
}

static const struct {
	const char *name, *readable; /* NULL: not mangled */
} mangled[] = {
	{"main", NULL},
	{"_Z", NULL},
	{"_ZZZZ", NULL},
	{"_Z3fooi", "foo"},
	{"_ZN3app6Server4pollEPKci", "app::Server::poll"},
	{"_ZNK3app6Server4sizeEv", "app::Server::size"},
	{"_ZN12_GLOBAL__N_13fooEi", "(anonymous namespace)::foo"},
	{"_ZNK3FooclEi", "Foo::operator()"},
	{"_ZN3FooC1Ev", "Foo::Foo"},
	{"_Z3fooPFivE", "foo"},
	{"_ZTV3Foo", "vtable for Foo"},
	{"_Z3fooi.part.0", "foo.part.0"},
	{"_Z3fooi.cold", "foo.cold"},
	{"_Z3fooi@@VERS_1", "foo"},
	{"_ZN4core3fmt5write17h0123456789abcdefE", "core::fmt::write"},
};

static void test_names_are_demangled_without_parameters(void **state __unused)
{
	assert_true(demangle__init());
	for (size_t i = 0; i < ARRAY_SIZE(mangled); i++) {
		char *readable = demangle__name(mangled[i].name);

		if (mangled[i].readable)
			assert_string_equal(readable, mangled[i].readable);
		else
			assert_null(readable);
		free(readable);
	}
}

/* By Rust's RFC 2603, and by the form before it. */
static const struct {
	const char *name, *readable;
} of_rust[] = {
	{"_RNvCs1234_7mycrate3foo", "mycrate::foo"},
	{"_RNvMs_CsbDqzXfLQacH_7mycrateNtB4_3Foo3bar", "<mycrate::Foo>::bar"},
	{"_RINvCsbDqzXfLQacH_7mycrate3addhlE", "mycrate::add::<u8, i32>"},
	{"_RNCNvCsbDqzXfLQacH_7mycrate4main0B3_", "mycrate::main::{closure#0}"},
	{"_RNvXCs7C6LGyq7xY8_3mixINtB2_6SquaremENtB2_5Shape4area",
	 "<mix::Square<u32> as mix::Shape>::area"},
	{"_RINvCs2ndz2m94zur_4demo8constantKj3_EB2_", "demo::constant::<3>"},
	{"_RINvNtCsgEmfK2I1SDS_4core3ptr13drop_in_placeINtNtCslNYArtu3iFV_5alloc5boxed3BoxDNtCs7C6LGyq7xY8_3mix5ShapeEL_EEB1i_",
	 "core::ptr::drop_in_place::<alloc::boxed::Box<dyn mix::Shape>>"},
	{"_RNSNvYNCINvNtCsjrHSEGnQ3l9_3std2rt10lang_startuE0INtNtNtCsgEmfK2I1SDS_4core3ops8function6FnOnceuE9call_once6vtableCs7C6LGyq7xY8_3mix",
	 "<std::rt::lang_start<()>::{closure#0} as core::ops::function::FnOnce<()>>::call_once::{shim:vtable#0}"},
	{"_ZN3mix3sum28_$u7b$$u7b$closure$u7d$$u7d$17h0123456789abcdefE", "mix::sum::{{closure}}"},
	{"_RNvCs1234_7mycrate3foo.llvm.0123456789ABCDEF", "mycrate::foo"},
	{"_RNvCs1234_7mycrate3foo.cold", "mycrate::foo.cold"},
	{"_ZN61_$LT$alloc..vec..Vec$LT$T$GT$$u20$as$u20$core..fmt..Debug$GT$3fmt17h0123456789abcdefE",
	 "<alloc::vec::Vec<T> as core::fmt::Debug>::fmt"},
	{"_ZN4core3fmt5write17h0123456789abcdefE.llvm.123", "core::fmt::write"},
};

static void test_names_of_rust_are_demangled_without_hashes(void **state __unused)
{
#ifndef HAVE_LIBIBERTY
	skip();
#endif
	for (size_t i = 0; i < ARRAY_SIZE(of_rust); i++) {
		char *readable = demangle__name(of_rust[i].name);

		assert_non_null(readable);
		assert_string_equal(readable, of_rust[i].readable);
		free(readable);
	}
	assert_null(demangle__name("_R"));
	assert_null(demangle__name("_RNvCs1234_7my"));
	assert_null(demangle__name("_Reader"));
}

static void test_the_build_id_is_found_among_notes(void **state __unused)
{
	/* A note of another owner, then ours. */
	static const uint32_t notes[] = {4, 4, 3, 0x00756e47 ^ 1, 7,
					 4, 3, 3, 0x00554e47,	  0xddccbbaa};
	struct build_id id;
	char *path;

	build_id__find(notes, sizeof(notes), 4, &id);
	assert_int_equal(id.len, 3);
	assert_memory_equal(id.bytes, "\xaa\xbb\xcc", 3);
	path = build_id__debug_path(&id);
	assert_string_equal(path, "usr/lib/debug/.build-id/aa/bbcc.debug");
	free(path);
	/* Cut anywhere, it is not found, and nothing is read behind the end. */
	for (size_t len = 0; len < sizeof(notes) - 1; len++) {
		char *copy = malloc(len + 1);

		memcpy(copy, notes, len);
		build_id__find(copy, len, 4, &id);
		assert_int_equal(id.len, 0);
		free(copy);
	}
	assert_null(build_id__debug_path(&id));
	assert_int_equal(errno, ENOENT);
}

static void test_build_ids_have_at_most_20_bytes(void **state __unused)
{
	uint32_t note[4 + 6] = {4, BUILD_ID_MAX, 3, 0x00554e47};
	struct build_id id;

	build_id__find(note, sizeof(note), 4, &id);
	assert_int_equal(id.len, BUILD_ID_MAX);
	note[1]++;
	build_id__find(note, sizeof(note), 4, &id);
	assert_int_equal(id.len, 0);
}

static void test_notes_with_impossible_lengths_are_refused(void **state __unused)
{
	static const uint32_t notes[][4] = {
		{UINT32_MAX, 4, 3, 0}, {4, UINT32_MAX, 3, 0}, {UINT32_MAX, UINT32_MAX, 3, 0}};
	struct build_id id;

	for (size_t i = 0; i < ARRAY_SIZE(notes); i++) {
		build_id__find(notes[i], sizeof(notes[i]), 8, &id);
		assert_int_equal(id.len, 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_symbol_reaches_to_its_end),
		cmocka_unit_test(test_the_best_of_several_names_is_kept),
		cmocka_unit_test(test_a_label_inside_does_not_hide_the_function),
		cmocka_unit_test(test_an_empty_table_has_no_names),
		cmocka_unit_test(test_the_order_in_which_symbols_come_does_not_matter),
		cmocka_unit_test(test_kallsyms_have_functions_modules_and_bpf_programs),
		cmocka_unit_test(test_the_last_function_of_a_module_does_not_reach_to_the_next_one),
		cmocka_unit_test(test_nothing_behind_the_text_of_kallsyms_is_read),
		cmocka_unit_test(test_hidden_addresses_are_noticed),
		cmocka_unit_test(test_a_bpf_program_that_was_passed_over_is_found),
		cmocka_unit_test(test_perf_maps_have_blanks_in_names_and_the_last_line_wins),
		cmocka_unit_test(test_stale_lines_of_a_perf_map_hide_no_later_ones),
		cmocka_unit_test(test_a_long_line_of_a_perf_map_is_found_behind_many_short_ones),
		cmocka_unit_test(test_a_perf_map_is_read_from_a_file),
		cmocka_unit_test(test_names_are_demangled_without_parameters),
		cmocka_unit_test(test_names_of_rust_are_demangled_without_hashes),
		cmocka_unit_test(test_the_build_id_is_found_among_notes),
		cmocka_unit_test(test_build_ids_have_at_most_20_bytes),
		cmocka_unit_test(test_notes_with_impossible_lengths_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
