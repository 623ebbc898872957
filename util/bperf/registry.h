/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_BPERF_REGISTRY_H
#define PERF_BPERF_REGISTRY_H

/*
 * Sessions and the events they share: pure logic over memory that all sessions map.
 *
 * A session can be killed, or stopped, between any two writes. The session that changes an event claims
 * it: REG_CHANGING, with its bit among the users. Only that session touches the event, so it needs no
 * lock, and nobody waits for it for long. When the session is dead, registry__forget_some() and
 * registry__repair() undo it.
 *
 *	join	session: fields, then token
 *		event: found, user bit; or keys, user bit, CHANGING | events opened, READY, announced
 *	leave	event: user bit goes; the last one: withdrawn, CHANGING | events closed, FREE
 *		session: token 0
 *
 * Everything before a bar is done under the lock, by whatever name the function has, the rest without.
 * A group's members become CHANGING before its leader, which has their number; when they become
 * FREE, last to first, the number shrinks before. So a slot belongs to a group only if the leader
 * says so; a member without one is left from a crash.
 */

#include "bpf_skel/leader_registry.h"

#include <stdbool.h>

/*
 * How many events a session leaves in one holding of the lock, and how many entries it brings in line. That takes some
 * 20 us for each, and the lock is to be held for less than 1 ms.
 */
#define EVENTS_AT_ONCE 24

/* The questions and actions that the registry leaves to its caller. */
struct registry_io {
	/** is_alive() - whether the session with this token still exists */
	bool (*is_alive)(void *ctx, __u32 token);

	/** is_bound() - whether a dead session has to be kept, since its scopes are still there; may be NULL */
	bool (*is_bound)(void *ctx, int session);

	/**
	 * open() - put the perf events of @nr slots from @first on into place, as one group
	 *
	 * Without the lock. Return: on how many CPUs, at least one; -errno: close() is called for what got into the
	 * slots.
	 */
	int (*open)(void *ctx, int first, int nr);

	/** announce() - let others find the events, without the lock; failures are ignored */
	void (*announce)(void *ctx, int first, int nr);

	/**
	 * withdraw() - let nobody find them any more, under the lock
	 *
	 * Return: whether they may be closed now; false: somebody may just have found them.
	 */
	bool (*withdraw)(void *ctx, int first, int nr);

	/** close() - drop the perf events of these slots, in any state, without the lock */
	void (*close)(void *ctx, int first, int nr);

	/** is_followed() - whether somebody who is no session still needs the event; may be NULL */
	bool (*is_followed)(void *ctx, int first);

	/** step() - called between any two changes with the name of the last; may not return */
	void (*step)(const char *name);
	void *ctx;
};

/**
 * registry__find_dead() - find a session that died and has no scopes; needs no lock
 * @session: where the search begins, behind this one, which need not exist; receives its number
 *
 * Return: its token, by which others see under the lock that it is still there; 0: there is none.
 */
__u32 registry__find_dead(const struct registry *reg, const struct registry_io *io, int *session);

/**
 * registry__forget_some() - a dead session no longer uses its next EVENTS_AT_ONCE events; registry__repair() follows
 *
 * Under the lock. Without events, the session is no more.
 * Return: whether it is no more.
 */
bool registry__forget_some(struct registry *reg, const struct registry_io *io, int session);

/**
 * registry__repair() - mark for closing what nobody needs, or was left half done
 * @self: the session that will call registry__close(); -1: nobody, so that it stays marked
 *
 * Under the lock.
 */
void registry__repair(struct registry *reg, const struct registry_io *io, int self);

/** registry__max_sessions() - return how many can be registered: MAX_SESSIONS, or fewer in a test */
int registry__max_sessions(void);

/**
 * registry__add_session() - register a session, under the lock
 *
 * Return: its number, or -ENOSPC when registry__max_sessions() are registered.
 */
int registry__add_session(struct registry *reg, const struct registry_io *io,
			  const struct reg_session *session);

/**
 * registry__claim() - have a session count a group of events, or claim slots to open it in
 * @keys: of the members in order; a single event is a group of one
 * @is_new: on success: registry__open() is to follow, without the lock
 *
 * A group that another session is opening is not found (registry__is_opening()): both open one.
 * Under the lock. Return: the first of the @nr consecutive slots; -ENOSPC: no slots.
 */
int registry__claim(struct registry *reg, const struct registry_io *io, int session,
		    const struct attr_key *keys, int nr, bool *is_new);

/** registry__is_opening() - whether no group with these keys is ready, but a session is opening one */
bool registry__is_opening(const struct registry *reg, const struct attr_key *keys, int nr);

/** registry__open() - open what was claimed. Return: 0, or -errno of open(): the slots are free again */
int registry__open(struct registry *reg, const struct registry_io *io, int first);

/** registry__leave() - the session counts this group no more; without users it is withdrawn. Under the lock */
void registry__leave(struct registry *reg, const struct registry_io *io, int session, int first);

/**
 * registry__leave_some() - the same of its next EVENTS_AT_ONCE events; registry__close() follows
 *
 * Return: whether it has left all; then registry__remove() follows.
 */
bool registry__leave_some(struct registry *reg, const struct registry_io *io, int session);

/** registry__close() - close what this session has withdrawn, without the lock */
void registry__close(struct registry *reg, const struct registry_io *io, int session);

/** registry__remove() - the session, which has left everything, is no more; without the lock */
void registry__remove(struct registry *reg, const struct registry_io *io, int session);

/** registry__has_unclosed() - whether groups are still open that a follower may just have found */
bool registry__has_unclosed(const struct registry *reg);

/** registry__nr_sessions() - how many are registered, without those that only close what others left */
int registry__nr_sessions(const struct registry *reg);

/** registry__find() - the first slot of the group with these keys that is ready; -1: none */
int registry__find(const struct registry *reg, const struct attr_key *keys, int nr);

#endif
