// SPDX-License-Identifier: GPL-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "util/lib/key_input.h"
#include "util/lib/util.h"

/* Type a text that arrives at once. Return: the last answer that is not KEY_NONE. */
static int type(struct key_input *input, const char *text)
{
	int last = KEY_NONE;

	for (size_t i = 0; text[i]; i++) {
		int key = key_input__take(input, text[i], !text[i + 1]);

		last = key ? key : last;
	}
	return last;
}

static void test_a_byte_is_a_key(void **state __unused)
{
	struct key_input input = {};

	assert_int_equal(type(&input, "q"), 'q');
	assert_int_equal(type(&input, "\n"), '\n');
	assert_int_equal(type(&input, "\033"), '\033');
}

static void test_sequences_of_cursor_and_function_keys_are_no_keys(void **state __unused)
{
	static const char *const sequences[] = {"\033[A", "\033OP", "\033[15~", "\033[1;5D",
						"\033x"};
	struct key_input input = {};

	for (size_t i = 0; i < ARRAY_SIZE(sequences); i++) {
		assert_int_equal(type(&input, sequences[i]), KEY_NONE);
		assert_int_equal(type(&input, "q"), 'q');
	}
	/* The rest of a sequence may come later. */
	assert_int_equal(key_input__take(&input, '\033', false), KEY_NONE);
	assert_int_equal(type(&input, "[1"), KEY_NONE);
	assert_int_equal(type(&input, "5~"), KEY_NONE);
	assert_int_equal(type(&input, "q"), 'q');
}

static void test_a_line_can_be_changed_until_enter(void **state __unused)
{
	struct key_input input = {};

	key_input__ask(&input, "old");
	assert_int_equal(type(&input, "x\177\177d!\x01"), KEY_NONE);
	assert_string_equal(input.line, "old!");
	assert_int_equal(type(&input, "\033[D"), KEY_NONE);
	assert_int_equal(type(&input, "\025n\xc3\xa4\xe2\x82\xac\177\177ew\n"), KEY_ENTERED);
	assert_string_equal(input.line, "new");
	assert_int_equal(type(&input, "q"), 'q');
}

static void test_esc_cancels_a_line(void **state __unused)
{
	struct key_input input = {};

	key_input__ask(&input, "");
	assert_int_equal(type(&input, "\177\177ab"), KEY_NONE);
	assert_int_equal(type(&input, "\033"), KEY_CANCELLED);
	assert_int_equal(type(&input, "q"), 'q');
}

static void test_a_line_has_an_end(void **state __unused)
{
	struct key_input input = {};
	char text[200];

	memset(text, 'a', sizeof(text));
	text[sizeof(text) - 1] = '\0';
	key_input__ask(&input, text);
	assert_int_equal(strlen(input.line), sizeof(input.line) - 1);
	type(&input, text);
	assert_int_equal(strlen(input.line), sizeof(input.line) - 1);
	assert_int_equal(type(&input, "\177\177b\r"), KEY_ENTERED);
	assert_int_equal(strlen(input.line), sizeof(input.line) - 2);
	assert_int_equal(input.line[sizeof(input.line) - 3], 'b');
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_byte_is_a_key),
		cmocka_unit_test(test_sequences_of_cursor_and_function_keys_are_no_keys),
		cmocka_unit_test(test_a_line_can_be_changed_until_enter),
		cmocka_unit_test(test_esc_cancels_a_line),
		cmocka_unit_test(test_a_line_has_an_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
