/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_HOST_PROG_MAPS_H
#define PERF_HOST_PROG_MAPS_H

/* All maps of a BPF program, however many the kernel reports. */

#include <linux/bpf.h>
#include <stdbool.h>
#include <stdint.h>

struct prog_maps {
	struct bpf_prog_info info; /* of the program */
	uint32_t *ids;
	uint32_t nr;
	uint32_t max; /* for which @ids has room */
};

/**
 * prog_maps__read() - ask the kernel for a program and its maps
 * @maps: zero at first; can be used again, released by prog_maps__clear()
 *
 * Return: 0 or -errno.
 */
int prog_maps__read(struct prog_maps *maps, int prog_fd);

/** prog_maps__has() - whether a map is one of them; 0 is the id of none */
bool prog_maps__has(const struct prog_maps *maps, uint32_t id);

void prog_maps__clear(struct prog_maps *maps);

#endif
