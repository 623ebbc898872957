// SPDX-License-Identifier: GPL-2.0
#include "util/host/task_namespace.h"

#include "util/lib/util.h"

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
bool task_namespace__has_proc(void)
{
	char *status __cleanup(free_ptr) = read_file("/proc/self/status", NULL);
	const char *line = status ? strstr(status, "\nNSpid:\t") : NULL;

	if (!line)
		return status != NULL; /* a kernel without pid namespaces */
	line += strlen("\nNSpid:\t");
	return !memchr(line, '\t', strcspn(line, "\n"));
}
