// SPDX-License-Identifier: GPL-2.0
/* Counting through shared events: a run's part in them, from joining the leader to leaving it. */
#include "bperf.h"

#include "attr_map.h"
#include "bperf_cgroups.h"
#include "bperf_progs.h"
#include "bperf_tasks.h"
#include "cgroup.h"
#include "cpumap.h"
#include "evlist.h"
#include "explain.h"
#include "leader.h"
#include "leader_events.h"
#include "leader_foreign.h"
#include "leader_scopes.h"
#include "leader_tasks.h"
#include "msg.h"
#include "prog_pair.h"
#include "util.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

/* How often events of other leaders are looked at; what they miss in between is not counted. */
#define WATCH_NS (50 * NSEC_PER_MSEC)

static struct bperf *to_bperf(struct counter *counter)
{
	return (struct bperf *)counter;
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
	if (err || !leader_foreign__has_any(bperf->leader))
		return err;
	bperf->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
	if (bperf->timer_fd < 0 || timerfd_settime(bperf->timer_fd, 0, &often, NULL))
		return -errno;
	return add_call(bperf, bperf->timer_fd);
}

/* Become one of the leader's runs; the attr map is locked then. */
static int join(struct bperf *bperf)
{
	const struct counter_plan *plan = bperf->base.plan;
	char *path __cleanup(free_ptr) =
		plan->attr_map_path ? strdup(plan->attr_map_path) : attr_map__path();
	int err;

	if (!path)
		return -ENOMEM;
	err = attr_map__lock(path, plan->trusted_owners, &bperf->attr_map);
	return err ? err : leader__join(bperf->attr_map, bperf__counts_cgroups(bperf), &bperf->leader);
}

/* The same for one that has retired: it still is. */
static int come_back(struct bperf *bperf)
{
	int err = attr_map__relock(bperf->attr_map);

	if (!err)
		leader__repair(bperf->leader);
	return err;
}

static int bperf__open(struct counter *self)
{
	struct bperf *bperf = to_bperf(self);
	int err = bperf->leader ? come_back(bperf) : join(bperf);

	if (err)
		explain__take(self->plan->explain, -1, -err);
	if (!err)
		err = bperf__open_events(bperf);
	if (!err)
		err = bperf__open_targets(bperf);
	if (!err)
		err = open_calls(bperf);
	if (bperf->attr_map)
		attr_map__unlock(bperf->attr_map);
	return err;
}

/* Return: whether that changes anything. */
static bool want_all(struct bperf *bperf, bool is_wanted)
{
	bool is_change = bperf->is_enabled != is_wanted;
	struct evsel *evsel;
	int i;

	evlist__for_each(bperf->base.plan->evlist, evsel, i) {
		struct bperf_evsel *priv = evsel->priv;

		if (!bperf__is_counting(bperf, evsel))
			continue;
		is_change |= priv->is_wanted != is_wanted;
		priv->is_wanted = is_wanted;
	}
	return is_change;
}

/* What a run says of the executions of BPF programs is of the time in which any event counts. */
static void set_enabled(struct bperf *bperf, bool is_enabled)
{
	if (bperf->is_enabled == is_enabled)
		return;
	bperf->is_enabled = is_enabled;
	if (!bperf->progs)
		return;
	bperf_progs__read(bperf->progs);
	if (is_enabled)
		bperf_progs__begin(bperf->progs);
	else
		bperf_progs__end(bperf->progs);
}

static int bperf__enable(struct counter *self)
{
	struct bperf *bperf = to_bperf(self);

	if (!want_all(bperf, true))
		return 0;
	set_enabled(bperf, true);
	/* A workload's sums begin at its exec, which is yet to come: the window begins with them at 0. */
	if (bperf->exec_enables) {
		bperf->exec_enables = false;
		bperf__begin_at_zero(bperf);
		return 0;
	}
	return bperf__take(bperf);
}

static int bperf__disable(struct counter *self)
{
	struct bperf *bperf = to_bperf(self);

	if (!want_all(bperf, false))
		return 0;
	set_enabled(bperf, false);
	return bperf__take(bperf);
}

static int bperf__set_event(struct counter *self, struct evsel *evsel, bool counts)
{
	struct bperf *bperf = to_bperf(self);
	bool is_any = false;
	struct evsel *each;
	int i;

	evlist__for_each(self->plan->evlist, each, i) {
		struct bperf_evsel *priv = each->priv;

		if (!bperf__is_counting(bperf, each))
			continue;
		if (each->leader == evsel->leader)
			priv->is_wanted = counts;
		is_any |= priv->is_wanted;
	}
	set_enabled(bperf, is_any);
	return bperf__take(bperf);
}

static int bperf__read(struct counter *self)
{
	struct bperf *bperf = to_bperf(self);

	return bperf->is_enabled ? bperf__take(bperf) : 0;
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
		err = bperf__open_events(bperf);
	if (err)
		return err;
	evlist__for_each(self->plan->evlist, evsel, i) {
		struct bperf_evsel *priv = evsel->priv;

		if (!bperf__is_counting(bperf, evsel) || !evsel->cgroup ||
		    evsel->cgroup->state != CGROUP_NEW)
			continue;
		if (evsel->model)
			priv->event = ((struct bperf_evsel *)evsel->model->priv)->event;
		bperf__begin_anew(bperf, evsel);
	}
	return 0;
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

static void bperf__answer(struct counter *self)
{
	struct bperf *bperf = to_bperf(self);
	struct epoll_event events[2];
	uint64_t nr;
	int err;

	epoll_wait(bperf->calls_fd, events, ARRAY_SIZE(events), 0);
	err = leader_events__answer(bperf->leader);
	if (!err && bperf->timer_fd >= 0 && read(bperf->timer_fd, &nr, sizeof(nr)) > 0)
		err = leader_foreign__watch(bperf->leader);
	/* Interrupted: the run ends now. */
	if (err && err != -EINTR)
		pr_warn("looking after the shared events failed: %s", strerror(-err));
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

/* What nobody will read again; what was missed is said. */
static void end_counting(struct bperf *bperf)
{
	struct evsel *evsel;
	int i;

	evlist__for_each(bperf->base.plan->evlist, evsel, i) {
		if (evsel->counter != &bperf->base || !evsel->priv)
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
}

/* The registry has forgotten them; leaves what open() begins with. */
static void forget_targets(struct bperf *bperf)
{
	bperf_tasks__delete(bperf->tasks);
	bperf_cgroups__delete(bperf->cgroups);
	bperf_progs__delete(bperf->progs);
	bperf->tasks = NULL;
	bperf->cgroups = NULL;
	bperf->progs = NULL;
	close_fd(&bperf->calls_fd);
	close_fd(&bperf->timer_fd);
	cpumap__delete(bperf->cpus);
	bperf->cpus = NULL;
	free_ptr(&bperf->sharing);
	bperf->is_enabled = bperf->exec_enables = false;
}

static int bperf__retire(struct counter *self)
{
	struct bperf *bperf = to_bperf(self);
	int err;

	end_counting(bperf);
	err = attr_map__relock(bperf->attr_map);
	if (!err) {
		leader__repair(bperf->leader);
		leader_scopes__remove(bperf->leader, bperf->leader->run);
		prog_pairs__leave(bperf->leader, bperf->leader->run);
	}
	forget_targets(bperf);
	attr_map__unlock(bperf->attr_map);
	return err;
}

static void bperf__destroy(struct counter *self)
{
	struct bperf *bperf = to_bperf(self);

	end_counting(bperf);
	/* Without the lock we go as a crash would: the next run cleans up. */
	if (bperf->leader && !attr_map__relock(bperf->attr_map))
		leader__leave(bperf->leader);
	/* The lock is kept until our references are gone, so that who comes next sees all or nothing. */
	forget_targets(bperf);
	leader__delete(bperf->leader);
	attr_map__delete(bperf->attr_map);
	free(bperf);
}

static const struct counter_ops bperf_ops = {
	.name = "bperf",
	.open = bperf__open,
	.enable = bperf__enable,
	.disable = bperf__disable,
	.set_event = bperf__set_event,
	.read = bperf__read,
	.look = bperf__look,
	.add = bperf__add,
	.drop = bperf__drop,
	.calls_fd = bperf__calls_fd,
	.answer = bperf__answer,
	.retire = bperf__retire,
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
