// SPDX-License-Identifier: GPL-2.0
#include "util/lib/util.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <time.h>

char *xasprintf(const char *fmt, ...)
{
	va_list ap;
	char *str;
	int len;

	va_start(ap, fmt);
	len = vasprintf(&str, fmt, ap);
	va_end(ap);
	if (len < 0) {
		errno = ENOMEM;
		return NULL;
	}
	return str;
}

ssize_t read_up_to(int fd, void *data, size_t len, uint64_t at)
{
	size_t done = 0;

	while (done < len) {
		ssize_t nr = pread(fd, (char *)data + done, len - done, at + done);

		if (nr < 0 && errno == EINTR)
			continue;
		if (nr < 0)
			return -errno;
		if (!nr)
			break;
		done += nr;
	}
	return done;
}

int read_exactly(int fd, void *data, size_t len, uint64_t at)
{
	ssize_t done = read_up_to(fd, data, len, at);

	return done < 0 ? done : (size_t)done < len ? -EIO : 0;
}

/* The most that is read of one file: devices such as /dev/zero have no end. */
#define MAX_FILE_BYTES (256 << 20)

/* Read what is open as @fd, which it closes; otherwise as read_file(). */
static char *read_and_close(int fd, size_t *len)
{
	int own __cleanup(close_fd) = fd;
	char *buf __cleanup(free_ptr) = NULL;
	size_t used = 0, cap = 0;
	char *text;

	if (own < 0)
		return NULL;
	/* sysfs and procfs files do not report their size: read until the end */
	for (;;) {
		ssize_t nr;

		if (used + 1 >= cap) {
			size_t more = cap ? cap * 2 : 512;
			char *grown;

			if (cap >= MAX_FILE_BYTES) {
				errno = EFBIG;
				return NULL;
			}
			grown = realloc(buf, more);
			if (!grown) {
				errno = ENOMEM;
				return NULL;
			}
			buf = grown;
			cap = more;
		}
		nr = read(own, buf + used, cap - used - 1);
		if (nr < 0 && errno == EINTR)
			continue;
		if (nr < 0)
			return NULL;
		if (!nr)
			break;
		used += nr;
	}
	buf[used] = '\0';
	if (len)
		*len = used;
	text = buf;
	buf = NULL;
	return text;
}

char *read_file(const char *path, size_t *len)
{
	return read_and_close(open(path, O_RDONLY | O_CLOEXEC), len);
}

char *read_file_line(const char *path)
{
	return read_file_line_at(AT_FDCWD, path);
}

char *read_file_line_at(int dir, const char *path)
{
	size_t len;
	char *text = read_and_close(openat(dir, path, O_RDONLY | O_CLOEXEC), &len);

	if (!text)
		return NULL;
	while (len && isspace((unsigned char)text[len - 1]))
		text[--len] = '\0';
	return text;
}

static const char *root_of(const char *env, const char *fallback)
{
	const char *path = secure_getenv(env);

	return path && *path ? path : fallback;
}

const char *sysfs_root(void)
{
	return root_of("SYSFS_PATH", "/sys");
}

const char *procfs_root(void)
{
	return root_of("PROCFS_PATH", "/proc");
}

/* The value of --debugfs-dir, with "/tracing"; NULL: none. Set once at start. */
static char *debugfs_tracing;

int set_debugfs_root(const char *path)
{
	free(debugfs_tracing);
	debugfs_tracing = getauxval(AT_SECURE) ? NULL : xasprintf("%s/tracing", path);
	return debugfs_tracing || getauxval(AT_SECURE) ? 0 : -ENOMEM;
}

const char *tracefs_root(void)
{
	static const char tracefs[] = "/sys/kernel/tracing";
	static const char old_place[] = "/sys/kernel/debug/tracing";
	struct stat st;
	const char *path = root_of("TRACEFS_PATH", NULL);

	if (path || debugfs_tracing)
		return path ? path : debugfs_tracing;
	/* the mount point exists also without a mount: look inside */
	if (stat("/sys/kernel/tracing/events", &st) && errno == ENOENT &&
	    !stat("/sys/kernel/debug/tracing/events", &st))
		return old_place;
	return tracefs;
}

const char *bpffs_root(void)
{
	return root_of("BPF_PATH", "/sys/fs/bpf");
}

uint64_t clock_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * NSEC_PER_SEC + ts.tv_nsec;
}

/* Longer words are not mistyped event names; the bound keeps the rows on the stack. */
#define MAX_NAME 128

/*
 * Return: the edits from @a to @b (insert, delete, replace, swap neighbours; ignoring case), or a
 * number above @limit.
 */
static size_t edit_distance(const char *a, const char *b, size_t limit)
{
	size_t len_a = strlen(a), len_b = strlen(b), best_before = 0;
	size_t rows[3][MAX_NAME + 1], *row = rows[0], *above = rows[1], *two_above = rows[2], i, j;

	if (len_a > MAX_NAME || len_b > MAX_NAME)
		return limit + 1;
	if ((len_a > len_b ? len_a - len_b : len_b - len_a) > limit)
		return limit + 1;
	for (j = 0; j <= len_b; j++)
		row[j] = j;
	for (i = 1; i <= len_a; i++) {
		size_t *oldest = two_above, best = i;

		two_above = above;
		above = row;
		row = oldest;
		row[0] = i;
		for (j = 1; j <= len_b; j++) {
			int in_a = tolower((unsigned char)a[i - 1]);
			int in_b = tolower((unsigned char)b[j - 1]);
			size_t cost = above[j - 1] + (in_a != in_b);

			if (above[j] + 1 < cost)
				cost = above[j] + 1;
			if (row[j - 1] + 1 < cost)
				cost = row[j - 1] + 1;
			if (i > 1 && j > 1 && in_a == tolower((unsigned char)b[j - 2]) &&
			    in_b == tolower((unsigned char)a[i - 2]) && two_above[j - 2] + 1 < cost)
				cost = two_above[j - 2] + 1;
			row[j] = cost;
			if (cost < best)
				best = cost;
		}
		/* A swap goes back two rows. */
		if (best > limit && best_before > limit)
			return limit + 1;
		best_before = best;
	}
	return row[len_b];
}

const char *nearest_name(const char *name, const char *const *list)
{
	/* Allow one edit per three letters. */
	size_t limit = strlen(name) / 3;
	const char *nearest = NULL;

	if (strlen(name) < 2)
		return NULL;
	if (!limit)
		limit = 1;
	for (; *list; list++) {
		size_t distance = edit_distance(name, *list, limit);

		if (distance > limit || distance >= strlen(name) || distance >= strlen(*list))
			continue;
		nearest = *list;
		if (!distance)
			break;
		limit = distance - 1;
	}
	return nearest;
}

void use_locale(void)
{
	static const int parts[] = {LC_CTYPE, LC_NUMERIC, LC_MESSAGES};

	for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
		setlocale(parts[i], "");
}
