// SPDX-License-Identifier: GPL-2.0
/* The new cgroups that sessions wait for, until all sessions that watch have looked at them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "util/bperf/cgroup_pool.h"
#include "util/bperf/leader_internal.h"
#include "util/host/bpf_info.h"
#include "util/lib/util.h"

#include <stdlib.h>
#include <unistd.h>

#define NR_CREATED 5000

static struct bperf_leader leader;

/* A token that is alive. Without the right to make one, each number passes for alive. */
static __u32 make_token(void)
{
	__u32 token = 1;

	leader.token_fd = bpf_info__new_map("token", -1);
	if (leader.token_fd >= 0)
		assert_int_equal(bpf_info__map_id(leader.token_fd, &token), 0);
	return token;
}

/* Session 0 has looked at all new cgroups just now; session 1 is the one that lags. */
static int make_leader(void **state)
{
	__u32 token = make_token();

	(void)state;
	leader.registry = calloc(1, sizeof(*leader.registry));
	leader.pool = calloc(MAX_POOL_ENTRIES, sizeof(*leader.pool));
	leader.cgroup_clock = calloc(1, sizeof(*leader.cgroup_clock));
	if (!leader.registry || !leader.pool || !leader.cgroup_clock)
		return -1;
	leader.cgroup_clock->nr_created = NR_CREATED;
	leader.registry->session[0].token = leader.registry->session[1].token = token;
	leader.registry->session[0].nr_seen = NR_CREATED + 1;
	/* None gets old while a test runs. */
	for (int i = 0; i < MAX_POOL_ENTRIES; i++)
		leader.pool[i].created_ns = UINT64_MAX / 2;
	return 0;
}

static int delete_leader(void **state)
{
	(void)state;
	free(leader.registry);
	free(leader.pool);
	free(leader.cgroup_clock);
	if (leader.token_fd >= 0)
		close(leader.token_fd);
	return 0;
}

/* Return: whether a session that has not looked at the latest @nr new cgroups is passed over at the first. */
static bool is_passed_over(__u64 nr)
{
	leader.registry->session[1].nr_seen = NR_CREATED - nr + 1;
	leader.registry->nr_reclaimed = NR_CREATED - nr;
	return cgroup_pool__can_reclaim(&leader);
}

static void a_session_that_lags_is_waited_for_until_its_places_are_needed(void **state)
{
	static const struct {
		__u64 window, nr;
	} rows[] = {
		{0, 1024}, {16, 1008}, {85, 939}, {256, 768}, {341, 768}, {1024, 768}, {~0ULL, 768},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		leader.cgroup_clock->window = rows[i].window;
		assert_false(is_passed_over(1));
		assert_false(is_passed_over(rows[i].nr));
		assert_true(is_passed_over(rows[i].nr + 1));
	}
}

static void a_session_that_lags_for_100_ms_is_passed_over(void **state)
{
	(void)state;
	leader.cgroup_clock->window = 16;
	assert_false(is_passed_over(3));
	leader.pool[(NR_CREATED - 3) % MAX_POOL_ENTRIES].created_ns = clock_ns() - 101000000;
	assert_true(is_passed_over(3));
	assert_false(is_passed_over(2));
}

static void nothing_is_given_up_that_no_session_has_seen(void **state)
{
	(void)state;
	leader.cgroup_clock->window = MAX_POOL_ENTRIES;
	leader.registry->session[0].nr_seen = NR_CREATED - 1000 + 1;
	assert_false(is_passed_over(1000));
	assert_true(is_passed_over(1001));
	/* A session that is gone lags no more. */
	leader.registry->session[1].nr_seen = 0;
	assert_true(cgroup_pool__can_reclaim(&leader));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, make_leader, delete_leader)
	const struct CMUnitTest tests[] = {
		TEST(a_session_that_lags_is_waited_for_until_its_places_are_needed),
		TEST(a_session_that_lags_for_100_ms_is_passed_over),
		TEST(nothing_is_given_up_that_no_session_has_seen),
	};

	return cmocka_run_group_tests_name("cgroup_pool", tests, NULL, NULL);
}
