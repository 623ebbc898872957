/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_DATA_ANNOTATIONS_H
#define PERF_DATA_ANNOTATIONS_H

/*
 * Annotations of a recording: facts without a record of their own. With them a report prints what the
 * run printed. UPDATE_EXTRA has texts "KEY" or "KEY=VALUE", each ended by a NUL. Texts before the
 * first "event=N" are about the run, the others about the event at position N. Readers ignore unknown
 * keys.
 */

#include "util/lib/byte_buffer.h"
#include "util/metric/metric_options.h"
#include "util/report/stat_config.h"

#include <stdbool.h>

struct cgroup;
struct evlist;
struct pmus;

/* About the run. Texts are owned when read, borrowed when written. */
struct annotations {
	bool is_workload; /* a command was counted, and nothing else */
	bool is_system_wide;
	struct report_options options; /* those that have no record */
	bool has_defaults;	       /* the default set of events... */
	int detail;		       /* ...with as many -d */
	struct metric_options metrics; /* without the requests */
	char *clusters;		       /* of CPU 0, 1...: "ID ID ..."; NULL: unknown */
	struct cgroup **cgroups;       /* owned, of events that were read */
	int nr_cgroups;
};

/** annotations__put() - write the annotations of the run */
void annotations__put(struct byte_buffer *out, const struct annotations *annotations);

/** annotations__put_event() - write the annotations of the event at position @idx */
void annotations__put_event(struct byte_buffer *out, const struct evlist *list, int idx);

/**
 * annotations__read() - read texts
 * @list: its events get their annotations; their cgroups belong to @annotations
 * @pmus: of this machine
 *
 * Return: 0, -EINVAL: not texts, or of no event; -ENOMEM.
 */
int annotations__read(struct annotations *annotations, struct evlist *list, struct pmus *pmus,
		      const char *data, size_t len);

/** annotations__clear() - free annotations that were read */
void annotations__clear(struct annotations *annotations);

#endif
