// SPDX-License-Identifier: GPL-2.0
#include "util/defs/definitions_json.h"

#include "util/defs/definition_names.h"
#include "util/defs/event_def.h"
#include "util/defs/metric_def.h"
#include "util/lib/array.h"
#include "util/lib/msg.h"
#include "util/lib/util.h"

#include <ctype.h>
#include <errno.h>
#include <json-c/json.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

/* --- reading --- */

/* Warn with the line and column, from 1. */
static void warn_syntax(const char *path, const char *text, size_t offset, const char *why)
{
	int line = 1, column = 1;
	size_t i;

	for (i = 0; i < offset && text[i]; i++) {
		column = text[i] == '\n' ? 1 : column + 1;
		line += text[i] == '\n';
	}
	pr_warn("%s:%d:%d: invalid JSON: %s: the file is left out", path, line, column, why);
}

/* Parse one value with nothing behind it. */
static struct json_object *parse_text(const char *path, const char *text, size_t len)
{
	struct json_tokener *tokener = json_tokener_new();
	struct json_object *json;
	enum json_tokener_error error;
	size_t end;

	if (!tokener)
		return NULL;
	/* The final NUL tells the parser that the text is complete. */
	json = json_tokener_parse_ex(tokener, text, len + 1);
	error = json_tokener_get_error(tokener);
	end = json_tokener_get_parse_end(tokener);
	json_tokener_free(tokener);
	if (!json) {
		warn_syntax(path, text, end, json_tokener_error_desc(error));
		return NULL;
	}
	while (end < len && isspace((unsigned char)text[end]))
		end++;
	if (end >= len)
		return json;
	warn_syntax(path, text, end, "more behind its end");
	json_object_put(json);
	return NULL;
}

/* Return: the array of objects: the whole file, or the member of that name. */
static struct json_object *find_array(struct json_object *json, const char *member)
{
	struct json_object *array = json;

	if (json_object_is_type(json, json_type_object) &&
	    !json_object_object_get_ex(json, member, &array))
		return NULL;
	return json_object_is_type(array, json_type_array) ? array : NULL;
}

/* Return: whether a text may define that kind. Most files have one kind, and parsing is expensive. */
static bool mentions(const char *text, enum definition_kind kind)
{
	switch (kind) {
	case DEFINES_METRICS:
		return strstr(text, "\"MetricName\"") || strstr(text, "\"ArchStdEvent\"");
	case DEFINES_EVENTS:
		return strstr(text, "\"EventName\"") || strstr(text, "\"ArchStdEvent\"");
	default:
		return true;
	}
}

void definition_file__parse(struct definition_file *file, enum definition_kind kind)
{
	size_t len;
	char *text __cleanup(free_ptr) = file->is_parsed ? NULL : read_file(file->path, &len);

	if (file->is_parsed || (text && !mentions(text, kind)))
		return;
	file->is_parsed = true;
	if (!text) {
		pr_warn("%s: %s: the file is left out", file->path, strerror(errno));
		return;
	}
	file->json = parse_text(file->path, text, len);
	if (file->json && !find_array(file->json, "Events") && !find_array(file->json, "Metrics"))
		pr_warn("%s: neither an array nor \"Events\" or \"Metrics\": the file is left out",
			file->path);
}

/* Return: a member, also a number, as text; NULL if absent or empty. Borrowed. */
static const char *text_of(struct json_object *object, const char *key)
{
	struct json_object *value;
	const char *text;

	if (!json_object_object_get_ex(object, key, &value) || !value)
		return NULL;
	text = json_object_get_string(value);
	return text && *text ? text : NULL;
}

/* --- units --- */

/* Vendors' names of units whose PMU is not called uncore_UNIT, and the PMU's names. */
static const char *const unit_pmus[][2] = {
	{"CBO", "uncore_cbox"},
	{"QPI LL", "uncore_qpi"},
	{"SBO", "uncore_sbox"},
	{"iMPH-U", "uncore_arb"},
	{"UPI LL", "uncore_upi"},
	{"CPU-M-CF", "cpum_cf"},
	{"CPU-M-SF", "cpum_sf"},
	{"PAI-CRYPTO", "pai_crypto"},
	{"PAI-EXT", "pai_ext"},
	{"hisi_sicl,cpa", "hisi_sicl,cpa"},
	{"hisi_sccl,ddrc", "hisi_sccl,ddrc"},
	{"hisi_sccl,hha", "hisi_sccl,hha"},
	{"hisi_sccl,l3c", "hisi_sccl,l3c"},
	{"imx8_ddr", "imx8_ddr"},
	{"imx9_ddr", "imx9_ddr"},
	{"L3PMC", "amd_l3"},
	{"DFPMC", "amd_df"},
	{"UMCPMC", "amd_umc"},
	{"ali_drw", "ali_drw"},
	{"arm_cmn", "arm_cmn"},
	{"cpu_core", "cpu_core"},
	{"cpu_atom", "cpu_atom"},
	{"software", "software"},
	{"tool", "tool"},
};

/* Return: the PMU's name; NULL: core PMUs. New names become a member, so that the JSON owns them. */
static const char *find_pmu(struct json_object *object, const struct definition_file *file)
{
	const char *unit = text_of(object, "Unit");
	char *name __cleanup(free_ptr) = NULL;
	size_t i;

	if (!unit)
		return file->pmu;
	for (i = 0; i < ARRAY_SIZE(unit_pmus); i++) {
		if (!strcasecmp(unit, unit_pmus[i][0]))
			return unit_pmus[i][1];
	}
	if (!strcasecmp(unit, "cpu") || !strcasecmp(unit, "default_core"))
		return NULL;
	/* A metric with this name may be in use: do not replace the member. */
	if (text_of(object, "\tpmu"))
		return text_of(object, "\tpmu");
	name = xasprintf("uncore_%s", unit);
	for (i = 0; name && name[i]; i++)
		name[i] = tolower((unsigned char)name[i]);
	if (name)
		json_object_object_add(object, "\tpmu", json_object_new_string(name));
	return text_of(object, "\tpmu");
}

/* --- references --- */

/* Return: the template that an object refers to by "ArchStdEvent"; NULL: none. */
static struct json_object *standard_of(void *const *names, struct json_object *object)
{
	const char *refers_to = text_of(object, "ArchStdEvent");

	return refers_to ? definition_names__find(names, refers_to, NULL) : NULL;
}

/* Return: a member of an object, or of the template that it refers to. */
static const char *part_of(struct json_object *object, struct json_object *standard,
			   const char *key)
{
	const char *text = text_of(object, key);

	return text || !standard ? text : text_of(standard, key);
}

static bool is_set(struct json_object *object, struct json_object *standard, const char *key)
{
	const char *text = part_of(object, standard, key);

	return text && strcmp(text, "0");
}

/* --- metrics --- */

static int add_metric(struct definition_tables *tables, const struct definition_file *file,
		      struct json_object *object)
{
	struct json_object *standard = standard_of(&tables->standard_metrics, object);
	const char *name = part_of(object, standard, "MetricName");
	const char *expr = part_of(object, standard, "MetricExpr");
	const char *pmu = find_pmu(object, file);
	struct metric_def *def;
	int is_new;

	if (!name || !expr)
		return 0;
	is_new = definition_names__add(&tables->metric_names, name, pmu, object);
	if (is_new <= 0)
		return is_new;
	def = array__add(tables->metrics, tables->nr_metrics);
	if (!def)
		return -ENOMEM;
	def->name = name;
	def->expr = expr;
	def->pmu = pmu;
	def->group = part_of(object, standard, "MetricGroup");
	def->description = part_of(object, standard, "BriefDescription");
	def->long_description = part_of(object, standard, "PublicDescription");
	def->unit = part_of(object, standard, "ScaleUnit");
	def->threshold = part_of(object, standard, "MetricThreshold");
	def->constraint = part_of(object, standard, "MetricConstraint");
	def->no_group_in = part_of(object, standard, "MetricgroupNoGroup");
	def->default_group = part_of(object, standard, "DefaultMetricgroupName");
	def->show_events = is_set(object, standard, "DefaultShowEvents");
	def->compat = text_of(object, "Compat");
	return 0;
}

/* --- events --- */

/* Members that become terms, unless they are 0. */
static const struct {
	const char *key, *term;
} term_keys[] = {
	{"AnyThread", "any"},		{"PortMask", "ch_mask"},
	{"CounterMask", "cmask"},	{"EdgeDetect", "edge"},
	{"FCMask", "fc_mask"},		{"Invert", "inv"},
	{"SampleAfterValue", "period"}, {"UMask", "umask"},
	{"NodeType", "type"},		{"RdWrMask", "rdwrmask"},
	{"EnAllCores", "enallcores"},	{"EnAllSlices", "enallslices"},
	{"SliceId", "sliceid"},		{"ThreadMask", "threadmask"},
};

/* Numbers of the registers that hold a part of the event. */
static const struct {
	unsigned int msr;
	const char *term;
} msrs[] = {
	{0x1a6, "offcore_rsp"},
	{0x1a7, "offcore_rsp"},
	{0x3f6, "ldlat"},
	{0x3f7, "frontend"},
};

static uint64_t number(const char *text)
{
	return text ? strtoull(text, NULL, 0) : 0;
}

/*
 * Intel's fixed counters. Files give the code 0 and the counter's number + 1 in the unit mask. The
 * kernel does not know this code, or it counts nothing on older CPUs. The kernel puts the
 * codes of general counters on the fixed ones (FIXED_EVENT_CONSTRAINT, Linux 6.12). Linux's perf
 * replaces the codes of inst_retired and cpu_clk_unhalted by name, also if the file has a usable one.
 */
static const struct fixed_event {
	const char *name, *terms;
	bool has_codes; /* on some CPUs: replace only a missing one */
} fixed_events[] = {
	{"inst_retired.any", "event=0xc0", false},
	{"inst_retired.any_p", "event=0xc0", false},
	{"cpu_clk_unhalted.core", "event=0x3c", false},
	{"cpu_clk_unhalted.thread", "event=0x3c", false},
	{"cpu_clk_unhalted.thread_any", "event=0x3c,any=1", false},
	{"cpu_clk_unhalted.ref", "event=0,umask=0x3", false},
	{"cpu_clk_unhalted.ref_tsc", "event=0,umask=0x3", false},
	{"topdown_bad_speculation.all", "event=0x73", true},
	{"topdown_fe_bound.all", "event=0x9c,umask=0x1", true},
	{"topdown_retiring.all", "event=0xc2,umask=0x2", true},
};

/* Return: the terms of an event of a fixed counter; NULL: it is none. */
static const char *fixed_terms(struct json_object *object)
{
	const char *name = text_of(object, "EventName"), *unit = text_of(object, "Unit");
	bool has_code = text_of(object, "EventCode") != NULL;
	size_t i;

	if (!name || (unit && strcasecmp(unit, "cpu_core") && strcasecmp(unit, "cpu_atom")))
		return NULL;
	for (i = 0; i < ARRAY_SIZE(fixed_events); i++) {
		if (!strcasecmp(fixed_events[i].name, name))
			return has_code && fixed_events[i].has_codes ? NULL : fixed_events[i].terms;
	}
	return NULL;
}

/* Print the event's code. Generic names have their own keys. */
static void print_code(FILE *out, struct json_object *object, struct json_object *standard)
{
	const char *config = part_of(object, standard, "ConfigCode");
	const char *id = part_of(object, standard, "EventidCode");
	const char *hardware = part_of(object, standard, "LegacyConfigCode");
	const char *cache = part_of(object, standard, "LegacyCacheCode");
	const char *code = part_of(object, standard, "EventCode");
	uint64_t extra = number(part_of(object, standard, "ExtSel"));

	if (hardware)
		fprintf(out, "legacy-hardware-config=%#llx", (unsigned long long)number(hardware));
	else if (cache)
		fprintf(out, "legacy-cache-config=%#llx", (unsigned long long)number(cache));
	else if (config)
		fprintf(out, "config=%#llx", (unsigned long long)number(config));
	else if (id)
		fprintf(out, "eventid=%#llx", (unsigned long long)number(id));
	else
		fprintf(out, "event=%#llx", (unsigned long long)(number(code) | extra << 8));
}

static void print_msr(FILE *out, struct json_object *object, struct json_object *standard)
{
	const char *index = part_of(object, standard, "MSRIndex");
	const char *value = part_of(object, standard, "MSRValue");
	size_t i;

	for (i = 0; index && value && i < ARRAY_SIZE(msrs); i++) {
		if (number(index) == msrs[i].msr)
			fprintf(out, ",%s=%#llx", msrs[i].term, (unsigned long long)number(value));
	}
}

/* Return: the event as terms; owned, NULL without memory. */
static char *make_terms(struct json_object *object, struct json_object *standard)
{
	const char *text = fixed_terms(object);
	char *terms = NULL;
	size_t size, i;
	FILE *out;

	if (text)
		return strdup(text);
	out = open_memstream(&terms, &size);
	if (!out)
		return NULL;
	print_code(out, object, standard);
	for (i = 0; i < ARRAY_SIZE(term_keys); i++) {
		uint64_t value = number(part_of(object, standard, term_keys[i].key));

		if (value)
			fprintf(out, ",%s=%#llx", term_keys[i].term, (unsigned long long)value);
	}
	print_msr(out, object, standard);
	text = part_of(object, standard, "Filter");
	if (text)
		fputc(',', out);
	for (; text && *text; text++) {
		if (!isspace((unsigned char)*text))
			fputc(*text, out);
	}
	if (fclose(out)) {
		free(terms);
		return NULL;
	}
	return terms;
}

static int add_event(struct definition_tables *tables, const struct definition_file *file,
		     struct json_object *object)
{
	const char *refers_to = text_of(object, "ArchStdEvent"), *name;
	struct json_object *standard = standard_of(&tables->standard, object);
	struct event_def *def;
	char *c;

	if (refers_to && !standard) {
		if (!standard_of(&tables->standard_metrics, object))
			pr_verbose("%s: there is no standard event '%s'", file->path, refers_to);
		return 0;
	}
	name = part_of(object, standard, "EventName");
	if (!name)
		return 0;
	def = array__add(tables->events, tables->nr_events);
	if (!def)
		return -ENOMEM;
	def->name = strdup(name);
	def->terms = make_terms(object, standard);
	if (!def->name || !def->terms)
		return -ENOMEM;
	for (c = def->name; *c; c++)
		*c = tolower((unsigned char)*c);
	def->pmu = find_pmu(object, file);
	def->compat = text_of(object, "Compat");
	def->desc = part_of(object, standard, "BriefDescription");
	def->long_desc = part_of(object, standard, "PublicDescription");
	def->scale_unit = part_of(object, standard, "ScaleUnit");
	def->per_pkg = is_set(object, standard, "PerPkg");
	def->deprecated = is_set(object, standard, "Deprecated");
	def->topic = part_of(object, standard, "Topic");
	if (!def->topic)
		def->topic = file->topic;
	return 0;
}

int definition_file__read(struct definition_tables *tables, struct definition_file *file,
			  enum definition_kind kind)
{
	struct json_object *array, *object;
	size_t i;
	int err = 0;

	definition_file__parse(file, kind);
	array = find_array(file->json, kind == DEFINES_METRICS ? "Metrics" : "Events");
	for (i = 0; array && i < json_object_array_length(array) && !err; i++) {
		object = json_object_array_get_idx(array, i);
		if (!json_object_is_type(object, json_type_object))
			continue;
		if (kind == DEFINES_METRICS)
			err = add_metric(tables, file, object);
		else
			err = add_event(tables, file, object);
	}
	return err;
}

/* Note the objects of an array by the name that they have under @key. Return: 0 or -ENOMEM. */
static int add_standard(void **names, struct json_object *array, const char *key)
{
	int err = 0;

	for (size_t i = 0; array && i < json_object_array_length(array) && err >= 0; i++) {
		struct json_object *object = json_object_array_get_idx(array, i);
		const char *name =
			json_object_is_type(object, json_type_object) ? text_of(object, key) : NULL;

		err = name ? definition_names__add(names, name, NULL, object) : 0;
	}
	return err < 0 ? err : 0;
}

int definition_file__read_standard(struct definition_tables *tables, struct definition_file *file)
{
	int err;

	definition_file__parse(file, DEFINES_ANYTHING);
	err = add_standard(&tables->standard, find_array(file->json, "Events"), "EventName");
	return err ? err :
		     add_standard(&tables->standard_metrics, find_array(file->json, "Metrics"),
				  "MetricName");
}

void definition_tables__clear(struct definition_tables *tables)
{
	for (int i = 0; i < tables->nr_events; i++) {
		free(tables->events[i].name);
		free(tables->events[i].terms);
	}
	free(tables->metrics);
	free(tables->events);
	definition_names__clear(&tables->metric_names);
	definition_names__clear(&tables->standard);
	definition_names__clear(&tables->standard_metrics);
	memset(tables, 0, sizeof(*tables));
}
