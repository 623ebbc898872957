/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_SAMPLE_SAMPLER_H
#define PERF_SAMPLE_SAMPLER_H

/*
 * Sampling with aggregation in the kernel, by perf events that all sampling sessions share.
 *
 *	sampler__open()		join the leader, claim slots, open events where there are none yet
 *	sampler__enable()	samples go to this session's tables from now on
 *	sampler__collect()	empty the tables; repeat whenever sampler__is_due()
 *	sampler__disable()	no more samples; what is in the tables stays for a last collect
 *	sampler__account()	totals of every event, losses by reason
 *	sampler__try_leave()	leave, if no lock has to be waited for
 *	sampler__delete()	leave
 *
 * One thread at a time uses a sampler.
 */

#include "util/sample/sample_account.h"
#include "util/sample/sample_types.h"

#include <errno.h>

struct address_ranges;
struct sampler;

/* Sharing is impossible just now, as a warning has said: others hold a lock, or have all of something. */
#define SAMPLE_OTHERWISE (-ECANCELED)

/** sampler_options__max_frames() - the frames of each level that stacks have at most: no more than the kernel walks */
int sampler_options__max_frames(const struct sampler_options *options);

/**
 * sampler__open() - join the leader, and open what is to be sampled
 * @out: on success; released by sampler__delete()
 *
 * Waits at most a second for locks.
 * Return: 0, or -errno after a message. SAMPLE_OTHERWISE; -EOPNOTSUPP: an event that cannot sample; -ESRCH: no
 * task.
 */
int sampler__open(const struct sampler_options *options, struct sampler **out);

/** sampler__enable() - begin; 0 or -errno after a message */
int sampler__enable(struct sampler *sampler);

/** sampler__disable() - end. CPUs that cannot be read end all the same, and the account has them */
void sampler__disable(struct sampler *sampler);

/**
 * sampler__set_ranges() - sample only instructions in these ranges, for options.has_ranges
 * @ranges: sorted; not used after the call
 *
 * Return: 0 or -errno after a message; SAMPLE_OTHERWISE.
 */
int sampler__set_ranges(struct sampler *sampler, const struct address_ranges *ranges);

/**
 * sampler__collect() - empty the tables of all CPUs
 * @expect: NULL, or is called once per entry before @fn is called for the first; these entries have no single samples
 * @fn: is called once per entry; calls for different CPUs and collections may have equal keys
 *
 * Also replaces the events of CPUs that came back. Ends the rates of sessions that died or stopped collecting, and its
 * own while it is disabled. A CPU that cannot be read keeps its samples until the next time.
 * Return: 0, what @expect or @fn returned, or -errno after a message.
 */
int sampler__collect(struct sampler *sampler, sample_fn expect, sample_fn fn, void *ctx);

/**
 * sampler__look_ms() - the time after which sampler__is_due() may be true
 *
 * It depends on what other sessions sample: ask again after each wakeup.
 */
int sampler__look_ms(const struct sampler *sampler);

/** sampler__is_due() - whether something may be lost unless sampler__collect() is called now. No system call */
bool sampler__is_due(const struct sampler *sampler);

/** sampler__wakeup_fd() - readable when sampler__handle_wakeup() must be called */
int sampler__wakeup_fd(const struct sampler *sampler);

/** sampler__handle_wakeup() - open events on CPUs that came online, unless another session does it */
void sampler__handle_wakeup(struct sampler *sampler);

/** sampler__account() - the totals of an event by its position in the evlist */
void sampler__account(const struct sampler *sampler, int event, struct sample_account *account);

/**
 * sampler__try_leave() - give up events, scopes and the place of the session as far as the locks are free
 *
 * The last call but sampler__delete(). Return: whether nothing is left, so that sampler__delete() will not wait.
 */
bool sampler__try_leave(struct sampler *sampler);

/** sampler__delete() - leave the leader; the events of other sessions go on. Waits at most a second. NULL is ignored */
void sampler__delete(struct sampler *sampler);

#endif
