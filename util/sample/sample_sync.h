/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_SAMPLE_SAMPLE_SYNC_H
#define PERF_SAMPLE_SAMPLE_SYNC_H

/* Bringing the sampled CPUs up to date for one session. */

#include <stdbool.h>
#include <stdint.h>

struct sampler;

/** sample_sync__has() - whether the session samples a CPU */
bool sample_sync__has(const struct sampler *sampler, int cpu);

/**
 * sample_sync__all() - sync its CPUs, and while it is enabled add up what events did since the last sync
 * @ops: SAMPLE_*
 *
 * Return: 0 or -errno.
 */
int sample_sync__all(struct sampler *sampler, uint32_t ops);

#endif
