// SPDX-License-Identifier: GPL-2.0
#include "util/defs/metric_def.h"

#include <string.h>
#include <strings.h>

bool metric_def__in_group(const struct metric_def *def, const char *group)
{
	return metric_def__has_word(def->group, group);
}

bool metric_def__has_word(const char *list, const char *word)
{
	const char *pos = list;
	size_t len;

	while (pos && *pos) {
		len = strcspn(pos, ";");
		if (len == strlen(word) && !strncasecmp(pos, word, len))
			return true;
		pos += len + (pos[len] == ';');
	}
	return false;
}
