// SPDX-License-Identifier: GPL-2.0
#include "util/event/event_config.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "util/event/event_names.h"
#include "util/event/event_terms.h"
#include "util/event/parse_error.h"
#include "util/event/pmu.h"
#include "util/host/cpumap.h"
#include "util/lib/msg.h"
#include "util/lib/program.h"
#include "util/lib/util.h"

/* In sysfs, events may refer to events; a deeper chain is a loop. */
#define MAX_DEPTH 4

struct applying {
	struct event_config *config;
	struct pmus *pmus;
	const struct pmu *pmu;
	const struct event_terms *terms; /* as typed */
	bool general_only;
	bool generic; /* no term but a generic name sets config */
	struct parse_error *err;
};

enum general {
	GENERAL_CONFIG,
	GENERAL_CONFIG1,
	GENERAL_CONFIG2,
	GENERAL_CONFIG3,
	GENERAL_CONFIG4,
	GENERAL_NAME,
	GENERAL_PERIOD,
	GENERAL_PERCORE,
	GENERAL_METRIC_ID,
	GENERAL_CPU,
	GENERAL_LEGACY_HARDWARE,
	GENERAL_LEGACY_CACHE,
	NR_GENERAL_USABLE,
	GENERAL_SAMPLING = NR_GENERAL_USABLE,
};

/* Terms of every PMU. The terms of sampling are listed for better messages. */
static const struct {
	const char *name;
	enum general term;
} general_terms[] = {
	{"config", GENERAL_CONFIG},
	{"config1", GENERAL_CONFIG1},
	{"config2", GENERAL_CONFIG2},
	{"config3", GENERAL_CONFIG3},
	{"config4", GENERAL_CONFIG4},
	{"name", GENERAL_NAME},
	{"period", GENERAL_PERIOD},
	{"percore", GENERAL_PERCORE},
	{"metric-id", GENERAL_METRIC_ID},
	{"cpu", GENERAL_CPU},
	{"legacy-hardware-config", GENERAL_LEGACY_HARDWARE},
	{"legacy-cache-config", GENERAL_LEGACY_CACHE},
	{"freq", GENERAL_SAMPLING},
	{"branch_type", GENERAL_SAMPLING},
	{"time", GENERAL_SAMPLING},
	{"call-graph", GENERAL_SAMPLING},
	{"stack-size", GENERAL_SAMPLING},
	{"max-stack", GENERAL_SAMPLING},
	{"nr", GENERAL_SAMPLING},
	{"inherit", GENERAL_SAMPLING},
	{"no-inherit", GENERAL_SAMPLING},
	{"overwrite", GENERAL_SAMPLING},
	{"no-overwrite", GENERAL_SAMPLING},
	{"driver-config", GENERAL_SAMPLING},
	{"aux-output", GENERAL_SAMPLING},
	{"aux-action", GENERAL_SAMPLING},
	{"aux-sample-size", GENERAL_SAMPLING},
	{"ratio-to-prev", GENERAL_SAMPLING},
};

void event_config__clear(struct event_config *config)
{
	cpumap__delete(config->cpus);
	memset(config, 0, sizeof(*config));
}

void event_config__set_legacy(struct event_config *config, struct pmus *pmus, const struct pmu *pmu,
			      uint32_t type, uint64_t value)
{
	/*
	 * On heterogeneous machines the upper half of config is the PMU's type (commit
	 * 55bcf6ef314a "perf: Extend PERF_TYPE_HARDWARE and PERF_TYPE_HW_CACHE", 5.13).
	 */
	if (pmu && pmu->is_core && pmus__nr_core(pmus) > 1)
		value |= (uint64_t)pmu->type << 32;
	config->attr.type = type;
	config->attr.config = value;
	config->legacy = true;
}

static int find_general(const char *name)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(general_terms); i++) {
		if (!strcmp(name, general_terms[i].name))
			return general_terms[i].term;
	}
	return -1;
}

/* Return: the member for a config word. */
static void *config_word(struct event_config *config, int word)
{
	switch (word) {
	case 0:
		return &config->attr.config;
	case 1:
		return &config->attr.config1;
	case 2:
		return &config->attr.config2;
	default:
		assert(word - 3 < NR_MORE_CONFIG);
		return &config->more[word - 3];
	}
}

static void set_word(struct applying *a, int word, uint64_t mask, uint64_t value)
{
	void *place = config_word(a->config, word);
	uint64_t bits = 0, whole;

	memcpy(&whole, place, sizeof(whole));
	whole &= ~mask;
	/* spread the value over the set bits of the mask, lowest first */
	for (; mask; mask &= mask - 1, value >>= 1) {
		if (value & 1)
			bits |= mask & -mask;
	}
	whole |= bits;
	memcpy(place, &whole, sizeof(whole));
}

static int need_number(struct applying *a, const struct event_term *term, uint64_t *value)
{
	int err;

	if (!term->value)
		return parse_error__set(a->err, term->column,
					xasprintf("'%s' needs a value", term->name), NULL);
	err = event_number__parse(term->value, value);
	if (!err)
		return 0;
	return parse_error__set(a->err, term->value_column,
				strdup(err == -ERANGE ? "value too big: more than 64 bits" :
							"expected numeric value"),
				NULL);
}

static int need_string(struct applying *a, const struct event_term *term)
{
	if (term->value)
		return 0;
	return parse_error__set(a->err, term->column, strdup("expected string value"), NULL);
}

/* cpu=N, cpu=N-M, cpu=PMU: several add up. */
static int add_cpus(struct applying *a, const struct event_term *term)
{
	struct event_config *config = a->config;
	struct cpumap *cpus = NULL, *sum;
	const struct pmu *pmu;
	int err = need_string(a, term);

	if (err)
		return err;
	if (isdigit((unsigned char)*term->value)) {
		cpus = cpumap__parse(term->value);
		if (!cpus)
			return parse_error__set(a->err, term->value_column,
						strdup("expected a CPU, a range of CPUs or a PMU"),
						NULL);
	} else {
		pmu = pmus__find(a->pmus, term->value);
		if (!pmu)
			return parse_error__set(a->err, term->value_column,
						xasprintf("no PMU of the name '%s'", term->value),
						NULL);
		if (pmu->cpus) {
			cpus = cpumap__dup(pmu->cpus);
			if (!cpus)
				return -ENOMEM;
		}
	}
	if (!config->cpus_given) {
		config->cpus = cpus;
	} else if (config->cpus && cpus) {
		sum = cpumap__or(config->cpus, cpus);
		cpumap__delete(cpus);
		if (!sum)
			return -ENOMEM;
		cpumap__delete(config->cpus);
		config->cpus = sum;
	} else {
		/* one of them means all CPUs */
		cpumap__delete(cpus);
		cpumap__delete(config->cpus);
		config->cpus = NULL;
	}
	config->cpus_given = true;
	return 0;
}

static int refuse_term(struct applying *a, const struct event_term *term)
{
	char *command __cleanup(free_ptr) = program__rename(msg__prefix());

	return parse_error__set(
		a->err, term->column,
		command ? xasprintf("'%s' is not usable in '%s'", term->name, command) : NULL,
		NULL);
}

static int apply_general(struct applying *a, const struct event_term *term, enum general which)
{
	struct event_config *config = a->config;
	uint64_t value = 1;
	int err;

	switch (which) {
	case GENERAL_NAME:
	case GENERAL_METRIC_ID:
		err = need_string(a, term);
		if (!err && which == GENERAL_NAME)
			config->name = term->value;
		else if (!err)
			config->metric_id = term->value;
		return err;
	case GENERAL_CPU:
		return add_cpus(a, term);
	case GENERAL_PERCORE:
		err = term->value ? need_number(a, term, &value) : 0;
		if (!err && value > 1)
			return parse_error__set(a->err, term->value_column,
						strdup("value too big: percore is 0 or 1"), NULL);
		config->percore = value;
		return err;
	case GENERAL_SAMPLING:
		return refuse_term(a, term);
	default:
		break;
	}
	err = need_number(a, term, &value);
	if (which == GENERAL_PERIOD)
		config->has_period = true;
	if (err || which == GENERAL_PERIOD)
		return err;
	if (which == GENERAL_LEGACY_HARDWARE || which == GENERAL_LEGACY_CACHE) {
		event_config__set_legacy(config, a->pmus, a->pmu,
					 which == GENERAL_LEGACY_HARDWARE ? PERF_TYPE_HARDWARE :
									    PERF_TYPE_HW_CACHE,
					 value);
		return 0;
	}
	if (which == GENERAL_CONFIG)
		config->is_raw = true;
	set_word(a, which - GENERAL_CONFIG, ~0ULL, value);
	return 0;
}

static int apply_format(struct applying *a, const struct event_term *term,
			const struct pmu_format *format)
{
	int bits = __builtin_popcountll(format->mask), err;
	uint64_t max = bits < 64 ? (1ULL << bits) - 1 : ~0ULL, value = 1;

	/* a flag needs no value, a number does */
	if (term->value || bits > 1) {
		err = need_number(a, term, &value);
		if (err)
			return err;
	}
	if (value > max)
		return parse_error__set(a->err, term->value_column,
					xasprintf("value too big for format (%s), maximum is %llu",
						  format->name, (unsigned long long)max),
					NULL);
	set_word(a, format->word, format->mask, value);
	return 0;
}

static int apply_term(struct applying *a, const struct event_term *term, int depth);

static bool is_typed(const struct event_terms *terms, const char *name)
{
	int i;

	for (i = 0; i < terms->nr; i++) {
		if (terms->terms[i].value && !strcmp(terms->terms[i].name, name))
			return true;
	}
	return false;
}

/* Apply the terms of a named event. */
static int expand_event(struct applying *a, const struct event_term *term,
			const struct pmu_event *event, int depth)
{
	struct event_config *config = a->config;
	struct event_terms terms = {.terms = NULL};
	size_t len;
	int err, i;

	if (depth >= MAX_DEPTH || !event->terms)
		return parse_error__set(
			a->err, term->column,
			xasprintf("cannot read event '%s' of PMU '%s'", event->name, a->pmu->name),
			NULL);
	if ((event->unit[0] && config->unit_of) || (event->has_scale && config->scale_of))
		return parse_error__set(
			a->err, term->column,
			xasprintf("'%s' and '%s' both have a unit or scale",
				  (config->unit_of ? config->unit_of : config->scale_of)->name,
				  event->name),
			NULL);
	if (event->unit[0])
		config->unit_of = event;
	if (event->has_scale)
		config->scale_of = event;
	config->per_pkg |= event->per_pkg;
	config->snapshot |= event->snapshot;
	if (!config->event)
		config->event = event;

	err = event_terms__parse(event->terms, -1, '\0', &terms, &len, a->err);
	for (i = 0; !err && i < terms.nr; i++) {
		struct event_term *part = &terms.terms[i];

		/* report errors inside as errors of this name */
		part->column = part->value_column = term->column;
		if (part->value && !strcmp(part->value, "?")) {
			if (is_typed(a->terms, part->name))
				continue;
			err = parse_error__set(
				a->err, term->column,
				xasprintf("event '%s' needs '%s=VALUE'", event->name, part->name),
				NULL);
		} else {
			err = apply_term(a, part, depth + 1);
		}
	}
	event_terms__clear(&terms);
	return err;
}

static int unknown_term(struct applying *a, const struct event_term *term)
{
	const struct pmu_format *format = NULL;
	const struct pmu_event *event = NULL;
	const char **names __cleanup(free_ptr) = NULL;
	char *help = NULL, *reason;
	size_t size, nr = 0, i;
	FILE *out = open_memstream(&help, &size);
	bool has_pmu = a->pmu && !a->general_only;

	if (!out)
		return -ENOMEM;
	for (; has_pmu && (format = pmu__next_format(a->pmu, format)); nr++)
		;
	for (; has_pmu && (event = pmu__next_event(a->pmu, event)); nr++)
		;
	names = calloc(nr + ARRAY_SIZE(general_terms) + 1, sizeof(*names));
	nr = 0;
	fputs("valid terms: ", out);
	while (has_pmu && (format = pmu__next_format(a->pmu, format))) {
		fprintf(out, "%s,", format->name);
		if (names)
			names[nr++] = format->name;
	}
	for (i = 0; i < NR_GENERAL_USABLE; i++) {
		/* the last two are internal */
		if (general_terms[i].term >= GENERAL_LEGACY_HARDWARE)
			break;
		fprintf(out, "%s%s", i ? "," : "", general_terms[i].name);
		if (names)
			names[nr++] = general_terms[i].name;
	}
	while (names && has_pmu && (event = pmu__next_event(a->pmu, event)))
		names[nr++] = event->name;
	if (fclose(out)) {
		free(help);
		return -ENOMEM;
	}
	if (names && !a->err->reason) {
		const char *nearest = nearest_name(term->name, names);

		a->err->suggestion = nearest ? strdup(nearest) : NULL;
	}
	if (has_pmu)
		reason = xasprintf("unknown term '%s' for pmu '%s'", term->name, a->pmu->name);
	else
		reason = xasprintf("unknown term '%s'", term->name);
	return parse_error__set(a->err, term->column, reason, help);
}

/* Apply a generic name on a core PMU. With other terms it means the PMU's event of that name. */
static int apply_legacy(struct applying *a, const struct event_term *term, const char *name,
			uint32_t type, uint64_t value, int depth)
{
	const struct pmu_event *event = NULL;
	const struct event_name *row;

	if (a->generic && !depth) {
		event_config__set_legacy(a->config, a->pmus, a->pmu, type, value);
		return 0;
	}
	row = event_name__find(hw_events, name);
	if (a->pmu)
		event = pmu__event(a->pmu, name);
	if (a->pmu && !event && row) {
		event = pmu__event(a->pmu, row->name);
		if (!event && row->alias)
			event = pmu__event(a->pmu, row->alias);
	}
	if (event)
		return expand_event(a, term, event, depth);
	return parse_error__set(
		a->err, term->column,
		xasprintf("generic event '%s' takes no other terms of the PMU", name), NULL);
}

/* Return: whether terms are one generic name and otherwise do not change config. */
static bool is_generic(const struct applying *a)
{
	int generic = 0, other = 0, i;
	uint64_t config;
	uint32_t type;

	for (i = 0; i < a->terms->nr; i++) {
		const struct event_term *term = &a->terms->terms[i];
		int which = find_general(term->name);

		if (!term->value && legacy_event__find(term->name, &type, &config))
			generic++;
		else if (which < 0 || which <= GENERAL_CONFIG4 || which >= GENERAL_LEGACY_HARDWARE)
			other += !term->is_driver;
	}
	return generic == 1 && !other;
}

static int apply_term(struct applying *a, const struct event_term *term, int depth)
{
	int which = find_general(term->name);
	const struct pmu_format *format;
	const struct pmu_event *event;
	const char *name = NULL;
	uint64_t value;
	uint32_t type;

	if (term->is_driver) {
		/* tracing PMUs use them to record; they do not affect counting */
		pr_verbose("driver term '@%s' has no effect in %s stat", term->name,
			   program__name());
		return 0;
	}
	if (which >= 0 && which < NR_GENERAL_USABLE) {
		/* only the user's: names in nested terms do not live long enough */
		if (depth && (which == GENERAL_NAME || which == GENERAL_METRIC_ID))
			return 0;
		return apply_general(a, term, which);
	}
	if (!term->value)
		name = term->name;
	else if (!strcmp(term->name, "event") &&
		 event_number__parse(term->value, &value) == -EINVAL)
		name = term->value;
	if (name && !a->general_only && (!a->pmu || a->pmu->is_core) &&
	    legacy_event__find(name, &type, &value))
		return apply_legacy(a, term, name, type, value, depth);
	if (a->pmu && !a->general_only) {
		event = name ? pmu__event(a->pmu, name) : NULL;
		if (event)
			return expand_event(a, term, event, depth);
		format = pmu__format(a->pmu, term->name);
		if (format)
			return apply_format(a, term, format);
		if (!term->value && !event_raw__parse(term->name, true, &value)) {
			a->config->is_raw = true;
			set_word(a, 0, ~0ULL, value);
			return 0;
		}
	}
	if (which == GENERAL_SAMPLING)
		return apply_general(a, term, which);
	return unknown_term(a, term);
}

int event_config__apply(struct event_config *config, struct pmus *pmus, const struct pmu *pmu,
			bool general_only, const struct event_terms *terms, struct parse_error *err)
{
	struct applying a = {
		.config = config,
		.pmus = pmus,
		.pmu = pmu,
		.terms = terms,
		.general_only = general_only,
		.err = err,
	};
	int ret = 0, i;

	a.generic = is_generic(&a);
	for (i = 0; !ret && i < terms->nr; i++)
		ret = apply_term(&a, &terms->terms[i], 0);
	return ret;
}
