// SPDX-License-Identifier: GPL-2.0
#include "util/lib/program.h"
#include "util/lib/util.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_NAME "perf"
#define MAX_LEN	     32

/* Set once at start. */
static const char *program_name = DEFAULT_NAME;

void program__init(const char *path)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "0123456789-._+";
	const char *slash = path ? strrchr(path, '/') : NULL;
	const char *name = slash ? slash + 1 : path;
	size_t len = name ? strlen(name) : 0;

	program_name = DEFAULT_NAME;
	if (len && len <= MAX_LEN && *name != '-' && strspn(name, allowed) == len)
		program_name = name;
}

const char *program__name(void)
{
	return program_name;
}

/* Return: the first word "perf" of a text with a blank or an end behind it; NULL: there is none. */
static const char *find_name(const char *text)
{
	const char *name = text;

	for (; (name = strstr(name, DEFAULT_NAME)); name++) {
		if ((name == text || strchr(" \n('", name[-1])) &&
		    strchr(" \n", name[strlen(DEFAULT_NAME)]))
			break;
	}
	return name;
}

char *program__rename(const char *text)
{
	char *renamed = NULL;
	const char *name;
	size_t size;
	FILE *out = open_memstream(&renamed, &size);

	if (!out)
		return NULL;
	for (; (name = find_name(text)); text = name + strlen(DEFAULT_NAME))
		fprintf(out, "%.*s%s", (int)(name - text), text, program_name);
	fputs(text, out);
	if (fclose(out))
		free_ptr(&renamed);
	return renamed;
}
