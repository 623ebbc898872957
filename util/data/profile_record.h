/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_DATA_PROFILE_RECORD_H
#define PERF_DATA_PROFILE_RECORD_H

/* perf profile -o: a profile, written to perf.data. */

#include "util/sample/sample_types.h"

#include <stdbool.h>
#include <stdint.h>

struct each_sample;
struct pmus;
struct profile_report;

struct profile_record;

/* The contents of the file; everything is borrowed. */
struct profile_source {
	const struct profile_report *report; /* samples->has_mappings is set */
	struct each_sample *each;	     /* every single sample; NULL: only the sums */
	uint32_t key;			     /* SAMPLE_* of the samples */
	enum sample_rate_kind rate_kind;
	uint64_t rate;
	struct pmus *pmus;
	int argc; /* of the command line, without the program's name */
	char *const *argv;
};

/**
 * profile_record__new() - open the file, before sampling begins
 * @path: see data_writer__open()
 *
 * Return: 0 or -errno after a message.
 */
int profile_record__new(const char *path, struct profile_record **out);

/** profile_record__is_stdout() - stdout carries the data, so nothing else may be printed there */
bool profile_record__is_stdout(const struct profile_record *record);

/** profile_record__write() - write and complete the file. Return: 0 or -errno after a message */
int profile_record__write(struct profile_record *record, const struct profile_source *source);

/** profile_record__delete() - close it, and remove an unfinished file. NULL is ignored */
void profile_record__delete(struct profile_record *record);

#endif
