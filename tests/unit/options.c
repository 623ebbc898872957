// SPDX-License-Identifier: GPL-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "said.h"
#include "util/msg.h"
#include "util/options.h"
#include "util/util.h"

struct values {
	bool flag, negated;
	int count, number;
	unsigned int size;
	const char *text;
	char calls[64];
};

static int on_call(void *ctx, const char *arg)
{
	struct values *values = ctx;

	strcat(values->calls, arg ? arg : "(none)");
	strcat(values->calls, ";");
	return arg && !strcmp(arg, "bad") ? -EINVAL : 0;
}

#define AT(field) offsetof(struct values, field)

static const struct option_row rows[] = {
	{ 'f', "flag", OPT_FLAG, AT(flag), .help = "a flag" },
	{ 'i', "inherit", OPT_NEGATED, AT(negated), .help = "a negated one" },
	{ 'v', "verbose", OPT_COUNT, AT(count), .help = "more" },
	{ 'd', "delay", OPT_INT, AT(number), .arg = "ms", .help = "a number" },
	{ 0, "size", OPT_UINT, AT(size), .arg = "n", .help = "a size" },
	{ 'o', "output", OPT_STRING, AT(text), .arg = "file", .help = "a file" },
	{ 'e', "event", OPT_CALL, .call = on_call, .arg = "event", .help = "a call" },
	{ 0, "per-cache", OPT_CALL_OPT, .call = on_call, .arg = "level", .help = "a call, perhaps" },
	{ 'A', "all", OPT_CALL_NONE, .call = on_call, .help = "a call without" },
	{ 0, "all-user", OPT_FLAG, AT(flag), .help = NULL },
	{},
};

#define MAX_ARGS 16

/* Parse blank-separated words; @said receives what was written, owned by the caller. */
static int parse(const char *line, struct values *values, char **said)
{
	static char copy[256];	/* strings of the result point into it */
	char *argv[MAX_ARGS] = { (char *)"perf stat" };
	struct said capture;
	int argc = 1, ret;

	snprintf(copy, sizeof(copy), "%s", line);
	for (char *word = strtok(copy, " "); word; word = strtok(NULL, " "))
		argv[argc++] = word;
	memset(values, 0, sizeof(*values));
	said__begin(&capture);
	ret = options__parse(rows, "perf test", values, argc, argv);
	*said = said__end(&capture);
	return ret;
}

static void every_kind_is_read(void **state)
{
	static const struct {
		const char *line;
		int first;
		struct values values;
	} cases[] = {
		{ "", 1, {} },
		{ "-f -v -v -i", 5, { .flag = true, .count = 2, .negated = true } },
		{ "-vv --no-verbose -v", 4, { .count = 1 } },
		{ "-fvvi", 2, { .flag = true, .count = 2, .negated = true } },
		{ "--flag --no-flag", 3, {} },
		{ "--no-inherit", 2, { .negated = true } },
		{ "-i --inherit", 3, {} },
		{ "-d -1 --size=7", 4, { .number = -1, .size = 7 } },
		{ "-d010", 2, { .number = 10 } },
		{ "-d 0x10", 3, { .number = 16 } },
		{ "--delay 5 -d6", 4, { .number = 6 } },
		{ "--verb --out x", 4, { .count = 1 } },
		{ "-e a -eb --event c --event=d", 7, { .calls = "a;b;c;d;" } },
		{ "--per-cache --per-cache=L2 -A", 4, { .calls = "(none);L2;(none);" } },
		{ "--per-cache L2", 2, { .calls = "(none);" } },
		/* an exact name is not ambiguous though it starts another */
		{ "--all", 2, { .calls = "(none);" } },
		/* the command's own options are its own */
		{ "-f cmd -v --flag", 2, { .flag = true } },
		{ "-f -- -v", 3, { .flag = true } },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct values got;
		char *said;
		int first = parse(cases[i].line, &got, &said);

		if (first != cases[i].first || *said)
			fail_msg("'%s': %d %s", cases[i].line, first, said);
		got.text = NULL;
		if (memcmp(&got, &cases[i].values, offsetof(struct values, text)) ||
		    strcmp(got.calls, cases[i].values.calls))
			fail_msg("'%s': other values", cases[i].line);
		free(said);
	}
}

static void strings_are_the_last_ones_given(void **state)
{
	struct values got;
	char *said;

	(void)state;
	assert_int_equal(parse("-o a --output b", &got, &said), 5);
	assert_string_equal(got.text, "b");
	free(said);
}

static void mistakes_are_named(void **state)
{
	static const struct {
		const char *line, *message;
	} cases[] = {
		{ "-x", "unknown switch `x'" },
		{ "-fx", "unknown switch `x'" },
		{ "--nothing", "unknown option `nothing'" },
		{ "--evemt=3", "unknown option `evemt': did you mean --event?" },
		{ "--no-output", "unknown option `no-output': did you mean --output?" },
		{ "--ver --al", "ambiguous option `al': --all or --all-user?" },
		{ "--flag=1", "option `flag' takes no value" },
		{ "--help=1", "--help takes no value" },
		{ "-e", "switch `e' requires a value" },
		{ "--event", "option `event' requires a value" },
		{ "--delay x", "option `delay' expects a numerical value, not 'x'" },
		{ "-d 1s", "switch `d' expects a numerical value, not '1s'" },
		{ "-d 99999999999999999999", "switch `d': '99999999999999999999' is out of range" },
		{ "-d 2147483648", "switch `d': '2147483648' is out of range" },
		{ "--size -1", "option `size': '-1' is out of range" },
		{ "--size 4294967296", "option `size': '4294967296' is out of range" },
	};

	(void)state;
	msg__init("perf");
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct values got;
		char *said, *end;
		int ret = parse(cases[i].line, &got, &said);

		assert_int_equal(ret, -OPTIONS_USAGE_STATUS);
		assert_memory_equal(said, "perf: ", 6);
		end = strchr(said, '\n');
		if (!end)
			fail_msg("'%s': says '%s'", cases[i].line, said);
		assert_memory_equal(end, "\n\n Usage: perf test\n", 20);
		*end = '\0';
		assert_string_equal(said + 6, cases[i].message);
		free(said);
	}
}

static void a_call_that_refuses_ends_it(void **state)
{
	struct values got;
	char *said;

	(void)state;
	assert_int_equal(parse("-e bad -e good", &got, &said), -OPTIONS_USAGE_STATUS);
	assert_string_equal(got.calls, "bad;");
	assert_string_equal(said, "\n Usage: perf test\n\n    -e, --event <event>        a call\n\n");
	free(said);
}

static void help_shows_the_rows(void **state)
{
	struct values got;
	char *said;

	(void)state;
	assert_int_equal(parse("-h", &got, &said), -OPTIONS_USAGE_STATUS);
	assert_non_null(strstr(said, "\n    -i, --no-inherit           a negated one\n"));
	assert_non_null(strstr(said, "\n    --per-cache[=<level>]      a call, perhaps\n"));
	assert_null(strstr(said, "all-user"));	/* has no help */
	free(said);
	assert_int_equal(parse("-f --help", &got, &said), -OPTIONS_USAGE_STATUS);
	assert_true(got.flag);
	free(said);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_kind_is_read),
		cmocka_unit_test(strings_are_the_last_ones_given),
		cmocka_unit_test(mistakes_are_named),
		cmocka_unit_test(a_call_that_refuses_ends_it),
		cmocka_unit_test(help_shows_the_rows),
	};

	return cmocka_run_group_tests_name("options", tests, NULL, NULL);
}
