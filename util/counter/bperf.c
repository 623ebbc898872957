// SPDX-License-Identifier: GPL-2.0
/* The life cycle of a session that shares events: it joins the leader, counts, and leaves. */
#include "util/counter/bperf.h"

#include "util/bperf/attr_map.h"
#include "util/bperf/foreign_followers.h"
#include "util/bperf/foreign_pins.h"
#include "util/bperf/foreign_watch.h"
#include "util/bperf/late_cpus.h"
#include "util/bperf/leader.h"
#include "util/bperf/leader_slots.h"
#include "util/bperf/leader_wakeup.h"
#include "util/bperf/session.h"
#include "util/counter/bperf_internal.h"
#include "util/counter/bperf_open.h"
#include "util/counter/bperf_read.h"
#include "util/event/evlist.h"
#include "util/host/cpumap.h"
#include "util/lib/msg.h"
#include "util/lib/util.h"
#include "util/target/target.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

/* How often foreign events are checked. If one stops, up to this time is not counted. */
#define WATCH_NS (50 * NSEC_PER_MSEC)

/* The time after which a lock that was held is tried again. */
#define RETRY_NS (10 * NSEC_PER_MSEC)

/* The order of their readings. */
static const struct bpf_counter_ops *const kinds[NR_BPF_COUNTERS] = {
	&bpf_program_profiler_ops,
	&bperf_task_ops,
	&bperf_cpu_ops,
	&bperf_cgrp_ops,
};

#define for_each_counter(bperf, counter)                                                           \
	for (int i_ = 0; i_ < NR_BPF_COUNTERS; i_++)                                               \
		for (struct bpf_counter *counter = (bperf)->counters[i_]; counter; counter = NULL)

static struct bperf *to_bperf(struct counter *counter)
{
	return (struct bperf *)counter;
}

/* --- wakeups --- */

static int add_wakeup(struct bperf *bperf, int fd)
{
	struct epoll_event event = {.events = EPOLLIN | EPOLLET};

	return epoll_ctl(bperf->wakeup_fd, EPOLL_CTL_ADD, fd, &event) ? -errno : 0;
}

/* Wake the session in @first_ns; while it reads foreign events, also every WATCH_NS after that. */
static int set_timer(struct bperf *bperf, uint64_t first_ns)
{
	const struct itimerspec spec = {
		.it_interval = {.tv_nsec = bperf->has_foreign ? WATCH_NS : 0},
		.it_value = {.tv_nsec = first_ns},
	};

	return timerfd_settime(bperf->timer_fd, 0, &spec, NULL) ? -errno : 0;
}

/* Programs wake the session; a timer also does, since no foreign leader tells that its events stop. */
static int open_wakeups(struct bperf *bperf)
{
	int err;

	bperf->wakeup_fd = epoll_create1(EPOLL_CLOEXEC);
	if (bperf->wakeup_fd < 0)
		return -errno;
	bperf->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
	if (bperf->timer_fd < 0)
		return -errno;
	bperf->has_foreign = leader_slots__has_any_foreign(bperf->leader);
	err = add_wakeup(bperf, leader_wakeup__fd(bperf->leader));
	if (!err)
		err = add_wakeup(bperf, bperf->timer_fd);
	for_each_counter(bperf, counter)
	{
		int fd = counter->ops->wakeup_fd ? counter->ops->wakeup_fd(counter) : -1;

		if (!err && fd >= 0)
			err = add_wakeup(bperf, fd);
	}
	if (!err && foreign_followers__is_wanted(bperf->leader))
		return set_timer(bperf, RETRY_NS);
	return err || !bperf->has_foreign ? err : set_timer(bperf, WATCH_NS);
}

/* --- CPUs that the leader has no room for --- */

static bool wants_cpu(const struct bperf *bperf, int cpu)
{
	const struct counter_plan *plan = bperf->base.plan;
	struct evsel *evsel;
	int i;

	if (!plan->target->cpu_list)
		return true;
	evlist__for_each(plan->evlist, evsel, i) {
		if (evsel->counter == &bperf->base && cpumap__has(evsel->cpus, cpu))
			return true;
	}
	return false;
}

static void warn_late(struct bperf *bperf, int cpu)
{
	char *why __cleanup(free_ptr) = late_cpus__text(cpu);

	if (!bperf->has_late)
		pr_warn("%s: it is not counted until all sessions have ended",
			why ? why : strerror(ENOMEM));
	bperf->has_late = true;
}

/* Warn if one has come since the session joined. */
static void look_for_late(struct bperf *bperf)
{
	int cpu = late_cpus__next(bperf->leader);

	if (cpu >= 0 && wants_cpu(bperf, cpu))
		warn_late(bperf, cpu);
}

/* Return: as open(), for one that is there already. */
static int check_late(struct bperf *bperf)
{
	struct cpumap *late = late_cpus__online(bperf->leader);
	int cpu = -1;

	for (int i = 0; late && cpu < 0 && i < late->nr; i++)
		cpu = wants_cpu(bperf, late->cpu[i]) ? late->cpu[i] : -1;
	cpumap__delete(late);
	if (cpu < 0)
		return 0;
	if (!bperf__is_only_shared(bperf))
		return bperf__leave_for_room(bperf, late_cpus__text(cpu));
	warn_late(bperf, cpu);
	return 0;
}

/* --- joining --- */

static bool has_events(const struct bperf *bperf, const struct bpf_counter_ops *kind,
		       bool that_count)
{
	struct evsel *evsel;
	int i;

	evlist__for_each(bperf->base.plan->evlist, evsel, i) {
		if (evsel->counter == &bperf->base && kind->counts(evsel) &&
		    (!that_count || evsel->state == EVSEL_COUNTING))
			return true;
	}
	return false;
}

static int make_counters(struct bperf *bperf)
{
	for (int i = 0; i < NR_BPF_COUNTERS; i++) {
		if (!has_events(bperf, kinds[i], false))
			continue;
		bperf->counters[i] = kinds[i]->new (bperf);
		if (!bperf->counters[i])
			return -ENOMEM;
	}
	return 0;
}

/* Delete the counters all of whose events were refused. */
static void drop_idle_counters(struct bperf *bperf)
{
	for (int i = 0; i < NR_BPF_COUNTERS; i++) {
		if (!bperf->counters[i] || has_events(bperf, kinds[i], true))
			continue;
		kinds[i]->delete (bperf->counters[i]);
		bperf->counters[i] = NULL;
	}
}

/* Become one of the leader's sessions. */
static int join(struct bperf *bperf, const char *otherwise)
{
	const struct counter_plan *plan = bperf->base.plan;
	char *path __cleanup(free_ptr) =
		plan->attr_map_path ? strdup(plan->attr_map_path) : attr_map__path();
	int err;

	if (!path)
		return -ENOMEM;
	err = attr_map__open(path, plan->trusted_owners, otherwise, &bperf->attr_map);
	if (!err)
		err = session__join(bperf->attr_map, &bperf->leader);
	return err == -EUSERS ? bperf__leave_for_room(bperf, session__why_full()) : err;
}

/* Resume a parked session: it is still registered. */
static int unpark(struct bperf *bperf, const char *otherwise)
{
	attr_map__expect(bperf->attr_map, otherwise);
	(void)session__clean_up(bperf->leader, false); /* otherwise the next session does it */
	return 0;
}

static int open_targets(struct bperf *bperf)
{
	int err = 0;

	for_each_counter(bperf, counter)
	{
		if (!err)
			err = counter->ops->open(counter);
	}
	return err;
}

static int bperf__open(struct counter *self)
{
	struct bperf *bperf = to_bperf(self);
	int err = make_counters(bperf);
	const char *otherwise = bperf__otherwise(bperf);

	if (!err)
		err = bperf->leader ? unpark(bperf, otherwise) : join(bperf, otherwise);
	if (err)
		counter__refused(self, NULL, -err);
	if (!err)
		err = check_late(bperf);
	if (!err)
		err = bperf__open_events(bperf);
	/* Foreign followers are looked for without the lock: they get the new events, or serving ends. */
	if (!err && bperf_leader__is_serving(bperf->leader))
		(void)session__clean_up(bperf->leader, false); /* or the next session does it */
	if (!err) {
		drop_idle_counters(bperf);
		err = open_targets(bperf);
	}
	if (!err)
		err = open_wakeups(bperf);
	/* A session that could not get a lock does not wait a second time to leave. */
	bperf->gives_up = err == -ETIMEDOUT;
	return err == -ETIMEDOUT && !bperf__is_only_shared(bperf) ? COUNT_OTHERWISE : err;
}

/* --- counting --- */

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

static void set_enabled(struct bperf *bperf, bool is_enabled)
{
	if (bperf->is_enabled == is_enabled)
		return;
	bperf->is_enabled = is_enabled;
	for_each_counter(bperf, counter)
	{
		if (counter->ops->set_enabled)
			counter->ops->set_enabled(counter, is_enabled);
	}
}

static int bperf__enable(struct counter *self)
{
	struct bperf *bperf = to_bperf(self);

	if (!want_all(bperf, true))
		return 0;
	set_enabled(bperf, true);
	bperf__account(bperf);
	return 0;
}

static int bperf__disable(struct counter *self)
{
	struct bperf *bperf = to_bperf(self);

	if (!want_all(bperf, false))
		return 0;
	set_enabled(bperf, false);
	bperf__account(bperf);
	return 0;
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
	bperf__account(bperf);
	return 0;
}

static int bperf__read(struct counter *self)
{
	struct bperf *bperf = to_bperf(self);

	if (bperf->is_enabled)
		bperf__account(bperf);
	return 0;
}

/* Call an operation of each counter that has it, until one fails. */
#define call_each(self, op)                                                                        \
	({                                                                                         \
		int err_ = 0;                                                                      \
                                                                                                   \
		for_each_counter(to_bperf(self), counter)                                          \
		{                                                                                  \
			if (!err_ && counter->ops->op)                                             \
				err_ = counter->ops->op(counter);                                  \
		}                                                                                  \
		err_;                                                                              \
	})

static int bperf__poll_cgroups(struct counter *self)
{
	return call_each(self, poll_cgroups);
}

static int bperf__add_cgroups(struct counter *self)
{
	return call_each(self, add_cgroups);
}

static int bperf__drop_cgroups(struct counter *self)
{
	return call_each(self, drop_cgroups);
}

static int bperf__follow_progs(struct counter *self)
{
	return call_each(self, follow_progs);
}

static int bperf__wakeup_fd(struct counter *self)
{
	return to_bperf(self)->wakeup_fd;
}

static void bperf__handle_wakeup(struct counter *self)
{
	struct bperf *bperf = to_bperf(self);
	struct epoll_event events[3];
	uint64_t nr;
	int err = 0;

	epoll_wait(bperf->wakeup_fd, events, ARRAY_SIZE(events), 0);
	look_for_late(bperf);
	if (read(bperf->timer_fd, &nr, sizeof(nr)) > 0 && bperf->has_foreign)
		err = foreign_watch__look(bperf->leader);
	if (!err)
		err = leader_wakeup__handle(bperf->leader);
	/* A session that counts does not wait for a lock. */
	if (err == -EWOULDBLOCK)
		err = set_timer(bperf, RETRY_NS);
	/* EINTR: the session ends now. */
	if (err && err != -EINTR)
		pr_warn("maintaining shared events failed: %s", strerror(-err));
}

/* --- the end --- */

static void report_errors(const struct evsel *evsel)
{
	const struct bperf_evsel *priv = evsel->priv;
	struct bpf_counter *counter = priv->counter;
	__u32 nr = counter->ops->nr_failed ? counter->ops->nr_failed(counter, evsel) : 0;
	int err = priv->last_err;

	if (nr)
		err = evsel->attr.pinned ? EBUSY : ENOENT;
	nr += priv->nr_errors;
	if (nr)
		pr_warn("'%s': %u readings failed, its counts are short: %s", evsel->name, nr,
			err == EBUSY  ? "a pinned event found no free counter" :
			err == ENOENT ? "a CPU had no perf event for it at that time" :
					strerror(err));
}

/* Warn about what could not be counted, and free the state of each event. */
static void end_counting(struct bperf *bperf)
{
	struct evsel *evsel;
	int i;

	evlist__for_each(bperf->base.plan->evlist, evsel, i) {
		if (evsel->counter == &bperf->base && evsel->priv)
			report_errors(evsel);
	}
	if (bperf->leader)
		look_for_late(bperf);
	evlist__for_each(bperf->base.plan->evlist, evsel, i) {
		if (evsel->counter != &bperf->base)
			continue;
		free(evsel->priv);
		evsel->priv = NULL;
	}
	for_each_counter(bperf, counter)
	{
		if (counter->ops->report)
			counter->ops->report(counter);
	}
}

/* Have the counters end what the leader does not end itself; nothing waits for a lock from now on. */
static void leave_targets(struct bperf *bperf)
{
	attr_map__expect(bperf->attr_map, NULL);
	for_each_counter(bperf, counter)
	{
		if (counter->ops->leave)
			counter->ops->leave(counter);
	}
}

/* Free the targets, which the registry has forgotten: open() may follow. */
static void forget_targets(struct bperf *bperf)
{
	for (int i = 0; i < NR_BPF_COUNTERS; i++) {
		if (bperf->counters[i])
			kinds[i]->delete (bperf->counters[i]);
		bperf->counters[i] = NULL;
	}
	close_fd(&bperf->wakeup_fd);
	close_fd(&bperf->timer_fd);
	bperf->is_enabled = false;
}

static int bperf__park(struct counter *self)
{
	struct bperf *bperf = to_bperf(self);
	int err;

	end_counting(bperf);
	leave_targets(bperf);
	err = session__leave_scopes(bperf->leader);
	forget_targets(bperf);
	bperf->gives_up = err == -ETIMEDOUT;
	return err;
}

static void bperf__destroy(struct counter *self)
{
	struct bperf *bperf = to_bperf(self);
	int err;

	end_counting(bperf);
	if (bperf->leader && bperf->gives_up) {
		foreign_pins__make(bperf->leader);
	} else if (bperf->leader) {
		leave_targets(bperf);
		/* A follower came just now, and all others may be stopped. */
		if (foreign_followers__is_wanted(bperf->leader))
			(void)leader_wakeup__serve(bperf->leader);
		err = session__leave(bperf->leader);
		if (err)
			pr_verbose("the next session cleans up after this one: %s", strerror(-err));
	}
	forget_targets(bperf);
	bperf_leader__delete(bperf->leader);
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
	.poll_cgroups = bperf__poll_cgroups,
	.add_cgroups = bperf__add_cgroups,
	.drop_cgroups = bperf__drop_cgroups,
	.follow_progs = bperf__follow_progs,
	.wakeup_fd = bperf__wakeup_fd,
	.handle_wakeup = bperf__handle_wakeup,
	.park = bperf__park,
	.destroy = bperf__destroy,
};

struct counter *counter_bperf__new(const struct counter_plan *plan)
{
	struct bperf *bperf = calloc(1, sizeof(*bperf));

	if (!bperf)
		return NULL;
	bperf->base.ops = &bperf_ops;
	bperf->wakeup_fd = -1;
	bperf->timer_fd = -1;
	bperf->base.plan = plan;
	return &bperf->base;
}
