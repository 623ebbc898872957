// SPDX-License-Identifier: GPL-2.0
#include "util/defs/metric_builtin.h"

#include "util/lib/util.h"

#include <strings.h>

/* The target's clock in ns: cpu-clock for CPUs, task-clock for tasks. */
#define CLOCK "(cpu\\-clock if #target_cpu else task\\-clock)"

#define STALLED_FRONT "stalled\\-cycles\\-frontend"
#define STALLED_BACK  "stalled\\-cycles\\-backend"

static const struct metric_def defs[] = {
	{
		.name = "CPUs_utilized",
		.group = "Default",
		.description = "How many CPUs were busy on average",
		.expr = CLOCK " / (duration_time * 1e9)",
		.constraint = "NO_GROUP_EVENTS",
		.unit = "1CPUs",
		.rows = {"cpu-clock", "task-clock"},
	},
	{
		.name = "cs_per_second",
		.group = "Default",
		.description = "Context switches per second of CPU time",
		.expr = "context\\-switches * 1e9 / " CLOCK,
		.constraint = "NO_GROUP_EVENTS",
		.unit = "1cs/sec",
		.rows = {"context-switches"},
	},
	{
		.name = "migrations_per_second",
		.group = "Default",
		.description = "Moves from one CPU to another per second of CPU time",
		.expr = "cpu\\-migrations * 1e9 / " CLOCK,
		.constraint = "NO_GROUP_EVENTS",
		.unit = "1migrations/sec",
		.rows = {"cpu-migrations"},
	},
	{
		.name = "page_faults_per_second",
		.group = "Default",
		.description = "Page faults per second of CPU time",
		.expr = "page\\-faults * 1e9 / " CLOCK,
		.constraint = "NO_GROUP_EVENTS",
		.unit = "1faults/sec",
		.rows = {"page-faults"},
	},
	{
		.name = "insn_per_cycle",
		.group = "Default",
		.description = "Instructions retired per CPU cycle",
		.expr = "instructions / cpu\\-cycles",
		.unit = "1instructions",
		.threshold = "insn_per_cycle < 1",
		.rows = {"instructions"},
	},
	{
		.name = "stalled_cycles_per_instruction",
		.group = "Default",
		.description = "Stalled cycles, of the worse end of the pipeline, per instruction",
		.expr = "max(" STALLED_FRONT ", " STALLED_BACK ") / instructions"
			" if has_event(" STALLED_FRONT ") & has_event(" STALLED_BACK ")"
			" else " STALLED_FRONT " / instructions if has_event(" STALLED_FRONT ")"
			" else " STALLED_BACK " / instructions if has_event(" STALLED_BACK ")"
			" else NaN",
		.rows = {"stalled-cycles-backend"},
		.own_row = true,
	},
	{
		.name = "frontend_cycles_idle",
		.group = "Default",
		.description = "Share of cycles in which the front end delivered nothing",
		.expr = STALLED_FRONT " / cpu\\-cycles if has_event(" STALLED_FRONT ") else NaN",
		.threshold = "frontend_cycles_idle > 0.1",
		.rows = {"stalled-cycles-frontend"},
	},
	{
		.name = "backend_cycles_idle",
		.group = "Default",
		.description = "Share of cycles in which the back end accepted nothing",
		.expr = STALLED_BACK " / cpu\\-cycles if has_event(" STALLED_BACK ") else NaN",
		.threshold = "backend_cycles_idle > 0.2",
		.rows = {"stalled-cycles-backend"},
	},
	{
		.name = "cycles_frequency",
		.group = "Default",
		.description = "CPU cycles per nanosecond of CPU time",
		.expr = "cpu\\-cycles / " CLOCK,
		.constraint = "NO_GROUP_EVENTS",
		.unit = "1GHz",
		.rows = {"cpu-cycles"},
	},
	{
		.name = "branch_frequency",
		.group = "Default",
		.description = "Branches per second of CPU time",
		.expr = "branches / " CLOCK,
		.constraint = "NO_GROUP_EVENTS",
		.unit = "1000M/sec",
		.rows = {"branches"},
	},
	{
		.name = "branch_miss_rate",
		.group = "Default",
		.description = "Share of branches that were predicted wrongly",
		.expr = "branch\\-misses / branches",
		.unit = "100%",
		.threshold = "branch_miss_rate > 0.05",
		.rows = {"branch-misses"},
	},
	{
		.name = "l1d_miss_rate",
		.group = "Default2",
		.description = "Share of loads that missed the level 1 data cache",
		.expr = "L1\\-dcache\\-load\\-misses / L1\\-dcache\\-loads",
		.unit = "100%",
		.threshold = "l1d_miss_rate > 0.05",
		.rows = {"L1-dcache-load-misses"},
	},
	{
		.name = "llc_miss_rate",
		.group = "Default2",
		.description = "Share of loads that missed the last level cache",
		.expr = "LLC\\-load\\-misses / LLC\\-loads",
		.unit = "100%",
		.threshold = "llc_miss_rate > 0.05",
		.rows = {"LLC-loads"},
	},
	{
		.name = "l1i_miss_rate",
		.group = "Default3",
		.description = "Share of fetches that missed the level 1 instruction cache",
		.expr = "L1\\-icache\\-load\\-misses / L1\\-icache\\-loads",
		.unit = "100%",
		.threshold = "l1i_miss_rate > 0.05",
		.rows = {"L1-icache-load-misses"},
	},
	{
		.name = "dtlb_miss_rate",
		.group = "Default3",
		.description = "Share of loads that missed the data TLB",
		.expr = "dTLB\\-load\\-misses / dTLB\\-loads",
		.unit = "100%",
		.threshold = "dtlb_miss_rate > 0.05",
		.rows = {"dTLB-loads"},
	},
	{
		.name = "itlb_miss_rate",
		.group = "Default3",
		.description = "Share of fetches that missed the instruction TLB",
		.expr = "iTLB\\-load\\-misses / iTLB\\-loads",
		.unit = "100%",
		.threshold = "itlb_miss_rate > 0.05",
		.rows = {"iTLB-loads"},
	},
	{
		.name = "l1_prefetch_miss_rate",
		.group = "Default4",
		.description = "Share of level 1 data prefetches that missed",
		.expr = "L1\\-dcache\\-prefetch\\-misses / L1\\-dcache\\-prefetches",
		.unit = "100%",
		.threshold = "l1_prefetch_miss_rate > 0.05",
		.rows = {"L1-dcache-prefetches"},
	},
};

const struct metric_def *metric_builtin__next(const struct metric_def *prev)
{
	if (!prev)
		return defs;
	return prev + 1 < defs + ARRAY_SIZE(defs) ? prev + 1 : NULL;
}

const struct metric_def *metric_builtin__find(const char *name)
{
	const struct metric_def *def = NULL;

	while ((def = metric_builtin__next(def))) {
		if (!strcasecmp(def->name, name))
			break;
	}
	return def;
}
