// SPDX-License-Identifier: GPL-2.0
/*
 * pinned_slots [CPU]: print how many hardware counters of CPU (0) are free. Open pinned per-CPU events
 * until the kernel cannot schedule one (its read() gives end of file). The emulated PMU has 7 (6
 * counters and the cycle counter) if no other process holds one.
 * Needs the right to count system-wide.
 */
#include "workload.h"
#include <linux/perf_event.h>
#include <sys/syscall.h>

#define MAX_SLOTS 256

int main(int argc, char **argv)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_HARDWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_HW_CPU_CYCLES,
		.pinned = 1,
	};
	int cpu, i, fds[MAX_SLOTS], nr = 0;
	unsigned long long value;

	usage_unless(argc <= 2, "[CPU]");
	cpu = number(argc, argv, 1, 0);
	/* Ask for cycles first: they can take the counter that counts nothing else. */
	while (nr < MAX_SLOTS) {
		ssize_t n;

		fds[nr] = syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
		if (fds[nr] < 0)
			die("perf_event_open");
		errno = 0;
		n = read(fds[nr], &value, sizeof(value));
		if (n < 0)
			die("read");
		if (!n)
			break;
		nr++;
		attr.config = PERF_COUNT_HW_INSTRUCTIONS;
	}
	/* Check that none of the earlier events lost its counter. */
	for (i = 0; i < nr; i++) {
		errno = 0;
		if (read(fds[i], &value, sizeof(value)) != sizeof(value))
			die("event %d no longer counts", i);
	}
	printf("%d\n", nr);
	return 0;
}
