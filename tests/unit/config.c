// SPDX-License-Identifier: GPL-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "said.h"
#include "util/host/config.h"
#include "util/lib/msg.h"
#include "util/lib/util.h"

static char dir[] = "/tmp/perf-config-XXXXXX";

/* Write a file in the test's directory. Return: its path, owned by the caller. */
static char *write_file(const char *name, const char *text, size_t len)
{
	char *path = xasprintf("%s/%s", dir, name);
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	assert_int_equal(fwrite(text, 1, len, file), len);
	assert_int_equal(fclose(file), 0);
	return path;
}

static int parse_text(struct config *config, const char *text)
{
	char *path = write_file("file", text, strlen(text));
	int err = config__parse(config, path);

	unlink(path);
	free(path);
	return err;
}

static void values_are_set(void **state)
{
	struct config config = {};

	(void)state;
	assert_int_equal(
		parse_text(&config,
			   "# comment\n"
			   "[stat]\n"
			   "\tbig-num = false ; another\n"
			   "  no-csv-summary\n"
			   "\tbpf-counter-events = cycles, \"cpu/event=1,umask=2/\"\t # last\n"
			   "[BPERF] Attr-Map=/sys/fs/bpf/some\\\nwhere\r\n"
			   "trusted-owners = root, 12345"),
		0);
	assert_true(config.no_big_num);
	assert_true(config.no_csv_summary);
	assert_string_equal(config.bpf_counter_events, "cycles, cpu/event=1,umask=2/");
	assert_string_equal(config.attr_map, "/sys/fs/bpf/somewhere");
	assert_int_equal(config.trusted[0], 0);
	assert_int_equal(config.trusted[1], 12345);
	assert_true(config.trusted[2] == (uid_t)-1);
	config__clear(&config);
}

static void the_last_value_wins(void **state)
{
	struct config config = {};

	(void)state;
	assert_int_equal(parse_text(&config,
				    "[stat]\nbig-num=no\nbig-num=yes\n[bperf]\nattr-map=/a\n"
				    "attr-map=/b\ntrusted-owners=1\ntrusted-owners=2\n"),
			 0);
	assert_false(config.no_big_num);
	assert_string_equal(config.attr_map, "/b");
	assert_int_equal(config.trusted[0], 2);
	assert_true(config.trusted[1] == (uid_t)-1);
	config__clear(&config);
}

static void booleans_have_several_spellings(void **state)
{
	static const struct {
		const char *text;
		bool is_on;
	} rows[] = {
		{"true", true},	  {"YES", true}, {"on", true},	 {"1", true},  {"-3", true},
		{"false", false}, {"No", false}, {"off", false}, {"0", false}, {"", false},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		char *text = xasprintf("[stat]\nno-csv-summary = %s\n", rows[i].text);
		struct config config = {};

		assert_int_equal(parse_text(&config, text), 0);
		assert_int_equal(config.no_csv_summary, rows[i].is_on);
		config__clear(&config);
		free(text);
	}
}

static void foreign_keys_are_ignored(void **state)
{
	struct config config = {};
	struct said said;
	char *text;

	(void)state;
	said__begin(&said);
	assert_int_equal(
		parse_text(&config,
			   "[colors]\n\ttop = red, default\n[annotate]\n\thide_src_code = false\n"
			   "[call-graph]\n\trecord-mode = fp\n[stat]\n\tunknown = 1\n"
			   "[stat \"more\"]\n\tno-csv-summary = true\n[buildid.x]\n\tdir = ~\n"),
		0);
	text = said__end(&said);
	assert_string_equal(text, "");
	assert_false(config.no_csv_summary);
	config__clear(&config);
	free(text);
}

static void faulty_lines_are_ignored_and_named(void **state)
{
	static const struct {
		const char *text, *said;
	} rows[] = {
		{"\n[stat\n", "2: not a section as in [stat]"},
		{"[]\n", "1: not a section as in [stat]"},
		{"[stat \"x]\n", "1: not a section as in [stat]"},
		{"big-num = 1\n", "1: a key before any [section]"},
		{"[stat]\n\n=3\n", "3: neither a [section] nor a KEY = VALUE"},
		{"[stat]\nbig num = 1\n", "2: neither a [section] nor a KEY = VALUE"},
		{"[stat]\nbig-num = perhaps\n",
		 "2: 'stat.big-num' is true or false, not 'perhaps'"},
		{"[stat]\nbpf-counter-events\n", "2: 'stat.bpf-counter-events' needs a value"},
		{"[stat]\nx = \"open\n", "2: a quote is not closed"},
		{"[stat]\nx = a\\\nb\\q\n",
		 "3: after a backslash: only one of t b n \" \\ or the line's end"},
		{"[bperf]\n# why\nattrmap = /x\n", "3: there is no key 'bperf.attrmap'"},
		{"[bperf]\ntrusted-owners\n", "2: 'bperf.trusted-owners' needs a value"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		char *expected =
			xasprintf("test: %s/file:%s: the line is ignored\n", dir, rows[i].said);
		char *text;
		struct config config = {};
		struct said said;

		said__begin(&said);
		assert_int_equal(parse_text(&config, rows[i].text), 0);
		text = said__end(&said);
		assert_string_equal(text, expected);
		config__clear(&config);
		free(text);
		free(expected);
	}
}

static void lines_beside_faulty_ones_hold(void **state)
{
	struct config config = {};
	struct said said;

	(void)state;
	said__begin(&said);
	assert_int_equal(parse_text(&config,
				    "[stat]\nno-csv-summary\n!\nbig-num = perhaps\nbig-num = no\n"
				    "x = \\q\n[bperf\nattr-map = /lost\n[stat]\n"
				    "bpf-counter-events = cs\n"),
			 0);
	free(said__end(&said));
	assert_true(config.no_csv_summary);
	assert_true(config.no_big_num);
	assert_null(config.attr_map);
	assert_string_equal(config.bpf_counter_events, "cs");
	config__clear(&config);
}

static void many_faulty_lines_are_summed_up(void **state)
{
	char text[2 * 15 + 1] = "", *all, *line;
	struct config config = {};
	struct said said;
	int nr = 0;

	(void)state;
	for (int i = 0; i < 15; i++)
		strcat(text, "!\n");
	said__begin(&said);
	assert_int_equal(parse_text(&config, text), 0);
	all = said__end(&said);
	for (line = all; (line = strstr(line, ": the line is ignored\n")); line++)
		nr++;
	assert_int_equal(nr, 10);
	assert_non_null(strstr(all, "/file: 5 more faulty lines are ignored\n"));
	free(all);
	config__clear(&config);
}

static void unknown_users_are_not_trusted(void **state)
{
	char *expected = xasprintf("test: %s/file:2: there is no user 'no-such-user'\n", dir),
	     *text;
	struct config config = {};
	struct said said;

	(void)state;
	said__begin(&said);
	assert_int_equal(parse_text(&config, "[bperf]\ntrusted-owners = no-such-user 7\n"), 0);
	text = said__end(&said);
	assert_string_equal(text, expected);
	assert_int_equal(config.trusted[0], 7);
	assert_true(config.trusted[1] == (uid_t)-1);
	config__clear(&config);
	free(text);
	free(expected);
}

static void binary_files_are_refused(void **state)
{
	static const char zero[] = "[stat]\0\nbig-num = 0\n";
	char *path = write_file("zero", zero, sizeof(zero) - 1), *text;
	struct config config = {};
	struct said said;

	(void)state;
	said__begin(&said);
	assert_int_equal(config__parse(&config, path), 0);
	assert_int_equal(config__parse(&config, dir), 0);
	text = said__end(&said);
	assert_non_null(strstr(text, "/zero: not a text file (NUL byte): the file is ignored\n"));
	assert_non_null(strstr(text, ": Is a directory: the file is ignored\n"));
	free(text);
	unlink(path);
	free(path);
	/* A missing file is not an error. */
	assert_int_equal(config__parse(&config, "/no/such/file"), 0);
}

static void environment_and_home_name_the_files(void **state)
{
	static const char mine[] = "[bperf]\nattr-map = /home\n",
			  other[] = "[bperf]\nattr-map = /other\n";
	char *home = write_file(".perfconfig", mine, sizeof(mine) - 1);
	char *only = write_file("only", other, sizeof(other) - 1), *text;
	struct config config;
	struct said said;

	(void)state;
	unsetenv("PERF_CONFIG");
	setenv("HOME", dir, 1);
	assert_int_equal(config__load(&config), 0);
	assert_string_equal(config.attr_map, "/home");
	config__clear(&config);
	setenv("PERF_CONFIG", only, 1);
	assert_int_equal(config__load(&config), 0);
	assert_string_equal(config.attr_map, "/other");
	config__clear(&config);
	setenv("PERF_CONFIG", "/no/such/file", 1);
	said__begin(&said);
	assert_int_equal(config__load(&config), 0);
	text = said__end(&said);
	assert_string_equal(
		text,
		"test: /no/such/file, named by PERF_CONFIG: No such file or directory: no file is read\n");
	config__clear(&config);
	free(text);
	unsetenv("PERF_CONFIG");
	/* perf ignores another user's file; only root can make one here. */
	if (!geteuid()) {
		assert_int_equal(chown(home, 65534, 65534), 0);
		said__begin(&said);
		assert_int_equal(config__load(&config), 0);
		text = said__end(&said);
		assert_non_null(strstr(
			text, "is ignored: it belongs to user 65534, neither root nor you\n"));
		assert_null(config.attr_map);
		config__clear(&config);
		free(text);
	}
	unlink(home);
	unlink(only);
	free(home);
	free(only);
}

static void lists_contain_whole_names(void **state)
{
	(void)state;
	assert_false(config__shares(NULL, "cycles"));
	assert_true(config__shares("cycles", "cycles"));
	assert_true(config__shares("ref-cycles,cycles", "cycles"));
	assert_true(config__shares("instructions, cycles ,cs", "cycles"));
	assert_false(config__shares("ref-cycles,cycles:u", "cycles"));
	assert_true(config__shares("ref-cycles,cycles:u", "cycles:u"));
	assert_true(config__shares("cs,cpu/event=1,umask=2/,x", "cpu/event=1,umask=2/"));
	assert_false(config__shares("", "cycles"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_are_set),
		cmocka_unit_test(the_last_value_wins),
		cmocka_unit_test(booleans_have_several_spellings),
		cmocka_unit_test(foreign_keys_are_ignored),
		cmocka_unit_test(faulty_lines_are_ignored_and_named),
		cmocka_unit_test(lines_beside_faulty_ones_hold),
		cmocka_unit_test(many_faulty_lines_are_summed_up),
		cmocka_unit_test(unknown_users_are_not_trusted),
		cmocka_unit_test(binary_files_are_refused),
		cmocka_unit_test(environment_and_home_name_the_files),
		cmocka_unit_test(lists_contain_whole_names),
	};
	int status;

	msg__init("test");
	if (!mkdtemp(dir))
		return 1;
	status = cmocka_run_group_tests(tests, NULL, NULL);
	rmdir(dir);
	return status;
}
