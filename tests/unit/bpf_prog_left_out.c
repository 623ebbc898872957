// SPDX-License-Identifier: GPL-2.0
/* The line about BPF programs left out: util/target/bpf_prog_left_out.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>

#include "util/target/bpf_prog_left_out.h"

static void add(struct bpf_prog_left_out *left_out, const char *name, __u32 id, const char *why)
{
	assert_int_equal(bpf_prog_left_out__add(left_out, name, id, why), 0);
}

static void prints(struct bpf_prog_left_out *left_out, const char *expected)
{
	char *text = bpf_prog_left_out__text(left_out);

	if (expected)
		assert_string_equal(text, expected);
	else
		assert_null(text);
	free(text);
}

static void line_groups_programs_by_reason(void **state)
{
	struct bpf_prog_left_out left_out = {};

	(void)state;
	prints(&left_out, NULL);
	add(&left_out, "a", 1, "no BTF");
	add(&left_out, "b", 2, "interpreted");
	add(&left_out, "a", 3, "no BTF");
	add(&left_out, "c", 4, "no BTF");
	add(&left_out, "a", 5, "interpreted");
	prints(&left_out, "5 programs left out: 'a' (id 1 and 1 more), 'c' (id 4): no BTF; "
			  "'b' (id 2), 'a' (id 5): interpreted");
	bpf_prog_left_out__clear(&left_out);
	assert_int_equal(left_out.nr, 0);
}

static void line_has_number_of_further_names(void **state)
{
	static const char *const names[] = {"a", "b", "c", "d", "e", "f"};
	struct bpf_prog_left_out left_out = {};

	(void)state;
	for (int i = 0; i < 6; i++)
		add(&left_out, names[i], i + 1, "no BTF");
	prints(&left_out,
	       "6 programs left out: 'a' (id 1), 'b' (id 2), 'c' (id 3), 'd' (id 4) and 2 others: no BTF");
	bpf_prog_left_out__clear(&left_out);
}

static void each_name_and_reason_is_printed_once(void **state)
{
	struct bpf_prog_left_out left_out = {};

	(void)state;
	add(&left_out, "a", 1, "no BTF");
	/* Two words of a list name the same program. */
	add(&left_out, "a", 1, "no BTF");
	prints(&left_out, "1 program left out: 'a' (id 1): no BTF");
	prints(&left_out, NULL);
	add(&left_out, "a", 7, "no BTF");
	prints(&left_out, NULL);
	add(&left_out, "a", 8, "interpreted");
	prints(&left_out, "1 program left out: 'a' (id 8): interpreted");
	bpf_prog_left_out__clear(&left_out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(line_groups_programs_by_reason),
		cmocka_unit_test(line_has_number_of_further_names),
		cmocka_unit_test(each_name_and_reason_is_printed_once),
	};

	return cmocka_run_group_tests_name("bpf_prog_left_out", tests, NULL, NULL);
}
