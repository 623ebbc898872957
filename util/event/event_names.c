// SPDX-License-Identifier: GPL-2.0
#include "util/event/event_names.h"

#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "util/event/evsel.h"
#include "util/lib/util.h"

const struct event_name hw_events[] = {
	{"branch-instructions", "branches", PERF_COUNT_HW_BRANCH_INSTRUCTIONS, NULL},
	{"branch-misses", NULL, PERF_COUNT_HW_BRANCH_MISSES, NULL},
	{"bus-cycles", NULL, PERF_COUNT_HW_BUS_CYCLES, NULL},
	{"cache-misses", NULL, PERF_COUNT_HW_CACHE_MISSES, NULL},
	{"cache-references", NULL, PERF_COUNT_HW_CACHE_REFERENCES, NULL},
	{"cpu-cycles", "cycles", PERF_COUNT_HW_CPU_CYCLES, NULL},
	{"instructions", NULL, PERF_COUNT_HW_INSTRUCTIONS, NULL},
	{"ref-cycles", NULL, PERF_COUNT_HW_REF_CPU_CYCLES, NULL},
	{"stalled-cycles-backend", "idle-cycles-backend", PERF_COUNT_HW_STALLED_CYCLES_BACKEND,
	 NULL},
	{"stalled-cycles-frontend", "idle-cycles-frontend", PERF_COUNT_HW_STALLED_CYCLES_FRONTEND,
	 NULL},
	{NULL, NULL, 0, NULL}};

/* Newer than some build machines' headers; the kernel's numbers never change. */
#define SW_CGROUP_SWITCHES 11

const struct event_name sw_events[] = {
	{"alignment-faults", NULL, PERF_COUNT_SW_ALIGNMENT_FAULTS, NULL},
	{"bpf-output", NULL, PERF_COUNT_SW_BPF_OUTPUT, NULL},
	{"cgroup-switches", NULL, SW_CGROUP_SWITCHES, NULL},
	{"context-switches", "cs", PERF_COUNT_SW_CONTEXT_SWITCHES, NULL},
	{"cpu-clock", NULL, PERF_COUNT_SW_CPU_CLOCK, NULL},
	{"cpu-migrations", "migrations", PERF_COUNT_SW_CPU_MIGRATIONS, NULL},
	{"dummy", NULL, PERF_COUNT_SW_DUMMY, NULL},
	{"emulation-faults", NULL, PERF_COUNT_SW_EMULATION_FAULTS, NULL},
	{"major-faults", NULL, PERF_COUNT_SW_PAGE_FAULTS_MAJ, NULL},
	{"minor-faults", NULL, PERF_COUNT_SW_PAGE_FAULTS_MIN, NULL},
	{"page-faults", "faults", PERF_COUNT_SW_PAGE_FAULTS, NULL},
	{"task-clock", NULL, PERF_COUNT_SW_TASK_CLOCK, NULL},
	{NULL, NULL, 0, NULL}};

const struct event_name tool_events[] = {
	{"duration_time", NULL, TOOL_DURATION_TIME, "Time counting was enabled, in ns"},
	{"user_time", NULL, TOOL_USER_TIME, "User time of what is measured, in ns"},
	{"system_time", NULL, TOOL_SYSTEM_TIME, "System time of what is measured, in ns"},
	{"num_cpus", NULL, TOOL_NUM_CPUS, "CPUs that are present"},
	{"num_cpus_online", NULL, TOOL_NUM_CPUS_ONLINE, "CPUs that are online"},
	{"num_cores", NULL, TOOL_NUM_CORES, "Cores, each with one or more threads"},
	{"num_dies", NULL, TOOL_NUM_DIES, "Dies"},
	{"num_packages", NULL, TOOL_NUM_PACKAGES, "Packages"},
	{"smt_on", NULL, TOOL_SMT_ON, "1 if several threads of a core are in use"},
	{"core_wide", NULL, TOOL_CORE_WIDE, "1 if all threads of the cores are measured"},
	{"target_cpu", NULL, TOOL_TARGET_CPU, "1 if CPUs are measured, not tasks"},
	{"has_pmem", NULL, TOOL_HAS_PMEM, "1 if the machine has persistent memory"},
#if defined(__x86_64__) || defined(__i386__)
	{"system_tsc_freq", NULL, TOOL_SYSTEM_TSC_FREQ,
	 "Frequency of the time stamp counter, in Hz"},
#endif
#ifdef __aarch64__
	/* not on x86: it would hide Intel's event of this name */
	{"slots", NULL, TOOL_SLOTS, "Slots an instruction may be dispatched in, per cycle"},
#endif
	{"bpf_runs", NULL, TOOL_BPF_RUNS, "Executions of the BPF programs that -b counts"},
	{NULL, NULL, 0, NULL}};

#define MAX_ALIASES 6

enum cache_op { OP_READ, OP_WRITE, OP_PREFETCH, NR_OPS };

/* The first word of each row is the canonical one. */
static const struct {
	const char *names[MAX_ALIASES];
	bool ops[NR_OPS];
} caches[] = {
	[PERF_COUNT_HW_CACHE_L1D] = {{"L1-dcache", "l1-d", "l1d", "L1-data"}, {1, 1, 1}},
	[PERF_COUNT_HW_CACHE_L1I] = {{"L1-icache", "l1-i", "l1i", "L1-instruction"}, {1, 0, 1}},
	[PERF_COUNT_HW_CACHE_LL] = {{"LLC", "L2"}, {1, 1, 1}},
	[PERF_COUNT_HW_CACHE_DTLB] = {{"dTLB", "d-tlb", "Data-TLB"}, {1, 1, 1}},
	[PERF_COUNT_HW_CACHE_ITLB] = {{"iTLB", "i-tlb", "Instruction-TLB"}, {1, 0, 0}},
	[PERF_COUNT_HW_CACHE_BPU] = {{"branch", "branches", "bpu", "btb", "bpc"}, {1, 0, 0}},
	[PERF_COUNT_HW_CACHE_NODE] = {{"node"}, {1, 1, 1}},
};

static const struct {
	const char *names[MAX_ALIASES];
	const char *plural; /* canonical, as in L1-dcache-loads */
} cache_ops[NR_OPS] = {
	[OP_READ] = {{"load", "loads", "read"}, "loads"},
	[OP_WRITE] = {{"store", "stores", "write"}, "stores"},
	[OP_PREFETCH] = {{"prefetch", "prefetches", "speculative-read", "speculative-load"},
			 "prefetches"},
};

static const char *const cache_results[][MAX_ALIASES] = {
	{"refs", "Reference", "ops", "access"},
	{"misses", "miss"},
};

/* Return: the text behind @word and '-' if @text starts with that word, otherwise NULL. */
static const char *skip_word(const char *text, const char *word)
{
	size_t len = strlen(word);

	if (strncasecmp(text, word, len))
		return NULL;
	if (!text[len])
		return text + len;
	return text[len] == '-' && text[len + 1] ? text + len + 1 : NULL;
}

static bool find_result(const char *rest, int *result)
{
	for (*result = 0; *result < (int)ARRAY_SIZE(cache_results); (*result)++) {
		int i;

		for (i = 0; i < MAX_ALIASES && cache_results[*result][i]; i++) {
			if (!strcasecmp(rest, cache_results[*result][i]))
				return true;
		}
	}
	*result = 0;
	return !*rest;
}

/* Parse "OP", "OP-RESULT", "RESULT" or nothing. */
static bool find_op(const char *rest, const bool ops[NR_OPS], int *op, int *result)
{
	for (*op = 0; *op < NR_OPS; (*op)++) {
		int i;

		for (i = 0; i < MAX_ALIASES && cache_ops[*op].names[i]; i++) {
			const char *after = skip_word(rest, cache_ops[*op].names[i]);

			if (after && find_result(after, result))
				return ops[*op];
		}
	}
	*op = OP_READ;
	return find_result(rest, result);
}

static bool find_cache_event(const char *name, uint64_t *config)
{
	int cache, op, result, i;

	for (cache = 0; cache < (int)ARRAY_SIZE(caches); cache++) {
		for (i = 0; i < MAX_ALIASES && caches[cache].names[i]; i++) {
			const char *rest = skip_word(name, caches[cache].names[i]);

			if (rest && find_op(rest, caches[cache].ops, &op, &result)) {
				*config = cache | op << 8 | result << 16;
				return true;
			}
		}
	}
	return false;
}

const struct event_name *event_name__find(const struct event_name *table, const char *name)
{
	for (; table->name; table++) {
		if (!strcasecmp(name, table->name) ||
		    (table->alias && !strcasecmp(name, table->alias)))
			return table;
	}
	return NULL;
}

bool legacy_event__find(const char *name, uint32_t *type, uint64_t *config)
{
	const struct event_name *event = event_name__find(hw_events, name);

	if (event) {
		*type = PERF_TYPE_HARDWARE;
		*config = event->config;
		return true;
	}
	*type = PERF_TYPE_HW_CACHE;
	return find_cache_event(name, config);
}

bool cache_event__next(int *pos, char name[CACHE_NAME_MAX], uint64_t *config)
{
	int nr = ARRAY_SIZE(caches) * NR_OPS * 2;

	for (; *pos < nr; (*pos)++) {
		int cache = *pos / (NR_OPS * 2), op = *pos / 2 % NR_OPS, result = *pos % 2;

		if (!caches[cache].ops[op])
			continue;
		(*pos)++;
		if (result)
			snprintf(name, CACHE_NAME_MAX, "%s-%s-misses", caches[cache].names[0],
				 cache_ops[op].names[0]);
		else
			snprintf(name, CACHE_NAME_MAX, "%s-%s", caches[cache].names[0],
				 cache_ops[op].plural);
		*config = cache | op << 8 | result << 16;
		return true;
	}
	return false;
}
