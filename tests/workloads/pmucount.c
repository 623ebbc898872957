// SPDX-License-Identifier: GPL-2.0
/*
 * pmucount [-a] TYPE:CONFIG[:u|:k|:h]... -- COMMAND [ARGUMENT...]: count events directly with
 * perf_event_open(), without perf. Print one line for each event: value, time enabled and time running
 * in nanoseconds. Counting begins at exec and includes children. With -a it covers all CPUs, from
 * before the start to after the end. Exit with the status of COMMAND.
 */
#include "workload.h"
#include <fcntl.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>

#define MAX_EVENTS 64
#define MAX_CPUS   64

int main(int argc, char **argv)
{
	int fds[MAX_EVENTS][MAX_CPUS], hold[2], nr_cpus = 1, nr = 0, all = 0, i, cpu, status;
	char c;
	pid_t pid;

	if (argc > 1 && !strcmp(argv[1], "-a")) {
		all = 1;
		nr_cpus = sysconf(_SC_NPROCESSORS_ONLN);
		argv++, argc--;
	}
	for (i = 1; i < argc && strcmp(argv[i], "--"); i++)
		nr++;
	usage_unless(nr && nr <= MAX_EVENTS && nr_cpus <= MAX_CPUS && i + 1 < argc,
		     "[-a] TYPE:CONFIG[:u|:k]... -- COMMAND [ARGUMENT...]");
	if (pipe2(hold, O_CLOEXEC))
		die("pipe");
	pid = fork();
	if (pid < 0)
		die("fork");
	if (!pid) {
		close(hold[1]);
		errno = 0;
		if (read(hold[0], &c, 1) < 0)
			die("read");
		execvp(argv[nr + 2], argv + nr + 2);
		die("%s", argv[nr + 2]);
	}
	close(hold[0]);
	for (i = 0; i < nr; i++) {
		struct perf_event_attr attr = {
			.size = sizeof(attr),
			.disabled = 1,
			.enable_on_exec = !all,
			.inherit = !all,
			.read_format =
				PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING,
		};
		unsigned long long config;
		char mode = 0;

		errno = 0;
		if (sscanf(argv[i + 1], "%u:%lli:%c", &attr.type, (long long *)&config, &mode) <
			    2 ||
		    (mode && !strchr("ukh", mode)))
			die("bad event '%s'", argv[i + 1]);
		attr.config = config;
		attr.exclude_kernel = mode == 'u';
		attr.exclude_user = mode == 'k';
		for (cpu = 0; cpu < nr_cpus; cpu++) {
			fds[i][cpu] = syscall(SYS_perf_event_open, &attr, all ? -1 : pid,
					      all ? cpu : -1, -1, PERF_FLAG_FD_CLOEXEC);
			if (fds[i][cpu] < 0)
				die("perf_event_open %s", argv[i + 1]);
		}
	}
	for (i = 0; all && i < nr; i++)
		for (cpu = 0; cpu < nr_cpus; cpu++)
			if (ioctl(fds[i][cpu], PERF_EVENT_IOC_ENABLE, 0))
				die("enable");
	close(hold[1]);
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			die("waitpid");
	for (i = 0; all && i < nr; i++)
		for (cpu = 0; cpu < nr_cpus; cpu++)
			if (ioctl(fds[i][cpu], PERF_EVENT_IOC_DISABLE, 0))
				die("disable");
	for (i = 0; i < nr; i++) {
		unsigned long long sum[3] = {0}, one[3];

		for (cpu = 0; cpu < nr_cpus; cpu++) {
			errno = 0;
			if (read(fds[i][cpu], one, sizeof(one)) != sizeof(one))
				die("read %s", argv[i + 1]);
			sum[0] += one[0];
			sum[1] += one[1];
			sum[2] += one[2];
		}
		printf("%llu %llu %llu\n", sum[0], sum[1], sum[2]);
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
