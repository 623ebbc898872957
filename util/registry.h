/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_UTIL_REGISTRY_H
#define PERF_UTIL_REGISTRY_H

/*
 * Runs and the events they share: pure logic over the memory that all runs map.
 *
 * Everything here is called under the lock. A run can be killed between any two writes; the rule
 * that keeps the rest usable is: what is half done is marked so (REG_CHANGING, a run whose token
 * is dead), and registry__repair(), which every lock holder calls first, undoes it.
 *
 *	join	run: fields, then token.  event: CHANGING, keys, events opened, users, READY
 *	leave	event: user bit; when it was the last: CHANGING, events closed, FREE.  run: token 0
 */

#include "../bpf_skel/leader_registry.h"

#include <stdbool.h>

/* What the registry asks of the world around it. */
struct registry_io {
	/** is_alive() - whether the run with this token still exists */
	bool (*is_alive)(void *ctx, __u32 token);

	/**
	 * open() - put the perf events of @nr slots from @first on into place, as one group
	 *
	 * Return: 0 or -errno; close() is called then, for what got into the slots.
	 */
	int (*open)(void *ctx, int first, int nr);

	/** close() - drop the perf events of these slots, in any state, and every mention of them */
	void (*close)(void *ctx, int first, int nr);

	/** is_followed() - whether somebody who is no run still needs the event; may be NULL */
	bool (*is_followed)(void *ctx, int first);

	/** announce() - let others find the events; failure is theirs to live with */
	void (*announce)(void *ctx, int first, int nr);

	/** step() - called between any two changes with the name of the last; may not return */
	void (*step)(const char *name);
	void *ctx;
};

/** registry__repair() - forget runs that died, finish or undo what they left half done */
void registry__repair(struct registry *reg, const struct registry_io *io);

/**
 * registry__add_run() - register a run
 *
 * Return: its number, or -ENOSPC when MAX_RUNS are registered.
 */
int registry__add_run(struct registry *reg, const struct registry_io *io,
		      const struct reg_run *run);

/** registry__remove_run() - drop its events, then itself */
void registry__remove_run(struct registry *reg, const struct registry_io *io, int run);

/**
 * registry__join() - have a run count a group of events, which is opened if it is not yet
 * @keys: of the members in order; a single event is a group of one
 *
 * Return: the first of the @nr consecutive slots; -ENOSPC: no slots; -errno of open().
 */
int registry__join(struct registry *reg, const struct registry_io *io, int run,
		   const struct attr_key *keys, int nr);

/** registry__leave() - the run counts this group no more; without users it is closed */
void registry__leave(struct registry *reg, const struct registry_io *io, int run, int first);

/** registry__nr_runs() - how many are registered */
int registry__nr_runs(const struct registry *reg);

/** registry__find() - the first slot of the group with these keys that is ready; -1: none */
int registry__find(const struct registry *reg, const struct attr_key *keys, int nr);

#endif
