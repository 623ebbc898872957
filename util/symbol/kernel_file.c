// SPDX-License-Identifier: GPL-2.0
#include "util/symbol/kernel_file.h"

#include "util/lib/util.h"
#include "util/symbol/image.h"
#include "util/symbol/kallsyms.h"
#include "util/symbol/symbol_process.h"

#include <fcntl.h>
#include <stdbool.h>
#include <sys/utsname.h>

void kernel_file__build_id(struct build_id *id)
{
	char *path __cleanup(free_ptr) = xasprintf("%s/kernel/notes", sysfs_root());
	size_t len;
	char *notes __cleanup(free_ptr) = path ? read_file(path, &len) : NULL;

	*id = (struct build_id){};
	if (notes)
		build_id__find(notes, len, 4, id);
}

/* Return: a descriptor of the file at a path if it is of the running kernel; -1. */
static int try(const char *path, const struct build_id *id, struct symbol_process *reader)
{
	/* "build" often leads into a directory of an ordinary user: only regular files are opened. */
	int fd = path ? image__open_debug(&(struct image){}, path) : -1;
	struct elf_description file;
	bool unused;

	if (fd >= 0 && !symbol_process__describe(reader, fd, -1, &file, &unused) &&
	    build_id__are_equal(&file.id, id))
		return fd;
	close_fd(&fd);
	return -1;
}

static int find_file(const struct build_id *id, struct symbol_process *reader)
{
	static const char *const forms[] = {
		"/usr/lib/debug/boot/vmlinux-%s",
		"/usr/lib/debug/lib/modules/%s/vmlinux",
		"/boot/vmlinux-%s",
		"/lib/modules/%s/vmlinux",
		"/lib/modules/%s/build/vmlinux",
	};
	char *by_id __cleanup(free_ptr) = build_id__debug_path(id);
	char *absolute __cleanup(free_ptr) = by_id ? xasprintf("/%s", by_id) : NULL;
	int fd = try(absolute, id, reader);
	struct utsname names;

	for (size_t i = 0; i < ARRAY_SIZE(forms) && fd < 0 && !uname(&names); i++) {
		char *path __cleanup(free_ptr) = xasprintf(forms[i], names.release);

		fd = try(path, id, reader);
	}
	return fd;
}

static void take_text(void *ctx, uint64_t start, uint64_t end __unused, uint64_t address __unused)
{
	struct kernel_file *file = ctx;

	file->position = start;
}

void kernel_file__open(struct kernel_file *file, struct symbol_process *reader)
{
	struct symbol_files files = {.kind = SYMBOL_FILE_FIND, .debug_fd = -1, .alt_fd = -1};
	struct build_id id;

	*file = (struct kernel_file){.fd = -1};
	kernel_file__build_id(&id);
	kallsyms__text(&file->start, &file->end);
	if (!id.len || !file->start)
		return;
	files.fd = file->fd = find_file(&id, reader);
	/* The kernel may be elsewhere in memory than in the file. */
	if (file->fd >= 0)
		(void)symbol_process__find(reader, &files, "_text", take_text, file);
	if (!file->position)
		kernel_file__close(file);
}

void kernel_file__close(struct kernel_file *file)
{
	close_fd(&file->fd);
	*file = (struct kernel_file){.fd = -1};
}
