// SPDX-License-Identifier: GPL-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "event_data.h"
#include "said.h"
#include "util/defs/definitions.h"
#include "util/event/evlist.h"
#include "util/event/tool_values.h"
#include "util/metric/metric_groups.h"
#include "util/metric/metric_request.h"
#include "util/target/target.h"

struct world {
	struct definitions *defs;
	struct pmus *pmus;
	struct evlist *list;
	struct metric_requests requests;
	struct metric_request_options options;
};

static double literal_of(const struct target *target, const char *name)
{
	(void)target;
	return !strcmp(name, "smt_on") ? 1 : !strcmp(name, "slots") ? 8 : NAN;
}

static void make_world(struct world *world, const char *tree, const char *definitions)
{
	char *path = data_path(definitions);

	memset(world, 0, sizeof(*world));
	world->defs = definitions__new();
	world->pmus = data_pmus(tree);
	world->list = evlist__new();
	assert_true(world->defs && world->list);
	assert_int_equal(definitions__add_file(world->defs, path), 0);
	pmus__set_definitions(world->pmus, world->defs);
	world->options.scope.defs = world->defs;
	world->options.scope.pmus = world->pmus;
	world->options.scope.literal = literal_of;
	free(path);
}

static void end_world(struct world *world)
{
	metric_requests__clear(&world->requests);
	evlist__delete(world->list);
	pmus__delete(world->pmus);
	definitions__delete(world->defs);
}

/*
 * Return: the sets of the events, "1:{a b} c; 2:d", with :u for events of user space alone; owned by the
 * caller.
 */
static char *sets_of(const struct evlist *list)
{
	struct evsel *evsel;
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	int i, set = 0;

	assert_non_null(out);
	evlist__for_each(list, evsel, i) {
		if (evsel->metric_set != set)
			fprintf(out, "%s%d:", set ? "; " : "", evsel->metric_set);
		else
			fputc(' ', out);
		set = evsel->metric_set;
		fprintf(out, "%s%s%s", evsel->nr_members > 1 ? evsel->weak ? "{" : "!{" : "",
			evsel->metric_id, evsel->attr.exclude_kernel ? ":u" : "");
		if (evsel->idx == evsel->leader->idx + evsel->leader->nr_members - 1 &&
		    evsel->leader->nr_members > 1)
			fputc('}', out);
	}
	fclose(out);
	return text;
}

struct request_row {
	const char *metrics;
	bool no_group, no_merge, no_threshold, target_cpu;
	const char *sets;
};

static void compare_sets(const struct request_row *rows, size_t nr, const char *tree,
			 const char *definitions)
{
	size_t i;

	for (i = 0; i < nr; i++) {
		struct world world;
		char *sets;

		make_world(&world, tree, definitions);
		world.options.no_group = rows[i].no_group;
		world.options.no_merge = rows[i].no_merge;
		world.options.no_threshold = rows[i].no_threshold;
		world.options.scope.target_cpu = rows[i].target_cpu;
		assert_int_equal(
			metric_requests__add(&world.requests, rows[i].metrics, &world.options), 0);
		assert_int_equal(
			metric_requests__add_events(&world.requests, world.list, &world.options),
			0);
		sets = sets_of(world.list);
		assert_string_equal(sets, rows[i].sets);
		free(sets);
		end_world(&world);
	}
}

static void events_are_sets(void **state)
{
	static const struct request_row rows[] = {
		{"insn_per_cycle", .sets = "1:{instructions cpu-cycles}"},
		{"INSN_Per_Cycle,insn_per_cycle", .sets = "1:{instructions cpu-cycles}"},
		{"insn_per_cycle", .no_group = true, .sets = "1:instructions cpu-cycles"},
		{"insn_per_cycle:u", .sets = "1:{instructions:u cpu-cycles:u}"},
		{"insn_per_cycle:u", .no_group = true, .sets = "1:instructions:u cpu-cycles:u"},
		{"branch_miss_rate,insn_per_cycle",
		 .sets = "1:{branch-misses branches}; 2:{instructions cpu-cycles}"},
		/* the clock follows the target; perf's own events stay outside */
		{"CPUs_utilized", .sets = "1:task-clock duration_time"},
		{"CPUs_utilized", .target_cpu = true, .sets = "1:cpu-clock duration_time"},
		/* a smaller metric finds its events in a larger group */
		{"small,large", .sets = "1:{instructions cpu-cycles branches}"},
		{"small,large", .no_merge = true,
		 .sets = "1:{instructions cpu-cycles branches}; 2:{cpu-cycles branches}"},
		{"small:u,large",
		 .sets = "1:{instructions cpu-cycles branches}; 2:{cpu-cycles:u branches:u}"},
		{"large,small", .no_group = true, .sets = "1:instructions cpu-cycles branches"},
		/* single events are shared, a constraint keeps a metric out of a group */
		{"cs_per_second,alone", .sets = "1:context-switches task-clock cpu-cycles"},
		{"when_smt", .sets = "1:cpu-cycles branches"},
		{"made_of_metrics", .sets = "1:{instructions cpu-cycles branches}"},
		{"limit", .sets = "1:{cpu-cycles branches}"},
		{"limit", .no_threshold = true, .sets = "1:cpu-cycles"},
		{"decided", .sets = "1:cpu-cycles"},
		{"one_event", .sets = "1:cpu/event=0x1,umask=0x0/"},
		{"terms", .sets = "1:{cpu/event=0x11,name=eleven/ instructions:k}"},
		{"branches", .sets = "1:branches"},
		/* every set gets perf's own events that any needs */
		{"timed,large", .sets = "1:{instructions cpu-cycles branches} duration_time; "
					"2:cpu-cycles duration_time"},
		{"Sizes", .sets = "1:{instructions cpu-cycles branches}"},
		{"Kept_apart", .sets = "1:instructions branches"},
		{"apart", .sets = "1:{instructions branches}"},
		{"constant", .sets = "1:duration_time"},
		{"alone,constant", .sets = "1:cpu-cycles duration_time; 2:duration_time"},
		{"by_cpu", .sets = "1:instructions"},
	};
	static const struct request_row elsewhere[] = {
		{"by_cpu", .sets = "1:branches"},
	};

	(void)state;
	setenv("PERF_CPUID", "GenuineIntel-6-55-4", 1);
	compare_sets(elsewhere, 1, "x86", "requests.json");
	setenv("PERF_CPUID", "GenuineIntel-6-6A-6", 1);
	compare_sets(rows, ARRAY_SIZE(rows), "x86", "requests.json");
}

static void rows_of_modified_metrics_say_so(void **state)
{
	static const char *const names[] = {
		"eleven",	 "instructions:ku", "task-clock", "cpu/event=0x1,umask=0x0/u",
		"duration_time",
	};
	struct world world;
	int i;

	(void)state;
	make_world(&world, "x86", "requests.json");
	world.options.no_group = true;
	assert_int_equal(metric_requests__add(&world.requests,
					      "terms:u,CPUs_utilized:u,one_event:u",
					      &world.options),
			 0);
	assert_int_equal(metric_requests__add_events(&world.requests, world.list, &world.options),
			 0);
	assert_int_equal(world.list->nr, ARRAY_SIZE(names));
	for (i = 0; i < world.list->nr; i++)
		assert_string_equal(world.list->evsels[i]->name, names[i]);
	end_world(&world);
}

static void kinds_of_cores_have_separate_sets(void **state)
{
	static const struct request_row rows[] = {
		{"kind", .sets = "1:{kind.event cpu-cycles}; 2:{kind.event cpu-cycles}"},
	};

	(void)state;
	setenv("PERF_CPUID", "GenuineIntel-6-97-2", 1);
	compare_sets(rows, ARRAY_SIZE(rows), "hybrid", "metrics");
}

/* Formulas of cores also use events of the package and of msr. */
static void cores_use_events_of_other_pmus(void **state)
{
	static const struct request_row rows[] = {
		{"info_utilization", .sets = "1:{CPU_CLK_UNHALTED.REF_TSC msr/tsc,cpu=cpu_core/}"},
		{"info_per_socket_clock", .sets = "1:{INST_RETIRED.ANY TSC} UNC_CLOCK.SOCKET"},
	};

	(void)state;
	setenv("PERF_CPUID", "GenuineIntel-6-E8-1", 1);
	compare_sets(rows, ARRAY_SIZE(rows), "hybrid", "vendors");
}

#define ZEN "AuthenticAMD-26-44-0"

/* Metrics in the forms of AMD's and arm64's files. */
static void other_vendors_metrics_find_their_events(void **state)
{
	static const struct request_row amd[] = {
		{"zx_wrong_rate", .sets = "1:{zx_wrong_branches zx_retired_branches}"},
		{"zx_front_bound", .sets = "1:{zx_empty_slots.from_front zx_cycles_running}"},
		{"zx_other_bound",
		 .sets = "1:{zx_empty_slots.from_front zx_cycles_running cpu/zx_empty_slots.stalled,cmask=0x1/}"},
		{"zx_l3_miss_share", .sets = "1:{zx_l3_lookups.missed zx_l3_lookups.all}"},
		{"zx_to_dram", .sets = "1:zx_dram_beats_0 zx_dram_beats_1"},
		{"zx_umc_bus",
		 .sets = "1:{zx_umc_slots.all zx_umc_clock} {zx_umc_slots.all zx_umc_clock}"},
		{"zx_umc_write_rate",
		 .sets = "1:zx_umc_slots.write zx_umc_slots.write duration_time"},
	};
	static const struct request_row neo[] = {
		{"kept_share", .sets = "1:{op_retired op_spec stall_slot cpu_cycles}"},
		{"front_share", .sets = "1:{stall_slot_frontend stall_slot cpu_cycles}"},
		{"neo_memory_stalls", .sets = "1:{STALL_BACKEND_MEM CPU_CYCLES}"},
		{"neo_by_slots", .sets = "1:{INST_RETIRED CPU_CYCLES}"},
		{"neo_ddr_bytes",
		 .sets = "1:{neo_ddr_reads neo_ddr_writes} {neo_ddr_reads neo_ddr_writes}"},
		{"zx_mesh_miss_share",
		 .sets = "1:{zx_mesh_missed zx_mesh_looked_up} {zx_mesh_missed zx_mesh_looked_up}"},
		{"zx_ddr_read.all", .sets = "1:zx_ddr.reads"},
	};
	static const struct request_row later_neo[] = {
		{"front_share", .sets = "1:{stall_slot_frontend cpu_cycles}"},
	};

	(void)state;
	setenv("PERF_CPUID", ZEN, 1);
	compare_sets(amd, ARRAY_SIZE(amd), "amd", "vendors");
	setenv("PERF_CPUID", "0x00000000410fd990", 1);
	compare_sets(neo, ARRAY_SIZE(neo), "arm64", "vendors-arm64");
	setenv("PERF_CPUID", "0x00000000410fd993", 1);
	compare_sets(later_neo, ARRAY_SIZE(later_neo), "arm64", "vendors-arm64");
}

/* Return: the number of metrics in files; each finds all of its events. */
static int resolve_all(const char *cpuid, const char *tree, const char *definitions)
{
	const struct metric_def *def = NULL;
	struct world world;
	int nr = 0;

	setenv("PERF_CPUID", cpuid, 1);
	make_world(&world, tree, definitions);
	while ((def = definitions__next_metric(world.defs, def))) {
		struct metric_requests requests = {};

		/* of perf itself, and of a mesh that is not here */
		if (strncmp(def->name, "zx_", 3) && strncmp(def->name, "neo_", 4) &&
		    !strstr(def->name, "_share"))
			continue;
		if (!strcmp(def->name, "zx_mesh_other_share"))
			continue;
		if (metric_requests__add(&requests, def->name, &world.options) ||
		    metric_requests__add_events(&requests, world.list, &world.options) ||
		    !requests.nr)
			fail_msg("%s", def->name);
		metric_requests__clear(&requests);
		nr++;
	}
	end_world(&world);
	return nr;
}

static void all_metrics_of_other_vendors_resolve(void **state)
{
	(void)state;
	assert_int_equal(resolve_all(ZEN, "amd", "vendors"), 8);
	/* front_share is defined twice: the processor's formula replaces that of all */
	assert_int_equal(resolve_all("0x00000000410fd990", "arm64", "vendors-arm64"), 7);
}

/* The PMU of the cores has another name on each machine with a device tree. */
static void slots_are_those_of_the_cores(void **state)
{
	char *path = data_path("sysfs-arm64");
	struct target target = {};
	uint64_t slots;

	(void)state;
	setenv("SYSFS_PATH", path, 1);
	assert_int_equal(tool__value(TOOL_SLOTS, &target, &slots), 0);
	assert_int_equal(slots, 8);
	unsetenv("SYSFS_PATH");
	free(path);
}

/* A metric that cannot be counted here costs itself, not the others of -M. */
static void bad_metrics_cost_only_themselves(void **state)
{
	struct world world;
	struct said out;
	char *said;

	(void)state;
	make_world(&world, "x86", "metrics-bad/fine.json");
	said__begin(&out);
	assert_int_equal(metric_requests__add(&world.requests, "syntax,fine,unknown_event,loop",
					      &world.options),
			 0);
	said = said__end(&out);
	assert_string_equal(
		said,
		"perf: metric 'syntax': unexpected end at column 4 of '1 +'\n"
		"perf: Cannot resolve IDs for unknown_event: no_such_event / 2 (event 'no_such_event' is not known here)\n"
		"perf: metric 'loop' refers to itself\n");
	free(said);
	assert_int_equal(world.requests.nr, 1);
	assert_string_equal(world.requests.requests[0].def.label, "fine");
	end_world(&world);
}

static void names_are_labels(void **state)
{
	struct world world;

	(void)state;
	make_world(&world, "x86", "requests.json");
	assert_int_equal(
		metric_requests__add(&world.requests, "small:uk,one_event,large", &world.options),
		0);
	assert_int_equal(world.requests.nr, 3);
	assert_string_equal(world.requests.requests[0].def.label, "small:uk");
	assert_string_equal(world.requests.requests[1].def.label, "one_event");
	assert_string_equal(world.requests.requests[2].def.label, "large");
	end_world(&world);
}

static void messages_name_uncountable_metrics(void **state)
{
	static const struct {
		const char *metrics;
		int err;
		const char *said;
	} rows[] = {
		{"nosuch", -ENOENT,
		 "Cannot find metric or group `nosuch'\n"
		 "Run 'perf list metrics' for a list of them\n"},
		{"insn_per_cicle", -ENOENT,
		 "Cannot find metric or group `insn_per_cicle'\n"
		 "Did you mean 'insn_per_cycle'?\n"
		 "Run 'perf list metrics' for a list of them\n"},
		{"fine,", -ENOENT,
		 "Cannot find metric or group `'\n"
		 "Run 'perf list metrics' for a list of them\n"},
		{"fine:zz", -ENOENT,
		 "Cannot find metric or group `fine:zz'\n"
		 "Run 'perf list metrics' for a list of them\n"},
		{"unknown_event", -EINVAL,
		 "perf: Cannot resolve IDs for unknown_event: "
		 "no_such_event / 2 (event 'no_such_event' is not known here)\n"},
		{"loop", -EINVAL, "perf: metric 'loop' refers to itself\n"},
		{"syntax", -EINVAL, "perf: metric 'syntax': unexpected end at column 4 of '1 +'\n"},
		{"Some", 0, ""},
		{"fine", 0, ""},
	};
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct world world;
		struct said out;
		char *said;

		make_world(&world, "x86", "metrics-bad/fine.json");
		said__begin(&out);
		assert_int_equal(
			metric_requests__add(&world.requests, rows[i].metrics, &world.options),
			rows[i].err);
		said = said__end(&out);
		assert_string_equal(said, rows[i].said);
		free(said);
		if (!rows[i].err)
			assert_int_equal(world.requests.nr, 1);
		end_world(&world);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(events_are_sets),
		cmocka_unit_test(rows_of_modified_metrics_say_so),
		cmocka_unit_test(kinds_of_cores_have_separate_sets),
		cmocka_unit_test(cores_use_events_of_other_pmus),
		cmocka_unit_test(other_vendors_metrics_find_their_events),
		cmocka_unit_test(all_metrics_of_other_vendors_resolve),
		cmocka_unit_test(slots_are_those_of_the_cores),
		cmocka_unit_test(bad_metrics_cost_only_themselves),
		cmocka_unit_test(names_are_labels),
		cmocka_unit_test(messages_name_uncountable_metrics),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
