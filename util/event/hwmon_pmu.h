/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_EVENT_HWMON_PMU_H
#define PERF_EVENT_HWMON_PMU_H

/* Sensors of the machine as events; each chip of class/hwmon in sysfs is a PMU. */

#include <stdbool.h>
#include <stdint.h>

/* Properties of one kind of sensor. */
struct hwmon_kind {
	const char *name; /* the file is called NAME<number>_input */
	const char *what; /* description */
	const char *unit;
	const char *scale; /* printed value = content of the file * scale */
	bool adds_up;	   /* a sum since boot; all others are gauges */
};

/**
 * hwmon_pmu__kind() - the kind of a sensor by the name of its file or event
 * @name: "temp1_input", or "temp1", or "temp_core_0"
 *
 * Return: NULL if no kind has such names.
 */
const struct hwmon_kind *hwmon_pmu__kind(const char *name);

/**
 * hwmon_pmu__config() - the number of a sensor within its chip, from the name of its file
 * @file: "temp1_input"
 *
 * Return: 0 if the file is not a sensor's value.
 */
uint64_t hwmon_pmu__config(const char *file);

/**
 * hwmon_pmu__label() - the name of an event, made of the chip's label
 * @dir: the chip's directory
 * @config: from hwmon_pmu__config(), here and for hwmon_pmu__describe()
 *
 * Return: "temp_core_0" for temp1 with label "Core 0", owned by the caller; NULL without a label.
 */
char *hwmon_pmu__label(const char *dir, uint64_t config);

/** hwmon_pmu__describe() - one line about a sensor, owned by the caller; NULL without memory */
char *hwmon_pmu__describe(const char *dir, uint64_t config);

/**
 * hwmon_pmu__read() - the value of a sensor
 * @value: receives the content of its file; negative values in two's complement
 *
 * Return: 0 or -errno; -ENOENT: no such sensor, -EINVAL: its file has no number.
 */
int hwmon_pmu__read(const char *dir, uint64_t config, uint64_t *value);

#endif
