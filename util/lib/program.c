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

/* Return: how many bytes of a line come before the word "perf"; -1: the line does not name it. */
static int before_name(const char *line)
{
	size_t len = strspn(line, " ");
	size_t word = strlen(DEFAULT_NAME);

	if (!strncmp(line + len, "or: ", 4))
		len += 4;
	if (strncmp(line + len, DEFAULT_NAME, word) || !strchr(" \n", line[len + word]))
		return -1;
	return len;
}

char *program__rename(const char *lines)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	while (*lines) {
		size_t len = strcspn(lines, "\n");
		int before = before_name(lines);

		len += lines[len] == '\n';
		if (before < 0)
			fprintf(out, "%.*s", (int)len, lines);
		else
			fprintf(out, "%.*s%s%.*s", before, lines, program_name,
				(int)(len - before - strlen(DEFAULT_NAME)),
				lines + before + strlen(DEFAULT_NAME));
		lines += len;
	}
	if (fclose(out))
		free_ptr(&text);
	return text;
}
