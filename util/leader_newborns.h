/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_UTIL_LEADER_NEWBORNS_H
#define PERF_UTIL_LEADER_NEWBORNS_H

/*
 * Cgroups that are made while runs watch for them. Places and classes lie ready for MAX_NEWBORNS: a
 * program gives them to cgroups as these are made, so that they are counted by themselves from the
 * first, and are cgroups like others once all who watch have looked. Needs the attr map's lock.
 */

#include <linux/types.h>
#include <stdbool.h>

struct leader;

/**
 * leader_newborns__watch() - have new cgroups counted by themselves from the first
 * @births: how many of them this run has looked at (cgroup_clock.births)
 *
 * The first time it begins; a run that calls it again has looked at more. What a run finds among
 * the newborns it marks like any cgroup: what such a one has counted before is counted, too.
 * Return: 0 or -errno.
 */
int leader_newborns__watch(struct leader *leader, __u64 births);

/** leader_newborns__watches() - whether a run does */
bool leader_newborns__watches(const struct leader *leader, int run);

/**
 * leader_newborns__settled() - how many births all living watchers have looked at
 *
 * Return: whether there is a watcher; without one all are.
 */
bool leader_newborns__settled(const struct leader *leader, __u64 *births);

/** leader_newborns__settle() - give up the classes of those that all who watch have looked at */
int leader_newborns__settle(struct leader *leader);

#endif
