// SPDX-License-Identifier: GPL-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/lib/util.h"
#include "util/symbol/kallsyms.h"
#include "util/symbol/kernel_lookup.h"
#include "util/symbol/kernel_names.h"
#include "util/symbol/place_table.h"
#include "util/symbol/symbol_table.h"

static void test_an_answer_has_a_function_its_range_and_its_module(void **state __unused)
{
	struct symbol_table table = {};
	const struct symbol *symbol;

	kernel_lookup__parse(&table, 0xffffffff81000110, "vfs_read+0x10/0x90");
	kernel_lookup__parse(&table, 0xffffffffc0000040, "ext4_read+0x0/0x40 [ext4]");
	kernel_lookup__parse(&table, 0xffffffffc0000140, "f<a+b>+0x40/0x50 [bpf]");
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
		kernel_lookup__parse(&table, 0x110, texts[i]);
	assert_int_equal(table.nr, 0);
	symbol_table__clear(&table);
}

/* Skips where the kernel may not be asked, or hides its addresses. */
static void read_both(struct symbol_table *text, struct symbol_table *asked, uint64_t **addresses,
		      int *nr)
{
	bool is_hidden;
	int err;

	if (geteuid() != 0)
		skip();
	assert_return_code(kallsyms__read(text, &is_hidden), 0);
	if (is_hidden)
		skip();
	*addresses = calloc(text->nr, sizeof(**addresses));
	assert_non_null(*addresses);
	for (size_t i = 0; i < text->nr; i++) {
		const struct symbol *symbol = &text->symbols[i];

		if (!symbol->is_data && symbol->end > symbol->start)
			(*addresses)[(*nr)++] = symbol->start + (symbol->end - symbol->start) / 2;
	}
	err = kernel_lookup__add(asked, *addresses, *nr);
	if (err == -EPERM)
		skip(); /* a container */
	assert_return_code(err, 0);
	symbol_table__sort(asked);
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

/* Ends of ranges, which are no functions, and trampolines of ftrace. */
static bool is_in_list_only(const char *name)
{
	return !strcmp(name, "_etext") || !strcmp(name, "_einittext") ||
	       !strcmp(name, "ftrace_trampoline");
}

static void test_the_kernel_has_the_functions_of_its_list(void **state __unused)
{
	struct symbol_table text = {}, asked = {};
	uint64_t *addresses __cleanup(free_ptr) = NULL;
	int nr = 0, nr_of_another_name = 0;

	read_both(&text, &asked, &addresses, &nr);
	assert_true(nr > 10000);
	for (int i = 0; i < nr; i++) {
		const struct symbol *symbol = symbol_table__find(&text, addresses[i]);
		const char *name = symbol_table__name(&text, symbol);

		if (is_in_list_only(name))
			continue;
		if (!are_same(&text, &asked, addresses[i]))
			fail_msg("%s is another function", name);
		symbol = symbol_table__find(&asked, addresses[i]);
		nr_of_another_name += strcmp(symbol_table__name(&asked, symbol), name) != 0;
	}
	/* System calls without arguments have three names each (72 of 121,864 on 6.18). */
	assert_in_range(nr_of_another_name, 0, nr / 500);
	symbol_table__clear(&text);
	symbol_table__clear(&asked);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_an_answer_has_a_function_its_range_and_its_module),
		cmocka_unit_test(test_an_answer_without_a_function_adds_none),
		cmocka_unit_test(test_the_kernel_has_the_functions_of_its_list),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
