// SPDX-License-Identifier: GPL-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "event_data.h"
#include "stat_data.h"
#include "util/defs/definitions.h"
#include "util/metric/metric_groups.h"
#include "util/metric/metric_request.h"

static double literal_of(const struct target *target, const char *name)
{
	(void)target;
	(void)name;
	return 1;
}

/* Prepare events as if each had counted 4 on any CPU. */
static void count_all(struct evlist *list)
{
	static const struct counts_values four = {4, 100, 100};
	struct evsel *evsel;
	int i;

	evlist__for_each(list, evsel, i) {
		evsel->state = EVSEL_COUNTING;
		evsel->cpus = cpumap__any();
		assert(evsel->cpus && !evsel__alloc_counts(evsel));
		put_counts(evsel, &four);
	}
}

/* Return: the CSV of these metrics on the PMUs of a tree; owned. */
static char *csv_of(const char *tree, const char *metrics, bool metric_only)
{
	static const struct stat_times second = {1000000000, 0, 0};
	struct definitions *defs = definitions__new();
	struct pmus *pmus = data_pmus(tree);
	struct evlist *list = evlist__new();
	struct metric_requests requests = {};
	struct metric_request_options options = {
		.scope = {.defs = defs, .pmus = pmus, .literal = literal_of},
	};
	struct stat_config config = {
		.options = {.aggr_mode = AGGR_GLOBAL,
			    .run_count = 1,
			    .csv_sep = ",",
			    .metric_only = metric_only},
		.env = {.defs = defs, .pmus = pmus, .requests = &requests, .literal = literal_of},
	};
	char *path = data_path("requests.json"), *text;

	assert(list && !definitions__add_file(defs, path));
	free(path);
	pmus__set_definitions(pmus, defs);
	assert_int_equal(metric_requests__add(&requests, metrics, &options), 0);
	assert_int_equal(metric_requests__add_events(&requests, list, &options), 0);
	count_all(list);
	text = print_run(config, list, &second);
	metric_requests__clear(&requests);
	evlist__delete(list);
	pmus__delete(pmus);
	definitions__delete(defs);
	return text;
}

/* The larger metric's events come first, but the columns have the order of -M. */
static void columns_have_the_order_of_the_request(void **state)
{
	static const struct {
		const char *tree, *metrics, *heading;
	} rows[] = {
		{"x86", "small,large", "small,large,\n"},
		{"x86", "large,small", "large,small,\n"},
		{"x86", "decided,large,alone,small", "decided,large,alone,small,\n"},
		{"x86", "CPUs_utilized,small,cs_per_second,large",
		 "CPUs  CPUs_utilized,small,cs/sec  cs_per_second,large,\n"},
		{"hybrid", "small,large",
		 "small [cpu_core],large [cpu_core],small [cpu_atom],large [cpu_atom],\n"},
		{"hybrid", "large,CPUs_utilized,small",
		 "large [cpu_core],CPUs  CPUs_utilized,small [cpu_core],"
		 "large [cpu_atom],small [cpu_atom],\n"},
	};
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		char *text = csv_of(rows[i].tree, rows[i].metrics, true);

		strchr(text, '\n')[1] = '\0';
		assert_string_equal(text, rows[i].heading);
		free(text);
	}
}

/* All rows of one kind of core come before those of the next. */
static void kinds_of_cores_have_separate_rows(void **state)
{
	char *text = csv_of("hybrid", "alone,small", false), *line, *rest;
	const char *const rows[] = {"cpu_core/", "cpu_core/", "cpu_core/",
				    "cpu_atom/", "cpu_atom/", "cpu_atom/"};
	size_t i = 0;

	(void)state;
	for (rest = text; (line = strsep(&rest, "\n")) && *line; i++) {
		assert_true(i < ARRAY_SIZE(rows));
		if (!strstr(line, rows[i]))
			fail_msg("row %zu is '%s'", i, line);
	}
	assert_int_equal(i, ARRAY_SIZE(rows));
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(columns_have_the_order_of_the_request),
		cmocka_unit_test(kinds_of_cores_have_separate_rows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
