/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_UTIL_CGROUP_FS_H
#define PERF_UTIL_CGROUP_FS_H

/*
 * Where the cgroups are that perf events are counted by: those of the perf_event controller, which
 * is a hierarchy of cgroup v1 or, implicitly, the one of v2.
 */

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct cgroup_fs {
	char *mount;		/* directory of the top cgroup that can be seen; owned */
	char *root;		/* which cgroup that is, "/" the topmost of our namespace; owned */
	bool is_v1;
};

/**
 * cgroup_fs__find() - find the mounted hierarchy
 * @fs: to be released by cgroup_fs__clear()
 *
 * Return: 0; -ENOENT: no cgroups are mounted, -ENODEV: not those of the perf_event controller,
 * -EOPNOTSUPP: the kernel has no such controller, all after a message; -ENOMEM.
 */
int cgroup_fs__find(struct cgroup_fs *fs);
void cgroup_fs__clear(struct cgroup_fs *fs);

/**
 * cgroup_fs__dir() - the directory of a cgroup
 * @path: below the mount; "" or "/" is the root
 *
 * Return: owned by the caller; NULL with errno: ENOENT when it leads upwards, ENOMEM.
 */
char *cgroup_fs__dir(const struct cgroup_fs *fs, const char *path);

/**
 * cgroup_fs__of_task() - the path below the mount of a task's cgroup, "/" for the root
 * @pid: 0 is the caller
 *
 * Return: owned by the caller; NULL with errno: ENOENT no such process, EXDEV its cgroup is outside
 * of what is mounted, ENOMEM.
 */
char *cgroup_fs__of_task(const struct cgroup_fs *fs, pid_t pid);

/**
 * cgroup_fs__id() - the kernel's number of a cgroup, never used twice
 * @dir: its directory
 *
 * Return: the number; 0 with errno when it is no directory.
 */
uint64_t cgroup_fs__id(const char *dir);

/**
 * cgroup_fs__lacks_controller() - whether the kernel would refuse to count this cgroup
 * @dir: its directory
 *
 * cgroup v2 hands the perf_event controller down without being asked, but only once some controller
 * has been (5.x to 6.12 at least). Programs see such a cgroup as the one above it.
 */
bool cgroup_fs__lacks_controller(const char *dir);
#define CGROUP_FS_ENABLE_TEXT \
	"the perf_event controller does not reach it: enable any controller in the topmost cgroup (echo +pids > /sys/fs/cgroup/cgroup.subtree_control)"

/* One cgroup of a walk: its path below the mount, "/" for the root. Return: 0, else the walk ends. */
typedef int (*cgroup_visit_t)(void *ctx, const char *path, uint64_t id);

/**
 * cgroup_fs__walk() - visit a cgroup, and then all below it, siblings by name
 *
 * Those that go meanwhile are left out. Return: 0, what visit() returned, or -ENOMEM.
 */
int cgroup_fs__walk(const struct cgroup_fs *fs, const char *path, cgroup_visit_t visit, void *ctx);

/**
 * cgroup_fs__chain() - the numbers of a cgroup and all above it, itself first
 * @dir: its directory
 *
 * Return: how many; -ENOENT: it is gone; -E2BIG: more than @max; -ENOMEM.
 */
int cgroup_fs__chain(const struct cgroup_fs *fs, const char *dir, uint64_t *ids, int max);

#endif
