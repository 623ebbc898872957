// SPDX-License-Identifier: GPL-2.0
#include "util/profile/profile_flame.h"

#include "util/event/evlist.h"
#include "util/lib/util.h"
#include "util/profile/flame_svg.h"
#include "util/profile/flame_tree.h"
#include "util/profile/profile_options.h"
#include "util/profile/profile_report.h"
#include "util/profile/report_text.h"

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

int profile_flame__write(FILE *out, const struct profile_report *report, const char *path)
{
	char *title __cleanup(free_ptr) = report_text__title(report, 0);
	char *notes __cleanup(free_ptr) = report_text__account(report, 0);
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
