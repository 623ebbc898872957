// SPDX-License-Identifier: GPL-2.0
/*
 * Counting through shared events. The events count all the time, for everybody; a run's window is
 * the difference of two readings, so enabling and disabling change nothing in the kernel and
 * nothing from outside a window can get in.
 */
#include "counter.h"

#include "attr_map.h"
#include "bperf_cgroups.h"
#include "bperf_progs.h"
#include "bperf_tasks.h"
#include "cgroup.h"
#include "counts.h"
#include "cpumap.h"
#include "evlist.h"
#include "explain.h"
#include "leader.h"
#include "leader_events.h"
#include "leader_tasks.h"
#include "msg.h"
#include "perf_event.h"
#include "pmu.h"
#include "target.h"
#include "thread_map.h"
#include "util.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

/* How often events of other leaders are looked at; what they miss in between is not counted. */
#define WATCH_NS (50 * NSEC_PER_MSEC)

/* An event on one CPU, or of one row of tasks. */
struct bperf_cpu {
	struct event_reading base;	/* where the open window began; valid while has_base */
	bool has_base;
	struct counts_values before;	/* counted in windows that are over */
};

struct bperf_evsel {
	int slot;
	int event;			/* of tasks, cgroups, BPF programs: which of their events */
	int nr_errors;			/* readings that failed */
	int last_err;
	/* As counts->values; of tasks, the columns are the scopes of bperf_tasks, of BPF programs these. */
	struct bperf_cpu cell[];
};

struct bperf {
	struct counter base;
	struct attr_map *attr_map;
	struct leader *leader;
	struct cpumap *cpus;		/* all CPUs of all events */
	struct evsel **sharing;		/* work space: the events of one CPU */
	struct bperf_tasks *tasks;	/* NULL: CPUs are counted, cgroups on them, or BPF programs */
	struct bperf_cgroups *cgroups;	/* of the events that are restricted to one; NULL: none is */
	struct bperf_progs *progs;	/* NULL: no BPF programs are counted */
	bool exec_enables;		/* the first enable() is the workload's exec */
	__u64 lost;			/* what could not be counted before we began */
	int calls_fd;			/* what to wait for: calls, and a timer if there is need */
	int timer_fd;
	bool is_enabled;
};

static struct bperf *to_bperf(struct counter *counter)
{
	return (struct bperf *)counter;
}

static bool is_counting(const struct counter *self, const struct evsel *evsel)
{
	return evsel->counter == self && evsel->state == EVSEL_COUNTING;
}

/* --- opening --- */

/* Where events of this group can be: its PMUs' CPUs that are online, whatever the run asks for. */
static struct cpumap *group_cpus(struct evsel *const *members, int nr)
{
	struct cpumap *cpus = cpumap__online();

	for (int i = 0; i < nr && cpus; i++) {
		const struct pmu *pmu = members[i]->pmu;
		struct cpumap *both;

		if (!pmu || !pmu->cpus)
			continue;
		both = cpumap__and(cpus, pmu->cpus);
		cpumap__delete(cpus);
		cpus = both;
	}
	return cpus;
}

/* CPU by CPU, threads that count in one row have one column; else it is the first of theirs. */
static int alloc_counts(const struct counter_plan *plan, struct evsel *evsel)
{
	if (!evsel->threads || !plan->by_cpu || plan->target->per_thread)
		return evsel__alloc_counts(evsel);
	free(evsel->counts);
	evsel->counts = counts__new(evsel->cpus->nr, 1);
	return evsel->counts ? 0 : -ENOMEM;
}

static int set_counting(const struct counter_plan *plan, struct evsel *evsel, int slot)
{
	struct bperf_evsel *priv;
	int err = alloc_counts(plan, evsel);

	if (err)
		return err;
	priv = calloc(1, sizeof(*priv) + evsel->counts->nr_cpus * evsel->counts->nr_threads *
						 sizeof(priv->cell[0]));
	if (!priv)
		return -ENOMEM;
	priv->slot = slot;
	evsel->priv = priv;
	evsel->state = EVSEL_COUNTING;
	return 0;
}

static void refuse(struct evsel *evsel, int err)
{
	evsel->err = -err;
	explain__take(evsel->counter->plan->explain, evsel->idx, -err);
	evsel->state = perf_event__is_unsupported(err) ? EVSEL_NOT_SUPPORTED : EVSEL_SKIPPED;
}

/*
 * Open what the kernel takes of a group; a member that it refuses is left out, and the others
 * count. A weak group that is refused as a group is no error of any member: -EAGAIN.
 */
static int open_group(struct bperf *bperf, struct evsel *const *group, int nr_group, bool is_weak)
{
	struct evsel *members[MAX_EVENTS];
	struct attr_key keys[MAX_EVENTS];
	int nr = nr_group, first = -ENODEV;

	if (nr > MAX_EVENTS) {
		pr_err("a group of %d events cannot be shared: %d at most", nr, MAX_EVENTS);
		return -E2BIG;
	}
	for (int i = 0; i < nr; i++) {
		members[i] = group[i];
		attr_map__key(&group[i]->attr, &keys[i]);
	}
	while (nr) {
		struct cpumap *cpus = group_cpus(members, nr);
		int refused;

		if (!cpus)
			return -errno;
		first = leader__add_events(bperf->leader, keys, nr, cpus, &refused);
		cpumap__delete(cpus);
		if (first >= 0)
			break;
		if (refused < 0) {
			if (first == -ENOSPC)
				pr_err("cannot share '%s': %d events are shared already, the most there can be",
				       members[0]->name, MAX_EVENTS);
			else
				pr_err("cannot share '%s': %s", members[0]->name, strerror(-first));
			return first;
		}
		if (is_weak && nr > 1 && (first == -EINVAL || first == -EBADF))
			return -EAGAIN;
		refuse(members[refused], first);
		nr--;
		for (int i = refused; i < nr; i++) {
			members[i] = members[i + 1];
			keys[i] = keys[i + 1];
		}
	}
	for (int i = 0; i < nr; i++) {
		int err = set_counting(bperf->base.plan, members[i], first + i);

		if (err)
			return err;
	}
	return 0;
}

/* What is repeated for another cgroup is the same event. */
static int copy_model(const struct bperf *bperf, struct evsel *evsel)
{
	const struct evsel *model = evsel->model;

	if (model->state == EVSEL_COUNTING)
		return set_counting(bperf->base.plan, evsel,
				    ((struct bperf_evsel *)model->priv)->slot);
	evsel->state = model->state;
	evsel->err = model->err;
	return 0;
}

static int open_events(struct bperf *bperf)
{
	struct evlist *evlist = bperf->base.plan->evlist;
	int err = 0;

	for (int i = 0; i < evlist->nr && !err; i++) {
		struct evsel *evsel = evlist->evsels[i];

		if (evsel->counter != &bperf->base || evsel->state != EVSEL_UNOPENED)
			continue;
		if (evsel->runs) {
			err = set_counting(bperf->base.plan, evsel, -1);
			continue;
		}
		if (evsel->model) {
			err = copy_model(bperf, evsel);
			continue;
		}
		if (!evsel__is_leader(evsel))
			continue;
		if (evsel->runs) {
			err = set_counting(bperf->base.plan, evsel, -1);
			continue;
		}
		/* One event for a whole package or box cannot tell tasks or cgroups apart. */
		if ((evsel->threads || evsel->cgroup) && evsel->needs_cpu) {
			for (int m = 0; m < evsel->nr_members; m++)
				refuse(evlist->evsels[i + m], -EINVAL);
			continue;
		}
		err = open_group(bperf, &evlist->evsels[i], evsel->nr_members, evsel->weak);
		if (err != -EAGAIN)
			continue;
		err = 0;
		for (int m = 0; m < evsel->nr_members && !err; m++)
			err = open_group(bperf, &evlist->evsels[i + m], 1, false);
	}
	return err;
}

static int collect_cpus(struct bperf *bperf)
{
	struct evlist *evlist = bperf->base.plan->evlist;
	struct cpumap *possible = cpumap__possible();
	struct evsel *evsel;
	int *list, nr = 0, i;

	if (!possible)
		return -errno;
	list = calloc(possible->nr, sizeof(*list));
	for (int c = 0; list && c < possible->nr; c++) {
		bool is_used = false;

		evlist__for_each(evlist, evsel, i) {
			if (is_counting(&bperf->base, evsel) && !evsel->cgroup &&
			    cpumap__has(evsel->cpus, possible->cpu[c]))
				is_used = true;
		}
		if (is_used)
			list[nr++] = possible->cpu[c];
	}
	bperf->cpus = list ? cpumap__new(list, nr) : NULL;
	bperf->sharing = calloc(evlist->nr, sizeof(*bperf->sharing));
	free(list);
	cpumap__delete(possible);
	return bperf->cpus && bperf->sharing ? 0 : -ENOMEM;
}

static enum switch_event switches_of(const struct evsel *evsel)
{
	if (evsel->attr.exclude_kernel)
		return NO_SWITCHES;
	if (evsel__is(evsel, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES))
		return ALL_SWITCHES;
	return evsel__is(evsel, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CGROUP_SWITCHES) ?
		       CGROUP_SWITCHES : NO_SWITCHES;
}

/*
 * The slots that scopes or BPF programs count; an event given twice is one to the leader.
 * @slots, @evsels: MAX_EVENTS of them. Return: how many.
 */
static int collect_slots(struct bperf *bperf, bool of_cgroups, int *slots,
			 const struct evsel **evsels)
{
	struct evsel *evsel;
	int nr = 0, i;

	evlist__for_each(bperf->base.plan->evlist, evsel, i) {
		struct bperf_evsel *priv = evsel->priv;

		if (!is_counting(&bperf->base, evsel) || evsel->runs ||
		    !evsel->cgroup == of_cgroups)
			continue;
		for (priv->event = 0; priv->event < nr; priv->event++) {
			if (slots[priv->event] == priv->slot)
				break;
		}
		if (priv->event == nr) {
			evsels[nr] = evsel;
			slots[nr++] = priv->slot;
		}
	}
	return nr;
}

static int open_progs(struct bperf *bperf)
{
	const struct evsel *evsels[MAX_EVENTS];
	const char *names[MAX_EVENTS];
	int slots[MAX_EVENTS], nr = collect_slots(bperf, false, slots, evsels);

	for (int i = 0; i < nr; i++)
		names[i] = evsels[i]->name;
	return bperf_progs__new(bperf->leader, bperf->base.plan->progs, slots, names, nr,
				&bperf->progs);
}

/* Have the events counted for the target's tasks. */
static int open_tasks(struct bperf *bperf)
{
	const struct counter_plan *plan = bperf->base.plan;
	const struct evsel *evsels[MAX_EVENTS];
	int slots[MAX_EVENTS], is_switches[MAX_EVENTS], i, err;
	int nr = collect_slots(bperf, false, slots, evsels);
	struct evsel *evsel;

	if (!nr)
		return 0;
	for (i = 0; i < nr; i++)
		is_switches[i] = switches_of(evsels[i]);
	bperf->exec_enables = plan->enable_on_exec;
	err = bperf_tasks__new(bperf->leader, plan, slots, is_switches, nr, &bperf->tasks);
	if (!err) {
		bperf->lost = leader_tasks__lost(bperf->leader);
		return 0;
	}
	if (err != -ESRCH)
		return err;
	evlist__for_each(plan->evlist, evsel, i) {
		if (is_counting(&bperf->base, evsel))
			refuse(evsel, -ESRCH);
	}
	return 0;
}

/* The same for cgroups. */
static int open_cgroups(struct bperf *bperf)
{
	const struct evsel *evsels[MAX_EVENTS];
	int slots[MAX_EVENTS], is_switches[MAX_EVENTS], err;
	int nr = collect_slots(bperf, true, slots, evsels);

	if (!nr)
		return 0;
	for (int i = 0; i < nr; i++)
		is_switches[i] = switches_of(evsels[i]);
	err = bperf_cgroups__new(bperf->leader, bperf->base.plan->cgroups, slots, is_switches, nr,
				 &bperf->cgroups);
	if (!err)
		bperf->lost = leader_tasks__lost(bperf->leader);
	return err;
}

static bool counts_cgroups(const struct bperf *bperf)
{
	struct evsel *evsel;
	int i;

	evlist__for_each(bperf->base.plan->evlist, evsel, i) {
		if (evsel->counter == &bperf->base && evsel->cgroup)
			return true;
	}
	return false;
}

static int add_call(struct bperf *bperf, int fd)
{
	struct epoll_event event = { .events = EPOLLIN | EPOLLET };

	return epoll_ctl(bperf->calls_fd, EPOLL_CTL_ADD, fd, &event) ? -errno : 0;
}

/* Programs call us when there is something to do; that another leader stopped its events, we see. */
static int open_calls(struct bperf *bperf)
{
	const struct itimerspec often = {
		.it_interval = { .tv_nsec = WATCH_NS },
		.it_value = { .tv_nsec = WATCH_NS },
	};
	int err;

	bperf->calls_fd = epoll_create1(EPOLL_CLOEXEC);
	if (bperf->calls_fd < 0)
		return -errno;
	err = add_call(bperf, leader_events__calls_fd(bperf->leader));
	if (err || !leader_events__has_foreign(bperf->leader))
		return err;
	bperf->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
	if (bperf->timer_fd < 0 || timerfd_settime(bperf->timer_fd, 0, &often, NULL))
		return -errno;
	return add_call(bperf, bperf->timer_fd);
}

static int bperf__open(struct counter *self)
{
	struct bperf *bperf = to_bperf(self);
	char *path __cleanup(free_ptr) =
		self->plan->attr_map_path ? strdup(self->plan->attr_map_path) : attr_map__path();
	int err;

	if (!path)
		return -ENOMEM;
	err = attr_map__lock(path, self->plan->trusted_owners, &bperf->attr_map);
	if (!err)
		err = leader__join(bperf->attr_map, counts_cgroups(bperf), &bperf->leader);
	if (err)
		explain__take(self->plan->explain, -1, -err);
	if (!err)
		err = open_events(bperf);
	if (!err)
		err = self->plan->progs   ? open_progs(bperf) :
		      self->plan->threads ? open_tasks(bperf) :
					    collect_cpus(bperf);
	if (!err)
		err = open_cgroups(bperf);
	if (!err)
		err = open_calls(bperf);
	if (bperf->attr_map)
		attr_map__unlock(bperf->attr_map);
	return err;
}

/* --- counting --- */

enum moment { BEGIN, READ, END };

static void count_error(struct bperf_evsel *priv, int err)
{
	priv->nr_errors++;
	priv->last_err = err;
}

static bool is_newer(const struct event_reading *now, const struct event_reading *base)
{
	return now->counter >= base->counter && now->enabled_ns >= base->enabled_ns &&
	       now->running_ns >= base->running_ns;
}

/*
 * Take one reading into account. A reading that failed leaves the count as it was; where there is
 * no perf event, because its CPU was offline, the last reading is what there is.
 */
static void take(struct evsel *evsel, int cell, const struct event_reading *now, enum moment moment)
{
	struct bperf_evsel *priv = evsel->priv;
	struct bperf_cpu *cpu = &priv->cell[cell];
	struct counts_values *count = &evsel->counts->values[cell];
	const struct event_reading *base = &cpu->base;

	if (now->err && now->err != ENOENT) {
		count_error(priv, now->err);
	} else if (moment != BEGIN && cpu->has_base && is_newer(now, base)) {
		count->val = cpu->before.val + now->counter - base->counter;
		count->ena = cpu->before.ena + now->enabled_ns - base->enabled_ns;
		count->run = cpu->before.run + now->running_ns - base->running_ns;
	} else {
		if (moment != BEGIN && cpu->has_base)
			count_error(priv, ERANGE);
		cpu->before = *count;
		cpu->base = *now;
		cpu->has_base = true;
	}
	if (moment == END) {
		cpu->before = *count;
		cpu->has_base = false;
	}
}

static int sync_cpu(struct bperf *bperf, int cpu, enum moment moment)
{
	struct evlist *evlist = bperf->base.plan->evlist;
	struct event_reading readings[MAX_EVENTS];
	uint64_t mask[MASK_WORDS] = {};
	int slots[MAX_EVENTS];
	struct evsel *evsel;
	bool is_offline;
	int nr = 0, i, err;

	evlist__for_each(evlist, evsel, i) {
		const struct bperf_evsel *priv = evsel->priv;

		if (!is_counting(&bperf->base, evsel) || evsel->cgroup ||
		    !cpumap__has(evsel->cpus, cpu))
			continue;
		mask[priv->slot / 64] |= 1ULL << priv->slot % 64;
		bperf->sharing[nr++] = evsel;
	}
	err = leader__sync(bperf->leader, cpu, mask, false);
	/* What an offline CPU counted was read when it went. */
	is_offline = err == -ENXIO;
	if (err && !is_offline) {
		pr_err("reading the shared events of CPU %d failed: %s", cpu, strerror(-err));
		return err;
	}
	/* Events given twice share a slot, so there can be more events than slots: in batches. */
	for (int done = 0; done < nr;) {
		int batch = nr - done < MAX_EVENTS ? nr - done : MAX_EVENTS;

		for (i = 0; i < batch; i++)
			slots[i] = ((struct bperf_evsel *)bperf->sharing[done + i]->priv)->slot;
		leader__readings(bperf->leader, cpu, slots, batch, readings);
		for (i = 0; i < batch; i++) {
			int cpu_idx;

			evsel = bperf->sharing[done + i];
			cpu_idx = cpumap__idx(evsel->cpus, cpu);
			evsel->counts->offline[cpu_idx] = is_offline;
			take(evsel, cpu_idx, &readings[i], moment);
		}
		done += batch;
	}
	return 0;
}

/* What a scope has counted since it was made, on one of the event's CPUs or, without by_cpu, on all. */
static void take_scope(struct bperf *bperf, struct evsel *evsel, int cpu_idx, int scope,
		       enum moment moment)
{
	const struct bperf_evsel *priv = evsel->priv;
	struct counts_values sum =
		bperf->base.plan->by_cpu ?
			bperf_tasks__on_cpu(bperf->tasks, priv->event, scope, evsel->cpus->cpu[cpu_idx]) :
			bperf_tasks__total(bperf->tasks, priv->event, scope);
	struct event_reading now = {
		.counter = sum.val,
		.enabled_ns = sum.ena,
		.running_ns = sum.run,
	};

	take(evsel, cpu_idx * evsel->counts->nr_threads + scope, &now, moment);
}

static void take_zero(struct bperf *bperf __unused, struct evsel *evsel, int cpu_idx, int scope,
		      enum moment moment)
{
	const struct event_reading zero = {};

	take(evsel, cpu_idx * evsel->counts->nr_threads + scope, &zero, moment);
}

static void for_each_cell(struct bperf *bperf,
			  void (*fn)(struct bperf *bperf, struct evsel *evsel, int cpu_idx, int scope,
				     enum moment moment),
			  enum moment moment)
{
	struct evsel *evsel;
	int i;

	evlist__for_each(bperf->base.plan->evlist, evsel, i) {
		if (!is_counting(&bperf->base, evsel))
			continue;
		for (int c = 0; c < evsel->counts->nr_cpus; c++) {
			for (int s = 0; s < bperf_tasks__nr_scopes(bperf->tasks); s++)
				fn(bperf, evsel, c, s, moment);
		}
	}
}

/* Tasks' sums only grow, from 0 when the scope was made; windows are differences of them, too. */
static int take_tasks(struct bperf *bperf, enum moment moment)
{
	int err = bperf_tasks__read(bperf->tasks);
	if (err) {
		pr_err("reading the shared counts failed: %s", strerror(-err));
		return err;
	}
	for_each_cell(bperf, take_scope, moment);
	return 0;
}

/* One that came or went since the last look has no row, or none any more. */
static bool is_vacant(const struct evsel *evsel)
{
	return evsel->cgroup->state == CGROUP_NEW || evsel->cgroup->state == CGROUP_FREE;
}

static int take_cgroups(struct bperf *bperf, enum moment moment)
{
	struct evsel *evsel;
	int i, err;

	err = bperf_cgroups__read(bperf->cgroups);
	if (err) {
		pr_err("reading the shared counts failed: %s", strerror(-err));
		return err;
	}
	evlist__for_each(bperf->base.plan->evlist, evsel, i) {
		const struct bperf_evsel *priv = evsel->priv;

		if (!is_counting(&bperf->base, evsel) || !evsel->cgroup || is_vacant(evsel))
			continue;
		for (int c = 0; c < evsel->cpus->nr; c++) {
			struct counts_values total =
				bperf_cgroups__on_cpu(bperf->cgroups, priv->event,
						      evsel->cgroup->pos, evsel->cpus->cpu[c]);
			struct event_reading now = {
				.counter = total.val,
				.enabled_ns = total.ena,
				.running_ns = total.run,
			};

			take(evsel, c, &now, moment);
		}
	}
	return 0;
}

/* Of executions: they count from when the pairs were made, so this never goes back either. */
static struct event_reading runs_reading(const struct bperf *bperf, const struct evsel *evsel,
					 int target, int cpu)
{
	uint64_t now_ns = clock_ns();

	return (struct event_reading){
		.counter = bperf_progs__runs(bperf->progs, target, cpu, evsel->runs == RUNS_EXACT),
		.enabled_ns = now_ns,
		.running_ns = now_ns,
	};
}

static void take_progs(struct bperf *bperf, enum moment moment)
{
	struct evsel *evsel;
	int i;

	if (moment == END)
		bperf_progs__end(bperf->progs);
	else if (moment == BEGIN)
		bperf_progs__begin(bperf->progs);
	evlist__for_each(bperf->base.plan->evlist, evsel, i) {
		const struct bperf_evsel *priv = evsel->priv;

		if (!is_counting(&bperf->base, evsel))
			continue;
		for (int c = 0; c < evsel->cpus->nr; c++) {
			int cpu = evsel->cpus->cpu[c];

			for (int t = 0; t < evsel->threads->nr; t++) {
				struct event_reading now =
					evsel->runs ? runs_reading(bperf, evsel, t, cpu) :
						      bperf_progs__event(bperf->progs, t, cpu,
									 priv->event);

				take(evsel, c * evsel->threads->nr + t, &now, moment);
			}
		}
	}
}

static int sync_all(struct bperf *bperf, enum moment moment)
{
	int err = 0;

	if (bperf->progs) {
		bperf_progs__read(bperf->progs);
		take_progs(bperf, moment);
		return 0;
	}
	if (bperf->tasks)
		err = take_tasks(bperf, moment);
	for (int i = 0; bperf->cpus && i < bperf->cpus->nr && !err; i++)
		err = sync_cpu(bperf, bperf->cpus->cpu[i], moment);
	if (!err && bperf->cgroups)
		err = take_cgroups(bperf, moment);
	return err;
}

static int bperf__enable(struct counter *self)
{
	struct bperf *bperf = to_bperf(self);

	if (bperf->is_enabled)
		return 0;
	bperf->is_enabled = true;
	/* A workload's sums begin at its exec, which is yet to come: the window begins with them at 0. */
	if (bperf->exec_enables) {
		bperf->exec_enables = false;
		for_each_cell(bperf, take_zero, BEGIN);
		return 0;
	}
	return sync_all(bperf, BEGIN);
}

static int bperf__disable(struct counter *self)
{
	struct bperf *bperf = to_bperf(self);

	if (!bperf->is_enabled)
		return 0;
	bperf->is_enabled = false;
	return sync_all(bperf, END);
}

static int bperf__read(struct counter *self)
{
	struct bperf *bperf = to_bperf(self);

	return bperf->is_enabled ? sync_all(bperf, READ) : 0;
}

static int update_cgroups(struct bperf *bperf, enum cgroup_state state)
{
	int err;

	if (bperf_cgroups__is_current(bperf->cgroups, state))
		return 0;
	err = attr_map__relock(bperf->attr_map);
	if (err)
		return err;
	err = bperf_cgroups__update(bperf->cgroups, state);
	attr_map__unlock(bperf->attr_map);
	return err;
}

/* What a place has counted for a cgroup that is gone is not this one's. */
static void begin_anew(struct bperf *bperf, struct evsel *evsel)
{
	struct bperf_evsel *priv = evsel->priv;

	for (int c = 0; c < evsel->cpus->nr; c++) {
		priv->cell[c] = (struct bperf_cpu){ .has_base = bperf->is_enabled };
		evsel->counts->values[c] = (struct counts_values){};
	}
}

static int bperf__look(struct counter *self)
{
	struct bperf *bperf = to_bperf(self);

	return bperf->cgroups ? bperf_cgroups__look(bperf->cgroups) : 0;
}

static int bperf__add(struct counter *self)
{
	struct bperf *bperf = to_bperf(self);
	struct evsel *evsel;
	int i, err;

	if (!bperf->cgroups)
		return 0;
	err = update_cgroups(bperf, CGROUP_NEW);
	if (!err)
		err = open_events(bperf);
	evlist__for_each(self->plan->evlist, evsel, i) {
		if (!err && is_counting(self, evsel) && evsel->cgroup &&
		    evsel->cgroup->state == CGROUP_NEW) {
			if (evsel->model)
				((struct bperf_evsel *)evsel->priv)->event =
					((struct bperf_evsel *)evsel->model->priv)->event;
			begin_anew(bperf, evsel);
		}
	}
	return err;
}

static int bperf__drop(struct counter *self)
{
	struct bperf *bperf = to_bperf(self);

	return bperf->cgroups ? update_cgroups(bperf, CGROUP_GONE) : 0;
}

static int bperf__calls_fd(struct counter *self)
{
	return to_bperf(self)->calls_fd;
}

static int bperf__answer(struct counter *self)
{
	struct bperf *bperf = to_bperf(self);
	struct epoll_event events[2];
	uint64_t nr;
	int err;

	epoll_wait(bperf->calls_fd, events, ARRAY_SIZE(events), 0);
	err = leader_events__answer(bperf->leader);
	if (!err && bperf->timer_fd >= 0 && read(bperf->timer_fd, &nr, sizeof(nr)) > 0)
		err = leader_events__watch(bperf->leader);
	if (err)
		pr_err("looking after the shared events failed: %s", strerror(-err));
	return err;
}

/* --- the end --- */

static void say_errors(const struct evsel *evsel)
{
	const struct bperf_evsel *priv = evsel->priv;

	if (priv->nr_errors)
		pr_warn("'%s': %d readings failed (%s)%s", evsel->name, priv->nr_errors,
			strerror(priv->last_err),
			priv->last_err == EBUSY ? ": a pinned event that found no free counter" : "");
}

static void bperf__destroy(struct counter *self)
{
	struct bperf *bperf = to_bperf(self);
	struct evsel *evsel;
	int i;

	evlist__for_each(self->plan->evlist, evsel, i) {
		if (evsel->counter != self || !evsel->priv)
			continue;
		say_errors(evsel);
		free(evsel->priv);
		evsel->priv = NULL;
	}
	if ((bperf->tasks || bperf->cgroups) && leader_tasks__lost(bperf->leader) > bperf->lost)
		pr_warn("%llu readings, switches or new tasks were missed: counts may be short",
			leader_tasks__lost(bperf->leader) - bperf->lost);
	if (bperf->cgroups && bperf_cgroups__missed(bperf->cgroups))
		pr_warn("%llu new cgroups came faster than they could be followed: what they did at first is counted only for those above them",
			bperf_cgroups__missed(bperf->cgroups));
	if (bperf->progs)
		bperf_progs__say(bperf->progs);
	/* Without the lock we go as a crash would: the next run cleans up. */
	if (bperf->leader && !attr_map__relock(bperf->attr_map))
		leader__leave(bperf->leader);
	/* The lock is kept until our references are gone, so that who comes next sees all or nothing. */
	bperf_tasks__delete(bperf->tasks);
	bperf_cgroups__delete(bperf->cgroups);
	bperf_progs__delete(bperf->progs);
	leader__delete(bperf->leader);
	attr_map__delete(bperf->attr_map);
	close_fd(&bperf->calls_fd);
	close_fd(&bperf->timer_fd);
	cpumap__delete(bperf->cpus);
	free(bperf->sharing);
	free(bperf);
}

static const struct counter_ops bperf_ops = {
	.name = "bperf",
	.open = bperf__open,
	.enable = bperf__enable,
	.disable = bperf__disable,
	.read = bperf__read,
	.look = bperf__look,
	.add = bperf__add,
	.drop = bperf__drop,
	.calls_fd = bperf__calls_fd,
	.answer = bperf__answer,
	.destroy = bperf__destroy,
};

struct counter *counter_bperf__new(const struct counter_plan *plan)
{
	struct bperf *bperf = calloc(1, sizeof(*bperf));

	if (!bperf)
		return NULL;
	bperf->base.ops = &bperf_ops;
	bperf->calls_fd = -1;
	bperf->timer_fd = -1;
	bperf->base.plan = plan;
	return &bperf->base;
}
