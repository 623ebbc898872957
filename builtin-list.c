// SPDX-License-Identifier: GPL-2.0
/* perf list: the names that -e and -M know. */
#include "builtin.h"

#include <errno.h>
#include <fnmatch.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>

#include "util/bpf_target.h"
#include "util/definitions.h"
#include "util/event_tables.h"
#include "util/json_string.h"
#include "util/metric.h"
#include "util/msg.h"
#include "util/options.h"
#include "util/pfm.h"
#include "util/pmu.h"
#include "util/tracepoint.h"
#include "util/util.h"

enum section {
	SECTION_HW = 1 << 0,
	SECTION_SW = 1 << 1,
	SECTION_TOOL = 1 << 2,
	SECTION_CACHE = 1 << 3,
	SECTION_PMU = 1 << 4,
	SECTION_RAW = 1 << 5,
	SECTION_TRACEPOINT = 1 << 6,
	SECTION_METRIC = 1 << 7,
	SECTION_METRICGROUP = 1 << 8,
	SECTION_ALL = (1 << 9) - 1,
	SECTION_PFM = 1 << 9,		/* names that -e does not know: only when asked for */
	SECTION_NONE = 1 << 10,		/* known words without events here */
	SECTION_BPF = 1 << 11,		/* only when asked for: not events, but where to count them */
};

static const struct {
	const char *word;
	enum section section;
} section_words[] = {
	{ "hw", SECTION_HW },
	{ "hardware", SECTION_HW },
	{ "sw", SECTION_SW },
	{ "software", SECTION_SW },
	{ "tool", SECTION_TOOL },
	{ "cache", SECTION_CACHE },
	{ "hwcache", SECTION_CACHE },
	{ "pmu", SECTION_PMU },
	{ "tracepoint", SECTION_TRACEPOINT },
	{ "metric", SECTION_METRIC },
	{ "metrics", SECTION_METRIC },
	{ "metricgroup", SECTION_METRICGROUP },
	{ "metricgroups", SECTION_METRICGROUP },
	{ "pfm", SECTION_PFM },
	{ "bpf", SECTION_BPF },
	{ "sdt", SECTION_NONE },
};

/* One line of the list; all but name and type may be NULL. */
struct row {
	const char *name;
	const char *alias;
	const char *raw;		/* for --raw-dump, when it is not name and alias */
	const char *type;		/* in brackets */
	const char *json_type;
	const char *pmu;
	const char *topic;
	const char *scale_unit;
	const char *desc;
	const char *long_desc;
	bool is_deprecated;
	const char *encoding;
};

struct lister {
	FILE *out;
	struct pmus *pmus;
	struct definitions *defs;
	bool raw, json, desc, instances, details, deprecated;
	const char *unit;		/* --unit, or NULL */
	const char *glob;		/* pattern rows must match, or NULL */
	bool any;			/* a row has been printed */
	bool failed;			/* a section could not be listed */
	bool headed;			/* the heading of metrics has been printed */
};

/* One JSON object of the members that have a value; @members ends with a NULL key. */
static void print_object(struct lister *l, const char *const members[][2])
{
	bool first = true;

	fprintf(l->out, "%s{\n", l->any ? ",\n" : "");
	for (; (*members)[0]; members++) {
		if (!(*members)[1] || !*(*members)[1])
			continue;
		fprintf(l->out, "%s\t\"%s\": ", first ? "" : ",\n", (*members)[0]);
		json_string__print(l->out, (*members)[1]);
		first = false;
	}
	fputs("\n}", l->out);
}

static bool glob_matches(const struct lister *l, const char *text)
{
	char *pattern __cleanup(free_ptr) = NULL;

	if (!l->glob)
		return true;
	if (!text)
		return false;
	pattern = xasprintf("*%s*", l->glob);
	return pattern && !fnmatch(pattern, text, FNM_CASEFOLD);
}

static void print_row(struct lister *l, const struct row *row)
{
	char *both __cleanup(free_ptr) = NULL;

	if (row->is_deprecated && !l->deprecated)
		return;
	if (!glob_matches(l, row->name) && !glob_matches(l, row->alias) &&
	    !glob_matches(l, row->topic))
		return;
	if (l->json) {
		const char *const members[][2] = {
			{ "Unit", row->pmu },
			{ "Topic", row->topic },
			{ "EventName", row->name },
			{ "EventAlias", row->alias },
			{ "ScaleUnit", row->scale_unit },
			{ "EventType", row->json_type },
			{ "Deprecated", row->is_deprecated ? "1" : NULL },
			{ "BriefDescription", l->desc ? row->desc : NULL },
			{ "PublicDescription", l->desc ? row->long_desc : NULL },
			{ "Encoding", row->encoding },
			{ NULL, NULL },
		};

		print_object(l, members);
	} else if (l->raw) {
		fprintf(l->out, "%s ", row->raw ? row->raw : row->name);
		if (row->alias && !row->raw)
			fprintf(l->out, "%s ", row->alias);
	} else {
		if (row->alias)
			both = xasprintf("%s OR %s", row->name, row->alias);
		fprintf(l->out, "  %-50s [%s]\n", both ? both : row->name, row->type);
		if (row->desc && l->desc)
			fprintf(l->out, "       [%s]\n", row->desc);
		if (row->encoding && l->details)
			fprintf(l->out, "        %s\n", row->encoding);
	}
	l->any = true;
}

/* Whether this machine can open it, for ordinary users at least at user level. */
static bool can_open(struct lister *l, uint32_t type, uint64_t config)
{
	struct perf_event_attr attr = { .size = sizeof(attr), .type = type, .config = config,
					.disabled = 1 };
	const struct pmu *core = pmus__core(l->pmus);
	int fd __cleanup(close_fd) = -1;

	if (core && pmus__nr_core(l->pmus) > 1)
		attr.config |= (uint64_t)core->type << 32;
	fd = syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0 && (errno == EACCES || errno == EPERM)) {
		attr.exclude_kernel = 1;
		attr.exclude_hv = 1;
		fd = syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	}
	return fd >= 0;
}

static bool unit_matches(const struct lister *l, const struct pmu *pmu, const char *name)
{
	if (!l->unit)
		return true;
	return pmu ? pmu__matches(pmu, l->unit) : name && !strcmp(name, l->unit);
}

static void list_hw(struct lister *l)
{
	const struct pmu *core = pmus__core(l->pmus);
	const struct event_name *event;

	for (event = hw_events; event->name; event++) {
		char encoding[64];
		struct row row = {
			.name = event->name,
			.alias = event->alias,
			.type = "Hardware event",
			.json_type = "Hardware event",
			.topic = "legacy hardware",
			.pmu = core ? core->name : NULL,
			.encoding = encoding,
		};

		if (!unit_matches(l, core, "cpu") ||
		    !can_open(l, PERF_TYPE_HARDWARE, event->config))
			continue;
		snprintf(encoding, sizeof(encoding), "%d:0x%llx", PERF_TYPE_HARDWARE,
			 (unsigned long long)event->config);
		print_row(l, &row);
	}
}

static void list_cache(struct lister *l)
{
	const struct pmu *core = pmus__core(l->pmus);
	char name[CACHE_NAME_MAX], encoding[64];
	uint64_t config;
	int pos = 0;

	while (cache_event__next(&pos, name, &config)) {
		struct row row = {
			.name = name,
			.type = "Hardware cache event",
			.json_type = "Hardware cache event",
			.topic = "legacy cache",
			.pmu = core ? core->name : NULL,
			.encoding = encoding,
		};

		if (!unit_matches(l, core, "cpu") || !can_open(l, PERF_TYPE_HW_CACHE, config))
			continue;
		snprintf(encoding, sizeof(encoding), "%d:0x%llx", PERF_TYPE_HW_CACHE,
			 (unsigned long long)config);
		print_row(l, &row);
	}
}

/* Software and tool events: the tables that stand for their PMUs. */
static void list_table(struct lister *l, const char *pmu, const struct event_name *event,
		       const char *type)
{
	for (; event->name && unit_matches(l, NULL, pmu); event++) {
		char encoding[64];
		struct row row = {
			.name = event->name,
			.alias = event->alias,
			.type = type,
			.json_type = type,
			.pmu = pmu,
			.topic = pmu,
			.desc = event->desc,
			.encoding = encoding,
		};

		snprintf(encoding, sizeof(encoding), "%s/config=0x%llx/", pmu,
			 (unsigned long long)event->config);
		print_row(l, &row);
	}
}

static bool has_earlier_instance(struct lister *l, const struct pmu *pmu)
{
	const struct pmu *other = NULL;

	while ((other = pmus__next(l->pmus, other)) && other != pmu) {
		if (!other->is_core && pmu__same_family(other, pmu))
			return true;
	}
	return false;
}

static bool has_instances(struct lister *l, const struct pmu *pmu)
{
	const struct pmu *other = NULL;

	while ((other = pmus__next(l->pmus, other))) {
		if (other != pmu && !other->is_core && pmu__same_family(other, pmu))
			return true;
	}
	return false;
}

/* Events of files have names that need no PMU, and texts of their vendor's. */
static void describe(struct row *row, const struct event_def *def)
{
	row->name = def->name;
	row->alias = row->raw = NULL;
	row->topic = def->topic;
	row->desc = def->desc;
	row->long_desc = def->long_desc;
	row->is_deprecated = def->deprecated;
}

static void list_events_of(struct lister *l, const struct pmu *pmu)
{
	bool family = !l->instances && !pmu->is_core && has_instances(l, pmu);
	int len = family ? pmu__family_len(pmu) : (int)strlen(pmu->name);
	const struct pmu_event *next = NULL;

	while ((next = pmu__next_event(pmu, next))) {
		const struct pmu_event *event = pmu__event(pmu, next->name);
		char *name __cleanup(free_ptr) = NULL, *encoding __cleanup(free_ptr) = NULL;
		char *short_name __cleanup(free_ptr) = xasprintf("%.*s", len, pmu->name);
		char *scale_unit __cleanup(free_ptr) = NULL;

		name = xasprintf("%.*s/%s/", len, pmu->name, next->name);
		encoding = xasprintf("%s/%s/", pmu->name, event && event->terms ? event->terms : "");
		if (event && (event->unit[0] || event->has_scale))
			scale_unit = xasprintf("%g%s", event->scale, event->unit);
		if (name && encoding && short_name) {
			struct row row = {
				.name = pmu->is_core ? next->name : name,
				.alias = pmu->is_core ? name : NULL,
				.raw = name,
				.type = "Kernel PMU event",
				.json_type = "Kernel PMU event",
				.pmu = short_name,
				.topic = short_name,
				.scale_unit = scale_unit,
				.encoding = encoding,
			};

			if (event && event->def)
				describe(&row, event->def);
			print_row(l, &row);
		}
	}
}

static void list_pmu(struct lister *l)
{
	const struct pmu *pmu = NULL;

	while ((pmu = pmus__next(l->pmus, pmu))) {
		if (pmu__is_software(pmu) || pmu__is_tool(pmu) || !unit_matches(l, pmu, NULL) ||
		    !pmus__is_kept(l->pmus, pmu))
			continue;
		if (l->instances || pmu->is_core || !has_earlier_instance(l, pmu))
			list_events_of(l, pmu);
	}
}

/* Not names but forms: only for people. */
static void list_raw(struct lister *l)
{
	static const struct row forms[] = {
		{ .name = "rNNN", .type = "Raw event descriptor" },
		{ .name = "PMU/t1=v1[,t2=v2,t3 ...]/modifier", .type = "Raw event descriptor" },
		{ .name = "mem:<addr>[/len][:access]", .type = "Hardware breakpoint" },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(forms) && !l->raw && !l->json && !l->unit; i++)
		print_row(l, &forms[i]);
}

static int list_tracepoint(void *ctx, const char *subsys, const char *name)
{
	char *full __cleanup(free_ptr) = xasprintf("%s:%s", subsys, name);
	struct row row = {
		.name = full,
		.type = "Tracepoint event",
		.json_type = "Tracepoint event",
		.pmu = "tracepoint",
	};

	if (!full)
		return -ENOMEM;
	print_row(ctx, &row);
	return 0;
}

static void list_tracepoints(struct lister *l)
{
	/* ordinary users may not see them, which is no error here */
	if (unit_matches(l, NULL, "tracepoint"))
		(void)tracepoint__for_each("*", "*", true, list_tracepoint, l);
}

static void list_pfm_event(void *ctx, const char *pmu, const char *name, const char *desc)
{
	struct row row = {
		.name = name,
		.type = "libpfm4 event",
		.json_type = "libpfm4 event",
		.pmu = pmu,
		.topic = pmu,
		.desc = desc,
	};

	print_row(ctx, &row);
}

static void list_pfm(struct lister *l)
{
	if (pfm__is_built_in())
		pfm__for_each(list_pfm_event, l);
	else
		pr_warn("this perf was built without libpfm4");
}

/* What there is to say of a BPF program for -b; owned. */
static char *describe_bpf(const struct bpf_target *target, const char *why_not)
{
	char *runs __cleanup(free_ptr) =
		target->run_cnt ? xasprintf("%llu runs", target->run_cnt) : strdup("");
	const char *note = why_not		? "cannot be counted: " :
			   target->is_counting	? "a part of a tool that counts: not one of \"all\"" :
			   target->is_tail_called ? "runs that begin by tail call are not seen" :
			   target->tail_calls	? "with what it tail-calls" :
						  "";

	if (!runs)
		return NULL;
	return xasprintf("%s%s%s%s", runs, *runs && (*note || why_not) ? "; " : "", note,
			 why_not ? why_not : "");
}

static int list_one_bpf(void *ctx, struct bpf_target *target)
{
	struct lister *l = ctx;
	char buf[16], *why_not __cleanup(free_ptr) = bpf_target__why_not(target);
	char *desc __cleanup(free_ptr) = describe_bpf(target, why_not);
	char *id __cleanup(free_ptr) = xasprintf("id:%u", target->id);
	char *name __cleanup(free_ptr) = xasprintf("name:%s", target->name);
	char *type __cleanup(free_ptr) =
		xasprintf("BPF program, %s", bpf_target__type_name(target, buf));
	struct row row = {
		.name = id,
		.alias = *target->name ? name : NULL,
		.type = type,
		.json_type = type,
		.pmu = "bpf",
		.desc = desc && *desc ? desc : NULL,
	};

	if (!desc || !id || !name || !type)
		return -ENOMEM;
	/* Bare names are for shells that complete what can be typed. */
	if (!l->raw || !why_not)
		print_row(l, &row);
	return 0;
}

/* The programs that -b takes. Return: 0, or -errno after a message. */
static int list_bpf(struct lister *l)
{
	int err = bpf_target__each(list_one_bpf, l);

	if (err)
		pr_err("cannot list BPF programs: %s", err == -EPERM ? "not permitted: needs CAP_BPF and CAP_SYS_ADMIN (run as root)" :
							      strerror(-err));
	return err;
}

static void print_heading(struct lister *l, const char *heading)
{
	if (!l->headed && !l->raw && !l->json)
		fprintf(l->out, "\n%s:\n\n", heading);
	l->headed = true;
}

static void list_metrics(struct lister *l)
{
	const struct metric_def *def = NULL;

	l->headed = false;
	while (!l->unit && (def = definitions__next_metric(l->defs, def))) {
		if (!glob_matches(l, def->name) && !glob_matches(l, def->group))
			continue;
		print_heading(l, "Metrics");
		if (l->json) {
			const char *const members[][2] = {
				{ "MetricGroup", def->group },
				{ "MetricName", def->name },
				{ "MetricExpr", def->expr },
				{ "MetricThreshold", def->threshold },
				{ "ScaleUnit", def->unit },
				{ "BriefDescription", l->desc ? def->description : NULL },
				{ "PublicDescription", l->desc ? def->long_description : NULL },
				{ "Unit", def->pmu },
				{ NULL, NULL },
			};

			print_object(l, members);
		} else if (l->raw) {
			fprintf(l->out, "%s ", def->name);
		} else {
			fprintf(l->out, "  %s\n", def->name);
			if (def->description && l->desc)
				fprintf(l->out, "       [%s]\n", def->description);
			if (def->expr && l->details)
				fprintf(l->out, "        %s\n", def->expr);
		}
		l->any = true;
	}
}

static int compare_strings(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The groups of all metrics, each once, in order. */
static void list_metricgroups(struct lister *l)
{
	const struct metric_def *def = NULL;
	char **groups = NULL;
	size_t nr = 0, cap = 0, i;

	l->headed = false;
	/* JSON names the groups of each metric: an array of bare groups would say nothing new */
	while (!l->json && !l->unit && (def = definitions__next_metric(l->defs, def))) {
		char *text __cleanup(free_ptr) = def->group ? strdup(def->group) : NULL;
		char *save = NULL, *group = text ? strtok_r(text, ";", &save) : NULL;

		for (; group; group = strtok_r(NULL, ";", &save)) {
			if (nr == cap) {
				char **grown = realloc(groups, (cap + 64) * sizeof(*grown));

				if (!grown)
					break;
				groups = grown;
				cap += 64;
			}
			groups[nr] = strdup(group);
			nr += groups[nr] != NULL;
		}
	}
	if (nr)
		qsort(groups, nr, sizeof(*groups), compare_strings);
	for (i = 0; i < nr; i++) {
		if ((!i || strcmp(groups[i], groups[i - 1])) && glob_matches(l, groups[i])) {
			print_heading(l, "Metric Groups");
			fprintf(l->out, l->raw ? "%s " : "%s\n", groups[i]);
			l->any = true;
		}
	}
	for (i = 0; i < nr; i++)
		free(groups[i]);
	free(groups);
}

static void list_sections(struct lister *l, unsigned int sections)
{
	if (sections & SECTION_BPF && list_bpf(l))
		l->failed = true;
	if (sections & SECTION_HW)
		list_hw(l);
	if (sections & SECTION_SW)
		list_table(l, "software", sw_events, "Software event");
	if (sections & SECTION_TOOL)
		list_table(l, "tool", tool_events, "Tool event");
	if (sections & SECTION_CACHE)
		list_cache(l);
	if (sections & SECTION_PMU)
		list_pmu(l);
	if (sections & SECTION_RAW)
		list_raw(l);
	if (sections & SECTION_TRACEPOINT)
		list_tracepoints(l);
	if (sections & SECTION_PFM)
		list_pfm(l);
	if (sections & SECTION_METRIC)
		list_metrics(l);
	if (sections & SECTION_METRICGROUP)
		list_metricgroups(l);
}

/* A word of the command line: a section, or else a pattern for names of all of them. */
static void list_word(struct lister *l, const char *word)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(section_words); i++) {
		if (!strcmp(word, section_words[i].word)) {
			list_sections(l, section_words[i].section);
			return;
		}
	}
	l->glob = word;
	list_sections(l, SECTION_ALL & ~SECTION_RAW);
	l->glob = NULL;
}

struct list_cmd {
	struct lister lister;
	const char *output, *cputype;
	bool debug;
};

static int add_metrics_file(void *ctx, const char *arg)
{
	struct list_cmd *cmd = ctx;

	return definitions__add_file(cmd->lister.defs, arg) ? -EINVAL : 0;
}

#define AT(member) offsetof(struct list_cmd, member)

static const struct option_row rows[] = {
	{ 'd', "desc", OPT_FLAG, AT(lister.desc), NULL, NULL, "print descriptions (default)" },
	{ 'v', "long-desc", OPT_FLAG, AT(lister.instances), NULL, NULL,
	  "list every instance of a PMU, not one for its family" },
	{ 'j', "json", OPT_FLAG, AT(lister.json), NULL, NULL, "print one JSON array" },
	{ 'o', "output", OPT_STRING, AT(output), NULL, "file", "write to a file" },
	{ 0, "cputype", OPT_STRING, AT(cputype), NULL, "type",
	  "of several core PMUs list only this one, e.g. core or atom" },
	{ 0, "debug", OPT_FLAG, AT(debug), NULL, NULL, "say more about problems" },
	{ 0, "deprecated", OPT_FLAG, AT(lister.deprecated), NULL, NULL, "list deprecated events, too" },
	{ 0, "details", OPT_FLAG, AT(lister.details), NULL, NULL, "print what names stand for" },
	{ 0, "metrics-file", OPT_CALL, 0, add_metrics_file, "file",
	  "a file or directory that defines metrics and events" },
	{ 0, "raw-dump", OPT_FLAG, AT(lister.raw), NULL, NULL, "print bare names on one line" },
	{ 0, "raw", OPT_FLAG, AT(lister.raw), NULL, NULL, NULL },
	{ 0, "unit", OPT_STRING, AT(lister.unit), NULL, "PMU", "list only the events of this PMU" },
	{ 0, NULL, OPT_FLAG, 0, NULL, NULL, NULL }
};

static const char usage[] =
	"perf list [<options>] [hw|sw|cache|tracepoint|pmu|metric|metricgroup|tool|pfm|bpf|GLOB...]";

int cmd_list(int argc, char **argv)
{
	struct list_cmd cmd = { .lister = { .out = stdout, .desc = true } };
	struct lister *l = &cmd.lister;
	int i, ret = 1;

	msg__init("perf list");
	l->pmus = pmus__new(sysfs_root());
	l->defs = definitions__new();
	if (!l->pmus || !l->defs) {
		pr_err("cannot read the PMUs: %s", strerror(errno));
		goto out;
	}
	definitions__add_places(l->defs);
	pmus__set_definitions(l->pmus, l->defs);
	i = options__parse(rows, usage, &cmd, argc, argv);
	if (i < 0) {
		ret = -i;
		goto out;
	}
	if (cmd.debug)
		msg__set_verbose(2);
	if (cmd.cputype && pmus__set_cputype(l->pmus, cmd.cputype)) {
		pr_err("--cputype %s: there is no such core PMU", cmd.cputype);
		goto out;
	}
	if (cmd.output) {
		l->out = fopen(cmd.output, "we");
		if (!l->out) {
			pr_err("cannot open '%s': %s", cmd.output, strerror(errno));
			l->out = stdout;
			goto out;
		}
	}
	if (l->json)
		fputs("[\n", l->out);
	if (i == argc)
		list_sections(l, SECTION_ALL);
	for (; i < argc; i++)
		list_word(l, argv[i]);
	if (l->json)
		fputs("\n]\n", l->out);
	else if (l->raw && l->any)
		fputc('\n', l->out);
	ret = l->failed;
out:
	if (l->out != stdout ? fclose(l->out) : fflush(stdout)) {
		pr_err("cannot write the list: %s", strerror(errno));
		ret = 1;
	}
	pmus__delete(l->pmus);
	definitions__delete(l->defs);
	return ret;
}
