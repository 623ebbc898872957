// SPDX-License-Identifier: GPL-2.0
#include "util/event/attr_text.h"

#include "util/event/event_names.h"
#include "util/event/evlist.h"
#include "util/event/parse_events.h"
#include "util/event/pmu.h"
#include "util/host/tracepoint.h"
#include "util/host/wide_attr.h"
#include "util/lib/util.h"

#include <inttypes.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>

#define MAX_TERMS 128 /* the text of four config words */

struct tracepoint_search {
	uint64_t id;
	char *name;
};

static int compare_tracepoint(void *ctx, const char *subsys, const char *name)
{
	struct tracepoint_search *search = ctx;
	uint64_t id;

	if (tracepoint__id(subsys, name, &id) || id != search->id)
		return 0;
	search->name = xasprintf("%s:%s", subsys, name);
	return 1;
}

static char *tracepoint_name(uint64_t id)
{
	struct tracepoint_search search = {.id = id};

	tracepoint__for_each("*", "*", false, compare_tracepoint, &search);
	return search.name;
}

static bool is_event(const struct perf_event_attr *attr, struct pmus *pmus, const char *text)
{
	static const struct parse_events_options quiet = {.quiet = true};
	struct evlist *list = evlist__new();
	struct parse_error error = {};
	bool is_it = false;

	if (list && !parse_events_opts(list, pmus, text, &quiet, &error) && list->nr == 1) {
		const struct evsel *evsel = list->evsels[0];
		const struct perf_event_attr *other = &evsel->attr;

		is_it = other->type == attr->type && other->config == attr->config &&
			other->config1 == attr->config1 && other->config2 == attr->config2;
		for (int i = 0; i < NR_MORE_CONFIG; i++)
			is_it &= evsel->more_config[i] == wide_attr__more(attr, i);
	}
	parse_error__clear(&error);
	evlist__delete(list);
	return is_it;
}

/* Write config1 and the words that follow it as terms, each behind a comma; nothing for those that are 0. */
static void write_terms(const struct perf_event_attr *attr, char *text, size_t size)
{
	uint64_t words[2 + NR_MORE_CONFIG] = {attr->config1, attr->config2};
	size_t len = 0;

	for (int i = 0; i < NR_MORE_CONFIG; i++)
		words[2 + i] = wide_attr__more(attr, i);
	*text = '\0';
	for (size_t i = 0; i < ARRAY_SIZE(words) && len < size; i++) {
		if (words[i])
			len += snprintf(text + len, size - len, ",config%zu=0x%" PRIx64, i + 1,
					words[i]);
	}
}

/* Return: an event of sysfs by its name there, otherwise by its config words. */
static char *pmu_name(const struct perf_event_attr *attr, struct pmus *pmus)
{
	struct pmu *pmu = pmus ? pmus__find_type(pmus, attr->type) : NULL;
	const struct pmu_event *event = NULL;
	char terms[MAX_TERMS];

	if (!pmu)
		return NULL;
	while ((event = pmu__next_event(pmu, event))) {
		char *text = xasprintf("%s/%s/", pmu->name, event->name);

		if (!text || is_event(attr, pmus, text))
			return text;
		free(text);
	}
	write_terms(attr, terms, sizeof(terms));
	return xasprintf("%s/config=0x%llx%s/", pmu->name, attr->config, terms);
}

/* The upper half of the number is the core PMU's type. */
static bool is_generic(const struct perf_event_attr *attr)
{
	return attr->type == PERF_TYPE_HARDWARE || attr->type == PERF_TYPE_HW_CACHE;
}

/* "mem:0x1000/8:rw" */
static char *breakpoint_name(const struct perf_event_attr *attr)
{
	return xasprintf("mem:0x%llx/%llu:%s%s%s", attr->bp_addr, attr->bp_len,
			 attr->bp_type & HW_BREAKPOINT_R ? "r" : "",
			 attr->bp_type & HW_BREAKPOINT_W ? "w" : "",
			 attr->bp_type & HW_BREAKPOINT_X ? "x" : "");
}

/* The name of an event without modifiers, and except for PMUs of sysfs without config1 and the like. */
static char *plain_name(const struct perf_event_attr *attr)
{
	const struct event_name *table = attr->type == PERF_TYPE_HARDWARE ? hw_events :
					 attr->type == PERF_TYPE_SOFTWARE ? sw_events :
									    NULL;
	uint64_t number = is_generic(attr) ? (uint32_t)attr->config : attr->config, config;
	char name[CACHE_NAME_MAX], *text = NULL;
	int pos = 0;

	for (; table && table->name; table++) {
		if (table->config == number)
			return strdup(table->name);
	}
	while (attr->type == PERF_TYPE_HW_CACHE && cache_event__next(&pos, name, &config)) {
		if (config == number)
			return strdup(name);
	}
	if (attr->type == PERF_TYPE_RAW)
		return xasprintf("r%llx", attr->config);
	if (attr->type == PERF_TYPE_TRACEPOINT)
		text = tracepoint_name(attr->config);
	return text ? text : xasprintf("%u:0x%llx", attr->type, attr->config);
}

static char *base_name(const struct perf_event_attr *attr, struct pmus *pmus)
{
	char *text = attr->type == PERF_TYPE_BREAKPOINT ? breakpoint_name(attr) :
		     attr->type >= PERF_TYPE_MAX	? pmu_name(attr, pmus) :
							  NULL;
	char *plain __cleanup(free_ptr) = text ? NULL : plain_name(attr);
	char terms[MAX_TERMS];

	if (text || !plain)
		return text;
	write_terms(attr, terms, sizeof(terms));
	return *terms ? xasprintf("%s/%s/", plain, terms + 1) : strdup(plain);
}

char *attr_text(const struct perf_event_attr *attr, struct pmus *pmus)
{
	char *base __cleanup(free_ptr) = base_name(attr, pmus);
	char mods[16], *m = mods;
	size_t len;

	if (!base)
		return NULL;
	if (attr->exclude_user || attr->exclude_kernel) {
		if (!attr->exclude_user)
			*m++ = 'u';
		if (!attr->exclude_kernel)
			*m++ = 'k';
		if (!attr->exclude_hv)
			*m++ = 'h';
	}
	if (attr->exclude_host)
		*m++ = 'G';
	if (attr->exclude_guest)
		*m++ = 'H';
	if (attr->exclude_idle)
		*m++ = 'I';
	for (unsigned int p = 0; p < attr->precise_ip; p++)
		*m++ = 'p';
	if (attr->pinned)
		*m++ = 'D';
	if (attr->exclusive)
		*m++ = 'e';
	*m = '\0';
	len = strlen(base);
	return xasprintf("%s%s%s", base, *mods && base[len - 1] != '/' ? ":" : "", mods);
}

char *attr_pmu_text(const struct perf_event_attr *attr, struct pmus *pmus)
{
	const struct pmu *pmu = NULL;

	switch (attr->type) {
	case PERF_TYPE_SOFTWARE:
		return strdup("software");
	case PERF_TYPE_TRACEPOINT:
		return strdup("tracepoint");
	case PERF_TYPE_BREAKPOINT:
		return strdup("breakpoint");
	case PERF_TYPE_HARDWARE:
	case PERF_TYPE_HW_CACHE:
		pmu = attr->config >> 32 ? pmus__find_type(pmus, attr->config >> 32) : NULL;
		break;
	case PERF_TYPE_RAW:
		break;
	default:
		pmu = pmus__find_type(pmus, attr->type);
		return pmu ? strdup(pmu->name) : xasprintf("%u", attr->type);
	}
	if (!pmu)
		pmu = pmus__core(pmus);
	return strdup(pmu ? pmu->name : "cpu");
}
