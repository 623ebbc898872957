// SPDX-License-Identifier: GPL-2.0
#include "util/cmd/stat_explain.h"

#include "util/event/evsel.h"
#include "util/host/explain.h"

#include <stddef.h>

/* The number under which explain__note() files a refusal. */
static int number_of(const struct evsel *evsel)
{
	return evsel ? evsel->idx : -1;
}

static struct stat_explain *to_explain(struct refusal_sink *sink)
{
	return (struct stat_explain *)sink;
}

static void begin(struct refusal_sink *sink)
{
	stat_explain__clear(to_explain(sink));
	to_explain(sink)->explain = explain__start();
}

static void end(struct refusal_sink *sink)
{
	explain__stop(to_explain(sink)->explain);
}

static void refused(struct refusal_sink *sink, const struct evsel *evsel, int err)
{
	explain__note(to_explain(sink)->explain, number_of(evsel), err);
}

static void print(struct refusal_sink *sink, const struct evsel *evsel)
{
	explain__print(to_explain(sink)->explain, number_of(evsel),
		       evsel ? evsel->name : "sharing");
}

struct refusal_sink *stat_explain__init(struct stat_explain *self)
{
	*self = (struct stat_explain){
		.sink = {.begin = begin, .end = end, .refused = refused, .print = print},
	};
	return &self->sink;
}

void stat_explain__clear(struct stat_explain *self)
{
	explain__delete(self->explain);
	self->explain = NULL;
}
