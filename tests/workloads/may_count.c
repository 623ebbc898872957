// SPDX-License-Identifier: GPL-2.0
/*
 * may_count [cpu]: ask the kernel, without perf, if this user may count own tasks in user mode, or
 * everything on a CPU. Exit status: 0 if so; 77 if it is not permitted, or the kernel has no perf
 * events.
 */
#include "workload.h"
#include <linux/perf_event.h>
#include <sched.h>
#include <sys/syscall.h>

int main(int argc, char **argv)
{
	int whole_cpu = argc == 2 && !strcmp(argv[1], "cpu");
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CONTEXT_SWITCHES,
		.exclude_kernel = !whole_cpu,
	};

	usage_unless(argc == 1 || whole_cpu, "[cpu]");
	if (syscall(SYS_perf_event_open, &attr, whole_cpu ? -1 : 0, whole_cpu ? sched_getcpu() : -1,
		    -1, PERF_FLAG_FD_CLOEXEC) >= 0)
		return 0;
	if (errno == EACCES || errno == EPERM || errno == ENOSYS)
		return 77;
	die("perf_event_open");
}
