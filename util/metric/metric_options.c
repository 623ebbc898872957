// SPDX-License-Identifier: GPL-2.0
#include "util/metric/metric_options.h"

#include "util/event/evlist.h"
#include "util/lib/msg.h"
#include "util/lib/program.h"
#include "util/lib/util.h"
#include "util/metric/metric_groups.h"

#include <errno.h>
#include <string.h>

int metric_options__add_names(struct metric_options *plan, const char *names)
{
	char *all = plan->names ? xasprintf("%s,%s", plan->names, names) : strdup(names);

	if (!all) {
		pr_err("out of memory");
		return -ENOMEM;
	}
	free(plan->names);
	plan->names = all;
	return 0;
}

bool metric_options__is_empty(const struct metric_options *plan)
{
	return !plan->names && !plan->topdown && !plan->transaction && !plan->smi_cost;
}

/* Request the metrics of an option; fail with a message if the CPU has none. */
static int add_cpu_group(struct metric_options *plan, const char *option, const char *group)
{
	if (metric_requests__has_group(group, &plan->options))
		return metric_requests__add(&plan->requests, group, &plan->options);
	pr_err("%s: no metric for this CPU is in the group %s (see %s list metricgroups; --metrics-file takes a vendor's)",
	       option, group, program__name());
	return -ENODEV;
}

static int add_topdown(struct metric_options *plan)
{
	char group[] = "TopdownL1";
	char *level = &group[sizeof(group) - 2];

	*level = '0' + (plan->td_level ? plan->td_level : MAX_TD_LEVEL);
	while (!plan->td_level && *level > '1' &&
	       !metric_requests__has_group(group, &plan->options))
		--*level;
	return add_cpu_group(plan, "--topdown", group);
}

int metric_options__add_events(struct metric_options *plan, struct evlist *list)
{
	int err = 0;

	if (plan->topdown)
		err = add_topdown(plan);
	if (!err && plan->transaction)
		err = add_cpu_group(plan, "-T", "transaction");
	if (!err && plan->smi_cost)
		err = add_cpu_group(plan, "--smi-cost", "smi");
	if (!err && plan->names)
		err = metric_requests__add(&plan->requests, plan->names, &plan->options);
	if (!err)
		err = metric_requests__add_events(&plan->requests, list, &plan->options);
	if (err == -ENOMEM)
		pr_err("out of memory");
	return err == -EINVAL ? -EIO : err == -ENODEV ? -EINVAL : err;
}

int metric_options__add_defaults(struct metric_options *plan, struct evlist *list, int detail)
{
	int first = list->nr, err;

	plan->options.no_threshold = true;
	err = metric_requests__add_defaults(&plan->requests, detail, &plan->options);
	if (!err)
		err = metric_requests__add_events(&plan->requests, list, &plan->options);
	for (; first < list->nr; first++) {
		struct evsel *evsel = list->evsels[first];

		evsel->is_default = true;
		evsel->hidden = !metric_requests__show_events(&plan->requests, evsel->metric_set);
	}
	return err;
}

void metric_options__clear(struct metric_options *plan)
{
	metric_requests__clear(&plan->requests);
	free(plan->names);
	plan->names = NULL;
}
