// SPDX-License-Identifier: GPL-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <string.h>

#include "event_data.h"
#include "said.h"
#include "util/defs/cpuid.h"
#include "util/defs/definitions.h"
#include "util/event/evlist.h"
#include "util/event/parse_events.h"
#include "util/metric/metric.h"

static void cpus_are_matched(void **state)
{
	static const struct {
		const char *pattern, *cpuid;
		bool matches;
	} rows[] = {
		{"GenuineIntel-6-6A-6", "GenuineIntel-6-6A-6", true},
		{"GenuineIntel-6-6A", "GenuineIntel-6-6A-6", true},
		{"GenuineIntel-6-6A-[0-5]", "GenuineIntel-6-6A-6", false},
		{"GenuineIntel-6-6A-[0-6]", "GenuineIntel-6-6A-6", true},
		{"GenuineIntel-6-(6A|6C)", "GenuineIntel-6-6C-1", true},
		{"GenuineIntel-6-6", "GenuineIntel-6-6A-6", false},
		{"AuthenticAMD-25-([245][[:xdigit:]]|[[:xdigit:]])", "AuthenticAMD-25-1-1", true},
		{"GenuineIntel-6-(6A", "GenuineIntel-6-6A-6", false},
		{"0x00000000410fd0c0", "0x00000000413fd0c1", true},
		{"0x00000000413fd0c1", "0x00000000413fd0c1", true},
		{"0x00000000413fd0c2", "0x00000000413fd0c1", false},
		{"0x00000000410fd0b0", "0x00000000413fd0c1", false},
		{"GenuineIntel-6-6A", "", false},
		{"GenuineIntel-6", "GenuineIntel-6", true},
		{"GenuineIntel", "GenuineIntel-6", false},
	};
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(rows); i++)
		assert_int_equal(cpuid__matches(rows[i].pattern, rows[i].cpuid), rows[i].matches);
}

static struct definitions *read_tree(const char *cpuid, const char *tree)
{
	struct definitions *defs = definitions__new();
	char *path = data_path(tree);

	setenv("PERF_CPUID", cpuid, 1);
	assert_non_null(defs);
	assert_int_equal(definitions__add_file(defs, path), 0);
	free(path);
	return defs;
}

/* Return: "TYPE CONFIG CONFIG1 CONFIG2" of an event of a CPU on the PMUs of a sysfs tree, or "". */
static char *event_on(const char *sysfs, const char *cpuid, const char *tree, const char *name)
{
	struct definitions *defs = read_tree(cpuid, tree);
	struct pmus *pmus = data_pmus(sysfs);
	struct evlist *list = evlist__new();
	struct parse_error error = {};
	char *text;

	pmus__set_definitions(pmus, defs);
	if (parse_events(list, pmus, name, &error))
		text = strdup("");
	else
		text = xasprintf("%u %#llx %#llx %#llx", list->evsels[0]->attr.type,
				 (unsigned long long)list->evsels[0]->attr.config,
				 (unsigned long long)list->evsels[0]->attr.config1,
				 (unsigned long long)list->evsels[0]->attr.config2);
	assert_non_null(text);
	parse_error__clear(&error);
	evlist__delete(list);
	pmus__delete(pmus);
	definitions__delete(defs);
	return text;
}

static char *event_of(const char *cpuid, const char *tree, const char *name)
{
	return event_on("x86", cpuid, tree, name);
}

#define ICELAKE "GenuineIntel-6-6A-6"

static void events_are_those_of_the_cpu(void **state)
{
	static const struct {
		const char *cpuid, *name, *event;
	} rows[] = {
		{ICELAKE, "l1d.replacement", "4 0x151 0 0"},
		{ICELAKE, "L1D.Replacement:u", "4 0x151 0 0"},
		{ICELAKE, "cpu/l1d.replacement,cmask=2/", "4 0x2000151 0 0"},
		{ICELAKE, "cpu.many", "4 0x48402a2 0 0"},
		{ICELAKE, "offcore.all", "4 0x1b7 0x10001 0"},
		{ICELAKE, "old.one", "4 0x77 0 0"},
		{ICELAKE, "inst_spec", "4 0x1b 0 0"},
		{ICELAKE, "generic.instructions", "0 0x1 0 0"},
		/* a name of sysfs keeps its meaning */
		{ICELAKE, "cpu/cache-misses/", "0 0x3 0 0"},
		{ICELAKE, "unc_m_reads", "14 0x304 0 0"},
		{ICELAKE, "uncore_imc_1/unc_m_reads/", "15 0x304 0 0"},
		{ICELAKE, "unc_arb_filtered", "16 0x80 0x2 0x1000000000000001"},
		{ICELAKE, "soc_reads", "42 0x2a 0 0"},
		{ICELAKE, "soc_other", ""},
		{ICELAKE, "other.event", ""},
		{"GenuineIntel-6-55-4", "other.event", "4 0x99 0 0"},
		{"GenuineIntel-6-55-7", "other.event", ""},
		{"GenuineIntel-6-55-4", "l1d.replacement", ""},
		/* a missing file does not affect the others */
		{"GenuineIntel-6-77-1", "soc_reads", "42 0x2a 0 0"},
	};
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		char *event = event_of(rows[i].cpuid, "metrics", rows[i].name);

		assert_string_equal(event, rows[i].event);
		free(event);
	}
}

#define LAKE "GenuineIntel-6-E1-5"

/*
 * The files of tests/data/vendors have the form of Linux 6.12's pmu-events. On Intel, they give events
 * of fixed counters the code 0, or none.
 */
static void fixed_counters_have_usable_codes(void **state)
{
	static const struct {
		const char *cpuid, *name, *event;
	} rows[] = {
		{LAKE, "cpu/inst_retired.any/", "4 0xc0 0 0"},
		{LAKE, "uncore_arb/inst_retired.any/", "16 0x1 0 0"},
		{LAKE, "inst_retired.any_p", "4 0xc0 0 0"},
		{LAKE, "cpu_clk_unhalted.thread", "4 0x3c 0 0"},
		{LAKE, "cpu_clk_unhalted.thread_any", "4 0x20003c 0 0"},
		{LAKE, "cpu_clk_unhalted.core", "4 0x3c 0 0"},
		{LAKE, "cpu_clk_unhalted.ref", "4 0x300 0 0"},
		{LAKE, "CPU_CLK_UNHALTED.REF_TSC", "4 0x300 0 0"},
		{LAKE, "cpu_clk_unhalted.ref_xclk", "4 0x13c 0 0"},
		{LAKE, "topdown.slots", "4 0x400 0 0"},
		{LAKE, "topdown_fe_bound.all", "4 0x19c 0 0"},
		{LAKE, "topdown_retiring.all", "4 0x72 0 0"},
		/* terms behind the name still apply */
		{LAKE, "cpu/inst_retired.any,cmask=2/u", "4 0x20000c0 0 0"},
	};
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		char *event = event_of(rows[i].cpuid, "vendors", rows[i].name);

		if (strcmp(event, rows[i].event))
			fail_msg("%s is %s", rows[i].name, event);
		free(event);
	}
}

/* Patterns of mapfile.csv overlap: the first of a kind counts. */
static void the_first_matching_line_counts(void **state)
{
	static const struct {
		const char *cpuid, *name, *event;
	} rows[] = {
		{"AuthenticAMD-25-21-0", "zen.common", "4 0x21 0 0"},
		{"AuthenticAMD-25-21-0", "zen.first", "4 0x11 0 0"},
		{"AuthenticAMD-25-21-0", "zen.second", ""},
		{"AuthenticAMD-25-61-2", "zen.common", "4 0x22 0 0"},
		{"AuthenticAMD-25-61-2", "zen.first", ""},
	};
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		char *event = event_of(rows[i].cpuid, "vendors", rows[i].name);

		if (strcmp(event, rows[i].event))
			fail_msg("%s: %s is %s", rows[i].cpuid, rows[i].name, event);
		free(event);
	}
}

#define ZEN "AuthenticAMD-26-44-0"
#define NEO "0x00000000411fd991"

/* The files have the forms of AMD's and of arm64's in Linux 6.12's pmu-events; names and codes are made up. */
static void other_vendors_events_have_their_codes(void **state)
{
	static const struct {
		const char *sysfs, *cpuid, *tree, *name, *event;
	} rows[] = {
		{"amd", ZEN, "vendors", "zx_retired_ops", "4 0xc1 0 0"},
		{"amd", ZEN, "vendors", "zx_empty_slots.stalled", "4 0x100001ea0 0 0"},
		{"amd", ZEN, "vendors", "zx_l3_lookups.missed", "11 0x303c00000000104 0 0"},
		{"amd", ZEN, "vendors", "amd_df/zx_dram_beats_1/", "10 0xf00fe5f 0 0"},
		{"amd", ZEN, "vendors", "zx_umc_clock", "12 0 0 0"},
		{"amd", ZEN, "vendors", "zx_umc_slots.write", "12 0x214 0 0"},
		{"amd", ZEN, "vendors", "amd_umc_1/zx_umc_slots.write/", "13 0x214 0 0"},
		{"arm64", NEO, "vendors-arm64", "stall_slot", "8 0x3f 0 0"},
		{"arm64", NEO, "vendors-arm64", "STALL_BACKEND_MEM:u", "8 0x4005 0 0"},
		{"arm64", NEO, "vendors-arm64", "armv8_neo/l1d_cache_rd/", "8 0x40 0 0"},
		{"arm64", NEO, "vendors-arm64", "neo_evictions", "8 0x120 0 0"},
		/* a template alone is no event */
		{"arm64", "0x00000000410fd980", "vendors-arm64", "stall_slot", ""},
		{"arm64", NEO, "vendors-arm64", "zx_mesh_missed", "20 0x10005 0 0"},
		{"arm64", NEO, "vendors-arm64", "arm_cmn_1/zx_mesh_missed,nodeid=8/",
		 "21 0x800010005 0 0"},
		{"arm64", NEO, "vendors-arm64", "zx_mesh_elsewhere", ""},
		{"arm64", NEO, "vendors-arm64", "zx_ddr.reads", "26 0x2a 0 0"},
		{"arm64", NEO, "vendors-arm64", "neo_ddr_writes", "24 0x81 0 0"},
		{"arm64", NEO, "vendors-arm64", "hisi_sccl3_ddrc1/neo_ddr_writes/", "25 0x81 0 0"},
		{"arm64", NEO, "vendors-arm64", "smmuv3_pmcg/transaction/", "22 0x1 0 0"},
		{"arm64", NEO, "vendors-arm64", "smmuv3_pmcg_2a000/transaction,filter_enable=1/",
		 "23 0x1 0x200000000 0"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		char *event = event_on(rows[i].sysfs, rows[i].cpuid, rows[i].tree, rows[i].name);

		if (strcmp(event, rows[i].event))
			fail_msg("%s is %s", rows[i].name, event);
		free(event);
	}
}

static void events_keep_scales_and_packages(void **state)
{
	struct definitions *defs = read_tree(ICELAKE, "metrics");
	struct pmus *pmus = data_pmus("x86");
	const struct pmu_event *event;

	(void)state;
	pmus__set_definitions(pmus, defs);
	event = pmu__event(pmus__find(pmus, "uncore_imc_0"), "unc_m_reads");
	assert_non_null(event);
	assert_true(event->has_scale && event->scale == 64 && event->per_pkg);
	assert_string_equal(event->unit, "Bytes");
	assert_string_equal(event->desc, "Memory reads");
	assert_string_equal(event->def->topic, "uncore");
	event = pmu__event(pmus__find(pmus, "cpu"), "inst_spec");
	assert_string_equal(event->def->long_desc,
			    "Operations executed speculatively, all of them");
	pmus__delete(pmus);
	definitions__delete(defs);
}

static void kinds_of_cores_have_events_of_their_own(void **state)
{
	struct definitions *defs = read_tree("GenuineIntel-6-97-2", "metrics");
	struct pmus *pmus = data_pmus("hybrid");
	struct evlist *list = evlist__new();
	struct parse_error error = {};
	char names[128] = "";
	int i;

	(void)state;
	pmus__set_definitions(pmus, defs);
	assert_int_equal(parse_events(list, pmus, "kind.event", &error), 0);
	for (i = 0; i < list->nr; i++)
		snprintf(names + strlen(names), sizeof(names) - strlen(names), "%s %#llx ",
			 list->evsels[i]->name, (unsigned long long)list->evsels[i]->attr.config);
	assert_string_equal(names, "cpu_core/kind.event/ 0x41 cpu_atom/kind.event/ 0x42 ");
	assert_non_null(
		strstr(definitions__find_metric(defs, "kind", "cpu_atom")->expr, "kind.event"));
	assert_string_equal(definitions__find_metric(defs, "KIND", "cpu_atom")->pmu, "cpu_atom");
	assert_string_equal(definitions__find_metric(defs, "kind", "cpu_core")->pmu, "cpu_core");
	evlist__delete(list);
	pmus__delete(pmus);
	definitions__delete(defs);
}

static void files_override_built_in_metrics(void **state)
{
	struct definitions *defs = read_tree(ICELAKE, "metrics");
	const struct metric_def *def = definitions__find_metric(defs, "insn_per_cycle", NULL);
	int nr = 0;

	(void)state;
	assert_string_equal(def->description, "Twice as good");
	def = definitions__find_metric(defs, "branch_miss_rate", NULL);
	assert_non_null(def);
	assert_null(definitions__find_metric(defs, "without_expression", NULL));
	assert_string_equal(definitions__find_metric(defs, "one_and_a_half", NULL)->group,
			    "Made;Up");
	assert_string_equal(definitions__find_metric(defs, "memory_reads", NULL)->unit, "64B/s");
	/* each name once */
	for (def = NULL; (def = definitions__next_metric(defs, def));)
		nr += !strcmp(def->name, "insn_per_cycle");
	assert_int_equal(nr, 1);
	definitions__delete(defs);
}

static void bad_files_are_named_and_left_out(void **state)
{
	struct definitions *defs = read_tree(ICELAKE, "metrics-bad");
	struct said out;
	char *said, *path;

	(void)state;
	said__begin(&out);
	assert_non_null(definitions__find_metric(defs, "fine", NULL));
	assert_null(definitions__find_metric(defs, "x", NULL));
	said = said__end(&out);
	assert_non_null(strstr(said, "broken.json:3:22: invalid JSON: "));
	assert_non_null(
		strstr(said, "neither.json: neither an array nor \"Events\" or \"Metrics\""));
	assert_null(strstr(said, "fine.json"));
	free(said);
	path = data_path("metrics-bad/none.json");
	said__begin(&out);
	assert_int_equal(definitions__add_file(defs, path), -ENOENT);
	said = said__end(&out);
	assert_non_null(strstr(said, "none.json': No such file or directory\n"));
	free(said);
	free(path);
	definitions__delete(defs);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cpus_are_matched),
		cmocka_unit_test(events_are_those_of_the_cpu),
		cmocka_unit_test(fixed_counters_have_usable_codes),
		cmocka_unit_test(the_first_matching_line_counts),
		cmocka_unit_test(other_vendors_events_have_their_codes),
		cmocka_unit_test(events_keep_scales_and_packages),
		cmocka_unit_test(kinds_of_cores_have_events_of_their_own),
		cmocka_unit_test(files_override_built_in_metrics),
		cmocka_unit_test(bad_files_are_named_and_left_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
