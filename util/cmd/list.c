// SPDX-License-Identifier: GPL-2.0
#include "util/cmd/list.h"

#include <fnmatch.h>
#include <string.h>

#include "util/event/pmu.h"
#include "util/lib/json_string.h"
#include "util/lib/printable.h"
#include "util/lib/util.h"

/* The column of descriptions. */
#define INDENT 8

void list__object(struct lister *l, const char *const members[][2])
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

bool list__matches(const struct lister *l, const char *text)
{
	char *pattern __cleanup(free_ptr) = NULL;

	if (!l->glob)
		return true;
	if (!text)
		return false;
	pattern = xasprintf("*%s*", l->glob);
	return pattern && !fnmatch(pattern, text, FNM_CASEFOLD);
}

void list__text(const struct lister *l, const char *before, const char *text, const char *after)
{
	fputs(before, l->out);
	printable__put(l->out, 0, text);
	fputs(after, l->out);
}

void list__wrap(const struct lister *l, const char *before, const char *text, const char *after)
{
	int column = INDENT, gap = 0;

	fprintf(l->out, "%*s", INDENT, before);
	while (*text) {
		int len = strcspn(text, " ");
		char *word __cleanup(free_ptr) = strndup(text, len);

		if (column > INDENT && column + gap + len > l->columns) {
			fprintf(l->out, "\n%*s", INDENT, "");
			column = INDENT;
			gap = 0;
		}
		fprintf(l->out, "%*s", gap, "");
		printable__put(l->out, 0, word ? word : "");
		column += gap + len;
		text += len;
		gap = strspn(text, " ");
		text += gap;
	}
	fputs(after, l->out);
}

void list__details(const struct lister *l, const char *desc, const char *encoding)
{
	if (desc && l->desc)
		list__wrap(l, "[", desc, "]\n");
	if (encoding && *encoding && l->details)
		list__wrap(l, "", encoding, "\n");
}

void list__clear(struct lister *l)
{
	free_ptr(&l->topic);
}

/* Print the heading of a row whose topic is another than that of the row before. */
static void print_topic(struct lister *l, const char *topic)
{
	if (!topic || (l->topic && !strcmp(topic, l->topic)))
		return;
	free(l->topic);
	l->topic = strdup(topic);
	list__text(l, "\n", topic, ":\n");
}

/* Return: the description and its PMU, as Linux's perf prints it; owned; NULL: none. */
static char *describe(const struct lister *l, const struct list_row *row)
{
	const char *desc = row->long_desc && l->instances ? row->long_desc : row->desc;
	const struct pmu *core = pmus__core(l->pmus);
	size_t len = desc ? strlen(desc) : 0;
	bool is_only_core =
		core && row->pmu && !strcmp(core->name, row->pmu) && pmus__nr_core(l->pmus) == 1;

	if (!len || !row->pmu || is_only_core)
		return desc ? strdup(desc) : NULL;
	return xasprintf("%s%s Unit: %s", desc, desc[len - 1] == '.' ? "" : ".", row->pmu);
}

static void print_row(struct lister *l, const struct list_row *row)
{
	char *both __cleanup(free_ptr) =
		row->alias ? xasprintf("%s OR %s", row->name, row->alias) : NULL;
	char *desc __cleanup(free_ptr) = describe(l, row);

	print_topic(l, row->topic);
	fputs("  ", l->out);
	printable__put(l->out, row->type ? -50 : 0, both ? both : row->name);
	if (row->type)
		list__text(l, " [", row->type, "]");
	fputc('\n', l->out);
	list__details(l, desc, row->encoding);
}

void list__row(struct lister *l, const struct list_row *row)
{
	if (row->is_deprecated && !l->deprecated)
		return;
	if (!list__matches(l, row->name) && !list__matches(l, row->alias) &&
	    !list__matches(l, row->topic))
		return;
	if (l->json) {
		const char *const members[][2] = {
			{"Unit", row->pmu},
			{"Topic", row->topic},
			{"EventName", row->name},
			{"EventAlias", row->alias},
			{"ScaleUnit", row->scale_unit},
			{"EventType", row->json_type},
			{"Deprecated", row->is_deprecated ? "1" : NULL},
			{"BriefDescription", l->desc ? row->desc : NULL},
			{"PublicDescription", l->desc ? row->long_desc : NULL},
			{"Encoding", row->encoding},
			{NULL, NULL},
		};

		list__object(l, members);
	} else if (l->raw) {
		list__text(l, "", row->raw ? row->raw : row->name, " ");
		if (row->alias && !row->raw)
			list__text(l, "", row->alias, " ");
	} else {
		print_row(l, row);
	}
	l->any = true;
	l->nr++;
}

bool list__has_unit(const struct lister *l, const struct pmu *pmu, const char *name)
{
	if (!l->unit)
		return true;
	return pmu ? pmu__matches(pmu, l->unit) : name && !strcmp(name, l->unit);
}
