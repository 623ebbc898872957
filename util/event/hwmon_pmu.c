// SPDX-License-Identifier: GPL-2.0
#include "util/event/hwmon_pmu.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "util/lib/util.h"

/* Units are those of the kernel's hwmon documentation. The index is part of config. */
static const struct hwmon_kind kinds[] = {
	[2] = {"curr", "Current", "A", "0.001", false},
	[3] = {"energy", "Energy used", "J", "1e-6", true},
	[4] = {"fan", "Fan", "rpm", "1", false},
	[5] = {"humidity", "Humidity", "%", "0.001", false},
	[6] = {"in", "Voltage", "V", "0.001", false},
	[8] = {"power", "Power", "W", "1e-6", false},
	[10] = {"temp", "Temperature", "'C", "0.001", false},
};

#define KIND_SHIFT  16
#define NUMBER_MASK 0xffffU

/* Return: NULL for unknown kinds. */
static const struct hwmon_kind *kind_of(uint64_t config)
{
	uint64_t kind = config >> KIND_SHIFT;

	return kind < ARRAY_SIZE(kinds) && kinds[kind].name ? &kinds[kind] : NULL;
}

const struct hwmon_kind *hwmon_pmu__kind(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		size_t len = kinds[i].name ? strlen(kinds[i].name) : 0;

		if (len && !strncasecmp(name, kinds[i].name, len) &&
		    (isdigit((unsigned char)name[len]) || name[len] == '_'))
			return &kinds[i];
	}
	return NULL;
}

uint64_t hwmon_pmu__config(const char *file)
{
	const struct hwmon_kind *kind = hwmon_pmu__kind(file);
	const char *number = kind ? file + strlen(kind->name) : file;
	unsigned long nr;
	char *end;

	if (!kind || !isdigit((unsigned char)*number))
		return 0;
	nr = strtoul(number, &end, 10);
	if (nr > NUMBER_MASK || strcmp(end, "_input"))
		return 0;
	return (uint64_t)(kind - kinds) << KIND_SHIFT | nr;
}

static char *part(const char *dir, uint64_t config, const char *suffix)
{
	char *path __cleanup(free_ptr) = xasprintf("%s/%s%u_%s", dir, kind_of(config)->name,
						   (unsigned int)(config & NUMBER_MASK), suffix);

	return path ? read_file_line(path) : NULL;
}

char *hwmon_pmu__label(const char *dir, uint64_t config)
{
	char *label __cleanup(free_ptr) = part(dir, config, "label");
	char *name = label && *label ? xasprintf("%s_%s", kind_of(config)->name, label) : NULL;

	for (char *c = name; c && *c; c++)
		*c = isalnum((unsigned char)*c) ? tolower((unsigned char)*c) : '_';
	return name;
}

char *hwmon_pmu__describe(const char *dir, uint64_t config)
{
	char *path __cleanup(free_ptr) = xasprintf("%s/name", dir);
	char *chip __cleanup(free_ptr) = path ? read_file_line(path) : NULL;
	char *label __cleanup(free_ptr) = part(dir, config, "label");

	return xasprintf("%s of %s%s%s", kind_of(config)->what, chip ? chip : "a chip",
			 label && *label ? ": " : "", label ? label : "");
}

int hwmon_pmu__read(const char *dir, uint64_t config, uint64_t *value)
{
	char *text __cleanup(free_ptr) = NULL;
	char *end;

	if (!kind_of(config))
		return -ENOENT;
	errno = 0;
	text = part(dir, config, "input");
	if (!text)
		return errno ? -errno : -ENOMEM;
	errno = 0;
	*value = strtoll(text, &end, 10);
	return errno ? -errno : end == text || *end ? -EINVAL : 0;
}
