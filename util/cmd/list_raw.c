// SPDX-License-Identifier: GPL-2.0
#include "util/cmd/list_raw.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "util/cmd/list.h"
#include "util/cmd/list_pmu.h"
#include "util/event/pmu.h"
#include "util/lib/program.h"
#include "util/lib/util.h"

/* Terms that a line shows; --details shows all. */
#define MAX_TERMS 3

/* Print a term with the range of its values; a term of one bit stands alone. */
static void print_term(FILE *out, const struct pmu_format *format)
{
	int bits = __builtin_popcountll(format->mask);
	uint64_t max = bits >= 64 ? UINT64_MAX : (1ULL << bits) - 1;

	if (bits <= 1)
		fputs(format->name, out);
	else
		fprintf(out, max < 1000 ? "%s=0..%" PRIu64 : "%s=0..0x%" PRIx64, format->name, max);
}

/* Return: PMU/TERM,.../modifier with at most @max terms; owned, NULL without memory. */
static char *form(const struct pmu *pmu, int len, int max)
{
	const struct pmu_format *format = NULL;
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	int nr = 0;

	if (!out)
		return NULL;
	fprintf(out, "%.*s/", len, pmu->name);
	while ((format = pmu__next_format(pmu, format))) {
		if (nr)
			fputc(',', out);
		if (nr++ == max) {
			fputs("...", out);
			break;
		}
		print_term(out, format);
	}
	fputs("/modifier", out);
	if (fclose(out))
		free_ptr(&text);
	return text;
}

static void list_form(struct lister *l, const struct pmu *pmu)
{
	int len = l->instances || pmu->is_core ? (int)strlen(pmu->name) : pmu__family_len(pmu);
	char *some __cleanup(free_ptr) = form(pmu, len, MAX_TERMS);
	char *all __cleanup(free_ptr) = form(pmu, len, INT_MAX);
	char *desc __cleanup(free_ptr) = xasprintf(
		"see EVENT SYNTAX in '%s help list'; --details prints all terms", program__name());
	struct list_row row = {
		.name = some,
		.type = "Raw event descriptor",
		.topic = "raw",
		.desc = pmu->is_core ? desc : NULL,
		.encoding = all,
	};

	if (some && all)
		list__row(l, &row);
}

void list__raw(struct lister *l)
{
	static const struct list_row codes = {
		.name = "rNNN", .type = "Raw event descriptor", .topic = "raw"};
	static const struct list_row breakpoints = {
		.name = "mem:<addr>[/len][:access]", .type = "Hardware breakpoint", .topic = "raw"};
	const struct pmu *pmu = NULL;

	if (l->raw || l->json)
		return;
	if (!l->unit)
		list__row(l, &codes);
	while ((pmu = pmus__next(l->pmus, pmu))) {
		if (pmu__next_format(pmu, NULL) && !pmu->is_hwmon && list__has_unit(l, pmu, NULL) &&
		    pmus__is_kept(l->pmus, pmu) && list_pmu__is_shown(l, pmu))
			list_form(l, pmu);
	}
	if (!l->unit)
		list__row(l, &breakpoints);
}
