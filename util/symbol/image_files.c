// SPDX-License-Identifier: GPL-2.0
#include "util/symbol/image_files.h"

#include "util/lib/msg.h"
#include "util/lib/util.h"
#include "util/symbol/build_id.h"
#include "util/symbol/debuginfod.h"
#include "util/symbol/image.h"
#include "util/symbol/package_files.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

void image_files__watch(const struct image_files *files, void (*fn)(void *ctx), void *ctx)
{
	if (files->reader)
		symbol_process__watch(files->reader, fn, ctx);
	if (files->debuginfod)
		debuginfod__watch(files->debuginfod, fn, ctx);
}

/* A debug file that is there, but cannot be read, is a reason for missing names that people can mend. */
static int open_debug(const struct image *image, const char *path)
{
	int fd = image__open_debug(image, path);

	if (fd < 0 && fd != -ENOENT && fd != -ENOTDIR)
		pr_verbose("%s: cannot read its debug file %s%s: %s", image->path,
			   *path == '/' ? "" : "/", path, strerror(-fd));
	return fd;
}

/* Keep a file if it has the debug information of an image; close it otherwise. Return: 0 or -errno. */
static int keep_debug_file(const struct image_files *files, struct image *image, int fd)
{
	struct elf_description file;
	bool is_debug_file;
	int err;

	if (fd < 0)
		return fd;
	err = symbol_process__describe(files->reader, image->fd, fd, &file, &is_debug_file);
	if (err || !is_debug_file) {
		close(fd);
		return err ? err : -ENOENT;
	}
	image->debug_fd = fd;
	return 0;
}

static int try_debug_file(const struct image_files *files, struct image *image, const char *path)
{
	int err = keep_debug_file(files, image, path ? open_debug(image, path) : -ENOMEM);

	if (!err)
		image->debug_path = strdup(path); /* without it packages beside it are not found */
	return err;
}

/* The file names the link, and is not to lead elsewhere. */
static bool is_link(const char *name)
{
	return *name && !strchr(name, '/') && strcmp(name, ".") && strcmp(name, "..");
}

/* The places where debuggers look: by build id, beside the file, and below /usr/lib/debug. */
static void find_debug_file(const struct image_files *files, struct image *image,
			    const struct elf_description *file)
{
	int dir_len = strrchr(image->path, '/') ? strrchr(image->path, '/') - image->path : 0;
	static const char *const forms[] = {"%.*s/%s", "%.*s/.debug/%s", "/usr/lib/debug%.*s/%s"};
	char *by_id __cleanup(free_ptr) = build_id__debug_path(&file->id);
	int err = try_debug_file(files, image, by_id);

	for (size_t i = 0; i < ARRAY_SIZE(forms) && err && is_link(file->debug_link); i++) {
		char *by_link __cleanup(free_ptr) =
			xasprintf(forms[i], dir_len, image->path, file->debug_link);

		err = try_debug_file(files, image, by_link);
	}
	if (err && files->debuginfod)
		(void)keep_debug_file(files, image,
				      debuginfod__fetch(files->debuginfod, &file->id));
}

/* Return: a descriptor if the file has this build id; otherwise it is closed, and -errno. */
static int check_id(const struct image_files *files, int fd, const struct build_id *id,
		    struct elf_description *file)
{
	bool is_debug_file;
	int err;

	if (fd < 0)
		return fd;
	err = symbol_process__describe(files->reader, fd, -1, file, &is_debug_file);
	if (!err && id->len && build_id__are_equal(&file->id, id))
		return fd;
	close(fd);
	return err ? err : -ENOENT;
}

/* dwz moves what several files have in common into a further one. */
static void find_alt_file(const struct image_files *files, struct image *image)
{
	int fd = image->debug_fd >= 0 ? image->debug_fd : image->fd;
	char *by_id __cleanup(free_ptr) = NULL;
	struct elf_description file, alt;
	bool is_debug_file;

	if (symbol_process__describe(files->reader, fd, -1, &file, &is_debug_file))
		return;
	by_id = build_id__debug_path(&file.alt_id);
	image->alt_fd = by_id ? check_id(files, open_debug(image, by_id), &file.alt_id, &alt) : -1;
	if (image->alt_fd < 0 && *file.alt_link == '/')
		image->alt_fd =
			check_id(files, open_debug(image, file.alt_link), &file.alt_id, &alt);
	if (image->alt_fd < 0 && files->debuginfod)
		image->alt_fd = check_id(files, debuginfod__fetch(files->debuginfod, &file.alt_id),
					 &file.alt_id, &alt);
	if (image->alt_fd < 0)
		image->alt_fd = -1;
}

static int describe(const struct image_files *files, struct image *image)
{
	struct elf_description file;
	bool is_debug_file;
	int err;

	if (image->is_described || image->kind != IMAGE_FILE)
		return 0;
	err = symbol_process__describe(files->reader, image->fd, -1, &file, &is_debug_file);
	if (err)
		return err;
	if (image->sampled_id.len && !build_id__are_equal(&image->sampled_id, &file.id))
		return -ESTALE;
	image->is_described = true;
	image->build_id = file.id;
	if (!file.has_symtab || (files->has_debug_files && !file.has_lines))
		find_debug_file(files, image, &file);
	if (files->has_debug_files)
		find_alt_file(files, image);
	return 0;
}

/* Return: a descriptor of the file with the build id of the sampled one, or -errno */
static int find_by_id(const struct image_files *files, const struct image *image,
		      struct elf_description *file)
{
	const struct build_id *id = &image->sampled_id;
	char *path __cleanup(free_ptr) = build_id__debug_path(id);
	int fd = path ? check_id(files, open_debug(image, path), id, file) : -ENOENT;

	if (fd < 0 && path && files->debuginfod)
		fd = check_id(files, debuginfod__fetch(files->debuginfod, id), id, file);
	/* Places in a debug file are known by the only mapping. */
	if (fd >= 0 && file->has_no_code && image->is_split) {
		close(fd);
		return -ENOENT;
	}
	return fd;
}

/*
 * The file has gone, cannot be read, or another one is at its path. The debug file has the names and lines. A
 * whole copy of the program can be there instead.
 * Return: 0 or @err.
 */
static int open_debug_instead(const struct image_files *files, struct image *image, int err)
{
	struct elf_description file;
	int fd = find_by_id(files, image, &file);

	/* Readers of the profile must not take the file at the path, either. */
	if (image->sampled_id.len)
		image->build_id = image->sampled_id;
	if (fd < 0)
		return err;
	image__close(image);
	image->fd = fd;
	image->is_debug_file = file.has_no_code;
	image->is_described = true;
	if (files->has_debug_files)
		find_alt_file(files, image);
	return 0;
}

/* The other errors are those of perf, or of its readers. */
static bool has_wrong_file(const struct image *image, int err)
{
	return image->sampled_id.len && !image->is_unreadable && err != -EPIPE && err != -EINTR &&
	       err != -ETIMEDOUT && err != -ENOMEM;
}

int image_files__describe(const struct image_files *files, struct image *image)
{
	int err = !files->reader ? -EPIPE : image->is_unreadable ? -ENOENT : image__open(image);

	if (!err)
		err = describe(files, image);
	return err && has_wrong_file(image, err) ? open_debug_instead(files, image, err) : err;
}

/* Linux's perf takes such files without a word. Once is enough: mostly all or none have build ids. */
static void warn_of_unchecked(struct image_files *files, const struct image *image)
{
	if (!files->has_unchecked)
		pr_warn("%s: the profile has no build id of it, so it may not be the file that was sampled",
			image->path);
	files->has_unchecked = true;
}

int image_files__open_stored(struct image_files *files, struct image *image)
{
	const struct build_id id = image->build_id;
	int err;

	image->fd = image__open_debug(image, image->path);
	if (image->fd < 0)
		return image->fd;
	err = describe(files, image);
	if (!err && id.len && !build_id__are_equal(&id, &image->build_id))
		err = -ESTALE;
	if (!err && !id.len)
		warn_of_unchecked(files, image);
	if (!err)
		return 0;
	image__close(image);
	image->build_id = id;
	image->is_described = false;
	return err;
}

/* --- files of requests --- */

/* The program names the file, so it is no other than that of the same build, or of no use. */
static int open_split(void *ctx, const char *path)
{
	const struct image *image = ctx;
	int fd = *path == '/' ? image__open_debug(image, path) : -ENOENT;

	if (fd < 0)
		pr_verbose("%s: some lines and inlined functions are unknown: %s: %s", image->path,
			   path, strerror(-fd));
	return fd;
}

static int open_packages(void *ctx, int *fds)
{
	return package_files__open(ctx, fds);
}

struct symbol_files image_files__read_as(enum symbol_file_kind kind, const struct image *image)
{
	return (struct symbol_files){
		.kind = kind,
		.fd = image->fd,
		.debug_fd = image->debug_fd,
		.alt_fd = image->alt_fd,
		.open_packages = open_packages,
		.open_split = open_split,
		.ctx = (void *)image,
	};
}
