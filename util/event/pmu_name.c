// SPDX-License-Identifier: GPL-2.0
#include "util/event/pmu_name.h"

#include <ctype.h>
#include <fnmatch.h>
#include <linux/perf_event.h>
#include <string.h>

int pmu__family_len(const struct pmu *pmu)
{
	const char *name = pmu->name;
	int len = strlen(name), digits = len, hex = len;

	while (digits > 0 && isdigit((unsigned char)name[digits - 1]))
		digits--;
	while (hex > 0 && isxdigit((unsigned char)name[hex - 1]))
		hex--;
	/* addresses, as in arm_pmu_2b000; shorter ones could be words such as "_ad" */
	if (hex < digits && len - hex > 2 && hex > 0 && name[hex - 1] == '_')
		digits = hex;
	if (digits == len || !digits)
		return len;
	return name[digits - 1] == '_' ? digits - 1 : digits;
}

bool pmu__same_family(const struct pmu *a, const struct pmu *b)
{
	int len = pmu__family_len(a);

	return len == pmu__family_len(b) && !strncmp(a->name, b->name, len);
}

static const char *skip_uncore(const char *name)
{
	return strncmp(name, "uncore_", 7) ? name : name + 7;
}

/*
 * Return: whether a name has the words of a list in their order, each followed by numbers only. The first
 * is at its start: "hisi_sccl,ddrc" is hisi_sccl1_ddrc0.
 */
static bool words_match(const char *name, const char *words)
{
	while (*words) {
		size_t len = strcspn(words, ",");

		if (!len || strncmp(name, words, len))
			return false;
		name += len;
		name += strspn(name, "0123456789_");
		words += len + (words[len] == ',');
	}
	return !*name;
}

static bool name_matches(const char *name, const char *pattern)
{
	size_t len = strlen(pattern), digits, hex;
	const char *rest;

	if (!len)
		return false;
	if (strchr(pattern, ','))
		return words_match(name, pattern);
	if (strpbrk(pattern, "*?["))
		return !fnmatch(pattern, name, 0);
	if (strncmp(name, pattern, len))
		return false;
	rest = name + len;
	if (!*rest)
		return true;
	/* the number must start here: "imc1" must not match "imc10" */
	if (*rest == '_')
		rest++;
	else if (isdigit((unsigned char)pattern[len - 1]))
		return false;
	digits = strspn(rest, "0123456789");
	hex = strspn(rest, "0123456789abcdefABCDEF");
	return *rest && (!rest[digits] || (!rest[hex] && hex > 2));
}

bool pmu__matches(const struct pmu *pmu, const char *pattern)
{
	const char *core = skip_uncore(pattern);

	return name_matches(pmu->name, pattern) || name_matches(skip_uncore(pmu->name), core) ||
	       (pmu->alias && name_matches(skip_uncore(pmu->alias), core));
}

bool pmu__is_software(const struct pmu *pmu)
{
	return pmu->type == PERF_TYPE_SOFTWARE;
}

bool pmu__is_tool(const struct pmu *pmu)
{
	return pmu->type == PMU_TYPE_TOOL;
}
