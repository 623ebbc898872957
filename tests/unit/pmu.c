// SPDX-License-Identifier: GPL-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <locale.h>
#include <string.h>

#include "event_data.h"
#include "util/host/cpumap.h"

static void trees_are_read_with_types_cpus_and_kinds(void **state)
{
	static const struct {
		const char *tree, *name;
		uint32_t type;
		bool core, uncore;
		const char *cpus;
		int max_precise;
	} rows[] = {
		{"x86", "cpu", 4, true, false, NULL, 3},
		{"x86", "uncore_imc_0", 14, false, true, "0,18", -1},
		{"x86", "arbiter", 16, false, true, "0", -1},
		{"x86", "msr", 10, false, false, NULL, -1},
		{"arm", "armv8_pmuv3_0", 8, true, false, "0-3", -1},
		{"hybrid", "cpu_atom", 10, true, false, "8-15", 2},
		{"none", "software", 1, false, false, NULL, -1},
		{"none", "tool", PMU_TYPE_TOOL, false, false, NULL, -1},
	};
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct pmus *pmus = data_pmus(rows[i].tree);
		const struct pmu *pmu = pmus__find(pmus, rows[i].name);
		char *cpus;

		assert_non_null(pmu);
		assert_int_equal(pmu->type, rows[i].type);
		assert_int_equal(pmu->is_core, rows[i].core);
		assert_int_equal(pmu->is_uncore, rows[i].uncore);
		assert_int_equal(pmu->max_precise, rows[i].max_precise);
		assert_ptr_equal(pmus__find_type(pmus, rows[i].type), pmu);
		cpus = pmu->cpus ? cpumap__str(pmu->cpus) : NULL;
		if (rows[i].cpus)
			assert_string_equal(cpus, rows[i].cpus);
		else
			assert_null(cpus);
		free(cpus);
		pmus__delete(pmus);
	}
}

static void core_pmus_come_first_and_instances_in_order(void **state)
{
	static const char *const order[] = {
		"cpu",	      "breakpoint", "msr",	    "power",	    "soc_ddr", "software",
		"tracepoint", "uncore_arb", "uncore_imc_0", "uncore_imc_1", "tool"};
	struct pmus *pmus = data_pmus("x86");
	const struct pmu *pmu = NULL;
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(order); i++) {
		pmu = pmus__next(pmus, pmu);
		assert_non_null(pmu);
		assert_string_equal(pmu->name, order[i]);
	}
	assert_null(pmus__next(pmus, pmu));
	assert_int_equal(pmus__nr_core(pmus), 1);
	assert_string_equal(pmus__core(pmus)->name, "cpu");
	pmus__delete(pmus);
	pmus = data_pmus("none");
	assert_null(pmus__core(pmus));
	pmus__delete(pmus);
}

static void formats_are_masks(void **state)
{
	static const struct {
		const char *pmu, *format;
		int word;
		uint64_t mask;
	} rows[] = {
		{"cpu", "event", 0, 0xff},
		{"cpu", "edge", 0, 1 << 18},
		{"cpu", "offcore_rsp", 1, ~0ULL},
		{"uncore_arb", "split", 2, 0xf00000000000000fULL},
	};
	struct pmus *pmus = data_pmus("x86");
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct pmu_format *format;

		format = pmu__format(pmus__find(pmus, rows[i].pmu), rows[i].format);
		assert_non_null(format);
		assert_int_equal(format->word, rows[i].word);
		assert_true(format->mask == rows[i].mask);
	}
	assert_null(pmu__format(pmus__find(pmus, "cpu"), "nosuch"));
	pmus__delete(pmus);
}

static void events_have_scale_unit_and_kind(void **state)
{
	struct pmus *pmus = data_pmus("x86");
	const struct pmu_event *event;
	int nr;

	(void)state;
	/* Numbers in sysfs do not follow the user's locale. The test still works if this one is missing. */
	(void)setlocale(LC_ALL, "de_DE.UTF-8");
	event = pmu__event(pmus__find(pmus, "power"), "ENERGY-pkg");
	assert_non_null(event);
	assert_string_equal(event->unit, "Joules");
	assert_true(event->scale == 2.3283064365386962890625e-10);
	assert_true(event->per_pkg);
	assert_false(event->snapshot);
	assert_true(pmu__event(pmus__find(pmus, "power"), "gauge")->snapshot);
	assert_null(pmu__event(pmus__find(pmus, "power"), "energy-pkg.unit"));
	assert_non_null(pmus__with_event(pmus, "ClockTicks", &nr));
	assert_int_equal(nr, 2);
	assert_string_equal(pmus__with_event(pmus, "cs", &nr)[0]->name, "software");
	assert_null(pmus__with_event(pmus, "nosuch", &nr));
	assert_int_equal(nr, 0);
	pmus__delete(pmus);
}

static void patterns_match_names(void **state)
{
	static const struct {
		const char *name, *pattern;
		bool matches;
	} rows[] = {
		{"uncore_imc_0", "uncore_imc_0", true},
		{"uncore_imc_0", "uncore_imc", true},
		{"uncore_imc_0", "imc", true},
		{"uncore_imc_0", "imc_0", true},
		{"uncore_imc_0", "*imc*", true},
		{"uncore_imc_0", "imc_?", true},
		{"uncore_imc_0", "im", false},
		{"uncore_imc_0", "imc_1", false},
		{"uncore_imc_free_running_0", "imc", false},
		{"imc0", "uncore_imc", true},
		{"imc10", "imc1", false},
		{"cpu_core", "cpu", false},
		{"cpu_atom", "cpu", false},
		{"arm_pmu_2b000", "arm_pmu", true},
		{"arm_pmu_ad", "arm_pmu", false},
		{"cpu", "", false},
	};
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct pmu pmu = {.name = (char *)rows[i].name};

		if (pmu__matches(&pmu, rows[i].pattern) != rows[i].matches)
			fail_msg("%s against %s", rows[i].name, rows[i].pattern);
	}
}

static void family_names_omit_numbers(void **state)
{
	static const struct {
		const char *name;
		int len;
	} rows[] = {
		{"uncore_imc_0", 10}, {"uncore_imc_12", 10}, {"cbox7", 4},
		{"cpu", 3},	      {"cpu_core", 8},	     {"amd_df", 6},
		{"arm_pmu_2b000", 7}, {"armv8_pmuv3_0", 11},
	};
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct pmu pmu = {.name = (char *)rows[i].name};

		if (pmu__family_len(&pmu) != rows[i].len)
			fail_msg("%s: %d", rows[i].name, pmu__family_len(&pmu));
	}
}

static void cores_that_are_all_offline_are_left_out(void **state)
{
	struct pmus *pmus = data_pmus("offline");
	const struct pmu *atom = pmus__find(pmus, "cpu_atom");

	(void)state;
	assert_true(atom->is_core);
	assert_int_equal(atom->cpus->nr, 0);
	assert_false(pmus__is_kept(pmus, atom));
	assert_true(pmus__is_kept(pmus, pmus__core(pmus)));
	pmus__delete(pmus);
}

static void a_filter_keeps_one_pmu_and_those_of_software(void **state)
{
	struct pmus *pmus = data_pmus("x86");

	(void)state;
	assert_int_equal(pmus__set_filter(pmus, "none"), -ENOENT);
	assert_true(pmus__is_kept(pmus, pmus__find(pmus, "cpu")));
	assert_int_equal(pmus__set_filter(pmus, "msr"), 0);
	assert_true(pmus__is_kept(pmus, pmus__find(pmus, "msr")));
	assert_false(pmus__is_kept(pmus, pmus__find(pmus, "cpu")));
	assert_true(pmus__is_kept(pmus, pmus__find(pmus, "software")));
	assert_true(pmus__is_kept(pmus, pmus__find(pmus, "tool")));
	pmus__delete(pmus);
}

static void a_kind_of_cores_keeps_no_other(void **state)
{
	struct pmus *pmus = data_pmus("hybrid");

	(void)state;
	assert_int_equal(pmus__set_cputype(pmus, "none"), -ENOENT);
	assert_int_equal(pmus__set_cputype(pmus, "atom"), 0);
	assert_true(pmus__is_kept(pmus, pmus__find(pmus, "cpu_atom")));
	assert_false(pmus__is_kept(pmus, pmus__find(pmus, "cpu_core")));
	assert_int_equal(pmus__set_cputype(pmus, "cpu_core"), 0);
	assert_true(pmus__is_kept(pmus, pmus__find(pmus, "cpu_core")));
	assert_false(pmus__is_kept(pmus, pmus__find(pmus, "cpu_atom")));
	pmus__delete(pmus);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(trees_are_read_with_types_cpus_and_kinds),
		cmocka_unit_test(core_pmus_come_first_and_instances_in_order),
		cmocka_unit_test(formats_are_masks),
		cmocka_unit_test(events_have_scale_unit_and_kind),
		cmocka_unit_test(patterns_match_names),
		cmocka_unit_test(family_names_omit_numbers),
		cmocka_unit_test(cores_that_are_all_offline_are_left_out),
		cmocka_unit_test(a_filter_keeps_one_pmu_and_those_of_software),
		cmocka_unit_test(a_kind_of_cores_keeps_no_other),
	};

	return cmocka_run_group_tests_name("pmu", tests, NULL, NULL);
}
