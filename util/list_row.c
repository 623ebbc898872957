// SPDX-License-Identifier: GPL-2.0
#include "list.h"

#include <fnmatch.h>
#include <string.h>

#include "json_string.h"
#include "pmu.h"
#include "util.h"

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

void list__details(const struct lister *l, const char *desc, const char *encoding)
{
	if (desc && l->desc)
		fprintf(l->out, "       [%s]\n", desc);
	if (encoding && *encoding && l->details)
		fprintf(l->out, "        %s\n", encoding);
}

void list__row(struct lister *l, const struct list_row *row)
{
	char *both __cleanup(free_ptr) = NULL;

	if (row->is_deprecated && !l->deprecated)
		return;
	if (!list__matches(l, row->name) && !list__matches(l, row->alias) &&
	    !list__matches(l, row->topic))
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

		list__object(l, members);
	} else if (l->raw) {
		fprintf(l->out, "%s ", row->raw ? row->raw : row->name);
		if (row->alias && !row->raw)
			fprintf(l->out, "%s ", row->alias);
	} else {
		if (row->alias)
			both = xasprintf("%s OR %s", row->name, row->alias);
		fprintf(l->out, "  %-50s [%s]\n", both ? both : row->name, row->type);
		list__details(l, row->desc, row->encoding);
	}
	l->any = true;
}

bool list__has_unit(const struct lister *l, const struct pmu *pmu, const char *name)
{
	if (!l->unit)
		return true;
	return pmu ? pmu__matches(pmu, l->unit) : name && !strcmp(name, l->unit);
}
