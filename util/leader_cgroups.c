// SPDX-License-Identifier: GPL-2.0
#include "leader_cgroups.h"

#include "cgroup_fs.h"
#include "classes.h"
#include "id_map.h"
#include "leader.h"
#include "leader_cgroup_table.h"
#include "leader_links.h"
#include "leader_newborns.h"
#include "leader_tasks.h"
#include "util.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdint.h>
#include <string.h>

/* Deeper trees need the kernel's limit on one path's length to be exceeded. */
#define MAX_CHAIN 4096

int leader_cgroups__attach(struct leader *leader)
{
	int err = leader__load_cgroups(leader);

	if (!err)
		err = leader_links__take(leader, LINKS_CGROUPS);
	if (err != -ENOENT)
		return err;
	err = leader_links__make(leader, LINKS_CGROUPS);
	/* What on_switch noted when nobody looked is of some switch long ago. */
	for (int cpu = 0; cpu < leader->nr_cpus && !err; cpu++)
		__atomic_store_n(&leader->cpus[cpu].fresh_task, 0, __ATOMIC_RELEASE);
	return err;
}

int leader_cgroups__sync(struct leader *leader, bool (*is_wanted)(void *ctx, int class), void *ctx)
{
	for (int cpu = 0; cpu < leader->nr_cpus; cpu++) {
		struct cpu_state *state = &leader->cpus[cpu];
		int err;

		if (is_wanted &&
		    !is_wanted(ctx, __atomic_load_n(&state->class[OF_CGROUP], __ATOMIC_ACQUIRE)))
			continue;
		err = leader__sync_cgroup(leader, cpu);
		/* An offline CPU runs nothing, and does not begin with what it was last in. */
		if (err == -ENXIO && !is_wanted)
			state->class[OF_CGROUP] = 0;
		if (err && err != -ENXIO)
			return err;
	}
	return 0;
}

/* --- counting --- */

struct marking {
	struct leader *leader;
	const struct cgroup_fs *fs;
	const struct cgroup_scope *list;
	struct id_map own;		/* number -> position in list */
	struct id_map known;		/* number -> position in the table */
	struct id_map born;		/* number -> position in newborns */
	__u32 *class;			/* by position in the table: what it becomes; 0: stays */
	uint64_t chain[MAX_CHAIN];
};

/*
 * The class of a cgroup with the new scopes: what it has now, or the nearest above it with an
 * entry, and the new scopes of itself and of all above it.
 */
static int new_class(struct marking *m, const char *dir)
{
	struct classes *c = &m->leader->classes;
	int nr = cgroup_fs__chain(m->fs, dir, m->chain, MAX_CHAIN), class = 0;

	for (int i = 0; i < nr; i++) {
		int pos = id_map__get(&m->known, m->chain[i]);

		if (pos < 0)
			continue;
		class = *cgroup_table__class(m->leader, pos);
		break;
	}
	for (int i = 0; i < nr && class >= 0; i++) {
		int own = id_map__get(&m->own, m->chain[i]);

		if (own >= 0)
			class = classes__with(c, class, m->list[own].scope);
	}
	return nr < 0 ? nr : class;
}

/* A cgroup below one of ours: others may count it. */
static int visit(void *ctx, const char *path, uint64_t id)
{
	struct marking *m = ctx;
	int pos = id_map__get(&m->known, id), class;
	char *dir;

	if (pos < 0 || m->class[pos])
		return 0;
	dir = cgroup_fs__dir(m->fs, path);
	class = dir ? new_class(m, dir) : -ENOMEM;
	free(dir);
	if (class == -ENOENT)
		return 0;	/* gone meanwhile */
	if (class < 0)
		return class;
	m->class[pos] = class;
	return 0;
}

/* Whether one of ours is above another of ours, so that a walk over that one comes by here. */
static bool is_below_own(struct marking *m, const char *dir)
{
	int nr = cgroup_fs__chain(m->fs, dir, m->chain, MAX_CHAIN);

	for (int i = 1; i < nr; i++) {
		if (id_map__get(&m->own, m->chain[i]) >= 0)
			return true;
	}
	return false;
}

static int change_others(struct marking *m, int nr)
{
	int err = 0;

	for (int i = 0; i < nr && m->known.nr && !err; i++) {
		const char *path = m->list[i].dir + strlen(m->fs->mount);

		path += strspn(path, "/");
		if (!is_below_own(m, m->list[i].dir))
			err = cgroup_fs__walk(m->fs, *path ? path : "/", visit, m);
	}
	return err;
}

/* Number -> position of those that were given to a cgroup. */
static int read_newborns(const struct leader *leader, struct id_map *born)
{
	for (int i = 0; i < MAX_NEWBORNS; i++) {
		const struct newborn *newborn = &leader->newborns[i];

		if (__atomic_load_n(&newborn->state, __ATOMIC_ACQUIRE) == NEWBORN_TAKEN &&
		    id_map__set(born, newborn->id, i))
			return -ENOMEM;
	}
	return 0;
}

/*
 * As new_class(), of one that may be gone by now: where it was is known from its birth, and nothing
 * else can have counted there.
 */
static int class_by_birth(struct marking *m, __u64 id)
{
	struct classes *c = &m->leader->classes;
	int pos = id_map__get(&m->known, id);
	int class = pos < 0 ? -ENOENT : (int)*cgroup_table__class(m->leader, pos);

	while (id && class >= 0) {
		int own = id_map__get(&m->own, id);
		int born = id_map__get(&m->born, id);

		if (own >= 0)
			class = classes__with(c, class, m->list[own].scope);
		id = born >= 0 ? m->leader->newborns[born].parent : 0;
	}
	return class;
}

/* Those below ours that a walk did not meet. */
static int change_newborns(struct marking *m)
{
	for (int i = 0; i < MAX_NEWBORNS; i++) {
		const struct newborn *newborn = &m->leader->newborns[i];
		int class;

		if (__atomic_load_n(&newborn->state, __ATOMIC_ACQUIRE) != NEWBORN_TAKEN ||
		    m->class[newborn->pos])
			continue;
		class = class_by_birth(m, newborn->id);
		if (class < 0 && class != -ENOENT)
			return class;
		m->class[newborn->pos] = class < 0 ? 0 : class;
	}
	return 0;
}

/* Make all classes first: when there is no room for one, nothing has been changed. */
static int mark(struct marking *m, int nr)
{
	int *classes __cleanup(free_ptr) = calloc(nr + 1, sizeof(*classes));
	int hint = 0, err = classes ? 0 : -ENOMEM;

	for (int i = 0; i < nr && !err; i++) {
		classes[i] = new_class(m, m->list[i].dir);
		if (classes[i] == -ENOENT)
			classes[i] = class_by_birth(m, m->list[i].id);
		err = classes[i] < 0 && classes[i] != -ENOENT ? classes[i] : 0;
	}
	if (!err)
		err = change_others(m, nr);
	if (!err)
		err = change_newborns(m);
	for (int i = 0; i < MAX_CGROUPS && !err; i++) {
		if (m->class[i])
			cgroup_table__set_class(m->leader, i, m->class[i]);
	}
	for (int i = 0; i < nr && !err; i++) {
		int pos = id_map__get(&m->known, m->list[i].id);

		if (classes[i] < 0)
			continue;
		if (pos >= 0)
			cgroup_table__set_class(m->leader, pos, classes[i]);
		else
			err = cgroup_table__add(m->leader, m->list[i].id, classes[i], &hint);
	}
	return err ? err : cgroup_table__begin_epoch(m->leader);
}

static int mark_once(struct leader *leader, const struct cgroup_fs *fs,
		     const struct cgroup_scope *list, int nr)
{
	struct marking *m = calloc(1, sizeof(*m));
	int err = -ENOMEM;

	if (!m)
		return err;
	*m = (struct marking){ .leader = leader, .fs = fs, .list = list };
	m->class = calloc(MAX_CGROUPS, sizeof(*m->class));
	if (m->class)
		err = cgroup_table__read(leader, &m->known);
	if (!err)
		err = read_newborns(leader, &m->born);
	for (int i = 0; i < nr && !err; i++) {
		err = id_map__set(&m->own, list[i].id, i);
	}
	if (!err)
		err = mark(m, nr);
	id_map__clear(&m->own);
	id_map__clear(&m->known);
	id_map__clear(&m->born);
	free(m->class);
	free(m);
	return err;
}

int leader_cgroups__mark(struct leader *leader, const struct cgroup_fs *fs,
			 const struct cgroup_scope *list, int nr)
{
	__u64 settled, births = leader->cgroup_clock->births;
	int err = mark_once(leader, fs, list, nr);

	if (err || !leader_newborns__settled(leader, &settled))
		return err;
	/* One that was made meanwhile may have got the class that those above it had before. */
	err = leader_tasks__wait();
	if (!err && leader->cgroup_clock->births != births)
		err = mark_once(leader, fs, list, nr);
	return err;
}

/* --- the end --- */

/* An entry that goes: nobody needs it; newborns are looked after elsewhere. */
static bool is_idle(const struct leader *leader, int pos, const struct id_map *needed)
{
	return cgroup_table__is_used(leader, pos) &&
	       !classes__is_newborn(&leader->classes, leader->cgroups[pos].class) &&
	       id_map__get(needed, leader->cgroups[pos].id) < 0;
}

static int shrink_classes(struct leader *leader, int run)
{
	for (int i = 0; i < MAX_CGROUPS; i++) {
		int class = cgroup_table__is_used(leader, i) ?
				    classes__without(&leader->classes, *cgroup_table__class(leader, i), run) : 0;

		if (class < 0)
			return class;
		if (cgroup_table__is_used(leader, i) && (__u32)class != *cgroup_table__class(leader, i))
			cgroup_table__set_class(leader, i, class);
	}
	return 0;
}

static int remove_from_table(struct leader *leader, int run, const struct id_map *needed)
{
	int err = shrink_classes(leader, run);

	/* Found no more: their class is the one that is found above them now. */
	for (int i = 0; i < MAX_CGROUPS && !err; i++) {
		if (is_idle(leader, i, needed))
			err = cgroup_table__hide(leader, leader->cgroups[i].id);
	}
	if (!err)
		err = needed->nr || leader_links__are_alive(leader, LINKS_CGROUPS) ?
			      cgroup_table__begin_epoch(leader) : cgroup_table__forget_running(leader);
	/* Elements of hashes are used again at once: nobody may still look at the old ones. */
	if (!err)
		err = leader_tasks__wait();
	/* Until here a cgroup could be made with what was above it before. */
	if (!err)
		err = shrink_classes(leader, run);
	for (int i = 0; i < MAX_CGROUPS && !err; i++) {
		if (is_idle(leader, i, needed))
			leader->cgroups[i].id = 0;
	}
	return err;
}

int leader_cgroups__unmark(struct leader *leader, int run)
{
	struct id_map needed = {};
	int err = cgroup_table__read_needed(leader, run, &needed);

	if (!err)
		err = remove_from_table(leader, run, &needed);
	id_map__clear(&needed);
	if (leader_newborns__watches(leader, run))
		leader->registry->run[run].births_seen = 0;
	/* One that died in the middle of this does not watch any more, and may have left things. */
	return err ? err : leader_newborns__settle(leader);
}
