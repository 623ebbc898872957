// SPDX-License-Identifier: GPL-2.0
#include "util/bperf/foreign_followers.h"

#include "util/bperf/attr_map.h"
#include "util/bperf/crash_point.h"
#include "util/bperf/diff_maps.h"
#include "util/bperf/identify.h"
#include "util/bperf/leader_announce.h"
#include "util/bperf/leader.h"
#include "util/bperf/leader_internal.h"
#include "util/bperf/leader_links.h"
#include "util/bperf/leader_sync.h"
#include "util/bperf/shared_word.h"
#include "util/host/bpf_info.h"
#include "util/host/capability.h"
#include "util/lib/msg.h"
#include "util/lib/util.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* An entry of cpu_state.serve that was withdrawn; the program skips it. */
#define NO_SLOT 0xffff

/*
 * Followers that can attach a program to ours, on the whole machine (BPF_MAX_TRAMP_LINKS is 36 to 38). One
 * more would count nothing without noticing, so newcomers must make leaders of their own.
 */
#define MAX_FOLLOWERS 30

/* How long a leader serves without a session that holds its link, after the last look at it. */
#define SERVE_MS (60 * 60 * 1000ULL)

/* A run of on_switch on each CPU, with all that can interrupt it. */
#define LAST_WRITES_US 10000

/* A run of on_switch that interrupts another one leaves the end of serving to the next run on its CPU. */
#define END_TRIES 10

/* --- which slots --- */

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
	__u32 nr;

	for (__u32 i = 0; i < state->nr_serve && i < MAX_EVENTS; i++) {
		if (state->serve[i] == NO_SLOT) {
			__atomic_store_n(&state->serve[i], slot, __ATOMIC_RELEASE);
			return;
		}
	}
	nr = shared_nr(&state->nr_serve, MAX_EVENTS);
	if (nr < MAX_EVENTS) {
		state->serve[nr] = slot;
		__atomic_store_n(&state->nr_serve, nr + 1, __ATOMIC_RELEASE);
	}
}

static void serve_slots(struct bperf_leader *leader)
{
	for (int slot = 0; slot < MAX_EVENTS; slot++) {
		if (!diff_maps__is_ready(leader, slot))
			continue;
		for (int cpu = 0; cpu < leader->nr_cpus; cpu++) {
			if (!is_served(&leader->cpus[cpu], slot))
				add_served(&leader->cpus[cpu], slot);
		}
	}
}

void foreign_followers__withdraw(struct bperf_leader *leader, int first, int nr)
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
	/*
	 * Whatever still writes there has ended; what is in it stays there. Without memory to wait for that, it still ends
	 * soon: followers would add a difference that stays at each switch.
	 */
	if (leader_sync__wait())
		usleep(LAST_WRITES_US);
	for (int slot = first; slot < first + nr; slot++) {
		if (leader->registry->diff_ids[slot])
			diff_maps__zero(leader, slot);
	}
}

/* --- followers --- */

static __u32 on_switch_id(const struct bperf_leader *leader)
{
	return leader->registry->prog_ids[LEADER_ON_SWITCH];
}

/* Only new programs are looked at: this is also done under the lock. */
static int see_newcomers(struct bperf_leader *leader)
{
	if (!leader->followers.last_id)
		return -EAGAIN;
	return identify__look(&leader->followers, leader->registry->diff_ids, MAX_EVENTS,
			      on_switch_id(leader));
}

void foreign_followers__look(struct bperf_leader *leader)
{
	memset(leader->is_followed, 0, sizeof(leader->is_followed));
	leader->followers = (struct foreign_users){.used = leader->is_followed};
	if (!leader->registry->is_serving)
		return;
	capability__raise();
	if (identify__look(&leader->followers, leader->registry->diff_ids, MAX_EVENTS,
			   on_switch_id(leader)))
		leader->followers.last_id = 0;
	capability__lower();
	crash_point__reach("followers-seen");
}

bool foreign_followers__has_followers(struct bperf_leader *leader, int slot)
{
	return leader->registry->is_serving && leader->registry->diff_ids[slot] &&
	       (see_newcomers(leader) || leader->is_followed[slot]);
}

int foreign_followers__nr_followers(struct bperf_leader *leader)
{
	int err = see_newcomers(leader);

	return err ? err : leader->followers.nr;
}

static bool is_foreign_waiting(const struct bperf_leader *leader)
{
	for (int cpu = 0; cpu < leader->nr_cpus; cpu++) {
		if (leader->cpus[cpu].foreign_executions)
			return true;
	}
	return false;
}

/* Events that were opened while others are served. */
static bool has_unserved(const struct bperf_leader *leader)
{
	for (int slot = 0; slot < MAX_EVENTS; slot++) {
		if (diff_maps__is_ready(leader, slot) && !is_served(&leader->cpus[0], slot))
			return true;
	}
	return false;
}

bool foreign_followers__is_wanted(const struct bperf_leader *leader)
{
	return is_foreign_waiting(leader) ||
	       (leader->registry->is_serving &&
		(leader->task_link_fds[SERVE_LINK_SWITCH] < 0 || has_unserved(leader)));
}

static int run_on_switch(const struct bperf_leader *leader, int cpu)
{
	LIBBPF_OPTS(bpf_test_run_opts, opts, .flags = BPF_F_TEST_RUN_ON_CPU, .cpu = cpu);

	return bpf_prog_test_run_opts(leader->prog_fds[LEADER_ON_SWITCH], &opts) ? -errno : 0;
}

static void forget_served(struct cpu_state *state)
{
	for (int slot = 0; slot < MAX_EVENTS; slot++)
		state->served_gen[slot] = 0;
}

static void set_end(struct bperf_leader *leader, __u64 until_ns)
{
	for (int cpu = 0; cpu < leader->nr_cpus; cpu++)
		__atomic_store_n(&leader->cpus[cpu].serve_until_ns, until_ns, __ATOMIC_SEQ_CST);
}

static __u64 end_without_holder(void)
{
	return clock_ns() + crash_point__setting(CRASH_SERVE_MS, SERVE_MS) * NSEC_PER_MSEC;
}

void foreign_followers__renew_end(struct bperf_leader *leader)
{
	set_end(leader, leader_links__has_holder(leader) ? 0 : end_without_holder());
}

/*
 * Serve on all CPUs; drop what was counted while nothing was served. Where that begins, it has an end until the
 * pins are gone, see foreign_pins__replace().
 */
static void serve_cpus(struct bperf_leader *leader)
{
	bool begins = false;

	for (int cpu = 0; cpu < leader->nr_cpus; cpu++) {
		if (leader->cpus[cpu].mode & MODE_SERVE)
			continue;
		forget_served(&leader->cpus[cpu]);
		begins = true;
	}
	if (begins)
		set_end(leader, end_without_holder());
	bperf_leader__set_mode(leader, MODE_SERVE, true);
	for (int cpu = 0; cpu < leader->nr_cpus; cpu++)
		leader->cpus[cpu].foreign_executions = 0;
}

int foreign_followers__serve(struct bperf_leader *leader)
{
	struct registry *reg = leader->registry;
	int err;

	/* The sessions that held the link were killed, so switches were missed. */
	if (reg->is_serving && !bpf_info__is_link_alive(reg->task_link_ids[SERVE_LINK_SWITCH]))
		bperf_leader__set_mode(leader, MODE_SERVE, false);
	err = leader_links__follow_switches(leader);
	if (err)
		return err;
	reg->is_serving = 1;
	crash_point__reach("serving");
	leader_announce__all(leader);
	serve_slots(leader);
	serve_cpus(leader);
	return 0;
}

/* Run on_switch once on each CPU, so that followers begin with current values. */
void foreign_followers__settle(struct bperf_leader *leader)
{
	if (!leader->registry->is_serving)
		return;
	if (diff_maps__provide(leader))
		pr_verbose("followers of other implementations cannot be served");
	crash_point__reach("followers-served");
	for (int cpu = 0; cpu < leader->nr_cpus; cpu++)
		(void)run_on_switch(leader, cpu); /* CPUs that are offline have none */
}

/*
 * End serving on a CPU by a run of on_switch that finds the time over. The run leaves zeros and clears the
 * mode. No later run writes, and no earlier one is still running, so such a run on each CPU takes the place
 * of a grace period. An offline CPU has its run when it is back.
 */
static int end_on(const struct bperf_leader *leader, int cpu)
{
	const __u32 *mode = &leader->cpus[cpu].mode;

	for (int i = 0; i < END_TRIES; i++) {
		int err;

		if (!(__atomic_load_n(mode, __ATOMIC_ACQUIRE) & MODE_SERVE))
			return 0;
		err = run_on_switch(leader, cpu);
		if (err)
			return err == -ENXIO ? 0 : err;
	}
	return -EAGAIN;
}

static int end_on_all(struct bperf_leader *leader)
{
	int err = 0;

	set_end(leader, 1);
	for (int cpu = 0; cpu < leader->nr_cpus && !err; cpu++)
		err = end_on(leader, cpu);
	return err;
}

static void stop(struct bperf_leader *leader)
{
	struct registry *reg = leader->registry;

	for (int cpu = 0; cpu < leader->nr_cpus; cpu++) {
		struct cpu_state *state = &leader->cpus[cpu];

		if (!(state->mode & MODE_SERVE))
			state->nr_serve = 0;
		state->foreign_executions = 0;
		forget_served(state);
	}
	reg->is_serving = 0;
	reg->is_hidden = 0;
	crash_point__reach("serving-ended");
	/* Followers to come must not find a link that goes now. */
	leader_announce__all(leader);
	leader_links__leave_switches(leader);
}

/* Withdraw our entries: new followers go elsewhere, and those that are here keep what they have. */
static void hide(struct bperf_leader *leader, bool on)
{
	struct attr_map_value value;

	leader->registry->is_hidden = on;
	for (int slot = 0; slot < MAX_EVENTS && on; slot++) {
		const struct attr_key *key = &leader->registry->event[slot].key;

		if (diff_maps__is_ready(leader, slot) &&
		    !attr_map__get(leader->attr_map, key, &value) &&
		    leader_links__is_own(leader->registry, value.link_id))
			attr_map__remove(leader->attr_map, key);
	}
}

void foreign_followers__repair(struct bperf_leader *leader)
{
	int nr;

	if (!leader->registry->is_serving)
		return;
	nr = foreign_followers__nr_followers(leader);
	/* A follower that is about to attach holds the protocol's lock. */
	if (!nr && attr_map__try_protocol(leader->attr_map) &&
	    !foreign_followers__nr_followers(leader) && !end_on_all(leader)) {
		stop(leader);
		return;
	}
	if (foreign_followers__serve(leader))
		pr_verbose("followers of other implementations cannot be served");
	if (nr >= 0)
		hide(leader, nr >= MAX_FOLLOWERS);
}
