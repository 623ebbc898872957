// SPDX-License-Identifier: GPL-2.0
#include "util/bperf/cgroup_scopes.h"

#include "util/bperf/cgroup_pool.h"
#include "util/bperf/cgroup_table.h"
#include "util/bperf/leader.h"
#include "util/bperf/leader_internal.h"
#include "util/bperf/leader_links.h"
#include "util/bperf/leader_progs.h"
#include "util/bperf/leader_sync.h"
#include "util/bperf/scope_set.h"
#include "util/lib/id_map.h"
#include "util/lib/msg.h"
#include "util/lib/util.h"
#include "util/target/cgroup_fs.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

/* Deeper trees need the kernel's limit on one path's length to be exceeded. */
#define MAX_CHAIN 4096

int cgroup_scopes__attach(struct bperf_leader *leader)
{
	int err = leader_progs__load(leader, PROGS_CGROUPS);

	if (!err)
		err = bperf_leader__map_scopes(leader);
	if (!err)
		err = bperf_leader__map_cgroups(leader);
	if (!err)
		err = leader_links__hold(leader, LINKS_CGROUPS);
	if (err != -ENOENT)
		return err;
	err = leader_links__make(leader, LINKS_CGROUPS);
	/* The notes from before any session counted cgroups are of an old switch. */
	for (int cpu = 0; cpu < leader->nr_cpus && !err; cpu++) {
		__atomic_store_n(&leader->cpus[cpu].fresh_task, 0, __ATOMIC_RELEASE);
		__atomic_store_n(&leader->cpus[cpu].cgroup, 0, __ATOMIC_RELEASE);
	}
	return err;
}

/* --- counting --- */

struct walk {
	struct bperf_leader *leader;
	const struct cgroup_fs *fs;
	const struct cgroup_scope *list;
	struct id_map own;     /* number -> position in list */
	struct id_map known;   /* number -> position in the table */
	struct id_map created; /* number -> position in pool entries */
	__u32 *scope_set;      /* by position in the table: what it becomes; 0: stays */
	__u32 *wide; /* of a pool entry that lacks events of that: its new scope set; 0: none */
	struct pool_plan plan;
	int above; /* scope set of what is above all that we can see */
	uint64_t chain[MAX_CHAIN];
};

/* Run on_above for the cgroup of a directory. */
static int iterate(const struct bperf_leader *leader, int dir)
{
	union bpf_iter_link_info info = {
		.cgroup = {.order = BPF_CGROUP_ITER_SELF_ONLY, .cgroup_fd = dir},
	};
	LIBBPF_OPTS(bpf_link_create_opts, opts, .iter_info = &info, .iter_info_len = sizeof(info));
	int link __cleanup(close_fd) =
		bpf_link_create(leader->prog_fds[LEADER_ON_ABOVE], 0, BPF_TRACE_ITER, &opts);
	int iter __cleanup(close_fd) = link < 0 ? -1 : bpf_iter_create(link);
	char buf[64];
	ssize_t len;

	/* Kernels that know no descriptors of cgroup v1 here. */
	if (link < 0)
		return errno == EBADF || errno == EINVAL ? -EOPNOTSUPP : -errno;
	if (iter < 0)
		return -errno;
	do {
		len = read(iter, buf, sizeof(buf));
	} while (len > 0 || (len < 0 && (errno == EAGAIN || errno == EINTR)));
	return len < 0 ? -errno : 0;
}

/*
 * Other sessions may count cgroups above the top of our namespace or mount. They also count ours. The
 * topmost cgroup of all has the number 1.
 */
static int find_above(struct walk *m)
{
	int dir __cleanup(close_fd) = -1;
	int err;

	if (cgroup_fs__id(m->fs->mount) == 1)
		return 0;
	dir = open(m->fs->mount, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0)
		return -errno;
	m->leader->cgroup_clock->above = 0;
	err = iterate(m->leader, dir);
	if (err == -EOPNOTSUPP)
		pr_warn("%s is a part of cgroup v1, and this kernel does not say who counts what is above it: using events of this session's own",
			m->fs->mount);
	m->above = shared_id(&m->leader->cgroup_clock->above, MAX_SCOPE_SETS);
	return err;
}

/*
 * Make the scope set of a cgroup with the new scopes, its own and those of all above it. They are added to
 * its present scope set, or to that of the nearest cgroup above it with an entry.
 */
static int new_scope_set(struct walk *m, const char *dir)
{
	struct scope_tables *c = &m->leader->scope_sets;
	int nr = cgroup_fs__chain(m->fs, dir, m->chain, MAX_CHAIN), scope_set = m->above;

	for (int i = 0; i < nr; i++) {
		int pos = id_map__get(&m->known, m->chain[i]);

		if (pos < 0)
			continue;
		scope_set = cgroup_table__scope_set(m->leader, pos);
		break;
	}
	for (int i = 0; i < nr && scope_set >= 0; i++) {
		int own = id_map__get(&m->own, m->chain[i]);

		if (own >= 0)
			scope_set = scope_set__with(c, scope_set, m->list[own].scope);
	}
	return nr < 0 ? nr : scope_set;
}

/* A cgroup below one of ours: others may count it. */
static int visit(void *ctx, const char *path, uint64_t id)
{
	struct walk *m = ctx;
	int pos = id_map__get(&m->known, id), scope_set;
	char *dir;

	if (pos < 0 || m->scope_set[pos])
		return 0;
	dir = cgroup_fs__dir(m->fs, path);
	scope_set = dir ? new_scope_set(m, dir) : -ENOMEM;
	free(dir);
	if (scope_set == -ENOENT)
		return 0; /* gone meanwhile */
	if (scope_set < 0)
		return scope_set;
	m->scope_set[pos] = scope_set;
	return 0;
}

/* Return: whether one of ours is above another of ours, so that a walk over that one comes by here. */
static bool is_below_own(struct walk *m, const char *dir)
{
	int nr = cgroup_fs__chain(m->fs, dir, m->chain, MAX_CHAIN);

	for (int i = 1; i < nr; i++) {
		if (id_map__get(&m->own, m->chain[i]) >= 0)
			return true;
	}
	return false;
}

static int widen_below(struct walk *m, int nr)
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
static int read_pool(const struct bperf_leader *leader, struct id_map *created)
{
	for (int i = 0; i < MAX_POOL_ENTRIES; i++) {
		const struct pool_entry *pool_entry = &leader->pool[i];

		if (__atomic_load_n(&pool_entry->state, __ATOMIC_ACQUIRE) == POOL_TAKEN &&
		    id_map__set(created, pool_entry->id, i))
			return -ENOMEM;
	}
	return 0;
}

/*
 * As new_scope_set(), of one that may be gone by now: its record tells where it was created, and nothing
 * else can have counted there.
 */
static int scope_set_by_created_nr(struct walk *m, __u64 id)
{
	struct scope_tables *c = &m->leader->scope_sets;
	int pos = id_map__get(&m->known, id);
	int scope_set = pos < 0 ? -ENOENT : (int)cgroup_table__scope_set(m->leader, pos);

	for (int depth = 0; id && scope_set >= 0 && depth < MAX_CHAIN; depth++) {
		int own = id_map__get(&m->own, id);
		int created = id_map__get(&m->created, id);

		if (own >= 0)
			scope_set = scope_set__with(c, scope_set, m->list[own].scope);
		id = created >= 0 ? m->leader->pool[created].parent : 0;
	}
	return scope_set;
}

/* Add the cgroups below ours that a walk did not meet. */
static int change_pool(struct walk *m)
{
	for (int i = 0; i < MAX_POOL_ENTRIES; i++) {
		const struct pool_entry *pool_entry = &m->leader->pool[i];
		int pos = cgroup_pool__pos(pool_entry), scope_set;

		if (__atomic_load_n(&pool_entry->state, __ATOMIC_ACQUIRE) != POOL_TAKEN ||
		    m->scope_set[pos])
			continue;
		scope_set = scope_set_by_created_nr(m, pool_entry->id);
		if (scope_set < 0 && scope_set != -ENOENT)
			return scope_set;
		m->scope_set[pos] = scope_set < 0 ? 0 : scope_set;
	}
	return 0;
}

/* The scope sets of our own; those that are known become changes like others. */
static int own_scope_sets(struct walk *m, int nr, int *scope_sets)
{
	for (int i = 0; i < nr; i++) {
		int pos = id_map__get(&m->known, m->list[i].id);

		scope_sets[i] = new_scope_set(m, m->list[i].dir);
		if (scope_sets[i] == -ENOENT)
			scope_sets[i] = scope_set_by_created_nr(m, m->list[i].id);
		if (scope_sets[i] < 0 && scope_sets[i] != -ENOENT)
			return scope_sets[i];
		if (pos >= 0 && scope_sets[i] > 0)
			m->scope_set[pos] = scope_sets[i];
	}
	return 0;
}

/*
 * Prepare the pool so that two kinds of cgroups count all events from the next epoch on. They are cgroups
 * created below ours from now on, and cgroups whose pool entry has no room for our events yet.
 */
static int prepare_pool(struct walk *m, int nr, const int *scope_sets)
{
	int err = cgroup_pool__begin_plan(m->leader, &m->plan);

	for (int i = 0; i < nr && !err; i++)
		err = scope_sets[i] > 0 ? cgroup_pool__plan(m->leader, &m->plan, scope_sets[i]) : 0;
	for (int i = 0; i < MAX_CGROUPS && !err; i++)
		err = cgroup_pool__plan(m->leader, &m->plan, m->scope_set[i]);
	if (!err)
		err = cgroup_pool__make_ready(m->leader, &m->plan);
	/* Last, since taking back ready entries frees scope sets that nothing names yet. */
	for (int i = 0; i < MAX_CGROUPS && !err; i++) {
		int wide = m->scope_set[i] ? cgroup_pool__widen(m->leader, i, m->scope_set[i]) : 0;

		m->wide[i] = wide < 0 ? 0 : wide;
		err = wide < 0 ? wide : 0;
	}
	return err;
}

/* Store what was worked out. */
static int change_table(struct walk *m, int nr, const int *scope_sets)
{
	int hint = 0, err = 0;

	for (int i = 0; i < MAX_CGROUPS; i++) {
		if (m->scope_set[i])
			cgroup_table__set_scope_set(m->leader, i, m->scope_set[i]);
		if (m->wide[i])
			cgroup_pool__replace(m->leader, i, m->wide[i]);
	}
	for (int i = 0; i < nr && !err; i++) {
		int pos = id_map__get(&m->known, m->list[i].id);

		if (scope_sets[i] < 0)
			continue;
		err = pos < 0 ? cgroup_table__add(m->leader, m->list[i].id, scope_sets[i], &hint) :
				cgroup_table__show(m->leader, pos);
	}
	return err;
}

/* Make all scope sets first: when there is no room for one, nothing has been changed. */
static int assign(struct walk *m, int nr)
{
	int *scope_sets __cleanup(free_ptr) = calloc(nr + 1, sizeof(*scope_sets));
	int err = scope_sets ? own_scope_sets(m, nr, scope_sets) : -ENOMEM;

	if (!err)
		err = widen_below(m, nr);
	if (!err)
		err = change_pool(m);
	if (!err)
		err = prepare_pool(m, nr, scope_sets);
	if (!err)
		err = change_table(m, nr, scope_sets);
	return err ? err : cgroup_table__begin_epoch(m->leader);
}

static int walk_once(struct bperf_leader *leader, const struct cgroup_fs *fs,
		     const struct cgroup_scope *list, int nr)
{
	struct walk *m = calloc(1, sizeof(*m));
	int err = -ENOMEM;

	if (!m)
		return err;
	*m = (struct walk){.leader = leader, .fs = fs, .list = list};
	m->scope_set = calloc(MAX_CGROUPS, sizeof(*m->scope_set));
	m->wide = calloc(MAX_CGROUPS, sizeof(*m->wide));
	if (m->scope_set && m->wide)
		err = cgroup_table__read(leader, &m->known);
	if (!err)
		err = find_above(m);
	if (!err)
		err = read_pool(leader, &m->created);
	for (int i = 0; i < nr && !err; i++) {
		err = id_map__set(&m->own, list[i].id, i);
	}
	if (!err)
		err = assign(m, nr);
	id_map__clear(&m->own);
	id_map__clear(&m->known);
	id_map__clear(&m->created);
	free(m->scope_set);
	free(m->wide);
	free(m);
	return err;
}

int cgroup_scopes__assign(struct bperf_leader *leader, const struct cgroup_fs *fs,
			  const struct cgroup_scope *list, int nr)
{
	__u64 nr_created = leader->cgroup_clock->nr_created;
	int err = walk_once(leader, fs, list, nr);

	if (err ||
	    (!cgroup_pool__are_watched(leader) && leader->registry->nr_reclaimed == nr_created))
		return err;
	err = cgroup_pool__merge_replaced(leader);
	if (err || leader->cgroup_clock->nr_created == nr_created)
		return err;
	/* One that was made meanwhile may have got the scope set that those above it had before. */
	err = walk_once(leader, fs, list, nr);
	return err ? err : cgroup_pool__merge_replaced(leader);
}

/* --- the end --- */

/* Return: whether an entry goes: no scope needs it, and it is no pool entry. */
static bool is_idle(const struct bperf_leader *leader, int pos, const struct id_map *needed)
{
	return cgroup_table__is_used(leader, pos) &&
	       !scope_set__is_pool_entry(&leader->scope_sets,
					 cgroup_table__own_scope_set(leader, pos)) &&
	       id_map__get(needed, leader->cgroups[pos].id) < 0;
}

static int shrink_scope_sets(struct bperf_leader *leader, int session)
{
	for (int i = 0; i < MAX_CGROUPS; i++) {
		int scope_set =
			cgroup_table__is_used(leader, i) ?
				scope_set__without(&leader->scope_sets,
						   cgroup_table__scope_set(leader, i), session) :
				0;

		if (scope_set < 0)
			return scope_set;
		if (cgroup_table__is_used(leader, i) &&
		    (__u32)scope_set != cgroup_table__scope_set(leader, i))
			cgroup_table__set_scope_set(leader, i, scope_set);
	}
	return 0;
}

static int remove_from_table(struct bperf_leader *leader, int session, const struct id_map *needed)
{
	int err = shrink_scope_sets(leader, session);

	/* Found no more: their scope set is the one that is found above them now. */
	for (int i = 0; i < MAX_CGROUPS && !err; i++) {
		if (is_idle(leader, i, needed))
			err = cgroup_table__hide(leader, leader->cgroups[i].id);
	}
	if (!err)
		err = needed->nr || leader_links__are_alive(leader, LINKS_CGROUPS) ?
			      cgroup_table__begin_epoch(leader) :
			      cgroup_table__forget_running(leader);
	/*
	 * Elements of hashes are used again at once: no program looks at the old ones any more. Until here a
	 * cgroup could be made with what was above it before.
	 */
	if (!err)
		err = shrink_scope_sets(leader, session);
	for (int i = 0; i < MAX_CGROUPS && !err; i++) {
		if (is_idle(leader, i, needed))
			leader->cgroups[i].id = 0;
	}
	return err;
}

int cgroup_scopes__unassign(struct bperf_leader *leader, int session)
{
	struct id_map needed = {};
	int err = cgroup_table__read_needed(leader, session, &needed);

	if (!err)
		err = cgroup_pool__mend(leader);
	if (!err)
		err = remove_from_table(leader, session, &needed);
	id_map__clear(&needed);
	if (cgroup_pool__watches(leader, session))
		leader->registry->session[session].nr_seen = 0;
	/* One that died in the middle of this does not watch any more, and may have left things. */
	return err ? err : cgroup_pool__reclaim(leader);
}
