// SPDX-License-Identifier: GPL-2.0
#include "util/data/peek.h"

#include "util/data/format.h"
#include "util/lib/util.h"

#include <fcntl.h>
#include <poll.h>
#include <stddef.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>

/* While a pipe has only a part of the first event: how often to look again. */
#define LOOK_MS 10

/* The beginning of a stream: the short header, and the attr of the first event. */
struct stream_start {
	char magic[8];
	uint64_t size;
	struct perf_event_header record;
	struct perf_event_attr attr;
};
/* The bytes of it that every stream of events has. */
#define STREAM_START (offsetof(struct stream_start, attr) + DATA_ATTR_MIN)

/* Read a copy of what is in a pipe. Return: the bytes that have come, up to @len. */
static size_t copy_pipe(int fd, void *start, size_t len)
{
	int copy[2];
	ssize_t got = 0;

	if (pipe2(copy, O_CLOEXEC))
		return 0;
	if (tee(fd, copy[1], len, SPLICE_F_NONBLOCK) > 0)
		got = read(copy[0], start, len);
	close(copy[0]);
	close(copy[1]);
	return got > 0 ? got : 0;
}

/* Return: the bytes of the start of a pipe, less than @len only at its end. */
static size_t wait_for_start(int fd, void *start, size_t len)
{
	struct pollfd in = {.fd = fd, .events = POLLIN};

	for (;;) {
		int bytes = 0;

		if (poll(&in, 1, -1) < 0 || ioctl(fd, FIONREAD, &bytes))
			return 0;
		if ((size_t)bytes >= len || in.revents & (POLLHUP | POLLERR))
			return copy_pipe(fd, start, len);
		poll(NULL, 0, LOOK_MS);
	}
}

/* Events that only count have neither a period nor values in samples. */
static bool is_foreign_stream(const struct stream_start *start, size_t len)
{
	return len >= STREAM_START && start->record.type == RECORD_HEADER_ATTR &&
	       (start->attr.sample_period || start->attr.sample_type & ~PERF_SAMPLE_IDENTIFIER);
}

/* A file without data was never finished: neither perf can read it. */
static bool is_foreign_file(const struct data_header *header, size_t len)
{
	return len >= sizeof(*header) && header->size == sizeof(*header) && header->data.size &&
	       !(header->features[0] >> FEATURE_STAT & 1);
}

union start {
	char magic[8];
	struct data_header file;
	struct stream_start stream;
};

/* Return: the bytes at the start of the file or pipe; -1: nothing can be read, or not without a loss. */
static ssize_t read_start(const char *path, union start *start)
{
	bool is_stdin = !strcmp(path, "-");
	int file __cleanup(close_fd) = -1;
	struct stat st;

	if (is_stdin ? fstat(STDIN_FILENO, &st) : stat(path, &st))
		return -1;
	if (S_ISFIFO(st.st_mode) && is_stdin)
		return wait_for_start(STDIN_FILENO, start, STREAM_START);
	if (!S_ISREG(st.st_mode))
		return -1;
	if (!is_stdin)
		file = open(path, O_RDONLY | O_CLOEXEC);
	return pread(is_stdin ? STDIN_FILENO : file, start, sizeof(*start), 0);
}

bool peek__is_foreign(const char *path)
{
	union start start = {};
	struct stat st;
	ssize_t len;

	if (!stat(path, &st) && S_ISDIR(st.st_mode))
		return true;
	len = read_start(path, &start);
	if (len < DATA_STREAM_HEADER)
		return false;
	if (!memcmp(start.magic, DATA_MAGIC_SWAPPED, sizeof(start.magic)))
		return true;
	if (memcmp(start.magic, DATA_MAGIC, sizeof(start.magic)))
		return false;
	return start.stream.size == DATA_STREAM_HEADER ? is_foreign_stream(&start.stream, len) :
							 is_foreign_file(&start.file, len);
}
