// SPDX-License-Identifier: GPL-2.0
#include "util/bperf/session.h"

#include "util/bperf/attr_entries.h"
#include "util/bperf/attr_map.h"
#include "util/bperf/crash_point.h"
#include "util/bperf/foreign_followers.h"
#include "util/bperf/foreign_pins.h"
#include "util/bperf/leader_announce.h"
#include "util/bperf/leader_events.h"
#include "util/bperf/leader_find.h"
#include "util/bperf/leader.h"
#include "util/bperf/leader_internal.h"
#include "util/bperf/leader_links.h"
#include "util/bperf/leader_load.h"
#include "util/bperf/pair_entry.h"
#include "util/bperf/registry.h"
#include "util/bperf/scope.h"
#include "util/host/bpf_info.h"
#include "util/host/capability.h"
#include "util/lib/msg.h"
#include "util/lib/util.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

/*
 * How often a session that leaves tries to close events that it could not close at first. Well-behaved holders
 * of the protocol's lock need some 100 us. Each further wait is twice as long: 25 ms in all.
 */
#define CLOSE_TRIES   8
#define CLOSE_WAIT_US 100

/*
 * A session that needs an event looks so often whether another one has opened it: for each event, and for all. Else it
 * would be opened twice. An opening takes a millisecond or two. A session that is stopped while it opens one keeps others
 * no longer than this.
 */
#define EVENT_LOOKS    100
#define ALL_LOOKS      500
#define LOOK_PERIOD_US 1000

/*
 * How long a session removes dead ones before it goes on: scopes, and then events. Each takes at most half of the time that
 * is left for waiting, and makes it shorter. The rest is left to the next session.
 */
#define REPAIR_NS (ATTR_MAP_WAIT_MS * NSEC_PER_MSEC / 2)

/* The same for perf bperf prune, which removes all of them: for each a few grace periods of some 10 ms. */
#define PRUNE_NS (MAX_SESSIONS * 60 * NSEC_PER_MSEC)

/* --- the world around the registry --- */

static bool io_is_alive(void *ctx __unused, __u32 token)
{
	return bpf_info__is_map_alive(token);
}

static void io_announce(void *ctx, int first, int nr)
{
	leader_announce__group(((struct leader_opening *)ctx)->leader, first, nr);
}

static bool io_is_followed(void *ctx, int first)
{
	return foreign_followers__has_followers(((struct leader_opening *)ctx)->leader, first);
}

/* Only with the lock of tasks can these be removed, and before the session's events. */
static bool io_is_bound(void *ctx, int session)
{
	return scope__has(((struct leader_opening *)ctx)->leader, session);
}

static struct registry_io make_io(struct leader_opening *opening)
{
	return (struct registry_io){
		.is_alive = io_is_alive,
		.is_bound = io_is_bound,
		.open = leader_events__open,
		.announce = io_announce,
		.withdraw = leader_events__withdraw,
		.close = leader_events__close,
		.is_followed = io_is_followed,
		.step = crash_point__reach,
		.ctx = opening,
	};
}

/* --- dead sessions --- */

/* Look for one without the lock. Return: whether there is one. */
static bool note_dead(struct bperf_leader *leader)
{
	struct leader_opening opening = {.leader = leader};
	const struct registry_io io = make_io(&opening);

	leader->dead_token = registry__find_dead(leader->registry, &io, &leader->dead_session);
	return leader->dead_token != 0;
}

/* Under the lock. Its place can be another session's by now. */
static void forget_dead(struct bperf_leader *leader, const struct registry_io *io)
{
	int session = leader->dead_session;
	__u32 token = leader->dead_token;

	leader->dead_token = 0;
	if (!token || leader->registry->session[session].token != token)
		return;
	/* Columns of probes go before their events. */
	pair_entries__repair(leader, session);
	(void)registry__forget_some(leader->registry, io,
				    session); /* the rest is seen as dead again */
}

/* A session that has no time left has waited in vain, or never waits: then it is not at its start. */
static uint64_t repair_ns(const struct bperf_leader *leader, bool waits)
{
	uint64_t left_ns = attr_map__left_ns(leader->attr_map);

	if (waits)
		return PRUNE_NS;
	return left_ns && left_ns / 2 < REPAIR_NS ? left_ns / 2 : REPAIR_NS;
}

/*
 * Under the lock: a command that counts nothing becomes a session for as long as it closes events. Else
 * nobody would know that they are being closed.
 */
static void begin_closing(struct bperf_leader *leader)
{
	const struct reg_session session = {.token = leader->token};
	struct leader_opening opening = {.leader = leader};
	const struct registry_io io = make_io(&opening);

	if (leader->session >= 0 || !leader->token || !registry__has_unclosed(leader->registry))
		return;
	leader->session = registry__add_session(leader->registry, &io, &session);
	leader->only_closes = leader->session >= 0;
	if (leader->only_closes)
		registry__repair(leader->registry, &io, leader->session);
}

/* One in each holding of the lock. */
static int repair_dead(struct bperf_leader *leader, bool waits)
{
	uint64_t begin_ns = clock_ns(), end_ns = begin_ns + repair_ns(leader, waits);
	int err = 0;

	while (!err && note_dead(leader) && clock_ns() < end_ns) {
		usleep(ATTR_MAP_TURN_US);
		err = attr_map__take(leader->attr_map, waits);
		if (!err) {
			session__repair(leader);
			begin_closing(leader);
			(void)session__unlock(leader, waits); /* tried again at the next wakeup */
		}
	}
	if (!waits)
		attr_map__spend(leader->attr_map, begin_ns);
	return err;
}

int session__repair_scopes(struct bperf_leader *leader, bool waits)
{
	int session = SCOPE_ALL_SESSIONS, err = 0;
	uint64_t begin_ns = clock_ns(), end_ns = begin_ns + repair_ns(leader, waits);

	/* Without it nothing dead is seen to be dead. */
	capability__raise();
	for (int nr = 0; !err && clock_ns() < end_ns; nr++) {
		session = scope__find_dead(leader, session);
		if (session < 0)
			break;
		if (nr)
			usleep(ATTR_MAP_TURN_US);
		err = waits ? attr_map__lock_tasks(leader->attr_map) :
			      attr_map__try_lock_tasks(leader->attr_map);
		if (!err)
			scope__remove_dead(leader, session);
		attr_map__unlock_tasks(leader->attr_map);
	}
	capability__lower();
	if (!waits)
		attr_map__spend(leader->attr_map, begin_ns);
	return err;
}

static void close_events(struct bperf_leader *leader, const struct registry_io *io)
{
	if (leader->session >= 0)
		registry__close(leader->registry, io, leader->session);
	if (!leader->only_closes)
		return;
	registry__remove(leader->registry, io, leader->session);
	leader->session = -1;
	leader->only_closes = false;
}

/* --- a session --- */

/* The token by which others see that this session lives. */
static int make_token(struct bperf_leader *leader)
{
	leader->token_fd = bpf_info__new_map("perf_run", -1);
	return leader->token_fd < 0 ? leader->token_fd :
				      bpf_info__map_id(leader->token_fd, &leader->token);
}

static int register_session(struct bperf_leader *leader)
{
	struct leader_opening opening = {.leader = leader};
	const struct registry_io io = make_io(&opening);
	struct reg_session session = {
		.token = leader->token, .pid = getpid(), .start_ns = clock_ns()};

	prctl(PR_GET_NAME, session.comm);
	leader->session = registry__add_session(leader->registry, &io, &session);
	/* Places of dead sessions also count. Nearly always one was seen without the lock. */
	for (int i = 0; leader->session < 0 && i <= MAX_EVENTS / EVENTS_AT_ONCE; i++) {
		if (!leader->dead_token && !note_dead(leader))
			break;
		session__repair(leader);
		leader->session = registry__add_session(leader->registry, &io, &session);
	}
	if (leader->session >= 0)
		session__repair(leader);
	return leader->session < 0 ? -EUSERS : 0;
}

char *session__why_full(void)
{
	return xasprintf("%d sessions count already, the most there can be",
			 registry__max_sessions());
}

/* Find and map the leader without the lock. Return: NULL if there is none, or none is visible. */
static struct bperf_leader *look(struct attr_map *attr_map)
{
	struct bperf_leader *leader;

	capability__raise();
	leader = leader_find__look(attr_map);
	if (leader && make_token(leader)) {
		bperf_leader__delete(leader);
		leader = NULL;
	}
	if (leader)
		(void)note_dead(leader);
	capability__lower();
	if (leader)
		crash_point__reach("leader-held");
	return leader;
}

/* Under the lock: the leader that was seen before, if it is still the one; another; or a new one. */
static int find_or_load(struct attr_map *attr_map, struct bperf_leader *seen,
			struct bperf_leader **out, bool *said)
{
	int err;

	*out = seen;
	if (seen && leader_find__is_current(seen))
		return 0;
	bperf_leader__delete(seen);
	err = leader_find__serving(attr_map, out);
	if (!err && !*out) {
		err = leader_load__new(attr_map, out);
		*said = err != 0;
	}
	return err ? err : make_token(*out);
}

int session__join(struct attr_map *attr_map, struct bperf_leader **out)
{
	struct bperf_leader *leader = look(attr_map);
	bool said = false;
	int err;

	err = attr_map__lock(attr_map);
	if (err) {
		bperf_leader__delete(leader);
		return err;
	}
	err = find_or_load(attr_map, leader, &leader, &said);
	if (!err)
		err = register_session(leader);
	if (err) {
		if (!said && err != -EUSERS)
			pr_err("cannot share events: %s%s", strerror(-err),
			       err == -EPERM ? " (needs CAP_SYS_ADMIN: run as root)" : "");
		bperf_leader__delete(leader);
		attr_map__unlock(attr_map);
		return err;
	}
	(void)session__unlock(leader, true); /* tried again at the next wakeup */
	capability__raise();
	(void)repair_dead(leader, false);		/* otherwise the next session does it */
	(void)attr_entries__drop_gone(attr_map, false); /* the same */
	capability__lower();
	*out = leader;
	return 0;
}

void session__repair(struct bperf_leader *leader)
{
	struct leader_opening opening = {.leader = leader};
	const struct registry_io io = make_io(&opening);

	forget_dead(leader, &io);
	registry__repair(leader->registry, &io, leader->session);
	foreign_followers__repair(leader);
	foreign_pins__replace(leader);
	leader_events__repair(leader);
}

int session__unlock(struct bperf_leader *leader, bool waits)
{
	struct leader_opening opening = {.leader = leader};
	const struct registry_io io = make_io(&opening);
	int err;

	attr_map__unlock(leader->attr_map);
	capability__raise();
	foreign_followers__settle(leader);
	close_events(leader, &io);
	err = leader_events__reopen(leader, waits);
	capability__lower();
	return err;
}

/* The protocol's lock was held: try again. Others need not wait meanwhile. */
static void close_rest(struct bperf_leader *leader)
{
	const struct attr_map *map = leader->attr_map;

	for (int i = 0;
	     i < CLOSE_TRIES && (map->lacks_protocol || registry__has_unclosed(leader->registry));
	     i++) {
		usleep(CLOSE_WAIT_US << i);
		foreign_followers__look(leader);
		if (attr_map__try_relock(leader->attr_map))
			continue;
		session__repair(leader);
		begin_closing(leader);
		(void)session__unlock(leader, false); /* tried again */
	}
}

int session__clean_up(struct bperf_leader *leader, bool waits)
{
	int err, last;

	capability__raise();
	err = session__repair_scopes(leader, waits);
	foreign_followers__look(leader);
	if (leader->session < 0 && leader->token_fd < 0)
		(void)make_token(leader); /* without one, events stay for the next session */
	(void)note_dead(leader);
	if (!err)
		err = attr_map__take(leader->attr_map, waits);
	if (!err) {
		session__repair(leader);
		begin_closing(leader);
		err = session__unlock(leader, waits);
		last = repair_dead(leader, waits);
		err = err ? err : last;
		if (waits)
			close_rest(leader);
		foreign_pins__remove_unused(leader->attr_map, waits);
	}
	capability__lower();
	return err;
}

/* Take the lock once no other session is opening these events, or when there were enough looks. */
static int lock_for(struct bperf_leader *leader, const struct attr_key *keys, int nr)
{
	for (int looks = 0;; looks++) {
		bool is_last = looks >= EVENT_LOOKS || leader->nr_looks >= ALL_LOOKS;
		int err;

		if (is_last || !registry__is_opening(leader->registry, keys, nr)) {
			err = attr_map__relock(leader->attr_map);
			if (err || is_last || !registry__is_opening(leader->registry, keys, nr))
				return err;
			attr_map__unlock(leader->attr_map);
		}
		leader->nr_looks++;
		crash_point__reach("event-awaited");
		usleep(LOOK_PERIOD_US);
	}
}

int session__add_events(struct bperf_leader *leader, const struct attr_key *keys, int nr,
			const struct cpumap *cpus, int *refused)
{
	struct leader_opening opening = {.leader = leader, .cpus = cpus, .refused = -1};
	const struct registry_io io = make_io(&opening);
	bool is_new = false;
	int first, err;

	*refused = -1;
	if (nr > MAX_EVENTS)
		return -ENOSPC;
	err = lock_for(leader, keys, nr);
	if (err)
		return err;
	first = registry__claim(leader->registry, &io, leader->session, keys, nr, &is_new);
	attr_map__unlock(leader->attr_map);
	if (first < 0 || !is_new)
		return first;
	capability__raise();
	err = registry__open(leader->registry, &io, first);
	capability__lower();
	*refused = opening.refused;
	return err ? err : first;
}

/*
 * The last session that @ends takes the tables with it, so it leaves its scopes as they are. Should another
 * session come just now, or followers keep the leader, the next session removes them.
 */
static int leave_scopes(struct bperf_leader *leader, bool ends)
{
	int err;

	/* Leftovers of other sessions are no reason to wait. The last session takes them with it. */
	if (!ends || registry__nr_sessions(leader->registry) > 1)
		(void)session__repair_scopes(leader, false);
	/* It may still hold links since its last scopes. */
	if (!scope__has(leader, leader->session)) {
		leader_links__leave(leader, ends);
		return 0;
	}
	err = attr_map__lock_tasks(leader->attr_map);
	if (err)
		return err;
	if (ends && registry__nr_sessions(leader->registry) <= 1) {
		scope__abandon(leader, leader->session);
	} else {
		(void)scope__repair(leader); /* what fails for it also fails for us */
		scope__remove(leader, leader->session);
	}
	leader_links__leave(leader, ends);
	attr_map__unlock_tasks(leader->attr_map);
	return 0;
}

int session__leave_scopes(struct bperf_leader *leader)
{
	int err;

	capability__raise();
	err = leave_scopes(leader, false);
	capability__lower();
	return err;
}

static int leave(struct bperf_leader *leader)
{
	struct leader_opening opening = {.leader = leader};
	const struct registry_io io = make_io(&opening);
	bool has_left = false;
	int err;

	capability__raise();
	err = leave_scopes(leader, true);
	(void)note_dead(leader);
	capability__lower();
	while (!err && !has_left) {
		foreign_followers__look(leader);
		err = attr_map__relock(leader->attr_map);
		if (err)
			break;
		session__repair(leader);
		pair_entries__forget(leader, leader->session);
		has_left = registry__leave_some(leader->registry, &io, leader->session);
		(void)session__unlock(leader, false); /* sessions that stay do it */
		if (!has_left)
			usleep(ATTR_MAP_TURN_US);
	}
	if (err)
		return err;
	close_rest(leader);
	capability__raise();
	foreign_pins__remove_unused(leader->attr_map, false);
	capability__lower();
	attr_map__warn_protocol(leader->attr_map);
	registry__remove(leader->registry, &io, leader->session);
	leader->session = -1;
	return 0;
}

int session__leave(struct bperf_leader *leader)
{
	int err;

	if (leader->session < 0)
		return 0;
	err = leave(leader);
	foreign_pins__make(leader);
	return err;
}
