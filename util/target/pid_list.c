// SPDX-License-Identifier: GPL-2.0
#include "util/target/pid_list.h"

#include "util/lib/array.h"
#include "util/lib/util.h"
#include "util/target/target.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <string.h>

int pid_list__add(struct pid_list *list, pid_t pid)
{
	pid_t *added = array__add(list->pids, list->nr);

	if (!added)
		return -ENOMEM;
	*added = pid;
	return 0;
}

/* Return: the process that has a thread, or the thread if it has ended. */
static pid_t process_of(pid_t tid)
{
	char *path __cleanup(free_ptr) = xasprintf("%s/%d/status", procfs_root(), tid);
	char *text __cleanup(free_ptr) = path ? read_file(path, NULL) : NULL;
	const char *line = text ? strstr(text, "\nTgid:\t") : NULL;

	return line ? atoi(line + strlen("\nTgid:\t")) : tid;
}

static int add_listed(struct pid_list *list, const char *text, bool are_threads)
{
	int err = 0;

	while (*text && !err) {
		char *end;
		pid_t pid = strtol(text, &end, 10);

		err = pid_list__add(list, are_threads ? process_of(pid) : pid);
		text = end + (*end == ',');
		if (*end && *end != ',')
			break;
	}
	return err;
}

static int add_all(struct pid_list *list)
{
	DIR *dir = opendir(procfs_root());
	int err = 0;

	for (struct dirent *entry; dir && !err && (entry = readdir(dir));) {
		if (isdigit((unsigned char)*entry->d_name))
			err = pid_list__add(list, atoi(entry->d_name));
	}
	if (dir)
		closedir(dir);
	return err;
}

int pid_list__find(struct pid_list *list, const struct target *target)
{
	if (target->pid_list)
		return add_listed(list, target->pid_list, false);
	return target->tid_list ? add_listed(list, target->tid_list, true) : add_all(list);
}

void pid_list__clear(struct pid_list *list)
{
	free(list->pids);
	*list = (struct pid_list){};
}
