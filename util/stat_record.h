/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_UTIL_STAT_RECORD_H
#define PERF_UTIL_STAT_RECORD_H

/* perf stat record: what a run counts, written to perf.data as it is read. */

#include "perf_data.h"
#include "stat_extra.h"

struct evlist;
struct stat_run;
struct stat_times;

struct stat_record;

/**
 * stat_record__new() - open the file
 * @path: see data_writer__open()
 * @argc, @argv: the command line; borrowed
 *
 * Return: 0 or -errno after a message.
 */
int stat_record__new(const char *path, int argc, char *const *argv, struct stat_record **out);

/** stat_record__is_stdout() - stdout gets the data, and so nothing else */
bool stat_record__is_stdout(const struct stat_record *record);

/**
 * stat_record__begin() - write what the events are; they are open
 *
 * What else is said of the run is in run->extra.  * Return: 0 or -errno after a message.
 */
int stat_record__begin(struct stat_record *record, const struct stat_run *run);

/**
 * stat_record__round() - write what all events have counted by now
 * @type: an interval has been printed, or the run is over
 * @time_ns: since counting began
 * @times: of the workload, at the end; NULL before
 *
 * A file that cannot be written is said so once, and given up. Return: 0, or, of a stream, -errno
 * after a message: nobody gets the counts.
 */
int stat_record__round(struct stat_record *record, const struct evlist *list, enum data_round type,
		       uint64_t time_ns, const struct stat_times *times);

/** stat_record__finish() - the file is complete. Return: 0 or -errno after a message */
int stat_record__finish(struct stat_record *record);

/** stat_record__has_failed() - some of it could not be written: there will be no file */
bool stat_record__has_failed(const struct stat_record *record);
void stat_record__delete(struct stat_record *record);

#endif
