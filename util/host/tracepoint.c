// SPDX-License-Identifier: GPL-2.0
#include "util/host/tracepoint.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <string.h>

#include "util/lib/array.h"
#include "util/lib/util.h"

bool tracepoint__is_glob(const char *name)
{
	return strpbrk(name, "*?[") != NULL;
}

int tracepoint__id(const char *subsys, const char *name, uint64_t *id)
{
	char *path __cleanup(free_ptr) = NULL, *text __cleanup(free_ptr) = NULL;

	path = xasprintf("%s/events/%s/%s/id", tracefs_root(), subsys, name);
	if (!path)
		return -ENOMEM;
	text = read_file_line(path);
	if (!text)
		return errno == ENOTDIR ? -ENOENT : -errno;
	if (!isdigit((unsigned char)*text))
		return -ENOENT;
	*id = strtoull(text, NULL, 10);
	return 0;
}

static int is_visible(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

/* Read all entries first, because visitors may open many files. Return: their number or -errno. */
static int read_dir(const char *path, bool sorted, struct dirent ***entries)
{
	int nr = scandir(path, entries, is_visible, sorted ? alphasort : NULL);

	return nr < 0 ? -errno : nr;
}

static void free_entries(struct dirent **entries, int nr)
{
	while (nr > 0)
		free(entries[--nr]);
	free(entries);
}

static int visit_subsys(const char *subsys, const char *name, bool sorted, tracepoint_fn fn,
			void *ctx)
{
	char *path __cleanup(free_ptr) = xasprintf("%s/events/%s", tracefs_root(), subsys);
	struct dirent **entries;
	int nr, i, err = 0;

	if (!path)
		return -ENOMEM;
	nr = read_dir(path, sorted, &entries);
	if (nr == -ENOTDIR || nr == -ENOENT)
		return 0; /* a file such as "enable" among the directories */
	if (nr < 0)
		return nr;
	for (i = 0; i < nr && !err; i++) {
		char *id __cleanup(free_ptr) = NULL;

		if (fnmatch(name, entries[i]->d_name, 0))
			continue;
		id = xasprintf("%s/%s/id", path, entries[i]->d_name);
		if (id && !access(id, F_OK))
			err = fn(ctx, subsys, entries[i]->d_name);
	}
	free_entries(entries, nr);
	return err;
}

int tracepoint__for_each(const char *subsys, const char *name, bool sorted, tracepoint_fn fn,
			 void *ctx)
{
	char *path __cleanup(free_ptr) = xasprintf("%s/events", tracefs_root());
	struct dirent **entries;
	int nr, i, err = 0;

	if (!path)
		return -ENOMEM;
	if (!tracepoint__is_glob(subsys))
		return visit_subsys(subsys, name, sorted, fn, ctx);
	nr = read_dir(path, sorted, &entries);
	if (nr < 0)
		return nr;
	for (i = 0; i < nr && !err; i++) {
		if (!fnmatch(subsys, entries[i]->d_name, 0))
			err = visit_subsys(entries[i]->d_name, name, sorted, fn, ctx);
	}
	free_entries(entries, nr);
	return err;
}

struct names {
	char **names; /* owned */
	int nr;
};

static int collect_name(void *ctx, const char *subsys __unused, const char *name)
{
	struct names *names = ctx;
	char **added = array__add(names->names, names->nr);

	if (added)
		*added = strdup(name);
	return added && *added ? 0 : -ENOMEM;
}

static void clear_names(struct names *names)
{
	while (names->nr)
		free(names->names[--names->nr]);
	free(names->names);
}

/* Return: the entry of a list that is most similar to @name; owned. */
static char *nearest_of(struct names *names, const char *name)
{
	const char *nearest = NULL;

	/* The list ends with NULL. */
	if (array__add(names->names, names->nr))
		nearest = nearest_name(name, (const char *const *)names->names);
	return nearest ? strdup(nearest) : NULL;
}

static char *nearest_subsys(const char *subsys)
{
	char *path __cleanup(free_ptr) = xasprintf("%s/events", tracefs_root()), *nearest;
	struct names names = {.nr = 0};
	struct dirent **entries;
	int nr = path ? read_dir(path, true, &entries) : -ENOMEM, i;

	for (i = 0; i < nr; i++)
		(void)collect_name(&names, NULL, entries[i]->d_name);
	if (nr >= 0)
		free_entries(entries, nr);
	nearest = nearest_of(&names, subsys);
	clear_names(&names);
	return nearest;
}

char *tracepoint__nearest(const char *subsys, const char *name)
{
	char *near_subsys __cleanup(free_ptr) = nearest_subsys(subsys), *near_name;
	struct names names = {.nr = 0};

	if (!near_subsys)
		return NULL;
	/* unreadable directories yield no suggestions */
	(void)tracepoint__for_each(near_subsys, "*", true, collect_name, &names);
	near_name = nearest_of(&names, name);
	clear_names(&names);
	if (near_name) {
		char *both = xasprintf("%s:%s", near_subsys, near_name);

		free(near_name);
		return both;
	}
	return NULL;
}
