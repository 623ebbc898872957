// SPDX-License-Identifier: GPL-2.0
#include "util/symbol/image.h"

#include "util/host/capability.h"
#include "util/lib/util.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <link.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

const char *image__name(const struct image *image)
{
	const char *slash = strrchr(image->path, '/');

	return slash && slash[1] ? slash + 1 : image->path;
}

/* --- regular files only: opening a device or a fifo may block, or do something --- */

/* Open for reading what an O_PATH descriptor names. Return: a descriptor or -errno. */
static int reopen(int path_fd)
{
	char path[40];
	struct stat st;
	int fd;

	if (fstat(path_fd, &st))
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -EINVAL;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", path_fd);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	return fd < 0 ? -errno : fd;
}

/* Open a path that cannot leave a root directory, not even by symbolic links. */
static int open_below(const char *root, const char *path)
{
	const struct open_how how = {
		.flags = O_PATH | O_CLOEXEC,
		.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS,
	};
	int dir __cleanup(close_fd) = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	int path_fd __cleanup(close_fd) = -1;

	if (dir < 0)
		return -errno;
	path_fd = syscall(SYS_openat2, dir, path, &how, sizeof(how));
	return path_fd < 0 ? -errno : reopen(path_fd);
}

static int open_in_process(pid_t pid, const char *path)
{
	char *root __cleanup(free_ptr) = xasprintf("%s/%d/root", procfs_root(), pid);

	return root ? open_below(root, path) : -ENOMEM;
}

/* --- files --- */

/*
 * The kernel's link to the mapped file, wherever its path leads by now. The process may have another
 * mapping there by now, so compare the inode.
 */
static int open_mapping(const struct image *image)
{
	char *path __cleanup(free_ptr) =
		xasprintf("%s/%d/map_files/%" PRIx64 "-%" PRIx64, procfs_root(), image->user.pid,
			  image->user.start, image->user.end);
	int path_fd __cleanup(close_fd) = path ? open(path, O_PATH | O_CLOEXEC) : -1;

	if (!path)
		return -ENOMEM;
	return path_fd < 0 ? -errno : reopen(path_fd);
}

/* Devices differ between mappings and files on btrfs and overlayfs. */
static int check_inode(const struct image *image, int fd)
{
	struct stat st;

	if (fd >= 0 && (fstat(fd, &st) || st.st_ino != image->inode)) {
		close(fd);
		return -ESTALE;
	}
	return fd;
}

static int open_path(const struct image *image, const char *path)
{
	int fd = -ENOENT;

	if (image->user.pid)
		fd = check_inode(image, open_in_process(image->user.pid, path));
	return fd < 0 ? check_inode(image, open_below("/", path)) : fd;
}

/* The mark of deleted files was cut off the path. A file can have it as a part of its name. */
static int open_marked(struct image *image, int err)
{
	char *path = xasprintf("%s (deleted)", image->path);
	int fd = path ? open_path(image, path) : -ENOMEM;

	if (fd < 0) {
		free(path);
		return err;
	}
	free(image->path);
	image->path = path;
	return fd;
}

static int open_file(struct image *image)
{
	int fd = image->user.pid ? check_inode(image, open_mapping(image)) : -ENOENT;

	if (fd < 0)
		fd = open_path(image, image->path);
	return fd < 0 ? open_marked(image, fd) : fd;
}

/* Our own is the same as that of every process of 64 bits. Processes of 32 bits have another one, below 4 GiB. */
static int open_vdso(const struct image *image)
{
	const ElfW(Ehdr) *vdso = (const void *)getauxval(AT_SYSINFO_EHDR);
	size_t size;
	int fd;

	if (!vdso || (image->user.end && !(image->user.start >> 32)))
		return -ENOENT;
	/* The kernel checks what it copies: a table of sections elsewhere would do no harm. */
	size = vdso->e_shoff + (size_t)vdso->e_shnum * vdso->e_shentsize;
	fd = memfd_create("vdso", MFD_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (write(fd, vdso, size) != (ssize_t)size) {
		close(fd);
		return -EIO;
	}
	return fd;
}

/* --- perf maps --- */

/* Return: a process's number in its innermost pid namespace, which names its perf map. */
static pid_t inner_pid(pid_t pid)
{
	char *path __cleanup(free_ptr) = xasprintf("%s/%d/status", procfs_root(), pid);
	char *text __cleanup(free_ptr) = path ? read_file(path, NULL) : NULL;
	const char *line = text ? strstr(text, "\nNSpid:") : NULL;
	pid_t inner = pid;

	if (!line)
		return pid;
	line += strlen("\nNSpid:");
	while (*line == '\t') {
		char *end;

		inner = strtol(line, &end, 10);
		line = end;
	}
	return inner;
}

/* Anybody may write to /tmp. */
static int check_owner(const struct image *image, int fd)
{
	struct stat st;

	if (fd < 0)
		return fd;
	if (!fstat(fd, &st) && (!st.st_uid || st.st_uid == image->uid))
		return fd;
	close(fd);
	return -EPERM;
}

static int open_perf_map(const struct image *image)
{
	char *inner __cleanup(free_ptr) = xasprintf("tmp/perf-%d.map", inner_pid(image->pid));
	char *outer __cleanup(free_ptr) = xasprintf("tmp/perf-%d.map", image->pid);
	int fd;

	if (!inner || !outer)
		return -ENOMEM;
	fd = check_owner(image, open_in_process(image->pid, inner));
	return fd < 0 ? check_owner(image, open_below("/", outer)) : fd;
}

/* --- all --- */

int image__open(struct image *image)
{
	int fd;

	if (image->fd >= 0)
		return 0;
	if (image->is_unreadable)
		return -ENOENT;
	capability__raise();
	fd = image->kind == IMAGE_FILE ? open_file(image) :
	     image->kind == IMAGE_VDSO ? open_vdso(image) :
	     image->kind == IMAGE_JIT  ? open_perf_map(image) :
					 -ENOENT;
	capability__lower();
	if (fd < 0)
		return fd;
	image->fd = fd;
	return 0;
}

int image__open_debug(const struct image *image, const char *path)
{
	int fd = image->user.pid ? open_in_process(image->user.pid, path) : -ENOENT;

	return fd < 0 ? open_below("/", path) : fd;
}

void image__close(struct image *image)
{
	close_fd(&image->fd);
	close_fd(&image->debug_fd);
	close_fd(&image->alt_fd);
	free_ptr(&image->debug_path);
}
