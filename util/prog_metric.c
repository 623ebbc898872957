// SPDX-License-Identifier: GPL-2.0
/* What an event comes to in one execution of a BPF program. */
#include "metric.h"

#include "evlist.h"
#include "util.h"

#include <errno.h>
#include <string.h>

/* Executions that the events' counts are of; NULL: no BPF programs are counted. */
static const struct evsel *find_runs(const struct evlist *evlist)
{
	struct evsel *evsel;
	int i;

	evlist__for_each(evlist, evsel, i) {
		if (evsel->runs == RUNS_EXACT)
			return evsel;
	}
	return NULL;
}

/* "ns per run", "Joules per run", "per run"; in columns "cycles per run". Owned. */
static char *text_of(const struct evsel *evsel, bool in_columns)
{
	const char *unit = evsel__is_clock(evsel) ? "ns" : evsel->unit;

	return xasprintf("%s%s%s%sper run", in_columns ? evsel->name : "", in_columns ? " " : "",
			 unit ? unit : "", unit && *unit ? " " : "");
}

int prog_metric__compute(const struct evlist *evlist, const struct evsel *evsel, bool in_columns,
			 const struct metric_source *source, struct metric_value *out)
{
	const struct evsel *runs = find_runs(evlist);
	struct metric_count count, nr;

	if (!runs || evsel->runs || evsel->tool || !source->count(source->data, evsel, &count) ||
	    !source->count(source->data, runs, &nr) || nr.value <= 0)
		return 0;
	memset(out, 0, sizeof(*out));
	/* Clocks count ns, whatever they are printed in. */
	out->value = count.value / nr.value * (evsel__is_clock(evsel) ? 1 : evsel->scale);
	out->format = "%10.1f ";
	out->text = text_of(evsel, in_columns);
	return out->text ? 1 : -ENOMEM;
}
