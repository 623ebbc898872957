// SPDX-License-Identifier: GPL-2.0
#include "registry.h"

#include <errno.h>
#include <string.h>

/* Other runs read states without the lock, and a crash must not see writes out of order. */
static void set_state(struct reg_event *event, __u32 state)
{
	__atomic_store_n(&event->state, state, __ATOMIC_RELEASE);
}

static void step(const struct registry_io *io, const char *name)
{
	if (io->step)
		io->step(name);
}

static void set_user(struct reg_event *event, int run, bool on)
{
	__u64 bit = 1ULL << run % 64, *word = &event->users[run / 64];

	__atomic_store_n(word, on ? *word | bit : *word & ~bit, __ATOMIC_RELEASE);
}

static bool has_users(const struct reg_event *event)
{
	for (int w = 0; w < MAX_RUNS / 64; w++) {
		if (event->users[w])
			return true;
	}
	return false;
}

static bool is_needed(const struct registry *reg, const struct registry_io *io, int first)
{
	return has_users(&reg->event[first]) || (io->is_followed && io->is_followed(io->ctx, first));
}

/* How many slots an event or group takes, also when it is only half written. */
static int nr_slots(const struct registry *reg, int first)
{
	int nr = reg->event[first].nr_members;

	return nr >= 1 && nr <= MAX_EVENTS - first ? nr : 1;
}

/*
 * Members go first, the leader last: as long as it is CHANGING with its number of members, a
 * repair knows what belongs to it.
 */
static void close_group(struct registry *reg, const struct registry_io *io, int first)
{
	int nr = nr_slots(reg, first);

	set_state(&reg->event[first], REG_CHANGING);
	step(io, "event-closing");
	io->close(io->ctx, first, nr);
	step(io, "event-closed");
	for (int slot = first + nr - 1; slot >= first; slot--) {
		memset(reg->event[slot].users, 0, sizeof(reg->event[slot].users));
		set_state(&reg->event[slot], REG_FREE);
		step(io, "event-freed");
	}
}

void registry__repair(struct registry *reg, const struct registry_io *io)
{
	for (int run = 0; run < MAX_RUNS; run++) {
		if (reg->run[run].token && !io->is_alive(io->ctx, reg->run[run].token))
			registry__remove_run(reg, io, run);
	}
	for (int slot = 0; slot < MAX_EVENTS; slot++) {
		struct reg_event *event = &reg->event[slot];

		/* Members go with their leader, which is claimed before them and freed after them. */
		if (event->state == REG_FREE || event->leader != (__u32)slot)
			continue;
		if (event->state == REG_CHANGING || !is_needed(reg, io, slot))
			close_group(reg, io, slot);
	}
}

int registry__add_run(struct registry *reg, const struct registry_io *io,
		      const struct reg_run *run)
{
	for (int i = 0; i < MAX_RUNS; i++) {
		struct reg_run *to = &reg->run[i];

		if (to->token)
			continue;
		to->pid = run->pid;
		to->start_ns = run->start_ns;
		to->births_seen = 0;
		memcpy(to->comm, run->comm, sizeof(to->comm));
		step(io, "run-written");
		__atomic_store_n(&to->token, run->token, __ATOMIC_RELEASE);
		step(io, "run-added");
		return i;
	}
	return -ENOSPC;
}

void registry__remove_run(struct registry *reg, const struct registry_io *io, int run)
{
	for (int slot = 0; slot < MAX_EVENTS; slot++) {
		struct reg_event *event = &reg->event[slot];

		if (event->state == REG_READY && event->leader == (__u32)slot)
			registry__leave(reg, io, run, slot);
	}
	step(io, "run-left");
	__atomic_store_n(&reg->run[run].token, 0, __ATOMIC_RELEASE);
	step(io, "run-removed");
}

int registry__find(const struct registry *reg, const struct attr_key *keys, int nr)
{
	for (int slot = 0; slot + nr <= MAX_EVENTS; slot++) {
		const struct reg_event *event = &reg->event[slot];
		int i;

		if (event->state != REG_READY || event->leader != (__u32)slot ||
		    event->nr_members != (__u32)nr)
			continue;
		for (i = 0; i < nr && !memcmp(&event[i].key, &keys[i], sizeof(*keys)); i++)
			;
		if (i == nr)
			return slot;
	}
	return -1;
}

static int find_free(const struct registry *reg, int nr)
{
	int len = 0;

	for (int slot = 0; slot < MAX_EVENTS; slot++) {
		len = reg->event[slot].state == REG_FREE ? len + 1 : 0;
		if (len == nr)
			return slot - nr + 1;
	}
	return -ENOSPC;
}

static int open_group(struct registry *reg, const struct registry_io *io,
		      const struct attr_key *keys, int nr)
{
	int first = find_free(reg, nr), err;

	if (first < 0)
		return first;
	for (int i = 0; i < nr; i++) {
		struct reg_event *event = &reg->event[first + i];

		memset(event->users, 0, sizeof(event->users));
		event->key = keys[i];
		event->leader = first;
		event->nr_members = i ? 0 : nr;
	}
	step(io, "event-written");
	for (int i = 0; i < nr; i++) {
		set_state(&reg->event[first + i], REG_CHANGING);
		step(io, "event-claimed");
	}
	err = io->open(io->ctx, first, nr);
	if (err) {
		close_group(reg, io, first);
		return err;
	}
	step(io, "event-opened");
	for (int i = nr - 1; i >= 0; i--)
		set_state(&reg->event[first + i], REG_READY);
	step(io, "event-ready");
	return first;
}

int registry__join(struct registry *reg, const struct registry_io *io, int run,
		   const struct attr_key *keys, int nr)
{
	int first = registry__find(reg, keys, nr);
	bool is_new = first < 0;

	if (is_new) {
		first = open_group(reg, io, keys, nr);
		if (first < 0)
			return first;
	}
	set_user(&reg->event[first], run, true);
	step(io, "event-joined");
	if (is_new) {
		io->announce(io->ctx, first, nr);
		step(io, "event-announced");
	}
	return first;
}

void registry__leave(struct registry *reg, const struct registry_io *io, int run, int first)
{
	struct reg_event *event = &reg->event[first];

	if (!(event->users[run / 64] >> run % 64 & 1))
		return;
	set_user(event, run, false);
	step(io, "event-left");
	if (!is_needed(reg, io, first))
		close_group(reg, io, first);
}

int registry__nr_runs(const struct registry *reg)
{
	int nr = 0;

	for (int i = 0; i < MAX_RUNS; i++)
		nr += reg->run[i].token != 0;
	return nr;
}
