// SPDX-License-Identifier: GPL-2.0
#include "util/profile/profile_flame.h"

#include "util/event/evlist.h"
#include "util/lib/util.h"
#include "util/profile/account.h"
#include "util/profile/flame_svg.h"
#include "util/profile/flame_tree.h"
#include "util/profile/profile_options.h"
#include "util/profile/profile_report.h"
#include "util/sample/sample_types.h"

#include <errno.h>
#include <string.h>

static bool ends_in(const char *path, const char *end)
{
	size_t len = strlen(path), end_len = strlen(end);

	return len > end_len && !strcmp(path + len - end_len, end);
}

bool profile_flame__is_html(const char *path)
{
	return ends_in(path, ".html");
}

bool profile_flame__is_name(const char *path)
{
	return ends_in(path, ".svg") || profile_flame__is_html(path);
}

static char *title_of(const struct profile_report *report)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	if (!out)
		return NULL;
	profile_report__put_title(out, report, 0);
	fclose(out);
	return text;
}

/* The lines of the account without their comment signs. */
static char *notes_of(const struct profile_report *report)
{
	char *text = NULL, *to;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	if (!out)
		return NULL;
	account__print_text(out, report->events->evsels[0], &report->accounts[0]);
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

int profile_flame__write(FILE *out, const struct profile_report *report, const char *path)
{
	char *title __cleanup(free_ptr) = title_of(report);
	char *notes __cleanup(free_ptr) = notes_of(report);
	struct flame_tree tree = {};
	const struct flame_graph graph = {
		.tree = &tree,
		.title = title,
		.notes = notes,
		.event = report->events->evsels[0]->name,
		.is_icicle = report->options->is_icicle,
		.is_html = profile_flame__is_html(path),
		.percent_limit = report->options->percent_limit,
	};
	int err = title && notes ? flame_tree__add_samples(&tree, report->samples, 0) : -ENOMEM;

	if (!err)
		err = flame_svg__write(out, &graph);
	flame_tree__clear(&tree);
	return err;
}
