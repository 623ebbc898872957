// SPDX-License-Identifier: GPL-2.0
#include "util/counter/bperf_read.h"

#include "util/counter/bperf_internal.h"
#include "util/event/evlist.h"

#include <errno.h>

enum window_moment bperf_evsel__moment(const struct bperf_evsel *priv)
{
	if (priv->is_open)
		return priv->is_wanted ? WINDOW_READ : WINDOW_END;
	return priv->is_wanted ? WINDOW_BEGIN : WINDOW_NONE;
}

void bperf_evsel__count_error(struct bperf_evsel *priv, int err)
{
	priv->nr_errors++;
	priv->last_err = err;
}

void bperf_evsel__account(struct evsel *evsel, int cell, const struct counts_values *now, int err)
{
	struct bperf_evsel *priv = evsel->priv;
	enum window_moment moment = bperf_evsel__moment(priv);
	struct window *window = &priv->cell[cell];

	if (moment == WINDOW_NONE)
		return;
	if (err && err != ENOENT) {
		bperf_evsel__count_error(priv, err);
		if (moment == WINDOW_END)
			window__forget(window);
	} else if (window__account(window, moment, now, &evsel->counts->values[cell])) {
		bperf_evsel__count_error(priv, ERANGE);
	}
}

/* After all of their cells. */
static void open_and_close(struct bperf *bperf)
{
	struct evsel *evsel;
	int i;

	evlist__for_each(bperf->base.plan->evlist, evsel, i) {
		struct bperf_evsel *priv = evsel->priv;

		if (bperf__is_counting(bperf, evsel))
			priv->is_open = priv->is_wanted;
	}
}

void bperf__account(struct bperf *bperf)
{
	for (int i = 0; i < NR_BPF_COUNTERS; i++) {
		struct bpf_counter *counter = bperf->counters[i];

		if (counter)
			counter->ops->read(counter);
	}
	open_and_close(bperf);
}
