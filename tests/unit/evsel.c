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
#include "util/event/counts.h"
#include "util/event/evlist.h"
#include "util/event/parse_events.h"
#include "util/host/cpumap.h"
#include "util/target/cgroup_list.h"

static struct evlist *parse(struct pmus *pmus, const char *text)
{
	struct evlist *list = evlist__new();
	struct parse_error err;

	if (parse_events(list, pmus, text, &err))
		fail_msg("%s: %s", text, err.reason);
	return list;
}

static int use_x86(void **state)
{
	*state = data_pmus("x86");
	return 0;
}

static int use_none(void **state)
{
	*state = data_pmus("none");
	return 0;
}

static int end_use(void **state)
{
	pmus__delete(*state);
	return 0;
}

/* An event, and its name after an exclusion; NULL if it already excludes that. */
struct excluded {
	const char *text, *name;
};

static void check_excluded(struct pmus *pmus, const struct excluded *rows, size_t nr,
			   int (*exclude)(struct evsel *evsel))
{
	for (size_t i = 0; i < nr; i++) {
		struct evlist *list = parse(pmus, rows[i].text);
		struct evsel *evsel = list->evsels[0];

		assert_int_equal(exclude(evsel), rows[i].name ? 0 : -EALREADY);
		assert_string_equal(evsel->name, rows[i].name ? rows[i].name : rows[i].text);
		assert_int_equal(exclude(evsel), -EALREADY);
		evlist__delete(list);
	}
}

static int exclude_kernel(struct evsel *evsel)
{
	int err = evsel__exclude_kernel(evsel);

	assert_true(evsel->attr.exclude_kernel && evsel->attr.exclude_hv);
	return err;
}

static void excluded_kernels_show_in_names(void **state)
{
	static const struct excluded rows[] = {
		{"cycles", "cycles:u"},
		{"cycles:p", "cycles:pu"},
		{"cycles:u", NULL},
		{"software/cs/", "software/cs/u"},
		{"cs/name=foo/", "foo:u"},
		{"1:3", "1:3:u"},
		{"mem:0x1000/4:w", "mem:0x1000/4:w:u"},
		{"sched:sched_switch", "sched:sched_switch:u"},
	};

	check_excluded(*state, rows, ARRAY_SIZE(rows), exclude_kernel);
}

static int exclude_guest(struct evsel *evsel)
{
	int err = evsel__exclude_guest(evsel);

	assert_true(evsel->attr.exclude_guest && !evsel->attr.exclude_host);
	return err;
}

static void excluded_guests_show_in_names(void **state)
{
	static const struct excluded rows[] = {
		{"cycles", "cycles:H"},	    {"cycles:pu", "cycles:puH"},
		{"cycles:H", NULL},	    {"software/cs/", "software/cs/H"},
		{"cs/name=foo/u", "foo:H"},
	};

	check_excluded(*state, rows, ARRAY_SIZE(rows), exclude_guest);
}

static void cycles_may_become_a_clock(void **state)
{
	static const struct {
		const char *text;
		bool is_task;
		const char *name; /* NULL: only cycles can change so */
	} rows[] = {
		{"cycles", true, "task-clock"},	    {"cycles", false, "cpu-clock"},
		{"cycles:u", false, "cpu-clock:u"}, {"cycles/name=foo/", true, "task-clock"},
		{"instructions", true, NULL},	    {"cs", true, NULL},
	};
	struct pmus *pmus = *state;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct evlist *list = parse(pmus, rows[i].text);
		struct evsel *evsel = list->evsels[0];

		assert_int_equal(evsel__use_clock(evsel, rows[i].is_task),
				 rows[i].name ? 0 : -EINVAL);
		assert_string_equal(evsel->name, rows[i].name ? rows[i].name : rows[i].text);
		assert_int_equal(evsel__is_clock(evsel), rows[i].name != NULL);
		assert_string_equal(evsel->unit, rows[i].name ? "msec" : "");
		evlist__delete(list);
	}
}

static void user_level_is_one_byte_in_the_protocol(void **state)
{
	struct pmus *pmus = *state;
	struct evlist *list = parse(pmus, "cycles:u");

	/* All sessions that share events compare attrs as bytes. */
	assert_int_equal(((unsigned char *)&list->evsels[0]->attr)[40], 0x60);
	evlist__delete(list);
}

static void instances_have_names(void **state)
{
	static const struct {
		const char *text, *name;
	} rows[] = {
		{"uncore_imc/clockticks/", "uncore_imc_0/clockticks/"},
		{"imc/clockticks/u", "uncore_imc_0/clockticks/u"},
		{"clockticks:u", "uncore_imc_0/clockticks/u"},
		{"clockticks/percore/", "uncore_imc_0/clockticks,percore/"},
		{"clockticks/name=x/", "x"},
		{"duration_time", "tool/duration_time/"},
		{"sched:sched_switch", "sched:sched_switch"},
	};
	struct pmus *pmus = *state;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct evlist *list = parse(pmus, rows[i].text);
		char *name = evsel__pmu_event_name(list->evsels[0]);

		assert_string_equal(name, rows[i].name);
		free(name);
		evlist__delete(list);
	}
}

static void ambiguous_names_get_a_pmu(void **state)
{
	static const struct {
		const char *text;
		bool no_merge;
		const char *names;
	} rows[] = {
		{"clockticks,cs", false, "clockticks clockticks cs "},
		{"clockticks,cs,cycles", true,
		 "uncore_imc_0/clockticks/ uncore_imc_1/clockticks/ cs cycles "},
		{"cs,faults", true, "cs faults "},
		{"cs,duration_time", true, "cs tool/duration_time/ "},
		{"duration_time", true, "tool/duration_time/ "},
		{"energy-pkg", true, "power/energy-pkg/ "},
		{"slots,cycles", true, "slots cycles "},
		{"slots,cs", true, "cpu/slots/ cs "},
		{"cs,r1a8:u,4:5", true, "cs cpu/r1a8/u 4:5 "},
	};
	struct pmus *pmus = *state;
	size_t i;

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
}

static void filters_are_for_tracepoints(void **state)
{
	struct pmus *pmus = *state;
	struct evlist *list = parse(pmus, "cs,sched:sched_switch,sched:sched_wakeup");

	assert_int_equal(evlist__set_filter(list, 3, "a==1"), -EINVAL);
	assert_int_equal(evlist__set_filter(list, 0, "a==1"), -EINVAL);
	assert_null(list->evsels[1]->filter);
	assert_int_equal(evlist__set_filter(list, 1, "a==1"), 0);
	assert_int_equal(evlist__set_filter(list, 2, "b==2"), 0);
	assert_string_equal(list->evsels[1]->filter, "a==1");
	assert_string_equal(list->evsels[2]->filter, "(a==1) && (b==2)");
	evlist__delete(list);
}

static void levels_are_overridden(void **state)
{
	struct pmus *pmus = *state;
	struct evlist *list = parse(pmus, "cycles:k");

	evlist__only_level(list, true);
	assert_false(list->evsels[0]->attr.exclude_user);
	assert_true(list->evsels[0]->attr.exclude_kernel);
	assert_string_equal(list->evsels[0]->name, "cycles:k");
	evlist__delete(list);
}

static void groups_on_different_cpus_are_split(void **state)
{
	static const char *const cpus[] = {"0-1", "0", "0-1"};
	struct pmus *pmus = *state;
	struct evlist *list = parse(pmus, "{cs,faults,migrations}");
	char *text = evlist__group_text(list, list->evsels[0]);
	int i;

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
}

static void counts_are_tables(void **state)
{
	struct pmus *pmus = *state;
	struct evlist *list = parse(pmus, "cs");
	struct evsel *evsel = list->evsels[0];

	evsel->cpus = cpumap__parse("0-3");
	assert_int_equal(evsel__alloc_counts(evsel), 0);
	assert_int_equal(evsel->counts->nr_cpus, 4);
	assert_int_equal(evsel->counts->nr_threads, 1);
	assert_int_equal(counts__at(evsel->counts, 3, 0)->value, 0);
	evlist__delete(list);
	evsel__delete(NULL);
	evlist__delete(NULL);
}

static void typing_mistakes_find_the_name(void **state)
{
	static const char *const list[] = {"cycles", "cache-misses", "cs", "page", NULL};
	static const struct {
		const char *name, *nearest;
	} rows[] = {
		{"cycels", "cycles"}, {"CYCLES", "cycles"}, {"cache-miss", "cache-misses"},
		{"nosuch", NULL},     {"x", NULL},	    {"", NULL},
		{"cd", "cs"},	      {"pgae", "page"},	    {"apeg", NULL}, /* two swaps */
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
	static const struct cgroup first = {.name = "a"}, second = {.name = "b"};
	struct pmus *pmus = *state;
	struct evlist *list = parse(pmus, "cycles,{cs,faults:u}:W,cpu-clock");

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
}

int main(void)
{
#define TEST(name, setup) cmocka_unit_test_setup_teardown(name, setup, end_use)
	const struct CMUnitTest tests[] = {
		TEST(excluded_kernels_show_in_names, use_x86),
		TEST(excluded_guests_show_in_names, use_x86),
		TEST(cycles_may_become_a_clock, use_none),
		TEST(user_level_is_one_byte_in_the_protocol, use_none),
		TEST(instances_have_names, use_x86),
		TEST(ambiguous_names_get_a_pmu, use_x86),
		TEST(filters_are_for_tracepoints, use_none),
		TEST(levels_are_overridden, use_none),
		TEST(groups_on_different_cpus_are_split, use_none),
		TEST(counts_are_tables, use_none),
		TEST(lists_are_repeated_for_cgroups, use_x86),
		cmocka_unit_test(typing_mistakes_find_the_name),
	};
	char *tracefs = data_path("tracefs");

	setenv("TRACEFS_PATH", tracefs, 1);
	free(tracefs);
	return cmocka_run_group_tests_name("evsel", tests, NULL, NULL);
}
