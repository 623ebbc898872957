/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_DATA_RECORD_H
#define PERF_DATA_RECORD_H

/* perf stat record: the counts of a run, written to perf.data at each reading. */

#include "util/data/annotations.h"
#include "util/data/format.h"

struct evlist;
struct stat_run;
struct stat_round;

struct stat_record;

/**
 * stat_record__new() - open the file
 * @path: see data_writer__open()
 * @argc, @argv: the command line; borrowed
 *
 * Return: 0 or -errno after a message.
 */
int stat_record__new(const char *path, int argc, char *const *argv, struct stat_record **out);

/** stat_record__is_stdout() - stdout carries the data, so nothing else may be printed there */
bool stat_record__is_stdout(const struct stat_record *record);

/** stat_record__begin() - write what the events are; they are open. Return: 0 or -errno after a message */
int stat_record__begin(struct stat_record *record, const struct stat_run *run,
		       const struct annotations *annotations);

/**
 * stat_record__round() - write what all events have counted so far
 *
 * After the first failure of a file it prints a message and writes nothing more. Return: 0, or, for a
 * stream only, -errno after a message: nobody gets the counts.
 */
int stat_record__round(struct stat_record *record, const struct evlist *list,
		       const struct stat_round *round);

/** stat_record__finish() - complete the file. Return: 0 or -errno after a message */
int stat_record__finish(struct stat_record *record);

/** stat_record__has_failed() - a write has failed: there will be no file */
bool stat_record__has_failed(const struct stat_record *record);
void stat_record__delete(struct stat_record *record);

#endif
