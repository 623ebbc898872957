/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_DATA_WRITER_H
#define PERF_DATA_WRITER_H

/* perf.data, a file or a stream, written record by record. */

#include "util/data/format.h"
#include "util/lib/byte_buffer.h"

#include <stdbool.h>

/*
 * A file gets its name only when it is complete: a killed perf leaves nothing. A previous file of that
 * name becomes NAME.old.
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

/** data_writer__is_stdout() - the data are a stream to stdout */
bool data_writer__is_stdout(const struct data_writer *writer);

/**
 * data_writer__begin() - write what comes before the records
 * @attrs: @nr events; borrowed for the call
 * @features: by number, NR_FEATURES of them; empty ones are left out. Borrowed until the end
 * @has_stat: the records are counts: set FEATURE_STAT, which is empty
 *
 * Return: 0 or -errno after a message.
 */
int data_writer__begin(struct data_writer *writer, const struct data_attr *attrs, int nr,
		       const struct byte_buffer *features, bool has_stat);

/** data_writer__record() - 0, -E2BIG: too large for a record; else -errno after a message */
int data_writer__record(struct data_writer *writer, enum data_record_type type, const void *body,
			size_t len);

/**
 * data_writer__put() - write a record as the kernel writes them, and free its body, even on failure
 * @type: PERF_RECORD_* or enum data_record_type
 * @misc: PERF_RECORD_MISC_*
 *
 * Return: 0 or -errno; without a message only -E2BIG.
 */
int data_writer__put(struct data_writer *writer, uint32_t type, uint16_t misc,
		     struct byte_buffer *body);

/** data_writer__flush() - let readers of a stream see it. Return: 0 or -errno after a message */
int data_writer__flush(struct data_writer *writer);

/** data_writer__finish() - complete and name it. Return: 0 or -errno after a message */
int data_writer__finish(struct data_writer *writer);

/** data_writer__delete() - close it, and remove an unfinished file. NULL is ignored */
void data_writer__delete(struct data_writer *writer);

#endif
