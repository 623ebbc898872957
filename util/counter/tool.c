// SPDX-License-Identifier: GPL-2.0
#include "util/counter/tool.h"

#include "util/counter/counter.h"
#include "util/counter/window.h"
#include "util/event/counts.h"
#include "util/event/evlist.h"
#include "util/event/pmu.h"
#include "util/event/tool_values.h"
#include "util/host/cpumap.h"
#include "util/lib/util.h"
#include "util/target/cgroup_list.h"
#include "util/target/target.h"
#include "util/target/thread_map.h"
#include "util/target/workload.h"

#include <errno.h>
#include <stdlib.h>

struct tool {
	struct counter base;
	bool is_enabled; /* events of new cgroups begin at once */
};

/* ns of user or system time that an instance's CPU, thread or finished workload has used. */
static int read_cpu_time(const struct counter_plan *plan, const struct evsel *evsel, int cpu_idx,
			 int thread, uint64_t *ns)
{
	bool is_user = evsel->tool == TOOL_USER_TIME;

	if (plan->workload && plan->workload->is_done && target__has_task(plan->target)) {
		*ns = is_user ? plan->workload->user_ns : plan->workload->sys_ns;
		return 0;
	}
	if (evsel->threads)
		return tool__thread_time(evsel->threads->thread[thread].tid, is_user, ns);
	return tool__cpu_time(evsel->cpus->cpu[cpu_idx], is_user, ns);
}

static int read_value(const struct counter_plan *plan, const struct evsel *evsel, int cpu_idx,
		      int thread, uint64_t *value)
{
	switch (evsel->tool) {
	case TOOL_DURATION_TIME:
		*value = clock_ns();
		return 0;
	case TOOL_USER_TIME:
	case TOOL_SYSTEM_TIME:
		return read_cpu_time(plan, evsel, cpu_idx, thread, value);
	case TOOL_DRM:
		return pmu__drm(evsel->pmu, evsel->attr.config,
				target__has_task(plan->target) ? plan->threads : NULL, value);
	case TOOL_SENSOR:
		return pmu__sensor(evsel->pmu, evsel->attr.config, value);
	default:
		return tool__value(evsel->tool, plan->target, value);
	}
}

/* Values that grow count from the beginning of a window; all others are the value of the moment. */
static bool grows(const struct evsel *evsel)
{
	return evsel->tool == TOOL_DURATION_TIME || evsel->tool == TOOL_USER_TIME ||
	       evsel->tool == TOOL_SYSTEM_TIME ||
	       ((evsel->tool == TOOL_SENSOR || evsel->tool == TOOL_DRM) && !evsel->snapshot);
}

static int tool__open(struct counter *self)
{
	struct evsel *evsel;
	uint64_t value;
	int i, err;

	evlist__for_each(self->plan->evlist, evsel, i) {
		if (evsel->counter != self || evsel->state != EVSEL_UNOPENED)
			continue;
		err = evsel__alloc_counts(evsel);
		if (err)
			return err;
		evsel->priv = calloc(evsel->counts->nr_cpus * evsel->counts->nr_threads,
				     sizeof(struct window));
		if (!evsel->priv)
			return -ENOMEM;
		evsel->state = EVSEL_COUNTING;
		err = evsel->tool <= TOOL_SYSTEM_TIME ? 0 :
							read_value(self->plan, evsel, 0, 0, &value);
		if (err) {
			evsel->state = EVSEL_NOT_SUPPORTED;
			evsel->err = evsel->tool == TOOL_SENSOR ? -err : ENOENT;
		}
	}
	return 0;
}

/* A thread that has ended cannot be read: its last value stays. */
static void account(const struct counter_plan *plan, struct evsel *evsel, int cpu_idx, int thread,
		    enum window_moment moment)
{
	struct counts_values *count = counts__at(evsel->counts, cpu_idx, thread);
	struct window *window = (struct window *)evsel->priv + (count - evsel->counts->values);
	struct counts_values now = {.enabled_ns = 1, .running_ns = 1};

	if (window->has_base == (moment == WINDOW_BEGIN) ||
	    read_value(plan, evsel, cpu_idx, thread, &now.value))
		return;
	(void)window__account(window, moment, &now, count); /* what goes back begins anew */
	if (!grows(evsel))
		count->value = now.value;
	count->enabled_ns = count->running_ns = 1;
}

static void account_event(const struct counter_plan *plan, struct evsel *evsel,
			  enum window_moment moment)
{
	if (evsel->state != EVSEL_COUNTING)
		return;
	for (int c = 0; c < evsel->counts->nr_cpus; c++) {
		for (int t = 0; t < evsel->counts->nr_threads; t++)
			account(plan, evsel, c, t, moment);
	}
}

static int account_all(struct counter *self, enum window_moment moment)
{
	struct evsel *evsel;
	int i;

	evlist__for_each(self->plan->evlist, evsel, i) {
		if (evsel->counter == self)
			account_event(self->plan, evsel, moment);
	}
	return 0;
}

static int tool__enable(struct counter *self)
{
	((struct tool *)self)->is_enabled = true;
	return account_all(self, WINDOW_BEGIN);
}

static int tool__read(struct counter *self)
{
	return account_all(self, WINDOW_READ);
}

static int tool__disable(struct counter *self)
{
	((struct tool *)self)->is_enabled = false;
	return account_all(self, WINDOW_END);
}

static int tool__set_event(struct counter *self, struct evsel *evsel, bool counts)
{
	account_event(self->plan, evsel, counts ? WINDOW_BEGIN : WINDOW_END);
	return 0;
}

/* The events of a new cgroup begin now. */
static int tool__add_cgroups(struct counter *self)
{
	struct evsel *evsel;
	int i, err = tool__open(self);

	evlist__for_each(self->plan->evlist, evsel, i) {
		if (err || evsel->counter != self || !evsel->cgroup ||
		    evsel->cgroup->state != CGROUP_NEW || evsel->state != EVSEL_COUNTING)
			continue;
		for (int c = 0; c < evsel->counts->nr_cpus; c++) {
			*counts__at(evsel->counts, c, 0) = (struct counts_values){};
			((struct window *)evsel->priv)[c] = (struct window){};
			if (((struct tool *)self)->is_enabled)
				account(self->plan, evsel, c, 0, WINDOW_BEGIN);
		}
	}
	return err;
}

static void tool__destroy(struct counter *self)
{
	struct evsel *evsel;
	int i;

	evlist__for_each(self->plan->evlist, evsel, i) {
		if (evsel->counter != self)
			continue;
		free(evsel->priv);
		evsel->priv = NULL;
	}
	free(self);
}

static const struct counter_ops tool_ops = {
	.name = "tool",
	.open = tool__open,
	.enable = tool__enable,
	.disable = tool__disable,
	.set_event = tool__set_event,
	.read = tool__read,
	.add_cgroups = tool__add_cgroups,
	.destroy = tool__destroy,
};

struct counter *counter_tool__new(const struct counter_plan *plan)
{
	struct tool *tool = calloc(1, sizeof(*tool));

	if (!tool)
		return NULL;
	tool->base.ops = &tool_ops;
	tool->base.plan = plan;
	return &tool->base;
}
