// SPDX-License-Identifier: GPL-2.0
#include "util/host/perf_event_store.h"

#include "util/lib/msg.h"
#include "util/lib/util.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* The members that perf of Linux 6.1 writes, in its order. */
#define MEMBERS(fn)                                                                                \
	fn(type) fn(size) fn(config) fn(sample_period) fn(sample_type) fn(read_format) fn(         \
		disabled) fn(inherit) fn(pinned) fn(exclusive) fn(exclude_user) fn(exclude_kernel) \
		fn(exclude_hv) fn(exclude_idle) fn(mmap) fn(comm) fn(freq) fn(inherit_stat)        \
			fn(enable_on_exec) fn(task) fn(watermark) fn(precise_ip) fn(mmap_data)     \
				fn(sample_id_all) fn(exclude_host) fn(exclude_guest)               \
					fn(exclude_callchain_kernel) MORE_MEMBERS(fn)
#define MORE_MEMBERS(fn)                                                                           \
	fn(exclude_callchain_user) fn(mmap2) fn(comm_exec) fn(context_switch) fn(write_backward)   \
		fn(namespaces) fn(use_clockid) fn(wakeup_events) fn(bp_type) fn(config1)           \
			fn(config2) fn(branch_sample_type) fn(sample_regs_user)                    \
				fn(sample_stack_user)

void perf_event__store(const struct perf_event_attr *attr, pid_t pid, int cpu, int group_fd,
		       unsigned long flags, int fd)
{
	const char *dir = secure_getenv("PERF_TEST_ATTR");
	char *name __cleanup(free_ptr) = NULL, *path __cleanup(free_ptr) = NULL;
	FILE *file;

	if (!dir)
		return;
	name = xasprintf("event-%u-%llu-%d", attr->type, (unsigned long long)attr->config, fd);
	path = name ? xasprintf("%s/%s", dir, name) : NULL;
	file = path ? fopen(path, "we") : NULL;
	if (!file) {
		pr_err("PERF_TEST_ATTR: cannot write %s: %s", path ? path : dir, strerror(errno));
		return;
	}
	fprintf(file, "[%s]\nfd=%d\ngroup_fd=%d\ncpu=%d\npid=%d\nflags=%lu\n", name, fd, group_fd,
		cpu, pid, flags);
#define WRITE(member) fprintf(file, #member "=%llu\n", (unsigned long long)attr->member);
	MEMBERS(WRITE)
	if (fclose(file))
		pr_err("PERF_TEST_ATTR: cannot write %s: %s", path, strerror(errno));
}
