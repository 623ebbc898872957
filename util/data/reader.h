/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_DATA_READER_H
#define PERF_DATA_READER_H

/* perf.data, a file or a stream, read record by record. */

#include "util/data/format.h"
#include "util/data/header_read.h"
#include "util/lib/byte_buffer.h"

#include <stdbool.h>

/** data_path() - the default path: "-" if @fd, stdin or stdout, is a pipe, otherwise perf.data */
const char *data_path(int fd);

/* A reader checks everything: perf.data may hold any bytes. */
struct data_reader;

/* One record. */
struct data_record {
	uint32_t type;
	uint64_t offset;	 /* its position, for messages */
	struct byte_reader body; /* without its header; valid until the next record */
};

/**
 * data_reader__open() - read what comes before the records
 * @path: "-": stdin
 *
 * Return: 0 or -errno after a message; -EINVAL: not perf.data, or not as it should be.
 */
int data_reader__open(const char *path, struct data_reader **out);
void data_reader__delete(struct data_reader *reader);

/**
 * data_reader__next() - the next record
 *
 * A stream begins with records for what a file has before its records. They are taken in silently.
 * Return: 1, 0 at the end, -errno after a message.
 */
int data_reader__next(struct data_reader *reader, struct data_record *record);

/** data_reader__bad() - report an error at a position. Return: -EINVAL */
int data_reader__bad(const struct data_reader *reader, uint64_t offset, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/** data_reader__offset() - where the next record begins, or would */
uint64_t data_reader__offset(const struct data_reader *reader);

/** data_reader__is_from() - whether it reads the file of that name; false if there is none */
bool data_reader__is_from(const struct data_reader *reader, const char *path);

bool data_reader__is_stream(const struct data_reader *reader);

/** data_reader__check_stat() - whether counts are recorded. Return: 0, or -EINVAL after a message */
int data_reader__check_stat(const struct data_reader *reader);

/** data_reader__attrs() - the events; borrowed. A stream has only those that came by now */
const struct data_attr *data_reader__attrs(const struct data_reader *reader, int *nr);

/** data_reader__header_fields() - the other fields; borrowed. A stream has only those that came by now */
const struct header_fields *data_reader__header_fields(const struct data_reader *reader);

#endif
