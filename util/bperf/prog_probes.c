// SPDX-License-Identifier: GPL-2.0
#include "util/bperf/prog_probes.h"

#include "bpf_skel/prog_pair.h"
#include "util/bperf/leader_internal.h"
#include "util/bperf/task_btf.h"
#include "util/host/bpf_info.h"
#include "util/lib/util.h"
#include "util/target/bpf_prog.h"

#include "bpf_skel/prog_pair.skel.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef ENOTSUPP
#define ENOTSUPP 524 /* the kernel's own, not for user space, and yet seen there */
#endif

struct prog_probes {
	struct prog_pair_bpf *skel;
	struct bpf_link *links[NR_PAIR_LINKS];
};

/* The types that probes need, for the loader; -1: it has to look for itself. */
static int task_types(struct bperf_leader *leader)
{
	__u32 *shared = leader->registry->switch_offsets, offsets[2];

	memcpy(offsets, shared, sizeof(offsets));
	if (!offsets[0] || !offsets[1]) {
		if (task_btf__find(offsets))
			return -1;
		memcpy(shared, offsets, sizeof(offsets));
	}
	return task_btf__new(offsets);
}

static int open_and_load(struct bperf_leader *leader, const struct bpf_prog *target,
			 struct prog_pair_bpf **out)
{
	int types __cleanup(close_fd) = task_types(leader);
	LIBBPF_OPTS(bpf_object_open_opts, opts);
	struct prog_pair_bpf *skel;
	char path[64];
	int err;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", types);
	if (types >= 0)
		opts.btf_custom_path = path;
	skel = prog_pair_bpf__open_opts(&opts);

	if (!skel)
		return -errno;
	bpf_map__set_max_entries(skel->maps.prog_cpus, leader->nr_cpus);
	bpf_map__set_max_entries(skel->maps.prog_frames, MAX_FRAMES(leader->nr_cpus));
	err = bpf_map__reuse_fd(skel->maps.events, leader->map_fds[LEADER_EVENTS]);
	if (!err)
		err = bpf_map__reuse_fd(skel->maps.foreign, leader->map_fds[LEADER_FOREIGN]);
	if (!err)
		err = bpf_map__reuse_fd(skel->maps.cpus, leader->map_fds[LEADER_CPUS]);
	if (!err)
		err = bpf_program__set_attach_target(skel->progs.on_enter, target->fd,
						     target->name);
	if (!err)
		err = bpf_program__set_attach_target(skel->progs.on_leave, target->fd,
						     target->name);
	if (!err)
		err = prog_pair_bpf__load(skel);
	if (err)
		prog_pair_bpf__destroy(skel);
	else
		*out = skel;
	return err;
}

int prog_probes__load(struct bperf_leader *leader, const struct bpf_prog *target,
		      struct prog_probes **out)
{
	struct prog_probes *probes = calloc(1, sizeof(*probes));
	int err = probes ? open_and_load(leader, target, &probes->skel) : -ENOMEM;

	if (err)
		free(probes);
	else
		*out = probes;
	return err;
}

static int attach(const struct bpf_program *prog, struct bpf_link **link, __u32 *id)
{
	*link = bpf_program__attach_trace(prog);
	return *link ? bpf_info__link_id(bpf_link__fd(*link), id) : -errno;
}

static void detach(struct prog_probes *probes)
{
	for (int i = 0; i < NR_PAIR_LINKS; i++) {
		bpf_link__destroy(probes->links[i]);
		probes->links[i] = NULL;
	}
}

int prog_probes__attach(struct prog_probes *probes, struct reg_pair *ids)
{
	const struct prog_pair_bpf *skel = probes->skel;
	int err;

	/* A program that enters without being seen leaving is worse than the other way round. */
	err = attach(skel->progs.on_leave, &probes->links[PAIR_LEAVE], &ids->link_ids[PAIR_LEAVE]);
	if (!err)
		err = attach(skel->progs.on_enter, &probes->links[PAIR_ENTER],
			     &ids->link_ids[PAIR_ENTER]);
	if (!err)
		err = bpf_info__map_id(bpf_map__fd(skel->maps.bss), &ids->map_ids[PAIR_PLAN]);
	if (!err)
		err = bpf_info__map_id(bpf_map__fd(skel->maps.prog_cpus), &ids->map_ids[PAIR_CPUS]);
	if (err)
		detach(probes);
	return err;
}

void prog_probes__delete(struct prog_probes *probes)
{
	if (!probes)
		return;
	detach(probes);
	prog_pair_bpf__destroy(probes->skel);
	free(probes);
}

char *prog_probes__why_not(const struct bpf_prog *target, int err)
{
	char *known;

	switch (-err) {
	case ENOTSUPP:
	case EOPNOTSUPP:
		return strdup(
			"this kernel cannot attach probes to BPF programs (x86-64: Linux 5.5, arm64: 6.0; or its hypervisor forbids it)");
	case EBUSY:
		return strdup("another program replaces it (freplace), which excludes probes");
	case E2BIG:
		return strdup("as many probes as the kernel allows are attached to it already");
	case EPERM:
		return strdup("not permitted (run as root)");
	default:
		known = bpf_prog__why_not(target);
		return known ? known : strdup(strerror(-err));
	}
}
