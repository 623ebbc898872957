/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_BPERF_FOREIGN_PINS_H
#define PERF_BPERF_FOREIGN_PINS_H

/*
 * Pins of a leader for its foreign followers. Followers hold its maps, and so the perf events, but those
 * that came first do not hold the link at switches. The last session with that link that leaves in good
 * order pins it in the lock directory. It pins all other parts that no process may hold, too, so the next
 * session finds the leader complete:
 *
 *	PATH_lock/switch_ID		the link at switches, by whose id all names go
 *	PATH_lock/switch_ID_quiet	the link that the record names, _hotplug another one
 *	PATH_lock/switch_ID_prog2...	programs, by enum leader_prog
 *
 * No living session holds the link while these pins exist: one that takes it removes them. Others may
 * live: they are stopped, or have not seen the followers yet. Pins of other leaders are removed when no
 * program uses their difference maps any more. A pinned leader serves for an hour
 * (cpu_state.serve_until_ns), and another hour each time that a session looks at it.
 */

#include <linux/types.h>
#include <stdbool.h>

struct attr_map;
struct bperf_leader;

/* A pinned leader. */
struct foreign_pin {
	__u32 link_id;
	int nr_events;	  /* that are followed */
	int nr_followers; /* programs */
};

/** foreign_pins__name() - the name of its first pin, below the lock directory */
#define LEADER_PIN_NAME 24
void foreign_pins__name(__u32 link_id, char name[LEADER_PIN_NAME]);

/**
 * foreign_pins__make() - pin a leader that this session leaves, if it is followed and nobody else serves
 *
 * Takes the attr map's lock for that. The session need not have left the registry: another session may hold
 * the lock of tasks. It only must not serve any more. Warns if followers stop counting now.
 */
void foreign_pins__make(struct bperf_leader *leader);

/**
 * foreign_pins__replace() - serve in place of pins, if this session holds the link, and renew the leader's end
 *
 * The attr map must be locked. The pins go first: those that a SIGKILL leaves here have an end.
 */
void foreign_pins__replace(struct bperf_leader *leader);

/**
 * foreign_pins__remove_unused() - remove those of leaders that nobody follows
 * @waits: for our lock, which is taken to remove something, see attr_map__expect(); else if it is free
 */
void foreign_pins__remove_unused(struct attr_map *map, bool waits);

/**
 * foreign_pins__list() - the leaders that are pinned
 * @out: owned by the caller, on success
 *
 * Return: how many, or -errno.
 */
int foreign_pins__list(const struct attr_map *map, struct foreign_pin **out);

#endif
