// SPDX-License-Identifier: GPL-2.0
#include "util/bperf/leader_sample.h"

#include "util/bperf/leader_internal.h"
#include "util/bperf/leader_maps.h"

struct reg_sample *leader_sample__place(struct bperf_leader *leader)
{
	return &leader->registry->sample;
}

int leader_sample__need_maps(struct bperf_leader *leader)
{
	return leader_maps__need(leader, MAPS_SCOPES);
}

int leader_sample__map_fd(const struct bperf_leader *leader, enum leader_map map)
{
	return leader->map_fds[map];
}

int leader_sample__session(const struct bperf_leader *leader)
{
	return leader->session;
}

__u32 leader_sample__token(const struct bperf_leader *leader)
{
	return leader->token;
}
