// SPDX-License-Identifier: GPL-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <math.h>

#include "stat_data.h"
#include "util/defs/metric_builtin.h"
#include "util/metric/expr_eval.h"
#include "util/metric/expr_parse.h"
#include "util/metric/metric.h"

/* Return: the length of an identifier as its value; some identifiers are unknown. */
static double value_of(void *data, int id)
{
	const char *name = metric_expr__id(data, id);

	return !strcmp(name, "unknown") ? NAN : !strcmp(name, "zero") ? 0 : strlen(name);
}

static double constant_of(void *data, int id)
{
	return value_of(data, id) * 10;
}

static double literal_of(void *data, const char *name)
{
	(void)data;
	return !strcmp(name, "num_cpus") ? 8 : !strcmp(name, "smt_on") ? 0 : NAN;
}

static bool is_known(void *data, const char *name)
{
	(void)data;
	return !strcmp(name, "cycles");
}

static double evaluate(const char *text, int *err)
{
	struct metric_expr_ctx ctx = {
		.value = value_of,
		.source_count = constant_of,
		.aggr_nr = constant_of,
		.literal = literal_of,
		.has_event = is_known,
		.match_cpuid = is_known,
	};
	struct metric_expr_error error;
	struct metric_expr *expr;
	double value = -1;

	*err = metric_expr__parse(text, &expr, &error);
	if (*err)
		return -1;
	ctx.data = expr;
	*err = metric_expr__eval(expr, &ctx, &value);
	metric_expr__delete(expr);
	return value;
}

static const struct {
	const char *text;
	double value;
} values[] = {
	{"1", 1},
	{" 1.5e3 ", 1500},
	{"2e-1 * 10", 2},
	{".5", .5},
	{"2 + 3 * 4", 14},
	{"(2 + 3) * 4", 20},
	{"10 - 4 - 3", 3},
	{"100 / 10 / 5", 2},
	{"-2 * -3", 6},
	{"- -2", 2},
	{"7 % 4", 3},
	{"7.9 % 4.9", 3},
	{"1 / 0", NAN},
	{"d_ratio(1, 0)", 0},
	{"d_ratio(6, 3)", 2},
	{"min(3, 2) + max(3, 2)", 5},
	{"max(1, unknown)", NAN},
	{"1 < 2", 1},
	{"1 > 2", 0},
	{"1 < unknown", NAN},
	{"3 & 0", 0},
	{"3 & 4", 1},
	{"0 | 4", 1},
	{"3 ^ 4", 0},
	{"3 ^ 0", 1},
	{"0 | 1 ^ 1 & 0", 1},
	{"1 + 1 < 3 & 1", 1},
	{"1 if 2 else 3", 1},
	{"1 if 0 else 2 if 0 else 3", 3},
	{"1 if unknown else 2", NAN},
	{"4 if 1 < 2 | 0 else 5", 4},
	{"NaN", NAN},
	{"NaNo", 4},
	{"cycles", 6},
	{"zero / cycles", 0},
	{"cycles / zero", NAN},
	{"cpu\\-cycles", 10}, /* cpu-cycles */
	{"cpu\\-cycles-cpu", 7},
	{"cpu@event\\=0x11@", 15},	     /* cpu/event=0x11/ */
	{"msr@tsc\\,cpu=cpu_core@ - 1", 20}, /* without a backslash before '=' */
	{"cpu@event=1\\,umask=2@ / cpu@event=1@", 20 / 12.0},
	{"instructions:u", 14},
	{"ifs + elsewhere", 12},
	{"minimum", 7},
	{"source_count(cycles)", 60},
	{"aggr_nr(cycles)", 60},
	{"has_event(cycles)", 1},
	{"has_event(cpu\\-cycles)", 0},
	{"strcmp_cpuid_str(0x41)", 0},
	{"#num_cpus * 2", 16},
	{"#nonsense", NAN},
	{"1 if #smt_on else 2", 2},
	{"4event", 6},
};

static void expressions_have_these_values(void **state)
{
	double value;
	size_t i;
	int err;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(values); i++) {
		value = evaluate(values[i].text, &err);
		if (err || isnan(value) != isnan(values[i].value) ||
		    (!isnan(value) && fabs(value - values[i].value) > 1e-9))
			fail_msg("'%s' is %f (%d)", values[i].text, value, err);
	}
	evaluate("1 % 0", &err);
	assert_int_equal(err, -EDOM);
}

static const struct {
	const char *text;
	int column;
	const char *reason;
} errors[] = {
	{"", 0, "unexpected end"},
	{"1 +", 3, "unexpected end"},
	{"1 2", 2, "expected an operator"},
	{"(1", 2, "expected ')'"},
	{"1 if 2", 6, "expected 'else'"},
	{"1 if else 2", 5, "expected a value"},
	{"min 1", 4, "expected '('"},
	{"min(1)", 5, "expected ','"},
	{"max(1, 2", 8, "expected ')'"},
	{"has_event(1 + 1)", 12, "expected ')'"},
	{"aggr_nr()", 8, "expected an event name"},
	{"# x", 0, "expected a name behind '#'"},
	{"a $ b", 2, "expected an operator"},
	{"a = b", 2, "expected an operator"},
	{"a=b", 1, "expected an operator"},
	{"cpu@a@=b", 6, "expected an operator"},
	{"$", 0, "unexpected character"},
	{"a\\/b", 1, "expected an operator"},
};

static void syntax_errors_have_reason_and_column(void **state)
{
	struct metric_expr_error error;
	struct metric_expr *expr = NULL;
	char deep[5000];
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(errors); i++) {
		assert_int_equal(metric_expr__parse(errors[i].text, &expr, &error), -EINVAL);
		assert_string_equal(error.reason, errors[i].reason);
		assert_int_equal(error.column, errors[i].column);
	}
	memset(deep, '(', sizeof(deep) - 1);
	deep[sizeof(deep) - 1] = '\0';
	assert_int_equal(metric_expr__parse(deep, &expr, &error), -EINVAL);
	memset(deep, '-', sizeof(deep) - 1);
	assert_int_equal(metric_expr__parse(deep, &expr, &error), -EINVAL);
}

/* Only constant conditions decide which events are opened. */
static void unused_branches_need_no_events(void **state)
{
	static const struct {
		const char *text, *needed;
	} needs[] = {
		{"a / b", "ab"},
		{"a if #num_cpus else b", "a"},
		{"a if #smt_on else b", "b"},
		{"a if #unknown else b", "ab"},
		{"a if has_event(cycles) & #num_cpus > 4 else b", "a"},
		{"a if c else b", "abc"},
		{"max(a, b if 0 else c)", "ac"},
	};
	struct metric_expr_ctx ctx = {.literal = literal_of, .has_event = is_known};
	struct metric_expr_error error;
	struct metric_expr *expr;
	bool needed[8];
	size_t i;
	int j;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(needs); i++) {
		assert_int_equal(metric_expr__parse(needs[i].text, &expr, &error), 0);
		metric_expr__find_needed(expr, &ctx, needed);
		for (j = 0; j < metric_expr__nr_ids(expr); j++)
			assert_int_equal(needed[j], strchr(needs[i].needed,
							   *metric_expr__id(expr, j)) != NULL);
		metric_expr__delete(expr);
	}
}

static void long_chains_are_refused(void **state)
{
	struct metric_expr_error error;
	struct metric_expr *expr;
	char *text = malloc(200001);
	size_t nr;
	double value;

	(void)state;
	for (nr = 0; nr < 100000; nr++)
		memcpy(text + 2 * nr, "1+", 2);
	text[200000] = '\0';
	assert_int_equal(metric_expr__parse(text, &expr, &error), -EINVAL);
	assert_string_equal(error.reason, "too long");
	text[2 * 4000 - 1] = '\0';
	assert_int_equal(metric_expr__parse(text, &expr, &error), 0);
	assert_int_equal(metric_expr__eval(expr, &(struct metric_expr_ctx){}, &value), 0);
	assert_true(value == 4000);
	metric_expr__delete(expr);
	free(text);
}

static void built_in_definitions_are_valid(void **state)
{
	const struct metric_def *def = NULL;
	struct metric_expr_error error;
	struct metric_expr *expr;
	int nr = 0;

	(void)state;
	while ((def = metric_builtin__next(def))) {
		nr++;
		assert_ptr_equal(metric_builtin__find(def->name), def);
		assert_int_equal(metric_expr__parse(def->expr, &expr, &error), 0);
		metric_expr__delete(expr);
		if (!def->threshold)
			continue;
		assert_int_equal(metric_expr__parse(def->threshold, &expr, &error), 0);
		assert_string_equal(metric_expr__id(expr, 0), def->name);
		metric_expr__delete(expr);
	}
	assert_int_equal(nr, 17);
	def = metric_builtin__find("INSN_per_cycle");
	assert_true(def && metric_def__in_group(def, "default"));
	assert_false(metric_def__in_group(def, "Default2"));
}

#define RUN(value) .values = {{value, 1, 1}}
#define SHOWN	   .is_default = true
#define HIDDEN	   .is_default = true, .hidden = true
#define NO_PMU	   .state = EVSEL_NOT_SUPPORTED

/* The default set as default_events.c makes it for CPUs, with the counts of the reference perf. */
static const struct event defaults[] = {
	{"context-switches", SW(CONTEXT_SWITCHES), NULL, RUN(132), SHOWN},
	{"cpu-clock", SW(CPU_CLOCK), NULL, RUN(103527000), SHOWN},
	{"cpu-migrations", SW(CPU_MIGRATIONS), NULL, RUN(4), SHOWN},
	{"page-faults", SW(PAGE_FAULTS), NULL, RUN(89), SHOWN},
	{"branch-misses", HW(BRANCH_MISSES), NULL, RUN(268749130), SHOWN, .group = 2},
	{"branches", HW(BRANCH_INSTRUCTIONS), NULL, RUN(268746686), SHOWN},
	{"cpu-cycles", HW(CPU_CYCLES), NULL, RUN(268744944), SHOWN, .group = 2, .keep_row = true},
	{"instructions", HW(INSTRUCTIONS), NULL, RUN(268745308), SHOWN},
	{"cpu-cycles", HW(CPU_CYCLES), NULL, RUN(268743541), HIDDEN, .group = 2},
	{"stalled-cycles-frontend", HW(STALLED_CYCLES_FRONTEND), NULL, RUN(268743540), SHOWN},
	{"cpu-cycles", HW(CPU_CYCLES), NULL, RUN(268741903), HIDDEN, .group = 2},
	{"stalled-cycles-backend", HW(STALLED_CYCLES_BACKEND), NULL, RUN(268741902), SHOWN},
	{"instructions", HW(INSTRUCTIONS), NULL, RUN(134368793), HIDDEN, .group = 3},
	{"stalled-cycles-backend", HW(STALLED_CYCLES_BACKEND), NULL, RUN(268737586), SHOWN},
	{"stalled-cycles-frontend", HW(STALLED_CYCLES_FRONTEND), NULL, RUN(3), HIDDEN},
	{"duration_time", RAW, NULL, RUN(51763500), HIDDEN, .tool = TOOL_DURATION_TIME},
};

static const struct target whole = {.system_wide = true};
static const struct stat_times times = {99, 0, 0};
static const struct stat_config standard = {
	.options.aggr_mode = AGGR_GLOBAL,
	.options.run_count = 1,
	.env.target = &whole,
};

static void default_metrics_are_printed(void **state)
{
	struct evlist *list = make_list(defaults, ARRAY_SIZE(defaults), NULL);
	char *text = rows_of(print_run(standard, list, &times));

	(void)state;
	assert_string_equal(
		text,
		"               132      context-switches                 #   1275.0 cs/sec  cs_per_second     \n"
		"            103.53 msec cpu-clock                        #      2.0 CPUs  CPUs_utilized       \n"
		"                 4      cpu-migrations                   #     38.6 migrations/sec  migrations_per_second\n"
		"                89      page-faults                      #    859.7 faults/sec  page_faults_per_second\n"
		"         268749130      branch-misses                    #    100.0 %  branch_miss_rate       \n"
		"         268746686      branches                         #   2595.9 M/sec  branch_frequency   \n"
		"         268744944      cpu-cycles                       #      2.6 GHz  cycles_frequency     \n"
		"         268745308      instructions                     #      1.0 instructions  insn_per_cycle\n"
		"         268743540      stalled-cycles-frontend          #     1.00 frontend_cycles_idle      \n"
		"         268741902      stalled-cycles-backend           #     1.00 backend_cycles_idle       \n"
		"         268737586      stalled-cycles-backend           #     2.00 stalled_cycles_per_instruction\n");
	free(text);
	evlist__delete(list);
}

/* Without a PMU, the rows of software events and of cpu-cycles stay. */
static void default_metrics_survive_without_pmu(void **state)
{
	static const char *const kept = "   <not supported>      cpu-cycles                       "
					"                                     \n";
	struct evlist *list = make_list(defaults, ARRAY_SIZE(defaults), NULL);
	struct stat_config config = standard;
	struct evsel *evsel;
	char *text, *pos;
	int i, lines = 0;

	(void)state;
	evlist__for_each(list, evsel, i) {
		if (evsel->attr.type == PERF_TYPE_HARDWARE)
			evsel->state = EVSEL_NOT_SUPPORTED;
	}
	text = rows_of(print_run(config, list, &times));
	for (pos = text; (pos = strchr(pos, '\n')); pos++)
		lines++;
	assert_int_equal(lines, 5);
	assert_non_null(strstr(text, kept));
	free(text);
	config.options.csv_sep = ",";
	text = print_run(config, list, &times);
	assert_non_null(strstr(text, "\n<not supported>,,cpu-cycles,0,100.00,,\n"));
	free(text);
	config.options.csv_sep = NULL;
	config.options.json = true;
	text = print_run(config, list, &times);
	assert_non_null(strstr(text, "\"event\" : \"cpu-cycles\", \"event-runtime\" : 0, "
				     "\"pcnt-running\" : 100.00}\n"));
	assert_null(strstr(text, "nan"));
	free(text);
	/* The columns of --metric-only stay, with empty cells. */
	config.options.metric_only = true;
	text = print_run(config, list, &times);
	assert_non_null(strstr(text, "\"GHz  cycles_frequency\" : \"none\""));
	free(text);
	config.options.json = false;
	text = rows_of(print_run(config, list, &times));
	assert_non_null(strstr(text, "GHz  cycles_frequency"));
	assert_null(strstr(text, "nan"));
	free(text);
	evlist__delete(list);
}

/* Without the hidden event, the time is that of the run loop. JSON shows a threshold. */
static void thresholds_set_colours(void **state)
{
	static const struct event events[] = {
		{"cpu-clock", SW(CPU_CLOCK), NULL, RUN(1000), SHOWN},
		{"cpu-cycles", HW(CPU_CYCLES), NULL, RUN(1000), SHOWN},
		{"instructions", HW(INSTRUCTIONS), NULL, RUN(500), SHOWN},
		{"branches", HW(BRANCH_INSTRUCTIONS), NULL, RUN(100), SHOWN},
		{"branch-misses", HW(BRANCH_MISSES), NULL, RUN(5), SHOWN},
	};
	static const struct stat_times elapsed = {500, 0, 0};
	struct evlist *list = make_list(events, ARRAY_SIZE(events), NULL);
	struct stat_config config = standard;
	char *text;

	(void)state;
	config.options.json = true;
	text = print_run(config, list, &elapsed);
	assert_string_equal(
		text,
		"{\"counter-value\" : \"0.001000\", \"unit\" : \"msec\", \"event\" : \"cpu-clock\", "
		"\"event-runtime\" : 1, \"pcnt-running\" : 100.00, "
		"\"metric-value\" : \"2.000000\", \"metric-unit\" : \"CPUs  CPUs_utilized\"}\n"
		"{\"counter-value\" : \"1000.000000\", \"unit\" : \"\", \"event\" : \"cpu-cycles\", "
		"\"event-runtime\" : 1, \"pcnt-running\" : 100.00, "
		"\"metric-value\" : \"1.000000\", \"metric-unit\" : \"GHz  cycles_frequency\"}\n"
		"{\"counter-value\" : \"500.000000\", \"unit\" : \"\", \"event\" : \"instructions\", "
		"\"event-runtime\" : 1, \"pcnt-running\" : 100.00, "
		"\"metric-value\" : \"0.500000\", \"metric-unit\" : \"instructions  insn_per_cycle\", "
		"\"metric-threshold\" : \"bad\"}\n"
		"{\"counter-value\" : \"100.000000\", \"unit\" : \"\", \"event\" : \"branches\", "
		"\"event-runtime\" : 1, \"pcnt-running\" : 100.00, "
		"\"metric-value\" : \"100.000000\", \"metric-unit\" : \"M/sec  branch_frequency\"}\n"
		"{\"counter-value\" : \"5.000000\", \"unit\" : \"\", \"event\" : \"branch-misses\", "
		"\"event-runtime\" : 1, \"pcnt-running\" : 100.00, "
		"\"metric-value\" : \"5.000000\", \"metric-unit\" : \"%  branch_miss_rate\", "
		"\"metric-threshold\" : \"good\"}\n");
	free(text);
	config.options.json = false;
	config.env.color = true;
	text = print_run(config, list, &elapsed);
	assert_non_null(strstr(text, "# \033[31m     0.5\033[m instructions  insn_per_cycle\n"));
	assert_non_null(strstr(text, "# \033[32m     5.0\033[m %  branch_miss_rate       \n"));
	free(text);
	evlist__delete(list);
}

/* Metrics as -M adds them: a group heading, a metric made of metrics, a second metric on a row. */
static const struct metric_def asked[] = {
	{.name = "tma_backend_bound",
	 .expr = "a / b",
	 .unit = "100%",
	 .default_group = "TopdownL1"},
	{.name = "tma_retiring", .expr = "a / b", .unit = "100%", .default_group = "TopdownL1"},
	{.name = "double_ipc", .expr = "insn_per_cycle * 2"},
	{.name = "CPUs_utilized", .expr = "a / b", .unit = "1CPUs"},
	{.name = "broken", .expr = "a % 0"},
	{.name = "instances", .expr = "source_count(a) + aggr_nr(a)"},
};

static const struct event asked_events[] = {
	{"a", RAW, NULL, .values = {{1, 4, 4}}},
	{"b", RAW, NULL, .values = {{4, 4, 4}}, .hidden = true},
	{"instructions", HW(INSTRUCTIONS), NULL, .values = {{3, 4, 4}}},
	{"cpu-cycles", HW(CPU_CYCLES), NULL, .values = {{2, 4, 4}}},
};

static char *print_asked(struct stat_config config, const char *cgroup,
			 const struct metric_def *defs, int nr)
{
	struct evlist *list = make_list(asked_events, ARRAY_SIZE(asked_events), NULL);
	const struct cgroup *of = cgroup ? cgroup_named(cgroup) : NULL;
	struct metric_scope scope = {.evlist = list, .cgroup = of};
	struct evsel *evsel;
	char *text = NULL;
	struct stat *stat;
	size_t size;
	int i;

	evlist__for_each(list, evsel, i) {
		evsel->cgroup = of;
		evsel->metric_id = strdup(evsel->name);
		assert_non_null(evsel->metric_id);
	}
	config.env.output = open_memstream(&text, &size);
	stat = stat__new(&config, list);
	for (i = 0; i < nr; i++)
		assert_int_equal(stat__add_metric(stat, metric__new(&defs[i], &scope)), 0);
	for (i = 0; i < config.options.run_count; i++)
		assert_int_equal(stat__add_repeat(stat, &times), 0);
	assert_int_equal(stat__print(stat), 0);
	stat__delete(stat);
	fclose(config.env.output);
	evlist__delete(list);
	return text;
}

#define NO_METRIC "                                      "

static void requested_metrics_are_printed(void **state)
{
	struct stat_config config = standard;
	char *text = rows_of(print_asked(config, NULL, asked, ARRAY_SIZE(asked)));

	(void)state;
	assert_string_equal(
		text,
		"                 1      a                                #      0.2 CPUs  CPUs_utilized       \n"
		"                                                         #     2.00 instances                 \n"
		"            TopdownL1 #     25.0 %  tma_backend_bound      \n"
		"                                                         #     25.0 %  tma_retiring           \n"
		"                 3      instructions                     #     3.00 double_ipc                \n"
		"                 2      cpu-cycles                      " NO_METRIC "\n");
	free(text);
	config.options.csv_sep = ",";
	text = print_asked(config, NULL, asked, ARRAY_SIZE(asked));
	assert_string_equal(text, "1,,a,4,100.00,0.2,CPUs  CPUs_utilized\n"
				  ",,,,,2.00,instances\n"
				  ",4,100.00,,,,TopdownL1\n"
				  ",,,,,25.0,%  tma_backend_bound\n"
				  ",,,,,25.0,%  tma_retiring\n"
				  "3,,instructions,4,100.00,3.00,double_ipc\n"
				  "2,,cpu-cycles,4,100.00,,\n");
	free(text);
	config.options.csv_sep = NULL;
	config.options.json = true;
	text = print_asked(config, NULL, asked, 2);
	assert_non_null(strstr(
		text,
		"{\"event-runtime\" : 4, \"pcnt-running\" : 100.00, \"metricgroup\" : \"TopdownL1\"}\n"
		"{\"metric-value\" : \"25.000000\", \"metric-unit\" : \"%  tma_backend_bound\"}\n"
		"{\"metric-value\" : \"25.000000\", \"metric-unit\" : \"%  tma_retiring\"}\n"));
	free(text);
}

/* The lines of further metrics have as many fields as those of their events. */
static void further_metrics_have_empty_fields(void **state)
{
	static const struct {
		const char *cgroup;
		int repeats;
		const char *text;
	} rows[] = {
		{NULL, 1, "1,,a,4,100.00,0.2,CPUs  CPUs_utilized\n,,,,,2.00,instances\n"},
		{"x", 1, "1,,a,x,4,100.00,0.2,CPUs  CPUs_utilized\n,,,,,,2.00,instances\n"},
		{NULL, 2, "1,,a,0.00%,4,100.00,0.2,CPUs  CPUs_utilized\n,,,,,,2.00,instances\n"},
		{"x", 2, "1,,a,x,0.00%,4,100.00,0.2,CPUs  CPUs_utilized\n,,,,,,,2.00,instances\n"},
	};
	struct stat_config config = standard;
	char *text;
	size_t i;

	(void)state;
	config.options.csv_sep = ",";
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		config.options.run_count = rows[i].repeats;
		text = print_asked(config, rows[i].cgroup, &asked[3], 3);
		if (strncmp(text, rows[i].text, strlen(rows[i].text)))
			fail_msg("%zu: %s", i, text);
		free(text);
	}
}

static void bad_definitions_are_skipped(void **state)
{
	static const struct metric_def bad = {.name = "bad", .expr = "1 +"};
	struct evlist *list = make_list(NULL, 0, NULL);
	struct metric_scope scope = {.evlist = list};

	(void)state;
	assert_null(metric__new(&bad, &scope));
	assert_int_equal(errno, EINVAL);
	evlist__delete(list);
}

/* Classic ratios only combine events of the same levels and cgroup, and need counts. */
static const struct {
	const char *name;
	struct event events[3];
	bool user;	  /* the second event counts user level only */
	const char *text; /* CSV of the second event */
} classics[] = {
	{"ratio",
	 {{"cycles", HW(CPU_CYCLES), NULL, RUN(4)},
	  {"instructions", HW(INSTRUCTIONS), NULL, RUN(2)}},
	 false,
	 "2,,instructions,1,100.00,0.50,insn per cycle\n"},
	{"sysfs name",
	 {{"cpu-cycles", RAW, NULL, RUN(4)}, {"instructions", RAW, NULL, RUN(2)}},
	 false,
	 "2,,instructions,1,100.00,0.50,insn per cycle\n"},
	{"levels",
	 {{"cycles", HW(CPU_CYCLES), NULL, RUN(4)},
	  {"instructions:u", HW(INSTRUCTIONS), NULL, RUN(2)}},
	 true,
	 "2,,instructions:u,1,100.00,,\n"},
	{"not supported",
	 {{"cycles", HW(CPU_CYCLES), NULL, RUN(4), NO_PMU},
	  {"instructions", HW(INSTRUCTIONS), NULL, RUN(2)}},
	 false,
	 "2,,instructions,1,100.00,,\n"},
	{"zero",
	 {{"branches", HW(BRANCH_INSTRUCTIONS), NULL, RUN(0)},
	  {"branch-misses", HW(BRANCH_MISSES), NULL, RUN(0)}},
	 false,
	 "0,,branch-misses,1,100.00,,\n"},
	{"stalls",
	 {{"cycles", HW(CPU_CYCLES), NULL, RUN(4)},
	  {"instructions", HW(INSTRUCTIONS), NULL, RUN(2)},
	  {"stalled-cycles-backend", HW(STALLED_CYCLES_BACKEND), NULL, RUN(3)}},
	 false,
	 "2,,instructions,1,100.00,0.50,insn per cycle\n3,,stalled-cycles-backend,"},
	{"stalls without cycles",
	 {{"stalled-cycles-backend", HW(STALLED_CYCLES_BACKEND), NULL, RUN(3)},
	  {"instructions", HW(INSTRUCTIONS), NULL, RUN(2)}},
	 false,
	 "2,,instructions,1,100.00,1.50,stalled cycles per insn\n"},
	{"cache refs",
	 {{"cache-references", HW(CACHE_REFERENCES), NULL, RUN(8)},
	  {"cache-misses", HW(CACHE_MISSES), NULL, RUN(1)}},
	 false,
	 "1,,cache-misses,1,100.00,12.500,of all cache refs\n"},
	{"cache",
	 {{"L1-dcache-loads", PERF_TYPE_HW_CACHE, 0, NULL, RUN(8)},
	  {"L1-dcache-load-misses", PERF_TYPE_HW_CACHE, 0x10000, NULL, RUN(1)}},
	 false,
	 "1,,L1-dcache-load-misses,1,100.00,12.50,of all L1-dcache accesses\n"},
	{"clock first",
	 {{"task-clock", SW(TASK_CLOCK), NULL, RUN(1000)},
	  {"cycles", HW(CPU_CYCLES), NULL, RUN(987)}},
	 false,
	 "987,,cycles,1,100.00,0.987,GHz\n"},
	{"rate",
	 {{"task-clock", SW(TASK_CLOCK), NULL, RUN(1000000000)},
	  {"sched:x", PERF_TYPE_TRACEPOINT, 0, NULL, RUN(12345678)}},
	 false,
	 "12345678,,sched:x,1,100.00,12.346,M/sec\n"},
	{"clock last",
	 {{"task-clock", SW(TASK_CLOCK), NULL, RUN(0)},
	  {"cs", SW(CONTEXT_SWITCHES), NULL, RUN(5)},
	  {"task-clock", SW(TASK_CLOCK), NULL, RUN(1000)}},
	 false,
	 "5,,cs,1,100.00,5.000,M/sec\n"},
	{"clock behind cycles",
	 {{"cs", SW(CONTEXT_SWITCHES), NULL, RUN(5)},
	  {"cycles", HW(CPU_CYCLES), NULL, RUN(987)},
	  {"task-clock", SW(TASK_CLOCK), NULL, RUN(1000)}},
	 false,
	 "987,,cycles,1,100.00,0.987,GHz\n"},
};

static void classic_ratios_are_printed(void **state)
{
	struct stat_config config = standard;
	struct evlist *list;
	char *text;
	size_t i;
	int nr;

	(void)state;
	config.options.csv_sep = ",";
	for (i = 0; i < ARRAY_SIZE(classics); i++) {
		for (nr = 0; nr < 3 && classics[i].events[nr].name; nr++)
			;
		list = make_list(classics[i].events, nr, NULL);
		list->evsels[1]->attr.exclude_kernel = classics[i].user;
		text = print_run(config, list, &times);
		if (!strstr(text, classics[i].text))
			fail_msg("%s: %s", classics[i].name, text);
		free(text);
		evlist__delete(list);
	}
}

/* People also see the ratios that programs do not. */
static void second_ratios_are_for_people(void **state)
{
	static const struct event events[] = {
		{"cycles", HW(CPU_CYCLES), NULL, RUN(4)},
		{"instructions", HW(INSTRUCTIONS), NULL, RUN(2)},
		{"stalled-cycles-backend", HW(STALLED_CYCLES_BACKEND), NULL, RUN(3)},
	};
	struct evlist *list = make_list(events, ARRAY_SIZE(events), NULL);
	struct stat_config config = standard;
	char *text = print_run(config, list, &times), *line;
	int nr = 0;

	(void)state;
	assert_non_null(strstr(text, "#    0.50  insn per cycle"));
	assert_non_null(strstr(text, "#    1.50  stalled cycles per insn"));
	free(text);
	config.options.json = true;
	text = print_run(config, list, &times);
	for (line = text; (line = strstr(line, "\n")); line++)
		nr++;
	assert_int_equal(nr, ARRAY_SIZE(events));
	assert_null(strstr(text, "stalled cycles per insn"));
	free(text);
	evlist__delete(list);
}

/* An event without a count leaves nothing behind it: neither 0.00 nor nan. */
static void uncounted_events_have_no_metric(void **state)
{
	static const struct metric_def defs[] = {
		{.name = "ratio", .expr = "a / b"},
		{.name = "nested", .expr = "1 + insn_per_cycle"},
		{.name = "chosen", .expr = "1 if has_event(b) else NaN"},
		{.name = "other", .expr = "b / 2 if has_event(b) else a / 2"},
		{.name = "zero", .expr = "a / (a - a)"},
	};
	const struct event events[] = {
		{"a", RAW, NULL, RUN(8)},
		{"b", RAW, NULL, RUN(2), NO_PMU},
		{"instructions", HW(INSTRUCTIONS), NULL, RUN(2), NO_PMU},
		{"cpu-cycles", HW(CPU_CYCLES), NULL, RUN(2)},
	};
	struct evlist *list = make_list(events, ARRAY_SIZE(events), NULL);
	struct metric_scope scope = {.evlist = list};
	struct stat_config config = standard;
	char *text = NULL;
	size_t size, i;
	struct stat *stat;

	(void)state;
	config.options.csv_sep = ",";
	config.env.output = open_memstream(&text, &size);
	stat = stat__new(&config, list);
	for (i = 0; i < ARRAY_SIZE(defs); i++)
		assert_int_equal(stat__add_metric(stat, metric__new(&defs[i], &scope)), 0);
	assert_int_equal(stat__add_repeat(stat, &times), 0);
	assert_int_equal(stat__print(stat), 0);
	stat__delete(stat);
	fclose(config.env.output);
	assert_string_equal(text, "8,,a,1,100.00,4.00,other\n,,,,,,zero\n"
				  "<not supported>,,b,0,100.00,,\n"
				  "<not supported>,,instructions,0,100.00,,\n"
				  "2,,cpu-cycles,1,100.00,,\n");
	free(text);
	evlist__delete(list);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(long_chains_are_refused),
		cmocka_unit_test(expressions_have_these_values),
		cmocka_unit_test(syntax_errors_have_reason_and_column),
		cmocka_unit_test(unused_branches_need_no_events),
		cmocka_unit_test(built_in_definitions_are_valid),
		cmocka_unit_test(default_metrics_are_printed),
		cmocka_unit_test(default_metrics_survive_without_pmu),
		cmocka_unit_test(thresholds_set_colours),
		cmocka_unit_test(requested_metrics_are_printed),
		cmocka_unit_test(further_metrics_have_empty_fields),
		cmocka_unit_test(bad_definitions_are_skipped),
		cmocka_unit_test(classic_ratios_are_printed),
		cmocka_unit_test(second_ratios_are_for_people),
		cmocka_unit_test(uncounted_events_have_no_metric),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
