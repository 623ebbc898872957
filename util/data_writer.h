/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_UTIL_DATA_WRITER_H
#define PERF_UTIL_DATA_WRITER_H

#include "bytes.h"
#include "perf_data.h"

#include <stdbool.h>

/*
 * Writes perf.data, a file or a stream. A file has a name only when it is complete: whoever is
 * killed before leaves nothing. A file that was there is then called NAME.old.
 */
struct data_writer;

/**
 * data_writer__open() - begin to write
 * @path: "-": a stream to stdout; a fifo or device: a stream to that; else a file
 *
 * Return: 0 or -errno after a message.
 */
int data_writer__open(const char *path, struct data_writer **out);

bool data_writer__is_stream(const struct data_writer *writer);

/** data_writer__is_stdout() - it is a stream to stdout */
bool data_writer__is_stdout(const struct data_writer *writer);

/**
 * data_writer__begin() - write what comes before the records
 * @attrs: @nr events; borrowed for the call
 * @features: by number, NR_FEATURES of them; empty ones are left out, but for FEATURE_STAT.
 *	Borrowed until the end
 *
 * Return: 0 or -errno after a message.
 */
int data_writer__begin(struct data_writer *writer, const struct data_attr *attrs, int nr,
		       const struct bytes *features);

/** data_writer__record() - 0, -E2BIG: too large for a record; else -errno after a message */
int data_writer__record(struct data_writer *writer, enum data_record_type type, const void *body,
			size_t len);

/** data_writer__flush() - let readers of a stream see it. Return: 0 or -errno after a message */
int data_writer__flush(struct data_writer *writer);

/** data_writer__finish() - complete and name it. Return: 0 or -errno after a message */
int data_writer__finish(struct data_writer *writer);

/** data_writer__delete() - what is not finished is gone. NULL is ignored */
void data_writer__delete(struct data_writer *writer);

#endif
