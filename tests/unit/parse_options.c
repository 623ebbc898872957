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
#include "util/lib/msg.h"
#include "util/lib/parse_options.h"
#include "util/lib/util.h"

struct values {
	bool flag, negated;
	int count, number;
	unsigned int size;
	unsigned int bits;
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

static void forget_calls(void *ctx)
{
	((struct values *)ctx)->calls[0] = '\0';
}

#define AT(field) offsetof(struct values, field)

static const struct option_row rows[] = {
	{'f', "flag", OPT_FLAG, AT(flag), .help = "a flag"},
	{'i', "inherit", OPT_NEGATED, AT(negated), .help = "a negated one"},
	{'v', "verbose", OPT_COUNT, AT(count), .help = "more"},
	{'d', "delay", OPT_INT, AT(number), .arg = "ms", .help = "a number"},
	{0, "size", OPT_UINT, AT(size), .arg = "n", .help = "a size"},
	{'o', "output", OPT_STRING, AT(text), .arg = "file", .help = "a file"},
	{'e', "event", OPT_CALL, .call = on_call, .arg = "event", .help = "a call"},
	{0, "per-cache", OPT_CALL_OPT, .call = on_call, .cancel = forget_calls, .arg = "level",
	 .help = "a call, perhaps"},
	{'A', "all", OPT_CALL_NONE, .call = on_call, .help = "a call without"},
	{0, "all-user", OPT_FLAG, AT(flag), .help = NULL},
	{0, "per-core", OPT_BIT, AT(bits), .bit = 4, .help = "a bit"},
	{0, "no-aggr", OPT_BIT, AT(bits), .bit = 1, .help = "a bit that is called no"},
	{0, "no-flag", OPT_BIT, AT(bits), .bit = 2, .help = "its opposite has a row"},
	{},
};

#define MAX_ARGS 16

/* Parse blank-separated words; @said gets the messages, owned by the caller. */
static int parse(const char *line, struct values *values, char **said)
{
	static char copy[256]; /* strings of the result point into this */
	char *argv[MAX_ARGS] = {(char *)"perf stat"};
	struct said capture;
	int argc = 1, ret;

	snprintf(copy, sizeof(copy), "%s", line);
	for (char *word = strtok(copy, " "); word; word = strtok(NULL, " "))
		argv[argc++] = word;
	memset(values, 0, sizeof(*values));
	said__begin(&capture);
	ret = parse_options__parse(rows, "perf test", values, argc, argv);
	*said = said__end(&capture);
	return ret;
}

static void every_kind_of_option_is_parsed(void **state)
{
	static const struct {
		const char *line;
		int first;
		struct values values;
	} cases[] = {
		{"", 1, {}},
		{"-f -v -v -i", 5, {.flag = true, .count = 2, .negated = true}},
		{"-vv --no-verbose -v", 4, {.count = 1}},
		{"-fvvi", 2, {.flag = true, .count = 2, .negated = true}},
		{"--all-user --no-all-user", 3, {}},
		{"--flag --no-flag", 3, {.flag = true, .bits = 2}},
		{"--no-aggr --per-core --no-per-core", 4, {.bits = 1}},
		{"--no-aggr --per-core --aggr", 4, {.bits = 4}},
		{"--per-core --no-aggr --no-flag --aggr", 5, {.bits = 6}},
		{"-d 5 --size 7 --no-delay", 6, {.size = 7}},
		{"-d 5 --size 7 --no-size --no-delay -d 6", 9, {.number = 6}},
		{"-e a --per-cache --no-per-cache -e b", 7, {.calls = "b;"}},
		{"--no-inherit", 2, {.negated = true}},
		{"-i --inherit", 3, {}},
		{"-d -1 --size=7", 4, {.number = -1, .size = 7}},
		{"-d010", 2, {.number = 10}},
		{"-d 0x10", 3, {.number = 16}},
		{"--delay 5 -d6", 4, {.number = 6}},
		{"--verb --out x", 4, {.count = 1}},
		{"-e a -eb --event c --event=d", 7, {.calls = "a;b;c;d;"}},
		{"--per-cache --per-cache=L2 -A", 4, {.calls = "(none);L2;(none);"}},
		{"--per-cache L2", 2, {.calls = "(none);"}},
		/* an exact name is not ambiguous, even if another name starts with it */
		{"--all", 2, {.calls = "(none);"}},
		/* options after the command belong to the command */
		{"-f cmd -v --flag", 2, {.flag = true}},
		{"-f -- -v", 3, {.flag = true}},
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

static void last_string_wins(void **state)
{
	struct values got;
	char *said;

	(void)state;
	assert_int_equal(parse("-o a --output b", &got, &said), 5);
	assert_string_equal(got.text, "b");
	free(said);
	assert_int_equal(parse("-o a --no-output", &got, &said), 4);
	assert_null(got.text);
	free(said);
}

static void messages_name_the_bad_option(void **state)
{
	static const struct {
		const char *line, *message;
	} cases[] = {
		{"-x", "unknown switch `x'"},
		{"-fx", "unknown switch `x'"},
		{"--nothing", "unknown option `nothing'"},
		{"--evemt=3", "unknown option `evemt': did you mean --event?"},
		{"--no-event", "unknown option `no-event'"},
		{"--no-delay=3", "option `delay' takes no value"},
		{"--ver --al", "ambiguous option `al': --all or --all-user?"},
		{"--flag=1", "option `flag' takes no value"},
		{"--help=1", "--help takes no value"},
		{"-e", "switch `e' requires a value"},
		{"--event", "option `event' requires a value"},
		{"--delay x", "option `delay' expects a numerical value, not 'x'"},
		{"-d 1s", "switch `d' expects a numerical value, not '1s'"},
		{"-d 99999999999999999999", "switch `d': '99999999999999999999' is out of range"},
		{"-d 2147483648", "switch `d': '2147483648' is out of range"},
		{"--size -1", "option `size': '-1' is out of range"},
		{"--size 4294967296", "option `size': '4294967296' is out of range"},
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

static void refused_call_stops_parsing(void **state)
{
	struct values got;
	char *said;

	(void)state;
	assert_int_equal(parse("-e bad -e good", &got, &said), -OPTIONS_USAGE_STATUS);
	assert_string_equal(got.calls, "bad;");
	assert_string_equal(said,
			    "\n Usage: perf test\n\n    -e, --event <event>        a call\n\n");
	free(said);
}

static void help_prints_all_rows(void **state)
{
	struct values got;
	char *said;

	(void)state;
	assert_int_equal(parse("-h", &got, &said), -OPTIONS_USAGE_STATUS);
	assert_non_null(strstr(said, "\n    -i, --no-inherit           a negated one\n"));
	assert_non_null(strstr(said, "\n    --per-cache[=<level>]      a call, perhaps\n"));
	assert_null(strstr(said, "all-user")); /* has no help */
	free(said);
	assert_int_equal(parse("-f --help", &got, &said), -OPTIONS_USAGE_STATUS);
	assert_true(got.flag);
	free(said);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_kind_of_option_is_parsed),
		cmocka_unit_test(last_string_wins),
		cmocka_unit_test(messages_name_the_bad_option),
		cmocka_unit_test(refused_call_stops_parsing),
		cmocka_unit_test(help_prints_all_rows),
	};

	return cmocka_run_group_tests_name("options", tests, NULL, NULL);
}
