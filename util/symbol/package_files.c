// SPDX-License-Identifier: GPL-2.0
#include "util/symbol/package_files.h"

#include "util/lib/util.h"
#include "util/symbol/image.h"
#include "util/symbol/symbol_process.h"

#include <linux/limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct packages {
	const struct image *image;
	int *fds;
	int nr;
};

/* @path: owned by this function; NULL: there was no memory */
static void add(struct packages *packages, char *path)
{
	int fd = path && packages->nr < SYMBOL_MAX_PACKAGES ?
			 image__open_debug(packages->image, path) :
			 -1;

	if (fd >= 0)
		packages->fds[packages->nr++] = fd;
	free(path);
}

/* gdb: DIR/PROGRAM.dwp and FILE.debug.dwp; libdw: the latter; lldb: also FILE.dwp */
static void add_beside(struct packages *packages, const char *debug_path)
{
	const char *slash = strrchr(debug_path, '/'), *dot = strrchr(debug_path, '.');
	int dir_len = slash ? slash - debug_path : 0;

	add(packages, xasprintf("%.*s/%s.dwp", dir_len, debug_path, image__name(packages->image)));
	add(packages, xasprintf("%s.dwp", debug_path));
	if (dot && !strcmp(dot, ".debug"))
		add(packages, xasprintf("%.*s.dwp", (int)(dot - debug_path), debug_path));
}

/* By build id, a debug file is often a link. */
static void add_beside_linked(struct packages *packages)
{
	const char *known = packages->image->debug_path;
	char link[40], path[PATH_MAX];
	ssize_t len;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", packages->image->debug_fd);
	len = readlink(link, path, sizeof(path) - 1);
	if (len <= 0)
		return;
	path[len] = '\0';
	/* Paths by build id have no leading slash. */
	if (strcmp(path + 1, known + (*known == '/')))
		add_beside(packages, path);
}

int package_files__open(const struct image *image, int *fds)
{
	struct packages packages = {.image = image, .fds = fds};

	add(&packages, xasprintf("%s.dwp", image->path));
	if (image->debug_path) {
		add_beside(&packages, image->debug_path);
		add_beside_linked(&packages);
	}
	add(&packages, xasprintf("/usr/lib/debug%s.dwp", image->path));
	return packages.nr;
}
