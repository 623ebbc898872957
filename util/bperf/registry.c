// SPDX-License-Identifier: GPL-2.0
#include "util/bperf/registry.h"

#include "util/bperf/crash_point.h"

#include <errno.h>
#include <string.h>

/* Other sessions read states without the lock, and a crash must not see writes out of order. */
static void set_state(struct reg_event *event, __u32 state)
{
	__atomic_store_n(&event->state, state, __ATOMIC_RELEASE);
}

static __u32 state_of(const struct reg_event *event)
{
	return __atomic_load_n(&event->state, __ATOMIC_ACQUIRE);
}

static void step(const struct registry_io *io, const char *name)
{
	if (io->step)
		io->step(name);
}

static void set_user(struct reg_event *event, int session, bool on)
{
	__u64 bit = 1ULL << session % 64, *word = &event->users[session / 64];

	__atomic_store_n(word, on ? *word | bit : *word & ~bit, __ATOMIC_RELEASE);
}

static bool is_user(const struct reg_event *event, int session)
{
	return event->users[session / 64] >> session % 64 & 1;
}

static bool has_users(const struct reg_event *event)
{
	for (int w = 0; w < MAX_SESSIONS / 64; w++) {
		if (event->users[w])
			return true;
	}
	return false;
}

static bool is_needed(const struct registry *reg, const struct registry_io *io, int first)
{
	return has_users(&reg->event[first]) ||
	       (io->is_followed && io->is_followed(io->ctx, first));
}

/* How many slots an event or group takes, also when it is only half written. */
static int nr_slots(const struct registry *reg, int first)
{
	__u32 nr = __atomic_load_n(&reg->event[first].nr_members, __ATOMIC_RELAXED);

	return nr >= 1 && nr <= (__u32)(MAX_EVENTS - first) ? (int)nr : 1;
}

/* --- closing --- */

/* The session that claimed the slots makes them free. */
static void close_group(struct registry *reg, const struct registry_io *io, int first)
{
	int nr = nr_slots(reg, first);

	io->close(io->ctx, first, nr);
	step(io, "event-closed");
	for (int i = nr - 1; i >= 0; i--) {
		if (i)
			__atomic_store_n(&reg->event[first].nr_members, i, __ATOMIC_RELEASE);
		step(io, "event-shrunk");
		set_state(&reg->event[first + i], REG_FREE);
		step(io, "event-freed");
	}
}

static void set_states(struct registry *reg, int first, int nr, __u32 state)
{
	for (int i = nr - 1; i >= 0; i--)
		set_state(&reg->event[first + i], state);
}

/*
 * Claim a group that nobody counts, to close it; no session finds it from here on. If a follower may
 * just have found it, it stays CHANGING, without users, until a later repair. The repair closes it, or has
 * it count again if the follower is there.
 */
static void withdraw_group(struct registry *reg, const struct registry_io *io, int first, int self)
{
	int nr = nr_slots(reg, first);

	set_states(reg, first, nr, REG_CHANGING);
	step(io, "event-changing");
	if (!io->withdraw(io->ctx, first, nr))
		return;
	if (is_needed(reg, io, first)) {
		set_states(reg, first, nr, REG_READY);
		io->announce(io->ctx, first, nr);
		return;
	}
	step(io, "event-withdrawn");
	if (self < 0)
		return;
	set_user(&reg->event[first], self, true);
	step(io, "event-closing");
}

void registry__close(struct registry *reg, const struct registry_io *io, int session)
{
	for (int slot = 0; slot < MAX_EVENTS; slot++) {
		const struct reg_event *event = &reg->event[slot];

		if (state_of(event) == REG_CHANGING && event->leader == (__u32)slot &&
		    is_user(event, session))
			close_group(reg, io, slot);
	}
}

bool registry__has_unclosed(const struct registry *reg)
{
	for (int slot = 0; slot < MAX_EVENTS; slot++) {
		const struct reg_event *event = &reg->event[slot];

		if (state_of(event) == REG_CHANGING && event->leader == (__u32)slot &&
		    !has_users(event))
			return true;
	}
	return false;
}

/* --- repair --- */

/*
 * A member whose leader does not know it: its events are closed, or were never opened. While a living
 * session closes the group, the member is that session's to free.
 */
static bool is_orphan(const struct registry *reg, int slot)
{
	__u32 nr = __atomic_load_n(&reg->event[slot].leader, __ATOMIC_RELAXED);
	const struct reg_event *leader = &reg->event[nr % MAX_EVENTS];

	if (nr > (__u32)slot || state_of(leader) == REG_FREE || leader->leader != nr)
		return true;
	return slot >= (int)nr + nr_slots(reg, nr) &&
	       !(state_of(leader) == REG_CHANGING && has_users(leader));
}

static void free_orphans(struct registry *reg)
{
	for (int slot = 0; slot < MAX_EVENTS; slot++) {
		struct reg_event *event = &reg->event[slot];

		if (state_of(event) != REG_FREE && event->leader != (__u32)slot &&
		    is_orphan(reg, slot))
			set_state(event, REG_FREE);
	}
}

__u32 registry__find_dead(const struct registry *reg, const struct registry_io *io, int *session)
{
	for (int i = 0; i < MAX_SESSIONS; i++) {
		__u32 token;

		*session = (*session + 1) % MAX_SESSIONS;
		token = __atomic_load_n(&reg->session[*session].token, __ATOMIC_ACQUIRE);
		if (token && !io->is_alive(io->ctx, token) &&
		    !(io->is_bound && io->is_bound(io->ctx, *session)))
			return token;
	}
	return 0;
}

bool registry__forget_some(struct registry *reg, const struct registry_io *io, int session)
{
	int nr = 0;

	for (int slot = 0; slot < MAX_EVENTS; slot++) {
		struct reg_event *event = &reg->event[slot];

		if (state_of(event) == REG_FREE || event->leader != (__u32)slot ||
		    !is_user(event, session))
			continue;
		if (nr >= EVENTS_AT_ONCE)
			return false;
		set_user(event, session, false);
		nr += nr_slots(reg, slot);
	}
	step(io, "session-forgotten");
	__atomic_store_n(&reg->session[session].token, 0, __ATOMIC_RELEASE);
	step(io, "session-dropped");
	return true;
}

void registry__repair(struct registry *reg, const struct registry_io *io, int self)
{
	/* Before any group is claimed for closing. */
	free_orphans(reg);
	for (int slot = 0; slot < MAX_EVENTS; slot++) {
		struct reg_event *event = &reg->event[slot];
		__u32 state = state_of(event);

		if (state == REG_FREE || event->leader != (__u32)slot)
			continue;
		if (state == REG_CHANGING ? !has_users(event) : !is_needed(reg, io, slot))
			withdraw_group(reg, io, slot, self);
	}
}

/* --- sessions --- */

int registry__max_sessions(void)
{
	return crash_point__setting(CRASH_MAX_SESSIONS, MAX_SESSIONS);
}

int registry__add_session(struct registry *reg, const struct registry_io *io,
			  const struct reg_session *session)
{
	const int max = registry__max_sessions();

	for (int i = 0; i < max; i++) {
		struct reg_session *to = &reg->session[i];

		if (to->token)
			continue;
		to->pid = session->pid;
		to->start_ns = session->start_ns;
		to->nr_seen = to->passed = 0;
		to->holds_switches = 0;
		memcpy(to->comm, session->comm, sizeof(to->comm));
		step(io, "session-written");
		__atomic_store_n(&to->token, session->token, __ATOMIC_RELEASE);
		step(io, "session-added");
		return i;
	}
	return -ENOSPC;
}

void registry__remove(struct registry *reg, const struct registry_io *io, int session)
{
	step(io, "session-left");
	__atomic_store_n(&reg->session[session].token, 0, __ATOMIC_RELEASE);
	step(io, "session-removed");
}

int registry__nr_sessions(const struct registry *reg)
{
	int nr = 0;

	for (int i = 0; i < MAX_SESSIONS; i++)
		nr += reg->session[i].token && reg->session[i].pid;
	return nr;
}

/* --- joining and leaving --- */

static int find(const struct registry *reg, const struct attr_key *keys, int nr, __u32 state)
{
	for (int slot = 0; slot + nr <= MAX_EVENTS; slot++) {
		const struct reg_event *event = &reg->event[slot];
		int i;

		if (state_of(event) != state || event->leader != (__u32)slot ||
		    event->nr_members != (__u32)nr)
			continue;
		/* Left by a crash, or being closed: it will never be ready. */
		if (state == REG_CHANGING && (!has_users(event) || event->nr_open))
			continue;
		for (i = 0; i < nr && !memcmp(&event[i].key, &keys[i], sizeof(*keys)); i++)
			;
		if (i == nr)
			return slot;
	}
	return -1;
}

int registry__find(const struct registry *reg, const struct attr_key *keys, int nr)
{
	return find(reg, keys, nr, REG_READY);
}

bool registry__is_opening(const struct registry *reg, const struct attr_key *keys, int nr)
{
	return find(reg, keys, nr, REG_READY) < 0 && find(reg, keys, nr, REG_CHANGING) >= 0;
}

static int find_free(const struct registry *reg, int nr)
{
	int len = 0;

	for (int slot = 0; slot < MAX_EVENTS; slot++) {
		len = state_of(&reg->event[slot]) == REG_FREE ? len + 1 : 0;
		if (len == nr)
			return slot - nr + 1;
	}
	return -ENOSPC;
}

int registry__claim(struct registry *reg, const struct registry_io *io, int session,
		    const struct attr_key *keys, int nr, bool *is_new)
{
	int first = registry__find(reg, keys, nr);

	*is_new = first < 0;
	if (!*is_new) {
		set_user(&reg->event[first], session, true);
		step(io, "event-joined");
		return first;
	}
	first = find_free(reg, nr);
	for (int i = 0; first >= 0 && i < nr; i++) {
		struct reg_event *event = &reg->event[first + i];

		memset(event->users, 0, sizeof(event->users));
		event->key = keys[i];
		event->leader = first;
		event->nr_open = 0;
		event->nr_members = i ? 0 : nr;
	}
	if (first < 0)
		return first;
	set_user(&reg->event[first], session, true);
	step(io, "event-written");
	for (int i = nr - 1; i >= 0; i--) {
		set_state(&reg->event[first + i], REG_CHANGING);
		step(io, "event-claimed");
	}
	return first;
}

int registry__open(struct registry *reg, const struct registry_io *io, int first)
{
	int nr = nr_slots(reg, first);
	int nr_open = io->open(io->ctx, first, nr);

	if (nr_open < 0) {
		close_group(reg, io, first);
		return nr_open;
	}
	step(io, "event-opened");
	for (int i = 0; i < nr; i++)
		reg->event[first + i].nr_open = nr_open;
	set_states(reg, first, nr, REG_READY);
	step(io, "event-ready");
	io->announce(io->ctx, first, nr);
	step(io, "event-announced");
	return 0;
}

void registry__leave(struct registry *reg, const struct registry_io *io, int session, int first)
{
	struct reg_event *event = &reg->event[first];

	if (!is_user(event, session))
		return;
	set_user(event, session, false);
	step(io, "event-left");
	if (!is_needed(reg, io, first))
		withdraw_group(reg, io, first, session);
}

bool registry__leave_some(struct registry *reg, const struct registry_io *io, int session)
{
	int nr = 0;

	for (int slot = 0; slot < MAX_EVENTS; slot++) {
		struct reg_event *event = &reg->event[slot];

		if (state_of(event) != REG_READY || event->leader != (__u32)slot ||
		    !is_user(event, session))
			continue;
		if (nr >= EVENTS_AT_ONCE)
			return false;
		nr += nr_slots(reg, slot);
		registry__leave(reg, io, session, slot);
	}
	return true;
}
