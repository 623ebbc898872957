// SPDX-License-Identifier: GPL-2.0
/* The registry without BPF: a fake kernel holds events, and sessions die at every step. */
#include "crash.h"
#include "util/bperf/registry.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define DYING  2 /* token of the session that dies */
#define CLOSER 4 /* and 5: tokens of commands that are sessions while they close events, by turns */

/* The world around a registry. */
struct world {
	struct registry *reg;
	bool dead[64];		    /* by token */
	bool has_event[MAX_EVENTS]; /* the slot has perf events */
	bool is_announced[MAX_EVENTS];
	int fail_open; /* errno of the next open, or 0 for success */
	int fail_at;   /* member whose events fail */
	int nr_opened;
	bool is_bound;	   /* the dying session has scopes */
	bool is_lock_held; /* another process holds the protocol's lock */
	bool is_followed;
	int nr_closers;
};

static bool fake_is_alive(void *ctx, __u32 token)
{
	return !((struct world *)ctx)->dead[token];
}

static int fake_open(void *ctx, int first, int nr)
{
	struct world *world = ctx;

	for (int i = 0; i < nr; i++) {
		if (world->fail_open && i == world->fail_at)
			return -world->fail_open;
		assert_false(world->has_event[first + i]);
		world->has_event[first + i] = true;
		world->nr_opened++;
		crash__step("some-opened");
	}
	return 1;
}

static bool fake_withdraw(void *ctx, int first, int nr)
{
	struct world *world = ctx;

	for (int i = 0; i < nr; i++) {
		world->is_announced[first + i] = false;
		crash__step("some-silent");
	}
	return !world->is_lock_held;
}

static void fake_close(void *ctx, int first, int nr)
{
	struct world *world = ctx;

	for (int i = 0; i < nr; i++) {
		assert_false(world->is_announced[first + i]);
		world->has_event[first + i] = false;
		crash__step("some-closed");
	}
}

static void fake_announce(void *ctx, int first, int nr)
{
	for (int i = 0; i < nr; i++)
		((struct world *)ctx)->is_announced[first + i] = true;
}

static bool fake_is_bound(void *ctx, int session)
{
	const struct world *world = ctx;

	return world->is_bound && world->reg->session[session].token == DYING;
}

static bool fake_is_followed(void *ctx, int first __attribute__((unused)))
{
	return ((struct world *)ctx)->is_followed;
}

static struct registry_io io_of(struct world *world)
{
	return (struct registry_io){
		.is_alive = fake_is_alive,
		.is_bound = fake_is_bound,
		.open = fake_open,
		.announce = fake_announce,
		.withdraw = fake_withdraw,
		.close = fake_close,
		.is_followed = fake_is_followed,
		.step = crash__step,
		.ctx = world,
	};
}

static int setup(void **state)
{
	struct world *world = calloc(1, sizeof(*world));

	world->reg = calloc(1, sizeof(*world->reg));
	crash.countdown = -1;
	*state = world;
	return 0;
}

static int teardown(void **state)
{
	struct world *world = *state;

	free(world->reg);
	free(world);
	return 0;
}

static struct attr_key key(int n)
{
	struct attr_key k = {};

	memcpy(k.bytes, &n, sizeof(n));
	return k;
}

static int add_session(struct world *world, int token)
{
	const struct registry_io io = io_of(world);
	const struct reg_session session = {.token = token, .pid = token};

	return registry__add_session(world->reg, &io, &session);
}

static int join_keys(struct world *world, int session, const struct attr_key *keys, int nr)
{
	const struct registry_io io = io_of(world);
	bool is_new;
	int first = registry__claim(world->reg, &io, session, keys, nr, &is_new), err = 0;

	if (first >= 0 && is_new)
		err = registry__open(world->reg, &io, first);
	return err ? err : first;
}

static int join(struct world *world, int session, int n)
{
	struct attr_key k = key(n);

	return join_keys(world, session, &k, 1);
}

static int join_group(struct world *world, int session, int from, int nr)
{
	struct attr_key keys[MAX_EVENTS + 1];

	for (int i = 0; i < nr; i++)
		keys[i] = key(from + i);
	return join_keys(world, session, keys, nr);
}

static void leave(struct world *world, int session, int slot)
{
	const struct registry_io io = io_of(world);

	registry__leave(world->reg, &io, session, slot);
	registry__close(world->reg, &io, session);
}

static void end_session(struct world *world, int session)
{
	const struct registry_io io = io_of(world);

	while (!registry__leave_some(world->reg, &io, session))
		registry__close(world->reg, &io, session);
	registry__close(world->reg, &io, session);
	registry__remove(world->reg, &io, session);
}

static int nr_events(const struct world *world)
{
	int nr = 0;

	for (int slot = 0; slot < MAX_EVENTS; slot++)
		nr += world->has_event[slot];
	return nr;
}

/* Check everything that must hold while no session is in the middle of a change. */
static void check(const struct world *world)
{
	for (int slot = 0; slot < MAX_EVENTS; slot++) {
		const struct reg_event *event = &world->reg->event[slot];
		const struct reg_event *leader;

		assert_int_equal(event->state != REG_FREE, world->has_event[slot]);
		if (event->state == REG_FREE) {
			assert_false(world->is_announced[slot]);
			continue;
		}
		assert_int_equal(event->state, REG_READY);
		assert_in_range(event->leader, 0, slot);
		leader = &world->reg->event[event->leader];
		assert_int_equal(leader->state, REG_READY);
		assert_int_equal(leader->leader, event->leader);
		assert_in_range(slot, event->leader, event->leader + leader->nr_members - 1);
	}
}

static void two_sessions_share_one_event(void **state)
{
	struct world *world = *state;
	int a = add_session(world, 1), b = add_session(world, 2);
	int slot = join(world, a, 7);

	assert_int_not_equal(a, b);
	assert_in_range(slot, 0, MAX_EVENTS - 1);
	assert_int_equal(join(world, b, 7), slot);
	assert_int_equal(world->nr_opened, 1);
	assert_int_not_equal(join(world, b, 8), slot);
	assert_int_equal(nr_events(world), 2);
	assert_int_equal(registry__nr_sessions(world->reg), 2);
	check(world);
}

static void an_event_lives_as_long_as_a_session_counts_it(void **state)
{
	struct world *world = *state;
	int a = add_session(world, 1), b = add_session(world, 2);
	int slot = join(world, a, 7);

	join(world, b, 7);
	leave(world, a, slot);
	assert_true(world->has_event[slot]);
	/* Leaving twice must not remove another session's event. */
	leave(world, a, slot);
	assert_true(world->has_event[slot]);
	end_session(world, b);
	assert_int_equal(nr_events(world), 0);
	assert_int_equal(registry__nr_sessions(world->reg), 1);
	check(world);
}

static void groups_are_shared_only_as_a_whole(void **state)
{
	struct world *world = *state;
	int a = add_session(world, 1), b = add_session(world, 2);
	int group = join_group(world, a, 10, 3);

	assert_int_equal(nr_events(world), 3);
	assert_int_equal(join_group(world, b, 10, 3), group);
	assert_int_equal(nr_events(world), 3);
	/* A part of the group, one member alone, and another order are all different events. */
	assert_int_not_equal(join_group(world, b, 10, 2), group);
	assert_int_not_equal(join(world, b, 10), group);
	assert_int_equal(nr_events(world), 6);
	end_session(world, b);
	assert_int_equal(nr_events(world), 3);
	check(world);
}

static void a_refused_event_leaves_nothing(void **state)
{
	struct world *world = *state;
	int a = add_session(world, 1);

	world->fail_open = ENOENT;
	world->fail_at = 2;
	assert_int_equal(join_group(world, a, 10, 4), -ENOENT);
	assert_int_equal(nr_events(world), 0);
	check(world);
	world->fail_open = 0;
	assert_return_code(join_group(world, a, 10, 4), 0);
	check(world);
}

static void full_tables_refuse_only_the_next_session(void **state)
{
	struct world *world = *state;
	int a = add_session(world, 1);

	for (int i = 0; i < MAX_EVENTS; i++)
		assert_return_code(join(world, a, 100 + i), 0);
	assert_int_equal(join(world, a, 99), -ENOSPC);
	assert_int_equal(join_group(world, a, 5, 2), -ENOSPC);
	assert_return_code(join(world, a, 100), 0);
	for (int i = 1; i < MAX_SESSIONS; i++)
		assert_return_code(add_session(world, 1), 0);
	assert_int_equal(add_session(world, 2), -ENOSPC);
	check(world);
}

/* One holding of the lock, and what follows it. A command that is no session becomes one to close events. */
static void hold_as(struct world *world, int self, int dead)
{
	const struct registry_io io = io_of(world);
	struct reg_session closer = {};
	int session = self;

	if (dead >= 0)
		registry__forget_some(world->reg, &io, dead);
	registry__repair(world->reg, &io, self);
	if (self < 0 && registry__has_unclosed(world->reg)) {
		closer.token = CLOSER + world->nr_closers++ % 2;
		world->dead[closer.token] = false;
		session = registry__add_session(world->reg, &io, &closer);
		registry__repair(world->reg, &io, session);
	}
	if (session >= 0)
		registry__close(world->reg, &io, session);
	if (session != self)
		registry__remove(world->reg, &io, session);
}

/* Repair like the next session: each dead one in a holding of its own. */
static void repair_as(struct world *world, int self)
{
	const struct registry_io io = io_of(world);
	int dead = -1;

	/* Commands before this one have ended, or died. */
	world->dead[CLOSER] = world->dead[CLOSER + 1] = true;
	hold_as(world, self, -1);
	while (registry__find_dead(world->reg, &io, &dead))
		hold_as(world, self, dead);
}

static void a_dead_session_is_removed_with_its_events(void **state)
{
	struct world *world = *state;
	int a = add_session(world, 1), b = add_session(world, 2);
	int shared = join(world, a, 7), own = join(world, a, 8);

	join(world, b, 7);
	world->dead[1] = true;
	repair_as(world, b);
	assert_true(world->has_event[shared]);
	assert_false(world->has_event[own]);
	assert_int_equal(registry__nr_sessions(world->reg), 1);
	check(world);
}

static void a_dead_session_stays_until_its_scopes_are_gone(void **state)
{
	struct world *world = *state;
	int a = add_session(world, DYING), b = add_session(world, 1);
	int slot = join(world, a, 7);

	world->dead[DYING] = world->is_bound = true;
	repair_as(world, b);
	assert_true(world->has_event[slot]);
	assert_int_equal(registry__nr_sessions(world->reg), 2);
	world->is_bound = false;
	repair_as(world, b);
	assert_int_equal(nr_events(world), 0);
	assert_int_equal(registry__nr_sessions(world->reg), 1);
	check(world);
}

static void each_dead_session_goes_by_itself(void **state)
{
	struct world *world = *state;
	const struct registry_io io = io_of(world);
	int a = add_session(world, 1), b = add_session(world, 6), c = add_session(world, 7),
	    dead = -1;

	join(world, a, 7);
	join(world, b, 8);
	join(world, c, 9);
	world->dead[6] = world->dead[7] = true;
	for (int nr = 2; nr; nr--) {
		assert_int_equal(nr_events(world), 1 + nr);
		assert_int_equal(registry__nr_sessions(world->reg), 1 + nr);
		assert_int_not_equal(registry__find_dead(world->reg, &io, &dead), 0);
		hold_as(world, a, dead);
	}
	assert_int_equal(registry__find_dead(world->reg, &io, &dead), 0);
	assert_int_equal(nr_events(world), 1);
	assert_int_equal(registry__nr_sessions(world->reg), 1);
	check(world);
}

static void a_command_closes_nothing_before_it_is_a_session(void **state)
{
	struct world *world = *state;
	const struct registry_io io = io_of(world);
	int a = add_session(world, 1), slot = join(world, a, 7), dead = -1;

	world->dead[1] = true;
	assert_int_equal(registry__find_dead(world->reg, &io, &dead), 1);
	registry__forget_some(world->reg, &io, dead);
	registry__repair(world->reg, &io, -1);
	assert_true(world->has_event[slot] && registry__has_unclosed(world->reg));
	hold_as(world, -1, -1);
	assert_int_equal(nr_events(world), 0);
	assert_int_equal(registry__nr_sessions(world->reg), 0);
	check(world);
}

static void a_stopped_opener_keeps_its_slots(void **state)
{
	struct world *world = *state;
	const struct registry_io io = io_of(world);
	int a = add_session(world, 1), b = add_session(world, 2);
	struct attr_key k = key(7), others[] = {key(8), key(7)};
	bool is_new;
	int claimed = registry__claim(world->reg, &io, a, &k, 1, &is_new), other;

	assert_true(is_new);
	assert_true(registry__is_opening(world->reg, &k, 1));
	assert_false(registry__is_opening(world->reg, &others[0], 1));
	assert_false(registry__is_opening(world->reg, others, 2));
	/* Another session that wants the same event opens it in another slot, and may repair. */
	repair_as(world, b);
	other = join(world, b, 7);
	assert_int_not_equal(other, claimed);
	/* That one is ready: nobody has to wait. */
	assert_false(registry__is_opening(world->reg, &k, 1));
	assert_int_equal(world->reg->event[claimed].state, REG_CHANGING);
	/* The stopped session continues. */
	assert_int_equal(registry__open(world->reg, &io, claimed), 0);
	check(world);
	assert_int_equal(nr_events(world), 2);
	end_session(world, a);
	end_session(world, b);
	assert_int_equal(nr_events(world), 0);
	check(world);
}

static void a_stopped_closer_keeps_only_its_slots(void **state)
{
	struct world *world = *state;
	const struct registry_io io = io_of(world);
	int a = add_session(world, 1), b = add_session(world, 2);
	int group = join_group(world, a, 20, 3), other;

	registry__leave_some(world->reg, &io, a);
	repair_as(world, b);
	other = join_group(world, b, 20, 3);
	assert_false(other < group + 3 && group < other + 3);
	registry__close(world->reg, &io, a);
	registry__remove(world->reg, &io, a);
	assert_true(world->has_event[other] && world->has_event[other + 2]);
	assert_int_equal(nr_events(world), 3);
	check(world);
}

static void slots_freed_one_by_one_can_be_used_at_once(void **state)
{
	struct world *world = *state;
	const struct registry_io io = io_of(world);
	int a = add_session(world, 1), b = add_session(world, 2), slot;
	int group = join_group(world, a, 20, 3);
	struct attr_key k = key(7);
	bool is_new;

	/* The closer has freed the last member, and dies when another session uses its slot. */
	registry__leave_some(world->reg, &io, a);
	fake_close(world, group, 3);
	world->reg->event[group].nr_members = 2;
	world->reg->event[group + 2].state = REG_FREE;
	slot = registry__claim(world->reg, &io, b, &k, 1, &is_new);
	assert_int_equal(slot, group + 2);
	assert_int_equal(registry__open(world->reg, &io, slot), 0);
	world->dead[1] = true;
	repair_as(world, b);
	assert_true(world->has_event[slot]);
	assert_int_equal(nr_events(world), 1);
	check(world);
}

static void a_member_that_is_being_freed_belongs_to_its_closer(void **state)
{
	struct world *world = *state;
	const struct registry_io io = io_of(world);
	int a = add_session(world, 1), b = add_session(world, 2), other;
	int group = join_group(world, a, 20, 3);

	/* The closer is stopped after storing the number of members and before freeing the slot. */
	registry__leave_some(world->reg, &io, a);
	fake_close(world, group, 3);
	world->reg->event[group].nr_members = 2;
	repair_as(world, b);
	assert_int_equal(world->reg->event[group + 2].state, REG_CHANGING);
	other = join(world, b, 7);
	assert_false(other >= group && other < group + 3);
	/* It dies there, so any session may use the slot. */
	world->dead[1] = true;
	repair_as(world, b);
	assert_int_equal(nr_events(world), 1);
	check(world);
}

static void an_event_that_followers_may_have_found_stays_until_they_attach(void **state)
{
	struct world *world = *state;
	int a = add_session(world, 1), b = add_session(world, 2);
	int slot = join(world, a, 7);

	world->is_lock_held = true;
	leave(world, a, slot);
	assert_true(world->has_event[slot]);
	assert_false(world->is_announced[slot]);
	assert_true(registry__has_unclosed(world->reg));
	repair_as(world, b);
	assert_true(world->has_event[slot]);
	/* The other process has attached its followers. */
	world->is_lock_held = false;
	world->is_followed = true;
	repair_as(world, b);
	assert_int_equal(world->reg->event[slot].state, REG_READY);
	assert_false(registry__has_unclosed(world->reg));
	world->is_followed = false;
	repair_as(world, b);
	assert_int_equal(nr_events(world), 0);
	check(world);
}

/* --- death at every step --- */

/* Run a session that joins a group, shared events and events of its own, leaves one, then all. */
static void live(void *ctx)
{
	struct world *world = ctx;
	int session, group, own;

	repair_as(world, -1);
	session = add_session(world, DYING);
	join(world, session, 7);
	group = join_group(world, session, 20, 3);
	own = join(world, session, 8);
	leave(world, session, own);
	leave(world, session, group);
	join_group(world, session, 40, 2);
	end_session(world, session);
}

static int repairer;

static void repair(void *ctx)
{
	repair_as(ctx, repairer);
}

/* Check that the living sessions are unaffected, and that nothing of the dead one is left. */
static void check_witness(const struct world *world, int slot, int group)
{
	assert_true(world->has_event[slot]);
	assert_true(world->has_event[group] && world->has_event[group + 1]);
	assert_int_equal(nr_events(world), 3);
	check(world);
}

static void a_death_at_any_step_is_repaired_by_the_next_session(void **state)
{
	struct world *world = *state;
	struct crash_names seen = {};
	int witness = add_session(world, 1), step;
	int slot = join(world, witness, 7);
	int group = join_group(world, witness, 30, 2);

	check_witness(world, slot, group);
	for (step = 0; crash__at(step, live, world); step++) {
		crash__note(&seen);
		world->dead[DYING] = true;
		repairer = step % 2 ? witness : -1;
		repair(world);
		assert_int_equal(registry__nr_sessions(world->reg), 1);
		check_witness(world, slot, group);
		world->dead[DYING] = false;
	}
	check_witness(world, slot, group);
	/* The loop has reached all steps. */
	assert_in_range(step, 30, 1000);
	assert_in_range(seen.nr, 15, 64);
}

static void a_death_during_repair_is_also_repaired(void **state)
{
	struct world *world = *state;
	int witness = add_session(world, 1);
	int slot = join(world, witness, 7);
	int group = join_group(world, witness, 30, 2);

	for (int first = 0; crash__at(first, live, world); first++) {
		struct registry before = *world->reg;
		struct world copy = *world;
		bool died = true;

		/* Die at each step of the repair, each time from the same state. */
		repairer = -1;
		for (int second = 0; died; second++) {
			*world->reg = before;
			memcpy(world->has_event, copy.has_event, sizeof(copy.has_event));
			memcpy(world->is_announced, copy.is_announced, sizeof(copy.is_announced));
			world->dead[DYING] = true;
			died = crash__at(second, repair, world);
			if (died)
				repair(world);
			check_witness(world, slot, group);
		}
		world->dead[DYING] = false;
	}
}

static void many_events_are_left_in_several_holdings(void **state)
{
	struct world *world = *state;
	const struct registry_io io = io_of(world);
	int a = add_session(world, 1), nr = 100;

	for (int i = 0; i < nr; i++)
		join(world, a, 100 + i);
	for (; nr > EVENTS_AT_ONCE; nr -= EVENTS_AT_ONCE) {
		assert_false(registry__leave_some(world->reg, &io, a));
		registry__close(world->reg, &io, a);
		assert_int_equal(nr_events(world), nr - EVENTS_AT_ONCE);
	}
	end_session(world, a);
	assert_int_equal(nr_events(world), 0);
	check(world);
}

static void many_events_of_a_dead_session_are_forgotten_in_several_holdings(void **state)
{
	struct world *world = *state;
	const struct registry_io io = io_of(world);
	int a = add_session(world, 1), b = add_session(world, 2), dead = b, nr = 100;

	for (int i = 0; i < nr; i++)
		join(world, a, 100 + i);
	world->dead[1] = true;
	for (; nr > EVENTS_AT_ONCE; nr -= EVENTS_AT_ONCE) {
		/* Its place is its own until nothing of it is left. */
		assert_int_equal(registry__find_dead(world->reg, &io, &dead), 1);
		assert_false(registry__forget_some(world->reg, &io, dead));
		registry__repair(world->reg, &io, b);
		registry__close(world->reg, &io, b);
		assert_int_equal(nr_events(world), nr - EVENTS_AT_ONCE);
	}
	assert_true(registry__forget_some(world->reg, &io, dead));
	registry__repair(world->reg, &io, b);
	registry__close(world->reg, &io, b);
	assert_int_equal(registry__find_dead(world->reg, &io, &dead), 0);
	assert_int_equal(nr_events(world), 0);
	check(world);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(two_sessions_share_one_event),
		TEST(an_event_lives_as_long_as_a_session_counts_it),
		TEST(groups_are_shared_only_as_a_whole),
		TEST(a_refused_event_leaves_nothing),
		TEST(full_tables_refuse_only_the_next_session),
		TEST(a_dead_session_is_removed_with_its_events),
		TEST(a_dead_session_stays_until_its_scopes_are_gone),
		TEST(each_dead_session_goes_by_itself),
		TEST(a_command_closes_nothing_before_it_is_a_session),
		TEST(a_stopped_opener_keeps_its_slots),
		TEST(many_events_are_left_in_several_holdings),
		TEST(many_events_of_a_dead_session_are_forgotten_in_several_holdings),
		TEST(a_stopped_closer_keeps_only_its_slots),
		TEST(slots_freed_one_by_one_can_be_used_at_once),
		TEST(a_member_that_is_being_freed_belongs_to_its_closer),
		TEST(an_event_that_followers_may_have_found_stays_until_they_attach),
		TEST(a_death_at_any_step_is_repaired_by_the_next_session),
		TEST(a_death_during_repair_is_also_repaired),
	};

	return cmocka_run_group_tests_name("registry", tests, NULL, NULL);
}
