// SPDX-License-Identifier: GPL-2.0
/* Values that perf itself provides: clocks of the run, sensors, and what the machine is like. */
#include "counter.h"

#include "cgroup.h"
#include "counts.h"
#include "cpumap.h"
#include "evlist.h"
#include "pmu.h"
#include "target.h"
#include "thread_map.h"
#include "tool_facts.h"
#include "util.h"
#include "workload.h"

#include <errno.h>
#include <stdlib.h>

/* A clock of one instance: what it showed when the window began, what windows before had. */
struct tool_cell {
	uint64_t base;
	uint64_t before;
	bool is_on;
};

struct tool {
	struct counter base;
	bool is_enabled;		/* what new cgroups begin with */
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
	case TOOL_SENSOR:
		return pmu__sensor(evsel->pmu, evsel->attr.config, value);
	default:
		return tool__fact(evsel->tool, plan->target, value);
	}
}

/* What grows counts from the beginning of a window; all else is the value of the moment. */
static bool grows(const struct evsel *evsel)
{
	return evsel->tool == TOOL_DURATION_TIME || evsel->tool == TOOL_USER_TIME ||
	       evsel->tool == TOOL_SYSTEM_TIME || (evsel->tool == TOOL_SENSOR && !evsel->snapshot);
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
				     sizeof(struct tool_cell));
		if (!evsel->priv)
			return -ENOMEM;
		evsel->state = EVSEL_COUNTING;
		err = evsel->tool <= TOOL_SYSTEM_TIME ? 0 : read_value(self->plan, evsel, 0, 0, &value);
		if (err) {
			evsel->state = EVSEL_NOT_SUPPORTED;
			evsel->err = evsel->tool == TOOL_SENSOR ? -err : ENOENT;
		}
	}
	return 0;
}

enum moment { BEGIN, READ, END };

/* A thread that has ended has no times any more: what it had at the last look stays. */
static void take(const struct counter_plan *plan, struct evsel *evsel, int cpu_idx, int thread,
		 enum moment moment)
{
	struct counts_values *count = counts__at(evsel->counts, cpu_idx, thread);
	struct tool_cell *cell =
		(struct tool_cell *)evsel->priv + (count - evsel->counts->values);
	uint64_t now;

	if (cell->is_on == (moment == BEGIN) ||
	    read_value(plan, evsel, cpu_idx, thread, &now))
		return;
	cell->is_on = moment != END;
	count->ena = count->run = 1;
	if (!grows(evsel)) {
		count->val = now;
	} else if (moment == BEGIN) {
		cell->before = count->val;
		cell->base = now;
	} else {
		count->val = cell->before + (now > cell->base ? now - cell->base : 0);
	}
}

static void take_event(const struct counter_plan *plan, struct evsel *evsel, enum moment moment)
{
	if (evsel->state != EVSEL_COUNTING)
		return;
	for (int c = 0; c < evsel->counts->nr_cpus; c++) {
		for (int t = 0; t < evsel->counts->nr_threads; t++)
			take(plan, evsel, c, t, moment);
	}
}

static int take_all(struct counter *self, enum moment moment)
{
	struct evsel *evsel;
	int i;

	evlist__for_each(self->plan->evlist, evsel, i) {
		if (evsel->counter == self)
			take_event(self->plan, evsel, moment);
	}
	return 0;
}

static int tool__enable(struct counter *self)
{
	((struct tool *)self)->is_enabled = true;
	return take_all(self, BEGIN);
}

static int tool__read(struct counter *self)
{
	return take_all(self, READ);
}

static int tool__disable(struct counter *self)
{
	((struct tool *)self)->is_enabled = false;
	return take_all(self, END);
}

static int tool__set_event(struct counter *self, struct evsel *evsel, bool counts)
{
	take_event(self->plan, evsel, counts ? BEGIN : END);
	return 0;
}

/* Those of a new cgroup begin now. */
static int tool__add(struct counter *self)
{
	struct evsel *evsel;
	int i, err = tool__open(self);

	evlist__for_each(self->plan->evlist, evsel, i) {
		if (err || evsel->counter != self || !evsel->cgroup ||
		    evsel->cgroup->state != CGROUP_NEW || evsel->state != EVSEL_COUNTING)
			continue;
		for (int c = 0; c < evsel->counts->nr_cpus; c++) {
			*counts__at(evsel->counts, c, 0) = (struct counts_values){};
			((struct tool_cell *)evsel->priv)[c].is_on = false;
			if (((struct tool *)self)->is_enabled)
				take(self->plan, evsel, c, 0, BEGIN);
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
	.add = tool__add,
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
