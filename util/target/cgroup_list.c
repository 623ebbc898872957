// SPDX-License-Identifier: GPL-2.0
#include "util/target/cgroup_list.h"

#include "util/lib/array.h"
#include "util/lib/msg.h"
#include "util/lib/util.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static void delete_tree(struct cgroup_tree *tree);

/* --- the list --- */

struct cgroup_list *cgroup_list__new(void)
{
	return calloc(1, sizeof(struct cgroup_list));
}

void cgroup_list__delete(struct cgroup_list *list)
{
	if (!list)
		return;
	for (int i = 0; i < list->nr; i++) {
		free(list->cgroups[i]->name);
		free(list->cgroups[i]->dir);
		free(list->cgroups[i]);
	}
	free(list->cgroups);
	cgroup_terms__clear(&list->terms);
	delete_tree(list->tree);
	delete_tree(list->old_tree);
	id_map__clear(&list->by_id);
	cgroup_fs__clear(&list->fs);
	free(list);
}

static int find_fs(struct cgroup_list *list)
{
	return list->fs.mount ? 0 : cgroup_fs__find(&list->fs);
}

/* Return: a free place, otherwise a new one at the end; NULL: ENOMEM. */
static struct cgroup *take_place(struct cgroup_list *list, int *pos)
{
	struct cgroup *cgroup, **place;

	for (*pos = list->nr_free ? 0 : list->nr; *pos < list->nr; ++*pos) {
		if (list->cgroups[*pos]->state == CGROUP_FREE)
			return list->cgroups[*pos];
	}
	cgroup = calloc(1, sizeof(*cgroup));
	place = cgroup ? array__add(list->cgroups, list->nr) : NULL;
	if (!place) {
		free(cgroup);
		return NULL;
	}
	*place = cgroup;
	list->nr_free++;
	cgroup->state = CGROUP_FREE;
	cgroup->pos = *pos;
	return cgroup;
}

int cgroup_list__add_place(struct cgroup_list *list)
{
	int pos;

	return take_place(list, &pos) ? 0 : -ENOMEM;
}

/* Takes ownership of name and dir. Return: NULL: ENOMEM. */
static struct cgroup *add(struct cgroup_list *list, uint64_t id, char *name, char *dir)
{
	int pos = id_map__get(&list->by_id, id);
	struct cgroup *cgroup = NULL;

	if (pos >= 0)
		goto out;
	cgroup = name && dir ? take_place(list, &pos) : NULL;
	if (!cgroup || id_map__set(&list->by_id, id, pos)) {
		free(name);
		free(dir);
		errno = ENOMEM;
		return NULL;
	}
	free(cgroup->name);
	free(cgroup->dir);
	cgroup->name = name;
	cgroup->dir = dir;
	cgroup->id = id;
	cgroup->state = CGROUP_NEW;
	list->nr_free--;
	return cgroup;
out:
	free(name);
	free(dir);
	return list->cgroups[pos];
}

void cgroup_list__free(struct cgroup_list *list, int pos)
{
	id_map__remove(&list->by_id, list->cgroups[pos]->id);
	list->cgroups[pos]->state = CGROUP_FREE;
	list->nr_free++;
}

/* Return: the name without a leading "/"; "/" for the root. Owned by the caller. */
static char *printed_name(const char *path)
{
	path += path[0] == '/';
	return strdup(*path ? path : "/");
}

struct cgroup *cgroup_list__add(struct cgroup_list *list, const char *name)
{
	struct cgroup *cgroup = NULL;
	uint64_t id = 0;
	char *dir;
	int err = find_fs(list);

	if (err) {
		errno = -err;
		return NULL;
	}
	dir = cgroup_fs__dir(&list->fs, name);
	if (dir)
		id = cgroup_fs__id(dir);
	err = errno;
	if (id)
		cgroup = add(list, id, strdup(*name ? name : "/"), strdup(dir));
	else
		pr_err("no access to cgroup %s/%s: %s", list->fs.mount, name + (*name == '/'),
		       strerror(err));
	free(dir);
	errno = err;
	return cgroup;
}

/* --- the tree --- */

/* All cgroups below the mount in walking order, as paths without a leading "/"; the root is "/". */
struct cgroup_tree {
	struct node {
		char *path;
		uint64_t id;
	} * nodes;
	int nr;
	struct id_map by_id;
};

static void delete_tree(struct cgroup_tree *tree)
{
	for (int i = 0; tree && i < tree->nr; i++)
		free(tree->nodes[i].path);
	if (tree) {
		free(tree->nodes);
		id_map__clear(&tree->by_id);
	}
	free(tree);
}

/* Keep one cgroup of a walk. */
static int add_node(void *ctx, const char *path, uint64_t id)
{
	struct cgroup_tree *tree = ctx;

	int pos = tree->nr;
	struct node *node = array__add(tree->nodes, tree->nr);

	if (!node)
		return -ENOMEM;
	node->id = id;
	node->path = strdup(path);
	if (!node->path) {
		tree->nr--;
		return -ENOMEM;
	}
	return id_map__set(&tree->by_id, id, pos);
}

static int walk_tree(struct cgroup_list *list)
{
	delete_tree(list->old_tree);
	list->old_tree = list->tree;
	list->tree = calloc(1, sizeof(*list->tree));
	return list->tree ? cgroup_fs__walk(&list->fs, "/", add_node, list->tree) : -ENOMEM;
}

/* NULL: it is not there, or there is no tree. */
static const struct node *find_node(const struct cgroup_tree *tree, uint64_t id)
{
	int pos = tree ? id_map__get(&tree->by_id, id) : -1;

	return pos < 0 ? NULL : &tree->nodes[pos];
}

/* Return: true if several containers match. */
static bool is_ambiguous(const struct cgroup_term *term, const struct cgroup_tree *tree)
{
	const char *first = NULL, *id;
	size_t len;

	for (int i = 0; term->kind == TERM_CTR && i < tree->nr; i++) {
		if (!cgroup_term__matches(term, tree->nodes[i].path))
			continue;
		id = cgroup_term__container_id(tree->nodes[i].path, &len);
		if (first && strncmp(first, id, len))
			return true;
		first = id;
	}
	return false;
}

/* Add the matches that are not yet in the list. Return: number of matches, or -errno. */
static int match_tree(struct cgroup_list *list, const struct cgroup_term *term,
		      const struct cgroup_tree *tree)
{
	int nr = 0;

	for (int i = 0; i < tree->nr; i++) {
		const struct node *node = &tree->nodes[i];

		if (!cgroup_term__matches(term, node->path))
			continue;
		nr++;
		if (id_map__get(&list->by_id, node->id) < 0 &&
		    !add(list, node->id, strdup(node->path), cgroup_fs__dir(&list->fs, node->path)))
			return -ENOMEM;
	}
	return nr;
}

/* --- LIST --- */

/* Add a single cgroup. Warns about a missing one and skips it. */
static int add_named(struct cgroup_list *list, const struct cgroup_term *term)
{
	char *path __cleanup(free_ptr) = NULL;
	char *dir __cleanup(free_ptr) = NULL;
	uint64_t id;
	pid_t pid = 0;
	char *end;

	if (term->kind == TERM_PID) {
		pid = strtol(term->text, &end, 10);
		if (*end || pid <= 0) {
			pr_err("--for-each-cgroup pid:%s: not the number of a process", term->text);
			return -EINVAL;
		}
	}
	if (term->kind == TERM_NAME)
		path = strdup(term->text);
	else
		path = cgroup_fs__of_task(&list->fs, pid);
	if (!path && errno != ENOMEM) {
		pr_warn("%s%s: %s: skipped", cgroup_term__prefix(term), term->text,
			errno == EXDEV ? "its cgroup is outside of what is mounted here" :
					 "no such process");
		return 0;
	}
	dir = path ? cgroup_fs__dir(&list->fs, path) : NULL;
	id = dir ? cgroup_fs__id(dir) : 0;
	if (id)
		return add(list, id, printed_name(path), strdup(dir)) ? 0 : -ENOMEM;
	if (errno == ENOMEM)
		return -ENOMEM;
	pr_warn("no access to cgroup %s/%s: %s: skipped", list->fs.mount, path + (*path == '/'),
		strerror(errno));
	return 0;
}

static int add_matches(struct cgroup_list *list, const struct cgroup_term *term,
		       const struct cgroup_tree *tree, bool may_wait)
{
	int nr;

	if (is_ambiguous(term, tree)) {
		pr_err("--for-each-cgroup ctr:%s: several container IDs begin with it: give more digits",
		       term->text);
		return -EINVAL;
	}
	nr = match_tree(list, term, tree);
	if (!nr)
		pr_warn("no cgroup matches '%s%s'%s", cgroup_term__prefix(term), term->text,
			may_wait ? " yet: waiting for one" : "");
	return nr < 0 ? nr : 0;
}

int cgroup_list__parse(struct cgroup_list *list, const char *text, bool may_wait)
{
	int err = find_fs(list);

	if (!err)
		err = cgroup_terms__parse(&list->terms, text);
	if (!err && list->terms.has_patterns) {
		err = walk_tree(list);
		if (err && err != -ENOMEM)
			pr_err("cannot list the cgroups below %s: %s", list->fs.mount,
			       strerror(-err));
	}
	list->follows = may_wait && list->terms.has_patterns;
	for (int i = 0; i < list->terms.nr && !err; i++) {
		if (cgroup_term__is_pattern(&list->terms.term[i]))
			err = add_matches(list, &list->terms.term[i], list->tree, may_wait);
		else
			err = add_named(list, &list->terms.term[i]);
	}
	if (err)
		return err;
	if (list->nr || list->follows)
		return 0;
	pr_err("no cgroup matched: %s", text);
	return -EINVAL;
}

/* --- changes --- */

int cgroup_list__scan(struct cgroup_list *list)
{
	int err = list->terms.has_patterns ? walk_tree(list) : 0;

	for (int i = 0; i < list->nr && !err; i++) {
		struct cgroup *cgroup = list->cgroups[i];

		if (cgroup->state != CGROUP_LIVE ||
		    (list->tree && id_map__get(&list->tree->by_id, cgroup->id) >= 0))
			continue;
		/* The walk can miss a cgroup while its siblings come and go. */
		if (cgroup_fs__id(cgroup->dir) != cgroup->id)
			cgroup->state = CGROUP_GONE;
	}
	for (int i = 0; i < list->terms.nr && !err; i++) {
		int nr = cgroup_term__is_pattern(&list->terms.term[i]) ?
				 match_tree(list, &list->terms.term[i], list->tree) :
				 0;

		err = nr < 0 ? nr : 0;
	}
	return err;
}

int cgroup_list__note(struct cgroup_list *list, uint64_t id, uint64_t parent, const char *name)
{
	const struct node *above = find_node(list->tree, parent);
	char *path __cleanup(free_ptr) = NULL;
	int err;

	/* The last look may have noted the parent, which may be gone since. */
	if (!above)
		above = find_node(list->old_tree, parent);
	/* Outside of the mount, or already seen by the walk. */
	if (!above || find_node(list->tree, id))
		return 0;
	path = strcmp(above->path, "/") ? xasprintf("%s/%s", above->path, name) : strdup(name);
	if (!path)
		return -ENOMEM;
	err = add_node(list->tree, path, id);
	for (int i = 0; i < list->terms.nr && !err; i++) {
		if (cgroup_term__is_pattern(&list->terms.term[i]) &&
		    cgroup_term__matches(&list->terms.term[i], path) &&
		    id_map__get(&list->by_id, id) < 0 &&
		    !add(list, id, strdup(path), cgroup_fs__dir(&list->fs, path)))
			err = -ENOMEM;
	}
	return err;
}

void cgroup_list__begin(struct cgroup_list *list)
{
	for (int i = 0; i < list->nr; i++) {
		struct cgroup *cgroup = list->cgroups[i];

		if (cgroup->state == CGROUP_NEW)
			cgroup->state = cgroup_fs__id(cgroup->dir) == cgroup->id ? CGROUP_LIVE :
										   CGROUP_GONE;
	}
}
