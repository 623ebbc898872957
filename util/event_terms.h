/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_UTIL_EVENT_TERMS_H
#define PERF_UTIL_EVENT_TERMS_H

/* The terms between slashes, as in cpu/event=0x3c,name=x/, and what they make of an event. */

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cpumap;
struct parse_error;
struct pmu;
struct pmu_event;
struct pmus;

struct event_term {
	char *name;
	char *value;		/* NULL: none */
	bool is_driver;		/* @name */
	int column, value_column;	/* where they stand in the text being parsed */
};

struct event_terms {
	struct event_term *terms;
	int nr;
};

/**
 * event_terms__parse() - read a comma list of terms up to a closing slash or the end
 * @text: the first term; may be the end already
 * @column: where @text stands in the whole, for errors; -1: all errors go to column 0
 * @end: '/' or '\0'
 * @terms: receives them; released by event_terms__clear(), also after errors
 * @len: receives the characters read, @end not among them
 *
 * Return: 0, -EINVAL with @err filled, or -ENOMEM.
 */
int event_terms__parse(const char *text, int column, char end, struct event_terms *terms,
		       size_t *len, struct parse_error *err);
void event_terms__clear(struct event_terms *terms);

/** event_terms__add() - append a term without value; 0 or -ENOMEM */
int event_terms__add(struct event_terms *terms, const char *name, int column);

/* What terms make of an event. Pointers are borrowed from terms and PMU unless noted. */
struct event_config {
	struct perf_event_attr attr;	/* type and config words */
	const char *name;		/* name=, or NULL */
	const char *metric_id;
	const struct pmu_event *event;	/* the first event of the PMU that was named, or NULL */
	const struct pmu_event *unit_of, *scale_of;	/* who gave unit and scale */
	bool per_pkg, snapshot, percore;
	bool legacy;			/* a generic name: type and config do not need the PMU */
	bool is_raw;			/* config came as a number: may have bits of no format */
	bool cpus_given;		/* cpu= */
	struct cpumap *cpus;		/* owned; the CPUs of all cpu=, NULL: all */
};

void event_config__clear(struct event_config *config);

/**
 * event_config__apply() - let terms act on an event of a PMU, in their order
 * @config: changed; on entry what the base of the event says, at least a type
 * @pmus: all PMUs
 * @pmu: the event's; NULL: generic names on a machine without core PMU
 * @general_only: names and formats of the PMU cannot be used (rNNN/terms/)
 *
 * Return: 0, -EINVAL with @err filled, or -ENOMEM.
 */
int event_config__apply(struct event_config *config, struct pmus *pmus, const struct pmu *pmu,
			bool general_only, const struct event_terms *terms,
			struct parse_error *err);

/** event_config__set_legacy() - make it a generic hardware or cache event of @pmu (or NULL) */
void event_config__set_legacy(struct event_config *config, struct pmus *pmus,
			      const struct pmu *pmu, uint32_t type, uint64_t value);

/**
 * event_number__parse() - a number: decimal, also with leading zeros, or hexadecimal behind 0x
 *
 * Return: 0, -EINVAL (no number), -ERANGE (more than 64 bits).
 */
int event_number__parse(const char *text, uint64_t *value);

/** event_raw__parse() - "rHEX", 1 to 16 digits, after @prefix also "r0xHEX"; as above */
int event_raw__parse(const char *text, bool prefix, uint64_t *value);

/** event_char__is_name() - whether names may contain it; in terms ':' too */
bool event_char__is_name(char c, bool in_terms);

#endif
