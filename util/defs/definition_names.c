// SPDX-License-Identifier: GPL-2.0
#include "util/defs/definition_names.h"

#include <errno.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct named {
	const char *name;
	const char *pmu; /* "": core PMUs */
	struct json_object *object;
};

static int compare(const void *a, const void *b)
{
	const struct named *x = a, *y = b;
	int diff = strcasecmp(x->name, y->name);

	return diff ? diff : strcmp(x->pmu, y->pmu);
}

struct json_object *definition_names__find(void *const *names, const char *name, const char *pmu)
{
	const struct named key = {.name = name, .pmu = pmu ? pmu : ""};
	struct named *const *found = tfind(&key, names, compare);

	return found ? (*found)->object : NULL;
}

int definition_names__add(void **names, const char *name, const char *pmu,
			  struct json_object *object)
{
	struct named *entry = malloc(sizeof(*entry)), **place;

	if (!entry)
		return -ENOMEM;
	*entry = (struct named){.name = name, .pmu = pmu ? pmu : "", .object = object};
	place = tsearch(entry, names, compare);
	if (!place || *place != entry)
		free(entry);
	if (!place)
		return -ENOMEM;
	return *place == entry ? 1 : 0;
}

void definition_names__clear(void **names)
{
	tdestroy(*names, free);
	*names = NULL;
}
