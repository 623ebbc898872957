// SPDX-License-Identifier: GPL-2.0
#include "util/host/cpu_idle.h"

#include "util/host/proc_stat.h"
#include "util/lib/util.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

uint64_t cpu_idle__step_ns(void)
{
	return proc_stat__ticks_ns(1);
}

/* The line of all CPUs has blanks in place of a number. */
static void read_line(const char *line, uint64_t *idle_ns, int nr)
{
	unsigned long long idle, wait;
	unsigned int cpu;

	if (line[3] != ' ' &&
	    sscanf(line, "cpu%u %*u %*u %*u %llu %llu", &cpu, &idle, &wait) == 3 &&
	    cpu < (unsigned int)nr)
		idle_ns[cpu] = proc_stat__ticks_ns(idle + wait);
}

int cpu_idle__read(uint64_t *idle_ns, int nr)
{
	char *path __cleanup(free_ptr) = xasprintf("%s/stat", procfs_root());
	char *text __cleanup(free_ptr) = path ? read_file(path, NULL) : NULL;
	int err = text ? 0 : path ? -errno : -ENOMEM;

	memset(idle_ns, 0, nr * sizeof(*idle_ns));
	for (char *line = text, *next; line && !strncmp(line, "cpu", 3); line = next) {
		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		read_line(line, idle_ns, nr);
	}
	return err;
}

int64_t cpu_idle__between(uint64_t from_ns, uint64_t to_ns)
{
	return from_ns && to_ns >= from_ns ? (int64_t)(to_ns - from_ns) : -1;
}
