/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_TARGET_CGROUP_FS_H
#define PERF_TARGET_CGROUP_FS_H

/*
 * The cgroup hierarchy of the perf_event controller: of v1, or implicitly that of v2. perf events count
 * its cgroups.
 */

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct cgroup_fs {
	char *mount; /* directory of the topmost visible cgroup; owned */
	char *root;  /* path of that cgroup; "/": the topmost of our namespace. Owned */
	bool is_v1;
};

/**
 * cgroup_fs__find() - find the mounted hierarchy
 * @fs: released by cgroup_fs__clear()
 *
 * Return: 0; -ENOMEM without a message. After a message: -ENOENT: no cgroups are mounted; -ENODEV: the
 * hierarchy of the perf_event controller is not; -EOPNOTSUPP: the kernel lacks this controller.
 */
int cgroup_fs__find(struct cgroup_fs *fs);
void cgroup_fs__clear(struct cgroup_fs *fs);

/**
 * cgroup_fs__dir() - the directory of a cgroup
 * @path: below the mount; "" or "/" is the root
 *
 * Return: owned by the caller; NULL with errno: ENOENT: @path has ".."; ENOMEM.
 */
char *cgroup_fs__dir(const struct cgroup_fs *fs, const char *path);

/**
 * cgroup_fs__of_task() - the path of a task's cgroup below the mount, "/" for the root
 * @pid: 0 is the caller
 *
 * Return: owned by the caller; NULL with errno: ENOENT: no such process; EXDEV: its cgroup is outside of
 * the mount; ENOMEM.
 */
char *cgroup_fs__of_task(const struct cgroup_fs *fs, pid_t pid);

/**
 * cgroup_fs__id() - the kernel's id of a cgroup, which it never reuses
 * @dir: its directory
 *
 * Return: the id; 0 with errno if @dir is not a directory.
 */
uint64_t cgroup_fs__id(const char *dir);

/**
 * cgroup_fs__lacks_controller() - return true if the kernel would refuse to count this cgroup
 * @dir: its directory
 *
 * cgroup v2 enables the perf_event controller implicitly, but only below a cgroup that enables any
 * controller (seen on Linux 5.x to 6.12). BPF programs see such a cgroup as its parent.
 */
bool cgroup_fs__lacks_controller(const char *dir);
#define CGROUP_FS_ENABLE_TEXT                                                                      \
	"the perf_event controller does not reach it: enable any controller in the topmost cgroup (echo +pids > /sys/fs/cgroup/cgroup.subtree_control)"

/* Visit a cgroup. @path: below the mount, "/" for the root. Return: 0; other values end the walk. */
typedef int (*cgroup_visit_t)(void *ctx, const char *path, uint64_t id);

/**
 * cgroup_fs__walk() - visit a cgroup and then all below it, siblings by name
 *
 * Skips cgroups that are removed meanwhile. Return: 0, what visit() returned, or -ENOMEM, -EMFILE, -ENFILE.
 */
int cgroup_fs__walk(const struct cgroup_fs *fs, const char *path, cgroup_visit_t visit, void *ctx);

/**
 * cgroup_fs__chain() - the ids of a cgroup and its ancestors, in this order
 * @dir: its directory
 *
 * Return: number of ids; -ENOENT: the cgroup is gone; -E2BIG: more than @max; -ENOMEM.
 */
int cgroup_fs__chain(const struct cgroup_fs *fs, const char *dir, uint64_t *ids, int max);

#endif
