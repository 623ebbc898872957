// SPDX-License-Identifier: GPL-2.0
#include "leader_serve.h"

#include "attr_map.h"
#include "foreign.h"
#include "leader.h"
#include "leader_links.h"
#include "leader_tasks.h"
#include "msg.h"
#include "registry.h"
#include "util.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* An entry of cpu_state.serve that was withdrawn; the program skips it. */
#define NO_SLOT 0xffff

/*
 * So many programs can be attached to ours, on the whole machine (BPF_MAX_TRAMP_LINKS is 36 to 38),
 * and one more would count nothing without noticing: newcomers are to make leaders of their own.
 */
#define MAX_FOLLOWERS 30

/* --- maps of differences --- */

/* Bound to on_switch, so it lives as long; one per slot, whichever events are in it. */
__u32 leader_serve__offer(struct leader *leader, int slot)
{
	__u32 *id = &leader->registry->diff_ids[slot];
	int fd __cleanup(close_fd) = -1;

	if (*id)
		return *id;
	fd = bpf_map_create(BPF_MAP_TYPE_PERCPU_ARRAY, "diff_readings", sizeof(__u32),
			    sizeof(struct bpf_perf_event_value), 1, NULL);
	if (fd < 0 || bpf_prog_bind_map(leader->prog_fds[LEADER_ON_SWITCH], fd, NULL) ||
	    leader__map_id(fd, id))
		return 0;
	return *id;
}

static void zero(const struct leader *leader, int slot)
{
	int fd __cleanup(close_fd) = bpf_map_get_fd_by_id(leader->registry->diff_ids[slot]);
	struct bpf_perf_event_value *values;
	__u32 key = 0;

	values = calloc(leader->nr_cpus, sizeof(*values));
	if (fd >= 0 && values)
		bpf_map_update_elem(fd, &key, values, BPF_ANY);
	free(values);
}

/* --- which slots --- */

static bool is_offered(const struct leader *leader, int slot)
{
	const struct reg_event *event = &leader->registry->event[slot];

	return event->state == REG_READY && event->nr_members == 1 &&
	       leader->registry->diff_ids[slot];
}

static bool is_served(const struct cpu_state *state, int slot)
{
	for (__u32 i = 0; i < state->nr_serve && i < MAX_EVENTS; i++) {
		if (state->serve[i] == slot)
			return true;
	}
	return false;
}

/* One store makes it so: the list is never seen half changed. */
static void add_served(struct cpu_state *state, int slot)
{
	for (__u32 i = 0; i < state->nr_serve && i < MAX_EVENTS; i++) {
		if (state->serve[i] == NO_SLOT) {
			__atomic_store_n(&state->serve[i], slot, __ATOMIC_RELEASE);
			return;
		}
	}
	if (state->nr_serve < MAX_EVENTS) {
		state->serve[state->nr_serve] = slot;
		__atomic_store_n(&state->nr_serve, state->nr_serve + 1, __ATOMIC_RELEASE);
	}
}

/*
 * Put the maps where the program looks them up. An update waits for a grace period, but what it
 * writes is seen at once: so all of them in one.
 */
static int provide(const struct leader *leader)
{
	__u32 slots[MAX_EVENTS], nr = 0;
	int fds[MAX_EVENTS], err = 0;

	for (__u32 slot = 0; slot < MAX_EVENTS && !err; slot++) {
		__u32 want = leader->registry->diff_ids[slot], have = 0;

		if (!is_offered(leader, slot) ||
		    (!bpf_map_lookup_elem(leader->map_fds[LEADER_DIFFS], &slot, &have) && have == want))
			continue;
		fds[nr] = bpf_map_get_fd_by_id(want);
		if (fds[nr] < 0)
			err = -errno;
		else
			slots[nr++] = slot;
	}
	if (!err && nr && bpf_map_update_batch(leader->map_fds[LEADER_DIFFS], slots, fds, &nr, NULL))
		err = -errno;
	while (nr--)
		close(fds[nr]);
	return err;
}

static void serve_slots(struct leader *leader)
{
	for (int slot = 0; slot < MAX_EVENTS; slot++) {
		if (!is_offered(leader, slot))
			continue;
		for (int cpu = 0; cpu < leader->nr_cpus; cpu++) {
			if (!is_served(&leader->cpus[cpu], slot))
				add_served(&leader->cpus[cpu], slot);
		}
	}
}

void leader_serve__withdraw(struct leader *leader, int first, int nr)
{
	if (!leader->registry->is_serving)
		return;
	for (int cpu = 0; cpu < leader->nr_cpus; cpu++) {
		struct cpu_state *state = &leader->cpus[cpu];

		for (__u32 i = 0; i < state->nr_serve && i < MAX_EVENTS; i++) {
			if (state->serve[i] >= first && state->serve[i] < first + nr)
				__atomic_store_n(&state->serve[i], NO_SLOT, __ATOMIC_RELEASE);
		}
	}
	/* Whatever still writes there has ended; what is in it stays there. */
	if (leader_tasks__wait())
		return;
	for (int slot = first; slot < first + nr; slot++) {
		if (leader->registry->diff_ids[slot])
			zero(leader, slot);
	}
}

/* --- followers --- */

static __u32 on_switch_id(const struct leader *leader)
{
	return leader->registry->prog_ids[LEADER_ON_SWITCH];
}

bool leader_serve__has_followers(const struct leader *leader, int slot)
{
	return leader->registry->is_serving && leader->registry->diff_ids[slot] &&
	       foreign__nr_users(&leader->registry->diff_ids[slot], 1, on_switch_id(leader));
}

static bool has_strangers(const struct leader *leader)
{
	for (int cpu = 0; cpu < leader->nr_cpus; cpu++) {
		if (leader->cpus[cpu].strangers)
			return true;
	}
	return false;
}

bool leader_serve__is_wanted(const struct leader *leader)
{
	return leader->registry->is_serving ? leader->task_link_fds[TASK_LINK_SWITCH] < 0 :
					      has_strangers(leader);
}

/* What is counted from now on is found by the followers' first runs there. */
static void run_on_switch(const struct leader *leader)
{
	LIBBPF_OPTS(bpf_test_run_opts, opts, .flags = BPF_F_TEST_RUN_ON_CPU);

	for (int cpu = 0; cpu < leader->nr_cpus; cpu++) {
		opts.cpu = cpu;
		bpf_prog_test_run_opts(leader->prog_fds[LEADER_ON_SWITCH], &opts);
	}
}

static int start(struct leader *leader)
{
	bool is_new = !leader->registry->is_serving;
	int err = leader_links__follow_switches(leader);

	if (err)
		return err;
	leader->registry->is_serving = 1;
	leader__step("serving");
	serve_slots(leader);
	leader__set_mode(leader, MODE_SERVE, true);
	err = provide(leader);
	if (err)
		return err;
	run_on_switch(leader);
	if (is_new)
		pr_verbose("events are served to followers of other implementations");
	return 0;
}

int leader_serve__start(struct leader *leader)
{
	int err = attr_map__relock_own(leader->attr_map);

	if (err)
		return err;
	if (leader_serve__is_wanted(leader))
		err = start(leader);
	attr_map__unlock(leader->attr_map);
	return err;
}

static void stop(struct leader *leader)
{
	struct registry *reg = leader->registry;

	leader__set_mode(leader, MODE_SERVE, false);
	/* What may still be written to is looked after by the next repair. */
	if (leader_tasks__wait())
		return;
	for (int slot = 0; slot < MAX_EVENTS; slot++) {
		if (reg->diff_ids[slot])
			zero(leader, slot);
	}
	for (int cpu = 0; cpu < leader->nr_cpus; cpu++) {
		struct cpu_state *state = &leader->cpus[cpu];

		state->nr_serve = 0;
		for (int slot = 0; slot < MAX_EVENTS; slot++)
			state->served[slot].gen = 0;
		state->strangers = 0;
	}
	reg->is_serving = 0;
	reg->is_hidden = 0;
	leader_links__leave_switches(leader);
}

/* Entries of ours lead nobody here any more; those who are here keep what they have. */
static void hide(struct leader *leader, bool on)
{
	struct attr_map_value value;

	leader->registry->is_hidden = on;
	for (int slot = 0; slot < MAX_EVENTS && on; slot++) {
		const struct attr_key *key = &leader->registry->event[slot].key;

		if (is_offered(leader, slot) && !attr_map__get(leader->attr_map, key, &value) &&
		    value.link_id == leader->registry->link_id)
			attr_map__remove(leader->attr_map, key);
	}
}

void leader_serve__repair(struct leader *leader)
{
	int nr;

	if (!leader->registry->is_serving)
		return;
	nr = foreign__nr_users(leader->registry->diff_ids, MAX_EVENTS, on_switch_id(leader));
	/* A follower that is about to attach holds the protocol's lock. */
	if (!nr && leader->attr_map->has_map_lock) {
		stop(leader);
		return;
	}
	if (start(leader))
		pr_verbose("followers of other implementations cannot be served");
	if (nr >= 0)
		hide(leader, nr >= MAX_FOLLOWERS);
}
