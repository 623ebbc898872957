/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_UTIL_DATA_READER_H
#define PERF_UTIL_DATA_READER_H

#include "bytes.h"
#include "data_features.h"
#include "perf_data.h"

#include <stdbool.h>

/** data_path() - where data are when nothing else is said: "-" if @fd, stdin or stdout, is a pipe */
const char *data_path(int fd);

/* Reads perf.data, a file or a stream, record by record. It may hold anything: all is checked. */
struct data_reader;

/* One record. */
struct data_record {
	uint32_t type;
	uint64_t offset;		/* where it begins, for messages */
	struct byte_reader body;	/* what is behind its header; valid until the next one */
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
 * Those of a stream that say what a file says before its records are taken in silently.
 * Return: 1, 0 at the end, -errno after a message.
 */
int data_reader__next(struct data_reader *reader, struct data_record *record);

/** data_reader__bad() - say what is wrong where. Return: -EINVAL */
int data_reader__bad(const struct data_reader *reader, uint64_t offset, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/** data_reader__offset() - where the next record begins, or would */
uint64_t data_reader__offset(const struct data_reader *reader);

/** data_reader__is_from() - whether what is read is the file of that name; no if there is none */
bool data_reader__is_from(const struct data_reader *reader, const char *path);

bool data_reader__is_stream(const struct data_reader *reader);

/** data_reader__check_stat() - whether counts are recorded. Return: 0, or -EINVAL after a message */
int data_reader__check_stat(const struct data_reader *reader);

/** data_reader__attrs() - the events; borrowed. Of a stream: those that have come by now */
const struct data_attr *data_reader__attrs(const struct data_reader *reader, int *nr);

/** data_reader__facts() - what is said besides; borrowed. Of a stream: what has come by now */
const struct data_facts *data_reader__facts(const struct data_reader *reader);

#endif
