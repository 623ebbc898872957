/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_BPERF_FOREIGN_FOLLOWERS_H
#define PERF_BPERF_FOREIGN_FOLLOWERS_H

/*
 * Serving foreign followers with the differences that events count. Followers find our entries in the
 * attr map, attach programs to on_switch, and add up what on_switch writes to a map of differences. Until
 * the first follower shows up, nothing is written, and on_switch is attached to no switch.
 */

#include <linux/types.h>
#include <stdbool.h>

struct bperf_leader;

/** foreign_followers__withdraw() - stop serving slots that are being closed */
void foreign_followers__withdraw(struct bperf_leader *leader, int first, int nr);

/**
 * foreign_followers__look() - look for followers among all programs of the machine
 *
 * It finds out which followers have ended. Call it without the lock: with many programs it takes long.
 */
void foreign_followers__look(struct bperf_leader *leader);

/**
 * foreign_followers__has_followers() - whether somebody's program reads what a slot counts
 * foreign_followers__nr_followers() - how many programs read what any slot counts
 *
 * As of the last look, and of what has been loaded since. Before the first look every slot has some,
 * and their number is -EAGAIN. Other -errno are of the kernel.
 */
bool foreign_followers__has_followers(struct bperf_leader *leader, int slot);
int foreign_followers__nr_followers(struct bperf_leader *leader);

/** foreign_followers__renew_end() - have all CPUs serve while a session does, and else for an hour from now */
void foreign_followers__renew_end(struct bperf_leader *leader);

/** foreign_followers__is_wanted() - whether there is something for foreign_followers__serve() to do */
bool foreign_followers__is_wanted(const struct bperf_leader *leader);

/**
 * foreign_followers__serve() - begin to serve, or have this session also attach on_switch
 *
 * The attr map must be locked.
 * Return: 0; -EEXIST: the session that held the link is just ending, try again; other -errno.
 */
int foreign_followers__serve(struct bperf_leader *leader);

/** foreign_followers__repair() - stop when no followers are left; the attr map must be locked */
void foreign_followers__repair(struct bperf_leader *leader);

/** foreign_followers__settle() - finish what serving or a repair began; waits, without the lock */
void foreign_followers__settle(struct bperf_leader *leader);

#endif
