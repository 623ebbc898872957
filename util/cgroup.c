// SPDX-License-Identifier: GPL-2.0
#include "cgroup.h"

#include "msg.h"
#include "util.h"

#include <errno.h>
#include <fnmatch.h>
#include <regex.h>
#include <stdio.h>
#include <string.h>

/* IDs of containers have 64 hexadecimal digits with most engines, with some fewer. */
#define CONTAINER_ID_LEN 32

enum term_kind { TERM_NAME, TERM_REGEX, TERM_GLOB, TERM_CTR, TERM_PID, TERM_SELF, TERM_ALL };

/* Prefixes and words that a path cannot be mistaken for: that of such a name begins with "/". */
static const struct {
	const char *word;
	enum term_kind kind;
	bool is_prefix;
} words[] = {
	{ "glob:", TERM_GLOB, true }, { "ctr:", TERM_CTR, true },    { "pid:", TERM_PID, true },
	{ "@self", TERM_SELF, false }, { "@all", TERM_ALL, false },
};

/* One element of a LIST. */
struct cgroup_term {
	enum term_kind kind;
	char *text;		/* behind the prefix */
	regex_t regex;		/* of TERM_REGEX */
};

static bool is_pattern(const struct cgroup_term *term)
{
	return term->kind == TERM_REGEX || term->kind == TERM_GLOB || term->kind == TERM_CTR ||
	       term->kind == TERM_ALL;
}

static void delete_tree(struct cgroup_tree *tree);

/* --- the list --- */

struct cgroup_list *cgroup_list__new(void)
{
	return calloc(1, sizeof(struct cgroup_list));
}

static void clear_terms(struct cgroup_list *list)
{
	for (int i = 0; i < list->nr_terms; i++) {
		if (list->terms[i].kind == TERM_REGEX)
			regfree(&list->terms[i].regex);
		free(list->terms[i].text);
	}
	free(list->terms);
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
	clear_terms(list);
	delete_tree(list->tree);
	id_map__clear(&list->by_id);
	cgroup_fs__clear(&list->fs);
	free(list);
}

static int find_fs(struct cgroup_list *list)
{
	return list->fs.mount ? 0 : cgroup_fs__find(&list->fs);
}

/* The place of one that is free, else a new one at the end; NULL: no memory. */
static struct cgroup *take_place(struct cgroup_list *list, int *pos)
{
	for (*pos = list->nr_free ? 0 : list->nr; *pos < list->nr; ++*pos) {
		if (list->cgroups[*pos]->state == CGROUP_FREE)
			return list->cgroups[*pos];
	}
	if (list->nr == list->cap) {
		int cap = list->cap ? 2 * list->cap : 16;
		struct cgroup **cgroups = realloc(list->cgroups, cap * sizeof(*cgroups));

		if (!cgroups)
			return NULL;
		list->cgroups = cgroups;
		list->cap = cap;
	}
	list->cgroups[*pos] = calloc(1, sizeof(struct cgroup));
	if (!list->cgroups[*pos])
		return NULL;
	list->nr++;
	list->nr_free++;
	list->cgroups[*pos]->state = CGROUP_FREE;
	list->cgroups[*pos]->pos = *pos;
	return list->cgroups[*pos];
}

int cgroup_list__add_place(struct cgroup_list *list)
{
	int pos;

	return take_place(list, &pos) ? 0 : -ENOMEM;
}

/* Takes over name and dir. NULL: no memory. */
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

/* As printed: without the leading "/", but for the root, whatever it was called. */
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
	struct node { char *path; uint64_t id; } *nodes;
	int nr, cap;
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

	if (tree->nr == tree->cap) {
		int cap = tree->cap ? 2 * tree->cap : 64;
		struct node *nodes = realloc(tree->nodes, cap * sizeof(*nodes));

		if (!nodes)
			return -ENOMEM;
		tree->nodes = nodes;
		tree->cap = cap;
	}
	tree->nodes[tree->nr].id = id;
	tree->nodes[tree->nr].path = strdup(path);
	if (!tree->nodes[tree->nr].path)
		return -ENOMEM;
	return id_map__set(&tree->by_id, id, tree->nr++);
}

static int walk_tree(struct cgroup_list *list)
{
	delete_tree(list->tree);
	list->tree = calloc(1, sizeof(*list->tree));
	return list->tree ? cgroup_fs__walk(&list->fs, "/", add_node, list->tree) : -ENOMEM;
}

static const char *last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

/*
 * The ID of the container whose cgroup this is: the directory is called ID, or ENGINE-ID.scope.
 * *len is 0 when it is none; those that watch a container ("conmon") are none.
 */
static const char *container_id(const char *path, size_t *len)
{
	const char *name = last_part(path), *end = name + strlen(name), *id;

	*len = 0;
	if (end - name > 6 && !strcmp(end - 6, ".scope"))
		end -= 6;
	for (id = end; id > name && id[-1] != '-' && id[-1] != ':'; id--)
		;
	if (!strstr(name, "conmon") && end - id >= CONTAINER_ID_LEN &&
	    strspn(id, "0123456789abcdef") >= (size_t)(end - id))
		*len = end - id;
	return id;
}

static bool is_match(const struct cgroup_term *term, const char *path)
{
	const char *id;
	size_t len;

	switch (term->kind) {
	case TERM_REGEX:
		return !regexec(&term->regex, path, 0, NULL, 0);
	case TERM_GLOB:
		/* A path that is given with its "/" means the same. */
		return !fnmatch(term->text + (term->text[0] == '/' && term->text[1]),
				strchr(term->text, '/') ? path : last_part(path), FNM_PATHNAME);
	case TERM_CTR:
		id = container_id(path, &len);
		return len && !strncmp(id, term->text, strlen(term->text));
	case TERM_ALL:
		return true;
	default:
		return false;
	}
}

/* One ID may begin like another's. */
static bool is_ambiguous(const struct cgroup_term *term, const struct cgroup_tree *tree)
{
	const char *first = NULL, *id;
	size_t len;

	for (int i = 0; term->kind == TERM_CTR && i < tree->nr; i++) {
		if (!is_match(term, tree->nodes[i].path))
			continue;
		id = container_id(tree->nodes[i].path, &len);
		if (first && strncmp(first, id, len))
			return true;
		first = id;
	}
	return false;
}

/* Add what matches and is not there yet. Return: how many match, or -errno. */
static int match_tree(struct cgroup_list *list, const struct cgroup_term *term,
		      const struct cgroup_tree *tree)
{
	int nr = 0;

	for (int i = 0; i < tree->nr; i++) {
		const struct node *node = &tree->nodes[i];

		if (!is_match(term, node->path))
			continue;
		nr++;
		if (id_map__get(&list->by_id, node->id) < 0 &&
		    !add(list, node->id, strdup(node->path), cgroup_fs__dir(&list->fs, node->path)))
			return -ENOMEM;
	}
	return nr;
}

/* --- LIST --- */

static const char *prefix_of(const struct cgroup_term *term)
{
	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		if (words[i].kind == term->kind)
			return words[i].word;
	}
	return "";
}

static int parse_term(struct cgroup_list *list, const char *text, size_t len)
{
	struct cgroup_term *terms = realloc(list->terms, (list->nr_terms + 1) * sizeof(*terms)), *term;

	if (!terms)
		return -ENOMEM;
	list->terms = terms;
	term = &terms[list->nr_terms];
	term->kind = TERM_NAME;
	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		size_t word_len = strlen(words[i].word);

		if (len < word_len || strncmp(text, words[i].word, word_len) ||
		    (!words[i].is_prefix && len != word_len))
			continue;
		term->kind = words[i].kind;
		text += word_len;
		len -= word_len;
		break;
	}
	term->text = strndup(text, len);
	if (!term->text)
		return -ENOMEM;
	list->nr_terms++;
	if (!len && (term->kind == TERM_GLOB || term->kind == TERM_CTR || term->kind == TERM_PID)) {
		pr_err("--for-each-cgroup: nothing stands behind '%s'", prefix_of(term));
		return -EINVAL;
	}
	return 0;
}

static int compile(struct cgroup_term *term)
{
	char why[128];
	int err = regcomp(&term->regex, term->text, REG_NOSUB);

	if (!err) {
		term->kind = TERM_REGEX;
		return 0;
	}
	if (err == REG_ESPACE)
		return -ENOMEM;
	regerror(err, &term->regex, why, sizeof(why));
	pr_err("--for-each-cgroup: '%s' is no basic regular expression: %s", term->text, why);
	return -EINVAL;
}

static int parse_terms(struct cgroup_list *list, const char *text)
{
	bool is_regex = false;
	int err = 0;

	for (const char *pos = text; !err; pos++) {
		size_t len = strcspn(pos, ",");

		err = parse_term(list, pos, len);
		pos += len;
		if (!*pos)
			break;
	}
	for (int i = 0; i < list->nr_terms && !err; i++)
		is_regex |= list->terms[i].kind == TERM_NAME &&
			    strpbrk(list->terms[i].text, "{}[]()|*+?^$");
	/* An empty element stays the root's name: as a pattern it would match everything. */
	for (int i = 0; i < list->nr_terms && !err; i++) {
		if (is_regex && list->terms[i].kind == TERM_NAME && *list->terms[i].text)
			err = compile(&list->terms[i]);
		list->has_patterns |= is_pattern(&list->terms[i]);
	}
	return err;
}

/* A single cgroup; one that is not there is reported and skipped. */
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
		pr_warn("%s%s: %s: skipped", prefix_of(term), term->text,
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
		pr_err("--for-each-cgroup ctr:%s: the IDs of several containers begin so: give more of it",
		       term->text);
		return -EINVAL;
	}
	nr = match_tree(list, term, tree);
	if (!nr)
		pr_warn("no cgroup matches '%s%s'%s", prefix_of(term), term->text,
			may_wait ? " yet: waiting for one" : "");
	return nr < 0 ? nr : 0;
}

int cgroup_list__parse(struct cgroup_list *list, const char *text, bool may_wait)
{
	int err = find_fs(list);

	if (!err)
		err = parse_terms(list, text);
	if (!err && list->has_patterns)
		err = walk_tree(list);
	list->follows = may_wait && list->has_patterns;
	for (int i = 0; i < list->nr_terms && !err; i++) {
		if (is_pattern(&list->terms[i]))
			err = add_matches(list, &list->terms[i], list->tree, may_wait);
		else
			err = add_named(list, &list->terms[i]);
	}
	if (err)
		return err;
	if (list->nr || list->follows)
		return 0;
	pr_err("no cgroup matched: %s", text);
	return -EINVAL;
}

/* --- coming and going --- */

int cgroup_list__scan(struct cgroup_list *list)
{
	int err = list->has_patterns ? walk_tree(list) : 0;

	for (int i = 0; i < list->nr && !err; i++) {
		struct cgroup *cgroup = list->cgroups[i];

		if (cgroup->state != CGROUP_LIVE ||
		    (list->tree && id_map__get(&list->tree->by_id, cgroup->id) >= 0))
			continue;
		/* The walk may have missed it while its siblings came and went. */
		if (cgroup_fs__id(cgroup->dir) != cgroup->id)
			cgroup->state = CGROUP_GONE;
	}
	for (int i = 0; i < list->nr_terms && !err; i++) {
		int nr = is_pattern(&list->terms[i]) ?
				 match_tree(list, &list->terms[i], list->tree) : 0;

		err = nr < 0 ? nr : 0;
	}
	return err;
}

int cgroup_list__note(struct cgroup_list *list, uint64_t id, uint64_t parent, const char *name)
{
	int above = list->tree ? id_map__get(&list->tree->by_id, parent) : -1, err = 0;
	char *path __cleanup(free_ptr) = NULL;

	/* Outside of what is mounted here, or seen by the walk. */
	if (above < 0 || id_map__get(&list->tree->by_id, id) >= 0)
		return 0;
	path = above ? xasprintf("%s/%s", list->tree->nodes[above].path, name) : strdup(name);
	if (!path)
		return -ENOMEM;
	err = add_node(list->tree, path, id);
	for (int i = 0; i < list->nr_terms && !err; i++) {
		if (is_pattern(&list->terms[i]) && is_match(&list->terms[i], path) &&
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
