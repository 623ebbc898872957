// SPDX-License-Identifier: GPL-2.0
#include "util/bperf/late_cpus.h"

#include "util/bperf/leader_internal.h"
#include "util/host/cpumap.h"
#include "util/lib/util.h"

struct cpumap *late_cpus__online(struct bperf_leader *leader)
{
	struct cpumap *online, *late;
	int first = 0;

	/* In this order: one that comes meanwhile is in the map, or is the next one, or both. */
	(void)late_cpus__next(leader);
	online = cpumap__online();
	if (!online)
		return NULL;
	while (first < online->nr && online->cpu[first] < leader->nr_cpus)
		first++;
	late = cpumap__new(&online->cpu[first], online->nr - first);
	cpumap__delete(online);
	return late;
}

int late_cpus__next(struct bperf_leader *leader)
{
	__u32 nr = __atomic_load_n(&leader->registry->nr_late, __ATOMIC_ACQUIRE);

	if (nr == leader->nr_late)
		return -1;
	leader->nr_late = nr;
	return leader->registry->late_cpu;
}

char *late_cpus__text(int cpu)
{
	return xasprintf("CPU %d was added after the first session began", cpu);
}
