// SPDX-License-Identifier: GPL-2.0
#include "util/lib/new_file.h"

#include "util/lib/msg.h"
#include "util/lib/util.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NR_NAMES 100 /* temporary names to try */

static int open_stream(struct new_file *new)
{
	int fd = strcmp(new->path, "-") ? open(new->path, O_WRONLY | O_CLOEXEC) :
					  fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);

	new->is_stream = true;
	new->file = fd < 0 ? NULL : fdopen(fd, "w");
	return new->file ? 0 : -errno;
}

char *new_file__dir(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? strndup(path, slash - path + 1) : strdup(".");
}

/* Call @make with unused names beside the final one, until one is taken. Return: 0 or -errno. */
static int take_name(struct new_file *new, int (*make)(void *ctx, const char *name), void *ctx)
{
	int err = -EEXIST;

	for (int i = 0; i < NR_NAMES && err == -EEXIST; i++) {
		char *name = xasprintf("%s.%d-%d", new->path, (int)getpid(), i);

		if (!name)
			return -ENOMEM;
		err = make(ctx, name);
		if (err)
			free(name);
		else
			new->temp = name;
	}
	return err;
}

struct creation {
	int fd;
	mode_t mode;
};

static int create(void *ctx, const char *name)
{
	struct creation *creation = ctx;

	creation->fd = open(name, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, creation->mode);
	return creation->fd < 0 ? -errno : 0;
}

/* Use O_TMPFILE if the file system can, otherwise a temporary name. */
static int open_file(struct new_file *new, mode_t mode)
{
	char *dir __cleanup(free_ptr) = new_file__dir(new->path);
	struct creation creation = {.mode = mode};
	int err = 0;

	if (!dir)
		return -ENOMEM;
	creation.fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, mode);
	if (creation.fd < 0)
		err = -errno;
	if (err == -EOPNOTSUPP || err == -EISDIR || err == -EINVAL)
		err = take_name(new, create, &creation);
	if (err)
		return err;
	new->file = fdopen(creation.fd, "w");
	return new->file ? 0 : -errno;
}

int new_file__open(struct new_file *new, const char *path, mode_t mode)
{
	struct stat st;
	bool is_there = !stat(path, &st);

	*new = (struct new_file){.path = strdup(path)};
	if (!new->path)
		return -ENOMEM;
	if (!*path)
		return -ENOENT;
	if (!strcmp(path, "-"))
		return open_stream(new);
	if (is_there && S_ISDIR(st.st_mode))
		return -EISDIR;
	return is_there && !S_ISREG(st.st_mode) ? open_stream(new) : open_file(new, mode);
}

int new_file__replace(struct new_file *new, const char *path, mode_t mode)
{
	/* The kernel follows no link of somebody else in /tmp (fs.protected_symlinks), so perf does not either. */
	int fd __cleanup(close_fd) = strcmp(path, "-") ? open(path, O_PATH | O_CLOEXEC) : -1;
	char *self __cleanup(free_ptr) = xasprintf("/proc/self/fd/%d", fd);
	char target[PATH_MAX];
	struct stat st;
	ssize_t len;
	int err;

	if (fd < 0 || fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_uid != geteuid())
		return new_file__open(new, path, mode);
	len = self ? readlink(self, target, sizeof(target) - 1) : -1;
	if (len > 0)
		target[len] = '\0';
	err = new_file__open(new, len > 0 ? target : path, mode);
	if (!err && !new->is_stream && fchmod(fileno(new->file), st.st_mode & 0777))
		err = -errno;
	return err;
}

/* Link a file of O_TMPFILE to a name. */
static int link_file(void *ctx, const char *name)
{
	return linkat(AT_FDCWD, ctx, AT_FDCWD, name, AT_SYMLINK_FOLLOW) ? -errno : 0;
}

/* Move the old file away, then the new one in place; move the old one back if that fails. */
static int give_name(struct new_file *new, const char *old)
{
	char *self __cleanup(free_ptr) = xasprintf("/proc/self/fd/%d", fileno(new->file));
	int err = self ? 0 : -ENOMEM;

	if (!err && !new->temp)
		err = take_name(new, link_file, self);
	if (!err && old && rename(new->path, old))
		return -errno;
	if (!err && rename(new->temp, new->path)) {
		err = -errno;
		if (old && rename(old, new->path))
			pr_warn("previous file renamed to %s", old);
	}
	if (!err)
		free_ptr(&new->temp);
	return err;
}

/* NFS and quotas report some errors of writing only when a descriptor is closed. Return: 0 or -errno. */
static int close_copy(FILE *file)
{
	int fd = fcntl(fileno(file), F_DUPFD_CLOEXEC, 3);

	return fd < 0 || close(fd) ? -errno : 0;
}

int new_file__finish(struct new_file *new, const char *old)
{
	int err;

	errno = 0;
	if (fflush(new->file) || ferror(new->file))
		return errno ? -errno : -EIO;
	err = close_copy(new->file);
	return err || new->is_stream ? err : give_name(new, old);
}

void new_file__close(struct new_file *new)
{
	if (new->temp)
		unlink(new->temp);
	if (new->file)
		fclose(new->file);
	free(new->temp);
	free(new->path);
	*new = (struct new_file){};
}
