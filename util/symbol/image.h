/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_SYMBOL_IMAGE_H
#define PERF_SYMBOL_IMAGE_H

/* A file whose code runs, and the ways to open it while and after its processes run. */

#include "util/symbol/build_id.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum image_kind {
	IMAGE_KERNEL,
	IMAGE_FILE,
	IMAGE_VDSO, /* the kernel's page of code for user space */
	IMAGE_JIT,  /* memory without a file; the names of one process */
};

/* A mapping of the file. */
struct image_user {
	pid_t pid; /* 0: none */
	uint64_t start, end;
	uint64_t offset; /* in the file */
};

struct image {
	enum image_kind kind;
	char *path;	       /* as the process sees it; owned */
	uint32_t major, minor; /* device and inode of IMAGE_FILE */
	uint64_t inode;
	struct image_user user; /* the latest */
	pid_t pid;		/* of IMAGE_JIT */
	int jit_dump;		/* of IMAGE_JIT: image of its jit-PID.dump; -1: none */
	uid_t uid;		/* of that process; -1: unknown */
	int fd;			/* -1: not open */
	int debug_fd;		/* -1: none, or not looked for */
	char *debug_path;	/* of debug_fd; owned; NULL: none, or from a server */
	int alt_fd;		/* the same */
	/* The file's when it was mapped; none: not known. */
	struct build_id sampled_id;
	struct build_id build_id; /* of IMAGE_FILE, after image_files__describe() */
	bool is_split;		  /* there were mappings of different offsets */
	bool is_debug_file;	  /* fd is the debug file: the file itself is gone */
	bool is_described;	  /* debug_fd is final */
	bool has_no_lines;	  /* do not ask for them again */
	bool is_unreadable;	  /* do not try again */
};

/** image__name() - the last part of its path, borrowed */
const char *image__name(const struct image *image);

/**
 * image__open() - open the file, without trusting its path
 *
 * Tries the mapping of a process, then the path in the root directory of that process, then our own. At last it
 * tries the path with " (deleted)" behind it, which becomes the image's path if it is right.
 * A file that has another inode is refused, as is anything but a regular file. A perf map must belong
 * to the user of its process, or to root.
 * Return: 0, also if it is open; -errno, and the next call tries again.
 */
int image__open(struct image *image);

/**
 * image__open_debug() - open a file below the roots of the process and of this one
 * @path: without a leading slash
 *
 * Return: a descriptor or -errno.
 */
int image__open_debug(const struct image *image, const char *path);

void image__close(struct image *image);

#endif
