// SPDX-License-Identifier: GPL-2.0
#include "metric.h"
#include "evlist.h"
#include "pmu.h"
#include "util.h"

#include <errno.h>
#include <string.h>

/* The events of one cgroup and, where there are several kinds of cores, of one kind. */
struct domain {
	const struct cgroup *cgroup;
	const struct pmu *pmu;
};

struct domains {
	struct domain *domain;
	int nr;
};

static int add_domain(struct domains *domains, const struct cgroup *cgroup,
		      const struct pmu *pmu)
{
	struct domain *d;
	int i;

	for (i = 0; i < domains->nr; i++) {
		d = &domains->domain[i];
		if (d->cgroup == cgroup && d->pmu == pmu)
			return 0;
	}
	d = realloc(domains->domain, (domains->nr + 1) * sizeof(*d));
	if (!d)
		return -ENOMEM;
	domains->domain = d;
	d[domains->nr++] = (struct domain){ .cgroup = cgroup, .pmu = pmu };
	return 0;
}

static const struct pmu *core_pmu(const struct evsel *evsel)
{
	return evsel->pmu && evsel->pmu->is_core ? evsel->pmu : NULL;
}

static int find_domains(const struct evlist *evlist, struct domains *domains)
{
	struct evsel *evsel;
	bool has_core = false;
	int i, err = 0;

	evlist__for_each(evlist, evsel, i)
		has_core |= core_pmu(evsel) != NULL;
	evlist__for_each(evlist, evsel, i) {
		if (!evsel->tool && (core_pmu(evsel) || !has_core))
			err = add_domain(domains, evsel->cgroup, core_pmu(evsel));
		if (err)
			break;
	}
	return err;
}

static bool uses_core(const struct metric *metric)
{
	struct evsel *evsel;
	int i;

	evlist__for_each(metric->scope.evlist, evsel, i) {
		if (core_pmu(evsel) && metric__uses(metric, evsel))
			return true;
	}
	return false;
}

static bool is_present(struct metric *const *metrics, int nr, const struct metric *metric)
{
	int i;

	for (i = 0; i < nr; i++) {
		if (metrics[i]->def == metric->def && metrics[i]->row_evsel == metric->row_evsel)
			return true;
	}
	return false;
}

/* Make one metric; software metrics are the same for all kinds of cores and wanted only once. */
static int bind_one(const struct metric_def *def, const struct metric_scope *scope,
		    struct metric ***metrics, int *nr)
{
	struct metric *metric = metric__new(def, scope), **array;

	if (!metric)
		return errno == ENOMEM ? -ENOMEM : 0;
	if (!metric->row_evsel || (!uses_core(metric) && is_present(*metrics, *nr, metric))) {
		metric__delete(metric);
		return 0;
	}
	array = realloc(*metrics, (*nr + 1) * sizeof(*array));
	if (!array) {
		metric__delete(metric);
		return -ENOMEM;
	}
	array[(*nr)++] = metric;
	*metrics = array;
	return 0;
}

int metric__bind_defaults(const struct metric_scope *scope, struct metric ***out, int *nr)
{
	struct metric_scope inner = *scope;
	const struct metric_def *def;
	struct domains domains = { 0 };
	int i, err;

	*out = NULL;
	*nr = 0;
	err = find_domains(scope->evlist, &domains);
	for (i = 0; i < domains.nr; i++) {
		inner.cgroup = domains.domain[i].cgroup;
		inner.pmu = domains.domain[i].pmu;
		for (def = metric_defs__next(NULL); def && !err; def = metric_defs__next(def))
			err = bind_one(def, &inner, out, nr);
	}
	free(domains.domain);
	if (!err)
		return 0;
	while (*nr > 0)
		metric__delete((*out)[--*nr]);
	free(*out);
	*out = NULL;
	return err;
}
