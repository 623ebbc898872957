/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_COUNTER_SCOPE_COUNTER_H
#define PERF_COUNTER_SCOPE_COUNTER_H

/* Count by scopes of the leader, for bperf_task_ops and bperf_cgrp_ops. */

#include "util/counter/bperf_rows.h"
#include "util/counter/bpf_counter.h"

struct counts_values;
struct bperf_evsel;
struct evsel;

struct scope_counter {
	struct bpf_counter base;
	struct bperf_rows rows;
	bool is_open;
	bool has_run; /* tasks or cgroups of the session ran in a window: they were charged, or failed */
	__u64 failed;	/* rows.failed at the read before */
	__u64 lost;	/* switches that programs had lost before it was opened */
	__u64 exits;	/* exits that programs had missed by then */
	bool is_unread; /* the last read of all rows failed */
	int nr_unread;	/* reads of all rows that failed */
	int unread_err; /* errno of the last */
};

/**
 * scope_counter__open() - make the scopes, under the lock of tasks
 * @add: adds the rows' scopes and assigns tasks or cgroups to them; 0 or -errno
 * @nr_rows: how many it may add
 *
 * After an error there are no rows. Return: 0; -ESRCH: as of @add; COUNT_OTHERWISE: as of @add, or no room; other
 * -errno after a message.
 */
int scope_counter__open(struct scope_counter *self, enum scope_set_kind kind, int nr_rows,
			int (*add)(struct scope_counter *self));

/**
 * scope_counter__read() - read all rows
 *
 * Return: false: the read failed. The counts stay, and windows that begin or end now have no base.
 */
bool scope_counter__read(struct scope_counter *self);

/** scope_counter__account() - account a reading in a cell of an event, see bperf_evsel__account() */
void scope_counter__account(struct scope_counter *self, struct evsel *evsel, int cell,
			    const struct counts_values *now);

/**
 * scope_counter__note_failed() - note failed reads of events whose windows begin or end now
 *
 * scope_counter__read() also does it.
 */
void scope_counter__note_failed(const struct scope_counter *self);

/** scope_counter__failed_reads() - failed reads of an event since it was opened, in tasks or cgroups */
__u32 scope_counter__failed_reads(const struct scope_counter *self, const struct bperf_evsel *priv);

/**
 * scope_counter__nr_failed() - see struct bpf_counter_ops; reported once for all cgroups
 *
 * Programs count the failed reads of an event for all sessions together. So these are failures in
 * the session's windows, and none if none of its tasks or cgroups ran in them. That they ran is known
 * by what they were charged, or from their scope sets if every read failed.
 */
__u32 scope_counter__nr_failed(struct bpf_counter *base, const struct evsel *evsel);

/**
 * scope_counter__report_missed() - warn about switches and new tasks
 * scope_counter__report_exits() - warn about exits that the kernel hid from programs
 * scope_counter__report_unread() - warn about reads of all rows
 */
void scope_counter__report_missed(const struct scope_counter *self);
void scope_counter__report_exits(const struct scope_counter *self);
void scope_counter__report_unread(const struct scope_counter *self);

/** scope_counter__clear() - free what it owns; the leader ends the scopes */
void scope_counter__clear(struct scope_counter *self);

#endif
