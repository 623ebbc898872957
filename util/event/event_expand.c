// SPDX-License-Identifier: GPL-2.0
#include "util/event/event_expand.h"

#include <errno.h>
#include <string.h>

#include "util/event/event_config.h"
#include "util/event/event_names.h"
#include "util/event/evlist.h"
#include "util/event/parse_error.h"
#include "util/event/pmu.h"
#include "util/host/cpumap.h"
#include "util/host/tracepoint.h"
#include "util/lib/msg.h"
#include "util/lib/program.h"
#include "util/lib/util.h"

void event_spec__clear(struct event_spec *spec)
{
	free(spec->text);
	free(spec->word);
	free(spec->tracepoint);
	event_terms__clear(&spec->terms);
	memset(spec, 0, sizeof(*spec));
}

static struct evsel *last_of(const struct evlist *list)
{
	return list->evsels[list->nr - 1];
}

/* Restrict the event to the CPUs of its PMU or of cpu= terms. */
static int set_cpus(struct evsel *evsel, const struct event_config *config)
{
	const struct pmu *pmu = evsel->pmu;
	const struct cpumap *own = pmu ? pmu->cpus : NULL;

	evsel->needs_cpu = pmu && pmu->is_uncore;
	if (config->cpus) {
		evsel->needs_cpu = true;
		/* an uncore mask is only a default, a core PMU cannot count elsewhere */
		evsel->own_cpus = own && pmu->is_core ? cpumap__and(config->cpus, own) :
							cpumap__dup(config->cpus);
	} else if (own) {
		evsel->own_cpus = cpumap__dup(own);
	} else {
		return 0;
	}
	return evsel->own_cpus ? 0 : -ENOMEM;
}

static int copy_string(char **to, const char *from)
{
	char *copy;

	if (!from)
		return 0;
	copy = strdup(from);
	if (!copy)
		return -ENOMEM;
	free(*to);
	*to = copy;
	return 0;
}

static int fill_evsel(struct evsel *evsel, const struct event_config *config)
{
	char *unit = NULL;

	if (config->unit_of) {
		if (copy_string(&unit, config->unit_of->unit))
			return -ENOMEM;
		free((char *)evsel->unit);
		evsel->unit = unit;
	}
	if (config->scale_of)
		evsel->scale = config->scale_of->scale;
	evsel->per_pkg = config->per_pkg;
	evsel->snapshot = config->snapshot;
	evsel->percore = config->percore;
	evsel->has_period = config->has_period;
	evsel->legacy = config->legacy;
	evsel->named = config->name != NULL;
	if (copy_string(&evsel->metric_id, config->metric_id) ||
	    copy_string(&evsel->pmu_event, config->event ? config->event->name : NULL))
		return -ENOMEM;
	return set_cpus(evsel, config);
}

/* Warn of bits that no format of the PMU covers; they may be a mistake. */
static void check_raw_bits(const struct event_expansion *c, const struct event_spec *spec,
			   const struct event_config *config, const struct pmu *pmu)
{
	const struct pmu_format *format = NULL;
	uint64_t known = 0, unknown;

	if (!config->is_raw || !pmu || config->attr.type != pmu->type || c->quiet)
		return;
	while ((format = pmu__next_format(pmu, format)))
		known |= format->word ? 0 : format->mask;
	unknown = config->attr.config & ~known;
	if (known && unknown)
		pr_warn("'%s': bits 0x%llx of its config are in no format of PMU '%s'", spec->text,
			(unsigned long long)unknown, pmu->name);
}

static int add_event(struct event_expansion *c, const struct event_spec *spec,
		     const struct event_config *config, const struct pmu *pmu, const char *name)
{
	bool tool = pmu && pmu__is_tool(pmu) && config->attr.type == pmu->type;
	struct evsel *evsel;
	int err;

	if (tool && (!config->attr.config || config->attr.config >= NR_TOOL_EVENTS))
		return parse_error__set(c->err, spec->column, strdup("Bad event name"),
					strdup("The PMU 'tool' has no event of that number"));
	evsel = evsel__new(&config->attr, config->name ? config->name : name);
	if (!evsel)
		return -ENOMEM;
	memcpy(evsel->more_config, config->more, sizeof(evsel->more_config));
	evsel->pmu = pmu;
	evsel->tool = tool						     ? config->attr.config :
		      pmu && pmu->is_hwmon && config->attr.type == pmu->type ? TOOL_SENSOR :
		      pmu && pmu->is_drm && config->attr.type == pmu->type   ? TOOL_DRM :
									       TOOL_NONE;
	if (evsel->tool == TOOL_BPF_RUNS) {
		evsel->tool = TOOL_NONE;
		evsel->runs = RUNS_ALL;
	}
	err = fill_evsel(evsel, config);
	if (!err)
		err = evlist__add(c->list, evsel);
	if (err)
		evsel__delete(evsel);
	else
		check_raw_bits(c, spec, config, pmu);
	return err;
}

static bool is_hybrid(const struct event_expansion *c, const struct pmu *pmu)
{
	return pmu && pmu->is_core && pmus__nr_core(c->pmus) > 1;
}

/* Put the PMU into the names of events on different kinds of cores, whose rows stay separate. */
static int name_core(const struct event_expansion *c, struct evsel *evsel)
{
	char *name;

	if (evsel->typed_pmu || evsel->named || !is_hybrid(c, evsel->pmu) || c->hybrid_merge)
		return 0;
	name = evsel__pmu_event_name(evsel);
	if (!name)
		return -ENOMEM;
	free(evsel->name);
	evsel->name = name;
	evsel->typed_pmu = true;
	return 0;
}

/* Add one event: the terms of the specification on one PMU. */
static int add_on_pmu(struct event_expansion *c, const struct event_spec *spec,
		      const struct pmu *pmu, bool typed_pmu)
{
	struct event_config config = {.attr.type = pmu ? pmu->type : PERF_TYPE_RAW};
	int err;

	err = event_config__apply(&config, c->pmus, pmu, false, &spec->terms, c->err);
	if (!err)
		err = add_event(c, spec, &config, pmu, spec->text);
	event_config__clear(&config);
	if (err)
		return err;
	last_of(c->list)->typed_pmu = typed_pmu;
	return name_core(c, last_of(c->list));
}

/* Add an event whose base is a number; only general terms apply. */
static int add_numeric(struct event_expansion *c, const struct event_spec *spec,
		       struct event_config *config, const struct pmu *pmu)
{
	int err = event_config__apply(config, c->pmus, pmu, true, &spec->terms, c->err);

	if (!err)
		err = add_event(c, spec, config, pmu, spec->text);
	event_config__clear(config);
	return err;
}

static int add_raw(struct event_expansion *c, const struct event_spec *spec, uint64_t value)
{
	const struct pmu *pmu = pmus__core(c->pmus);
	struct event_config config = {
		.attr.type = pmu ? pmu->type : PERF_TYPE_RAW, .attr.config = value, .is_raw = true};
	int err;

	while (pmu && pmu->is_core && !pmus__is_kept(c->pmus, pmu))
		pmu = pmus__next(c->pmus, pmu);
	if (pmu && pmu->is_core)
		config.attr.type = pmu->type;
	else
		pmu = NULL;
	err = add_numeric(c, spec, &config, pmu);
	return err ? err : name_core(c, last_of(c->list));
}

/* Merge the events of one specification on PMUs of one family; other families count other things. */
static void merge_events(struct event_expansion *c, int first)
{
	struct evsel **evsels = c->list->evsels;
	int nr = c->list->nr, i, j;

	for (i = first + 1; i < nr; i++) {
		if (is_hybrid(c, evsels[i]->pmu) && !c->hybrid_merge)
			continue;
		for (j = first; j < i; j++) {
			if (evsels[j]->merge_leader ||
			    evsels[i]->pmu->is_core != evsels[j]->pmu->is_core)
				continue;
			if (!evsels[i]->pmu->is_core &&
			    !pmu__same_family(evsels[i]->pmu, evsels[j]->pmu))
				continue;
			/* Temperatures cannot be summed. */
			if (evsels[i]->tool == TOOL_SENSOR && evsels[i]->snapshot)
				continue;
			if (evsels[i]->scale != evsels[j]->scale ||
			    strcmp(evsels[i]->unit, evsels[j]->unit))
				continue;
			evsels[i]->merge_leader = evsels[j];
			evsels[i]->auto_merge = evsels[j]->auto_merge = true;
			break;
		}
	}
}

/* Return: whether to try the next PMU: -EINVAL is forgotten, other errors are final. */
static bool may_go_on(int err)
{
	return !err || err == -EINVAL;
}

/* Try every PMU whose name matches the word, except @skip. */
static int try_patterns(struct event_expansion *c, const struct event_spec *spec,
			const struct pmu *skip)
{
	struct pmu *pmu = NULL;
	int err;

	while ((pmu = pmus__next(c->pmus, pmu))) {
		if (pmu == skip || !pmus__is_kept(c->pmus, pmu) || !pmu__matches(pmu, spec->word))
			continue;
		err = add_on_pmu(c, spec, pmu, true);
		if (!may_go_on(err))
			return err;
	}
	return 0;
}

/* Try every PMU that has an event of this name; the name becomes the first term. */
static int try_event(struct event_expansion *c, struct event_spec *spec)
{
	struct event_term word;
	uint64_t config;
	struct pmu *pmu = NULL;
	struct pmu *const *owners;
	uint32_t type;
	int nr = 0, err, i;
	bool legacy = legacy_event__find(spec->word, &type, &config);

	owners = legacy ? NULL : pmus__with_event(c->pmus, spec->word, &nr);
	if (!legacy && !nr)
		return 0;
	err = event_terms__add(&spec->terms, spec->word, spec->column);
	if (err)
		return err;
	word = spec->terms.terms[spec->terms.nr - 1];
	memmove(&spec->terms.terms[1], &spec->terms.terms[0], (spec->terms.nr - 1) * sizeof(word));
	spec->terms.terms[0] = word;

	if (legacy && !pmus__core(c->pmus))
		return add_on_pmu(c, spec, NULL, false);
	while (legacy && (pmu = pmus__next(c->pmus, pmu)) && pmu->is_core) {
		if (!pmus__is_kept(c->pmus, pmu))
			continue;
		err = add_on_pmu(c, spec, pmu, false);
		if (!may_go_on(err))
			return err;
	}
	for (i = 0; i < nr; i++) {
		if (!pmus__is_kept(c->pmus, owners[i]))
			continue;
		err = add_on_pmu(c, spec, owners[i], false);
		if (!may_go_on(err))
			return err;
	}
	return 0;
}

static void forget_error(struct parse_error *err)
{
	char *text = err->text;

	err->text = NULL;
	parse_error__clear(err);
	err->text = text;
}

/* Return: the known name that is most similar; owned, NULL if none is close. */
static char *suggest(struct event_expansion *c, const char *word)
{
	char cache[40][CACHE_NAME_MAX];
	const struct event_name *const tables[] = {hw_events, sw_events, tool_events};
	const struct pmu_event *event;
	const char **names __cleanup(free_ptr) = NULL;
	const char *nearest;
	struct pmu *pmu = NULL;
	uint64_t config;
	size_t nr = 256, i;
	int pos = 0;

	while ((pmu = pmus__next(c->pmus, pmu))) {
		for (nr++, event = NULL; (event = pmu__next_event(pmu, event)); nr++)
			;
	}
	names = calloc(nr, sizeof(*names));
	if (!names)
		return NULL;
	nr = 0;
	for (i = 0; i < ARRAY_SIZE(tables); i++) {
		const struct event_name *row;

		for (row = tables[i]; row->name; row++) {
			names[nr++] = row->name;
			if (row->alias)
				names[nr++] = row->alias;
		}
	}
	for (i = 0; i < ARRAY_SIZE(cache) && cache_event__next(&pos, cache[i], &config); i++)
		names[nr++] = cache[i];
	while ((pmu = pmus__next(c->pmus, pmu))) {
		names[nr++] = pmu->name;
		for (event = NULL; (event = pmu__next_event(pmu, event));)
			names[nr++] = event->name;
	}
	nearest = nearest_name(word, names);
	return nearest ? strdup(nearest) : NULL;
}

static int unknown_event(struct event_expansion *c, const struct event_spec *spec)
{
	bool slashes = spec->form == EVENT_SLASHES;

	if (c->err->reason)
		return -EINVAL;
	if (!slashes && pmus__find(c->pmus, spec->word))
		return parse_error__set(
			c->err, spec->column, strdup("no event, but a PMU"),
			xasprintf("Name an event of it, or its terms: %s/TERM=VALUE/", spec->word));
	c->err->suggestion = suggest(c, spec->word);
	return parse_error__set(c->err, spec->column,
				strdup(slashes ? "Bad event or PMU" : "Bad event name"),
				xasprintf("Unable to find %sevent on a PMU of '%s'",
					  slashes ? "PMU or " : "", spec->word));
}

static int create_named(struct event_expansion *c, struct event_spec *spec)
{
	int first = c->list->nr, err = 0;
	uint64_t value;

	if (spec->form == EVENT_SLASHES) {
		const struct pmu *pmu;

		if (!strncmp(spec->word, "drm_", strlen("drm_")))
			pmus__load_drm(c->pmus);
		pmu = pmus__find(c->pmus, spec->word);
		if (pmu) {
			err = add_on_pmu(c, spec, pmu, true);
			if (err != -EINVAL)
				return err;
		}
		err = try_patterns(c, spec, pmu);
	}
	if (!err && c->list->nr == first)
		err = try_event(c, spec);
	if (err)
		return err;
	if (c->list->nr == first) {
		if (c->err->reason || event_raw__parse(spec->word, false, &value))
			return unknown_event(c, spec);
		return add_raw(c, spec, value);
	}
	forget_error(c->err);
	merge_events(c, first);
	return 0;
}

static int create_numeric(struct event_expansion *c, struct event_spec *spec)
{
	struct event_config config = {.attr = spec->attr, .legacy = true};
	const struct pmu *pmu;

	switch (spec->attr.type) {
	case PERF_TYPE_HARDWARE:
	case PERF_TYPE_HW_CACHE:
		pmu = spec->attr.config >> 32 ? pmus__find_type(c->pmus, spec->attr.config >> 32) :
						pmus__core(c->pmus);
		break;
	case PERF_TYPE_RAW:
		pmu = pmus__find_type(c->pmus, PERF_TYPE_RAW);
		if (!pmu)
			pmu = pmus__core(c->pmus);
		break;
	default:
		pmu = pmus__find_type(c->pmus, spec->attr.type);
		break;
	}
	/* the kernel does not know the tool PMU's type */
	if (pmu && pmu__is_tool(pmu))
		pmu = NULL;
	return add_numeric(c, spec, &config, pmu);
}

struct tracepoint_walk {
	struct event_expansion *c;
	const struct event_spec *spec;
};

static int add_tracepoint(void *ctx, const char *subsys, const char *name)
{
	const struct tracepoint_walk *walk = ctx;
	struct event_config config = {.attr.type = PERF_TYPE_TRACEPOINT};
	char *text __cleanup(free_ptr) = NULL;
	uint64_t id = 0;
	int err = tracepoint__id(subsys, name, &id);

	if (err)
		return err;
	text = xasprintf("%s:%s", subsys, name);
	if (!text)
		return -ENOMEM;
	config.attr.config = id;
	return add_event(walk->c, walk->spec, &config,
			 pmus__find_type(walk->c->pmus, PERF_TYPE_TRACEPOINT), text);
}

static int tracepoint_failed(struct event_expansion *c, struct event_spec *spec, int err)
{
	const char *root = tracefs_root();
	char *events __cleanup(free_ptr) = xasprintf("%s/events", root);
	char *help;

	if (err == -ENOMEM || err == -EINVAL || !events)
		return err ? err : -ENOMEM;
	if (err == -ENOENT && !strcmp(spec->word, "mem"))
		return parse_error__set(c->err, spec->column + strlen("mem:"),
					strdup("Bad breakpoint address, expected a number"), NULL);
	spec->is_missing = true;
	if (err == -EACCES || err == -EPERM) {
		help = xasprintf("No permission to read %s/%s/%s\n"
				 "Try: sudo mount -o remount,mode=755 %s",
				 events, spec->word, spec->tracepoint, root);
	} else if (access(events, F_OK)) {
		help = xasprintf("There is no %s: is tracefs mounted?\n"
				 "Try: sudo mount -t tracefs nodev %s",
				 events, root);
	} else {
		help = xasprintf(
			"File %s/%s/%s not found.\n"
			"The kernel may have been built without the CONFIG_ option that provides it.",
			events, spec->word, spec->tracepoint);
	}
	if (!c->err->reason && err == -ENOENT)
		c->err->suggestion = tracepoint__nearest(spec->word, spec->tracepoint);
	return parse_error__set(c->err, spec->column, strdup("unknown tracepoint"), help);
}

static int create_tracepoint(struct event_expansion *c, struct event_spec *spec)
{
	struct tracepoint_walk walk = {c, spec};
	int first = c->list->nr, err;

	if (spec->terms.nr)
		return parse_error__set(
			c->err, spec->terms.terms[0].column,
			xasprintf("unknown term '%s'", spec->terms.terms[0].name),
			xasprintf("Tracepoints have no terms that are usable in '%s stat'",
				  program__name()));
	if (tracepoint__is_glob(spec->word) || tracepoint__is_glob(spec->tracepoint))
		err = tracepoint__for_each(spec->word, spec->tracepoint, false, add_tracepoint,
					   &walk);
	else
		err = add_tracepoint(&walk, spec->word, spec->tracepoint);
	if (err || c->list->nr == first)
		return tracepoint_failed(c, spec, err ? err : -ENOENT);
	return 0;
}

int event_spec__create(struct event_spec *spec, struct event_expansion *c)
{
	switch (spec->form) {
	case EVENT_NAME:
	case EVENT_SLASHES:
		return create_named(c, spec);
	case EVENT_NUMERIC:
	case EVENT_BREAKPOINT:
		return create_numeric(c, spec);
	case EVENT_TRACEPOINT:
		return create_tracepoint(c, spec);
	}
	return -EINVAL;
}

int event_expand__named(struct event_expansion *c, const struct pmu *pmu, const char *name)
{
	struct event_spec spec = {.form = EVENT_NAME, .text = strdup(name)};
	int err = spec.text ? event_terms__add(&spec.terms, name, 0) : -ENOMEM;

	if (!err)
		err = add_on_pmu(c, &spec, pmu, false);
	event_spec__clear(&spec);
	return err;
}
