// SPDX-License-Identifier: GPL-2.0
/* Sums of modes, intervals and repeats: util/report/stat.c, stat_counts.c, aggr.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "stat_data.h"

/* tests/data/sysfs-topology: CPUs 0-1 on socket 0, 2-3 on socket 1; 0 and 2 on node 0. */

static const struct target whole = {.system_wide = true};
static const struct stat_times times = {1000, 0, 0};

#define EACH .values = {{1, 9, 9}, {2, 9, 9}, {4, 9, 9}, {8, 9, 9}}
#define CSV_OF(mode)                                                                               \
	.options.aggr_mode = (mode), .options.run_count = 1, .options.csv_sep = ",",               \
	.env.target = &whole
#define STD_OF(mode) .options.aggr_mode = (mode), .options.run_count = 1, .env.target = &whole
#define NO_METRIC    "                                      "

struct mode_case {
	const char *name;
	struct event events[4];
	struct stat_config config;
	const char *text;
};

static const struct mode_case cases[] = {
	{
		"one row adds up all CPUs",
		{{"cs", SW(CONTEXT_SWITCHES), "0-3", EACH}},
		{CSV_OF(AGGR_GLOBAL)},
		"15,,cs,36,100.00,,\n",
	},
	{
		"-A has a row per CPU, event by event",
		{{"cs", SW(CONTEXT_SWITCHES), "0-1", EACH},
		 {"faults", SW(PAGE_FAULTS), "0-1", EACH}},
		{CSV_OF(AGGR_NONE)},
		"CPU0,1,,cs,9,100.00,,\nCPU1,2,,cs,9,100.00,,\n"
		"CPU0,1,,faults,9,100.00,,\nCPU1,2,,faults,9,100.00,,\n",
	},
	{
		"-A in standard format",
		{{"cpu-clock", SW(CPU_CLOCK), "0", .values = {{101560000, 9, 9}}}},
		{STD_OF(AGGR_NONE), .options.no_metrics = true},
		"CPU0               101.56 msec cpu-clock                       " NO_METRIC "\n",
	},
	{
		"sockets are printed row by row",
		{{"cs", SW(CONTEXT_SWITCHES), "0-3", EACH},
		 {"faults", SW(PAGE_FAULTS), "0-3", EACH}},
		{CSV_OF(AGGR_SOCKET)},
		"S0,2,3,,cs,18,100.00,,\nS0,2,3,,faults,18,100.00,,\n"
		"S1,2,12,,cs,18,100.00,,\nS1,2,12,,faults,18,100.00,,\n",
	},
	{
		"sockets in standard format",
		{{"cpu-clock", SW(CPU_CLOCK), "0-1", .values = {{203500000, 9, 9}}}},
		{STD_OF(AGGR_SOCKET), .options.no_metrics = true, .options.hide_zero = true},
		"S0        2      <not counted> msec cpu-clock                       " NO_METRIC
		"\n",
	},
	{
		"cores in standard format",
		{{"cpu-clock", SW(CPU_CLOCK), "0", .values = {{101640000, 9, 9}}}},
		{STD_OF(AGGR_CORE), .options.no_metrics = true},
		"S0-D0-C0              1             101.64 msec cpu-clock                       " NO_METRIC
		"\n",
	},
	{
		"a missing die is number 0",
		{{"cs", SW(CONTEXT_SWITCHES), "0-3", EACH}},
		{CSV_OF(AGGR_DIE)},
		"S0-D0,2,3,,cs,18,100.00,,\nS1-D0,2,12,,cs,18,100.00,,\n",
	},
	{
		"clusters",
		{{"cs", SW(CONTEXT_SWITCHES), "2-3", EACH}},
		{CSV_OF(AGGR_CLUSTER)},
		"S1-D0-CLS2,1,1,,cs,9,100.00,,\nS1-D0-CLS65535,1,2,,cs,9,100.00,,\n",
	},
	{
		"the highest cache of each CPU",
		{{"cs", SW(CONTEXT_SWITCHES), "0-2", EACH}},
		{CSV_OF(AGGR_CACHE)},
		"S0-D0-L3-ID0,2,3,,cs,18,100.00,,\nS1-D0-L1-ID2,1,4,,cs,9,100.00,,\n",
	},
	{
		"a CPU without the level of cache has id -1",
		{{"cs", SW(CONTEXT_SWITCHES), "0-2", EACH}},
		{CSV_OF(AGGR_CACHE), .options.cache_level = 3},
		"S0-D0-L3-ID0,2,3,,cs,18,100.00,,\nS1-D0-L3-ID-1,1,4,,cs,9,100.00,,\n",
	},
	{
		"nodes",
		{{"cs", SW(CONTEXT_SWITCHES), "0-3", EACH}},
		{CSV_OF(AGGR_NODE)},
		"N0,2,5,,cs,18,100.00,,\nN1,2,10,,cs,18,100.00,,\n",
	},
	{
		"one silent CPU makes its row not counted",
		{{"cs", SW(CONTEXT_SWITCHES), "0-3",
		  .values = {{1, 9, 9}, {0, 0, 0}, {4, 9, 9}, {0, 9, 9}}}},
		{CSV_OF(AGGR_SOCKET)},
		"S0,2,<not counted>,,cs,9,100.00,,\nS1,2,4,,cs,18,100.00,,\n",
	},
	{
		"an uncore event has no row where it has no CPU",
		{{"cs", SW(CONTEXT_SWITCHES), "0-3", EACH},
		 {"imc", RAW, "2", .values = {{5, 9, 9}}}},
		{CSV_OF(AGGR_SOCKET)},
		"S0,2,3,,cs,18,100.00,,\nS1,2,12,,cs,18,100.00,,\nS1,1,5,,imc,9,100.00,,\n",
	},
	{
		"the row of a refused event has the number of its CPUs",
		{{"cycles", HW(CPU_CYCLES), "0-3", .values = {{0}}, .state = EVSEL_NOT_SUPPORTED}},
		{CSV_OF(AGGR_SOCKET)},
		"S0,2,<not supported>,,cycles,0,100.00,,\nS1,2,<not supported>,,cycles,0,100.00,,\n",
	},
	{
		"per-pkg events count once per package",
		{{"energy", RAW, "0-3", EACH, .per_pkg = true}},
		{CSV_OF(AGGR_GLOBAL)},
		"5,,energy,18,100.00,,\n",
	},
	{
		"percore events have a row per core with -A",
		{{"cs", SW(CONTEXT_SWITCHES), "0-1", EACH},
		 {"cs", SW(CONTEXT_SWITCHES), "0-1", EACH, .percore = true}},
		{CSV_OF(AGGR_NONE)},
		"CPU0,1,,cs,9,100.00,,\nCPU1,2,,cs,9,100.00,,\n"
		"S0-D0-C0,1,,cs,9,100.00,,\nS0-D0-C1,2,,cs,9,100.00,,\n",
	},
	{
		"percore sums can be shown on each CPU",
		{{"cs", SW(CONTEXT_SWITCHES), "0-1", EACH, .percore = true}},
		{CSV_OF(AGGR_NONE), .options.percore_show_thread = true},
		"CPU0,1,,cs,9,100.00,,\nCPU1,2,,cs,9,100.00,,\n",
	},
	{
		"user time belongs to its CPU; rows with 0 are omitted",
		{{"user_time", RAW, "0-3", .values = {{0, 1, 1}, {3, 1, 1}, {0, 1, 1}, {4, 1, 1}},
		  .tool = TOOL_USER_TIME}},
		{CSV_OF(AGGR_NONE)},
		"CPU0,0,,user_time,1,100.00,,\nCPU1,3,,user_time,1,100.00,,\nCPU3,4,,user_time,1,100.00,,\n",
	},
	{
		"user time of sockets",
		{{"user_time", RAW, "0-3", EACH, .tool = TOOL_USER_TIME}},
		{CSV_OF(AGGR_SOCKET)},
		"S0,2,3,,user_time,1,100.00,,\nS1,2,12,,user_time,1,100.00,,\n",
	},
	{
		"tool events are in the row of CPU 0 only",
		{{"cs", SW(CONTEXT_SWITCHES), "0-3", EACH},
		 {"duration_time", RAW, "0-3",
		  .values = {{7, 1, 1}, {7, 1, 1}, {7, 1, 1}, {7, 1, 1}},
		  .tool = TOOL_DURATION_TIME}},
		{CSV_OF(AGGR_SOCKET)},
		"S0,2,3,,cs,18,100.00,,\nS0,1,7,,duration_time,1,100.00,,\nS1,2,12,,cs,18,100.00,,\n",
	},
	{
		"each cgroup has its block of rows",
		{{"cs", SW(CONTEXT_SWITCHES), "0-3", EACH, .cgroup = "a"},
		 {"cs", SW(CONTEXT_SWITCHES), "0-3", EACH, .cgroup = "b"}},
		{CSV_OF(AGGR_SOCKET), .options.for_each_cgroup = true},
		"S0,2,3,,cs,a,18,100.00,,\nS1,2,12,,cs,a,18,100.00,,\n"
		"S0,2,3,,cs,b,18,100.00,,\nS1,2,12,,cs,b,18,100.00,,\n",
	},
	{
		"cgroups of single events stay in their rows",
		{{"cs", SW(CONTEXT_SWITCHES), "0-3", EACH, .cgroup = "a"},
		 {"cs", SW(CONTEXT_SWITCHES), "0-3", EACH, .cgroup = "b"}},
		{CSV_OF(AGGR_SOCKET)},
		"S0,2,3,,cs,a,18,100.00,,\nS0,2,3,,cs,b,18,100.00,,\n"
		"S1,2,12,,cs,a,18,100.00,,\nS1,2,12,,cs,b,18,100.00,,\n",
	},
	{
		"cgroups are sorted by an event, equals keep their order",
		{{"x", RAW, "0", .values = {{9, 100, 100}}, .cgroup = "a"},
		 {"cs", SW(CONTEXT_SWITCHES), "0", .values = {{2, 100, 100}}, .cgroup = "a"},
		 {"x", RAW, "0", .values = {{1, 100, 100}}, .cgroup = "b"},
		 {"cs", SW(CONTEXT_SWITCHES), "0", .values = {{5, 100, 100}}, .cgroup = "b"}},
		{CSV_OF(AGGR_GLOBAL), .options.for_each_cgroup = true, .options.sort_event = "cs"},
		"1,,x,b,100,100.00,,\n5,,cs,b,100,100.00,,\n"
		"9,,x,a,100,100.00,,\n2,,cs,a,100,100.00,,\n",
	},
	{
		"the top cgroups are those with the most of the first event",
		{{"x", RAW, "0", .values = {{1, 100, 100}}, .cgroup = "a"},
		 {"x", RAW, "0", .values = {{7, 100, 100}}, .cgroup = "b"},
		 {"x", RAW, "0", .values = {{3, 100, 100}}, .cgroup = "c"}},
		{CSV_OF(AGGR_GLOBAL), .options.for_each_cgroup = true, .options.top = 2},
		"7,,x,b,100,100.00,,\n3,,x,c,100,100.00,,\n",
	},
	{
		"a CPU that never ran the cgroup adds a count of 0",
		{{"cs", SW(CONTEXT_SWITCHES), "0-1", .values = {{4, 10, 10}, {0, 0, 0}},
		  .cgroup = "a"}},
		{CSV_OF(AGGR_SOCKET)},
		"S0,2,4,,cs,a,10,100.00,,\n",
	},
	{
		"events of tasks have one row in modes of CPUs",
		{{"cs", SW(CONTEXT_SWITCHES), NULL, EACH}},
		{CSV_OF(AGGR_CORE)},
		"1,,cs,9,100.00,,\n",
	},
	{
		"-A in JSON, with percore",
		{{"cs", SW(CONTEXT_SWITCHES), "1", EACH},
		 {"cs", SW(CONTEXT_SWITCHES), "1", EACH, .percore = true}},
		{STD_OF(AGGR_NONE), .options.json = true},
		"{\"cpu\" : \"1\", \"counter-value\" : \"1.000000\", \"unit\" : \"\", "
		"\"event\" : \"cs\", \"event-runtime\" : 9, \"pcnt-running\" : 100.00}\n"
		"{\"core\" : \"S0-D0-C1\", \"counter-value\" : \"1.000000\", \"unit\" : \"\", "
		"\"event\" : \"cs\", \"event-runtime\" : 9, \"pcnt-running\" : 100.00}\n",
	},
	{
		"counters follow the id in JSON",
		{{"cs", SW(CONTEXT_SWITCHES), "0", EACH}},
		{STD_OF(AGGR_CORE), .options.json = true},
		"{\"core\" : \"S0-D0-C0\", \"counters\" : 1, \"counter-value\" : \"1.000000\", "
		"\"unit\" : \"\", \"event\" : \"cs\", \"event-runtime\" : 9, \"pcnt-running\" : 100.00}\n",
	},
};

static void mode_has_its_rows(void **state)
{
	const struct mode_case *c = *state;
	struct evlist *list;
	int nr = 0;
	char *text;

	while (nr < 4 && c->events[nr].name)
		nr++;
	list = make_list(c->events, nr, NULL);
	text = print_run(c->config, list, &times);
	if (!c->config.options.csv_sep && !c->config.options.json)
		rows_of(text);
	assert_string_equal(text, c->text);
	free(text);
	evlist__delete(list);
}

static struct thread_map *make_threads(void)
{
	struct thread_map *threads = calloc(1, sizeof(*threads) + 2 * sizeof(threads->thread[0]));

	assert(threads);
	threads->nr = 2;
	threads->thread[0].tid = 1236;
	strcpy(threads->thread[0].comm, "bash");
	threads->thread[1].tid = 7;
	strcpy(threads->thread[1].comm, "a comm of 15 by");
	return threads;
}

static void each_thread_has_a_row(void **state)
{
	static const struct event events[] = {
		{"cs", SW(CONTEXT_SWITCHES), NULL, .values = {{0, 0, 0}, {3, 9, 9}}},
	};
	static const struct target attached = {.pid_list = "1236"};
	struct stat_config config = {
		.options.aggr_mode = AGGR_THREAD,
		.options.run_count = 1,
		.env.target = &attached,
	};
	struct thread_map *threads = make_threads();
	struct evlist *list = make_list(events, 1, threads);
	char *text = rows_of(print_run(config, list, &times));

	(void)state;
	assert_string_equal(
		text,
		"            bash-1236         <not counted>      cs                              " NO_METRIC
		"\n"
		" a comm of 15 by-7                        3      cs                              " NO_METRIC
		"\n");
	free(text);
	config.options.csv_sep = ",";
	text = print_run(config, list, &times);
	assert_string_equal(text, "bash-1236,<not counted>,,cs,0,100.00,,\n"
				  "a comm of 15 by-7,3,,cs,9,100.00,,\n");
	free(text);
	config.env.target = &whole;
	text = print_run(config, list, &times);
	assert_string_equal(text, "a comm of 15 by-7,3,,cs,9,100.00,,\n");
	free(text);
	evlist__delete(list);
	free(threads);
}

static void intervals_have_differences(void **state)
{
	static const struct event events[] = {
		{"cs", SW(CONTEXT_SWITCHES), NULL, .values = {{0}}},
		{"gauge", RAW, NULL, .values = {{0}}, .snapshot = true},
		{"duration_time", RAW, NULL, .values = {{0}}, .tool = TOOL_DURATION_TIME},
	};
	static const struct {
		struct counts_values cs, gauge;
		uint64_t duration;
		const char *text;
	} steps[] = {
		{{10, 100, 100},
		 {5, 100, 100},
		 100,
		 "10,,cs,100,100.00,,|5,,gauge,100,100.00,,|100,,duration_time,1,100.00,,"},
		{{30, 200, 150},
		 {4, 200, 200},
		 200,
		 "40,,cs,50,50.00,,|4,,gauge,200,100.00,,|100,,duration_time,1,100.00,,"},
		{{30, 200, 150},
		 {4, 300, 300},
		 300, /* did not run */
		 "<not counted>,,cs,0,100.00,,|4,,gauge,300,100.00,,|100,,duration_time,1,100.00,,"},
		{{0, 0, 0},
		 {4, 400, 400},
		 400, /* the read failed */
		 "<not counted>,,cs,0,100.00,,|4,,gauge,400,100.00,,|100,,duration_time,1,100.00,,"},
		{{35, 400, 350},
		 {4, 500, 500},
		 500,
		 "5,,cs,200,100.00,,|4,,gauge,500,100.00,,|100,,duration_time,1,100.00,,"},
	};
	struct stat_config config = {
		.options.aggr_mode = AGGR_GLOBAL,
		.options.run_count = 1,
		.env.target = &whole,
		.options.csv_sep = ",",
		.options.interval_ms = 100,
		.options.summary = true,
	};
	struct evlist *list = make_list(events, 3, NULL);
	char *text = NULL, *line, *expected, *all = NULL;
	size_t size, i;
	struct stat *stat;

	(void)state;
	config.env.output = open_memstream(&text, &size);
	stat = stat__new(&config, list);
	for (i = 0; i < ARRAY_SIZE(steps); i++) {
		list->evsels[0]->counts->values[0] = steps[i].cs;
		list->evsels[1]->counts->values[0] = steps[i].gauge;
		list->evsels[2]->counts->values[0] =
			(struct counts_values){steps[i].duration, 1, 1};
		fseek(config.env.output, 0, SEEK_SET);
		assert_int_equal(stat__interval(stat, (i + 1) * 100000000), 0);
		expected = strdup(steps[i].text);
		all = NULL;
		for (line = strtok(expected, "|"); line; line = strtok(NULL, "|")) {
			char *more = xasprintf("%s0.%zu00000000,%s\n", all ? all : "", i + 1, line);

			free(all);
			all = more;
		}
		text[ftell(config.env.output)] = '\0';
		assert_string_equal(text, all);
		free(all);
		free(expected);
	}
	fseek(config.env.output, 0, SEEK_SET);
	assert_int_equal(stat__add_repeat(stat, &times), 0);
	assert_int_equal(stat__print(stat), 0);
	text[ftell(config.env.output)] = '\0';
	assert_string_equal(text, "summary,40,,cs,350,87.00,,\nsummary,4,,gauge,500,100.00,,\n"
				  "summary,500,,duration_time,1,100.00,,\n");
	stat__delete(stat);
	fclose(config.env.output);
	free(text);
	evlist__delete(list);
}

/* Count and print an interval that ends at @ts_ns, of an event that has counted for @clock_ns by then. */
static char *print_interval(struct stat *stat, struct evsel *clock, uint64_t clock_ns,
			    uint64_t ts_ns, FILE *out, char **text)
{
	clock->counts->values[0] = (struct counts_values){clock_ns, clock_ns, clock_ns};
	fseek(out, 0, SEEK_SET);
	assert_int_equal(stat__interval(stat, ts_ns), 0);
	(*text)[ftell(out)] = '\0';
	return *text;
}

static void rates_are_of_their_interval(void **state)
{
	static const struct event event = {"task-clock", SW(TASK_CLOCK), .values = {{0}}};
	struct evlist *list = make_list(&event, 1, NULL);
	struct evsel *clock = list->evsels[0];
	char *text = NULL;
	size_t size;
	struct stat_config config = {
		CSV_OF(AGGR_GLOBAL),
		.options.interval_ms = 1000,
		.env.output = open_memstream(&text, &size),
	};
	FILE *out = config.env.output;
	struct stat *stat = stat__new(&config, list);

	(void)state;
	assert_string_equal(
		print_interval(stat, clock, 500000000, NSEC_PER_SEC, out, &text),
		"1.000000000,500.00,msec,task-clock,500000000,100.00,0.500,CPUs utilized\n");
	assert_string_equal(
		print_interval(stat, clock, 750000000, 2 * NSEC_PER_SEC, out, &text),
		"2.000000000,250.00,msec,task-clock,250000000,100.00,0.250,CPUs utilized\n");
	assert_string_equal(
		print_interval(stat, clock, 1150000000, 2500000000, out, &text),
		"2.500000000,400.00,msec,task-clock,400000000,100.00,0.800,CPUs utilized\n");
	/* The next repeat begins at 0 again. */
	assert_int_equal(stat__add_repeat(stat, &times), 0);
	assert_string_equal(
		print_interval(stat, clock, 100000000, NSEC_PER_SEC, out, &text),
		"1.000000000,100.00,msec,task-clock,100000000,100.00,0.100,CPUs utilized\n");
	/* After a reset also. */
	stat__reset(stat);
	assert_string_equal(
		print_interval(stat, clock, 200000000, NSEC_PER_SEC, out, &text),
		"1.000000000,200.00,msec,task-clock,200000000,100.00,0.200,CPUs utilized\n");
	stat__delete(stat);
	fclose(out);
	free(text);
	evlist__delete(list);
}

/* Headings for each mode; the 27th interval repeats them. */
static const struct {
	enum aggr_mode mode;
	const char *heading;
} headings[] = {
	{AGGR_GLOBAL, "#           time             counts unit events\n"},
	{AGGR_CORE, "#           time core               ctrs             counts unit events\n"},
	{AGGR_NONE, "#           time cpu                counts unit events\n"},
	{AGGR_THREAD, "#           time             comm-pid                 counts unit events\n"},
};

static void headings_are_repeated(void **state)
{
	static const struct event cpu_events[] = {{"cs", SW(CONTEXT_SWITCHES), "0", EACH}};
	static const struct event task_events[] = {{"cs", SW(CONTEXT_SWITCHES), NULL, EACH}};
	struct thread_map *threads = make_threads();
	struct evlist *lists[] = {make_list(cpu_events, 1, NULL),
				  make_list(task_events, 1, threads)};
	char *text, *pos;
	struct stat *stat;
	size_t size, i;
	int n, lines;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(headings); i++) {
		struct stat_config config = {
			.options.aggr_mode = headings[i].mode,
			.options.run_count = 1,
			.env.target = &whole,
			.options.interval_ms = 100,
			.env.output = open_memstream(&text, &size),
		};

		stat = stat__new(&config, lists[headings[i].mode == AGGR_THREAD]);
		for (n = 0; n < 27; n++)
			assert_int_equal(stat__interval(stat, (n + 1) * NSEC_PER_SEC), 0);
		assert_int_equal(stat__add_repeat(stat, &times), 0);
		assert_int_equal(stat__print(stat), 0);
		stat__delete(stat);
		fclose(config.env.output);
		assert_int_equal(strncmp(text, headings[i].heading, strlen(headings[i].heading)),
				 0);
		for (pos = text, lines = 0; (pos = strstr(pos, "# ")); pos++)
			lines++;
		assert_int_equal(lines, 2);
		free(text);
	}
	evlist__delete(lists[0]);
	evlist__delete(lists[1]);
	free(threads);
}

static void repeats_have_means_and_errors(void **state)
{
	static const struct event events[] = {{"faults", SW(PAGE_FAULTS), NULL, .values = {{0}}}};
	static const uint64_t counts[] = {48, 50, 53}, elapsed[] = {960383, 852006, 798070};
	struct evlist *list = make_list(events, 1, NULL);
	struct stat_config config = {
		.options.aggr_mode = AGGR_GLOBAL,
		.options.run_count = 3,
		.env.target = &whole,
		.options.table = true,
	};
	struct stat *stat;
	char *text = NULL;
	size_t size, i;

	(void)state;
	config.env.output = open_memstream(&text, &size);
	stat = stat__new(&config, list);
	for (i = 0; i < 3; i++) {
		struct stat_times repeat = {.elapsed_ns = elapsed[i]};

		list->evsels[0]->counts->values[0] = (struct counts_values){counts[i], 9, 9};
		assert_int_equal(stat__add_repeat(stat, &repeat), 0);
	}
	assert_int_equal(stat__print(stat), 0);
	fflush(config.env.output);
	assert_string_equal(
		text, "\n Performance counter stats for 'system wide' (3 runs):\n\n"
		      "                50      faults                          " NO_METRIC
		      "  ( +-  2.89% )\n\n"
		      "       # Table of individual measurements:\n"
		      "       0.000960383 (+0.000090230) ##\n"
		      "       0.000852006 (-0.000018147) #\n"
		      "       0.000798070 (-0.000072083) ##\n\n"
		      "       # Final result:\n"
		      "       0.000870153 +- 0.000047726 seconds time elapsed  ( +-  5.48% )\n\n");
	stat__delete(stat);
	fclose(config.env.output);
	free(text);
	evlist__delete(list);
}

static void endless_repeats_stand_alone(void **state)
{
	static const struct event events[] = {
		{"faults", SW(PAGE_FAULTS), NULL, .values = {{1, 9, 9}}}};
	struct evlist *list = make_list(events, 1, NULL);
	struct stat_config config = {
		.options.aggr_mode = AGGR_GLOBAL, .env.target = &whole, .options.csv_sep = ","};
	struct stat *stat;
	char *text = NULL;
	size_t size;

	(void)state;
	config.env.output = open_memstream(&text, &size);
	stat = stat__new(&config, list);
	assert_int_equal(stat__add_repeat(stat, &times), 0);
	assert_int_equal(stat__print(stat), 0);
	list->evsels[0]->counts->values[0].value = 5;
	assert_int_equal(stat__add_repeat(stat, &times), 0);
	assert_int_equal(stat__print(stat), 0);
	fflush(config.env.output);
	assert_string_equal(text, "1,,faults,9,100.00,,\n5,,faults,9,100.00,,\n");
	stat__delete(stat);
	fclose(config.env.output);
	free(text);
	evlist__delete(list);
}

static void verbose_prints_raw_counts(void **state)
{
	static const struct event events[] = {{"cs", SW(CONTEXT_SWITCHES), "0-1", EACH}};
	struct evlist *list = make_list(events, 1, NULL);
	char *text = print_run((struct stat_config){STD_OF(AGGR_GLOBAL), .options.verbose = 2},
			       list, &times);

	(void)state;
	assert_int_equal(strncmp(text, "cs: 0: 1 9 9\ncs: 1: 2 9 9\ncs: 3 18 18\n\n", 39), 0);
	free(text);
	evlist__delete(list);
}

int main(void)
{
	const struct CMUnitTest others[] = {
		cmocka_unit_test(each_thread_has_a_row),
		cmocka_unit_test(intervals_have_differences),
		cmocka_unit_test(rates_are_of_their_interval),
		cmocka_unit_test(headings_are_repeated),
		cmocka_unit_test(repeats_have_means_and_errors),
		cmocka_unit_test(endless_repeats_stand_alone),
		cmocka_unit_test(verbose_prints_raw_counts),
	};
	struct CMUnitTest tests[ARRAY_SIZE(cases) + ARRAY_SIZE(others)] = {0};
	const char *data = getenv("TESTS_DATA");
	char *sysfs = xasprintf("%s/sysfs-topology", data ? data : "tests/data");
	size_t i;

	setenv("SYSFS_PATH", sysfs, 1);
	free(sysfs);
	for (i = 0; i < ARRAY_SIZE(cases); i++)
		tests[i] = (struct CMUnitTest){
			.name = cases[i].name,
			.test_func = mode_has_its_rows,
			.initial_state = (void *)&cases[i],
		};
	memcpy(&tests[i], others, sizeof(others));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
