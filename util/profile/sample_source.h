/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_PROFILE_SAMPLE_SOURCE_H
#define PERF_PROFILE_SAMPLE_SOURCE_H

/* The source of a profile's samples: the shared sampler, or ring buffers of one's own. */

#include "util/sample/sampler.h"

#include <stdbool.h>

struct address_ranges;
struct evlist;
struct symbols;
struct thread_map;

struct sample_source;

/* The input of opening a source. Everything is borrowed. */
struct sample_request {
	const struct sampler_options *options;
	struct evlist *events;
	const struct thread_map *threads; /* of a target of tasks; otherwise NULL */
	struct symbols *symbols;
};

/** sample_source__open_shared() - sample by the leader's events; 0, or -errno as sampler__open() */
int sample_source__open_shared(const struct sample_request *request, struct sample_source **out);

/** sample_source__open_ring() - sample without BPF; 0 or -errno after a message */
int sample_source__open_ring(const struct sample_request *request, struct sample_source **out);

/**
 * sample_source__try_leave() - give up events and places as far as that needs no wait for a lock
 *
 * The last call but sample_source__delete(). Return: whether sample_source__delete() will not wait.
 */
bool sample_source__try_leave(struct sample_source *source);

/** sample_source__delete() - stop sampling and release everything. NULL is ignored */
void sample_source__delete(struct sample_source *source);

/* As the functions of sampler.h. */
int sample_source__set(struct sample_source *source, bool enable);
/* Only for options.has_ranges. @ranges are borrowed. */
int sample_source__set_ranges(struct sample_source *source, const struct address_ranges *ranges);
int sample_source__collect(struct sample_source *source, sample_fn expect, sample_fn fn, void *ctx);
int sample_source__look_ms(const struct sample_source *source);
bool sample_source__is_due(const struct sample_source *source);
int sample_source__wakeup_fd(const struct sample_source *source); /* -1: none */
void sample_source__handle_wakeup(struct sample_source *source);
void sample_source__account(const struct sample_source *source, int event,
			    struct sample_account *account);

#endif
