// SPDX-License-Identifier: GPL-2.0
#include "util/cmd/list_metrics.h"

#include <stdlib.h>
#include <string.h>

#include "util/cmd/list.h"
#include "util/defs/definitions.h"
#include "util/lib/array.h"
#include "util/lib/util.h"
#include "util/metric/metric.h"

static void print_heading(struct lister *l, const char *heading)
{
	if (!l->headed && !l->raw && !l->json)
		fprintf(l->out, "\n%s:\n\n", heading);
	l->headed = true;
}

void list__metrics(struct lister *l)
{
	const struct metric_def *def = NULL;

	l->headed = false;
	while (!l->unit && (def = definitions__next_metric(l->defs, def))) {
		if (!list__matches(l, def->name) && !list__matches(l, def->group))
			continue;
		print_heading(l, "Metrics");
		if (l->json) {
			const char *const members[][2] = {
				{"MetricGroup", def->group},
				{"MetricName", def->name},
				{"MetricExpr", def->expr},
				{"MetricThreshold", def->threshold},
				{"ScaleUnit", def->unit},
				{"BriefDescription", l->desc ? def->description : NULL},
				{"PublicDescription", l->desc ? def->long_description : NULL},
				{"Unit", def->pmu},
				{NULL, NULL},
			};

			list__object(l, members);
		} else if (l->raw) {
			list__text(l, "", def->name, " ");
		} else {
			list__text(l, "  ", def->name, "\n");
			list__details(l, def->description, def->expr);
		}
		l->any = true;
		l->nr++;
	}
}

static int compare_strings(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* List each group once, sorted. */
void list__metricgroups(struct lister *l)
{
	const struct metric_def *def = NULL;
	char **groups = NULL;
	int nr = 0, i;

	l->headed = false;
	/* Skip JSON: it has the groups of each metric. */
	while (!l->json && !l->unit && (def = definitions__next_metric(l->defs, def))) {
		char *text __cleanup(free_ptr) = def->group ? strdup(def->group) : NULL;
		char *save = NULL, *group = text ? strtok_r(text, ";", &save) : NULL;

		for (; group; group = strtok_r(NULL, ";", &save)) {
			char **added = array__add(groups, nr);

			if (added)
				*added = strdup(group);
			if (added && !*added)
				nr--;
		}
	}
	if (nr)
		qsort(groups, nr, sizeof(*groups), compare_strings);
	for (i = 0; i < nr; i++) {
		if ((!i || strcmp(groups[i], groups[i - 1])) && list__matches(l, groups[i])) {
			print_heading(l, "Metric Groups");
			list__text(l, "", groups[i], l->raw ? " " : "\n");
			l->any = true;
			l->nr++;
			l->nr++;
		}
	}
	for (i = 0; i < nr; i++)
		free(groups[i]);
	free(groups);
}
