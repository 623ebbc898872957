// SPDX-License-Identifier: GPL-2.0
#include "util/sample/sample_absent.h"

#include "util/event/evlist.h"
#include "util/host/cpumap.h"
#include "util/lib/msg.h"
#include "util/lib/util.h"
#include "util/sample/sample_rate.h"
#include "util/sample/sample_slots.h"
#include "util/sample/sample_sync.h"
#include "util/sample/sampler_internal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static bool is_absent(const struct sampler *sampler, int slot, int cpu, const struct cpumap *online)
{
	return sample_sync__has(sampler, cpu) && cpumap__has(online, cpu) &&
	       sample_slots__is_missing(&sampler->object, slot, cpu);
}

/* Return: the CPUs without the event, owned by the caller; empty: none; NULL: out of memory */
static char *absent_cpus(const struct sampler *sampler, const struct sampled_event *event)
{
	int nr_cpus = sampler->object.nr_cpus, nr = 0;
	int *cpus __cleanup(free_ptr) = calloc(nr_cpus, sizeof(*cpus));
	struct cpumap *map;
	char *text;

	for (int cpu = 0; cpus && cpu < nr_cpus; cpu++) {
		if (event->is_absent[cpu])
			cpus[nr++] = cpu;
	}
	map = cpus ? cpumap__new(cpus, nr) : NULL;
	text = map ? cpumap__str(map) : NULL;
	cpumap__delete(map);
	return text;
}

/* Return: the reason, owned by the caller; NULL: out of memory */
static char *reason(const struct sampled_event *event, int err)
{
	uint64_t max = err == -EINVAL && !event->is_periodic ? sample_rate__max() : 0;

	return max && max < event->rate ?
		       xasprintf(
			       "the kernel has lowered kernel.perf_event_max_sample_rate to %" PRIu64,
			       max) :
		       strdup(strerror(-err));
}

static void warn(struct sampler *sampler, struct sampled_event *event, int idx, int err)
{
	char *cpus __cleanup(free_ptr) = absent_cpus(sampler, event);
	char *why __cleanup(free_ptr) = reason(event, err);

	/* All CPUs lack the event, or went offline. */
	if (cpus && !*cpus)
		return;
	event->has_warned = true;
	pr_warn("%s is not sampled on CPU %s: %s (perf tries again each second)",
		sampler->options.events->evsels[idx]->name, cpus ? cpus : "?", why ? why : "?");
}

void sample_absent__note(struct sampler *sampler, int slot, int err)
{
	int idx = sampler->events_of_slot[slot];
	struct sampled_event *event = &sampler->events[idx];
	struct cpumap *online = err ? cpumap__online() : NULL;
	uint64_t bit = 1ULL << slot;

	sampler->failed = err ? sampler->failed | bit : sampler->failed & ~bit;
	for (int cpu = 0; cpu < sampler->object.nr_cpus; cpu++)
		event->is_absent[cpu] = online && is_absent(sampler, slot, cpu, online);
	cpumap__delete(online);
	if (err && !event->has_warned)
		warn(sampler, event, idx, err);
}
