/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_EVENT_PMU_NAME_H
#define PERF_EVENT_PMU_NAME_H

/* One PMU, and the questions that its name and type answer. */

#include <stdbool.h>
#include <stdint.h>

struct cpumap;
struct pmu_priv;

/* attr.type of the PMU "tool"; the kernel does not know it and never gets such an attr. */
#define PMU_TYPE_TOOL 0xfffffffeU

/* attr.type of the first chip with sensors; others follow. */
#define PMU_TYPE_HWMON 0xffff0000U
#define PMU_TYPE_DRM   0xfffe0000U

struct pmu {
	char *name;
	char *alias;	       /* second name, or NULL */
	uint32_t type;	       /* attr.type */
	bool is_core;	       /* counts events of CPUs: cpu, cpum_cf, or has a "cpus" file */
	bool is_uncore;	       /* has a "cpumask" file */
	bool is_hwmon;	       /* a chip; its events are files, not counted by the kernel */
	bool is_drm;	       /* a GPU driver, whose clients' values perf reads */
	struct cpumap *cpus;   /* of "cpus" or "cpumask"; NULL: all CPUs */
	int max_precise;       /* caps/max_precise; -1: unknown */
	struct pmu_priv *priv; /* private to pmu_sysfs.c: formats, events, directory */
	int idx;	       /* private to pmu.c: position among the PMUs */
};

/** pmu__is_software(), pmu__is_tool() - the two PMUs whose events are in tables */
bool pmu__is_software(const struct pmu *pmu);
bool pmu__is_tool(const struct pmu *pmu);

/**
 * pmu__matches() - whether a pattern matches a PMU
 *
 * "uncore_" is ignored on both sides. These match: equal names, names with an instance number
 * (behind '_' or not; hexadecimal numbers need three digits), and shell globs.
 */
bool pmu__matches(const struct pmu *pmu, const char *pattern);

/** pmu__family_len() - the length of the name without its instance number */
int pmu__family_len(const struct pmu *pmu);

/** pmu__same_family() - whether both are instances of one kind, whose counts are summed */
bool pmu__same_family(const struct pmu *a, const struct pmu *b);

#endif
