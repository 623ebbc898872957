// SPDX-License-Identifier: GPL-2.0
/* The end of a session's scopes while CPUs change their scope sets. */
#include "said.h"
#include "scope_set_world.h"

#include "util/bperf/leader_internal.h"
#include "util/bperf/scope.h"

#include <sched.h>

#define SESSION 0

static struct cpu_state *changing; /* a CPU that is in the middle of a change; NULL: none */
static int nr_yields;

/* Readers of a sequence count call this between their tries. The CPU leaves its scope set then. */
int sched_yield(void)
{
	nr_yields++;
	if (changing) {
		changing->scope_set[SCOPE_SET_TASK] = 0;
		changing->seq++;
	}
	return 0;
}

/*
 * Remove the scope of a session. No task is in its scope set any more, CPU 1 still is.
 * Return: the session that owns the scope now, plus 1; 0: none, it is gone
 */
static __u32 owner_after_removal(struct world *world, struct cpu_state *cpus)
{
	struct bperf_leader leader = {
		.registry = world->reg,
		.nr_cpus = NR_CPUS,
		.cpus = cpus,
		.scope_sets = world->c,
		/* Programs that walk tasks cannot be loaded. */
		.map_fds = {[0 ... NR_LEADER_MAPS - 1] = -1},
		.prog_fds = {[0 ... NR_LEADER_PROGS - 1] = -1},
		.task_link_fds = {[0 ... NR_TASK_LINKS - 1] = -1},
		.session = SESSION,
	};
	int scope = add_scope_of(world, SESSION, 0x3, true);
	struct said said;

	cpus[1].scope_set[SCOPE_SET_TASK] = with(world, 0, scope);
	nr_yields = 0;
	/* If tasks are to be walked, the missing programs are reported. */
	said__begin(&said);
	scope__remove_kind(&leader, SESSION, SCOPE_SET_TASK);
	free(said__end(&said));
	return world->reg->scope[scope].session;
}

static void no_task_is_walked_for_a_cpu_that_just_leaves_the_scope_set(void **state)
{
	struct cpu_state *cpus = calloc(NR_CPUS, sizeof(*cpus));

	assert_non_null(cpus);
	cpus[1].seq = 7;
	changing = &cpus[1];
	assert_int_equal(owner_after_removal(*state, cpus), 0);
	assert_int_equal(nr_yields, 1);
	assert_int_equal(nr_scope_sets(*state), 0);
	changing = NULL;
	free(cpus);
}

static void tasks_are_walked_for_a_cpu_that_stays_in_the_scope_set(void **state)
{
	struct cpu_state *cpus = calloc(NR_CPUS, sizeof(*cpus));

	assert_non_null(cpus);
	assert_int_equal(owner_after_removal(*state, cpus), NO_SESSION + 1);
	assert_int_equal(nr_yields, 0);
	free(cpus);
}

static void tasks_are_walked_for_a_cpu_that_stays_in_the_middle_of_a_change(void **state)
{
	struct cpu_state *cpus = calloc(NR_CPUS, sizeof(*cpus));

	assert_non_null(cpus);
	cpus[1].seq = 7;
	assert_int_equal(owner_after_removal(*state, cpus), NO_SESSION + 1);
	assert_true(nr_yields > 0);
	free(cpus);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			no_task_is_walked_for_a_cpu_that_just_leaves_the_scope_set, setup,
			teardown),
		cmocka_unit_test_setup_teardown(
			tasks_are_walked_for_a_cpu_that_stays_in_the_scope_set, setup, teardown),
		cmocka_unit_test_setup_teardown(
			tasks_are_walked_for_a_cpu_that_stays_in_the_middle_of_a_change, setup,
			teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
