// SPDX-License-Identifier: GPL-2.0
#include "config.h"

#include "msg.h"
#include "util.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

static char *trim(char *text)
{
	char *end;

	text += strspn(text, " \t");
	end = text + strlen(text);
	while (end > text && isspace((unsigned char)end[-1]))
		*--end = '\0';
	return text;
}

/* The value that one file gives a key, the last one if it is given twice; owned, NULL: none. */
static char *value_in(const char *path, const char *key)
{
	char *text __cleanup(free_ptr) = read_file(path, NULL), *rest = text, *line;
	const char *dot = strchr(key, '.');
	char *value = NULL;
	bool is_section = false;

	while (rest && (line = strsep(&rest, "\n"))) {
		char *equals;

		line[strcspn(line, "#;")] = '\0';
		line = trim(line);
		if (*line == '[') {
			is_section = !strncasecmp(line + 1, key, dot - key) &&
				     !strcmp(line + 1 + (dot - key), "]");
			continue;
		}
		equals = strchr(line, '=');
		if (!is_section || !*line)
			continue;
		if (equals)
			*equals = '\0';
		if (strcasecmp(trim(line), dot + 1))
			continue;
		free(value);
		/* a key alone is true */
		value = strdup(equals ? trim(equals + 1) : "true");
	}
	return value;
}

static char *find_value(const char *key)
{
	const char *file = getenv("PERF_CONFIG"), *home = getenv("HOME");
	char *path __cleanup(free_ptr) = NULL, *value = NULL;

	if (file)
		return value_in(file, key);
	if (home && *home)
		path = xasprintf("%s/.perfconfig", home);
	if (path)
		value = value_in(path, key);
	return value ? value : value_in("/etc/perfconfig", key);
}

bool config__is(const char *key, bool otherwise)
{
	static const struct {
		const char *word;
		bool is;
	} words[] = {
		{ "true", true }, { "yes", true }, { "on", true }, { "1", true },
		{ "false", false }, { "no", false }, { "off", false }, { "0", false },
	};
	char *value __cleanup(free_ptr) = find_value(key);
	size_t i;

	for (i = 0; value && i < ARRAY_SIZE(words); i++) {
		if (!strcasecmp(value, words[i].word))
			return words[i].is;
	}
	if (value)
		pr_warn("configuration: %s = %s: neither true nor false", key, value);
	return otherwise;
}
