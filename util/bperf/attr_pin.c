// SPDX-License-Identifier: GPL-2.0
#include "util/bperf/attr_pin.h"

#include "util/lib/msg.h"
#include "util/lib/util.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/vfs.h>
#include <unistd.h>

#define MODE_OTHERS_WRITE (S_IWGRP | S_IWOTH)

static const char who_may[] =
	" (it, or the way to it, belongs to another user: needs CAP_DAC_OVERRIDE, or another path with --bpf-attr-map)";

const char *attr_pin__name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* --- judging --- */

bool attr_pin__is_trusted(uid_t user, const uid_t *trusted)
{
	if (user == 0 || user == geteuid())
		return true;
	for (; trusted && *trusted != (uid_t)-1; trusted++) {
		if (user == *trusted)
			return true;
	}
	return false;
}

/* A pin that another user can make or change could lead us to programs and maps of their choice. */
static int judge(const char *path, const struct stat *st, const uid_t *trusted)
{
	if (!attr_pin__is_trusted(st->st_uid, trusted)) {
		pr_err("cannot share events: %s belongs to user %u, who is not trusted: only root's and one's own are (remove it, name another path with --bpf-attr-map, or trust the user: bperf.trusted-owners in /etc/perfconfig)",
		       path, st->st_uid);
		return -EPERM;
	}
	if (st->st_mode & MODE_OTHERS_WRITE) {
		pr_err("cannot share events: %s may be written by others than its owner (mode %04o): not trusted (chmod go-w %s)",
		       path, st->st_mode & 07777, path);
		return -EPERM;
	}
	return 0;
}

static bool is_bpffs(int fd)
{
	struct statfs fs;

	return !fstatfs(fd, &fs) && fs.f_type == BPF_FS_MAGIC;
}

/* --- the directory of the pin --- */

static int open_path(const char *dir)
{
	int fd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	if (is_bpffs(fd))
		return fd;
	close(fd);
	return -EMEDIUMTYPE;
}

static int mount_bpffs(const char *root)
{
	int err;

	/* From Linux 6.9 on the file system belongs to the user who mounts it. */
	if (geteuid()) {
		pr_err("cannot share events: no BPF file system at %s, and perf mounts one as root only (as root: mount -t bpf bpf %s)",
		       root, root);
		return -ENOENT;
	}
	if (!mount("bpf", root, "bpf", MS_NOSUID | MS_NODEV | MS_NOEXEC | MS_RELATIME, "mode=0700"))
		return 0;
	err = -errno;
	pr_err("cannot share events: no BPF file system at %s, and mounting one failed: %s (mount -t bpf bpf %s)",
	       root, strerror(-err), root);
	return -ENOENT;
}

int attr_pin__open_parent(const char *path)
{
	char *copy __cleanup(free_ptr) = strdup(path);
	const char *dir, *root = bpffs_root();
	int fd, err;

	if (!copy)
		return -ENOMEM;
	dir = dirname(copy);
	fd = open_path(dir);
	if (fd == -EMEDIUMTYPE && !strcmp(dir, root)) {
		err = mount_bpffs(root);
		if (err)
			return err;
		fd = open_path(dir);
	}
	if (fd >= 0)
		return fd;
	pr_err("cannot share events through '%s': %s (--bpf-attr-map takes a path on a BPF file system, e.g. %s/NAME)",
	       path, fd == -EMEDIUMTYPE ? "not on a BPF file system" : strerror(-fd), root);
	return fd == -EMEDIUMTYPE ? -ENOENT : fd;
}

/* --- the pin and the lock directory --- */

int attr_pin__report_open(const char *path, int err)
{
	pr_err("cannot share events: cannot open the attr map %s: %s%s", path, strerror(-err),
	       err == -EPERM && strchr(attr_pin__name(path), '.') ?
		       " (the BPF file system takes no name with a dot in it)" :
	       err == -EPERM  ? " (needs CAP_BPF and CAP_SYS_ADMIN: run as root)" :
	       err == -EACCES ? who_may :
				"");
	return err;
}

static int refuse_kind(const char *path, mode_t mode)
{
	pr_err("cannot share events: %s is %s, not an attr map", path,
	       S_ISDIR(mode) ? "a directory" :
	       S_ISLNK(mode) ? "a symbolic link, which perf does not follow" :
			       "not pinned");
	return -EPROTO;
}

int attr_pin__get(int parent, const char *path, const uid_t *trusted, struct stat *st)
{
	int pin __cleanup(close_fd) = -1;
	char self[64];
	int fd, err;

	if (!*attr_pin__name(path))
		return refuse_kind(path, S_IFDIR);
	pin = openat(parent, attr_pin__name(path), O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (pin < 0 || fstat(pin, st))
		return errno == ENOENT ? -ENOENT : attr_pin__report_open(path, -errno);
	if (!S_ISREG(st->st_mode) || !is_bpffs(pin))
		return refuse_kind(path, st->st_mode);
	err = judge(path, st, trusted);
	if (err)
		return err;
	snprintf(self, sizeof(self), "/proc/self/fd/%d", pin);
	fd = bpf_obj_get(self);
	if (fd >= 0)
		return fd;
	err = -errno;
	/* The pin exists: -ENOENT would have another one made. */
	if (err == -ENOENT) {
		pr_err("cannot share events: cannot open %s: there is no %s (mount /proc)", path,
		       self);
		return -ENXIO;
	}
	return attr_pin__report_open(path, err);
}

int attr_pin__pin(int parent, const char *path, int fd)
{
	char *self __cleanup(free_ptr) =
		xasprintf("/proc/self/fd/%d/%s", parent, attr_pin__name(path));

	if (!self)
		return -ENOMEM;
	return bpf_obj_pin(fd, self) ? -errno : 0;
}

int attr_pin__open_dir(int parent, const char *path, const uid_t *trusted, struct stat *st)
{
	const char *name = attr_pin__name(path);
	int fd, err;

	if (mkdirat(parent, name, 0700) && errno != EEXIST) {
		err = -errno;
		pr_err("cannot share events: cannot make %s: %s%s", path, strerror(-err),
		       err == -EACCES || err == -EPERM ? who_may : "");
		return err;
	}
	fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 || fstat(fd, st)) {
		err = -errno;
		pr_err("cannot share events: cannot open %s: %s%s", path, strerror(-err),
		       err == -EACCES || err == -EPERM ? who_may : "");
	} else {
		err = judge(path, st, trusted);
	}
	if (err)
		close_fd(&fd);
	return err ? err : fd;
}

bool attr_pin__is_at(int parent, const char *path, const struct stat *st)
{
	struct stat now;

	return !fstatat(parent, attr_pin__name(path), &now, AT_SYMLINK_NOFOLLOW) &&
	       now.st_dev == st->st_dev && now.st_ino == st->st_ino;
}
