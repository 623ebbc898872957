// SPDX-License-Identifier: GPL-2.0
#include "util/host/cgroup_times.h"

#include "util/host/cpu_visits.h"
#include "util/host/cpumap.h"
#include "util/host/perf_event.h"
#include "util/lib/util.h"

#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <unistd.h>

void cgroup_times__start(struct cgroup_times *times, const char *dir, const struct cpumap *cpus)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_DUMMY,
	};
	int cgroup __cleanup(close_fd) = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (cgroup < 0)
		return;
	times->fds = malloc(cpus->nr * sizeof(*times->fds));
	if (!times->fds)
		return;
	times->nr = cpus->nr;
	for (int i = 0; i < cpus->nr; i++)
		times->fds[i] =
			perf_event__open(&attr, cgroup, cpus->cpu[i], -1, PERF_FLAG_PID_CGROUP);
	cpu_visits__make(cpus);
}

void cgroup_times__stop(struct cgroup_times *times)
{
	for (int i = 0; i < times->nr; i++)
		close_fd(&times->fds[i]);
	free(times->fds);
	*times = (struct cgroup_times){};
}
