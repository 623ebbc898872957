// SPDX-License-Identifier: GPL-2.0
#include "util/defs/cpuid.h"

#include "util/lib/util.h"

#include <regex.h>
#include <stdio.h>
#include <string.h>
#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif

#define MIDR_VARIANT(midr)  (((midr) >> 20) & 0xf)
#define MIDR_REVISION(midr) ((midr)&0xf)
#define MIDR_MODEL(midr)    ((midr) & ~0xf0000fULL)

#if defined(__x86_64__) || defined(__i386__)
static char *read_cpuid(void)
{
	unsigned int a, b, c, d, family, model;
	char vendor[13];

	if (!__get_cpuid(0, &a, &b, &c, &d))
		return NULL;
	memcpy(vendor, &b, 4);
	memcpy(vendor + 4, &d, 4);
	memcpy(vendor + 8, &c, 4);
	vendor[12] = '\0';
	if (!__get_cpuid(1, &a, &b, &c, &d))
		return NULL;
	family = (a >> 8) & 0xf;
	model = (a >> 4) & 0xf;
	if (family >= 6)
		model += ((a >> 16) & 0xf) << 4;
	if (family == 0xf)
		family += (a >> 20) & 0xff;
	return xasprintf("%s-%u-%X-%X", vendor, family, model, a & 0xf);
}
#else
static char *read_cpuid(void)
{
	char *path __cleanup(free_ptr) =
		xasprintf("%s/devices/system/cpu/cpu0/regs/identification/midr_el1", sysfs_root());

	return path ? read_file_line(path) : NULL;
}
#endif

char *cpuid__get(void)
{
	const char *given = secure_getenv("PERF_CPUID");

	return given ? strdup(given) : read_cpuid();
}

/* Part and implementer match; a newer variant or revision also does. */
static bool midr_matches(const char *pattern, const char *cpuid)
{
	uint64_t want = strtoull(pattern, NULL, 16), is = strtoull(cpuid, NULL, 16);

	if (MIDR_MODEL(want) != MIDR_MODEL(is))
		return false;
	if (MIDR_VARIANT(want) != MIDR_VARIANT(is))
		return MIDR_VARIANT(want) < MIDR_VARIANT(is);
	return MIDR_REVISION(want) <= MIDR_REVISION(is);
}

static bool regex_matches(const char *pattern, const char *text)
{
	regmatch_t match;
	regex_t regex;
	bool is_all;

	if (regcomp(&regex, pattern, REG_EXTENDED))
		return false;
	is_all = !regexec(&regex, text, 1, &match, 0) && !match.rm_so && !text[match.rm_eo];
	regfree(&regex);
	return is_all;
}

bool cpuid__matches(const char *pattern, const char *cpuid)
{
	char *model __cleanup(free_ptr) = NULL;
	const char *step;

	if (!strcmp(pattern, cpuid))
		return true;
	if (!strncmp(pattern, "0x", 2) && !strncmp(cpuid, "0x", 2))
		return midr_matches(pattern, cpuid);
	if (regex_matches(pattern, cpuid))
		return true;
	/* VENDOR-FAMILY-MODEL-STEPPING: most lines omit the stepping and match all. */
	step = strrchr(cpuid, '-');
	model = step ? strndup(cpuid, step - cpuid) : NULL;
	return model && strchr(model, '-') && regex_matches(pattern, model);
}
