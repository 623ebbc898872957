// SPDX-License-Identifier: GPL-2.0
#include "util/cmd/man_page.h"

#include "util/lib/util.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

/*
 * Return: the file of the page, owned; NULL: there is none. It is looked for beside our own file only:
 * the page that man finds by its name may be that of another perf.
 */
static char *find_page(const char *command)
{
	static const char *const places[] = {"man", "../share/man/man1"};
	static const char *const suffixes[] = {"", ".gz"};
	char exe[PATH_MAX];
	ssize_t len = readlink("/proc/self/exe", exe, sizeof(exe) - 1);
	char *name;

	if (len <= 0)
		return NULL;
	exe[len] = '\0';
	name = strrchr(exe, '/');
	*name++ = '\0';
	for (size_t i = 0; i < ARRAY_SIZE(places) * ARRAY_SIZE(suffixes); i++) {
		char *path = xasprintf("%s/%s/%s-%s.1%s", exe, places[i / 2], name, command,
				       suffixes[i % 2]);

		if (!path || !access(path, R_OK))
			return path;
		free(path);
	}
	return NULL;
}

void man_page__show(const char *command)
{
	char *page __cleanup(free_ptr) = find_page(command);

	if (page)
		execlp("man", "man", page, NULL);
}
