// SPDX-License-Identifier: GPL-2.0
#include "util/host/perf_event.h"

#include "util/host/perf_event_print.h"
#include "util/host/perf_event_store.h"
#include "util/lib/msg.h"
#include "util/lib/util.h"

#include <errno.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>

/* Raise the soft limit to the hard one, then the hard one if permitted. */
static int raise_nofile(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return -errno;
	if (limit.rlim_cur < limit.rlim_max) {
		limit.rlim_cur = limit.rlim_max;
	} else {
		limit.rlim_cur += 4096;
		limit.rlim_max = limit.rlim_cur;
	}
	return setrlimit(RLIMIT_NOFILE, &limit) ? -errno : 0;
}

int perf_event__reserve(unsigned long nr, unsigned long *limit)
{
	struct rlimit now, want;

	nr += PERF_EVENT_SPARE_FDS;
	if (getrlimit(RLIMIT_NOFILE, &now))
		return -errno;
	*limit = now.rlim_max;
	if (now.rlim_cur >= nr)
		return 0;
	want.rlim_cur = nr;
	want.rlim_max = now.rlim_max > nr ? now.rlim_max : nr;
	return setrlimit(RLIMIT_NOFILE, &want) ? -EMFILE : 0;
}

int perf_event__open(struct perf_event_attr *attr, pid_t pid, int cpu, int group_fd,
		     unsigned long flags)
{
	const uint32_t attr_size = attr->size;

	for (;;) {
		int fd = syscall(SYS_perf_event_open, attr, pid, cpu, group_fd,
				 flags | PERF_FLAG_FD_CLOEXEC);
		int err = -errno;

		/* With E2BIG, the kernel puts the size that it knows there. */
		attr->size = attr_size;
		if (msg__verbose() > 1)
			perf_event__dump(attr, pid, cpu, group_fd, flags | PERF_FLAG_FD_CLOEXEC,
					 fd < 0 ? err : fd);
		if (fd >= 0) {
			perf_event__store(attr, pid, cpu, group_fd, flags | PERF_FLAG_FD_CLOEXEC,
					  fd);
			return fd;
		}
		if (err == -EINTR)
			continue;
		if (err != -EMFILE || raise_nofile())
			return err;
	}
}

int perf_event__open_shared(struct perf_event_attr *attr, int cpu, int group_fd, bool leads)
{
	attr->disabled = leads;
	attr->read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	return perf_event__open(attr, -1, cpu, group_fd, 0);
}

int perf_event__start_group(int fd)
{
	return ioctl(fd, PERF_EVENT_IOC_ENABLE, 0) ? -errno : 0;
}

bool perf_event__is_clock(const struct perf_event_attr *attr)
{
	return attr->type == PERF_TYPE_SOFTWARE && (attr->config == PERF_COUNT_SW_CPU_CLOCK ||
						    attr->config == PERF_COUNT_SW_TASK_CLOCK);
}

void perf_event__sample_all_modes(struct perf_event_attr *attr)
{
	if (perf_event__is_clock(attr))
		attr->exclude_user = attr->exclude_kernel = attr->exclude_idle = 0;
}

int perf_event__max_stack(void)
{
	char *file __cleanup(free_ptr) =
		xasprintf("%s/sys/kernel/perf_event_max_stack", procfs_root());
	char *text __cleanup(free_ptr) = file ? read_file_line(file) : NULL;
	int max = text ? atoi(text) : PERF_MAX_STACK_DEPTH;

	return max > 0 ? max : 1;
}

int perf_event__paranoid(void)
{
	char *file __cleanup(free_ptr) =
		xasprintf("%s/sys/kernel/perf_event_paranoid", procfs_root());
	char *text __cleanup(free_ptr) = file ? read_file_line(file) : NULL;

	return text ? atoi(text) : -2;
}

int perf_event__is_unsupported(int err)
{
	switch (-err) {
	case ENOENT:
	case EINVAL:
	case ENOSYS:
	case ENXIO:
	case E2BIG:
	case EOPNOTSUPP:
		return 1;
	default:
		return 0;
	}
}
