// SPDX-License-Identifier: GPL-2.0
#include "util/bperf/cgroup_pool.h"

#include "util/bperf/cgroup_table.h"
#include "util/bperf/crash_point.h"
#include "util/bperf/event_set.h"
#include "util/bperf/leader_internal.h"
#include "util/bperf/leader_links.h"
#include "util/bperf/leader_sync.h"
#include "util/bperf/scope_set.h"
#include "util/host/bpf_info.h"
#include "util/lib/id_map.h"
#include "util/lib/util.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* How long pool entries wait for sessions that have not looked yet... */
#define LOOK_NS (100 * NSEC_PER_MSEC)
/* ...unless one of so many next numbers needs their place. */
#define MAX_REACH (MAX_POOL_ENTRIES / 4)

/* How many new cgroups all watching sessions have looked at, and the most that any has. */
static bool read_seen(const struct bperf_leader *leader, __u64 *least, __u64 *most)
{
	bool is_watched = false;

	*least = leader->cgroup_clock->nr_created;
	*most = 0;
	for (int i = 0; i < MAX_SESSIONS; i++) {
		const struct reg_session *session = &leader->registry->session[i];
		__u64 nr_seen = __atomic_load_n(&session->nr_seen, __ATOMIC_RELAXED);
		__u32 token = __atomic_load_n(&session->token, __ATOMIC_RELAXED);
		__u64 seen = nr_seen - 1;

		if (!nr_seen || !token || !bpf_info__is_map_alive(token))
			continue;
		is_watched = true;
		*least = seen < *least ? seen : *least;
		*most = seen > *most ? seen : *most;
	}
	return is_watched;
}

bool cgroup_pool__are_watched(const struct bperf_leader *leader)
{
	__u64 least, most;

	return read_seen(leader, &least, &most);
}

/*
 * Return: below which number pool entries wait for no session, since their places are to be ready. Such
 * places are half of the window, or all of it, as this look may double the window.
 */
static __u64 end_of_wait(const struct bperf_leader *leader, __u64 nr_created)
{
	__u64 reach = __atomic_load_n(&leader->cgroup_clock->window, __ATOMIC_RELAXED),
	      end = nr_created + (reach < MAX_REACH ? reach : MAX_REACH);

	return end > MAX_POOL_ENTRIES ? end - MAX_POOL_ENTRIES : 0;
}

/*
 * How many new cgroups can be given up: all watching sessions have looked at them, or one has and the
 * others had time to. The others find out that they were passed over.
 */
static __u64 nr_to_reclaim(const struct bperf_leader *leader)
{
	__u64 nr_created = leader->cgroup_clock->nr_created, now_ns = clock_ns(), reclaimed, least,
	      most, in_need = end_of_wait(leader, nr_created);

	read_seen(leader, &least, &most);
	reclaimed = __atomic_load_n(&leader->registry->nr_reclaimed, __ATOMIC_RELAXED);
	if (least < reclaimed)
		least = reclaimed;
	/* There are no more places than that, whatever the numbers say. */
	if (most > nr_created)
		most = nr_created;
	if (least < most && most - least > MAX_POOL_ENTRIES)
		least = most - MAX_POOL_ENTRIES;
	while (least < most &&
	       (least < in_need ||
		now_ns > leader->pool[least % MAX_POOL_ENTRIES].created_ns + LOOK_NS))
		least++;
	return least;
}

bool cgroup_pool__can_reclaim(const struct bperf_leader *leader)
{
	return nr_to_reclaim(leader) > leader->registry->nr_reclaimed;
}

bool cgroup_pool__read(const struct bperf_leader *leader, __u64 created_nr, struct pool_entry *out)
{
	const struct pool_entry *pool_entry = &leader->pool[created_nr % MAX_POOL_ENTRIES];

	if (__atomic_load_n(&pool_entry->created_nr, __ATOMIC_ACQUIRE) != created_nr + 1)
		return false;
	memcpy(out, pool_entry, sizeof(*out));
	out->name[CGROUP_NAME - 1] = '\0';
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return __atomic_load_n(&pool_entry->created_nr, __ATOMIC_RELAXED) == created_nr + 1;
}

__u32 cgroup_pool__passed(const struct bperf_leader *leader)
{
	return leader->registry->session[leader->session].passed;
}

bool cgroup_pool__watches(const struct bperf_leader *leader, int session)
{
	return session >= 0 && session < MAX_SESSIONS && leader->registry->session[session].nr_seen;
}

__u64 cgroup_pool__begin_look(struct bperf_leader *leader)
{
	/* Before the number is read, so that a cgroup which is created later wakes us again. */
	__atomic_store_n(&leader->cgroup_clock->is_woken, 0, __ATOMIC_SEQ_CST);
	return __atomic_load_n(&leader->cgroup_clock->nr_created, __ATOMIC_SEQ_CST);
}

bool cgroup_pool__has_acknowledged(const struct bperf_leader *leader, __u64 nr_created)
{
	return leader->registry->session[leader->session].nr_seen == nr_created + 1;
}

__u64 cgroup_pool__nr_reclaimed(const struct bperf_leader *leader)
{
	return leader->registry->nr_reclaimed;
}

__u64 cgroup_pool__nr_missed(const struct bperf_leader *leader)
{
	return leader->cgroup_clock ? leader->cgroup_clock->missed : 0;
}

/* --- what pool entries count --- */

/* The events of all watching sessions, since it is not known which of them wants a new cgroup. */
static int watched_set(struct bperf_leader *leader)
{
	struct scope_tables *c = &leader->scope_sets;
	__u32 nr = scope_set__nr_scopes(leader->registry);
	int set = 0;

	for (__u32 i = 1; i < nr && set >= 0; i++) {
		const struct reg_scope *scope = &leader->registry->scope[i];
		__u32 own = scope_set__events_of_scope(c, i);

		if (scope->session && scope->cgroup &&
		    cgroup_pool__watches(leader, scope->session - 1) &&
		    !event_set__contains(c, set, own))
			set = event_set__union(c, set, own);
	}
	return set;
}

int cgroup_pool__plan(struct bperf_leader *leader, struct pool_plan *plan, __u32 scope_set)
{
	struct scope_tables *c = &leader->scope_sets;
	__u32 own = scope_set__event_set(c, scope_set);
	int set = plan->of[own];

	if (!scope_set)
		return 0;
	if (!set)
		set = event_set__union(c, own, plan->watched);
	if (set < 0)
		return set;
	plan->of[own] = c->scope_set[scope_set].pool_set = set;
	if (scope_set__nr_events(c, set) > scope_set__nr_events(c, plan->largest))
		plan->largest = set;
	return 0;
}

int cgroup_pool__begin_plan(struct bperf_leader *leader, struct pool_plan *plan)
{
	int err = 0;

	memset(plan, 0, sizeof(*plan));
	plan->watched = plan->largest = watched_set(leader);
	if (plan->watched < 0)
		return plan->watched;
	leader->scope_sets.scope_set[0].pool_set = plan->watched;
	for (int i = 0; i < MAX_CGROUPS && !err; i++) {
		if (cgroup_table__is_used(leader, i))
			err = cgroup_pool__plan(leader, plan, cgroup_table__scope_set(leader, i));
	}
	return err;
}

int cgroup_pool__widen(struct bperf_leader *leader, int pos, __u32 parent)
{
	struct scope_tables *c = &leader->scope_sets;
	__u32 scope_set = cgroup_table__own_scope_set(leader, pos);

	if (!scope_set__is_pool_entry(c, scope_set) ||
	    event_set__contains(c, scope_set__event_set(c, scope_set),
				scope_set__event_set(c, parent)))
		return 0;
	return scope_set__add_pool_entry(c, scope_set__pool_event_set(c, parent));
}

void cgroup_pool__replace(struct bperf_leader *leader, int pos, __u32 wide)
{
	struct reg_scope_set *scope_sets = leader->scope_sets.scope_set;
	__u32 old = cgroup_table__own_scope_set(leader, pos);

	scope_sets[wide].parent = cgroup_table__scope_set(leader, pos);
	__atomic_store_n(&leader->cgroups[pos].scope_set, wide, __ATOMIC_RELEASE);
	crash_point__reach("pool-entry-widened");
	/* Counts of the old one belong to the scopes of the new one, also if these end. */
	__atomic_store_n(&scope_sets[old].parent, wide, __ATOMIC_RELEASE);
}

/*
 * Take back a half-done reclaim: the cgroup counts by itself again from the next epoch on. Until it is
 * no pool entry any more, its scope set and its place in the table stay its own.
 */
static int take_back(struct bperf_leader *leader, const struct pool_entry *pool_entry)
{
	struct scope_tables *c = &leader->scope_sets;
	__u32 pos = cgroup_pool__pos(pool_entry), scope_set = cgroup_pool__scope_set(pool_entry),
	      now = cgroup_table__own_scope_set(leader, pos);

	if (leader->cgroups[pos].id != pool_entry->id)
		return 0;
	if (!scope_set__is_pool_entry(c, now) && scope_set__is_pool_entry(c, scope_set) &&
	    c->scope_set[scope_set].state == REG_READY) {
		__atomic_store_n(&c->scope_set[scope_set].parent, now, __ATOMIC_RELEASE);
		__atomic_store_n(&leader->cgroups[pos].scope_set, scope_set, __ATOMIC_RELEASE);
	}
	return cgroup_table__show(leader, pos);
}

int cgroup_pool__mend(struct bperf_leader *leader)
{
	struct scope_tables *c = &leader->scope_sets;
	int err = 0;

	for (int i = 0; i < MAX_POOL_ENTRIES && !err; i++) {
		const struct pool_entry *pool_entry = &leader->pool[i];
		__u32 old = cgroup_pool__scope_set(pool_entry);
		__u32 now = cgroup_table__own_scope_set(leader, cgroup_pool__pos(pool_entry));

		if (pool_entry->state != POOL_TAKEN)
			continue;
		if (now != old && scope_set__is_pool_entry(c, now))
			__atomic_store_n(&c->scope_set[old].parent, now, __ATOMIC_RELEASE);
		err = take_back(leader, pool_entry);
	}
	return err;
}

int cgroup_pool__merge_replaced(struct bperf_leader *leader)
{
	struct scope_tables *c = &leader->scope_sets;
	int err = 0;

	for (int i = 0; i < MAX_POOL_ENTRIES && !err; i++) {
		struct pool_entry *pool_entry = &leader->pool[i];
		__u32 old = cgroup_pool__scope_set(pool_entry);
		__u32 now = cgroup_table__own_scope_set(leader, cgroup_pool__pos(pool_entry));

		if (pool_entry->state != POOL_TAKEN || now == old ||
		    !scope_set__is_pool_entry(c, now))
			continue;
		pool_entry->scope_set = now;
		crash_point__reach("pool-entry-replaced");
		err = scope_set__merge_into(c, old, now);
	}
	return err;
}

/* --- ready entries --- */

/*
 * Free scope sets that no entry names: taken back just now, replaced, or left by a session that died. No
 * CPU runs in such a scope set.
 */
static int sweep(struct bperf_leader *leader)
{
	struct scope_tables *c = &leader->scope_sets;
	bool *is_in_use __cleanup(free_ptr) = calloc(MAX_SCOPE_SETS, sizeof(*is_in_use));
	__u32 nr = scope_set__nr(c);
	struct id_map places = {};
	int err = is_in_use ? 0 : -ENOMEM;

	for (int i = 0; i < MAX_POOL_ENTRIES && !err; i++) {
		const struct pool_entry *pool_entry = &leader->pool[i];

		if (pool_entry->state == POOL_NONE)
			continue;
		is_in_use[cgroup_pool__scope_set(pool_entry)] = true;
		err = id_map__set(&places, cgroup_pool__pos(pool_entry) + 1, i);
	}
	for (int i = 0; i < MAX_CGROUPS && !err; i++) {
		if (cgroup_table__is_used(leader, i))
			is_in_use[cgroup_table__own_scope_set(leader, i)] = true;
	}
	for (__u32 i = 1; i < nr && !err; i++) {
		if (c->scope_set[i].state == REG_READY && scope_set__is_pool_entry(c, i) &&
		    !is_in_use[i])
			err = scope_set__merge_into(c, i, scope_set__parent(c, i));
	}
	for (int i = 0; i < MAX_CGROUPS && !err; i++) {
		if (leader->cgroups[i].id == CGROUP_RESERVED && id_map__get(&places, i + 1) < 0)
			leader->cgroups[i].id = 0;
	}
	id_map__clear(&places);
	return err;
}

/*
 * How many bytes of sums are ready at first, in all CPUs. It doubles as often as new cgroups take more than
 * half of them between two looks, until no session watches.
 */
#define READY_BYTES (4 << 20)
#define MIN_READY   16

#define HALF (MAX_POOL_ENTRIES / 2)

/* The entries to have ready. */
struct pool_window {
	__u64 nr_created;
	__u64 size; /* pool entries: half for the next cgroups, half for those after them */
	int nr_cells;
	int set; /* 0: none is to be ready */
};

static __u64 window_size(const struct bperf_leader *leader, int nr_cells)
{
	__u64 bytes = (__u64)leader->nr_cpus * nr_cells * sizeof(struct sum);
	__u64 size = crash_point__setting(CRASH_READY_BYTES, READY_BYTES) / bytes;

	size = (size < MIN_READY ? MIN_READY : size) << leader->cgroup_clock->growth % 16;
	return size < MAX_POOL_ENTRIES ? size : MAX_POOL_ENTRIES;
}

/* Return: the entries to have ready; they grow if new cgroups took many since the last call. */
static struct pool_window next_window(struct bperf_leader *leader, int set)
{
	struct cgroup_clock *clock = leader->cgroup_clock;
	struct pool_window window = {
		.nr_created = clock->nr_created,
		.nr_cells = scope_set__nr_events(&leader->scope_sets, set),
		.set = set,
	};

	if (!window.nr_cells) {
		clock->growth = 0;
	} else {
		window.size = window_size(leader, window.nr_cells);
		if (window.nr_created - clock->nr_filled > window.size / 2 &&
		    window.size < MAX_POOL_ENTRIES) {
			clock->growth++;
			window.size = window_size(leader, window.nr_cells);
		}
	}
	clock->nr_filled = window.nr_created;
	__atomic_store_n(&clock->window, window.size, __ATOMIC_RELAXED);
	return window;
}

/* Return: whether a place is to have a ready entry: the next ones, and the first ones of the next half. */
static bool is_in_window(const struct pool_window *window, __u32 place)
{
	__u64 ahead = (place - window->nr_created) % MAX_POOL_ENTRIES,
	      next_half = HALF - window->nr_created % HALF;

	return window->size == MAX_POOL_ENTRIES || ahead < window->size / 2 ||
	       (ahead >= next_half && ahead < next_half + window->size / 2);
}

/*
 * Take back ready entries that have another number of cells, or lie elsewhere. If a program takes one at the
 * same time, the program wins.
 */
static int retract(struct bperf_leader *leader, const struct pool_window *window, __u32 first)
{
	const struct scope_tables *c = &leader->scope_sets;
	bool is_any = false;
	int err;

	for (__u32 i = first; i < first + HALF; i++) {
		struct pool_entry *pool_entry = &leader->pool[i];
		__u32 ready = POOL_READY;
		int nr = scope_set__nr_events(
			c, scope_set__event_set(c, cgroup_pool__scope_set(pool_entry)));

		if (pool_entry->state == POOL_READY &&
		    (nr != window->nr_cells || !is_in_window(window, i)))
			is_any |= __atomic_compare_exchange_n(&pool_entry->state, &ready, POOL_NONE,
							      false, __ATOMIC_SEQ_CST,
							      __ATOMIC_SEQ_CST);
	}
	if (!is_any)
		return 0;
	crash_point__reach("pool-half-retracted");
	err = leader_sync__wait();
	return err ? err : sweep(leader);
}

/* Return: whether a place gets a ready entry. */
static bool is_vacant(const struct bperf_leader *leader, const struct pool_window *window,
		      __u32 place)
{
	return leader->pool[place].state == POOL_NONE && is_in_window(window, place);
}

static int offer(struct bperf_leader *leader, const struct pool_window *window, __u32 first)
{
	int hint = 0;

	for (__u32 i = first; i < first + HALF; i++) {
		struct pool_entry *pool_entry = &leader->pool[i];
		int pos, scope_set;

		if (!is_vacant(leader, window, i))
			continue;
		pos = cgroup_table__find_free(leader, &hint);
		scope_set =
			pos < 0 ? pos : scope_set__add_pool_entry(&leader->scope_sets, window->set);
		if (scope_set < 0)
			return scope_set;
		pool_entry->pos = pos;
		pool_entry->scope_set = scope_set;
		pool_entry->is_passed = 0;
		leader->cgroups[pos].scope_set = scope_set;
		__atomic_store_n(&leader->cgroups[pos].id, CGROUP_RESERVED, __ATOMIC_RELEASE);
		__atomic_store_n(&pool_entry->state, POOL_READY, __ATOMIC_SEQ_CST);
		crash_point__reach("pool-entry-ready");
	}
	return 0;
}

int cgroup_pool__make_ready(struct bperf_leader *leader, const struct pool_plan *plan)
{
	const struct pool_window window = next_window(leader, plan->watched ? plan->largest : 0);
	__u32 own = window.nr_created / HALF % 2 * HALF, first[] = {HALF - own, own};
	int err = 0, nr = 0;

	for (__u32 i = 0; i < MAX_POOL_ENTRIES; i++)
		nr += is_vacant(leader, &window, i);
	scope_set__expect(&leader->scope_sets, nr, window.nr_cells);

	/* First the half that the next new cgroups do not take, so that one entry is always ready. */
	for (int i = 0; i < 2 && !err; i++) {
		err = retract(leader, &window, first[i]);
		if (!err && window.set)
			err = offer(leader, &window, first[i]);
	}
	scope_set__expect(&leader->scope_sets, 0, 0);
	return err;
}

/* --- the end --- */

/*
 * Return: whether a pool entry goes with those below @end. A creation that finds half of the ring unready
 * leaves it out. So the place of a number below @end can have a later cgroup, which no session has seen.
 */
static bool is_reclaimed(const struct pool_entry *pool_entry, __u64 end)
{
	return __atomic_load_n(&pool_entry->state, __ATOMIC_ACQUIRE) == POOL_TAKEN &&
	       __atomic_load_n(&pool_entry->created_nr, __ATOMIC_RELAXED) <= end;
}

/* How many new cgroups a watching session has looked at, alive or not: the least of all. */
static __u64 least_seen(const struct registry *reg)
{
	__u64 least = UINT64_MAX;

	for (int i = 0; i < MAX_SESSIONS; i++) {
		__u64 nr_seen = __atomic_load_n(&reg->session[i].nr_seen, __ATOMIC_RELAXED);

		if (nr_seen && nr_seen - 1 < least)
			least = nr_seen - 1;
	}
	return least;
}

/* Unless a session that died has already counted this entry for it. */
static void count_passed(struct reg_session *session, __u32 created_nr)
{
	__u64 passed = session->passed;

	if (passed >> 32 == created_nr)
		return;
	__atomic_store_n(&session->passed, (__u64)created_nr << 32 | (__u32)(passed + 1),
			 __ATOMIC_RELEASE);
	crash_point__reach("pool-session-passed");
}

/*
 * Count a pool entry as passed for each session that has not looked at it, once. From here on its cgroup may
 * count for those above it only, whether this session ends the reclaim or dies.
 */
static void note_passed(struct registry *reg, struct pool_entry *pool_entry)
{
	__u64 created_nr = pool_entry->created_nr;

	if (pool_entry->is_passed)
		return;
	for (int i = 0; i < MAX_SESSIONS; i++) {
		struct reg_session *session = &reg->session[i];

		if (session->nr_seen && session->nr_seen <= created_nr)
			count_passed(session, created_nr);
	}
	__atomic_store_n(&pool_entry->is_passed, 1, __ATOMIC_RELEASE);
	crash_point__reach("pool-entry-passed");
}

/* Have the pool entries in [first, end) count for those above them only; hide those that no scope needs. */
static int hand_to_parents(struct bperf_leader *leader, __u64 first, __u64 end,
			   const struct id_map *needed)
{
	__u64 seen = least_seen(leader->registry);
	int err = 0;

	for (__u64 n = first; n < end && !err; n++) {
		struct pool_entry *pool_entry = &leader->pool[n % MAX_POOL_ENTRIES];
		__u32 pos = cgroup_pool__pos(pool_entry), parent;

		if (!is_reclaimed(pool_entry, end))
			continue;
		if (pool_entry->created_nr > seen)
			note_passed(leader->registry, pool_entry);
		if (id_map__get(needed, pool_entry->id) < 0)
			err = cgroup_table__hide(leader, pool_entry->id);
		parent = cgroup_table__scope_set(leader, pos);
		/* If it was replaced, its scope set is to be merged past the new one. */
		__atomic_store_n(
			&leader->scope_sets.scope_set[cgroup_pool__scope_set(pool_entry)].parent,
			parent, __ATOMIC_RELEASE);
		__atomic_store_n(&leader->cgroups[pos].scope_set, parent, __ATOMIC_RELEASE);
		crash_point__reach("pool-entry-handed");
	}
	if (err)
		return err;
	return leader_links__are_alive(leader, LINKS_CGROUPS) ?
		       cgroup_table__begin_epoch(leader) :
		       cgroup_table__forget_running(leader);
}

/*
 * Free a pool entry that no CPU runs any more. Its place goes last: while it is a pool entry, no other
 * cgroup may get the place. Nothing names its scope set then, and sweep() merges it.
 */
static void release(struct bperf_leader *leader, struct pool_entry *pool_entry, bool is_needed)
{
	__u32 pos = cgroup_pool__pos(pool_entry);

	__atomic_store_n(&pool_entry->created_nr, 0, __ATOMIC_SEQ_CST);
	__atomic_store_n(&pool_entry->state, POOL_NONE, __ATOMIC_SEQ_CST);
	crash_point__reach("pool-entry-released");
	if (!is_needed)
		leader->cgroups[pos].id = 0;
}

/* Turn the pool entries in [first, end) into cgroups like others, or free them if no scope needs them. */
static int reclaim(struct bperf_leader *leader, __u64 first, __u64 end)
{
	struct id_map needed = {};
	int err = cgroup_table__read_needed(leader, -2, &needed);

	if (!err)
		err = hand_to_parents(leader, first, end, &needed);
	/* A session may want these cgroups before another one can reclaim them. */
	if (err && !cgroup_pool__mend(leader))
		(void)cgroup_table__begin_epoch(leader);
	for (__u64 n = first; n < end && !err; n++) {
		struct pool_entry *pool_entry = &leader->pool[n % MAX_POOL_ENTRIES];

		if (is_reclaimed(pool_entry, end))
			release(leader, pool_entry, id_map__get(&needed, pool_entry->id) >= 0);
	}
	id_map__clear(&needed);
	return err;
}

int cgroup_pool__reclaim(struct bperf_leader *leader)
{
	struct registry *reg = leader->registry;
	struct pool_plan plan;
	__u64 nr_created = nr_to_reclaim(leader);
	__u64 first = __atomic_load_n(&reg->nr_reclaimed, __ATOMIC_RELAXED);
	int err = 0;

	if (first < nr_created)
		err = reclaim(leader,
			      nr_created - first > MAX_POOL_ENTRIES ?
				      nr_created - MAX_POOL_ENTRIES :
				      first,
			      nr_created);
	if (err)
		return err;
	reg->nr_reclaimed = nr_created;
	err = sweep(leader);
	if (!err)
		err = cgroup_pool__begin_plan(leader, &plan);
	return err ? err : cgroup_pool__make_ready(leader, &plan);
}

int cgroup_pool__watch(struct bperf_leader *leader, __u64 nr_created)
{
	struct reg_session *session = &leader->registry->session[leader->session];
	int err = 0;

	if (leader->task_link_fds[WATCH_LINK_MKDIR] < 0)
		err = leader_links__hold(leader, LINKS_NEW_CGROUPS);
	if (err == -ENOENT)
		err = leader_links__make(leader, LINKS_NEW_CGROUPS);
	if (err)
		return err;
	session->nr_seen = nr_created + 1;
	return cgroup_pool__reclaim(leader);
}
