// SPDX-License-Identifier: GPL-2.0
#include "util/metric/metric_bind.h"

#include "util/defs/metric_builtin.h"
#include "util/event/evlist.h"
#include "util/event/pmu.h"
#include "util/lib/array.h"
#include "util/lib/util.h"
#include "util/metric/metric.h"
#include "util/metric/metric_request.h"

#include <errno.h>
#include <string.h>

/* The events of one cgroup and, on heterogeneous machines, one kind of core. */
struct domain {
	const struct cgroup *cgroup;
	const struct pmu *pmu;
};

struct domains {
	struct domain *domain;
	int nr;
};

static int add_domain(struct domains *domains, const struct cgroup *cgroup, const struct pmu *pmu)
{
	struct domain *d;
	int i;

	for (i = 0; i < domains->nr; i++) {
		d = &domains->domain[i];
		if (d->cgroup == cgroup && d->pmu == pmu)
			return 0;
	}
	d = array__add(domains->domain, domains->nr);
	if (!d)
		return -ENOMEM;
	*d = (struct domain){.cgroup = cgroup, .pmu = pmu};
	/* Keep the kinds of core of a cgroup in the order of the PMUs. */
	for (; d > domains->domain && d[-1].cgroup == cgroup && pmu && d[-1].pmu &&
	       d[-1].pmu->idx > pmu->idx;
	     d--) {
		d[0] = d[-1];
		d[-1] = (struct domain){.cgroup = cgroup, .pmu = pmu};
	}
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

static int add_metric(struct metric ***metrics, int *nr, struct metric *metric)
{
	struct metric **added = array__add(*metrics, *nr);

	if (!added) {
		metric__delete(metric);
		return -ENOMEM;
	}
	*added = metric;
	return 0;
}

/* Bind one metric. Software metrics are the same on all kinds of cores, so bind them once. */
static int bind_one(const struct metric_def *def, const struct metric_scope *scope,
		    struct metric ***metrics, int *nr)
{
	struct metric *metric = metric__new(def, scope);

	if (!metric)
		return errno == ENOMEM ? -ENOMEM : 0;
	metric->uses_core = uses_core(metric);
	if (!metric->row_evsel || (!metric->uses_core && is_present(*metrics, *nr, metric))) {
		metric__delete(metric);
		return 0;
	}
	return add_metric(metrics, nr, metric);
}

static int undo(struct metric ***metrics, int *nr, int err)
{
	while (*nr > 0)
		metric__delete((*metrics)[--*nr]);
	free(*metrics);
	*metrics = NULL;
	return err;
}

int metric__bind_defaults(const struct metric_scope *scope, struct metric ***out, int *nr)
{
	struct metric_scope inner = *scope;
	const struct metric_def *def;
	struct domains domains = {0};
	int i, err;

	*out = NULL;
	*nr = 0;
	/* Built-in metrics only refer to each other: do not read files. */
	inner.defs = NULL;
	err = find_domains(scope->evlist, &domains);
	for (i = 0; i < domains.nr; i++) {
		inner.cgroup = domains.domain[i].cgroup;
		inner.pmu = domains.domain[i].pmu;
		for (def = metric_builtin__next(NULL); def && !err; def = metric_builtin__next(def))
			err = bind_one(def, &inner, out, nr);
	}
	free(domains.domain);
	return err ? undo(out, nr, err) : 0;
}

/* Return: whether an earlier domain has the same metric, because it does not use the core PMU. */
static bool is_repeated(const struct domains *domains, int i, const struct metric *metric)
{
	int j;

	for (j = 0; j < i; j++) {
		if (domains->domain[j].cgroup == domains->domain[i].cgroup)
			return !metric->uses_core;
	}
	return false;
}

/* Return: whether a metric is for another kind of core than the domain's. */
static bool is_foreign(const struct domain *domain, const struct metric_def *def)
{
	return def->pmu && domain->pmu && !pmu__matches(domain->pmu, def->pmu) &&
	       (!strcmp(def->pmu, "cpu_core") || !strcmp(def->pmu, "cpu_atom"));
}

int metric__bind_requests(const struct metric_scope *scope, const struct metric_requests *requests,
			  struct metric ***out, int *nr)
{
	struct metric_scope inner = *scope;
	struct domains domains = {0};
	struct metric *metric;
	int d, i, err;

	*out = NULL;
	*nr = 0;
	err = find_domains(scope->evlist, &domains);
	if (!err && !domains.nr) /* perf's own values only */
		err = add_domain(&domains, NULL, NULL);
	for (d = 0; d < domains.nr; d++) {
		inner.cgroup = domains.domain[d].cgroup;
		inner.pmu = domains.domain[d].pmu;
		for (i = 0; i < requests->nr && !err; i++) {
			const struct metric_request *request = &requests->requests[i];

			if (is_foreign(&domains.domain[d], &request->def))
				continue;
			inner.set = request->set;
			metric = metric__new(&request->def, &inner);
			if (!metric) {
				err = errno == ENOMEM ? -ENOMEM : 0;
				continue;
			}
			metric->uses_core = uses_core(metric);
			/* Default sets keep the order of their events. */
			metric->rank = requests->is_default ? 0 : d * requests->nr + i + 1;
			if (is_repeated(&domains, d, metric))
				metric__delete(metric);
			else
				err = add_metric(out, nr, metric);
		}
	}
	free(domains.domain);
	return err ? undo(out, nr, err) : 0;
}
