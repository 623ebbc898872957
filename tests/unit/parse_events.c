// SPDX-License-Identifier: GPL-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "event_data.h"
#include "util/event/default_events.h"
#include "util/event/evlist.h"
#include "util/event/parse_events.h"
#include "util/host/cpumap.h"
#include "util/lib/msg.h"

/* Return: a text of a list of events, one event after the other, groups in braces. */
static char *dump(const struct evlist *list)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	int i;

	for (i = 0; i < list->nr; i++) {
		const struct evsel *evsel = list->evsels[i];
		const struct perf_event_attr *attr = &evsel->attr;
		const struct evsel *leader = evsel->leader;
		const struct {
			bool on;
			const char *text;
		} flags[] = {
			{attr->exclude_user, " -u"},
			{attr->exclude_kernel, " -k"},
			{attr->exclude_hv, " -h"},
			{attr->exclude_guest, " -G"},
			{attr->exclude_host, " -H"},
			{attr->exclude_idle, " -I"},
			{attr->pinned, " pinned"},
			{attr->exclusive, " exclusive"},
			{evsel->share, " share"},
			{evsel->weak, " weak"},
			{evsel->keep_ungrouped, " X"},
			{evsel->percore, " percore"},
			{evsel->per_pkg, " per-pkg"},
			{evsel->snapshot, " snapshot"},
			{evsel->needs_cpu, " cpu"},
			{evsel->hidden, " hidden"},
			{evsel->merge_leader, " merged"},
			{evsel->auto_merge && !evsel->merge_leader, " merges"},
		};
		size_t f;

		fprintf(out, "%s", i ? "; " : "");
		if (leader == evsel && evsel->nr_members > 1)
			fprintf(out, "%s{", evsel->group_name ? evsel->group_name : "");
		fprintf(out, "%s", evsel->name);
		if (evsel->tool)
			fprintf(out, " tool/%d", evsel->tool);
		else
			fprintf(out, " %u/%llx", attr->type, (unsigned long long)attr->config);
		if (attr->config1 || attr->config2)
			fprintf(out, "/%llx/%llx", (unsigned long long)attr->config1,
				(unsigned long long)attr->config2);
		if (evsel->more_config[0] || evsel->more_config[1])
			fprintf(out, " more=%llx/%llx", (unsigned long long)evsel->more_config[0],
				(unsigned long long)evsel->more_config[1]);
		if (attr->bp_type)
			fprintf(out, " bp=%u", attr->bp_type);
		if (attr->precise_ip)
			fprintf(out, " p%u", attr->precise_ip);
		for (f = 0; f < ARRAY_SIZE(flags); f++) {
			if (flags[f].on)
				fputs(flags[f].text, out);
		}
		if (evsel->scale != 1.0 || *evsel->unit)
			fprintf(out, " x%g%s", evsel->scale, evsel->unit);
		if (evsel->own_cpus) {
			char *cpus = cpumap__str(evsel->own_cpus);

			fprintf(out, " @%s", cpus);
			free(cpus);
		}
		if (evsel->metric_id)
			fprintf(out, " id=%s", evsel->metric_id);
		if (leader != evsel && evsel->idx == leader->idx + leader->nr_members - 1)
			fputc('}', out);
		assert_int_equal(evsel->idx, i);
		assert_int_equal(attr->size, sizeof(*attr));
	}
	fclose(out);
	return text;
}

struct good_row {
	const char *tree;
	const char *text;
	const char *events;
};

static void check_good(const struct good_row *rows, size_t nr)
{
	size_t i;

	for (i = 0; i < nr; i++) {
		struct pmus *pmus = data_pmus(rows[i].tree);
		struct evlist *list = evlist__new();
		struct parse_error err;
		char *text;
		int ret = parse_events(list, pmus, rows[i].text, &err);

		if (ret)
			fail_msg("%s: %s: '%s' at %d", rows[i].tree, rows[i].text, err.reason,
				 err.column);
		text = dump(list);
		if (strcmp(text, rows[i].events))
			fail_msg("%s: %s:\n got %s\nwant %s", rows[i].tree, rows[i].text, text,
				 rows[i].events);
		free(text);
		evlist__delete(list);
		pmus__delete(pmus);
	}
}

static void generic_names_and_aliases_give_one_attr(void **state)
{
	static const struct good_row rows[] = {
		{"none", "cycles", "cycles 0/0"},
		{"x86", "cpu-cycles", "cpu-cycles 0/0"},
		{"x86", "cycles,cpu-cycles", "cycles 0/0; cpu-cycles 0/0"},
		{"x86", "cpu/cycles/,cpu/cpu-cycles/", "cpu/cycles/ 0/0; cpu/cpu-cycles/ 0/0"},
		{"x86", "instructions", "instructions 0/1"},
		{"x86", "cache-references,cache-misses", "cache-references 0/2; cache-misses 0/3"},
		{"x86", "branches,branch-instructions", "branches 0/4; branch-instructions 0/4"},
		{"x86", "branch-misses,bus-cycles", "branch-misses 0/5; bus-cycles 0/6"},
		{"x86", "stalled-cycles-frontend,idle-cycles-frontend",
		 "stalled-cycles-frontend 0/7; idle-cycles-frontend 0/7"},
		{"x86", "stalled-cycles-backend,idle-cycles-backend",
		 "stalled-cycles-backend 0/8; idle-cycles-backend 0/8"},
		{"x86", "ref-cycles", "ref-cycles 0/9"},
		{"arm", "cycles", "cycles 0/0 @0-3"},
		{"x86", "CYCLES", "CYCLES 0/0"},
		{"none", "cycles/name=c/u", "c 0/0 -k -h"},
	};

	(void)state;
	check_good(rows, ARRAY_SIZE(rows));
}

static void cache_names_have_all_spellings(void **state)
{
	static const struct good_row rows[] = {
		{"none", "L1-dcache-loads", "L1-dcache-loads 3/0"},
		{"none", "L1-dcache-load-misses", "L1-dcache-load-misses 3/10000"},
		{"none", "l1-d", "l1-d 3/0"},
		{"none", "l1d-read-miss", "l1d-read-miss 3/10000"},
		{"none", "L1-DATA-misses", "L1-DATA-misses 3/10000"},
		{"none", "L1-icache-prefetches", "L1-icache-prefetches 3/201"},
		{"none", "LLC-stores,L2-write-refs", "LLC-stores 3/102; L2-write-refs 3/102"},
		{"none", "d-tlb-store-misses", "d-tlb-store-misses 3/10103"},
		{"none", "Instruction-TLB-load-ops", "Instruction-TLB-load-ops 3/4"},
		{"none", "branch,bpu-loads,branches-load-misses",
		 "branch 3/5; bpu-loads 3/5; branches-load-misses 3/10005"},
		{"none", "node-speculative-load-miss", "node-speculative-load-miss 3/10206"},
	};

	(void)state;
	check_good(rows, ARRAY_SIZE(rows));
}

static void software_and_tool_names_are_known(void **state)
{
	static const struct good_row rows[] = {
		{"none", "cs,context-switches,CS", "cs 1/3; context-switches 1/3; CS 1/3"},
		{"none", "software/cs/", "software/cs/ 1/3"},
		{"none", "cpu-clock", "cpu-clock 1/0 x1e-06msec"},
		{"none", "1:0", "1:0 1/0 x1e-06msec"},
		{"none", "software/task-clock/u", "software/task-clock/u 1/1 -k -h x1e-06msec"},
		{"none", "page-faults,faults,minor-faults,major-faults",
		 "page-faults 1/2; faults 1/2; minor-faults 1/5; major-faults 1/6"},
		{"none", "migrations,alignment-faults,emulation-faults,dummy",
		 "migrations 1/4; alignment-faults 1/7; emulation-faults 1/8; dummy 1/9"},
		{"none", "bpf-output,cgroup-switches", "bpf-output 1/a; cgroup-switches 1/b"},
		{"none", "duration_time,tool/user_time/",
		 "duration_time tool/1; tool/user_time/ tool/2"},
		{"none", "cs/name=x/", "x 1/3"},
		{"none", "cs:", "cs: 1/3"},
		{"none", " cs, cs", "cs 1/3; cs 1/3"},
	};

	(void)state;
	check_good(rows, ARRAY_SIZE(rows));
}

static void numbers_and_breakpoints_are_parsed(void **state)
{
	static const struct good_row rows[] = {
		{"none", "r1a8", "r1a8 4/1a8"},
		{"x86", "r1A8:u", "r1A8:u 4/1a8 -k -h"},
		{"arm", "r11", "r11 8/11 @0-3"},
		{"x86", "cpu/r1a8/,cpu/r0x1a8/", "cpu/r1a8/ 4/1a8; cpu/r0x1a8/ 4/1a8"},
		{"none", "r1a8/name=x/k", "x 4/1a8 -u -h"},
		{"none", "4:0x1a8,0x1:010", "4:0x1a8 4/1a8; 0x1:010 1/a"},
		{"none", "77:5/name=y/", "y 77/5"},
		{"none", "mem:0x1000", "mem:0x1000 5/0/1000/4 bp=3"},
		{"none", "mem:0x1000/8:w:u", "mem:0x1000/8:w:u 5/0/1000/8 bp=2 -k -h"},
		{"none", "mem:4096:rw", "mem:4096:rw 5/0/1000/4 bp=3"},
		{"none", "mem:0x1000/2/name=z/k", "z 5/0/1000/2 bp=3 -u -h"},
		{"none", "mem:0x1000/name=z/", "z 5/0/1000/4 bp=3"},
		{"none", "mem:0x1000:k", "mem:0x1000:k 5/0/1000/4 bp=3 -u -h"},
#if defined(__x86_64__)
		{"none", "mem:0x1000:x", "mem:0x1000:x 5/0/1000/8 bp=4"},
#endif
	};

	(void)state;
	check_good(rows, ARRAY_SIZE(rows));
}

static void pmu_terms_set_config(void **state)
{
	static const struct good_row rows[] = {
		{"x86", "cpu/event=0x3c,umask=1/", "cpu/event=0x3c,umask=1/ 4/13c"},
		{"x86", "cpu/event=60,inv,edge,cmask=2/",
		 "cpu/event=60,inv,edge,cmask=2/ 4/284003c"},
		{"x86", "cpu/instructions,cmask=1/", "cpu/instructions,cmask=1/ 4/10000c0"},
		{"x86", "cpu/cycles,cmask=1/", "cpu/cycles,cmask=1/ 4/100003c"},
		{"x86", "cpu/event=mem-loads/", "cpu/event=mem-loads/ 4/1cd/3/0"},
		{"x86", "cpu/mem-loads,ldlat=30/", "cpu/mem-loads,ldlat=30/ 4/1cd/1e/0"},
		{"x86", "mem-loads", "mem-loads 4/1cd/3/0"},
		{"x86", "cpu/mem-loads/ppu", "cpu/mem-loads/ppu 4/1cd/3/0 p2 -k -h"},
		{"x86", "cpu/needs-param,cmask=3/", "cpu/needs-param,cmask=3/ 4/3000010"},
		{"x86", "cpu//", "cpu// 4/0"},
		{"x86", "cpu/config=0x3c,config1=7,config2=8/",
		 "cpu/config=0x3c,config1=7,config2=8/ 4/3c/7/8"},
		/* whatever the headers of the build have */
		{"x86", "cpu/config3=0x1ffffffff,config4=9/",
		 "cpu/config3=0x1ffffffff,config4=9/ 4/0 more=1ffffffff/9"},
		{"none", "cs/config4=9/", "cs/config4=9/ 1/3 more=0/9"},
		{"x86", "uncore_arb/wide=0xff/",
		 "uncore_arb/wide=0xff/ 16/0 more=f0000000000000f0/0 cpu @0"},
		{"x86", "uncore_arb/split=0xff/",
		 "uncore_arb/split=0xff/ 16/0/0/f00000000000000f cpu @0"},
		{"x86", "arbiter/reqs/", "arbiter/reqs/ 16/81 cpu @0"},
		{"x86", "cpu/event=1,name='a:b,c=d.e',period=1000,percore,metric-id=m/",
		 "a:b,c=d.e 4/1 percore id=m"},
		{"x86", "cpu/event=1,percore=0,cpu=3,cpu=1-2/",
		 "cpu/event=1,percore=0,cpu=3,cpu=1-2/ 4/1 cpu @1-3"},
		{"x86", "cpu/event=1,cpu=power/", "cpu/event=1,cpu=power/ 4/1 cpu @0,18"},
		{"x86", "cpu/legacy-hardware-config=1/", "cpu/legacy-hardware-config=1/ 0/1"},
		{"x86", "cpu/legacy-cache-config=0x10000/",
		 "cpu/legacy-cache-config=0x10000/ 3/10000"},
		{"x86", "power/energy-pkg/",
		 "power/energy-pkg/ 20/2 per-pkg cpu x2.32831e-10Joules @0,18"},
		{"x86", "power/gauge/", "power/gauge/ 20/9 snapshot cpu @0,18"},
		{"arm", "armv8_pmuv3_0/cpu_cycles,long/",
		 "armv8_pmuv3_0/cpu_cycles,long/ 8/11/1/0 @0-3"},
		{"arm", "armv8_pmuv3/l1d_cache/", "armv8_pmuv3/l1d_cache/ 8/4 @0-3"},
	};

	(void)state;
	check_good(rows, ARRAY_SIZE(rows));
}

static void pmu_patterns_become_one_row(void **state)
{
#define TWO(name, rest0, rest1) name " 14/" rest0 "; " name " 15/" rest1
	static const struct good_row rows[] = {
		{"x86", "uncore_imc_1/clockticks/", "uncore_imc_1/clockticks/ 15/0 cpu @0,18"},
		{"x86", "uncore_imc/clockticks/",
		 TWO("uncore_imc/clockticks/", "0 cpu merges @0,18", "0 cpu merged @0,18")},
		{"x86", "imc/clockticks/u",
		 TWO("imc/clockticks/u", "0 -k -h cpu merges @0,18", "0 -k -h cpu merged @0,18")},
		{"x86", "*imc*/event=4/",
		 TWO("*imc*/event=4/", "4 cpu merges @0,18", "4 cpu merged @0,18")},
		{"x86", "clockticks",
		 TWO("clockticks", "0 cpu merges @0,18", "0 cpu merged @0,18")},
		{"x86", "cas_count_read/name=r/",
		 TWO("r", "304 cpu merges x6.10352e-05MiB @0,18",
		     "304 cpu merged x6.10352e-05MiB @0,18")},
		/* PMUs of several families that match a pattern have no sum */
		{"x86", "uncore_[ai]*/event=4/",
		 "uncore_[ai]*/event=4/ 16/4 cpu @0; " TWO(
			 "uncore_[ai]*/event=4/", "4 cpu merges @0,18", "4 cpu merged @0,18")},
		/* a group of events with several instances becomes a group for each instance */
		{"x86", "{imc/clockticks/,imc/event=4/}",
		 "{imc/clockticks/ 14/0 cpu merges @0,18; imc/event=4/ 14/4 cpu merges @0,18}; "
		 "{imc/clockticks/ 15/0 cpu merged @0,18; imc/event=4/ 15/4 cpu merged @0,18}"},
	};

	(void)state;
	check_good(rows, ARRAY_SIZE(rows));
}

static void modifiers_have_any_order(void **state)
{
	static const struct good_row rows[] = {
		{"none", "cycles:u", "cycles:u 0/0 -k -h"},
		{"none", "cycles:k", "cycles:k 0/0 -u -h"},
		{"none", "cycles:h", "cycles:h 0/0 -u -k"},
		{"none", "cycles:uk,cycles:ku", "cycles:uk 0/0 -h; cycles:ku 0/0 -h"},
		{"none", "cycles:ukh", "cycles:ukh 0/0"},
		{"none", "cycles:G,cycles:H,cycles:GH",
		 "cycles:G 0/0 -H; cycles:H 0/0 -G; cycles:GH 0/0"},
		{"none", "cycles:I,cycles:ppp", "cycles:I 0/0 -I; cycles:ppp 0/0 p3"},
		/* counting needs level 0: with another, Intel's PMU refuses the event */
		{"x86", "cycles:P,cycles:pP", "cycles:P 0/0; cycles:pP 0/0"},
		{"none", "cycles:Pu", "cycles:Pu 0/0 -k -h"},
		{"none", "cycles:pup", "cycles:pup 0/0 p2 -k -h"},
		{"none", "cycles:De,cycles:SRX",
		 "cycles:De 0/0 pinned exclusive; cycles:SRX 0/0 X"},
		{"none", "cycles:bu", "cycles:bu 0/0 -k -h share"},
	};

	(void)state;
	check_good(rows, ARRAY_SIZE(rows));
}

static void groups_are_split_by_pmu(void **state)
{
	static const struct good_row rows[] = {
		{"x86", "{cycles,instructions}", "{cycles 0/0; instructions 0/1}"},
		{"x86", "grp{cycles,instructions}:W,cs",
		 "grp{cycles 0/0 weak; instructions 0/1}; cs 1/3"},
		{"x86", "{cycles:u,instructions}:k", "{cycles:u 0/0 -h; instructions 0/1 -u -h}"},
		{"x86", "{cycles:p,instructions}:pp", "{cycles:p 0/0 p3; instructions 0/1 p2}"},
		{"x86", "{cycles:p,instructions:P}:p", "{cycles:p 0/0 p2; instructions:P 0/1}"},
		{"x86", "{cycles,instructions}:De",
		 "{cycles 0/0 pinned exclusive; instructions 0/1}"},
		{"x86", "{cycles,instructions:D}", "{cycles 0/0; instructions:D 0/1 pinned}"},
		{"x86", "{cycles,instructions:b}", "{cycles 0/0 share; instructions:b 0/1 share}"},
		{"x86", "{cycles,instructions}:bW",
		 "{cycles 0/0 share weak; instructions 0/1 share}"},
		{"x86", "{cs,cycles,msr/tsc/}", "{cs 1/3; cycles 0/0; msr/tsc/ 10/0}"},
		{"x86", "{cycles}", "cycles 0/0"},
		{"x86", " g { cycles:u , cpu/event=1/ } :W ,\n cs: , cpu/event=2/k\n",
		 "g{cycles:u 0/0 -k -h weak; cpu/event=1/ 4/1}; cs: 1/3; cpu/event=2/k 4/2 -u -h"},
		{"none", "{cycles,cs}:W", "{cycles 0/0 weak; cs 1/3}"},
		/* one PMU in each group */
		{"x86", "{cycles,uncore_arb/reqs/,instructions}:W",
		 "{cycles 0/0 weak; instructions 0/1}; uncore_arb/reqs/ 16/81 cpu @0"},
		{"x86", "{cycles,duration_time,instructions}",
		 "{cycles 0/0; instructions 0/1}; duration_time tool/1"},
		{"x86", "{cycles,uncore_arb/reqs/X}",
		 "{cycles 0/0; uncore_arb/reqs/X 16/81 X cpu @0}"},
		/* slots becomes the group's leader */
		{"x86", "{topdown-retiring,slots}", "{slots 4/400; topdown-retiring 4/8000}"},
		{"x86", "topdown-retiring,{instructions,slots}",
		 "{slots 4/400 hidden; topdown-retiring 4/8000}; {instructions 0/1; slots 4/400}"},
		{"x86", "topdown-retiring,{instructions,cs,slots},slots,topdown-bad-spec",
		 "{slots 4/400; topdown-retiring 4/8000; topdown-bad-spec 4/8100}; {instructions 0/1; cs 1/3; slots 4/400}"},
		{"x86", "{instructions,r400,r8000}",
		 "{r400 4/400; instructions 0/1; r8000 4/8000}"},
		{"x86", "r8000,r8100,r8101",
		 "{slots 4/400 hidden; r8000 4/8000; r8100 4/8100}; r8101 4/8101"},
		{"hybrid", "topdown-retiring,{mem-stores,slots}",
		 "{cpu_core/slots/ 4/400 hidden @0-7; cpu_core/topdown-retiring/ 4/8000 @0-7}; "
		 "{cpu_core/mem-stores/ 4/2cd @0-7; cpu_core/slots/ 4/400 @0-7}; "
		 "cpu_atom/mem-stores/ 10/6d0 @8-15"},
		{"x86", "{cs,topdown-retiring}:W",
		 "{slots 4/400 weak hidden; cs 1/3; topdown-retiring 4/8000}"},
		{"x86", "{topdown-retiring,cpu/event=0,umask=4,name=TOPDOWN.SLOTS/}:W",
		 "{TOPDOWN.SLOTS 4/400 weak; topdown-retiring 4/8000}"},
		{"x86", "{slots,cycles}:W,cs,topdown-retiring,topdown-bad-spec",
		 "{slots 4/400 weak; cycles 0/0; topdown-retiring 4/8000; topdown-bad-spec 4/8100}; cs 1/3"},
		{"x86", "topdown-retiring,slots,slots,topdown-bad-spec",
		 "{slots 4/400; topdown-retiring 4/8000; topdown-bad-spec 4/8100}; slots 4/400"},
		{"x86", "topdown-retiring:X,slots", "topdown-retiring:X 4/8000 X; slots 4/400"},
		{"x86", "slots:X,topdown-retiring",
		 "slots:X 4/400 X; {slots 4/400 hidden; topdown-retiring 4/8000}"},
		{"x86", "topdown-retiring", "{slots 4/400 hidden; topdown-retiring 4/8000}"},
		{"x86", "slots,cs,topdown-retiring,topdown-bad-spec",
		 "{slots 4/400; topdown-retiring 4/8000; topdown-bad-spec 4/8100}; cs 1/3"},
	};

	(void)state;
	check_good(rows, ARRAY_SIZE(rows));
}

static void every_kind_of_core_counts(void **state)
{
	static const struct good_row rows[] = {
		{"hybrid", "cycles",
		 "cpu_core/cycles/ 0/400000000 @0-7; cpu_atom/cycles/ 0/a00000000 @8-15"},
		{"hybrid", "cycles:u",
		 "cpu_core/cycles/u 0/400000000 -k -h @0-7; cpu_atom/cycles/u 0/a00000000 -k -h @8-15"},
		{"hybrid", "{cycles,instructions}",
		 "{cpu_core/cycles/ 0/400000000 @0-7; cpu_core/instructions/ 0/400000001 @0-7}; "
		 "{cpu_atom/cycles/ 0/a00000000 @8-15; cpu_atom/instructions/ 0/a00000001 @8-15}"},
		{"hybrid", "cpu_core/cycles/", "cpu_core/cycles/ 0/400000000 @0-7"},
		{"hybrid", "mem-stores",
		 "cpu_core/mem-stores/ 4/2cd @0-7; cpu_atom/mem-stores/ 10/6d0 @8-15"},
		/* a raw code belongs to the first kind of CPUs only */
		{"hybrid", "r1a8:u,r1/name=x/", "cpu_core/r1a8/u 4/1a8 -k -h @0-7; x 4/1 @0-7"},
		{"hybrid", "slots", "cpu_core/slots/ 4/400 @0-7"},
		{"hybrid", "LLC-loads/name=l/", "l 3/400000002 @0-7; l 3/a00000002 @8-15"},
		{"hybrid", "cpu_core/event=1,cpu=6-9/", "cpu_core/event=1,cpu=6-9/ 4/1 cpu @6-7"},
		{"hybrid", "cycles/percore/k",
		 "cpu_core/cycles,percore/k 0/400000000 -u -h percore @0-7; "
		 "cpu_atom/cycles,percore/k 0/a00000000 -u -h percore @8-15"},
		/* the generic name means the core's event: the uncore PMU's event of that name would need -a */
		{"arm", "cycles,arm_cmn/cycles/", "cycles 0/0 @0-3; arm_cmn/cycles/ 9/3 cpu @0"},
	};

	(void)state;
	check_good(rows, ARRAY_SIZE(rows));
}

static void tracepoints_are_found(void **state)
{
	static const struct good_row rows[] = {
		{"x86", "sched:sched_switch", "sched:sched_switch 2/13c"},
		{"none", "sched:sched_switch:u", "sched:sched_switch 2/13c -k -h"},
		{"x86", "sched:*switch,irq:irq_handler_entr?",
		 "sched:sched_switch 2/13c; irq:irq_handler_entry 2/78"},
		{"x86", "*:sched_wakeup", "sched:sched_wakeup 2/13e"},
		{"x86", "{cycles,sched:sched_switch}", "{cycles 0/0; sched:sched_switch 2/13c}"},
	};
	struct pmus *pmus = data_pmus("x86");
	struct evlist *list = evlist__new();
	struct parse_error err;

	(void)state;
	check_good(rows, ARRAY_SIZE(rows));
	assert_int_equal(parse_events(list, pmus, "*:*,sched:sched_wak*", &err), 0);
	assert_int_equal(list->nr, 6);
	evlist__delete(list);
	pmus__delete(pmus);
}

static void errors_have_reason_and_column(void **state)
{
	static const struct {
		const char *tree, *text;
		int column;
		const char *reason, *help, *suggestion; /* help: a part of the text */
	} rows[] = {
		{"none", "cs,nosuch", 3, "Bad event name",
		 "Unable to find event on a PMU of 'nosuch'", NULL},
		{"none", "cycels", 0, "Bad event name", "of 'cycels'", "cycles"},
		{"x86", "clocktick", 0, "Bad event name", NULL, "clockticks"},
		{"none", "cpu/event=1/", 0, "Bad event or PMU",
		 "Unable to find PMU or event on a PMU of 'cpu'", NULL},
		{"none", "L1-icache-stores", 0, "Bad event name", NULL, "L1-dcache-stores"},
		{"none", "r12345678901234567", 0, "Bad event name", NULL, NULL},
		{"none", "", 0, "Unrecognized input", NULL, NULL},
		{"none", ",", 0, "Unrecognized input", NULL, NULL},
		{"none", "cs,", 3, "Unrecognized input", NULL, NULL},
		{"none", "{}", 1, "Unrecognized input", NULL, NULL},
		{"none", "{cs", 3, "Unrecognized input, expected '}'", NULL, NULL},
		{"none", "{cs,{cs}}", 4, "Unrecognized input", NULL, NULL},
		{"none", "{cs}x", 4, "Unrecognized input", NULL, NULL},
		{"none", "cs}", 2, "Unrecognized input", NULL, NULL},
		{"none", "cs cs", 3, "Unrecognized input", NULL, NULL},
		{"none", "cs :u", 3, "Unrecognized input", NULL, NULL},
		{"x86", "cpu/event=1", 11, "Unrecognized input", NULL, NULL},
		{"x86", "cpu/event=1/:u", 12, "Unrecognized input", NULL, NULL},
		{"x86", "cpu/=1/", 4, "Unrecognized input", NULL, NULL},
		{"x86", "cpu/name='a b'/", 11, "Unrecognized input", NULL, NULL},
		{"none", "cs:uu", 4, "Duplicate modifier 'u'", "valid modifiers: u,k,", NULL},
		{"none", "{cs}:WW", 6, "Duplicate modifier 'W'", NULL, NULL},
		{"x86", "cpu/event=1/z", 12, "Unknown modifier 'z'", "valid modifiers: u,k,", NULL},
		{"none", "cs:pppp", 6, "Maximum precise value is 3", NULL, NULL},
		{"none", "{cs:p,cs:pp}:pp", 13,
		 "Maximum combined precise value is 3, adding precision to 'cs:pp'", NULL, NULL},
		{"none", "cs:W", 3, "Weak modifier 'W' is only for groups", NULL, NULL},
		/* a known event has a bad modifier, it is no tracepoint */
		{"none", "cs:zz", 3, "Unknown modifier 'z'", "valid modifiers: u,k,", NULL},
		{"none", "{dummy,cs:uz}", 11, "Unknown modifier 'z'", "valid modifiers: u,k,",
		 NULL},
		{"none", "cz:zz", 0, "unknown tracepoint", "events/cz/zz not found", NULL},
		{"none", "sched:sched_swich", 0, "unknown tracepoint", NULL, "sched:sched_switch"},
		{"none", "cs,shced:sched_switch", 3, "unknown tracepoint", NULL,
		 "sched:sched_switch"},
		{"none", "sched:nothing_like_it", 0, "unknown tracepoint", NULL, NULL},
		{"none", "mem:zz", 4, "Bad breakpoint address, expected a number", NULL, NULL},
		{"x86", "msr/tcs/", 4, "unknown term 'tcs' for pmu 'msr'", NULL, "tsc"},
		{"none", "sched:no*", 0, "unknown tracepoint", "CONFIG_", NULL},
		{"none", "sched:sched_switch/name=x/", 19, "unknown term 'name'", NULL, NULL},
		{"x86", "cpu/foo/", 4, "unknown term 'foo' for pmu 'cpu'",
		 "valid terms: any,cmask,", NULL},
		{"x86", "cpu/evnt=1/", 4, "unknown term 'evnt' for pmu 'cpu'",
		 "config4,name,period,percore,metric-id,cpu", "event"},
		{"none", "1:0/foo/", 4, "unknown term 'foo'", "valid terms: config,config1", NULL},
		{"x86", "cpu/event=256/", 10, "value too big for format (event), maximum is 255",
		 NULL, NULL},
		{"x86", "cpu/edge=2/", 9, "value too big for format (edge), maximum is 1", NULL,
		 NULL},
		{"x86", "cpu/event=0x1ffffffffffffffff/", 10, "value too big: more than 64 bits",
		 NULL, NULL},
		{"x86", "cpu/event=abc/", 10, "expected numeric value", NULL, NULL},
		{"x86", "cpu/event/", 4, "'event' needs a value", NULL, NULL},
		{"x86", "cpu/event=1,name/", 12, "expected string value", NULL, NULL},
		{"x86", "cpu/event=1,freq=5/", 12, "'freq' is not usable in 'perf stat'", NULL,
		 NULL},
		{"x86", "cpu/event=1,cpu=nope/", 16, "no PMU of the name 'nope'", NULL, NULL},
		{"x86", "cpu/needs-param/", 4, "event 'needs-param' needs 'cmask=VALUE'", NULL,
		 NULL},
		{"x86", "cpu/bad/", 4, "unknown term 'nosuch' for pmu 'cpu'", NULL, NULL},
		{"x86", "uncore_imc_0/cas_count_read,cas_count_write/", 28,
		 "'cas_count_read' and 'cas_count_write' both have a unit or scale", NULL, NULL},
		{"x86", "cpu/L1-dcache-loads,umask=1/", 4,
		 "generic event 'L1-dcache-loads' takes no other terms of the PMU", NULL, NULL},
		{"none", "mem:0x1000:rr", 12, "Duplicate breakpoint access", NULL, NULL},
		{"none", "mem:0x1000:rq", 12, "Bad breakpoint access, expected r, w, x", NULL,
		 NULL},
		{"none", "mem:0x1000/0", 11, "Bad breakpoint length", NULL, NULL},
		{"none", "4294967296:1", 0, "value too big: event types have 32 bits", NULL, NULL},
		{"none", "tool/config=99/", 0, "Bad event name", NULL, NULL},
	};
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct pmus *pmus = data_pmus(rows[i].tree);
		struct evlist *list = evlist__new();
		struct parse_error err;

		/* earlier events stay, events of the bad list go */
		assert_int_equal(parse_events(list, pmus, "dummy", &err), 0);
		if (parse_events(list, pmus, rows[i].text, &err) != -EINVAL)
			fail_msg("%s: no error", rows[i].text);
		assert_int_equal(list->nr, 1);
		if (strcmp(err.reason, rows[i].reason) || err.column != rows[i].column)
			fail_msg("%s: '%s' at %d", rows[i].text, err.reason, err.column);
		if (rows[i].help && (!err.help || !strstr(err.help, rows[i].help)))
			fail_msg("%s: help '%s'", rows[i].text, err.help);
		if ((rows[i].suggestion &&
		     (!err.suggestion || strcmp(err.suggestion, rows[i].suggestion))) ||
		    (!rows[i].suggestion && err.suggestion))
			fail_msg("%s: suggestion '%s'", rows[i].text, err.suggestion);
		parse_error__clear(&err);
		evlist__delete(list);
		pmus__delete(pmus);
	}
}

static void errors_point_at_the_column(void **state)
{
	struct parse_error err = {
		.text = (char *)"cs,nosuch",
		.column = 3,
		.reason = (char *)"Bad event name",
		.help = (char *)"Unable to find event on a PMU of 'nosuch'",
	};
	struct parse_error long_err = {
		.text = (char *)"cs,cs,cs,cs,cs,cs,cs,cs,cs,cs,cs,cs,cs,nosuch,cs,cs,cs,cs,cs,cs,cs,cs,cs",
		.column = 39,
		.reason = (char *)"Bad event name",
		.suggestion = (char *)"such",
	};
	char *text;
	int columns;

	(void)state;
	text = parse_error__format(&err, 80);
	assert_string_equal(text, "event syntax error: 'cs,nosuch'\n"
				  "                        \\___ Bad event name\n\n"
				  "Unable to find event on a PMU of 'nosuch'\n"
				  "Run 'perf list' for a list of valid events\n");
	free(text);
	/* A cut text keeps the mark under the name, and no line is wider than the terminal. */
	for (columns = 44; columns < 120; columns++) {
		char *line;
		size_t mark;

		text = parse_error__format(&long_err, columns);
		line = strchr(text, '\n') + 1;
		mark = strspn(line, " ");
		assert_string_equal(strstr(line, "\\___"), line + mark);
		assert_int_equal(strncmp(text + mark, "nosuch", 6), 0);
		assert_true(line - text - 1 < columns);
		assert_non_null(strstr(line, "Did you mean 'such'?\n"));
		free(text);
	}
	text = parse_error__format(&long_err, 50);
	assert_int_equal(strncmp(text, "event syntax error: '..", 23), 0);
	assert_non_null(strstr(text, "..'\n"));
	free(text);
}

static void cputype_and_pmu_filter_choose_pmus(void **state)
{
	struct pmus *pmus = data_pmus("hybrid");
	struct evlist *list = evlist__new();
	struct parse_events_options merge = {.hybrid_merge = true};
	struct parse_error err;
	char *text;

	(void)state;
	assert_int_equal(parse_events_opts(list, pmus, "cycles", &merge, &err), 0);
	text = dump(list);
	assert_string_equal(text,
			    "cycles 0/400000000 merges @0-7; cycles 0/a00000000 merged @8-15");
	free(text);
	evlist__truncate(list, 0);

	assert_int_equal(pmus__set_cputype(pmus, "nosuch"), -ENOENT);
	assert_int_equal(pmus__set_cputype(pmus, "atom"), 0);
	assert_int_equal(parse_events(list, pmus, "cycles,cs,r1", &err), 0);
	text = dump(list);
	assert_string_equal(text,
			    "cpu_atom/cycles/ 0/a00000000 @8-15; cs 1/3; cpu_atom/r1/ 10/1 @8-15");
	free(text);
	evlist__delete(list);
	pmus__delete(pmus);

	pmus = data_pmus("x86");
	list = evlist__new();
	assert_int_equal(pmus__set_filter(pmus, "uncore_imc_1"), 0);
	assert_int_equal(parse_events(list, pmus, "clockticks", &err), 0);
	assert_int_equal(list->nr, 1);
	assert_true(parse_events__is_known(pmus, "cs"));
	assert_false(parse_events__is_known(pmus, "nosuch"));
	evlist__delete(list);
	pmus__delete(pmus);
}

static void default_sets_have_all_rows(void **state)
{
	static const struct {
		const char *tree;
		bool cpu_target;
		int detail;
		const char *shown, *kept;
		int nr;
	} rows[] = {
		{"none", true, 0,
		 "context-switches cpu-clock cpu-migrations page-faults branch-misses branches cpu-cycles "
		 "instructions stalled-cycles-frontend stalled-cycles-backend stalled-cycles-backend ",
		 "cpu-cycles ", 16},
		{"x86", false, 3,
		 "context-switches cpu-migrations page-faults task-clock L1-dcache-load-misses "
		 "L1-dcache-prefetches L1-icache-load-misses LLC-loads branch-misses branches cpu-cycles "
		 "instructions stalled-cycles-frontend stalled-cycles-backend dTLB-loads iTLB-loads "
		 "stalled-cycles-backend ",
		 "cpu-cycles ", 28},
		{"hybrid", false, 0,
		 "context-switches cpu-migrations page-faults task-clock cpu_core/branch-misses/ "
		 "cpu_core/branches/ cpu_atom/branch-misses/ cpu_atom/branches/ cpu_core/cpu-cycles/ "
		 "cpu_core/instructions/ cpu_atom/cpu-cycles/ cpu_atom/instructions/ "
		 "cpu_core/stalled-cycles-frontend/ cpu_atom/stalled-cycles-frontend/ "
		 "cpu_core/stalled-cycles-backend/ cpu_atom/stalled-cycles-backend/ "
		 "cpu_core/stalled-cycles-backend/ cpu_atom/stalled-cycles-backend/ ",
		 "cpu_core/cpu-cycles/ cpu_atom/cpu-cycles/ ", 27},
	};
	size_t r;

	(void)state;
	for (r = 0; r < ARRAY_SIZE(rows); r++) {
		struct pmus *pmus = data_pmus(rows[r].tree);
		struct evlist *list = evlist__new();
		char shown[2048] = "", kept[256] = "";
		int i;

		assert_int_equal(
			default_events__add(list, pmus, rows[r].cpu_target, rows[r].detail), 0);
		for (i = 0; i < list->nr; i++) {
			const struct evsel *evsel = list->evsels[i];

			if (!evsel->hidden)
				strcat(strcat(shown, evsel->name), " ");
			assert_true(evsel->is_default);
			if (evsel->keep_row)
				strcat(strcat(kept, evsel->name), " ");
			assert_int_equal(evsel->weak, evsel->nr_members > 1);
		}
		assert_string_equal(shown, rows[r].shown);
		assert_string_equal(kept, rows[r].kept);
		assert_int_equal(list->nr, rows[r].nr);
		assert_int_equal(list->evsels[list->nr - 1]->tool, TOOL_DURATION_TIME);
		evlist__delete(list);
		pmus__delete(pmus);
	}
}

static void ten_thousand_events_are_parsed(void **state)
{
	static const char item[] =
		"cycles:u,cs,uncore_imc/clockticks/,sched:sched_switch,cpu/event=1,name=x/,";
	const int times = 2000;
	struct pmus *pmus = data_pmus("x86");
	struct evlist *list = evlist__new();
	struct parse_error err;
	char *text = malloc(times * strlen(item) + 3), *end = text;
	int i;

	(void)state;
	for (i = 0; i < times; i++)
		end = stpcpy(end, item);
	strcpy(end, "cs");
	assert_int_equal(parse_events(list, pmus, text, &err), 0);
	assert_int_equal(list->nr, 6 * times + 1);
	free(text);
	evlist__delete(list);
	pmus__delete(pmus);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(generic_names_and_aliases_give_one_attr),
		cmocka_unit_test(cache_names_have_all_spellings),
		cmocka_unit_test(software_and_tool_names_are_known),
		cmocka_unit_test(numbers_and_breakpoints_are_parsed),
		cmocka_unit_test(pmu_terms_set_config),
		cmocka_unit_test(pmu_patterns_become_one_row),
		cmocka_unit_test(modifiers_have_any_order),
		cmocka_unit_test(groups_are_split_by_pmu),
		cmocka_unit_test(every_kind_of_core_counts),
		cmocka_unit_test(tracepoints_are_found),
		cmocka_unit_test(errors_have_reason_and_column),
		cmocka_unit_test(errors_point_at_the_column),
		cmocka_unit_test(cputype_and_pmu_filter_choose_pmus),
		cmocka_unit_test(default_sets_have_all_rows),
		cmocka_unit_test(ten_thousand_events_are_parsed),
	};
	char *tracefs = data_path("tracefs");

	setenv("TRACEFS_PATH", tracefs, 1);
	free(tracefs);
	msg__init("perf stat");
	return cmocka_run_group_tests_name("parse_events", tests, NULL, NULL);
}
