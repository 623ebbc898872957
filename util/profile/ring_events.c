// SPDX-License-Identifier: GPL-2.0
#include "util/profile/ring_events.h"

#include "util/event/evlist.h"
#include "util/event/open_error.h"
#include "util/host/cgroup_times.h"
#include "util/host/cpumap.h"
#include "util/host/perf_event.h"
#include "util/host/wide_attr.h"
#include "util/lib/array.h"
#include "util/lib/msg.h"
#include "util/lib/util.h"
#include "util/profile/cgroup_names.h"
#include "util/target/cgroup_list.h"
#include "util/target/target.h"
#include "util/target/thread_map.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>

/* 512 KB: with its first page what kernel.perf_event_mlock_kb allows ordinary users on each CPU. */
#define RING_PAGES_SHIFT 7

/* Since Linux 6.0; not in all headers */
#define FORMAT_LOST (1U << 4)

/* The target of one event: a thread, a cgroup's directory, or all tasks of a CPU. */
struct instance {
	pid_t pid; /* or descriptor of the cgroup */
	unsigned long flags;
};

/* --- one event --- */

static void fill_attr(const struct ring_events *ring, const struct ring_request *request, int event,
		      union wide_attr *wide)
{
	const struct evsel *evsel = request->events->evsels[event];
	struct perf_event_attr *attr = &wide->attr;
	const struct sampler_options *options = request->options;
	bool has_user = options->key & SAMPLE_USER_STACK,
	     has_kernel = options->key & SAMPLE_KERNEL_STACK;
	bool is_first = !event;

	*attr = evsel->attr;
	memcpy(wide->bytes + MORE_CONFIG_OFFSET, evsel->more_config, sizeof(evsel->more_config));
	wide_attr__set_size(wide);
	attr->sample_type = RING_SAMPLE_TYPE;
	if (has_user || has_kernel)
		attr->sample_type |= PERF_SAMPLE_CALLCHAIN;
	if (options->key & SAMPLE_ADDR)
		attr->sample_type |= PERF_SAMPLE_ADDR;
	if (options->key & SAMPLE_CGROUP)
		attr->sample_type |= PERF_SAMPLE_CGROUP;
	attr->exclude_callchain_kernel = !has_kernel;
	attr->exclude_callchain_user = !has_user;
	attr->freq = options->rate_kind == SAMPLE_BY_FREQ;
	if (attr->freq)
		attr->sample_type |= PERF_SAMPLE_PERIOD;
	attr->sample_freq = options->rate;
	attr->read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING |
			    (ring->lacks_lost ? 0 : FORMAT_LOST);
	attr->disabled = 1;
	attr->inherit = request->threads && !options->target->no_inherit;
	attr->sample_id_all = 1;
	/* Each record once: from the first event. */
	attr->comm = attr->comm_exec = attr->task = is_first;
	attr->mmap = attr->mmap2 = is_first && request->has_maps;
	attr->ksymbol = attr->mmap && !request->threads;
	attr->use_clockid = 1;
	/* Hardware events refuse clocks that an NMI cannot read, such as that of the boot. */
	attr->clockid = CLOCK_MONOTONIC;
	attr->watermark = 1;
	attr->wakeup_watermark = 1U << 30; /* never: perf looks by itself */
}

/* Older kernels have no number of lost records. Ordinary users may sample their tasks, but not the kernel's part of them. */
static bool ask_less(struct ring_events *ring, struct evsel *evsel,
		     const struct ring_request *request, int err)
{
	if (err == -EINVAL && !ring->lacks_lost && !ring->nr)
		return ring->lacks_lost = true;
	if (err != -EACCES || !request->threads || perf_event__paranoid() <= 1)
		return false;
	if (!ring->hides_modes) {
		ring->hides_modes = true;
		return true;
	}
	/* Without both modes it would count nothing. */
	return !evsel->attr.exclude_user && !evsel__exclude_kernel(evsel);
}

static int open_fd(struct ring_events *ring, const struct ring_request *request, int event,
		   const struct instance *instance, int cpu)
{
	struct evsel *evsel = request->events->evsels[event];
	union wide_attr wide;
	int fd;

	do {
		fill_attr(ring, request, event, &wide);
		/* A program of the user's sees the modes that he asked for. */
		if (!ring->hides_modes && !request->options->prog_fd)
			perf_event__sample_all_modes(&wide.attr);
		fd = perf_event__open(&wide.attr, instance->pid, cpu, -1, instance->flags);
	} while (fd < 0 && ask_less(ring, evsel, request, fd));
	return fd;
}

/* Give an event the ring buffer of its CPU. */
static int set_output(struct ring_events *ring, int cpu_idx, int fd)
{
	int err;

	if (ring->owners[cpu_idx] >= 0)
		return ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, ring->owners[cpu_idx]) ? -errno : 0;
	err = perf_ring__map(&ring->rings[cpu_idx], fd, RING_PAGES_SHIFT);
	if (err == -EPERM)
		pr_err("no memory for ring buffers: above kernel.perf_event_mlock_kb");
	else if (err)
		pr_err("no ring buffer: %s", strerror(-err));
	else
		ring->owners[cpu_idx] = fd;
	return err;
}

static int add_fd(struct ring_events *ring, int event, int cpu_idx, int fd, int prog_fd)
{
	struct ring_fd *added = array__add(ring->fds, ring->nr);
	uint64_t id;

	if (!added) {
		close(fd);
		return -ENOMEM;
	}
	*added = (struct ring_fd){fd, event};
	if (ioctl(fd, PERF_EVENT_IOC_ID, &id))
		return -errno;
	if (prog_fd && event != RING_BUILD_IDS && ioctl(fd, PERF_EVENT_IOC_SET_BPF, prog_fd)) {
		int err = -errno;

		pr_err("the program cannot be attached to samples: %s", strerror(-err));
		return err;
	}
	if (id_map__set(&ring->by_id, id, event))
		return -ENOMEM;
	return set_output(ring, cpu_idx, fd);
}

/* A thread that has ended and a CPU that is offline are no errors as long as others are there. */
static bool is_absent(int err)
{
	return err == -ESRCH || err == -ENODEV;
}

/*
 * A record of a mapping has either the inode of the file or its build id. So one more event delivers the
 * build ids. It needs no right that the first event does not need.
 */
static int open_ids_fd(const struct instance *instance, int cpu, bool inherit)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_DUMMY,
		.size = sizeof(attr),
		.sample_type = RING_SAMPLE_TYPE,
		.sample_id_all = 1,
		.disabled = 1,
		.inherit = inherit,
		.exclude_kernel = 1,
		.exclude_hv = 1,
		.mmap = 1,
		.mmap2 = 1,
		.build_id = 1,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
		.watermark = 1,
		.wakeup_watermark = 1U << 30, /* never: perf looks by itself */
	};

	return perf_event__open(&attr, instance->pid, cpu, -1, instance->flags);
}

/* Return: 0, also without the event; -errno of a ring buffer */
static int add_ids(struct ring_events *ring, const struct ring_request *request,
		   const struct instance *instance)
{
	bool inherit = request->threads && !request->options->target->no_inherit;

	for (int i = 0; i < ring->cpus->nr && !ring->lacks_ids; i++) {
		int fd, err;

		if (ring->owners[i] < 0)
			continue;
		fd = open_ids_fd(instance, ring->cpus->cpu[i], inherit);
		ring->lacks_ids = fd < 0 && !is_absent(fd);
		err = fd < 0 ? 0 : add_fd(ring, RING_BUILD_IDS, i, fd, 0);
		if (err)
			return err;
	}
	return 0;
}

static int open_instance(struct ring_events *ring, const struct ring_request *request,
			 const struct instance *instance)
{
	for (int event = 0; event < request->events->nr; event++) {
		for (int i = 0; i < ring->cpus->nr; i++) {
			int fd = open_fd(ring, request, event, instance, ring->cpus->cpu[i]), err;

			if (is_absent(fd))
				continue;
			if (fd < 0) {
				request->events->evsels[event]->err = -fd;
				return fd;
			}
			err = add_fd(ring, event, i, fd, request->options->prog_fd);
			if (err)
				return err;
		}
	}
	return add_ids(ring, request, instance);
}

/* --- all --- */

static int open_cgroup(struct ring_events *ring, const struct ring_request *request,
		       const struct cgroup *cgroup)
{
	int fd __cleanup(close_fd) = open(cgroup->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	const struct instance instance = {fd, PERF_FLAG_PID_CGROUP};

	if (!ring->times.nr)
		cgroup_times__start(&ring->times, cgroup->dir, ring->cpus);
	return fd < 0 ? 0 : open_instance(ring, request, &instance);
}

/* Return: whether the events of another cgroup of the list have all samples of this one. */
static bool has_ancestor(const struct sampler_options *options, int idx)
{
	const struct cgroup *cgroup = options->cgroups[idx];

	for (int i = 0; i < options->nr_cgroups; i++) {
		const struct cgroup *other = options->cgroups[i];

		if (cgroup_names__is_below(cgroup->dir, other->dir) &&
		    (i < idx || other->id != cgroup->id))
			return true;
	}
	return false;
}

static int open_cgroups(struct ring_events *ring, const struct ring_request *request)
{
	const struct sampler_options *options = request->options;
	const struct instance all = {.pid = -1};
	int err = 0;

	for (int i = 0; i < options->nr_cgroups && !err; i++) {
		if (has_ancestor(options, i))
			continue;
		err = cgroup__is_root(options->cgroups[i]) ?
			      open_instance(ring, request, &all) :
			      open_cgroup(ring, request, options->cgroups[i]);
	}
	return err;
}

static int open_all(struct ring_events *ring, const struct ring_request *request)
{
	const struct instance all = {.pid = -1};
	int err = 0;

	if (request->options->nr_cgroups)
		return open_cgroups(ring, request);
	if (request->threads) {
		for (int i = 0; i < request->threads->nr && !err; i++) {
			const struct instance thread = {.pid = request->threads->thread[i].tid};

			err = open_instance(ring, request, &thread);
		}
		return err;
	}
	return open_instance(ring, request, &all);
}

static void report_refusal(const struct ring_request *request)
{
	for (int i = 0; i < request->events->nr; i++) {
		const struct evsel *evsel = request->events->evsels[i];
		char *text __cleanup(free_ptr) = NULL;

		if (!evsel->err)
			continue;
		text = open_error__text(evsel, request->options->target);
		pr_err("%s", text ? text : strerror(evsel->err));
	}
}

/* Files of other tasks, without which samples have no names, need some that are left. */
static int reserve(struct ring_events *ring, const struct ring_request *request)
{
	int nr_cgroups = request->options->nr_cgroups;
	unsigned long nr_targets = request->threads ? request->threads->nr : nr_cgroups;
	unsigned long nr_each = (nr_targets ? nr_targets : 1) * ring->cpus->nr;
	unsigned long nr_ids = request->has_maps ? nr_each : 0;
	/* The times of cgroups need an event on each CPU. */
	unsigned long nr = nr_each * request->events->nr + (nr_cgroups ? ring->cpus->nr : 0);
	unsigned long limit = 0;
	int err;

	ring->lacks_ids = !nr_ids || perf_event__reserve(nr + nr_ids, &limit);
	err = ring->lacks_ids ? perf_event__reserve(nr, &limit) : 0;
	if (err)
		pr_err("cannot sample: too many open files: the limit is %lu, sampling needs %lu: raise the limit with ulimit -n",
		       limit, nr + PERF_EVENT_SPARE_FDS);
	return err;
}

int ring_events__open(struct ring_events *ring, const struct ring_request *request)
{
	const struct cpumap *cpus = request->options->cpus;
	int err;

	*ring = (struct ring_events){};
	ring->cpus = cpus ? cpumap__dup(cpus) : cpumap__online();
	if (!ring->cpus)
		return -errno;
	ring->rings = calloc(ring->cpus->nr, sizeof(*ring->rings));
	ring->owners = malloc(ring->cpus->nr * sizeof(*ring->owners));
	if (!ring->rings || !ring->owners)
		return -ENOMEM;
	memset(ring->owners, 0xff, ring->cpus->nr * sizeof(*ring->owners));
	err = reserve(ring, request);
	if (err)
		return err;
	err = open_all(ring, request);
	if (err)
		report_refusal(request);
	if (!err && !ring->nr && !request->options->target->may_have_ended)
		err = -ESRCH;
	return err;
}

void ring_events__close(struct ring_events *ring)
{
	for (int i = 0; ring->rings && i < ring->cpus->nr; i++)
		perf_ring__unmap(&ring->rings[i]);
	for (int i = 0; i < ring->nr; i++)
		close_fd(&ring->fds[i].fd);
	free(ring->fds);
	cgroup_times__stop(&ring->times);
	free(ring->rings);
	free(ring->owners);
	cpumap__delete(ring->cpus);
	id_map__clear(&ring->by_id);
	*ring = (struct ring_events){};
}

int ring_events__set(struct ring_events *ring, bool enable)
{
	for (int i = 0; i < ring->nr; i++) {
		if (ioctl(ring->fds[i].fd, enable ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE,
			  0))
			return -errno;
	}
	return 0;
}

void ring_events__read(const struct ring_events *ring, int event, struct ring_count *count)
{
	*count = (struct ring_count){};
	for (int i = 0; i < ring->nr; i++) {
		struct {
			uint64_t counted, enabled_ns, running_ns, lost;
		} one;
		size_t size = sizeof(one) - (ring->lacks_lost ? sizeof(one.lost) : 0);

		if (ring->fds[i].event != event)
			continue;
		one.lost = 0;
		if (read(ring->fds[i].fd, &one, size) != (ssize_t)size) {
			count->failed++;
			continue;
		}
		count->counted += one.counted;
		count->enabled_ns += one.enabled_ns;
		count->running_ns += one.running_ns;
		count->lost += one.lost;
		count->nr += one.counted != 0;
	}
}
