/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_TARGET_CGROUP_LIST_H
#define PERF_TARGET_CGROUP_LIST_H

/* The cgroups to count, from -G or the LIST of --for-each-cgroup. */

#include "util/lib/id_map.h"
#include "util/target/cgroup_fs.h"
#include "util/target/cgroup_term.h"

#include <stdbool.h>
#include <stdint.h>

enum cgroup_state {
	CGROUP_NEW, /* matched by the last scan, not yet counted */
	CGROUP_LIVE,
	CGROUP_GONE, /* removed; its last counts are not yet printed */
	CGROUP_FREE, /* no longer used: a new cgroup may take its place */
};

struct cgroup {
	char *name; /* as printed */
	char *dir;
	uint64_t id; /* of the kernel */
	int pos;     /* in its list */
	enum cgroup_state state;
};

/*
 * Return: true if events have counts of this cgroup. Otherwise its place may still have those of the cgroup
 * that used it before.
 */
static inline bool cgroup__is_counted(const struct cgroup *cgroup)
{
	return cgroup->state == CGROUP_LIVE || cgroup->state == CGROUP_GONE;
}

/* The root of a hierarchy has all tasks, idle ones included. kernfs gives it the first number. */
static inline bool cgroup__is_root(const struct cgroup *cgroup)
{
	return cgroup->id == 1;
}

struct cgroup_tree;

/* Owns its cgroups. Their addresses stay valid until the list is deleted. */
struct cgroup_list {
	struct cgroup_fs fs;
	struct cgroup **cgroups;
	int nr;
	int nr_free;		   /* number of CGROUP_FREE among them */
	struct id_map by_id;	   /* positions of those that are not free */
	struct cgroup_terms terms; /* of a LIST */
	bool follows;		   /* has patterns that new cgroups can match */
	bool has_warned;	   /* has warned that new cgroups cannot be counted */
	bool look_again;	   /* set by the back end: scan again soon, also without a wakeup */
	struct cgroup_tree *tree;  /* of the last walk, and what was noted since */
	struct cgroup_tree *old_tree; /* of the walk before */
};

struct cgroup_list *cgroup_list__new(void);
void cgroup_list__delete(struct cgroup_list *list);

/**
 * cgroup_list__add() - add a cgroup by its path below the mount
 *
 * Return: the cgroup, borrowed, the same for the same directory; NULL with errno after a message.
 */
struct cgroup *cgroup_list__add(struct cgroup_list *list, const char *name);

/**
 * cgroup_list__parse() - add the cgroups of a LIST
 * @text: elements between commas:
 *	NAME			the path below the mount; "" and "/": the root
 *	REGEX			all elements without a prefix are basic regular expressions,
 *				searched in the path, if any of them has one of {}[]()|*+?^$
 *	glob:PATTERN		a shell pattern for the whole path, or without "/" for its last part
 *	ctr:ID			the container with this prefix of its ID
 *	pid:N, @self, @all	the cgroup of a process, that of perf, all cgroups
 * @may_wait: accept patterns without a match, because cgroup_list__scan() will be called
 *
 * Warns about names without a cgroup and skips them. The matches of an element are in the order of a walk
 * over the tree, siblings by name, each once.
 * Return: 0; -EINVAL: nothing matched, or an element is invalid; other -errno. All except -ENOMEM come
 * after a message.
 */
int cgroup_list__parse(struct cgroup_list *list, const char *text, bool may_wait);

/**
 * cgroup_list__scan() - find new and removed cgroups
 *
 * Removed ones become CGROUP_GONE. New ones that match are CGROUP_NEW, in the place of a free one or at
 * the end. Return: 0, or -ENOMEM, -EMFILE or -ENFILE without a message.
 */
int cgroup_list__scan(struct cgroup_list *list);

/**
 * cgroup_list__note() - add a reported cgroup, which may be gone, if it matches
 * @parent: id of its parent, which a walk or an earlier note has seen
 *
 * It becomes CGROUP_NEW unless it is already in the list. Return: 0 or -ENOMEM.
 */
int cgroup_list__note(struct cgroup_list *list, uint64_t id, uint64_t parent, const char *name);

/** cgroup_list__begin() - make each CGROUP_NEW live, or gone if it was already removed */
void cgroup_list__begin(struct cgroup_list *list);

/** cgroup_list__add_place() - add a free place for a future cgroup; 0 or -ENOMEM */
int cgroup_list__add_place(struct cgroup_list *list);

/** cgroup_list__free() - let a new cgroup take the place of the one at this position */
void cgroup_list__free(struct cgroup_list *list, int pos);

#endif
