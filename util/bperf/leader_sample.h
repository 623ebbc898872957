/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_BPERF_LEADER_SAMPLE_H
#define PERF_BPERF_LEADER_SAMPLE_H

/* The leader's parts that sampling sessions share with it, for the room sample. */

#include "bpf_skel/leader_registry.h"

struct bperf_leader;

/** leader_sample__place() - where sessions find the object for sampling; under the lock of tasks */
struct reg_sample *leader_sample__place(struct bperf_leader *leader);

/** leader_sample__need_maps() - have the maps of scope sets; under the lock of tasks. 0 or -errno */
int leader_sample__need_maps(struct bperf_leader *leader);

/** leader_sample__map_fd() - a map of the leader, borrowed; maps of scope sets: when needed before */
int leader_sample__map_fd(const struct bperf_leader *leader, enum leader_map map);

/** leader_sample__session(), __token() - our number among the sessions, and the id of our token */
int leader_sample__session(const struct bperf_leader *leader);
__u32 leader_sample__token(const struct bperf_leader *leader);

#endif
