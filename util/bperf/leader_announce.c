// SPDX-License-Identifier: GPL-2.0
#include "util/bperf/leader_announce.h"

#include "util/bperf/attr_map.h"
#include "util/bperf/crash_point.h"
#include "util/bperf/diff_maps.h"
#include "util/bperf/identify.h"
#include "util/bperf/leader_internal.h"
#include "util/bperf/leader_links.h"
#include "util/bperf/leader_slots.h"
#include "util/bperf/registry.h"
#include "util/lib/msg.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <string.h>

/*
 * Enter a key, unless there is an entry that leads to a living leader. If two sessions try at the same
 * time, one stays unlisted, which does no harm.
 */
static int enter(struct bperf_leader *leader, const struct attr_key *key,
		 const struct attr_map_value *value)
{
	struct attr_map *map = leader->attr_map;
	struct attr_map_value old;
	int err = attr_map__add(map, key, value);

	if (err != -EEXIST || attr_map__get(map, key, &old))
		return err;
	if (leader_links__is_own(leader->registry, old.link_id))
		return attr_map__replace(map, key, value);
	if (identify__is_leader(old.link_id))
		return 0;
	err = attr_map__remove(map, key);
	return err ? err : attr_map__add(map, key, value);
}

/* Members of groups are never served. */
static __u32 entry_link(const struct bperf_leader *leader, int nr)
{
	return nr == 1 ? leader_links__entry(leader->registry) : leader->registry->link_id;
}

/* Where one event is, for other leaders and for followers; another leader's own entry stays. */
static void announce(struct bperf_leader *leader, int first, int nr, int i)
{
	struct attr_map_value value = {.link_id = entry_link(leader, nr)};
	struct shared_event where = {
		.map_id = leader->registry->map_ids[LEADER_EVENTS],
		.first_idx = leader_slots__idx(leader, first + i, 0),
	};
	struct attr_key key;
	int err;

	leader_slots__public_key(leader, first, nr, i, &key);
	if (!leader_slots__has_foreign(leader, first))
		bpf_map_update_elem(leader->map_fds[LEADER_SHARED], &key, &where, BPF_ANY);
	crash_point__reach("event-tabled");
	/* Members of groups have keys that no other implementation knows. */
	if (nr == 1 && leader->registry->is_hidden)
		return;
	if (nr == 1)
		value.diff_map_id = diff_maps__offer(leader, first);
	err = enter(leader, &key, &value);
	if (err)
		pr_verbose("not announced in %s: %s", leader->attr_map->path, strerror(-err));
}

void leader_announce__group(struct bperf_leader *leader, int first, int nr)
{
	for (int i = 0; i < nr; i++)
		announce(leader, first, nr, i);
}

/* Return: whether other layouts find an event. If two slots have it, the end of either takes the entry. */
static bool is_tabled(const struct bperf_leader *leader, int first, const struct attr_key *key)
{
	struct shared_event where;

	return leader_slots__has_foreign(leader, first) ||
	       !bpf_map_lookup_elem(leader->map_fds[LEADER_SHARED], key, &where);
}

/*
 * Enter keys again: keys that were hidden or name the other one of our links, and keys that another leader
 * left behind when it ended. A key can also have gone with a second slot of the same event.
 */
static void announce_again(struct bperf_leader *leader, int first, int nr)
{
	struct attr_map_value value;
	struct attr_key key;

	for (int i = 0; i < nr; i++) {
		leader_slots__public_key(leader, first, nr, i, &key);
		if (attr_map__get(leader->attr_map, &key, &value) ||
		    value.link_id != entry_link(leader, nr) || !is_tabled(leader, first, &key))
			announce(leader, first, nr, i);
	}
}

void leader_announce__all(struct bperf_leader *leader)
{
	for (int slot = 0; slot < MAX_EVENTS; slot++) {
		if (leader_slots__begins(leader, slot))
			announce_again(leader, slot, leader_slots__nr_members(leader, slot));
	}
}

void leader_announce__some(struct bperf_leader *leader)
{
	for (int i = 0, done = 0; i < MAX_EVENTS && done < EVENTS_AT_ONCE; i++) {
		int slot = (leader->token + leader->nr_looked_at++) % MAX_EVENTS, nr;

		if (!leader_slots__begins(leader, slot))
			continue;
		nr = leader_slots__nr_members(leader, slot);
		announce_again(leader, slot, nr);
		done += nr;
	}
}
