/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_UTIL_STAT_EXTRA_H
#define PERF_UTIL_STAT_EXTRA_H

/*
 * What perf.data has no record for and a report needs to say what the run said: UPDATE_EXTRA, texts
 * "KEY" or "KEY=VALUE", each ended by a NUL. Those before the first "event=N" are about the run,
 * the others about the event at position N. Keys that are not known are passed over.
 */

#include "bytes.h"

#include <stdbool.h>

struct cgroup;
struct evlist;
struct pmus;

/* About the run. Texts are owned when read, borrowed when written. */
struct stat_extra {
	bool is_workload;		/* a command was counted, and nothing else */
	bool is_system_wide;
	bool no_merge, for_each_cgroup, null_run, no_metrics, metric_only, summary;
	bool percore_show_thread;
	bool has_defaults;		/* the default set of events... */
	int detail;			/* ...with as many -d */
	char *metrics;			/* -M; NULL: none */
	bool topdown, transaction, smi_cost;
	int td_level;
	bool metric_no_group, metric_no_merge, metric_no_threshold;
	char *clusters;			/* of CPU 0, 1...: "ID ID ..."; NULL: not said */
	struct cgroup **cgroups;	/* read: those that events are in. Owned */
	int nr_cgroups;
};

/** stat_extra__put() - write what is said of the run */
void stat_extra__put(struct bytes *out, const struct stat_extra *extra);

/** stat_extra__put_event() - write what is said of the event at position @idx */
void stat_extra__put_event(struct bytes *out, const struct evlist *list, int idx);

/**
 * stat_extra__read() - take over what the texts say
 * @list: its events are given what is said of them; their cgroups are those of @extra
 * @pmus: of this machine
 *
 * Return: 0, -EINVAL: no texts, or of events there are not; -ENOMEM.
 */
int stat_extra__read(struct stat_extra *extra, struct evlist *list, struct pmus *pmus,
		     const char *data, size_t len);

/** stat_extra__clear() - free what one that was read owns */
void stat_extra__clear(struct stat_extra *extra);

#endif
