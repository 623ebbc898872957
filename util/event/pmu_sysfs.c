// SPDX-License-Identifier: GPL-2.0
#include "util/event/pmu_sysfs.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <locale.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "util/defs/cpuid.h"
#include "util/defs/definitions.h"
#include "util/event/event_names.h"
#include "util/event/drm_pmu.h"
#include "util/event/hwmon_pmu.h"
#include "util/event/pmu_name.h"
#include "util/lib/array.h"
#include "util/lib/msg.h"
#include "util/lib/util.h"

struct pmu_priv {
	const struct pmu *pmu;
	char *dir;		      /* NULL: not in sysfs */
	struct definitions *defs;     /* NULL: none */
	bool has_formats, has_events; /* the tables below have been read */
	struct pmu_format *formats;   /* sorted by name */
	int nr_formats;
	struct pmu_event *events; /* sorted by name, ignoring case */
	int nr_events;
};

struct pmu_priv *pmu_sysfs__new(const struct pmu *pmu, char *dir)
{
	struct pmu_priv *priv = calloc(1, sizeof(*priv));

	if (!priv) {
		errno = ENOMEM;
		return NULL;
	}
	priv->pmu = pmu;
	priv->dir = dir;
	return priv;
}

void pmu_sysfs__set_definitions(struct pmu_priv *priv, struct definitions *defs)
{
	priv->defs = defs;
}

static void clear_event(const struct pmu_priv *priv, struct pmu_event *event)
{
	free(event->name);
	free(event->terms);
	/* Other PMUs' are in tables. */
	if (priv->pmu->is_hwmon) {
		free((char *)event->alias);
		free((char *)event->desc);
	}
}

void pmu_sysfs__delete(struct pmu_priv *priv)
{
	int i;

	if (!priv)
		return;
	for (i = 0; i < priv->nr_formats; i++)
		free(priv->formats[i].name);
	for (i = 0; i < priv->nr_events; i++)
		clear_event(priv, &priv->events[i]);
	free(priv->formats);
	free(priv->events);
	free(priv->dir);
	free(priv);
}

/* Parse "config1:0-7,32". Return: false for formats that are newer than this program. */
static bool parse_format(const char *text, struct pmu_format *format)
{
	static const char word[] = "config";

	if (strncmp(text, word, strlen(word)))
		return false;
	text += strlen(word);
	if (*text >= '1' && *text <= '4')
		format->word = *text++ - '0';
	if (*text != ':')
		return false;
	do {
		unsigned long first, last;
		char *end;

		text++;
		if (!isdigit((unsigned char)*text))
			return false;
		first = last = strtoul(text, &end, 10);
		if (*end == '-') {
			text = end + 1;
			if (!isdigit((unsigned char)*text))
				return false;
			last = strtoul(text, &end, 10);
		}
		if (last > 63 || first > last)
			return false;
		format->mask |= (~0ULL >> (63 - (last - first))) << first;
		text = end;
	} while (*text == ',');
	return !*text;
}

static int compare_formats(const void *a, const void *b)
{
	const struct pmu_format *one = a, *two = b;

	return strcmp(one->name, two->name);
}

static int compare_events(const void *a, const void *b)
{
	const struct pmu_event *one = a, *two = b;

	return strcasecmp(one->name, two->name);
}

/* Sort equal names: sysfs first, then in the order of definition. */
static int compare_sources(const void *a, const void *b)
{
	const struct pmu_event *one = a, *two = b;
	int order = compare_events(a, b);

	if (order || one->def == two->def)
		return order;
	return !one->def ? -1 : !two->def ? 1 : one->def < two->def ? -1 : 1;
}

static void read_formats(struct pmu_priv *priv)
{
	char *path __cleanup(free_ptr) = NULL;
	struct dirent *entry;
	DIR *dir;

	priv->has_formats = true;
	if (!priv->dir)
		return;
	path = xasprintf("%s/format", priv->dir);
	dir = path ? opendir(path) : NULL;
	while (dir && (entry = readdir(dir))) {
		char *file __cleanup(free_ptr) = NULL, *text __cleanup(free_ptr) = NULL;
		struct pmu_format format = {.word = 0}, *added;

		if (entry->d_name[0] == '.')
			continue;
		file = xasprintf("%s/%s", path, entry->d_name);
		text = file ? read_file_line(file) : NULL;
		if (!text || !parse_format(text, &format)) {
			pr_verbose("%s/%s: unknown kind of format: term left out", path,
				   entry->d_name);
			continue;
		}
		format.name = strdup(entry->d_name);
		added = format.name ? array__add(priv->formats, priv->nr_formats) : NULL;
		if (!added) {
			free(format.name);
			break;
		}
		*added = format;
	}
	if (dir)
		closedir(dir);
	if (priv->nr_formats)
		qsort(priv->formats, priv->nr_formats, sizeof(*priv->formats), compare_formats);
}

static bool has_suffix(const char *name, const char *suffix)
{
	size_t len = strlen(name), tail = strlen(suffix);

	return len > tail && !strcmp(name + len - tail, suffix);
}

/* Return: whether a file is a property of an event rather than an event. */
static bool is_attribute(const char *name)
{
	return has_suffix(name, ".scale") || has_suffix(name, ".unit") ||
	       has_suffix(name, ".per-pkg") || has_suffix(name, ".snapshot");
}

static int add_event(struct pmu_priv *priv, const char *name, char *terms)
{
	struct pmu_event event = {.name = strdup(name), .terms = terms, .scale = 1.0}, *added;

	added = event.name ? array__add(priv->events, priv->nr_events) : NULL;
	if (!added) {
		free(event.name);
		free(terms);
		return -ENOMEM;
	}
	*added = event;
	return 0;
}

static void add_table(struct pmu_priv *priv, const struct event_name *table)
{
	for (; table->name; table++) {
		char *terms = xasprintf("config=%llu", (unsigned long long)table->config);
		struct pmu_event *event;

		if (!terms || add_event(priv, table->name, terms))
			return;
		event = &priv->events[priv->nr_events - 1];
		event->alias = table->alias;
		event->desc = table->desc;
		event->is_read = true;
	}
}

static bool parse_scale(const char *text, double *scale, const char **end);

bool pmu__has_identifier(const struct pmu *pmu, const char *pattern)
{
	const char *dir = pmu->priv->dir;
	char *path __cleanup(free_ptr) = pattern && dir ? xasprintf("%s/identifier", dir) : NULL;
	char *identifier __cleanup(free_ptr) = path ? read_file_line(path) : NULL;

	return !pattern || (identifier && cpuid__matches(pattern, identifier));
}

static bool is_for(const struct event_def *def, const struct pmu_priv *priv)
{
	if (def->pmu ? !pmu__matches(priv->pmu, def->pmu) : !priv->pmu->is_core)
		return false;
	return pmu__has_identifier(priv->pmu, def->compat);
}

/* Set the scale and unit from a text such as "64Bytes". */
static void set_scale_unit(struct pmu_event *event, const char *text)
{
	const char *unit;

	event->has_scale = parse_scale(text, &event->scale, &unit);
	if (!event->has_scale)
		event->scale = 1.0;
	snprintf(event->unit, sizeof(event->unit), "%s", unit);
}

static void add_defined(struct pmu_priv *priv)
{
	const struct event_def *def = NULL;

	while (priv->defs && (def = definitions__next_event(priv->defs, def))) {
		char *terms = is_for(def, priv) ? strdup(def->terms) : NULL;
		struct pmu_event *event;

		if (!terms)
			continue;
		if (add_event(priv, def->name, terms))
			return;
		event = &priv->events[priv->nr_events - 1];
		event->def = def;
		event->desc = def->desc;
		event->per_pkg = def->per_pkg;
		event->is_read = true;
		if (def->scale_unit)
			set_scale_unit(event, def->scale_unit);
	}
}

/* Sort by name, and keep the first event of each name. */
static void sort_events(struct pmu_priv *priv)
{
	struct pmu_event *events = priv->events;
	int kept = 0, i;

	if (!priv->nr_events)
		return;
	qsort(events, priv->nr_events, sizeof(*events), compare_sources);
	for (i = 1; i < priv->nr_events; i++) {
		if (compare_events(&events[kept], &events[i])) {
			events[++kept] = events[i];
		} else {
			clear_event(priv, &events[i]);
		}
	}
	priv->nr_events = kept + 1;
}

static void add_sensor(struct pmu_priv *priv, const char *file)
{
	uint64_t config = hwmon_pmu__config(file);
	const struct hwmon_kind *kind = hwmon_pmu__kind(file);
	char *number __cleanup(free_ptr) = config ? strndup(file, strchr(file, '_') - file) : NULL;
	char *label __cleanup(free_ptr) = config ? hwmon_pmu__label(priv->dir, config) : NULL;
	char *terms = number ? xasprintf("config=0x%llx", (unsigned long long)config) : NULL;
	struct pmu_event *event;

	if (!terms || add_event(priv, label ? label : number, terms))
		return;
	event = &priv->events[priv->nr_events - 1];
	event->alias = label ? strdup(number) : NULL;
	snprintf(event->unit, sizeof(event->unit), "%s", kind->unit);
	event->scale = strtod(kind->scale, NULL);
	event->has_scale = true;
	event->snapshot = !kind->adds_up;
}

/* Read the rest of a sensor. */
static void read_sensor(const struct pmu_priv *priv, struct pmu_event *event)
{
	unsigned long long config;

	if (sscanf(event->terms, "config=%llx", &config) == 1)
		event->desc = hwmon_pmu__describe(priv->dir, config);
}

int pmu__sensor(const struct pmu *pmu, uint64_t config, uint64_t *value)
{
	return hwmon_pmu__read(pmu->priv->dir, config, value);
}

int pmu_sysfs__add_drm(struct pmu_priv *priv, const char *key)
{
	const struct drm_kind *kind = drm_pmu__kind(key);
	struct pmu_event *event;

	priv->has_events = true;
	for (int i = 0; i < priv->nr_events; i++) {
		if (!strcmp(priv->events[i].name, key))
			return 0;
	}
	if (add_event(priv, key, NULL))
		return -ENOMEM;
	event = &priv->events[priv->nr_events - 1];
	snprintf(event->unit, sizeof(event->unit), "%s", kind->unit);
	event->desc = kind->what;
	event->snapshot = !kind->adds_up;
	event->is_read = true;
	return 0;
}

int pmu_sysfs__finish_drm(struct pmu_priv *priv)
{
	sort_events(priv);
	for (int i = 0; i < priv->nr_events; i++) {
		priv->events[i].terms = xasprintf("config=%d", i);
		if (!priv->events[i].terms)
			return -ENOMEM;
	}
	return 0;
}

int pmu__drm(const struct pmu *pmu, uint64_t config, const struct thread_map *threads,
	     uint64_t *value)
{
	if (config >= (uint64_t)pmu->priv->nr_events)
		return -ENOENT;
	return drm_pmu__value(pmu->name + strlen("drm_"), pmu->priv->events[config].name, threads,
			      value);
}

static void read_events(struct pmu_priv *priv)
{
	char *path __cleanup(free_ptr) = NULL;
	struct dirent *entry;
	DIR *dir = NULL;

	priv->has_events = true;
	if (pmu__is_software(priv->pmu))
		add_table(priv, sw_events);
	if (pmu__is_tool(priv->pmu))
		add_table(priv, tool_events);
	if (priv->dir) {
		path = xasprintf("%s/%s", priv->dir, priv->pmu->is_hwmon ? "." : "events");
		dir = path ? opendir(path) : NULL;
	}
	while (dir && (entry = readdir(dir))) {
		if (entry->d_name[0] == '.' || is_attribute(entry->d_name))
			continue;
		if (priv->pmu->is_hwmon)
			add_sensor(priv, entry->d_name);
		else if (add_event(priv, entry->d_name, NULL))
			break;
	}
	if (dir)
		closedir(dir);
	add_defined(priv);
	sort_events(priv);
}

static char *read_part(const struct pmu_priv *priv, const struct pmu_event *event,
		       const char *suffix)
{
	char *path __cleanup(free_ptr) =
		xasprintf("%s/events/%s%s", priv->dir, event->name, suffix);

	return path ? read_file_line(path) : NULL;
}

/* Parse a number as the kernel writes it, in any locale. *@end receives the text behind it. */
static bool parse_scale(const char *text, double *scale, const char **end)
{
	locale_t c = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0);
	char *after = (char *)text;

	if (c) {
		*scale = strtod_l(text, &after, c);
		freelocale(c);
	}
	*end = after;
	return after != text;
}

static void read_event(const struct pmu_priv *priv, struct pmu_event *event)
{
	char *scale __cleanup(free_ptr) = read_part(priv, event, ".scale");
	char *unit __cleanup(free_ptr) = read_part(priv, event, ".unit");
	char *per_pkg __cleanup(free_ptr) = read_part(priv, event, ".per-pkg");
	char *snapshot __cleanup(free_ptr) = read_part(priv, event, ".snapshot");

	const char *end;

	event->terms = read_part(priv, event, "");
	if (scale) {
		event->has_scale = parse_scale(scale, &event->scale, &end) && !*end;
		if (!event->has_scale) {
			pr_warn("%s/%s/: its scale '%s' is not a number: counts are not scaled",
				priv->pmu->name, event->name, scale);
			event->scale = 1.0;
		}
	}
	if (unit)
		snprintf(event->unit, sizeof(event->unit), "%s", unit);
	event->per_pkg = per_pkg && *per_pkg == '1';
	event->snapshot = snapshot && *snapshot == '1';
}

static const struct pmu_event *whole_event(const struct pmu_priv *priv, struct pmu_event *event)
{
	if (event->is_read)
		return event;
	event->is_read = true;
	if (priv->pmu->is_hwmon)
		read_sensor(priv, event);
	else
		read_event(priv, event);
	return event;
}

const struct pmu_format *pmu__format(const struct pmu *pmu, const char *name)
{
	struct pmu_format key = {.name = (char *)name}; /* only compared */

	if (!pmu->priv->has_formats)
		read_formats(pmu->priv);
	if (!pmu->priv->nr_formats)
		return NULL;
	return bsearch(&key, pmu->priv->formats, pmu->priv->nr_formats, sizeof(key),
		       compare_formats);
}

const struct pmu_format *pmu__next_format(const struct pmu *pmu, const struct pmu_format *prev)
{
	struct pmu_priv *priv = pmu->priv;

	if (!priv->has_formats)
		read_formats(priv);
	prev = prev ? prev + 1 : priv->formats;
	return prev && prev < priv->formats + priv->nr_formats ? prev : NULL;
}

const struct pmu_event *pmu__event(const struct pmu *pmu, const char *name)
{
	struct pmu_priv *priv = pmu->priv;
	struct pmu_event key = {.name = (char *)name}, *event = NULL; /* only compared */
	int i;

	if (!priv->has_events)
		read_events(priv);
	if (priv->nr_events)
		event = bsearch(&key, priv->events, priv->nr_events, sizeof(key), compare_events);
	/* only short tables have aliases */
	for (i = 0; !event && (pmu__is_software(pmu) || pmu->is_hwmon) && i < priv->nr_events;
	     i++) {
		if (priv->events[i].alias && !strcasecmp(priv->events[i].alias, name))
			event = &priv->events[i];
	}
	return event ? whole_event(priv, event) : NULL;
}

const struct pmu_event *pmu__next_event(const struct pmu *pmu, const struct pmu_event *prev)
{
	struct pmu_priv *priv = pmu->priv;

	if (!priv->has_events)
		read_events(priv);
	prev = prev ? prev + 1 : priv->events;
	/* only its name is valid; pmu__event() reads the rest */
	return prev && prev < priv->events + priv->nr_events ? prev : NULL;
}
