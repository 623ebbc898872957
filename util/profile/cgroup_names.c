// SPDX-License-Identifier: GPL-2.0
#include "util/profile/cgroup_names.h"

#include "util/lib/array.h"
#include "util/target/cgroup_list.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

bool cgroup_names__is_below(const char *path, const char *name)
{
	size_t len;

	path += *path == '/';
	name += *name == '/';
	len = strlen(name);
	return !len || (!strncmp(path, name, len) && (!path[len] || path[len] == '/'));
}

/* Return: the name to print for a path, borrowed. */
static const char *name_of(const struct cgroup_names *names, const char *path)
{
	const char *found = NULL;

	for (int i = 0; i < names->nr_only; i++) {
		const char *name = names->only[i]->name;

		if (cgroup_names__is_below(path, name) && (!found || strlen(name) > strlen(found)))
			found = name;
	}
	return found ? found : path;
}

int cgroup_names__add(struct cgroup_names *names, uint64_t id, const char *name)
{
	char **added;

	if (id_map__get(&names->by_id, id) >= 0)
		return 0;
	added = array__add(names->names, names->nr);
	if (!added)
		return -ENOMEM;
	*added = strdup(name);
	if (!*added) {
		names->nr--;
		return -ENOMEM;
	}
	return id_map__set(&names->by_id, id, names->nr - 1);
}

static int visit(void *ctx, const char *path, uint64_t id)
{
	struct cgroup_names *names = ctx;

	return id_map__get(&names->by_id, id) >= 0 ?
		       0 :
		       cgroup_names__add(names, id, name_of(names, path));
}

int cgroup_names__update(struct cgroup_names *names)
{
	struct cgroup_fs fs = {};
	int err = cgroup_fs__find(&fs);

	if (!err)
		err = cgroup_fs__walk(&fs, "/", visit, names);
	cgroup_fs__clear(&fs);
	return err;
}

const char *cgroup_names__get(const struct cgroup_names *names, uint64_t id)
{
	int at = id ? id_map__get(&names->by_id, id) : -1;

	return at < 0 ? NULL : names->names[at];
}

void cgroup_names__clear(struct cgroup_names *names)
{
	for (int i = 0; i < names->nr; i++)
		free(names->names[i]);
	free(names->names);
	id_map__clear(&names->by_id);
	*names = (struct cgroup_names){};
}
