// SPDX-License-Identifier: GPL-2.0
/* perf list: print the names that -e and -M accept. */
#include "builtin.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#include "util/cmd/list.h"
#include "util/cmd/list_metrics.h"
#include "util/cmd/list_pmu.h"
#include "util/cmd/list_raw.h"
#include "util/cmd/pager.h"
#include "util/defs/definitions.h"
#include "util/event/event_names.h"
#include "util/event/evlist.h"
#include "util/event/parse_error.h"
#include "util/event/pfm.h"
#include "util/event/pmu.h"
#include "util/host/perf_event.h"
#include "util/host/tracepoint.h"
#include "util/lib/msg.h"
#include "util/lib/parse_options.h"
#include "util/lib/util.h"
#include "util/target/bpf_prog.h"
#include "util/target/bpf_prog_usage.h"

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
	SECTION_PFM = 1 << 9,	/* only on request: -e does not accept these names */
	SECTION_NONE = 1 << 10, /* words of Linux's perf without events here */
	SECTION_BPF = 1 << 11,	/* only on request: not events, but programs to count them in */
};

static const struct {
	const char *word;
	enum section section;
} section_words[] = {
	{"hw", SECTION_HW},
	{"hardware", SECTION_HW},
	{"sw", SECTION_SW},
	{"software", SECTION_SW},
	{"tool", SECTION_TOOL},
	{"cache", SECTION_CACHE},
	{"hwcache", SECTION_CACHE},
	{"pmu", SECTION_PMU},
	{"tracepoint", SECTION_TRACEPOINT},
	{"metric", SECTION_METRIC},
	{"metrics", SECTION_METRIC},
	{"metricgroup", SECTION_METRICGROUP},
	{"metricgroups", SECTION_METRICGROUP},
	{"pfm", SECTION_PFM},
	{"bpf", SECTION_BPF},
	{"sdt", SECTION_NONE},
};

/* Return: "filter: FIELD, FIELD" with the fields that --filter can name; owned; NULL: not known. */
static char *filter_hint(const char *subsys, const char *name)
{
	char *path __cleanup(free_ptr) =
		xasprintf("%s/events/%s/%s/format", tracefs_root(), subsys, name);
	char *format __cleanup(free_ptr) = path ? read_file(path, NULL) : NULL;
	char *hint = NULL;

	for (char *line = format; line && (line = strstr(line, "field:")); line++) {
		int end = strcspn(line, ";"), start;
		char *more, *bracket;

		/* The length of an array follows its name. */
		bracket = end && line[end - 1] == ']' ? memrchr(line, '[', end) : NULL;
		if (bracket)
			end = bracket - line;
		start = end;
		while (start && (isalnum((unsigned char)line[start - 1]) || line[start - 1] == '_'))
			start--;
		/* The first ones are those of all tracepoints. */
		if (!strncmp(line + start, "common_", strlen("common_")))
			continue;
		more = xasprintf("%s%s%.*s", hint ? hint : "filter: ", hint ? ", " : "",
				 end - start, line + start);
		free(hint);
		hint = more;
	}
	return hint;
}

static int list_tracepoint(void *ctx, const char *subsys, const char *name)
{
	char *full __cleanup(free_ptr) = xasprintf("%s:%s", subsys, name);
	const struct lister *l = ctx;
	bool hints = l->details && !l->json && !l->raw;
	char *hint __cleanup(free_ptr) = hints ? filter_hint(subsys, name) : NULL;
	char encoding[64] = "";
	uint64_t id;
	struct list_row row = {
		.name = full,
		.type = "Tracepoint event",
		.json_type = "Tracepoint event",
		.pmu = l->json ? "tracepoint" : NULL,
		.topic = subsys,
		.desc = hint,
		.encoding = encoding,
	};

	if (!full)
		return -ENOMEM;
	/* A list of names does without the id: each of thousands is one more file to read. */
	if ((l->json || l->details) && !tracepoint__id(subsys, name, &id))
		snprintf(encoding, sizeof(encoding), "tracepoint/config=0x%llx/",
			 (unsigned long long)id);
	list__row(ctx, &row);
	return 0;
}

static void list_tracepoints(struct lister *l)
{
	/* Not an error here: ordinary users may not be allowed to see tracepoints. */
	if (list__has_unit(l, NULL, "tracepoint"))
		(void)tracepoint__for_each("*", "*", true, list_tracepoint, l);
}

/* Return: whether this machine opens an event, at least at user level. */
static bool opens(const struct evsel *evsel)
{
	struct perf_event_attr attr = evsel->attr;
	int fd = perf_event__open(&attr, 0, -1, -1, 0);

	if (fd == -EACCES || fd == -EPERM) {
		attr.exclude_kernel = attr.exclude_hv = 1;
		fd = perf_event__open(&attr, 0, -1, -1, 0);
	}
	if (fd < 0)
		return false;
	close_fd(&fd);
	return true;
}

static void add_pfm_name(void *ctx, const char *pmu __unused, const char *name,
			 const char *desc __unused)
{
	FILE *out = ctx;

	fprintf(out, "%s%s", ftell(out) ? "," : "", name);
}

/* Shells complete bare names: print only those that can be counted. The library parses all at once. */
static void list_pfm_names(struct lister *l)
{
	char *names __cleanup(free_ptr) = NULL;
	struct evlist *evlist = evlist__new();
	struct parse_error error = {};
	struct evsel *evsel;
	size_t size;
	FILE *out = open_memstream(&names, &size);
	int i;

	if (out) {
		pfm__for_each(add_pfm_name, out);
		fclose(out);
	}
	if (evlist && names && *names && !pfm__parse(evlist, l->pmus, names, &error)) {
		evlist__for_each(evlist, evsel, i) {
			const struct list_row row = {.name = evsel->name};

			if (opens(evsel))
				list__row(l, &row);
		}
	}
	parse_error__clear(&error);
	evlist__delete(evlist);
}

static void list_pfm_event(void *ctx, const char *pmu, const char *name, const char *desc)
{
	struct list_row row = {
		.name = name,
		.type = "libpfm4 event",
		.json_type = "libpfm4 event",
		.pmu = pmu,
		.topic = pmu,
		.desc = desc,
	};

	list__row(ctx, &row);
}

static void list_pfm(struct lister *l)
{
	if (pfm__is_built_in() && l->raw)
		list_pfm_names(l);
	else if (pfm__is_built_in())
		pfm__for_each(list_pfm_event, l);
	else
		pr_warn("this perf was built without libpfm4");
}

/* Return: the description of a BPF program for -b, owned by the caller. */
static char *describe_bpf(const struct bpf_prog *target, const char *why_not)
{
	char *runs __cleanup(free_ptr) =
		target->run_cnt ? xasprintf("%llu executions", target->run_cnt) : strdup("");
	const char *note =
		why_not		       ? "cannot be counted: " :
		target->is_counting    ? "a part of a tool that counts: not one of \"all\"" :
		target->is_tail_called ? "executions that begin by a tail call are not counted" :
		target->tail_calls     ? "with what it tail-calls" :
					 "";

	if (!runs)
		return NULL;
	return xasprintf("%s%s%s%s", runs, *runs && (*note || why_not) ? "; " : "", note,
			 why_not ? why_not : "");
}

static int list_one_bpf(void *ctx, struct bpf_prog *target)
{
	struct lister *l = ctx;
	char buf[16], *why_not __cleanup(free_ptr) = bpf_prog__why_not(target);
	char *desc __cleanup(free_ptr) = describe_bpf(target, why_not);
	char *id __cleanup(free_ptr) = xasprintf("id:%u", target->id);
	char *name __cleanup(free_ptr) = xasprintf("name:%s", target->name);
	char *type __cleanup(free_ptr) =
		xasprintf("BPF program, %s", bpf_prog__type_name(target, buf));
	struct list_row row = {
		.name = id,
		.alias = *target->name ? name : NULL,
		.type = type,
		.json_type = type,
		.pmu = l->json ? "bpf" : NULL,
		.desc = desc && *desc ? desc : NULL,
	};

	if (!desc || !id || !name || !type)
		return -ENOMEM;
	/* Shells complete bare names: print only those that -b accepts. */
	if (!l->raw || !why_not)
		list__row(l, &row);
	return 0;
}

/* List the programs that -b accepts. Return: 0, or -errno after a message. */
static int list_bpf(struct lister *l)
{
	int err = bpf_prog__each(list_one_bpf, l);

	if (err)
		pr_err("cannot list BPF programs: %s",
		       err == -EPERM ?
			       "not permitted: needs CAP_BPF and CAP_SYS_ADMIN (run as root)" :
			       strerror(-err));
	return err;
}

static void list_sections(struct lister *l, unsigned int sections)
{
	if (sections & SECTION_BPF && list_bpf(l))
		l->failed = true;
	if (sections & SECTION_HW)
		list__hw(l);
	if (sections & SECTION_SW)
		list__table(l, "software", sw_events, "Software event");
	if (sections & SECTION_TOOL)
		list__table(l, "tool", tool_events, "Tool event");
	if (sections & SECTION_CACHE)
		list__cache(l);
	if (sections & SECTION_PMU)
		list__pmus(l);
	if (sections & SECTION_RAW)
		list__raw(l);
	if (sections & SECTION_TRACEPOINT)
		list_tracepoints(l);
	if (sections & SECTION_PFM)
		list_pfm(l);
	if (sections & SECTION_METRIC)
		list__metrics(l);
	if (sections & SECTION_METRICGROUP)
		list__metricgroups(l);
}

/* Print why a section is empty, or a pattern has no match. */
static void report_no_match(const struct lister *l, const char *word, unsigned int sections)
{
	const char *why = "";

	if (l->raw || l->json)
		return;
	if (*word == '-')
		why = " (options come before the words)";
	else if (sections & SECTION_TRACEPOINT && access(tracefs_root(), R_OK | X_OK))
		why = errno == EACCES ? " (tracepoints are not readable: run as root)" :
					" (no tracepoints: tracefs is not mounted)";
	else if (strchr(word, ':'))
		why = "";
	else if (sections & (SECTION_HW | SECTION_CACHE) && !pmus__nr_core(l->pmus))
		why = " (this machine has no hardware PMU)";
	if (l->unit)
		pr_warn("'%s': the PMU '%s' has nothing like it", word, l->unit);
	else if (sections == SECTION_NONE)
		pr_warn("'%s': perf counts no statically defined tracepoints of programs: make them probes with Linux's perf (perf buildid-cache --add, perf probe), and look for sdt_*:*",
			word);
	else
		pr_warn("'%s': nothing matches%s", word, why);
}

/* List the section that a word of the command line names, otherwise all names that match it. */
static void list_word(struct lister *l, const char *word)
{
	unsigned int sections = SECTION_ALL & ~SECTION_RAW, before = l->nr;

	l->glob = word;
	for (size_t i = 0; i < ARRAY_SIZE(section_words); i++) {
		if (strcmp(word, section_words[i].word))
			continue;
		sections = section_words[i].section;
		/* The forms of a PMU's events belong to its names. */
		sections |= sections == SECTION_PMU ? SECTION_RAW : 0;
		l->glob = NULL;
	}
	if (sections == SECTION_NONE)
		l->glob = "sdt_*:*";
	list_sections(l, sections == SECTION_NONE ? SECTION_TRACEPOINT : sections);
	l->glob = NULL;
	if (l->nr == before && !l->failed)
		report_no_match(l, word, sections);
}

/* Return: the width of the terminal, or what descriptions have elsewhere. */
static int columns_of(FILE *out)
{
	const char *given = getenv("COLUMNS");
	struct winsize size;

	if (given && atoi(given) > 0)
		return atoi(given);
	return !ioctl(fileno(out), TIOCGWINSZ, &size) && size.ws_col ? size.ws_col : 80;
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
	{'d', "desc", OPT_FLAG, AT(lister.desc), .help = "print descriptions (default)"},
	{'v', "long-desc", OPT_FLAG, AT(lister.instances),
	 .help = "list every instance of a PMU, and long descriptions"},
	{'j', "json", OPT_FLAG, AT(lister.json), .help = "print one JSON array"},
	{'o', "output", OPT_STRING, AT(output), .arg = "file", .help = "write to a file"},
	{0, "cputype", OPT_STRING, AT(cputype), .arg = "type",
	 .help = "list only this one of several core PMUs, e.g. core or atom"},
	{0, "debug", OPT_FLAG, AT(debug), .help = "print more details about problems"},
	{0, "deprecated", OPT_FLAG, AT(lister.deprecated), .help = "also list deprecated events"},
	{0, "details", OPT_FLAG, AT(lister.details), .help = "print the definition of each name"},
	{0, "metrics-file", OPT_CALL, .call = add_metrics_file, .arg = "file",
	 .help = "also read metrics and events from this file or directory"},
	{0, "raw-dump", OPT_FLAG, AT(lister.raw), .help = "print bare names on one line"},
	{0, "raw", OPT_FLAG, AT(lister.raw), .help = NULL},
	{0, "unit", OPT_STRING, AT(lister.unit), .arg = "PMU",
	 .help = "list only the events of this PMU"},
	{}};

static const char usage[] =
	"perf list [<options>] [hw|sw|cache|tracepoint|pmu|sdt|metric|metricgroup|tool|pfm|bpf|GLOB...]";

int cmd_list(int argc, char **argv)
{
	struct list_cmd cmd = {.lister = {.out = stdout, .desc = true}};
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
	i = parse_options__parse(rows, usage, &cmd, argc, argv);
	if (i < 0) {
		ret = -i;
		goto out;
	}
	if (cmd.debug)
		msg__set_verbose(2);
	if (cmd.cputype && pmus__set_cputype(l->pmus, cmd.cputype)) {
		pr_err("--cputype %s: there is no such core PMU", shown_arg(cmd.cputype));
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
	l->columns = columns_of(l->out);
	if (l->out == stdout && !l->raw) {
		bool is_terminal = isatty(STDOUT_FILENO);

		pager__start("list");
		if (is_terminal && !l->json)
			printf("\nList of pre-defined events (to be used in -e or -M):\n");
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
	list__clear(l);
	pmus__delete(l->pmus);
	definitions__delete(l->defs);
	return ret;
}
