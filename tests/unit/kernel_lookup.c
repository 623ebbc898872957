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
#include "util/symbol/kernel_names.h"
#include "util/symbol/place_table.h"
#include "util/symbol/symbol_table.h"

static void parse(struct symbol_table *table, uint64_t address, const char *answer)
{
	char *text __cleanup(free_ptr) = strdup(answer);

	assert_non_null(text);
	kernel_lookup__parse(table, address, text);
}

static void test_an_answer_has_a_function_its_range_and_its_module(void **state __unused)
{
	struct symbol_table table = {};
	const struct symbol *symbol;

	parse(&table, 0xffffffff81000110, "vfs_read+0x10/0x90");
	parse(&table, 0xffffffffc0000040, "ext4_read+0x0/0x40 [ext4]");
	parse(&table, 0xffffffffc0000140, "f<a+b>+0x40/0x50 [rust]");
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
		{"bpf_prog_6deef7357e7b453_on_switch", ""},
		{"bpf_prog_6deef7357e7b4530a", ""},
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
		"name+0x90/0x90",
		"_end+0x10/0x0",
	};
	struct symbol_table table = {};

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		parse(&table, 0xffffffff81000110, texts[i]);
	assert_int_equal(table.nr, 0);
	symbol_table__clear(&table);
}

/* A program that is loaded; skips where the kernel refuses any. */
static int load_program(void)
{
	static const struct bpf_insn insns[] = {
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0},
		{.code = BPF_JMP | BPF_EXIT},
	};
	int fd;

	capability__raise();
	fd = bpf_prog_load(BPF_PROG_TYPE_RAW_TRACEPOINT, "lookup_test", "GPL", insns,
			   ARRAY_SIZE(insns), NULL);
	capability__lower();
	if (fd < 0)
		skip(); /* no root, or a container */
	return fd;
}

static struct kernel_lookup *new_lookup(void)
{
	int fd __cleanup(close_fd) __unused = load_program();
	struct kernel_lookup *lookup = kernel_lookup__new();

	assert_non_null(lookup);
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

static const char *owner_of(const struct symbol_table *table, const struct symbol *symbol)
{
	return table->names + symbol->owner;
}

/* Return: whether the text of /proc/kallsyms has this name at the address where the symbol begins. */
static bool is_listed(const char *text, const struct symbol_table *table,
		      const struct symbol *symbol)
{
	char *address __cleanup(free_ptr) = xasprintf("\n%016lx ", (long)symbol->start);
	const char *name = symbol_table__name(table, symbol);

	assert_non_null(address);
	for (const char *at = text; (at = strstr(at, address)); at++) {
		const char *listed = at + strlen(address) + strlen("t ");

		if (!strncmp(listed, name, strlen(name)) && strchr("\t\n", listed[strlen(name)]))
			return true;
	}
	return false;
}

/*
 * An address can have several names, of which perf and the kernel choose one each (72 of 121,861 on 6.18 differ, of
 * system calls without arguments). So the kernel's must be a name of the same address.
 */
static void check_function(const char *list, const struct symbol_table *text,
			   const struct symbol_table *asked, uint64_t address)
{
	const struct symbol *ours = symbol_table__find(text, address);
	const struct symbol *kernels = symbol_table__find(asked, address);
	const char *name = symbol_table__name(text, ours);

	if (!kernels)
		fail_msg("%s: no answer", name);
	if (ours->start != kernels->start ||
	    strcmp(owner_of(text, ours), owner_of(asked, kernels)) != 0)
		fail_msg("%s: the answer is another function", name);
	if (strcmp(name, symbol_table__name(asked, kernels)) != 0 &&
	    !is_listed(list, asked, kernels))
		fail_msg("%s: the answer is %s", name, symbol_table__name(asked, kernels));
}

static void test_the_kernel_has_the_functions_of_its_list(void **state __unused)
{
	struct kernel_lookup *lookup = new_lookup();
	struct symbol_table text = {}, asked = {};
	uint64_t *addresses __cleanup(free_ptr) = NULL;
	char *list __cleanup(free_ptr) = NULL;
	bool is_hidden;
	int nr = 0;

	assert_return_code(kallsyms__read(&text, &is_hidden), 0);
	if (is_hidden)
		skip();
	list = read_file("/proc/kallsyms", NULL);
	assert_non_null(list);
	addresses = list_addresses(&text, &nr);
	assert_true(nr > 10000);
	assert_return_code(kernel_lookup__add(lookup, &asked, addresses, nr, 0), 0);
	symbol_table__sort(&asked);
	for (int i = 0; i < nr; i++)
		check_function(list, &text, &asked, addresses[i]);
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
	if (is_hidden)
		skip();
	assert_true(symbol < text.symbols + text.nr);
	for (size_t i = 0; i < ARRAY_SIZE(addresses); i++)
		addresses[i] = symbol->start + i;
	assert_return_code(kernel_lookup__add(lookup, &asked, addresses, ARRAY_SIZE(addresses), 0),
			   0);
	assert_int_equal(asked.nr, 1);
	kernel_lookup__delete(lookup);
	symbol_table__clear(&text);
	symbol_table__clear(&asked);
}

static void test_questions_end_after_their_time(void **state __unused)
{
	struct kernel_lookup *lookup = new_lookup();
	struct symbol_table text = {}, asked = {};
	uint64_t *addresses __cleanup(free_ptr) = NULL;
	bool is_hidden;
	int nr = 0;

	assert_return_code(kallsyms__read(&text, &is_hidden), 0);
	if (is_hidden)
		skip();
	addresses = list_addresses(&text, &nr);
	assert_int_equal(kernel_lookup__add(lookup, &asked, addresses, nr, 1), -ETIME);
	assert_true(asked.nr <= 1); /* one: the clock had not moved when it was asked */
	kernel_lookup__delete(lookup);
	symbol_table__clear(&text);
	symbol_table__clear(&asked);
}

/* Have some functions of the kernel looked for. Return: whether all of them have names. */
static bool resolve(struct kernel_names *names, const uint64_t *addresses, int nr)
{
	struct place_table places = {};
	int *numbers __cleanup(free_ptr) = calloc(nr, sizeof(*numbers));
	bool is_new, is_named = true;

	assert_non_null(numbers);
	for (int i = 0; i < nr; i++) {
		const struct place_key key = {.offset = addresses[i]};

		numbers[i] = place_table__add(&places, &key, &is_new);
		assert_return_code(numbers[i], 0);
	}
	assert_return_code(kernel_names__resolve(names, &places, numbers, nr), 0);
	for (int i = 0; i < nr; i++)
		is_named &= places.places[numbers[i]].function >= 0;
	place_table__clear(&places);
	return is_named;
}

static void test_the_list_is_read_when_questions_take_too_long(void **state __unused)
{
	struct kernel_names names = {};
	struct symbol_table text = {};
	uint64_t *addresses __cleanup(free_ptr) = NULL;
	bool is_hidden;
	int fd __cleanup(close_fd) __unused = load_program(), nr = 0;

	assert_return_code(kallsyms__read(&text, &is_hidden), 0);
	if (is_hidden)
		skip();
	addresses = list_addresses(&text, &nr);
	kernel_names__begin(&names, true);
	assert_true(resolve(&names, addresses, 100));
	assert_false(names.is_whole);
	names.ask_ns = 1;
	assert_true(resolve(&names, addresses + 1000, 100));
	assert_true(names.is_whole);
	kernel_names__clear(&names);
	/* A list that hides its addresses ends no questions. */
	names = (struct kernel_names){};
	kernel_names__begin(&names, true);
	names.is_whole = names.is_hidden = true;
	assert_true(resolve(&names, addresses, 100));
	assert_int_equal(names.nr_read_again, 0);
	kernel_names__clear(&names);
	symbol_table__clear(&text);
}

/* Return: the number in a file below /proc/sys/net/core. Some need CAP_SYS_ADMIN. */
static int setting(const char *name)
{
	char *path __cleanup(free_ptr) = xasprintf("/proc/sys/net/core/%s", name);
	char *text __cleanup(free_ptr) = NULL;

	assert_non_null(path);
	capability__raise();
	text = read_file(path, NULL);
	capability__lower();
	assert_non_null(text);
	return atoi(text);
}

static void test_a_program_that_is_loaded_is_one_of_bpf(void **state __unused)
{
	struct kernel_lookup *lookup = new_lookup();
	struct symbol_table asked = {};
	uint64_t *addresses __cleanup(free_ptr) = NULL;
	int fd __cleanup(close_fd) __unused = load_program(), nr;
	bool is_found = false;

	/* Else the kernel interprets programs, or does not list them. */
	if (setting("bpf_jit_enable") != 1 || setting("bpf_jit_harden") ||
	    !setting("bpf_jit_kallsyms"))
		skip();
	nr = bpf_code__functions(&addresses);
	assert_true(nr > 0);
	assert_return_code(kernel_lookup__add(lookup, &asked, addresses, nr, 0), 0);
	for (size_t i = 0; i < asked.nr; i++) {
		const char *name = symbol_table__name(&asked, &asked.symbols[i]);

		assert_string_equal(owner_of(&asked, &asked.symbols[i]), "[bpf]");
		is_found |= strlen(name) > 11 && !strcmp(name + strlen(name) - 11, "lookup_test");
	}
	assert_true(is_found);
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
		cmocka_unit_test(test_questions_end_after_their_time),
		cmocka_unit_test(test_the_list_is_read_when_questions_take_too_long),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
