/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_COUNTER_BPERF_READ_H
#define PERF_COUNTER_BPERF_READ_H

/* Account the readings of shared events in the windows of one session. */

#include "util/counter/window.h"

struct bperf;
struct bperf_evsel;
struct evsel;

/**
 * bperf__account() - bring all counts up to date; windows begin, go on or end as wanted
 *
 * A reading that fails is counted, and reported when the session ends.
 */
void bperf__account(struct bperf *bperf);

/** bperf_evsel__moment() - the purpose of the next reading */
enum window_moment bperf_evsel__moment(const struct bperf_evsel *priv);

/**
 * bperf_evsel__account() - account one reading
 * @cell: position in evsel->counts->values
 * @err: errno of the reading; 0: it succeeded
 *
 * A reading that failed leaves the count as it was. If a CPU has no perf event (ENOENT) because it
 * was offline, its last reading is accounted.
 */
void bperf_evsel__account(struct evsel *evsel, int cell, const struct counts_values *now, int err);

/** bperf_evsel__count_error() - note a reading that failed, without a value; @err is positive */
void bperf_evsel__count_error(struct bperf_evsel *priv, int err);

#endif
