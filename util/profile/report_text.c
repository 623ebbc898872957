// SPDX-License-Identifier: GPL-2.0
#include "util/profile/report_text.h"

#include "util/event/evlist.h"
#include "util/profile/account.h"
#include "util/profile/profile_report.h"
#include "util/sample/sample_types.h"

#include <stdio.h>
#include <string.h>

char *report_text__title(const struct profile_report *report, int event)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	if (!out)
		return NULL;
	profile_report__put_title(out, report, event);
	fclose(out);
	return text;
}

/* The lines of the account without their comment signs. */
char *report_text__account(const struct profile_report *report, int event)
{
	char *text = NULL, *to;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	if (!out)
		return NULL;
	account__print_text(out, report->events->evsels[event], &report->accounts[event]);
	if (fclose(out) || !text)
		return text;
	to = text;
	for (char *from = text; *from;) {
		char *end = strchrnul(from, '\n');
		size_t skip = strncmp(from, "# ", 2) ? 0 : 2, size;

		end += *end == '\n';
		size = end - from - skip;
		memmove(to, from + skip, size);
		to += size;
		from = end;
	}
	*to = '\0';
	return text;
}
