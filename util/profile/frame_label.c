// SPDX-License-Identifier: GPL-2.0
#include "util/profile/frame_label.h"

#include "util/profile/profile_options.h"
#include "util/symbol/symbols.h"

#include <stdio.h>
#include <string.h>

const char *frame_label__file(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

const char *frame_label__text(const struct profile_options *options, const struct symbols *symbols,
			      int place, char buf[FRAME_LABEL_MAX])
{
	struct place_name name;

	symbols__name(symbols, place, &name);
	if (!options->has_lines || !name.file)
		return name.name;
	snprintf(buf, FRAME_LABEL_MAX, "%s %s:%d", name.name, frame_label__file(name.file),
		 name.line);
	return buf;
}
