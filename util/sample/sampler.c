// SPDX-License-Identifier: GPL-2.0
#include "util/sample/sampler.h"

#include "util/bperf/attr_map.h"
#include "util/bperf/crash_point.h"
#include "util/bperf/late_cpus.h"
#include "util/bperf/leader.h"
#include "util/bperf/leader_tasks.h"
#include "util/bperf/leader_wakeup.h"
#include "util/bperf/scope.h"
#include "util/bperf/session.h"
#include "util/event/evlist.h"
#include "util/event/open_error.h"
#include "util/host/bpf_info.h"
#include "util/host/capability.h"
#include "util/host/cpumap.h"
#include "util/host/perf_event.h"
#include "util/lib/msg.h"
#include "util/lib/util.h"
#include "util/sample/sample_absent.h"
#include "util/sample/sample_account.h"
#include "util/sample/sample_collect.h"
#include "util/sample/sample_rate.h"
#include "util/sample/sample_scopes.h"
#include "util/sample/sample_slots.h"
#include "util/sample/sample_sync.h"
#include "util/sample/sample_table.h"
#include "util/sample/sampler_internal.h"
#include "util/target/target.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <unistd.h>

/*
 * How often dead sessions are looked for: a system call for each sampler. Their rates are given up within twice that
 * time. Until then only events interrupt too often, as they did for the dead.
 */
#define REPAIR_NS NSEC_PER_SEC

/* A session that is disabled for longer has no events. Others may sample more seldom than it does. */
#define IDLE_NS NSEC_PER_SEC

/* Time for others to take the lock of tasks. */
#define TURN_US 1000

/* Not an error of this session. @why: owned by this function; NULL: out of memory */
static int leave_for(const struct sampler *sampler, char *why)
{
	pr_warn("%s: %s", why ? why : strerror(ENOMEM), sampler->options.otherwise);
	free(why);
	return SAMPLE_OTHERWISE;
}

/* --- CPUs that the leader has no room for --- */

/* Return: 0, or SAMPLE_OTHERWISE for one that is there already. */
static int check_late(const struct sampler *sampler)
{
	struct cpumap *late = late_cpus__online(sampler->leader);
	int cpu = -1;

	for (int i = 0; late && cpu < 0 && i < late->nr; i++)
		cpu = sample_sync__has(sampler, late->cpu[i]) ? late->cpu[i] : -1;
	cpumap__delete(late);
	return cpu < 0 ? 0 : leave_for(sampler, late_cpus__text(cpu));
}

/* Warn if one has come since the session joined. */
static void look_for_late(struct sampler *sampler)
{
	int cpu = late_cpus__next(sampler->leader);
	char *why __cleanup(free_ptr) = NULL;

	if (cpu < 0 || !sample_sync__has(sampler, cpu) || sampler->has_late)
		return;
	sampler->has_late = true;
	why = late_cpus__text(cpu);
	pr_warn("%s: it is not sampled until all sessions have ended",
		why ? why : strerror(ENOMEM));
}

/* --- joining --- */

static int join(struct sampler *sampler)
{
	const struct sampler_options *options = &sampler->options;
	char *path __cleanup(free_ptr) =
		options->attr_map_path ? strdup(options->attr_map_path) : attr_map__path();
	int err;

	if (!path)
		return -ENOMEM;
	err = attr_map__open(path, options->trusted_owners, options->otherwise, &sampler->attr_map);
	if (!err)
		err = session__join(sampler->attr_map, &sampler->leader);
	return err == -EUSERS ? leave_for(sampler, session__why_full()) : err;
}

/* The programs wake all sessions: each needs an edge of its own. */
static int open_wakeups(struct sampler *sampler)
{
	struct epoll_event event = {.events = EPOLLIN | EPOLLET};
	int fd = leader_wakeup__fd(sampler->leader), err;

	sampler->wakeup_fd = epoll_create1(EPOLL_CLOEXEC);
	if (sampler->wakeup_fd >= 0 && !epoll_ctl(sampler->wakeup_fd, EPOLL_CTL_ADD, fd, &event))
		return 0;
	err = -errno;
	pr_err("cannot sample: %s", strerror(-err));
	return err;
}

static int make_tables(struct sampler *sampler)
{
	int nr_cpus = sampler->object.nr_cpus;

	sampler->heads = calloc(nr_cpus, sizeof(*sampler->heads));
	sampler->idle_ns = calloc(nr_cpus, sizeof(*sampler->idle_ns));
	sampler->last_idle_ns = calloc(nr_cpus, sizeof(*sampler->last_idle_ns));
	if (!sampler->heads || !sampler->idle_ns || !sampler->last_idle_ns)
		return -ENOMEM;
	sampler->table_fd = sample_object__new_table(nr_cpus);
	if (sampler->table_fd < 0)
		return sampler->table_fd;
	sampler->tables = bpf_info__map_memory(
		sampler->table_fd, bpf_info__page_up(nr_cpus * sizeof(*sampler->tables)),
		PROT_READ | PROT_WRITE);
	if (!sampler->tables)
		return -errno;
	for (int cpu = 0; cpu < nr_cpus; cpu++) {
		sampler->tables[cpu].max_records = sampler->options.nr_singles;
		sample_table__set_key(&sampler->tables[cpu], sampler->options.key,
				      sampler->options.addr_bits);
	}
	return sampler->options.nr_singles ? sample_singles__open(&sampler->singles, nr_cpus,
								  sampler->options.nr_singles) :
					     0;
}

/* --- events --- */

static bool can_sample(const struct evsel *evsel)
{
	return evsel->tool == TOOL_NONE && evsel->runs == RUNS_NONE &&
	       evsel->attr.type != PERF_TYPE_TRACEPOINT;
}

/* Where samples are thinned, sessions of one rate do not all keep the same ones: begin at random. */
static void set_event(struct sampler *sampler, struct sampled_event *event)
{
	unsigned int seed = clock_ns();

	for (int cpu = 0; cpu < sampler->object.nr_cpus; cpu++) {
		struct sample_event *to = &sampler->tables[cpu].event[event->slot];

		to->takes_idle = event->takes_idle;
		if (!event->is_periodic)
			continue;
		to->period = event->rate;
		if (sampler->object.cpus[cpu].slot[event->slot].base.rate < event->rate)
			to->credit = rand_r(&seed) % event->rate;
		event->credit += to->credit;
	}
}

/* The event has no slot. */
static int explain_slot(const struct sampler *sampler, const struct evsel *evsel, int err)
{
	if (err == -ENOSPC)
		return leave_for(
			sampler,
			xasprintf("%s: %d other events are sampled already, the most there can be",
				  evsel->name, MAX_SAMPLE_SLOTS));
	pr_err("%s: listed twice", evsel->name);
	return err;
}

/* The kernel refused it. */
static int explain_event(const struct sampler *sampler, struct evsel *evsel, int err)
{
	char *why __cleanup(free_ptr) = NULL;

	if (err == -ENOMEM)
		return err;
	evsel->err = -err;
	why = open_error__text(evsel, sampler->options.target);
	pr_err("%s cannot be sampled: %s", evsel->name, why ? why : strerror(-err));
	return err;
}

static int add_event(struct sampler *sampler, struct evsel *evsel, struct sampled_event *event)
{
	struct sample_rate rate;
	struct attr_key key;
	int err;

	if (!can_sample(evsel)) {
		pr_err("%s cannot be sampled: the kernel runs no sampling program for tracepoints, and perf's own values do not overflow",
		       evsel->name);
		return -EOPNOTSUPP;
	}
	err = sample_rate__choose(evsel, sampler->options.rate_kind, sampler->options.rate, &rate);
	if (err)
		return err;
	event->last = calloc(sampler->object.nr_cpus, sizeof(*event->last));
	event->is_absent = calloc(sampler->object.nr_cpus, sizeof(*event->is_absent));
	event->read_ns = calloc(sampler->object.nr_cpus, sizeof(*event->read_ns));
	if (!event->last || !event->is_absent || !event->read_ns)
		return -ENOMEM;
	event->rate = rate.value;
	event->per_ms = sample_rate__per_ms(rate.class, &evsel->attr, rate.value);
	event->is_clock = evsel__is_clock(evsel);
	sampler->has_clocks |= event->is_clock;
	event->is_periodic = rate.class == SAMPLE_CLASS_PERIOD;
	event->weighs_count = !event->is_periodic && evsel->attr.type == PERF_TYPE_SOFTWARE;
	event->stops_throttled =
		evsel->attr.type != PERF_TYPE_SOFTWARE && evsel->attr.type != PERF_TYPE_BREAKPOINT;
	event->takes_idle =
		!event->is_clock || (sampler->options.with_idle && !evsel->attr.exclude_idle &&
				     !evsel->attr.exclude_kernel);
	attr_map__key(&evsel->attr, evsel->more_config, &key);
	event->slot = sample_slots__add(&sampler->object, sampler->number, &key, &rate,
					sampler->tables[0].needs);
	if (event->slot < 0)
		return explain_slot(sampler, evsel, event->slot);
	sampler->slots |= 1ULL << event->slot;
	sampler->events_of_slot[event->slot] = evsel->idx;
	err = sample_slots__apply(&sampler->object, event->slot);
	set_event(sampler, event);
	return err ? explain_event(sampler, evsel, err) : 0;
}

/* --- opening --- */

static int explain_scopes(const struct sampler *sampler, enum scope_set_kind kind, int err)
{
	return scope__is_full(err) ?
		       leave_for(sampler, scope__why_full(sampler->leader, kind, err)) :
		       err;
}

/* Scopes come before the events: no sample of others must get into the tables. */
static int restrict_target(struct sampler *sampler)
{
	const struct sampler_options *options = &sampler->options;
	struct sample_plan *plan = sampler->object.plan;
	uint64_t bit = 1ULL << sampler->number;
	int err;

	sampler->has_scopes = options->nr_cgroups || target__has_task(options->target);
	sampler->lost = leader_tasks__lost(sampler->leader);
	if (options->has_ranges)
		__atomic_fetch_or(&plan->of_ranges, bit, __ATOMIC_SEQ_CST);
	if (options->nr_cgroups) {
		__atomic_fetch_or(&plan->of_cgroups, bit, __ATOMIC_SEQ_CST);
		err = sample_scopes__add_cgroups(sampler->leader, options->cgroup_fs,
						 options->cgroups, options->nr_cgroups);
		/* The kernel hides cgroups, as a warning has said. */
		return err == -EOPNOTSUPP ? SAMPLE_OTHERWISE :
					    explain_scopes(sampler, SCOPE_SET_CGROUP, err);
	}
	if (!target__has_task(options->target))
		return 0;
	__atomic_fetch_or(&plan->of_tasks, bit, __ATOMIC_SEQ_CST);
	err = sample_scopes__add_tasks(sampler->leader, options->target, options->workload);
	return explain_scopes(sampler, SCOPE_SET_TASK, err);
}

static int explain(const struct sampler *sampler, int err)
{
	uint32_t room = sampler->options.nr_singles;

	if (err == -ENOSPC)
		return leave_for(sampler,
				 xasprintf("%d sessions sample already, the most there can be",
					   MAX_SAMPLERS));
	if (room && (err == -E2BIG || err == -ENOMEM)) {
		pr_err("cannot sample: --each=%u takes %" PRIu64
		       " MB for %d CPUs, which the kernel does not give: give a smaller number",
		       room, sample_singles__bytes(sampler->object.nr_cpus, room) >> 20,
		       sampler->object.nr_cpus);
		return -E2BIG;
	}
	if (err != -ENOMEM)
		pr_err("cannot sample: %s", strerror(-err));
	return err;
}

/* Under the lock of tasks. */
static int add_sampler(struct sampler *sampler)
{
	int err = make_tables(sampler);

	if (!err) {
		sampler->number =
			sample_slots__add_sampler(&sampler->object, sampler->table_fd,
						  sampler->singles.fd, sampler->options.cpus);
		err = sampler->number < 0 ? sampler->number : 0;
	}
	return err ? explain(sampler, err) : restrict_target(sampler);
}

static int open_object(struct sampler *sampler)
{
	int err;

	(void)session__repair_scopes(sampler->leader, false); /* or the next session does it */
	err = attr_map__lock_tasks(sampler->attr_map);
	if (err)
		return err;
	err = sample_object__open(&sampler->object, sampler->leader);
	sampler->has_object = true;
	if (!err) {
		(void)sample_slots__remove_dead(
			&sampler->object); /* sessions that collect do the rest */
		err = add_sampler(sampler);
	}
	attr_map__unlock_tasks(sampler->attr_map);
	return err;
}

/*
 * Change one slot under the lock, which takes long. Sessions that wait have their turn before the next one.
 *
 * @nr: how many this session has changed
 */
static int begin_turn(struct sampler *sampler, int nr, int (*lock)(struct attr_map *map))
{
	if (nr)
		usleep(TURN_US);
	return lock(sampler->attr_map);
}

static void end_turn(struct sampler *sampler)
{
	attr_map__unlock_tasks(sampler->attr_map);
	crash_point__reach("sample-slot-applied");
}

static int add_events(struct sampler *sampler)
{
	struct evsel *evsel;
	int i, err = 0;

	sampler->events = calloc(sampler->options.events->nr, sizeof(*sampler->events));
	if (!sampler->events)
		return -ENOMEM;
	sampler->nr_events = sampler->options.events->nr;
	for (i = 0; i < sampler->nr_events; i++)
		sampler->events[i].slot = -1;
	evlist__for_each(sampler->options.events, evsel, i) {
		err = begin_turn(sampler, i, attr_map__lock_tasks);
		if (err)
			return err;
		err = add_event(sampler, evsel, &sampler->events[i]);
		end_turn(sampler);
		if (err)
			return err;
	}
	return 0;
}

/* Under the lock. Errors of other sessions' events are ignored: those sessions report them. */
static void apply(struct sampler *sampler, int slot)
{
	uint64_t bit = 1ULL << slot;
	int err = sample_slots__apply(&sampler->object, slot);

	if (sampler->slots & bit)
		sample_absent__note(sampler, slot, err);
	else if (err)
		sampler->given_up |= bit;
}

/*
 * Bring stale slots up to date.
 *
 * @except: mask of slots
 * @lock: attr_map__lock_tasks() or attr_map__try_lock_tasks(). Another session may hold it: then that one
 *	  does this, or it is tried again
 */
static void apply_stale(struct sampler *sampler, uint64_t except, int (*lock)(struct attr_map *map))
{
	int nr = 0;

	for (int slot = 0; slot < MAX_SAMPLE_SLOTS; slot++) {
		uint64_t bit = 1ULL << slot;

		/* Without users its events are closed, which needs nothing. */
		if (sampler->given_up & ~sampler->slots & bit &&
		    sampler->object.plan->slot[slot].users)
			continue;
		sampler->given_up &= ~bit;
		if (!sample_slots__is_stale(&sampler->object, slot)) {
			/* Another session has opened them. */
			if (sampler->failed & bit)
				sample_absent__note(sampler, slot, 0);
			continue;
		}
		if (except & bit)
			continue;
		if (begin_turn(sampler, nr++, lock))
			return;
		apply(sampler, slot);
		end_turn(sampler);
	}
}

static int open_all(struct sampler *sampler)
{
	int err = open_object(sampler);

	if (err)
		return err;
	/* Slots of dead sessions, which can be needed. */
	apply_stale(sampler, 0, attr_map__lock_tasks);
	err = add_events(sampler);
	sampler->has_rates = true;
	sampler->disabled_at_ns = clock_ns();
	return err;
}

/* A session that could not get a lock, which a warning has named, does not wait a second time to leave. */
static int end_wait(struct sampler *sampler, int err)
{
	sampler->gives_up |= err == -ETIMEDOUT;
	return err == -ETIMEDOUT ? SAMPLE_OTHERWISE : err;
}

int sampler_options__max_frames(const struct sampler_options *options)
{
	int max = options->max_frames ? options->max_frames : SAMPLE_MAX_FRAMES;
	int walked = perf_event__max_stack();

	return max < walked ? max : walked;
}

int sampler__open(const struct sampler_options *options, struct sampler **out)
{
	struct sampler *sampler = calloc(1, sizeof(*sampler));
	int err;

	if (!sampler)
		return -ENOMEM;
	sampler->options = *options;
	sampler->number = -1;
	sampler->table_fd = -1;
	sampler->singles.fd = sampler->wakeup_fd = -1;
	sampler->options.max_frames = sampler_options__max_frames(options);
	capability__raise();
	err = join(sampler);
	if (!err)
		err = check_late(sampler);
	if (!err)
		err = open_wakeups(sampler);
	if (!err)
		err = open_all(sampler);
	/* A full memory cgroup is no reason not to sample. */
	if (err == -ENOMEM && sampler->leader)
		err = leave_for(sampler, xasprintf("cannot share samples: %s", strerror(ENOMEM)));
	err = end_wait(sampler, err);
	capability__lower();
	if (err)
		sampler__delete(sampler);
	else
		*out = sampler;
	return err;
}

/* Have the events sample for this session, or no more. Its slots stay its own. */
static void set_rates(struct sampler *sampler, bool has, int (*lock)(struct attr_map *map))
{
	if (sampler->has_rates == has || lock(sampler->attr_map))
		return;
	/* Up to now it was enabled without. */
	if (has && sampler->is_enabled)
		(void)sample_sync__all(sampler, SAMPLE_READ);
	for (int i = 0; i < sampler->nr_events; i++)
		sample_slots__set_rate(&sampler->object, sampler->number, sampler->events[i].slot,
				       has ? sampler->events[i].rate : 0);
	sampler->has_rates = has;
	end_turn(sampler);
	apply_stale(sampler, 0, lock);
}

/* Without the lock the next collection does it. */
static void take_rates(struct sampler *sampler)
{
	capability__raise();
	attr_map__expect(sampler->attr_map, "samples are missing until it is released");
	set_rates(sampler, true, attr_map__lock_tasks);
	attr_map__expect(sampler->attr_map, sampler->options.otherwise);
	capability__lower();
}

int sampler__enable(struct sampler *sampler)
{
	int err;

	if (sampler->is_enabled)
		return 0;
	if (!sampler->has_rates)
		take_rates(sampler);
	sample_collect__begin(sampler);
	err = sample_sync__all(sampler, SAMPLE_READ | SAMPLE_ON);
	if (!err)
		sampler->enabled_at_ns = clock_ns();
	else
		pr_err("cannot start sampling: %s", strerror(-err));
	sampler->is_enabled = !err;
	return err;
}

void sampler__disable(struct sampler *sampler)
{
	if (!sampler->is_enabled)
		return;
	/* The account has the CPUs that cannot be read. */
	(void)sample_sync__all(sampler, SAMPLE_READ | SAMPLE_OFF);
	sampler->disabled_at_ns = clock_ns();
	sampler->is_enabled = false;
}

int sampler__set_ranges(struct sampler *sampler, const struct address_ranges *ranges)
{
	int err;

	capability__raise();
	err = attr_map__lock_tasks(sampler->attr_map);
	if (!err) {
		err = sample_slots__set_ranges(&sampler->object, sampler->number, ranges);
		attr_map__unlock_tasks(sampler->attr_map);
	}
	capability__lower();
	if (err == -ENOSPC)
		return leave_for(sampler,
				 xasprintf("all sessions together would have more than %d ranges",
					   MAX_SAMPLE_RANGES));
	if (err && err != -ETIMEDOUT && err != -EINTR)
		pr_err("cannot set ranges: %s", strerror(-err));
	return end_wait(sampler, err);
}

/* --- collecting --- */

static void repair(struct sampler *sampler)
{
	uint64_t now_ns = clock_ns();
	bool is_due = now_ns - sampler->repaired_ns >= REPAIR_NS;

	capability__raise();
	if (is_due) {
		sampler->repaired_ns = now_ns;
		sample_sleepers__find(&sampler->sleepers, sampler->object.plan);
	}
	if (is_due && sample_slots__has_dead(&sampler->object) &&
	    !attr_map__try_lock_tasks(sampler->attr_map)) {
		/* The next one has its turn at the next collection. */
		if (sample_slots__remove_dead(&sampler->object))
			sampler->repaired_ns = 0;
		attr_map__unlock_tasks(sampler->attr_map);
	}
	if (sampler->is_enabled || now_ns - sampler->disabled_at_ns >= IDLE_NS)
		set_rates(sampler, sampler->is_enabled, attr_map__try_lock_tasks);
	/* Events that could not be opened may be refused for long. */
	apply_stale(sampler, is_due ? 0 : sampler->failed, attr_map__try_lock_tasks);
	capability__lower();
}

int sampler__collect(struct sampler *sampler, sample_fn expect, sample_fn fn, void *ctx)
{
	int err;

	sample_sleepers__wake(sampler->object.plan, sampler->number);
	sample_collect__begin(sampler);
	/* A CPU that cannot be read now keeps its samples until the next time, and the account has it. */
	(void)sample_sync__all(sampler, SAMPLE_FLIP | SAMPLE_READ);
	err = sample_collect__all(sampler, expect, fn, ctx);
	repair(sampler);
	return err;
}

int sampler__wakeup_fd(const struct sampler *sampler)
{
	return sampler->wakeup_fd;
}

void sampler__handle_wakeup(struct sampler *sampler)
{
	struct epoll_event event;

	if (epoll_wait(sampler->wakeup_fd, &event, 1, 0) <= 0)
		return;
	look_for_late(sampler);
	capability__raise();
	/* If the lock is held now, another session serves, or pins the leader at its end. */
	(void)leader_wakeup__serve(sampler->leader);
	/* The holder of the lock does it, or the next collection. */
	apply_stale(sampler, sampler->failed, attr_map__try_lock_tasks);
	capability__lower();
}

int sampler__look_ms(const struct sampler *sampler)
{
	return sample_collect__look_ms(sampler);
}

bool sampler__is_due(const struct sampler *sampler)
{
	return sample_collect__is_due(sampler);
}

void sampler__account(const struct sampler *sampler, int event, struct sample_account *account)
{
	sample_account__get(sampler, event, account);
}

/* --- leaving --- */

/* While its task has no entry, no sample is this session's, and none is known to be missing. */
static void report_missed(const struct sampler *sampler)
{
	const struct bperf_leader *leader = sampler->leader;
	uint64_t nr;

	if (!sampler->has_scopes || !sampler->has_synced || sampler->has_reported)
		return;
	nr = leader_tasks__lost(leader) - sampler->lost + leader_tasks__missed(leader);
	if (nr)
		pr_warn("%" PRIu64
			" switches or new tasks were missed: the profile may lack their samples",
			nr);
}

/* Give up the slots, and bring them up to date for the others, as far as the lock can be had. */
static void leave_slots(struct sampler *sampler)
{
	if (sampler->number >= 0 && !attr_map__lock_tasks(sampler->attr_map)) {
		sample_slots__remove_sampler(&sampler->object, sampler->number);
		attr_map__unlock_tasks(sampler->attr_map);
		sampler->number = -1;
		sampler->slots = sampler->failed = 0;
	}
	/* The sessions that still need the events may be stopped. */
	if (sampler->number < 0 && sampler->nr_events)
		apply_stale(sampler, 0, attr_map__lock_tasks);
}

/* Return: whether apply_stale() could not get the lock for all slots. */
static bool has_stale(const struct sampler *sampler)
{
	for (int slot = 0; slot < MAX_SAMPLE_SLOTS; slot++) {
		if (!(sampler->given_up >> slot & 1) &&
		    sample_slots__is_stale(&sampler->object, slot))
			return true;
	}
	return false;
}

bool sampler__try_leave(struct sampler *sampler)
{
	capability__raise();
	report_missed(sampler);
	sampler->has_reported = true;
	attr_map__never_wait(sampler->attr_map);
	leave_slots(sampler);
	if (sampler->number < 0 && !has_stale(sampler))
		sampler->has_left = !session__leave(sampler->leader);
	capability__lower();
	return sampler->has_left;
}

static void leave(struct sampler *sampler)
{
	look_for_late(sampler);
	report_missed(sampler);
	/* Without the lock the next session does it, once our token is gone. */
	if (sampler->gives_up)
		attr_map__never_wait(sampler->attr_map);
	else
		attr_map__expect(sampler->attr_map,
				 "the next session removes what is left of this one");
	leave_slots(sampler);
	(void)session__leave(sampler->leader);
}

void sampler__delete(struct sampler *sampler)
{
	if (!sampler)
		return;
	capability__raise();
	if (sampler->leader && !sampler->has_left)
		leave(sampler);
	if (sampler->tables)
		munmap(sampler->tables,
		       bpf_info__page_up(sampler->object.nr_cpus * sizeof(*sampler->tables)));
	sample_singles__close(&sampler->singles);
	if (sampler->has_object)
		sample_object__close(&sampler->object);
	capability__lower();
	close_fd(&sampler->wakeup_fd);
	close_fd(&sampler->table_fd);
	bperf_leader__delete(sampler->leader);
	attr_map__delete(sampler->attr_map);
	for (int i = 0; i < sampler->nr_events; i++) {
		free(sampler->events[i].last);
		free(sampler->events[i].is_absent);
		free(sampler->events[i].read_ns);
	}
	free(sampler->events);
	free(sampler->heads);
	free(sampler->idle_ns);
	free(sampler->last_idle_ns);
	byte_buffer__clear(&sampler->taken);
	free(sampler);
}
