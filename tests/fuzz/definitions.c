// SPDX-License-Identifier: GPL-2.0
/* Any file must define usable metrics and events, or be left out with a warning. */
#include <assert.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "util/defs/definitions.h"
#include "util/event/evlist.h"
#include "util/event/parse_events.h"
#include "util/event/pmu.h"
#include "util/lib/util.h"
#include "util/metric/metric_groups.h"
#include "util/metric/metric_request.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct pmus *open_pmus(void)
{
	const char *dir = getenv("TESTS_DATA");
	char *sysfs = xasprintf("%s/sysfs-x86", dir ? dir : "tests/data");
	struct pmus *pmus;

	assert(sysfs);
	pmus = pmus__new(sysfs);
	assert(pmus);
	free(sysfs);
	return pmus;
}

static void ask(struct definitions *defs, struct pmus *pmus)
{
	struct metric_request_options options = {.scope = {.defs = defs, .pmus = pmus}};
	struct metric_requests requests = {};
	struct evlist *list = evlist__new();

	assert(list);
	if (!metric_requests__add(&requests, "all", &options))
		(void)metric_requests__add_events(&requests, list, &options);
	metric_requests__clear(&requests);
	evlist__delete(list);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int fd = memfd_create("definitions", MFD_CLOEXEC);
	char *path = xasprintf("/proc/self/fd/%d", fd);
	struct definitions *defs = definitions__new();
	const struct event_def *event = NULL;
	struct pmus *pmus = open_pmus();

	assert(fd >= 0 && path && defs);
	assert(write(fd, data, size) == (ssize_t)size);
	assert(!definitions__add_file(defs, path));
	pmus__set_definitions(pmus, defs);
	while ((event = definitions__next_event(defs, event)))
		parse_events__is_known(pmus, event->name);
	ask(defs, pmus);
	pmus__delete(pmus);
	definitions__delete(defs);
	free(path);
	close(fd);
	return 0;
}
