// SPDX-License-Identifier: GPL-2.0
/* perf list: the names that -e and -M know. */
#include "builtin.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "util/bpf_target.h"
#include "util/definitions.h"
#include "util/event_tables.h"
#include "util/list.h"
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

/* Not names but forms: only for people. */
static void list_raw(struct lister *l)
{
	static const struct list_row forms[] = {
		{ .name = "rNNN", .type = "Raw event descriptor" },
		{ .name = "PMU/t1=v1[,t2=v2,t3 ...]/modifier", .type = "Raw event descriptor" },
		{ .name = "mem:<addr>[/len][:access]", .type = "Hardware breakpoint" },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(forms) && !l->raw && !l->json && !l->unit; i++)
		list__row(l, &forms[i]);
}

static int list_tracepoint(void *ctx, const char *subsys, const char *name)
{
	char *full __cleanup(free_ptr) = xasprintf("%s:%s", subsys, name);
	const struct lister *l = ctx;
	char encoding[64] = "";
	uint64_t id;
	struct list_row row = {
		.name = full,
		.type = "Tracepoint event",
		.json_type = "Tracepoint event",
		.pmu = "tracepoint",
		.encoding = encoding,
	};

	if (!full)
		return -ENOMEM;
	/* one more file for each of thousands: not for a list of names */
	if ((l->json || l->details) && !tracepoint__id(subsys, name, &id))
		snprintf(encoding, sizeof(encoding), "tracepoint/config=0x%llx/", (unsigned long long)id);
	list__row(ctx, &row);
	return 0;
}

static void list_tracepoints(struct lister *l)
{
	/* ordinary users may not see them, which is no error here */
	if (list__has_unit(l, NULL, "tracepoint"))
		(void)tracepoint__for_each("*", "*", true, list_tracepoint, l);
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
	struct list_row row = {
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
		list__row(l, &row);
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
		list_raw(l);
	if (sections & SECTION_TRACEPOINT)
		list_tracepoints(l);
	if (sections & SECTION_PFM)
		list_pfm(l);
	if (sections & SECTION_METRIC)
		list__metrics(l);
	if (sections & SECTION_METRICGROUP)
		list__metricgroups(l);
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
