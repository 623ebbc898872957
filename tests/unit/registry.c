// SPDX-License-Identifier: GPL-2.0
/* The registry without BPF: a fake kernel holds events, runs die at every step there is. */
#include "crash.h"
#include "util/registry.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define DYING 2				/* token of the run that dies */

/* The world around a registry. */
struct world {
	struct registry *reg;
	bool dead[64];			/* by token */
	bool has_event[MAX_EVENTS];	/* perf events in the slot */
	bool is_announced[MAX_EVENTS];
	int fail_open;			/* errno of the next open, 0: works */
	int fail_at;			/* member whose events fail */
	int nr_opened;
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
	return 0;
}

static void fake_close(void *ctx, int first, int nr)
{
	struct world *world = ctx;

	for (int i = 0; i < nr; i++) {
		world->is_announced[first + i] = false;
		crash__step("some-silent");
		world->has_event[first + i] = false;
		crash__step("some-closed");
	}
}

static void fake_announce(void *ctx, int first, int nr)
{
	for (int i = 0; i < nr; i++)
		((struct world *)ctx)->is_announced[first + i] = true;
}

static struct registry_io io_of(struct world *world)
{
	return (struct registry_io){
		.is_alive = fake_is_alive,
		.open = fake_open,
		.close = fake_close,
		.announce = fake_announce,
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

static int add_run(struct world *world, int token)
{
	const struct registry_io io = io_of(world);
	const struct reg_run run = { .token = token, .pid = token };

	return registry__add_run(world->reg, &io, &run);
}

static int join(struct world *world, int run, int n)
{
	const struct registry_io io = io_of(world);
	struct attr_key k = key(n);

	return registry__join(world->reg, &io, run, &k, 1);
}

static int join_group(struct world *world, int run, int from, int nr)
{
	const struct registry_io io = io_of(world);
	struct attr_key keys[MAX_EVENTS + 1];

	for (int i = 0; i < nr; i++)
		keys[i] = key(from + i);
	return registry__join(world->reg, &io, run, keys, nr);
}

static int nr_events(const struct world *world)
{
	int nr = 0;

	for (int slot = 0; slot < MAX_EVENTS; slot++)
		nr += world->has_event[slot];
	return nr;
}

/* What must hold whenever nobody is in the middle of a change. */
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

static void two_runs_share_one_event(void **state)
{
	struct world *world = *state;
	int a = add_run(world, 1), b = add_run(world, 2);
	int slot = join(world, a, 7);

	assert_int_not_equal(a, b);
	assert_in_range(slot, 0, MAX_EVENTS - 1);
	assert_int_equal(join(world, b, 7), slot);
	assert_int_equal(world->nr_opened, 1);
	assert_int_not_equal(join(world, b, 8), slot);
	assert_int_equal(nr_events(world), 2);
	assert_int_equal(registry__nr_runs(world->reg), 2);
	check(world);
}

static void an_event_lives_as_long_as_somebody_counts_it(void **state)
{
	struct world *world = *state;
	const struct registry_io io = io_of(world);
	int a = add_run(world, 1), b = add_run(world, 2);
	int slot = join(world, a, 7);

	join(world, b, 7);
	registry__leave(world->reg, &io, a, slot);
	assert_true(world->has_event[slot]);
	/* Leaving twice must not take another's event away. */
	registry__leave(world->reg, &io, a, slot);
	assert_true(world->has_event[slot]);
	registry__remove_run(world->reg, &io, b);
	assert_int_equal(nr_events(world), 0);
	assert_int_equal(registry__nr_runs(world->reg), 1);
	check(world);
}

static void groups_are_shared_only_as_a_whole(void **state)
{
	struct world *world = *state;
	const struct registry_io io = io_of(world);
	int a = add_run(world, 1), b = add_run(world, 2);
	int group = join_group(world, a, 10, 3);

	assert_int_equal(nr_events(world), 3);
	assert_int_equal(join_group(world, b, 10, 3), group);
	assert_int_equal(nr_events(world), 3);
	/* A part of it, one member, the same in other order: other events. */
	assert_int_not_equal(join_group(world, b, 10, 2), group);
	assert_int_not_equal(join(world, b, 10), group);
	assert_int_equal(nr_events(world), 6);
	registry__remove_run(world->reg, &io, b);
	assert_int_equal(nr_events(world), 3);
	check(world);
}

static void a_refused_event_leaves_nothing(void **state)
{
	struct world *world = *state;
	int a = add_run(world, 1);

	world->fail_open = ENOENT;
	world->fail_at = 2;
	assert_int_equal(join_group(world, a, 10, 4), -ENOENT);
	assert_int_equal(nr_events(world), 0);
	check(world);
	world->fail_open = 0;
	assert_return_code(join_group(world, a, 10, 4), 0);
	check(world);
}

static void full_tables_refuse_the_next_and_nobody_else(void **state)
{
	struct world *world = *state;
	int a = add_run(world, 1);

	for (int i = 0; i < MAX_EVENTS; i++)
		assert_return_code(join(world, a, 100 + i), 0);
	assert_int_equal(join(world, a, 99), -ENOSPC);
	assert_int_equal(join_group(world, a, 5, 2), -ENOSPC);
	assert_return_code(join(world, a, 100), 0);
	for (int i = 1; i < MAX_RUNS; i++)
		assert_return_code(add_run(world, 1), 0);
	assert_int_equal(add_run(world, 2), -ENOSPC);
	check(world);
}

static void a_dead_run_is_forgotten_with_its_events(void **state)
{
	struct world *world = *state;
	const struct registry_io io = io_of(world);
	int a = add_run(world, 1), b = add_run(world, 2);
	int shared = join(world, a, 7), own = join(world, a, 8);

	join(world, b, 7);
	world->dead[1] = true;
	registry__repair(world->reg, &io);
	assert_true(world->has_event[shared]);
	assert_false(world->has_event[own]);
	assert_int_equal(registry__nr_runs(world->reg), 1);
	check(world);
}

/* --- death at every step --- */

/* Joins a group and events of its own and shared ones, leaves one, then goes. */
static void live(void *ctx)
{
	struct world *world = ctx;
	const struct registry_io io = io_of(world);
	int run, group, own;

	registry__repair(world->reg, &io);
	run = add_run(world, DYING);
	join(world, run, 7);
	group = join_group(world, run, 20, 3);
	own = join(world, run, 8);
	registry__leave(world->reg, &io, run, own);
	registry__leave(world->reg, &io, run, group);
	registry__remove_run(world->reg, &io, run);
}

/* What the next run does after it died. */
static void repair(void *ctx)
{
	struct world *world = ctx;
	const struct registry_io io = io_of(world);

	registry__repair(world->reg, &io);
}

/* The living notice nothing, of the dead nothing is left. */
static void check_witness(const struct world *world, int slot, int group)
{
	assert_true(world->has_event[slot]);
	assert_true(world->has_event[group] && world->has_event[group + 1]);
	assert_int_equal(nr_events(world), 3);
	check(world);
}

static void death_at_any_step_is_repaired_by_the_next_run(void **state)
{
	struct world *world = *state;
	struct crash_names seen = {};
	int witness = add_run(world, 1), step;
	int slot = join(world, witness, 7);
	int group = join_group(world, witness, 30, 2);

	check_witness(world, slot, group);
	for (step = 0; crash__at(step, live, world); step++) {
		crash__note(&seen);
		world->dead[DYING] = true;
		repair(world);
		assert_int_equal(registry__nr_runs(world->reg), 1);
		check_witness(world, slot, group);
		world->dead[DYING] = false;
	}
	check_witness(world, slot, group);
	/* The walk has been everywhere. */
	assert_in_range(step, 30, 1000);
	assert_in_range(seen.nr, 15, 64);
}

static void death_during_repair_is_repaired_too(void **state)
{
	struct world *world = *state;
	int witness = add_run(world, 1);
	int slot = join(world, witness, 7);
	int group = join_group(world, witness, 30, 2);

	for (int first = 0; crash__at(first, live, world); first++) {
		struct registry before = *world->reg;
		struct world copy = *world;
		bool died = true;

		/* Every step of the repair of that state, each from the same beginning. */
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

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(two_runs_share_one_event),
		TEST(an_event_lives_as_long_as_somebody_counts_it),
		TEST(groups_are_shared_only_as_a_whole),
		TEST(a_refused_event_leaves_nothing),
		TEST(full_tables_refuse_the_next_and_nobody_else),
		TEST(a_dead_run_is_forgotten_with_its_events),
		TEST(death_at_any_step_is_repaired_by_the_next_run),
		TEST(death_during_repair_is_repaired_too),
	};

	return cmocka_run_group_tests_name("registry", tests, NULL, NULL);
}
