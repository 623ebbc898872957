// SPDX-License-Identifier: GPL-2.0
/* The words of -b: util/target/bpf_prog_spec.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <string.h>

#include "util/lib/util.h"
#include "util/target/bpf_prog_spec.h"

static void each_kind_of_word_is_parsed(void **state)
{
	static const struct {
		const char *word;
		enum bpf_spec_kind kind;
		unsigned int id;
		const char *text;
	} cases[] = {
		{"42", BPF_SPEC_ID, 42, NULL},
		{"id:42", BPF_SPEC_ID, 42, NULL},
		{"4294967295", BPF_SPEC_ID, 4294967295U, NULL},
		{"name:foo", BPF_SPEC_NAME, 0, "foo"},
		{"name:7", BPF_SPEC_NAME, 0, "7"},
		{"name:a:b", BPF_SPEC_NAME, 0, "a:b"},
		{"pinned:/sys/fs/bpf/x", BPF_SPEC_PINNED, 0, "/sys/fs/bpf/x"},
		{"all", BPF_SPEC_ALL, 0, NULL},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct bpf_prog_spec spec;

		assert_int_equal(bpf_prog_spec__parse(cases[i].word, &spec), 0);
		assert_int_equal(spec.kind, cases[i].kind);
		assert_int_equal(spec.id, cases[i].id);
		if (cases[i].text)
			assert_string_equal(spec.text, cases[i].text);
	}
}

static void tag_has_sixteen_hex_digits(void **state)
{
	static const unsigned char tag[8] = {0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef};
	struct bpf_prog_spec spec;

	(void)state;
	assert_int_equal(bpf_prog_spec__parse("tag:0123456789abcdef", &spec), 0);
	assert_int_equal(spec.kind, BPF_SPEC_TAG);
	assert_memory_equal(spec.tag, tag, sizeof(tag));
	assert_int_equal(bpf_prog_spec__parse("tag:0123456789ABCDEF", &spec), 0);
	assert_memory_equal(spec.tag, tag, sizeof(tag));
}

static void invalid_words_are_refused(void **state)
{
	static const char *const words[] = {
		"",
		"0",
		"-1",
		"+1",
		" 1",
		"1 ",
		"1x",
		"0x10",
		"4294967296",
		"99999999999999999999",
		"foo",
		"id:",
		"id:x",
		"id:-1",
		"id:id:1",
		"name:",
		"tag:",
		"tag:0123456789abcde",
		"tag:0123456789abcdef0",
		"tag:0123456789abcdeg",
		"pinned:",
		"ALL",
		"all:",
		"prog:1",
		"id",
		"name",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		struct bpf_prog_spec spec;

		if (!bpf_prog_spec__parse(words[i], &spec))
			fail_msg("'%s' was accepted", words[i]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_kind_of_word_is_parsed),
		cmocka_unit_test(tag_has_sixteen_hex_digits),
		cmocka_unit_test(invalid_words_are_refused),
	};

	return cmocka_run_group_tests_name("bpf_prog", tests, NULL, NULL);
}
