/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_UTIL_CGROUP_H
#define PERF_UTIL_CGROUP_H

/* The cgroups of a run: named by -G, or matched by the LIST of --for-each-cgroup. */

#include "cgroup_fs.h"
#include "id_map.h"

#include <stdbool.h>
#include <stdint.h>

enum cgroup_state {
	CGROUP_NEW,		/* matched by the last scan, not counted yet */
	CGROUP_LIVE,
	CGROUP_GONE,		/* removed; its last counts have not been printed yet */
	CGROUP_FREE,		/* of no use any more: a new one may take its place */
};

struct cgroup {
	char *name;		/* as printed */
	char *dir;
	uint64_t id;		/* the kernel's number of it */
	int pos;		/* in its list */
	enum cgroup_state state;
};

struct cgroup_term;
struct cgroup_tree;

/* Owns its cgroups; each stays where it is as long as the list. */
struct cgroup_list {
	struct cgroup_fs fs;
	struct cgroup **cgroups;
	int nr, cap;
	int nr_free;			/* CGROUP_FREE among them */
	struct id_map by_id;		/* of those that are not free: position */
	struct cgroup_term *terms;	/* of a LIST */
	int nr_terms;
	bool follows;			/* there are patterns, and cgroups that match may come */
	bool has_patterns;
	struct cgroup_tree *tree;	/* as of the last walk */
};

struct cgroup_list *cgroup_list__new(void);
void cgroup_list__delete(struct cgroup_list *list);

/**
 * cgroup_list__add() - one cgroup by its path below the mount
 *
 * Return: the cgroup, the same one for the same directory, borrowed; NULL with errno after a
 * message.
 */
struct cgroup *cgroup_list__add(struct cgroup_list *list, const char *name);

/**
 * cgroup_list__parse() - the cgroups of a LIST
 * @text: elements between commas:
 *	NAME			the path below the mount; "" and "/" are the root
 *	REGEX			if any of these elements has one of {}[]()|*+?^$, all are basic
 *				regular expressions, searched in the path
 *	glob:PATTERN		a shell pattern of the whole path, or without "/" of the last part
 *	ctr:ID			the container whose ID begins so
 *	pid:N, @self, @all	the cgroup of a process, of perf itself; all there are
 * @may_wait: patterns without a match are no error: cgroup_list__scan() will be called
 *
 * Names without a cgroup are reported and skipped. Matches of an element are in the order of a walk
 * over the tree, siblings by name; none is there twice.
 * Return: 0; -EINVAL: nothing matched, or an element cannot be understood; other -errno. All after
 * a message, but -ENOMEM.
 */
int cgroup_list__parse(struct cgroup_list *list, const char *text, bool may_wait);

/**
 * cgroup_list__scan() - look which cgroups have come and gone
 *
 * Those that are gone become CGROUP_GONE; those that came and match are CGROUP_NEW, in the place of
 * a free one or at the end. Return: 0 or -ENOMEM.
 */
int cgroup_list__scan(struct cgroup_list *list);

/**
 * cgroup_list__note() - there is, or was, a cgroup that a walk may not have seen
 * @parent: number of the one above it, which was walked over or noted before
 *
 * If it matches and is not in the list yet, it is CGROUP_NEW. Return: 0 or -ENOMEM.
 */
int cgroup_list__note(struct cgroup_list *list, uint64_t id, uint64_t parent, const char *name);

/** cgroup_list__begin() - those that are CGROUP_NEW are counted from now on, or are gone already */
void cgroup_list__begin(struct cgroup_list *list);

/** cgroup_list__add_place() - a free place for a cgroup to come; 0 or -ENOMEM */
int cgroup_list__add_place(struct cgroup_list *list);

/** cgroup_list__free() - the cgroup at this position is of no use any more */
void cgroup_list__free(struct cgroup_list *list, int pos);

#endif
