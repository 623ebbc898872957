// SPDX-License-Identifier: GPL-2.0
#include "util/counter/plain.h"

#include "util/counter/counter.h"
#include "util/event/counts.h"
#include "util/event/evlist.h"
#include "util/host/cgroup_times.h"
#include "util/host/cpumap.h"
#include "util/host/perf_event.h"
#include "util/lib/msg.h"
#include "util/lib/util.h"
#include "util/target/cgroup_list.h"
#include "util/target/target.h"
#include "util/target/thread_map.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

struct plain_evsel {
	struct evsel *group;	 /* the first member that opened: its descriptor leads */
	int nr_group;		 /* of the first member: how many opened */
	bool in_group;		 /* read with PERF_FORMAT_GROUP */
	int nr_failed, last_err; /* requests that the kernel did not carry out */
	int fds[];		 /* as evsel->counts; -1: the thread was gone, the CPU offline */
};

struct plain {
	struct counter base;
	struct cgroup_times times; /* if events of cgroups are open */
	bool exec_enables;	   /* the first enable() is the workload's exec */
	bool is_enabled;
	bool has_warned; /* about the limit of descriptors */
};

static struct plain *to_plain(struct counter *counter)
{
	return (struct plain *)counter;
}

static int nr_threads(const struct evsel *evsel)
{
	return evsel->threads ? evsel->threads->nr : 1;
}

static pid_t thread_at(const struct evsel *evsel, int thread)
{
	return evsel->threads ? evsel->threads->thread[thread].tid : -1;
}

static int nr_fds(const struct evsel *evsel)
{
	return evsel->cpus->nr * nr_threads(evsel);
}

static int *fd_at(const struct evsel *evsel, int cpu_idx, int thread)
{
	struct plain_evsel *priv = evsel->priv;

	return &priv->fds[cpu_idx * nr_threads(evsel) + thread];
}

static void fill_attr(const struct counter_plan *plan, const struct evsel *evsel, bool leads,
		      bool in_group, union wide_attr *wide)
{
	struct perf_event_attr *attr = &wide->attr;

	memset(wide, 0, sizeof(*wide));
	*attr = evsel->attr;
	memcpy(wide->bytes + MORE_CONFIG_OFFSET, evsel->more_config, sizeof(evsel->more_config));
	wide_attr__set_size(wide);
	attr->read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	if (in_group)
		attr->read_format |= PERF_FORMAT_GROUP | PERF_FORMAT_ID;
	attr->sample_type = PERF_SAMPLE_IDENTIFIER;
	attr->inherit = evsel->threads && !plan->target->no_inherit;
	attr->disabled = leads;
	attr->enable_on_exec = leads && plan->enable_on_exec;
	/* Only the group's leader may be pinned or exclusive. */
	if (!leads)
		attr->exclusive = 0;
}

/* Ordinary users may count their tasks, but not the kernel's part of them. */
static bool is_level_denied(const struct evsel *evsel, int err)
{
	return err == -EACCES && evsel->threads && !evsel->attr.exclude_kernel &&
	       evsel__has_levels(evsel) && perf_event__paranoid() > 1;
}

/*
 * Retry with a weaker event: user-only, host-only, or a clock instead of cycles. An event of the kernel
 * only has nothing weaker. A clock counts something else, so it replaces the event on all CPUs or none.
 * Return: whether to try again.
 */
static bool ask_less(struct evsel *evsel, int err, bool is_first)
{
	if (is_level_denied(evsel, err))
		return !evsel->attr.exclude_user && !evsel__exclude_kernel(evsel);
	if (err == -EOPNOTSUPP && !evsel->attr.exclude_host)
		return !evsel__exclude_guest(evsel);
	return err == -ENODEV && is_first && !evsel__use_clock(evsel, evsel->threads);
}

/* Warn about tasks named by the user only: of all tasks in /proc some always are about to end. */
static void warn_gone(const struct counter *self, const struct evsel *evsel, int thread)
{
	if (target__is_attached(self->plan->target) && !evsel->idx)
		pr_warn("thread %d has ended: not counted", thread_at(evsel, thread));
}

/* @cgroup: descriptor of the directory; -1: the event is not restricted to a cgroup */
static int open_one(struct counter *self, struct evsel *evsel, struct evsel *group, int cpu_idx,
		    int thread, int cgroup)
{
	const struct plain_evsel *priv = evsel->priv;
	int cpu = evsel->cpus->cpu[cpu_idx];
	pid_t pid = cgroup >= 0 ? cgroup : thread_at(evsel, thread);
	union wide_attr wide;
	int group_fd = group ? *fd_at(group, cpu_idx, thread) : -1, fd;

	/* Its count would pass for a latency. */
	if (evsel->is_latency)
		return -EOPNOTSUPP;
	do {
		fill_attr(self->plan, evsel, !group, priv->in_group, &wide);
		fd = perf_event__open(&wide.attr, pid, cpu, group_fd,
				      cgroup >= 0 ? PERF_FLAG_PID_CGROUP : 0);
	} while (fd < 0 && ask_less(evsel, fd, !cpu_idx && !thread));
	return fd;
}

/*
 * Return: whether the kernel has to look at the cgroup. For the root it need not. Moreover, the times of
 * such an event are wrong while no task of another cgroup comes (seen on 6.12, 6.18 and 7.3).
 */
static bool is_in_cgroup(const struct evsel *evsel)
{
	return evsel->cgroup && !cgroup__is_root(evsel->cgroup);
}

/*
 * Open all instances of one event. A thread that has ended is no error as long as others exist. Nor is
 * a CPU that is offline (ENODEV): it went offline after the list was read, or the list was made for
 * shared events.
 * Return: 0 or the errno that refuses the event as such.
 */
static int open_evsel(struct counter *self, struct evsel *evsel, struct evsel *group)
{
	bool is_single = nr_threads(evsel) == 1;
	int nr_open = 0, err = -ESRCH;
	int cgroup __cleanup(close_fd) = -1;

	/* In a group, the kernel refuses to mix cgroups. */
	if (is_in_cgroup(evsel) || (evsel->cgroup && group && is_in_cgroup(group))) {
		cgroup = open(evsel->cgroup->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (cgroup < 0)
			return errno == ENOENT ? -ESRCH : -errno;
	}
	for (int thread = 0; thread < nr_threads(evsel); thread++) {
		for (int i = 0; i < evsel->cpus->nr; i++) {
			int fd;

			if (group && *fd_at(group, i, thread) < 0)
				continue;
			fd = open_one(self, evsel, group, i, thread, cgroup);
			if (fd >= 0) {
				*fd_at(evsel, i, thread) = fd;
				nr_open++;
				continue;
			}
			err = fd;
			if (fd == -ENODEV && evsel->cpus->nr > 1)
				continue;
			if (fd == -ESRCH && !is_single) {
				warn_gone(self, evsel, thread);
				break;
			}
			return err;
		}
	}
	return nr_open ? 0 : err;
}

static void close_evsel(struct evsel *evsel)
{
	struct plain_evsel *priv = evsel->priv;

	if (!priv)
		return;
	if (priv->nr_failed)
		pr_warn("'%s': %d times it could not be read or switched (%s): its counts may be wrong",
			evsel->name, priv->nr_failed, strerror(priv->last_err));
	for (int i = 0; i < nr_fds(evsel); i++)
		close_fd(&priv->fds[i]);
	free(priv);
	evsel->priv = NULL;
}

static int alloc_priv(struct evsel *evsel, bool in_group)
{
	struct plain_evsel *priv = malloc(sizeof(*priv) + nr_fds(evsel) * sizeof(int));

	if (!priv)
		return -ENOMEM;
	priv->group = NULL;
	priv->nr_group = 0;
	priv->in_group = in_group;
	priv->nr_failed = priv->last_err = 0;
	memset(priv->fds, -1, nr_fds(evsel) * sizeof(int));
	evsel->priv = priv;
	return evsel->counts ? 0 : evsel__alloc_counts(evsel);
}

/* Leave out members that the kernel refuses; the first that opens leads. -EAGAIN: try singly. */
static int open_group(struct counter *self, struct evsel *const *group, int nr, bool is_weak)
{
	struct evsel *leads = NULL;

	for (int i = 0; i < nr; i++) {
		struct evsel *evsel = group[i];
		int err = alloc_priv(evsel, nr > 1);

		if (err)
			return err;
		err = open_evsel(self, evsel, leads);
		if (!err) {
			struct plain_evsel *priv = evsel->priv;

			if (!leads)
				leads = evsel;
			priv->group = leads;
			((struct plain_evsel *)leads->priv)->nr_group++;
			evsel->state = EVSEL_COUNTING;
			continue;
		}
		close_evsel(evsel);
		if (is_weak && nr > 1 && (err == -EINVAL || err == -EBADF)) {
			while (i--)
				close_evsel(group[i]);
			return -EAGAIN;
		}
		evsel->err = -err;
		counter__refused(self, evsel, -err);
		evsel->state = perf_event__is_unsupported(err) || is_level_denied(evsel, err) ?
				       EVSEL_NOT_SUPPORTED :
				       EVSEL_SKIPPED;
	}
	return 0;
}

/* The kernel checks a filter only when it is set. */
static int set_filter(const struct evsel *evsel)
{
	const struct plain_evsel *priv = evsel->priv;

	for (int n = 0; n < nr_fds(evsel); n++) {
		int err;

		if (priv->fds[n] < 0 ||
		    !ioctl(priv->fds[n], PERF_EVENT_IOC_SET_FILTER, evsel->filter))
			continue;
		err = -errno;
		pr_err("--filter '%s': the kernel refuses it for '%s': %s (see %s/events/*/*/format)",
		       evsel->filter, evsel->name, strerror(-err), tracefs_root());
		return err;
	}
	return 0;
}

static int set_filters(struct counter *self)
{
	struct evsel *evsel;
	int err = 0, i;

	evlist__for_each(self->plan->evlist, evsel, i) {
		if (!err && evsel->counter == self && evsel->state == EVSEL_COUNTING &&
		    evsel->filter)
			err = set_filter(evsel);
	}
	return err;
}

static bool is_to_open(const struct counter *self, const struct evsel *evsel)
{
	return evsel->counter == self && evsel->state == EVSEL_UNOPENED &&
	       (!evsel->cgroup || evsel->cgroup->state != CGROUP_FREE);
}

/* Check the limit first: each event of each cgroup needs a descriptor for each online CPU, and so do their times. */
static int reserve(struct counter *self)
{
	unsigned long nr = 0, nr_cgroups = 0, nr_times, limit = 0;
	struct plain *plain = to_plain(self);
	const struct cgroup *last = NULL;
	struct cpumap *online = cpumap__online();
	struct evsel *evsel;
	int i, err;

	evlist__for_each(self->plan->evlist, evsel, i) {
		if (evsel->counter != self || !evsel->cgroup || evsel->cgroup->state == CGROUP_FREE)
			continue;
		nr += online && online->nr < evsel->cpus->nr ? online->nr : evsel->cpus->nr;
		nr_cgroups += evsel->cgroup != last;
		last = evsel->cgroup;
	}
	nr_times = online && !plain->times.nr ? online->nr : 0;
	cpumap__delete(online);
	err = nr ? perf_event__reserve(nr + nr_times, &limit) : 0;
	if (err == -EMFILE && !plain->has_warned)
		pr_err("counting by cgroup needs %lu descriptors (cgroups: %lu, events of each on each CPU, and one more on each CPU), but the limit is %lu (raise it with ulimit -n, or count with --bpf-counters)",
		       nr + nr_times, nr_cgroups, limit);
	plain->has_warned |= err == -EMFILE;
	return err;
}

/* The CPUs of events of cgroups; owned. Return: NULL if there are none, or without memory. @dir: of one of them */
static struct cpumap *cgroup_cpus(const struct counter *self, const char **dir)
{
	struct cpumap *cpus = NULL;
	struct evsel *evsel;
	int i;

	evlist__for_each(self->plan->evlist, evsel, i) {
		struct cpumap *before = cpus;

		if (evsel->counter != self || evsel->state != EVSEL_COUNTING ||
		    !is_in_cgroup(evsel))
			continue;
		*dir = evsel->cgroup->dir;
		if (before && cpumap__equal(before, evsel->cpus))
			continue;
		cpus = before ? cpumap__or(before, evsel->cpus) : cpumap__dup(evsel->cpus);
		cpumap__delete(before);
	}
	return cpus;
}

static void start_times(struct counter *self)
{
	struct plain *plain = to_plain(self);
	const char *dir = NULL;
	struct cpumap *cpus = plain->times.nr ? NULL : cgroup_cpus(self, &dir);

	if (cpus)
		cgroup_times__start(&plain->times, dir, cpus);
	cpumap__delete(cpus);
}

static int plain__open(struct counter *self)
{
	struct evlist *evlist = self->plan->evlist;
	int err = reserve(self);

	for (int i = 0; i < evlist->nr && !err; i++) {
		struct evsel *evsel = evlist->evsels[i];

		if (!is_to_open(self, evsel) || !evsel__is_leader(evsel))
			continue;
		err = open_group(self, &evlist->evsels[i], evsel->nr_members, evsel->weak);
		if (err != -EAGAIN)
			continue;
		err = 0;
		for (int m = 0; m < evsel->nr_members && !err; m++)
			err = open_group(self, &evlist->evsels[i + m], 1, false);
	}
	if (!err)
		start_times(self);
	return err ? err : set_filters(self);
}

/* --- counting --- */

static bool leads_group(const struct counter *self, const struct evsel *evsel)
{
	return evsel->counter == self && evsel->state == EVSEL_COUNTING &&
	       ((struct plain_evsel *)evsel->priv)->group == evsel;
}

static bool is_new(const struct evsel *evsel)
{
	return evsel->cgroup && evsel->cgroup->state == CGROUP_NEW;
}

/* Counting goes on; the failure is reported when the event is closed. */
static void note_failure(const struct evsel *leads)
{
	struct plain_evsel *priv = leads->priv;

	priv->last_err = errno;
	priv->nr_failed++;
}

static void control_group(const struct evsel *leads, unsigned long request)
{
	const struct plain_evsel *priv = leads->priv;

	for (int n = 0; n < nr_fds(leads); n++) {
		if (priv->fds[n] >= 0 && ioctl(priv->fds[n], request, 0))
			note_failure(leads);
	}
}

/* @only_new: only events of new cgroups */
static int control_all(struct counter *self, unsigned long request, bool only_new)
{
	struct evsel *evsel;
	int i;

	evlist__for_each(self->plan->evlist, evsel, i) {
		if (leads_group(self, evsel) && (!only_new || is_new(evsel)))
			control_group(evsel, request);
	}
	return 0;
}

static int plain__enable(struct counter *self)
{
	struct plain *plain = to_plain(self);

	plain->is_enabled = true;
	if (plain->exec_enables) {
		plain->exec_enables = false;
		return 0;
	}
	return control_all(self, PERF_EVENT_IOC_ENABLE, false);
}

static int plain__disable(struct counter *self)
{
	to_plain(self)->is_enabled = false;
	return control_all(self, PERF_EVENT_IOC_DISABLE, false);
}

static int plain__set_event(struct counter *self __unused, struct evsel *evsel, bool counts)
{
	const struct plain_evsel *priv = evsel->priv;

	if (evsel->state != EVSEL_COUNTING)
		return 0;
	control_group(priv->group, counts ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE);
	return 0;
}

/* Their rows are printed as <not counted>; the others go on. */
static void give_up_new(struct counter *self)
{
	struct evsel *evsel;
	int i;

	evlist__for_each(self->plan->evlist, evsel, i) {
		if (evsel->counter != self || !is_new(evsel) || evsel->state != EVSEL_UNOPENED)
			continue;
		evsel->state = EVSEL_SKIPPED;
		evsel->err = EMFILE;
	}
}

static int plain__add_cgroups(struct counter *self)
{
	int err = plain__open(self);

	if (err == -EMFILE) {
		give_up_new(self);
		return 0;
	}
	return !err && to_plain(self)->is_enabled ? control_all(self, PERF_EVENT_IOC_ENABLE, true) :
						    err;
}

static int plain__drop_cgroups(struct counter *self)
{
	struct evsel *evsel;
	int i;

	evlist__for_each(self->plan->evlist, evsel, i) {
		if (evsel->counter != self || !evsel->cgroup || evsel->cgroup->state != CGROUP_GONE)
			continue;
		close_evsel(evsel);
		evsel->state = EVSEL_UNOPENED;
	}
	return 0;
}

/*
 * Single: {value, enabled, running}; in a group: {nr, enabled, running, nr * {value, id}}.
 * Return: -ENODATA at the end of file: a pinned event that found no counter.
 */
static int read_instance(const struct evsel *leads, struct evsel *const *members, int n)
{
	const struct plain_evsel *priv = leads->priv;
	size_t size = (3 + 2 * priv->nr_group) * sizeof(uint64_t);
	uint64_t *buf __cleanup(free_ptr) = malloc(size);
	ssize_t len;

	if (!buf)
		return -ENOMEM;
	if (priv->fds[n] < 0)
		return 0;
	len = read(priv->fds[n], buf, size);
	/* The last reading stays; the count lacks what came after it. */
	if (len < 0) {
		note_failure(leads);
		return 0;
	}
	if (!len)
		return -ENODATA;
	for (int m = 0, seen = 0; seen < priv->nr_group; m++) {
		const struct plain_evsel *member = members[m]->priv;
		struct counts_values *count;

		if (!member || member->group != leads)
			continue;
		count = &members[m]->counts->values[n];
		if (priv->in_group)
			*count = (struct counts_values){buf[3 + 2 * seen], buf[1], buf[2]};
		else
			*count = (struct counts_values){buf[0], buf[1], buf[2]};
		seen++;
	}
	return 0;
}

/* A sum that lacks a part is no count of the event; Linux's perf has none then either. */
static void uncount_group(const struct evsel *leads, struct evsel *const *members)
{
	const struct plain_evsel *priv = leads->priv;

	for (int m = 0, seen = 0; seen < priv->nr_group; m++) {
		const struct plain_evsel *member = members[m]->priv;

		if (!member || member->group != leads)
			continue;
		memset(members[m]->counts->values, 0,
		       nr_fds(leads) * sizeof(members[m]->counts->values[0]));
		seen++;
	}
}

static int read_group(const struct evsel *leads, struct evsel *const *members)
{
	for (int n = 0; n < nr_fds(leads); n++) {
		int err = read_instance(leads, members, n);

		if (err == -ENODATA) {
			uncount_group(leads, members);
			return 0;
		}
		if (err)
			return err;
	}
	return 0;
}

static int plain__read(struct counter *self)
{
	struct evlist *evlist = self->plan->evlist;
	struct evsel *evsel;
	int err = 0, i;

	evlist__for_each(evlist, evsel, i) {
		if (!err && leads_group(self, evsel))
			err = read_group(evsel, &evlist->evsels[i]);
	}
	return err;
}

static void plain__destroy(struct counter *self)
{
	struct evsel *evsel;
	int i;

	evlist__for_each(self->plan->evlist, evsel, i) {
		if (evsel->counter == self)
			close_evsel(evsel);
	}
	cgroup_times__stop(&to_plain(self)->times);
	free(to_plain(self));
}

static const struct counter_ops plain_ops = {
	.name = "plain",
	.open = plain__open,
	.enable = plain__enable,
	.disable = plain__disable,
	.set_event = plain__set_event,
	.read = plain__read,
	.add_cgroups = plain__add_cgroups,
	.drop_cgroups = plain__drop_cgroups,
	.destroy = plain__destroy,
};

struct counter *counter_plain__new(const struct counter_plan *plan)
{
	struct plain *plain = calloc(1, sizeof(*plain));

	if (!plain)
		return NULL;
	plain->base.ops = &plain_ops;
	plain->base.plan = plan;
	plain->exec_enables = plan->enable_on_exec;
	return &plain->base;
}
