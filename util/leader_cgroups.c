// SPDX-License-Identifier: GPL-2.0
#include "leader_cgroups.h"

#include "cgroup_fs.h"
#include "classes.h"
#include "id_map.h"
#include "leader.h"
#include "leader_links.h"
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

/* --- the table --- */

static struct reg_cgroup *entry(const struct leader *leader, int pos)
{
	return &leader->cgroups[pos];
}

static bool is_used(const struct leader *leader, int pos)
{
	return entry(leader, pos)->id && entry(leader, pos)->id != CGROUP_RESERVED;
}

/* What is above a newborn is in its class's base; else the class. */
static __u32 *class_of(const struct leader *leader, int pos)
{
	__u32 *class = &entry(leader, pos)->class;

	return classes__is_newborn(&leader->classes, *class) ?
		       &leader->classes.class[*class].base : class;
}

/* Number -> position of all entries. */
static int read_table(const struct leader *leader, struct id_map *known)
{
	for (int i = 0; i < MAX_CGROUPS; i++) {
		if (is_used(leader, i) && id_map__set(known, entry(leader, i)->id, i))
			return -ENOMEM;
	}
	return 0;
}

/* In place: whoever reads it now sees the one or the other. */
static void set_class(struct leader *leader, int pos, __u32 class)
{
	__atomic_store_n(class_of(leader, pos), class, __ATOMIC_RELEASE);
	leader__step("cgroup-changed");
}

/* A free position, -ENOSPC. *hint: none before it is free. */
static int find_free(struct leader *leader, int *hint)
{
	while (*hint < MAX_CGROUPS && entry(leader, *hint)->id)
		++*hint;
	if (*hint < MAX_CGROUPS)
		return *hint;
	leader->classes.full = FULL_CGROUPS;
	return -ENOSPC;
}

static int add_entry(struct leader *leader, __u64 id, __u32 class, int *hint)
{
	int free = find_free(leader, hint);
	__u32 pos = free;

	if (free < 0)
		return free;
	entry(leader, pos)->class = class;
	__atomic_store_n(&entry(leader, pos)->id, id, __ATOMIC_RELEASE);
	leader__step("cgroup-written");
	if (bpf_map_update_elem(leader->map_fds[LEADER_CGROUP_IDS], &id, &pos, BPF_ANY))
		return -errno;
	leader__step("cgroup-added");
	return 0;
}

/* Programs do not find it any more. */
static int hide_entry(struct leader *leader, __u64 id)
{
	if (bpf_map_delete_elem(leader->map_fds[LEADER_CGROUP_IDS], &id) && errno != ENOENT)
		return -errno;
	leader__step("cgroup-removed");
	return 0;
}

/* What was stored holds from here on, on every CPU. */
static int begin_epoch(struct leader *leader)
{
	__u32 epoch = leader->cgroup_clock->epoch + 1;
	/* Whoever cleans up need not be one that counts cgroups. */
	int err = leader__load_cgroups(leader);

	if (err)
		return err;

	__atomic_store_n(&leader->cgroup_clock->epoch, epoch ? epoch : 1, __ATOMIC_SEQ_CST);
	leader__step("epoch-begun");
	return leader_cgroups__sync(leader, NULL, NULL);
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
		class = *class_of(m->leader, pos);
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
	int pos = id_map__get(&m->known, id), class = pos < 0 ? -ENOENT : (int)*class_of(m->leader, pos);

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
			set_class(m->leader, i, m->class[i]);
	}
	for (int i = 0; i < nr && !err; i++) {
		int pos = id_map__get(&m->known, m->list[i].id);

		if (classes[i] < 0)
			continue;
		if (pos >= 0)
			set_class(m->leader, pos, classes[i]);
		else
			err = add_entry(m->leader, m->list[i].id, classes[i], &hint);
	}
	return err ? err : begin_epoch(m->leader);
}

/* How many births all living watchers have looked at. Return: whether there is a watcher. */
static bool find_settled(const struct leader *leader, __u64 *births)
{
	bool is_watched = false;

	*births = leader->cgroup_clock->births;
	for (int i = 0; i < MAX_RUNS; i++) {
		const struct reg_run *run = &leader->registry->run[i];

		if (!run->births_seen || !run->token || !leader__is_run_alive(run->token))
			continue;
		is_watched = true;
		if (run->births_seen - 1 < *births)
			*births = run->births_seen - 1;
	}
	return is_watched;
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
		err = read_table(leader, &m->known);
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

	if (err || !find_settled(leader, &settled))
		return err;
	/* One that was made meanwhile may have got the class that those above it had before. */
	err = leader_tasks__wait();
	if (!err && leader->cgroup_clock->births != births)
		err = mark_once(leader, fs, list, nr);
	return err;
}

/* --- the end --- */

static bool is_of_run(const struct leader *leader, int scope, int run)
{
	return leader->registry->scope[scope].run == (__u32)run + 1;
}

/* Nobody follows cgroups any more, and what their last slices counted is nobody's. */
static int forget_running(struct leader *leader)
{
	/* A link's id goes before its program is detached. */
	int err = leader_tasks__wait();

	for (int cpu = 0; cpu < leader->nr_cpus && !err; cpu++)
		leader->cpus[cpu].class[OF_CGROUP] = 0;
	return err;
}

/* Which cgroups living scopes count, but for those of a run. */
static int read_needed(const struct leader *leader, int run, struct id_map *needed)
{
	for (__u32 i = 1; i < leader->registry->nr_scopes; i++) {
		const struct reg_scope *scope = &leader->registry->scope[i];

		if (scope->run && scope->cgroup && !is_of_run(leader, i, run) &&
		    id_map__set(needed, scope->cgroup, i))
			return -ENOMEM;
	}
	return 0;
}

/* An entry that goes: nobody needs it; newborns are looked after elsewhere. */
static bool is_idle(const struct leader *leader, int pos, const struct id_map *needed)
{
	return is_used(leader, pos) &&
	       !classes__is_newborn(&leader->classes, entry(leader, pos)->class) &&
	       id_map__get(needed, entry(leader, pos)->id) < 0;
}

static int shrink_classes(struct leader *leader, int run)
{
	for (int i = 0; i < MAX_CGROUPS; i++) {
		int class = is_used(leader, i) ?
				    classes__without(&leader->classes, *class_of(leader, i), run) : 0;

		if (class < 0)
			return class;
		if (is_used(leader, i) && (__u32)class != *class_of(leader, i))
			set_class(leader, i, class);
	}
	return 0;
}

static int remove_from_table(struct leader *leader, int run, const struct id_map *needed)
{
	int err = shrink_classes(leader, run);

	/* Found no more: their class is the one that is found above them now. */
	for (int i = 0; i < MAX_CGROUPS && !err; i++) {
		if (is_idle(leader, i, needed))
			err = hide_entry(leader, entry(leader, i)->id);
	}
	if (!err)
		err = needed->nr || leader_links__are_alive(leader, LINKS_CGROUPS) ?
			      begin_epoch(leader) : forget_running(leader);
	/* Elements of hashes are used again at once: nobody may still look at the old ones. */
	if (!err)
		err = leader_tasks__wait();
	/* Until here a cgroup could be made with what was above it before. */
	if (!err)
		err = shrink_classes(leader, run);
	for (int i = 0; i < MAX_CGROUPS && !err; i++) {
		if (is_idle(leader, i, needed))
			entry(leader, i)->id = 0;
	}
	return err;
}

int leader_cgroups__unmark(struct leader *leader, int run)
{
	struct id_map needed = {};
	int err = read_needed(leader, run, &needed);

	if (!err)
		err = remove_from_table(leader, run, &needed);
	id_map__clear(&needed);
	if (leader_cgroups__watches(leader, run))
		leader->registry->run[run].births_seen = 0;
	/* One that died in the middle of this does not watch any more, and may have left things. */
	return err ? err : leader_cgroups__settle(leader);
}

/* --- newborns --- */

bool leader_cgroups__watches(const struct leader *leader, int run)
{
	return run < MAX_RUNS && leader->registry->run[run].births_seen;
}

/* Free what lies ready for nobody: taken back just now, or by a run that died. */
static int sweep(struct leader *leader)
{
	struct classes *c = &leader->classes;
	bool *is_in_use __cleanup(free_ptr) = calloc(MAX_CLASSES, sizeof(*is_in_use));
	struct id_map places = {};
	int err = is_in_use ? 0 : -ENOMEM;

	for (int i = 0; i < MAX_NEWBORNS && !err; i++) {
		const struct newborn *newborn = &leader->newborns[i];

		if (newborn->state == NEWBORN_NONE)
			continue;
		is_in_use[newborn->class] = true;
		err = id_map__set(&places, newborn->pos + 1, i);
	}
	for (__u32 i = 1; i < leader->registry->nr_classes && !err; i++) {
		if (c->class[i].state == REG_READY && classes__is_newborn(c, i) && !is_in_use[i])
			err = classes__fold(c, i, 0);
	}
	for (int i = 0; i < MAX_CGROUPS && !err; i++) {
		if (entry(leader, i)->id == CGROUP_RESERVED && id_map__get(&places, i + 1) < 0)
			entry(leader, i)->id = 0;
	}
	id_map__clear(&places);
	return err;
}

/*
 * Take back what was offered with another set of events. A program may be taking one meanwhile: it
 * has it then.
 */
static int retract(struct leader *leader, __u32 set)
{
	bool is_any = false;
	int err;

	for (int i = 0; i < MAX_NEWBORNS; i++) {
		struct newborn *newborn = &leader->newborns[i];
		__u32 offered = NEWBORN_OFFERED;

		if (newborn->state == NEWBORN_OFFERED &&
		    leader->classes.class[newborn->class].set != set)
			is_any |= __atomic_compare_exchange_n(&newborn->state, &offered,
							      NEWBORN_NONE, false,
							      __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
	}
	err = is_any ? leader_tasks__wait() : 0;
	return err ? err : sweep(leader);
}

static int offer(struct leader *leader, int set)
{
	int hint = 0;

	for (int i = 0; i < MAX_NEWBORNS; i++) {
		struct newborn *newborn = &leader->newborns[i];
		int pos, class;

		if (newborn->state != NEWBORN_NONE)
			continue;
		pos = find_free(leader, &hint);
		class = pos < 0 ? pos : classes__add_newborn(&leader->classes, set);
		if (class < 0)
			return class;
		newborn->pos = pos;
		newborn->class = class;
		entry(leader, pos)->class = class;
		__atomic_store_n(&entry(leader, pos)->id, CGROUP_RESERVED, __ATOMIC_RELEASE);
		__atomic_store_n(&newborn->state, NEWBORN_OFFERED, __ATOMIC_SEQ_CST);
		leader__step("newborn-offered");
	}
	return 0;
}

/* The newborns in [first, end) are cgroups like others, or nobody's. */
static int settle(struct leader *leader, __u64 first, __u64 end)
{
	struct id_map needed = {};
	int err = read_needed(leader, -2, &needed);

	for (__u64 n = first; n < end && !err; n++) {
		const struct newborn *newborn = &leader->newborns[n % MAX_NEWBORNS];
		struct reg_cgroup *cgroup = entry(leader, newborn->pos);

		if (newborn->state != NEWBORN_TAKEN)
			continue;
		if (id_map__get(&needed, newborn->id) < 0)
			err = hide_entry(leader, newborn->id);
		__atomic_store_n(&cgroup->class, leader->classes.class[newborn->class].base,
				 __ATOMIC_RELEASE);
	}
	if (!err)
		err = leader_links__are_alive(leader, LINKS_CGROUPS) ? begin_epoch(leader) :
								       forget_running(leader);
	if (!err)
		err = leader_tasks__wait();
	for (__u64 n = first; n < end && !err; n++) {
		struct newborn *newborn = &leader->newborns[n % MAX_NEWBORNS];

		if (newborn->state != NEWBORN_TAKEN)
			continue;
		if (id_map__get(&needed, newborn->id) < 0)
			entry(leader, newborn->pos)->id = 0;
		if (leader->classes.class[newborn->class].state == REG_READY)
			err = classes__fold(&leader->classes, newborn->class,
					    leader->classes.class[newborn->class].base);
		if (err)
			break;
		__atomic_store_n(&newborn->state, NEWBORN_NONE, __ATOMIC_RELEASE);
	}
	id_map__clear(&needed);
	return err;
}

int leader_cgroups__settle(struct leader *leader)
{
	struct registry *reg = leader->registry;
	__u64 births;
	bool is_watched = find_settled(leader, &births);
	int set, err = 0;

	if (reg->births_settled < births)
		err = settle(leader, reg->births_settled, births);
	if (err)
		return err;
	reg->births_settled = births;
	/* The empty set is nobody's. */
	set = is_watched ? classes__cgroups_set(&leader->classes) : 0;
	if (set < 0)
		return set;
	err = retract(leader, set);
	return !err && is_watched ? offer(leader, set) : err;
}

int leader_cgroups__watch(struct leader *leader, __u64 births)
{
	int err = 0;

	if (leader->task_link_fds[WATCH_LINK_MKDIR] < 0)
		err = leader_links__take(leader, LINKS_NEW_CGROUPS);
	if (err == -ENOENT)
		err = leader_links__make(leader, LINKS_NEW_CGROUPS);
	if (err)
		return err;
	leader->registry->run[leader->run].births_seen = births + 1;
	return leader_cgroups__settle(leader);
}
