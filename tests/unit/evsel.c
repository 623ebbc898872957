// SPDX-License-Identifier: GPL-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "event_data.h"
#include "util/cgroup.h"
#include "util/counts.h"
#include "util/cpumap.h"
#include "util/evlist.h"
#include "util/parse_events.h"

static struct evlist *parse(struct pmus *pmus, const char *text)
{
	struct evlist *list = evlist__new();
	struct parse_error err;

	if (parse_events(list, pmus, text, &err))
		fail_msg("%s: %s", text, err.reason);
	return list;
}

static void excluded_kernels_show_in_names(void **state)
{
	static const struct {
		const char *text, *name;	/* NULL: excluded already */
	} rows[] = {
		{ "cycles", "cycles:u" },
		{ "cycles:p", "cycles:pu" },
		{ "cycles:u", NULL },
		{ "software/cs/", "software/cs/u" },
		{ "cs/name=foo/", "foo:u" },
		{ "1:3", "1:3:u" },
		{ "mem:0x1000/4:w", "mem:0x1000/4:w:u" },
		{ "sched:sched_switch", "sched:sched_switch:u" },
	};
	struct pmus *pmus = data_pmus("x86");
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct evlist *list = parse(pmus, rows[i].text);
		struct evsel *evsel = list->evsels[0];

		assert_int_equal(evsel__exclude_kernel(evsel), rows[i].name ? 0 : -EALREADY);
		assert_string_equal(evsel->name, rows[i].name ? rows[i].name : rows[i].text);
		assert_true(evsel->attr.exclude_kernel && evsel->attr.exclude_hv);
		assert_int_equal(evsel__exclude_kernel(evsel), -EALREADY);
		evlist__delete(list);
	}
	pmus__delete(pmus);
}

static void excluded_guests_show_in_names(void **state)
{
	static const struct {
		const char *text, *name;	/* NULL: excluded already */
	} rows[] = {
		{ "cycles", "cycles:H" },
		{ "cycles:pu", "cycles:puH" },
		{ "cycles:H", NULL },
		{ "software/cs/", "software/cs/H" },
		{ "cs/name=foo/u", "foo:H" },
	};
	struct pmus *pmus = data_pmus("x86");
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct evlist *list = parse(pmus, rows[i].text);
		struct evsel *evsel = list->evsels[0];

		assert_int_equal(evsel__exclude_guest(evsel), rows[i].name ? 0 : -EALREADY);
		assert_string_equal(evsel->name, rows[i].name ? rows[i].name : rows[i].text);
		assert_true(evsel->attr.exclude_guest && !evsel->attr.exclude_host);
		evlist__delete(list);
	}
	pmus__delete(pmus);
}

static void cycles_may_become_a_clock(void **state)
{
	static const struct {
		const char *text;
		bool is_task;
		const char *name;	/* NULL: only cycles can */
	} rows[] = {
		{ "cycles", true, "task-clock" },
		{ "cycles", false, "cpu-clock" },
		{ "cycles:u", false, "cpu-clock:u" },
		{ "cycles/name=foo/", true, "task-clock" },
		{ "instructions", true, NULL },
		{ "cs", true, NULL },
	};
	struct pmus *pmus = data_pmus("none");
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct evlist *list = parse(pmus, rows[i].text);
		struct evsel *evsel = list->evsels[0];

		assert_int_equal(evsel__use_clock(evsel, rows[i].is_task), rows[i].name ? 0 : -EINVAL);
		assert_string_equal(evsel->name, rows[i].name ? rows[i].name : rows[i].text);
		assert_int_equal(evsel__is_clock(evsel), rows[i].name != NULL);
		assert_string_equal(evsel->unit, rows[i].name ? "msec" : "");
		evlist__delete(list);
	}
	pmus__delete(pmus);
}

static void user_level_is_the_protocols_byte(void **state)
{
	struct pmus *pmus = data_pmus("none");
	struct evlist *list = parse(pmus, "cycles:u");

	(void)state;
	/* attrs are compared as bytes by everybody who shares events */
	assert_int_equal(((unsigned char *)&list->evsels[0]->attr)[40], 0x60);
	evlist__delete(list);
	pmus__delete(pmus);
}

static void instances_have_names(void **state)
{
	static const struct {
		const char *text, *name;
	} rows[] = {
		{ "uncore_imc/clockticks/", "uncore_imc_0/clockticks/" },
		{ "imc/clockticks/u", "uncore_imc_0/clockticks/u" },
		{ "clockticks:u", "uncore_imc_0/clockticks/u" },
		{ "clockticks/percore/", "uncore_imc_0/clockticks,percore/" },
		{ "clockticks/name=x/", "x" },
		{ "duration_time", "tool/duration_time/" },
		{ "sched:sched_switch", "sched:sched_switch" },
	};
	struct pmus *pmus = data_pmus("x86");
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct evlist *list = parse(pmus, rows[i].text);
		char *name = evsel__pmu_event_name(list->evsels[0]);

		assert_string_equal(name, rows[i].name);
		free(name);
		evlist__delete(list);
	}
	pmus__delete(pmus);
}

static void names_that_mislead_get_a_pmu(void **state)
{
	static const struct {
		const char *text;
		bool no_merge;
		const char *names;
	} rows[] = {
		{ "clockticks,cs", false, "clockticks clockticks cs " },
		{ "clockticks,cs,cycles", true,
		  "uncore_imc_0/clockticks/ uncore_imc_1/clockticks/ cs cycles " },
		{ "cs,faults", true, "cs faults " },
		{ "cs,duration_time", true, "cs tool/duration_time/ " },
	};
	struct pmus *pmus = data_pmus("x86");
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct evlist *list = parse(pmus, rows[i].text);
		char names[256] = "";
		int j;

		assert_int_equal(evlist__uniquify_names(list, rows[i].no_merge), 0);
		for (j = 0; j < list->nr; j++)
			strcat(strcat(names, list->evsels[j]->name), " ");
		assert_string_equal(names, rows[i].names);
		evlist__delete(list);
	}
	pmus__delete(pmus);
}

static void filters_are_for_tracepoints(void **state)
{
	struct pmus *pmus = data_pmus("none");
	struct evlist *list = parse(pmus, "cs,sched:sched_switch,sched:sched_wakeup");

	(void)state;
	assert_int_equal(evlist__set_filter(list, 3, "a==1"), -EINVAL);
	assert_int_equal(evlist__set_filter(list, 0, "a==1"), -EINVAL);
	assert_null(list->evsels[1]->filter);
	assert_int_equal(evlist__set_filter(list, 1, "a==1"), 0);
	assert_int_equal(evlist__set_filter(list, 2, "b==2"), 0);
	assert_string_equal(list->evsels[1]->filter, "a==1");
	assert_string_equal(list->evsels[2]->filter, "(a==1) && (b==2)");
	evlist__delete(list);
	pmus__delete(pmus);
}

static void levels_are_overridden(void **state)
{
	struct pmus *pmus = data_pmus("none");
	struct evlist *list = parse(pmus, "cycles:k");

	(void)state;
	evlist__only_level(list, true);
	assert_false(list->evsels[0]->attr.exclude_user);
	assert_true(list->evsels[0]->attr.exclude_kernel);
	assert_string_equal(list->evsels[0]->name, "cycles:k");
	evlist__delete(list);
	pmus__delete(pmus);
}

static void groups_of_different_cpus_are_parted(void **state)
{
	static const char *const cpus[] = { "0-1", "0", "0-1" };
	struct pmus *pmus = data_pmus("none");
	struct evlist *list = parse(pmus, "{cs,faults,migrations}");
	char *text = evsel__group_text(list, list->evsels[0]);
	int i;

	(void)state;
	assert_string_equal(text, "anon group { cs, faults, migrations }");
	free(text);
	for (i = 0; i < list->nr; i++)
		list->evsels[i]->cpus = cpumap__parse(cpus[i]);
	evlist__check_groups(list);
	assert_string_equal(list->evsels[1]->name, "migrations");
	assert_int_equal(list->evsels[0]->nr_members, 2);
	assert_ptr_equal(list->evsels[1]->leader, list->evsels[0]);
	assert_true(evsel__is_leader(list->evsels[2]));
	assert_int_equal(list->evsels[2]->nr_members, 1);
	assert_int_equal(list->evsels[2]->idx, 2);
	evlist__ungroup(list, list->evsels[0]);
	assert_true(evsel__is_leader(list->evsels[1]));
	evlist__delete(list);
	pmus__delete(pmus);
}

static void counts_are_tables(void **state)
{
	struct pmus *pmus = data_pmus("none");
	struct evlist *list = parse(pmus, "cs");
	struct evsel *evsel = list->evsels[0];

	(void)state;
	evsel->cpus = cpumap__parse("0-3");
	assert_int_equal(evsel__alloc_counts(evsel), 0);
	assert_int_equal(evsel->counts->nr_cpus, 4);
	assert_int_equal(evsel->counts->nr_threads, 1);
	assert_int_equal(counts__at(evsel->counts, 3, 0)->val, 0);
	evlist__delete(list);
	evsel__delete(NULL);
	evlist__delete(NULL);
	pmus__delete(pmus);
}

static void slips_find_their_name(void **state)
{
	static const char *const list[] = { "cycles", "cache-misses", "cs", NULL };
	static const struct {
		const char *name, *nearest;
	} rows[] = {
		{ "cycels", "cycles" }, { "CYCLES", "cycles" }, { "cache-miss", "cache-misses" },
		{ "nosuch", NULL }, { "x", NULL }, { "", NULL }, { "cd", "cs" },
	};
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		const char *nearest = nearest_name(rows[i].name, list);

		if (rows[i].nearest)
			assert_string_equal(nearest, rows[i].nearest);
		else
			assert_null(nearest);
	}
}

static void lists_are_repeated_for_cgroups(void **state)
{
	static const struct cgroup first = { .name = "a" }, second = { .name = "b" };
	struct pmus *pmus = data_pmus("x86");
	struct evlist *list = parse(pmus, "cycles,{cs,faults:u}:W,cpu-clock");

	(void)state;
	for (int i = 0; i < list->nr; i++)
		list->evsels[i]->cgroup = &first;
	list->evsels[0]->merge_leader = list->evsels[3];
	assert_int_equal(evlist__repeat(list, 4, &second), 4);
	assert_int_equal(list->nr, 8);
	for (int i = 0; i < 4; i++) {
		const struct evsel *one = list->evsels[i], *two = list->evsels[4 + i];

		assert_string_equal(one->name, two->name);
		assert_ptr_not_equal(one->name, two->name);
		assert_memory_equal(&one->attr, &two->attr, sizeof(one->attr));
		assert_ptr_equal(one->cgroup, &first);
		assert_ptr_equal(two->cgroup, &second);
		assert_ptr_equal(two->model, one);
		assert_null(one->model);
		assert_int_equal(two->idx, 4 + i);
		assert_int_equal(two->leader->idx, one->leader->idx + 4);
		assert_int_equal(two->nr_members, one->nr_members);
		assert_int_equal(two->weak, one->weak);
	}
	assert_ptr_equal(list->evsels[4]->merge_leader, list->evsels[7]);
	assert_null(list->evsels[5]->merge_leader);
	evlist__delete(list);
	pmus__delete(pmus);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(excluded_kernels_show_in_names),
		cmocka_unit_test(excluded_guests_show_in_names),
		cmocka_unit_test(cycles_may_become_a_clock),
		cmocka_unit_test(user_level_is_the_protocols_byte),
		cmocka_unit_test(instances_have_names),
		cmocka_unit_test(names_that_mislead_get_a_pmu),
		cmocka_unit_test(filters_are_for_tracepoints),
		cmocka_unit_test(levels_are_overridden),
		cmocka_unit_test(groups_of_different_cpus_are_parted),
		cmocka_unit_test(counts_are_tables),
		cmocka_unit_test(lists_are_repeated_for_cgroups),
		cmocka_unit_test(slips_find_their_name),
	};
	char *tracefs = data_path("tracefs");

	setenv("TRACEFS_PATH", tracefs, 1);
	free(tracefs);
	return cmocka_run_group_tests_name("evsel", tests, NULL, NULL);
}
