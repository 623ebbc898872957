// SPDX-License-Identifier: GPL-2.0
#include "util/profile/sample_source.h"

#include "util/lib/util.h"
#include "util/profile/ring_sampler.h"
#include "util/sample/sampler.h"
#include "util/symbol/symbols.h"

#include <errno.h>
#include <stdlib.h>

struct sample_source_ops {
	int (*set)(void *sampler, bool enable);
	int (*set_ranges)(void *sampler, const struct address_ranges *ranges);
	int (*collect)(void *sampler, sample_fn expect, sample_fn fn, void *ctx);
	int (*look_ms)(const void *sampler);
	bool (*is_due)(const void *sampler);
	/* readable when handle_wakeup() must be called. Both may be left out, as is_due(): always */
	int (*wakeup_fd)(const void *sampler);
	void (*handle_wakeup)(void *sampler);
	void (*account)(const void *sampler, int event, struct sample_account *account);
	bool (*try_leave)(void *sampler); /* may be left out, if delete() does not wait */
	void (*delete)(void *sampler);
};

struct sample_source {
	const struct sample_source_ops *ops;
	void *sampler; /* owned */
};

static int make(const struct sample_source_ops *ops, void *sampler, struct sample_source **out)
{
	struct sample_source *source = malloc(sizeof(*source));

	if (!source) {
		ops->delete (sampler);
		return -ENOMEM;
	}
	*source = (struct sample_source){ops, sampler};
	*out = source;
	return 0;
}

/* --- the shared sampler --- */

static int shared_set(void *sampler, bool enable)
{
	if (enable)
		return sampler__enable(sampler);
	sampler__disable(sampler);
	return 0;
}

static int shared_set_ranges(void *sampler, const struct address_ranges *ranges)
{
	return sampler__set_ranges(sampler, ranges);
}

static int shared_collect(void *sampler, sample_fn expect, sample_fn fn, void *ctx)
{
	return sampler__collect(sampler, expect, fn, ctx);
}

static int shared_look_ms(const void *sampler)
{
	return sampler__look_ms(sampler);
}

static bool shared_is_due(const void *sampler)
{
	return sampler__is_due(sampler);
}

static int shared_wakeup_fd(const void *sampler)
{
	return sampler__wakeup_fd(sampler);
}

static void shared_handle_wakeup(void *sampler)
{
	sampler__handle_wakeup(sampler);
}

static void shared_account(const void *sampler, int event, struct sample_account *account)
{
	sampler__account(sampler, event, account);
}

static bool shared_try_leave(void *sampler)
{
	return sampler__try_leave(sampler);
}

static void shared_delete(void *sampler)
{
	sampler__delete(sampler);
}

static const struct sample_source_ops shared_ops = {
	.set = shared_set,
	.set_ranges = shared_set_ranges,
	.collect = shared_collect,
	.look_ms = shared_look_ms,
	.is_due = shared_is_due,
	.wakeup_fd = shared_wakeup_fd,
	.handle_wakeup = shared_handle_wakeup,
	.account = shared_account,
	.try_leave = shared_try_leave,
	.delete = shared_delete,
};

int sample_source__open_shared(const struct sample_request *request, struct sample_source **out)
{
	struct sampler *sampler;
	int err;

	err = sampler__open(request->options, &sampler);
	if (err)
		return err;
	symbols__follow(request->symbols);
	return make(&shared_ops, sampler, out);
}

/* --- ring buffers --- */

static int ring_set(void *sampler, bool enable)
{
	return ring_sampler__set(sampler, enable);
}

static int ring_set_ranges(void *sampler, const struct address_ranges *ranges)
{
	ring_sampler__set_ranges(sampler, ranges);
	return 0;
}

/* Samples come in order with the records of execs: none needs another one. */
static int ring_collect(void *sampler, sample_fn expect __unused, sample_fn fn, void *ctx)
{
	return ring_sampler__collect(sampler, fn, ctx);
}

static int ring_look_ms(const void *sampler)
{
	return ring_sampler__collect_ms(sampler);
}

static void ring_account(const void *sampler, int event, struct sample_account *account)
{
	ring_sampler__account(sampler, event, account);
}

static void ring_delete(void *sampler)
{
	ring_sampler__delete(sampler);
}

static const struct sample_source_ops ring_ops = {
	.set = ring_set,
	.set_ranges = ring_set_ranges,
	.collect = ring_collect,
	.look_ms = ring_look_ms,
	.account = ring_account,
	.delete = ring_delete,
};

int sample_source__open_ring(const struct sample_request *request, struct sample_source **out)
{
	struct ring_sampler *sampler;
	int err = ring_sampler__open(request->options, request->events, request->threads,
				     request->symbols, &sampler);

	return err ? err : make(&ring_ops, sampler, out);
}

/* --- both --- */

bool sample_source__try_leave(struct sample_source *source)
{
	return !source->ops->try_leave || source->ops->try_leave(source->sampler);
}

void sample_source__delete(struct sample_source *source)
{
	if (!source)
		return;
	source->ops->delete (source->sampler);
	free(source);
}

int sample_source__set(struct sample_source *source, bool enable)
{
	return source->ops->set(source->sampler, enable);
}

int sample_source__set_ranges(struct sample_source *source, const struct address_ranges *ranges)
{
	return source->ops->set_ranges(source->sampler, ranges);
}

int sample_source__collect(struct sample_source *source, sample_fn expect, sample_fn fn, void *ctx)
{
	return source->ops->collect(source->sampler, expect, fn, ctx);
}

int sample_source__look_ms(const struct sample_source *source)
{
	return source->ops->look_ms(source->sampler);
}

bool sample_source__is_due(const struct sample_source *source)
{
	return !source->ops->is_due || source->ops->is_due(source->sampler);
}

int sample_source__wakeup_fd(const struct sample_source *source)
{
	return source->ops->wakeup_fd ? source->ops->wakeup_fd(source->sampler) : -1;
}

void sample_source__handle_wakeup(struct sample_source *source)
{
	if (source->ops->handle_wakeup)
		source->ops->handle_wakeup(source->sampler);
}

void sample_source__account(const struct sample_source *source, int event,
			    struct sample_account *account)
{
	source->ops->account(source->sampler, event, account);
}
