// SPDX-License-Identifier: GPL-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <bpf/bpf.h>
#include <cmocka.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/host/capability.h"
#include "util/lib/util.h"
#include "util/symbol/bpf_code.h"
#include "util/symbol/kallsyms.h"
#include "util/symbol/kernel_lookup.h"
#include "util/symbol/symbol_table.h"

static void test_an_answer_has_a_function_its_range_and_its_module(void **state __unused)
{
	struct symbol_table table = {};
	const struct symbol *symbol;

	kernel_lookup__parse(&table, 0xffffffff81000110, "vfs_read+0x10/0x90");
	kernel_lookup__parse(&table, 0xffffffffc0000040, "ext4_read+0x0/0x40 [ext4]");
	kernel_lookup__parse(&table, 0xffffffffc0000140, "f<a+b>+0x40/0x50 [rust]");
	symbol_table__sort(&table);
	assert_int_equal(table.nr, 3);
	symbol = symbol_table__find(&table, 0xffffffff8100018f);
	assert_string_equal(symbol_table__name(&table, symbol), "vfs_read");
	assert_string_equal(table.names + symbol->owner, "");
	assert_true(symbol->start == 0xffffffff81000100);
	assert_null(symbol_table__find(&table, 0xffffffff81000190));
	symbol = symbol_table__find(&table, 0xffffffffc0000040);
	assert_string_equal(symbol_table__name(&table, symbol), "ext4_read");
	assert_string_equal(table.names + symbol->owner, "[ext4]");
	symbol = symbol_table__find(&table, 0xffffffffc0000100);
	assert_string_equal(symbol_table__name(&table, symbol), "f<a+b>");
	symbol_table__clear(&table);
}

static void test_code_of_bpf_has_its_owner(void **state __unused)
{
	static const struct {
		const char *name, *owner;
	} answers[] = {
		{"bpf_prog_6deef7357e7b4530_on_switch", "[bpf]"},
		{"bpf_prog_6deef7357e7b4530", "[bpf]"},
		{"bpf_prog_6deef7357e7b453", ""},
		{"bpf_prog_alloc", ""},
		{"bpf_trampoline_6442454117", "[bpf]"},
		{"bpf_trampoline_link_prog", ""},
		{"bpf_dispatcher_xdp", "[bpf]"},
		{"bpf_dispatcher_xdp_func", ""},
		{"bpf__tcp_congestion_ops_init", "[bpf]"},
		{"bpf_map_put", ""},
	};

	for (size_t i = 0; i < ARRAY_SIZE(answers); i++) {
		struct symbol_table table = {};
		char *text __cleanup(free_ptr) = xasprintf("%s+0x10/0x40", answers[i].name);

		assert_non_null(text);
		kernel_lookup__parse(&table, 0xffffffff81000010, text);
		assert_int_equal(table.nr, 1);
		assert_string_equal(table.names + table.symbols[0].name, answers[i].name);
		assert_string_equal(table.names + table.symbols[0].owner, answers[i].owner);
		symbol_table__clear(&table);
	}
}

static void test_an_answer_without_a_function_adds_none(void **state __unused)
{
	static const char *const texts[] = {
		"0xffffffff81000110",
		"",
		"+0x10/0x90",
		"name+0x10",
		"name+0x10/0x90x",
		"name+0x10/0x90 ",
		"name+0xfffffffffffffffff/0x90",
		"name+0x200/0x90",
	};
	struct symbol_table table = {};

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		kernel_lookup__parse(&table, 0xffffffff81000110, texts[i]);
	assert_int_equal(table.nr, 0);
	symbol_table__clear(&table);
}

/* Skips where the kernel may not be asked. */
static struct kernel_lookup *new_lookup(void)
{
	struct kernel_lookup *lookup = geteuid() == 0 ? kernel_lookup__new() : NULL;

	if (!lookup)
		skip(); /* no root, or a container */
	return lookup;
}

/* Others load and unload code of BPF, of ftrace and of kprobes meanwhile. Ends of sections are no functions. */
static bool is_in_both(const struct symbol_table *text, const struct symbol *symbol)
{
	const char *owner = text->names + symbol->owner, *name = symbol_table__name(text, symbol);

	return !symbol->is_data && symbol->end > symbol->start && strcmp(owner, "[bpf]") &&
	       strncmp(owner, "[__builtin__", 12) && strcmp(name, "_etext") &&
	       strcmp(name, "_einittext");
}

/* The middle of each function. */
static uint64_t *list_addresses(const struct symbol_table *text, int *nr)
{
	uint64_t *addresses = calloc(text->nr + 1, sizeof(*addresses));

	assert_non_null(addresses);
	for (size_t i = 0; i < text->nr; i++) {
		const struct symbol *symbol = &text->symbols[i];

		if (is_in_both(text, symbol))
			addresses[(*nr)++] = symbol->start + (symbol->end - symbol->start) / 2;
	}
	return addresses;
}

/* Where a function begins, and its module: an address can have several names, and perf and the kernel choose one. */
static bool are_same(const struct symbol_table *text, const struct symbol_table *asked,
		     uint64_t address)
{
	const struct symbol *a = symbol_table__find(text, address);
	const struct symbol *b = symbol_table__find(asked, address);

	return a && b && a->start == b->start &&
	       !strcmp(text->names + a->owner, asked->names + b->owner);
}

static const char *name_at(const struct symbol_table *table, uint64_t address)
{
	return symbol_table__name(table, symbol_table__find(table, address));
}

static void test_the_kernel_has_the_functions_of_its_list(void **state __unused)
{
	struct kernel_lookup *lookup = new_lookup();
	struct symbol_table text = {}, asked = {};
	uint64_t *addresses __cleanup(free_ptr) = NULL;
	int nr = 0, nr_of_another_name = 0;
	bool is_hidden;

	assert_return_code(kallsyms__read(&text, &is_hidden), 0);
	if (is_hidden)
		skip();
	addresses = list_addresses(&text, &nr);
	assert_true(nr > 10000);
	assert_return_code(kernel_lookup__add(lookup, &asked, addresses, nr), 0);
	symbol_table__sort(&asked);
	for (int i = 0; i < nr; i++) {
		if (!are_same(&text, &asked, addresses[i]))
			fail_msg("%s is another function", name_at(&text, addresses[i]));
		nr_of_another_name +=
			strcmp(name_at(&text, addresses[i]), name_at(&asked, addresses[i])) != 0;
	}
	/* System calls without arguments have three names each (72 of 121,861 on 6.18). */
	assert_in_range(nr_of_another_name, 0, nr / 500);
	kernel_lookup__delete(lookup);
	symbol_table__clear(&text);
	symbol_table__clear(&asked);
}

static void test_neighbours_in_one_function_are_asked_once(void **state __unused)
{
	struct kernel_lookup *lookup = new_lookup();
	struct symbol_table text = {}, asked = {};
	const struct symbol *symbol;
	uint64_t addresses[3];
	bool is_hidden;

	assert_return_code(kallsyms__read(&text, &is_hidden), 0);
	for (symbol = text.symbols; symbol < text.symbols + text.nr; symbol++) {
		if (!strcmp(symbol_table__name(&text, symbol), "vfs_read"))
			break;
	}
	if (is_hidden || symbol == text.symbols + text.nr)
		skip();
	for (size_t i = 0; i < ARRAY_SIZE(addresses); i++)
		addresses[i] = symbol->start + i;
	assert_return_code(kernel_lookup__add(lookup, &asked, addresses, ARRAY_SIZE(addresses)), 0);
	assert_int_equal(asked.nr, 1);
	kernel_lookup__delete(lookup);
	symbol_table__clear(&text);
	symbol_table__clear(&asked);
}

static void test_a_program_that_is_loaded_is_one_of_bpf(void **state __unused)
{
	static const struct bpf_insn insns[] = {
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0},
		{.code = BPF_JMP | BPF_EXIT},
	};
	struct kernel_lookup *lookup = new_lookup();
	struct symbol_table asked = {};
	uint64_t *addresses __cleanup(free_ptr) = NULL;
	bool is_found = false;
	int fd, nr;

	capability__raise();
	fd = bpf_prog_load(BPF_PROG_TYPE_SOCKET_FILTER, "lookup_test", "GPL", insns,
			   ARRAY_SIZE(insns), NULL);
	capability__lower();
	assert_return_code(fd, 0);
	nr = bpf_code__functions(&addresses);
	if (nr <= 0)
		skip(); /* the kernel interprets programs, or hides them */
	assert_return_code(kernel_lookup__add(lookup, &asked, addresses, nr), 0);
	for (size_t i = 0; i < asked.nr; i++) {
		const char *name = asked.names + asked.symbols[i].name;

		assert_string_equal(asked.names + asked.symbols[i].owner, "[bpf]");
		is_found |= strlen(name) > 11 && !strcmp(name + strlen(name) - 11, "lookup_test");
	}
	assert_true(is_found);
	close_fd(&fd);
	kernel_lookup__delete(lookup);
	symbol_table__clear(&asked);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_an_answer_has_a_function_its_range_and_its_module),
		cmocka_unit_test(test_code_of_bpf_has_its_owner),
		cmocka_unit_test(test_an_answer_without_a_function_adds_none),
		cmocka_unit_test(test_the_kernel_has_the_functions_of_its_list),
		cmocka_unit_test(test_neighbours_in_one_function_are_asked_once),
		cmocka_unit_test(test_a_program_that_is_loaded_is_one_of_bpf),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
