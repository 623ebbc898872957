// SPDX-License-Identifier: GPL-2.0
#include "util/host/task_namespace.h"

#include "util/lib/msg.h"
#include "util/lib/util.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The initial namespaces have fixed inodes (PROC_PID_INIT_INO, since Linux 3.8; PROC_TIME_INIT_INO, since 5.6). */
static const struct {
	const char *name, *path;
	ino_t initial;
} namespaces[] = {
	{"pid", "/proc/self/ns/pid", 0xeffffffc},
	{"time", "/proc/self/ns/time", 0xeffffffa},
};

const char *task_namespace__name(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(namespaces); i++) {
		struct stat st;

		if (!stat(namespaces[i].path, &st) && st.st_ino != namespaces[i].initial)
			return namespaces[i].name;
	}
	return NULL;
}

bool task_namespace__hides_tasks(void)
{
	const char *name = task_namespace__name();

	return name && !strcmp(name, "pid");
}

/* The line has a number for each namespace from that of /proc to the process's own. */
static bool is_own_namespace(const char *status)
{
	const char *line = strstr(status, "\nNSpid:\t");

	if (!line)
		return true; /* a kernel without pid namespaces */
	line += strlen("\nNSpid:\t");
	return !memchr(line, '\t', strcspn(line, "\n"));
}

int task_namespace__check_proc(const char *failure)
{
	char *status __cleanup(free_ptr) = read_file("/proc/self/status", NULL);
	int err = status ? 0 : -errno;

	if (err && err != -ENOENT) {
		pr_err("%s: cannot read /proc/self/status: %s", failure, strerror(-err));
		return err;
	}
	if (!err && is_own_namespace(status))
		return 0;
	pr_err("%s: /proc is not that of perf's pid namespace, so its numbers are those of other tasks (mount -t proc proc /proc)",
	       failure);
	return -ENOENT;
}
