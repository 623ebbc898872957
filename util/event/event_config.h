/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_EVENT_EVENT_CONFIG_H
#define PERF_EVENT_EVENT_CONFIG_H

/* The attr and the properties that terms give an event. */

#include "util/host/wide_attr.h"

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>

struct cpumap;
struct event_terms;
struct parse_error;
struct pmu;
struct pmu_event;
struct pmus;

/* Pointers are borrowed from terms and PMU unless noted. */
struct event_config {
	struct perf_event_attr attr;   /* type and config words */
	uint64_t more[NR_MORE_CONFIG]; /* config3, config4 */
	const char *name;	       /* name=, or NULL */
	const char *metric_id;
	const struct pmu_event *event;		    /* the first named event of the PMU, or NULL */
	const struct pmu_event *unit_of, *scale_of; /* events that unit and scale come from */
	bool per_pkg, snapshot, percore;
	bool has_period;     /* period=, which means nothing to a count */
	bool legacy;	     /* a generic name: type and config do not need the PMU */
	bool is_raw;	     /* config was a number: its bits may be in no format */
	bool cpus_given;     /* cpu= */
	struct cpumap *cpus; /* owned; the CPUs of all cpu=, NULL: all */
};

void event_config__clear(struct event_config *config);

/**
 * event_config__apply() - apply terms to an event of a PMU, in their order
 * @config: changed; on entry it has the base of the event, at least a type
 * @pmus: all PMUs
 * @pmu: the event's; NULL: generic names on a machine without core PMU
 * @general_only: refuse names and formats of the PMU (rNNN/terms/)
 *
 * Return: 0, -EINVAL with @err filled, or -ENOMEM.
 */
int event_config__apply(struct event_config *config, struct pmus *pmus, const struct pmu *pmu,
			bool general_only, const struct event_terms *terms,
			struct parse_error *err);

/** event_config__set_legacy() - make it a generic hardware or cache event of @pmu (or NULL) */
void event_config__set_legacy(struct event_config *config, struct pmus *pmus, const struct pmu *pmu,
			      uint32_t type, uint64_t value);

#endif
