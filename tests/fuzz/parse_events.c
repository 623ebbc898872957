// SPDX-License-Identifier: GPL-2.0
/* Any text must be parsed or refused with a reason and a column in the text. */
#include <assert.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "util/event/evlist.h"
#include "util/event/parse_events.h"
#include "util/event/pmu.h"
#include "util/lib/util.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct pmus *open_pmus(void)
{
	const char *dir = getenv("TESTS_DATA");
	char *sysfs = xasprintf("%s/sysfs-x86", dir ? dir : "tests/data");
	char *tracefs = xasprintf("%s/tracefs", dir ? dir : "tests/data");
	struct pmus *pmus;

	assert(sysfs && tracefs);
	setenv("TRACEFS_PATH", tracefs, 1);
	pmus = pmus__new(sysfs);
	assert(pmus);
	free(sysfs);
	free(tracefs);
	return pmus;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct parse_events_options quiet = {.quiet = true};
	static struct pmus *pmus; /* made once: it never changes */
	struct evlist *list = evlist__new();
	char *text = strndup((const char *)data, size), *shown;
	struct parse_error err;
	int ret, i;

	if (!pmus)
		pmus = open_pmus();
	assert(list && text);
	ret = parse_events_opts(list, pmus, text, &quiet, &err);
	if (ret) {
		assert(ret == -EINVAL && err.reason && !list->nr);
		assert(err.column >= 0 && err.column <= (int)strlen(text));
		shown = parse_error__format(&err, 80);
		assert(shown);
		free(shown);
		parse_error__clear(&err);
	} else {
		assert(list->nr > 0);
		for (i = 0; i < list->nr; i += list->evsels[i]->nr_members)
			assert(list->evsels[i]->nr_members > 0 &&
			       list->evsels[i]->leader == list->evsels[i]);
		assert(!evlist__uniquify_names(list, size & 1));
	}
	evlist__delete(list);
	free(text);
	return 0;
}
