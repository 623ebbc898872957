// SPDX-License-Identifier: GPL-2.0
#include "util/sample/sample_sleepers.h"

#include <stdbool.h>

/* Return: whether a session has not collected since so many looks. */
static bool is_asleep(struct sample_sleepers *sleepers, const struct sample_plan *plan, int i)
{
	uint32_t token = plan->sampler[i].token, turns = plan->turns[i];
	bool is_same = sleepers->seen[i].token == token && sleepers->seen[i].turns == turns;

	sleepers->seen[i].token = token;
	sleepers->seen[i].turns = turns;
	sleepers->seen[i].looks = is_same ? sleepers->seen[i].looks + 1 : 0;
	if (sleepers->seen[i].looks > SLEEPER_LOOKS)
		sleepers->seen[i].looks = SLEEPER_LOOKS;
	return token && sleepers->seen[i].looks == SLEEPER_LOOKS;
}

void sample_sleepers__find(struct sample_sleepers *sleepers, struct sample_plan *plan)
{
	for (int i = 0; i < MAX_SAMPLERS; i++) {
		if (is_asleep(sleepers, plan, i))
			__atomic_fetch_or(&plan->sleepers, 1ULL << i, __ATOMIC_SEQ_CST);
	}
}

void sample_sleepers__wake(struct sample_plan *plan, int sampler)
{
	plan->turns[sampler]++;
	__atomic_fetch_and(&plan->sleepers, ~(1ULL << sampler), __ATOMIC_SEQ_CST);
}
