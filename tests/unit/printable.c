// SPDX-License-Identifier: GPL-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <json-c/json.h>
#include <locale.h>
#include <string.h>
#include <wchar.h>
#include <wctype.h>

#include "said.h"
#include "util/lib/json_string.h"
#include "util/lib/msg.h"
#include "util/lib/printable.h"
#include "util/lib/util.h"

static const struct {
	const char *text, *escaped;
} texts[] = {
	{"", ""},
	{"cpu/config=1,x/u 'a\" \\x2d", "cpu/config=1,x/u 'a\" \\x2d"},
	{"x\n999,,cs,1", "x\\n999,,cs,1"},
	{"\a\b\t\n\v\f\r", "\\a\\b\\t\\n\\v\\f\\r"},
	{"\033[31m\001\016\037\177~", "\\033[31m\\001\\016\\037\\177~"},
	{"\xc2\x80\xc2\x9b\xc2\x9f\xc2\xa0", "\\302\\200\\302\\233\\302\\237\xc2\xa0"},
	{"\xd8\x9c", "\\330\\234"},			     /* U+061C */
	{"\xe2\x80\x8d\xe2\x80\x8e\xe2\x80\x8f\xe2\x80\x90", /* U+200D to 2010 */
	 "\xe2\x80\x8d\\342\\200\\216\\342\\200\\217\xe2\x80\x90"},
	{"\xe2\x80\xa7\xe2\x80\xa8\xe2\x80\xae\xe2\x80\xaf", /* U+2027, 28, 2E, 2F */
	 "\xe2\x80\xa7\\342\\200\\250\\342\\200\\256\xe2\x80\xaf"},
	{"\xe2\x81\xa5\xe2\x81\xa6\xe2\x81\xa9\xe2\x81\xaa", /* U+2065 to 206A */
	 "\xe2\x81\xa5\\342\\201\\246\\342\\201\\251\xe2\x81\xaa"},
	{"\xc3\xa9\xe4\xb8\xad\xf0\x9f\x90\xa7", "\xc3\xa9\xe4\xb8\xad\xf0\x9f\x90\xa7"},
	{"\x80\xbf\xff\xfe", "\\200\\277\\377\\376"}, /* no first bytes */
	{"\xc0\x8a\xc1\xbf", "\\300\\212\\301\\277"}, /* overlong */
	{"\xe0\x80\x8a\xe0\x9f\xbf", "\\340\\200\\212\\340\\237\\277"},
	{"\xf0\x80\x80\x8a\xf0\x8f\xbf\xbf", "\\360\\200\\200\\212\\360\\217\\277\\277"},
	{"\xed\x9f\xbf\xed\xa0\x80\xed\xbf\xbf", "\xed\x9f\xbf\\355\\240\\200\\355\\277\\277"},
	{"\xf4\x8f\xbf\xbf\xf4\x90\x80\x80\xf5", "\xf4\x8f\xbf\xbf\\364\\220\\200\\200\\365"},
	{"a\xe4\xb8", "a\\344\\270"}, /* cut short */
	{"\xe4\n\xb8\xad", "\\344\\n\\270\\255"},
};

static void texts_are_escaped(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		char *escaped = printable__text(texts[i].text, NULL), *again;

		assert_string_equal(escaped, texts[i].escaped);
		assert_int_equal(printable__len(texts[i].text), strlen(escaped));
		again = printable__text(escaped, NULL);
		assert_string_equal(again, escaped);
		free(escaped);
		free(again);
	}
}

/* Judge a text by the C library instead of our tables. It accepts codes that Unicode lacks. */
static bool is_harmless(const char *text)
{
	mbstate_t mb = {};
	wchar_t c;

	for (size_t len; *text; text += len) {
		len = mbrtowc(&c, text, strlen(text), &mb);
		if (len > 4 || c > 0x10ffff || iswcntrl(c) ||
		    wcschr(L"\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069",
			   c))
			return false;
	}
	return true;
}

static void any_bytes_become_printable(void **state)
{
	static const char bytes[] =
		"\001\n\033,\"\\Aa\177\x80\x8a\x8e\x90\x9b\x9c\x9f\xa0\xa6\xae\xbf\xc0"
		"\xc2\xc3\xd8\xdf\xe0\xe2\xe4\xed\xef\xf0\xf1\xf4\xf5\xff";
	uint32_t seed = 1;

	(void)state;
	if (!setlocale(LC_CTYPE, "C.UTF-8"))
		skip();
	for (int i = 0; i < 200000; i++) {
		char text[8] = "", *escaped;

		for (int j = 0; j < 7; j++) {
			seed = seed * 1664525 + 1013904223;
			text[j] = bytes[(seed >> 16) % (sizeof(bytes) - 1)];
		}
		escaped = printable__text(text, NULL);
		if (!is_harmless(escaped) || (is_harmless(text) && strcmp(text, escaped)))
			fail_msg("escaped: %s", escaped);
		free(escaped);
	}
	setlocale(LC_CTYPE, "C");
}

static const struct {
	int width;
	const char *text, *printed;
} aligned[] = {
	{0, "a\n", "a\\n"},
	{6, "a\n", "   a\\n"},
	{-6, "a\033", "a\\033 "},
	{-2, "abc", "abc"},
};

static const struct {
	const char *sep, *text, *field;
} fields[] = {
	{",", "page-faults", "page-faults"},
	{",", "cpu/a,b/", "\"cpu/a,b/\""},
	{";", "cpu/a,b/", "cpu/a,b/"},
	{",", "x\n999,,cs,1", "\"x\\n999,,cs,1\""},
	{",", "say \"hi\"", "\"say \"\"hi\"\"\""},
	{"\t", "a\tb", "a\\tb"},
	{"::", "sched:sched_switch", "sched:sched_switch"},
	{"::", "a::b", "\"a::b\""},
	{"::", "a:", "\"a:\""},
	{"", "a", "a"},
};

static void fields_are_aligned_and_quoted(void **state)
{
	char buf[64];
	FILE *out;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(aligned); i++) {
		out = fmemopen(buf, sizeof(buf), "w");
		printable__put(out, aligned[i].width, aligned[i].text);
		fclose(out);
		assert_string_equal(buf, aligned[i].printed);
	}
	for (size_t i = 0; i < ARRAY_SIZE(fields); i++) {
		out = fmemopen(buf, sizeof(buf), "w");
		printable__put_csv(out, fields[i].text, fields[i].sep);
		fclose(out);
		assert_string_equal(buf, fields[i].field);
	}
}

static void json_strings_are_escaped(void **state)
{
	struct json_object *object = json_object_new_object();
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	(void)state;
	json_string__print(out, "\033\177\xc2\x9b\xe2\x80\xae\xd8\x9c\xc3\xa9\xed\xa0\x80\n\"/");
	fputc('\n', out);
	json_object_object_add(object, "a\xff", json_object_new_string("b\xc2\x85"));
	json_string__print_all(out,
			       json_object_to_json_string_ext(object, JSON_C_TO_STRING_PRETTY));
	fclose(out);
	json_object_put(object);
	assert_string_equal(text, "\"\\u001b\\u007f\\u009b\\u202e\\u061c\xc3\xa9"
				  "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\\n\\\"/\"\n"
				  "{\n  \"a\xef\xbf\xbd\":\"b\\u0085\"\n}");
	free(text);
}

static void messages_escape_only_arguments(void **state)
{
	const char *name = "x\nperf: '\t\033";
	struct said capture;
	char *said;

	(void)state;
	msg__init("perf test");
	said__begin(&capture);
	pr_err("'%s':\n\tone\n%d", name, 2);
	pr_text("%s %s\n", name, "\n");
	pr_lines("a\n\tb\033\n");
	said = said__end(&capture);
	assert_string_equal(said, "perf test: 'x\\nperf: '\\t\\033':\n\tone\n2\n"
				  "x\\nperf: '\\t\\033 \\n\n"
				  "a\n\tb\\033\n");
	free(said);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(texts_are_escaped),
		cmocka_unit_test(any_bytes_become_printable),
		cmocka_unit_test(fields_are_aligned_and_quoted),
		cmocka_unit_test(json_strings_are_escaped),
		cmocka_unit_test(messages_escape_only_arguments),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
