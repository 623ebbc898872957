/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_UTIL_HWMON_H
#define PERF_UTIL_HWMON_H

/* Sensors of the machine: files of class/hwmon in sysfs, each chip a PMU, each value an event. */

#include <stdbool.h>
#include <stdint.h>

/* What files of one kind have in common. */
struct hwmon_kind {
	const char *name;	/* the file is called NAME<number>_input */
	const char *what;	/* for people */
	const char *unit;
	const char *scale;	/* printed value = content of the file * scale */
	bool adds_up;		/* a sum since ever; all others are values of the moment */
};

/**
 * hwmon__kind() - the kind of a sensor, of its file's name or of an event's name
 * @name: "temp1_input", or "temp1", or "temp_core_0"
 *
 * Return: NULL when no kind begins like that.
 */
const struct hwmon_kind *hwmon__kind(const char *name);

/**
 * hwmon__config() - the number of a sensor within its chip, from the name of its file
 * @file: "temp1_input"
 *
 * Return: 0 when this is no file of a sensor's value.
 */
uint64_t hwmon__config(const char *file);

/**
 * hwmon__label() - the name of an event as the chip's label makes it
 * @dir: the chip's directory
 * @config: from hwmon__config(), here and for hwmon__describe()
 *
 * Return: "temp_core_0" of temp1 that is labelled "Core 0", to be freed; NULL without a label.
 */
char *hwmon__label(const char *dir, uint64_t config);

/** hwmon__describe() - one line about a sensor, to be freed; NULL without memory */
char *hwmon__describe(const char *dir, uint64_t config);

/**
 * hwmon__read() - what a sensor shows
 * @value: receives the content of its file, in two's complement if it is negative
 *
 * Return: 0 or -errno; -ENOENT when there is no such sensor, -EINVAL when its file has no number.
 */
int hwmon__read(const char *dir, uint64_t config, uint64_t *value);

#endif
