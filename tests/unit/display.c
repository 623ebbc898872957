// SPDX-License-Identifier: GPL-2.0
/* Output formats: util/report/display*.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <locale.h>

#include "stat_data.h"

static char *const true_argv[] = {(char *)"true", NULL};
static const struct target workload = {.argv = true_argv, .argc = 1};
static const struct target whole = {.system_wide = true};
static const struct stat_times times = {1031719, 0, 1136000};

/* A description, the events, the output format, and the complete expected text. */
struct format_case {
	const char *name;
	struct event events[4];
	struct stat_config config;
	const char *text;
};

#define GLOBAL(runs)                                                                               \
	.options.aggr_mode = AGGR_GLOBAL, .options.run_count = (runs), .env.target = &workload
#define CSV .options.csv_sep = ","
#define FOOTER                                                                                     \
	"\n       0.001031719 seconds time elapsed\n\n"                                            \
	"       0.000000000 seconds user\n       0.001136000 seconds sys\n\n\n"
#define HEADER	  "\n Performance counter stats for 'true':\n\n"
#define NO_METRIC "                                      "

static const struct format_case cases[] = {
	{
		"a plain table has header, rows and footer",
		{{"page-faults", SW(PAGE_FAULTS), .values = {{49, 100, 100}}},
		 {"cycles", HW(CPU_CYCLES), .state = EVSEL_NOT_SUPPORTED},
		 {"dummy", SW(DUMMY), .values = {{0, 5, 0}}}},
		{GLOBAL(1)},
		HEADER "                49      page-faults                     " NO_METRIC "\n"
		       "   <not supported>      cycles                          " NO_METRIC "\n"
		       "     <not counted>      dummy                           " NO_METRIC
		       "  (0.00%)\n" FOOTER,
	},
	{
		"a long unit widens its column",
		{{"power/energy-pkg/", RAW, .values = {{3, 9, 9}}, .unit = "Joules", .scale = 0.01},
		 {"cs", SW(CONTEXT_SWITCHES), .values = {{73, 9, 9}}}},
		{GLOBAL(1)},
		HEADER "              0.03 Joules power/energy-pkg/               " NO_METRIC "\n"
		       "                73        cs                              " NO_METRIC
		       "\n" FOOTER,
	},
	{
		"classic ratios stand in the metric column",
		{{"cycles", HW(CPU_CYCLES), .values = {{643194, 650000, 650000}}},
		 {"instructions", HW(INSTRUCTIONS), .values = {{321597, 650000, 650000}}},
		 {"task-clock", SW(TASK_CLOCK), .values = {{650000, 650000, 650000}}},
		 {"page-faults", SW(PAGE_FAULTS), .values = {{33, 650000, 650000}}}},
		{GLOBAL(1)},
		HEADER
		"            643194      cycles                           #    0.990 GHz                       \n"
		"            321597      instructions                     #    0.50  insn per cycle            \n"
		"              0.65 msec task-clock                       #    0.630 CPUs utilized             \n"
		"                33      page-faults                      #   50.769 K/sec                     \n" FOOTER,
	},
	{
		"classic ratios can be omitted",
		{{"task-clock", SW(TASK_CLOCK), .values = {{490000, 487837, 487837}}}},
		{GLOBAL(1), CSV, .options.no_metrics = true},
		"0.49,msec,task-clock,487837,100.00,,\n",
	},
	{
		"CSV has all fields in every state of a row",
		{{"cycles", HW(CPU_CYCLES), .state = EVSEL_NOT_SUPPORTED},
		 {"cycles", HW(CPU_CYCLES), .values = {{323684, 424476, 326834}}},
		 {"page-faults", SW(PAGE_FAULTS), .values = {{48, 394168, 394168}}},
		 {"cs", SW(CONTEXT_SWITCHES), NULL, .values = {{0}}}},
		{GLOBAL(1), CSV},
		"<not supported>,,cycles,0,100.00,,\n"
		"420384,,cycles,326834,76.00,,\n"
		"48,,page-faults,394168,100.00,,\n"
		"<not counted>,,cs,0,100.00,,\n",
	},
	{
		"a CSV separator may be any string; cgroups and repeats add fields",
		{{"cycles", HW(CPU_CYCLES), .values = {{34697612, 351, 351}}, .cgroup = "a"},
		 {"cs", SW(CONTEXT_SWITCHES), .values = {{7, 351, 351}}}},
		{GLOBAL(3), .options.csv_sep = "::"},
		"34697612::::cycles::a::0.00%::351::100.00::::\n"
		"7::::cs::::0.00%::351::100.00::::\n",
	},
	{
		"CSV fields with the separator or a quotation mark are quoted",
		{{"cpu/a=1,b=2/", RAW, .values = {{1, 9, 9}}, .cgroup = "a\n7,,cs\""},
		 {"task-clock", SW(TASK_CLOCK), .values = {{490000, 487837, 487837}},
		  .cgroup = "b c"}},
		{GLOBAL(1), CSV},
		"1,,\"cpu/a=1,b=2/\",\"a\\n7,,cs\"\"\",9,100.00,,\n"
		"0.49,msec,task-clock,b c,487837,100.00,0.475,CPUs utilized\n",
	},
	{
		"with blanks as separators, names of metrics have no quotes",
		{{"task-clock", SW(TASK_CLOCK), .values = {{490000, 487837, 487837}},
		  .cgroup = "b c"}},
		{GLOBAL(1), .options.csv_sep = " "},
		"0.49 msec task-clock \"b c\" 487837 100.00 0.475 CPUs utilized\n",
	},
	{
		"a column is as wide as the escaped name",
		{{"a\033", RAW, .values = {{1, 9, 9}}, .cgroup = "b\302\233"}},
		{GLOBAL(1)},
		HEADER
		"                 1      a\\033                            b\\302\\233       " NO_METRIC
		"\n" FOOTER,
	},
	{
		"JSON members have a fixed order",
		{{"page-faults", SW(PAGE_FAULTS), .values = {{50, 480396, 480396}}},
		 {"cycles", HW(CPU_CYCLES), .state = EVSEL_NOT_SUPPORTED}},
		{GLOBAL(1), .options.json = true},
		"{\"counter-value\" : \"50.000000\", \"unit\" : \"\", \"event\" : \"page-faults\", "
		"\"event-runtime\" : 480396, \"pcnt-running\" : 100.00}\n"
		"{\"counter-value\" : \"<not supported>\", \"unit\" : \"\", \"event\" : \"cycles\", "
		"\"event-runtime\" : 0, \"pcnt-running\" : 100.00}\n",
	},
	{
		"JSON strings are escaped, and always UTF-8",
		{{"a\"b\\c\t\xc3\xa9\xff", RAW, .values = {{1, 1, 1}}, .cgroup = "x"}},
		{GLOBAL(2), .options.json = true},
		"{\"counter-value\" : \"1.000000\", \"unit\" : \"\", "
		"\"event\" : \"a\\\"b\\\\c\\t\xc3\xa9\xef\xbf\xbd\", \"cgroup\" : \"x\", "
		"\"variance\" : 0.00, \"event-runtime\" : 1, \"pcnt-running\" : 100.00}\n",
	},
	{
		"the cgroup column is blank in rows without a cgroup",
		{{"cycles", HW(CPU_CYCLES), .values = {{34584532, 1, 1}}, .cgroup = "a"},
		 {"cs", SW(CONTEXT_SWITCHES), NULL, .values = {{0}}}},
		{GLOBAL(1)},
		HEADER
		"          34584532      cycles                           a               " NO_METRIC
		"\n"
		"     <not counted>      cs                                               " NO_METRIC
		"\n" FOOTER,
	},
	{
		"only text format has decimals in the share of a multiplexed event",
		{{"cycles", HW(CPU_CYCLES), .values = {{100, 10000, 5748}}}},
		{GLOBAL(1)},
		HEADER "               173      cycles                          " NO_METRIC
		       "  (57.48%)\n" FOOTER,
	},
	{
		"unscaled values stay raw",
		{{"cycles", HW(CPU_CYCLES), .values = {{100, 10000, 5748}}}},
		{GLOBAL(1), CSV, .options.no_scale = true},
		"100,,cycles,5748,57.00,,\n",
	},
	{
		"zero rows can be hidden; unsupported rows stay",
		{{"cs", SW(CONTEXT_SWITCHES), .values = {{0, 7, 7}}},
		 {"cycles", HW(CPU_CYCLES), .state = EVSEL_NOT_SUPPORTED}},
		{GLOBAL(1), CSV, .options.hide_zero = true},
		"<not supported>,,cycles,0,100.00,,\n",
	},
	{
		"PMU instances are summed into the first",
		{{"imc/x/", RAW, .values = {{10, 7, 7}}, .unit = "MiB", .scale = 0.5},
		 {"imc/x/", RAW, .values = {{20, 7, 7}}, .merge_into = 1}},
		{GLOBAL(1), CSV},
		"15.00,MiB,imc/x/,14,100.00,,\n",
	},
	{
		"PMU instances can be shown",
		{{"imc_0/x/", RAW, .values = {{10, 7, 7}}},
		 {"imc_1/x/", RAW, .values = {{20, 7, 7}}, .merge_into = 1}},
		{GLOBAL(1), CSV, .options.no_merge = true},
		"10,,imc_0/x/,7,100.00,,\n20,,imc_1/x/,7,100.00,,\n",
	},
	{
		"a refused PMU instance does not spoil the others",
		{{"imc/x/", RAW, .state = EVSEL_NOT_SUPPORTED},
		 {"imc/x/", RAW, .values = {{20, 7, 7}}, .merge_into = 1}},
		{GLOBAL(1), CSV},
		"20,,imc/x/,7,100.00,,\n",
	},
	{
		"--null has neither rows nor the line above the footer",
		{{0}},
		{GLOBAL(1), .options.null_run = true},
		HEADER "       0.001031719 seconds time elapsed\n\n"
		       "       0.000000000 seconds user\n       0.001136000 seconds sys\n\n\n",
	},
	{
		"metric-only CSV ends in separators and omits uncomputable metrics",
		{{"cycles", HW(CPU_CYCLES), .values = {{200, 1, 1}}},
		 {"instructions", HW(INSTRUCTIONS), .values = {{100, 1, 1}}},
		 {"branch-misses", HW(BRANCH_MISSES), .values = {{100, 1, 1}}}},
		{GLOBAL(1), CSV, .options.metric_only = true},
		"insn per cycle,\n0.50,\n",
	},
	{
		"metric-only values stand below their headings",
		{{"task-clock", SW(TASK_CLOCK), .values = {{1031719, 1, 1}}},
		 {"cycles", HW(CPU_CYCLES), .values = {{2063438, 1, 1}}}},
		{GLOBAL(1), .options.metric_only = true},
		HEADER "       CPUs utilized                  GHz \n"
		       "               1.000                2.000\n" FOOTER,
	},
	{
		"metric-only JSON has a member also without any metric",
		{{"cs", SW(CONTEXT_SWITCHES), .values = {{1, 1, 1}}}},
		{GLOBAL(1), .options.json = true, .options.metric_only = true},
		"{\"metric-value\" : \"none\"}\n",
	},
};

static void format_prints_rows(void **state)
{
	const struct format_case *c = *state;
	int nr = 0;
	struct evlist *list;
	char *text;

	while (nr < 4 && c->events[nr].name)
		nr++;
	list = make_list(c->events, nr, NULL);
	text = print_run(c->config, list, &times);
	assert_string_equal(text, c->text);
	free(text);
	evlist__delete(list);
}

static const struct {
	struct target target;
	const char *bpf, *title;
	int runs;
	const char *text;
	bool has_user;
} targets[] = {
	{{.argv = true_argv, .argc = 1}, NULL, NULL, 1, "'true'", true},
	{{.argv = true_argv, .argc = 1}, NULL, NULL, 3, "'true' (3 runs)", false},
	{{.argv = true_argv, .argc = 1, .system_wide = true},
	 NULL,
	 NULL,
	 1,
	 "'system wide'",
	 false},
	{{.cpu_list = "0-1"}, NULL, NULL, 1, "'CPU(s) 0-1'", false},
	{{.cpu_list = "0-1", .system_wide = true}, NULL, NULL, 1, "'system wide'", false},
	{{.pid_list = "4479,4480"}, NULL, NULL, 1, "process id '4479,4480'", false},
	{{.tid_list = "7", .argv = true_argv, .argc = 1}, NULL, NULL, 1, "thread id '7'", false},
	{{.argv = true_argv, .argc = 1}, "5", NULL, 1, "'BPF program(s) 5'", true},
	{{.argc = 0}, NULL, "pipe", 1, "'pipe'", false},
};

static void header_names_the_target(void **state)
{
	char expected[256], *text;
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(targets); i++) {
		struct stat_config config = {
			.options.aggr_mode = AGGR_GLOBAL,
			.options.run_count = targets[i].runs,
			.env.target = &targets[i].target,
			.options.bpf_prog_list = targets[i].bpf,
			.env.title = targets[i].title,
		};
		struct evlist *list = make_list(NULL, 0, NULL);

		text = print_run(config, list, &times);
		snprintf(expected, sizeof(expected), "\n Performance counter stats for %s:\n\n",
			 targets[i].text);
		assert_int_equal(strncmp(text, expected, strlen(expected)), 0);
		assert_int_equal(strstr(text, "seconds user") != NULL, targets[i].has_user);
		free(text);
		evlist__delete(list);
	}
}

static void metrics_have_colors_on_a_terminal(void **state)
{
	static const struct event events[] = {
		{"branches", HW(BRANCH_INSTRUCTIONS), .values = {{100, 1, 1}}},
		{"branch-misses", HW(BRANCH_MISSES), .values = {{25, 1, 1}}},
		{"branch-misses", HW(BRANCH_MISSES), .values = {{15, 1, 1}}},
		{"branch-misses", HW(BRANCH_MISSES), .values = {{7, 1, 1}}},
		{"branch-misses", HW(BRANCH_MISSES), .values = {{5, 1, 1}}},
	};
	static const char *const values[] = {
		"# \033[31m  25.00%\033[m of all branches           \n",
		"# \033[35m  15.00%\033[m of all branches           \n",
		"# \033[33m   7.00%\033[m of all branches           \n",
		"#    5.00% of all branches           \n",
	};
	struct evlist *list = make_list(events, ARRAY_SIZE(events), NULL);
	char *text = print_run((struct stat_config){GLOBAL(1), .env.color = true}, list, &times);
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(values); i++)
		assert_non_null(strstr(text, values[i]));
	free(text);
	evlist__delete(list);
}

/* Make and set a locale that groups digits. Return: false if the machine lacks its source. */
static bool group_digits(void)
{
	static const char name[] = "en_US.UTF-8";
	char dir[] = "/tmp/perf_locale_XXXXXX", command[256];
	bool done;

	assert_non_null(mkdtemp(dir));
	snprintf(command, sizeof(command), "localedef -i en_US -f UTF-8 %s/%s 2>&1", dir, name);
	done = !system(command);
	setenv("LOCPATH", dir, 1);
	done = done && setlocale(LC_NUMERIC, name);
	unsetenv("LOCPATH");
	snprintf(command, sizeof(command), "rm -rf %s", dir);
	assert_int_equal(system(command), 0);
	return done;
}

static void only_text_follows_the_locale(void **state)
{
	static const struct event events[] = {
		{"power", RAW, .values = {{1048057556, 9, 9}}, .scale = 0.5},
	};
	struct evlist *list;
	char *text;

	(void)state;
	if (!group_digits()) {
		print_message("no source of a locale with digit grouping here (Debian: locales)\n");
		skip();
	}
	list = make_list(events, 1, NULL);
	text = print_run((struct stat_config){GLOBAL(1), .options.big_num = 1}, list, &times);
	assert_non_null(strstr(text, " 524,028,778.00 "));
	free(text);
	text = print_run((struct stat_config){GLOBAL(1), CSV, .options.big_num = 1}, list, &times);
	assert_string_equal(text, "524028778.00,,power,9,100.00,,\n");
	free(text);
	/* Also text after CSV. */
	text = print_run((struct stat_config){GLOBAL(1), .options.big_num = 1}, list, &times);
	assert_non_null(strstr(text, " 524,028,778.00 "));
	free(text);
	evlist__delete(list);
	setlocale(LC_NUMERIC, "C");
}

static void metric_only_has_a_line_per_socket(void **state)
{
	static const struct event events[] = {
		{"task-clock", SW(TASK_CLOCK), "0-3",
		 .values = {{1000, 1, 1}, {1000, 1, 1}, {500, 1, 1}, {500, 1, 1}}},
		{"cycles", HW(CPU_CYCLES), "0-3",
		 .values = {{1000, 1, 1}, {1000, 1, 1}, {500, 0, 0}, {500, 1, 1}}},
	};
	static const struct stat_times second = {1000, 0, 0};
	struct stat_config config = {
		.options.aggr_mode = AGGR_SOCKET,
		.options.run_count = 1,
		.env.target = &whole,
		.options.metric_only = true,
	};
	struct evlist *list = make_list(events, 2, NULL);
	char *text = rows_of(print_run(config, list, &second));

	(void)state;
	assert_string_equal(text, "                   CPUs utilized                  GHz \n"
				  "S0        2                2.000                1.000\n"
				  "S1        2                1.000                     \n");
	free(text);
	config.options.csv_sep = ",";
	text = print_run(config, list, &second);
	assert_string_equal(text,
			    "socket,ctrs,CPUs utilized,GHz,\nS0,2,2.000,1.000,\nS1,2,1.000,,\n");
	free(text);
	config.options.json = true;
	text = print_run(config, list, &second);
	assert_string_equal(
		text, "{\"socket\" : \"S0\", \"counters\" : 2, \"CPUs utilized\" : \"2.000\", "
		      "\"GHz\" : \"1.000\"}\n"
		      "{\"socket\" : \"S1\", \"counters\" : 2, \"CPUs utilized\" : \"1.000\", "
		      "\"GHz\" : \"none\"}\n");
	free(text);
	evlist__delete(list);
}

/* Two clusters on one die, each with a core 0 and a core 1. */
static void cores_of_clusters_that_number_their_own_have_rows(void **state)
{
	static const struct event events[] = {
		{"cs", SW(CONTEXT_SWITCHES), "0-3",
		 .values = {{1, 1, 1}, {2, 1, 1}, {3, 1, 1}, {4, 1, 1}}},
	};
	struct cpu_topology cpus[] = {
		{.core = 0}, {.core = 1}, {.cluster = 1}, {.cluster = 1, .core = 1}};
	int caches[ARRAY_SIZE(cpus)][NR_CACHE_LEVELS] = {};
	struct topology topology = {ARRAY_SIZE(cpus), cpus, caches};
	struct stat_config config = {
		.options.aggr_mode = AGGR_CORE,
		.options.run_count = 1,
		.options.csv_sep = ",",
		.env.target = &whole,
		.env.topology = &topology,
	};
	struct evlist *list = make_list(events, 1, NULL);
	char *text = print_run(config, list, &times);

	(void)state;
	assert_string_equal(text, "S0-D0-CLS0-C0,1,1,,cs,1,100.00,,\n"
				  "S0-D0-CLS0-C1,1,2,,cs,1,100.00,,\n"
				  "S0-D0-CLS1-C0,1,3,,cs,1,100.00,,\n"
				  "S0-D0-CLS1-C1,1,4,,cs,1,100.00,,\n");
	free(text);
	/* A core has one cluster. */
	cpus[2] = (struct cpu_topology){.core = 2};
	cpus[3] = (struct cpu_topology){.core = 2};
	text = print_run(config, list, &times);
	assert_string_equal(text, "S0-D0-C0,1,1,,cs,1,100.00,,\n"
				  "S0-D0-C1,1,2,,cs,1,100.00,,\n"
				  "S0-D0-C2,2,7,,cs,2,100.00,,\n");
	free(text);
	evlist__delete(list);
}

int main(void)
{
	struct CMUnitTest tests[ARRAY_SIZE(cases) + 5] = {
		cmocka_unit_test(header_names_the_target),
		cmocka_unit_test(metrics_have_colors_on_a_terminal),
		cmocka_unit_test(only_text_follows_the_locale),
		cmocka_unit_test(metric_only_has_a_line_per_socket),
		cmocka_unit_test(cores_of_clusters_that_number_their_own_have_rows),
	};
	const char *data = getenv("TESTS_DATA");
	char *sysfs = xasprintf("%s/sysfs-topology", data ? data : "tests/data");
	size_t i;
	int failed;

	setenv("SYSFS_PATH", sysfs, 1);
	free(sysfs);
	for (i = 0; i < ARRAY_SIZE(cases); i++)
		tests[5 + i] = (struct CMUnitTest){
			.name = cases[i].name,
			.test_func = format_prints_rows,
			.initial_state = (void *)&cases[i],
		};
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	return failed;
}
