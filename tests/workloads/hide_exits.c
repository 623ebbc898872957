// SPDX-License-Identifier: GPL-2.0
/*
 * hide_exits CPU: put a perf event into a BPF map again and again, on this CPU, until killed. The kernel
 * may schedule in such a system call, and runs no kprobe program on this CPU until it is back in it.
 */
#include "workload.h"
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <stdint.h>
#include <sys/syscall.h>

int main(int argc, char **argv)
{
	union bpf_attr map = {.map_type = BPF_MAP_TYPE_PERF_EVENT_ARRAY,
			      .key_size = sizeof(int),
			      .value_size = sizeof(int),
			      .max_entries = 1};
	struct perf_event_attr software = {.type = PERF_TYPE_SOFTWARE,
					   .size = sizeof(software),
					   .config = PERF_COUNT_SW_CONTEXT_SWITCHES};
	union bpf_attr update = {0};
	int cpu, event, key = 0;
	cpu_set_t cpus;

	usage_unless(argc == 2, "CPU");
	cpu = number(argc, argv, 1, 0);
	CPU_ZERO(&cpus);
	CPU_SET(cpu, &cpus);
	if (sched_setaffinity(0, sizeof(cpus), &cpus))
		die("CPU %d", cpu);
	event = syscall(SYS_perf_event_open, &software, -1, cpu, -1, 0);
	if (event < 0)
		die("perf_event_open");
	update.map_fd = syscall(SYS_bpf, BPF_MAP_CREATE, &map, sizeof(map));
	update.key = (uintptr_t)&key;
	update.value = (uintptr_t)&event;
	puts("ready");
	fflush(stdout);
	while (!syscall(SYS_bpf, BPF_MAP_UPDATE_ELEM, &update, sizeof(update)))
		;
	die("BPF map");
}
