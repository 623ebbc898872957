/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_BPERF_CGROUP_POOL_H
#define PERF_BPERF_CGROUP_POOL_H

/*
 * Ready places and scope sets for new cgroups. A program gives one to each new
 * cgroup, so that the cgroup is counted by itself from its first switch. When all watching sessions have
 * looked at it, it becomes a cgroup like others. All functions that change something need the lock of
 * tasks.
 */

#include "bpf_skel/leader.h"
#include "util/bperf/shared_word.h"

#include <stdbool.h>

struct bperf_leader;

/*
 * The events that pool entries count. They are the events of the scope set above the new cgroup, and those
 * of all watching sessions. The scope set is known only when the cgroup is created. So each scope set of
 * the table names the set of a pool entry below it (pool_set). A ready entry has as many cells as the
 * largest of these sets.
 */
struct pool_plan {
	int watched;	    /* the set of all watching sessions; 0: there are none */
	int largest;	    /* of all sets of pool entries */
	__u16 of[MAX_SETS]; /* a pool entry's set by that of the scope set above it; 0: not worked out */
};

/**
 * cgroup_pool__begin_plan() - work out the sets of pool entries, for all scope sets of the table
 * cgroup_pool__plan() - and for one that will be in it
 *
 * Return: 0; -E2BIG: the scope set and all watching sessions have too many events; -ENOSPC.
 */
int cgroup_pool__begin_plan(struct bperf_leader *leader, struct pool_plan *plan);
int cgroup_pool__plan(struct bperf_leader *leader, struct pool_plan *plan, __u32 scope_set);

/** cgroup_pool__pos(), cgroup_pool__scope_set() - of a pool entry, in the tables */
static inline __u32 cgroup_pool__pos(const struct pool_entry *pool_entry)
{
	return shared_id(&pool_entry->pos, MAX_CGROUPS);
}

static inline __u32 cgroup_pool__scope_set(const struct pool_entry *pool_entry)
{
	return shared_id(&pool_entry->scope_set, MAX_SCOPE_SETS);
}

/** cgroup_pool__make_ready() - have places ready that are large enough for the plan; 0 or -errno */
int cgroup_pool__make_ready(struct bperf_leader *leader, const struct pool_plan *plan);

/**
 * cgroup_pool__widen() - make a scope set for a pool entry that lacks events of the parent it will get
 * @pos: in the table
 *
 * Return: the scope set; 0: it needs none, or is no pool entry; -errno.
 */
int cgroup_pool__widen(struct bperf_leader *leader, int pos, __u32 parent);

/**
 * cgroup_pool__replace() - have a pool entry count in a wider scope set from the next epoch on
 * cgroup_pool__merge_replaced() - give up the old scope sets, which no CPU runs any more
 */
void cgroup_pool__replace(struct bperf_leader *leader, int pos, __u32 wide);
int cgroup_pool__merge_replaced(struct bperf_leader *leader);

/**
 * cgroup_pool__mend() - mend what a session left that died or failed
 *
 * Old scope sets follow the new ones that replace them, and what was half reclaimed is a pool entry again.
 * An epoch must follow. Return: 0 or -errno.
 */
int cgroup_pool__mend(struct bperf_leader *leader);

/**
 * cgroup_pool__watch() - have new cgroups counted by themselves from the first
 * @nr_created: how many of them this session has looked at (cgroup_clock.nr_created)
 *
 * The first call begins to watch, each later one reports more of them as looked at. A session assigns a
 * scope to a new cgroup like to any other, and the scope also gets what the cgroup has counted before.
 * Return: 0 or -errno.
 */
int cgroup_pool__watch(struct bperf_leader *leader, __u64 nr_created);

/** cgroup_pool__watches() - whether a session watches for new cgroups */
bool cgroup_pool__watches(const struct bperf_leader *leader, int session);

/** cgroup_pool__begin_look() - let later creations wake sessions again; the number of creations so far */
__u64 cgroup_pool__begin_look(struct bperf_leader *leader);

/** cgroup_pool__has_acknowledged() - whether this session has looked at exactly that many, and said so */
bool cgroup_pool__has_acknowledged(const struct bperf_leader *leader, __u64 nr_created);

/** cgroup_pool__nr_reclaimed() - the number of new cgroups whose pool entries were given up */
__u64 cgroup_pool__nr_reclaimed(const struct bperf_leader *leader);

/** cgroup_pool__nr_missed() - the number of new cgroups that found no ready entry */
__u64 cgroup_pool__nr_missed(const struct bperf_leader *leader);

/** cgroup_pool__are_watched() - whether any living session watches for them */
bool cgroup_pool__are_watched(const struct bperf_leader *leader);

/**
 * cgroup_pool__read() - copy the record of a new cgroup; needs no lock
 * @created_nr: its number
 *
 * Return: false: the record is gone, since another cgroup needed its place.
 */
bool cgroup_pool__read(const struct bperf_leader *leader, __u64 created_nr, struct pool_entry *out);

/**
 * cgroup_pool__passed() - how many records were given up before this session had looked at them
 *
 * Differences of it mean something: a session goes on from the number that its place had before.
 */
__u32 cgroup_pool__passed(const struct bperf_leader *leader);

/**
 * cgroup_pool__reclaim() - give up the scope sets of new cgroups that all watching sessions have seen
 *
 * A session that lags is not waited for: entries that another one has seen go after 100 ms, or earlier
 * when places are short.
 */
int cgroup_pool__reclaim(struct bperf_leader *leader);

/** cgroup_pool__can_reclaim() - whether cgroup_pool__reclaim() would give up any; needs no lock */
bool cgroup_pool__can_reclaim(const struct bperf_leader *leader);

#endif
