// SPDX-License-Identifier: GPL-2.0
/*
 * How sessions find, make and leave pairs. From Linux 6.2 on a program can be attached twice, and would count
 * twice. So a pair is claimed in the registry before it is attached, and unclaimed after it is detached.
 * The lock is held for each commit only; what takes long is done between.
 *
 *	  without the lock			under it
 *	1 load probes, or take those that
 *	  the registry names
 *	2					taken ones: is the entry the same? set our bit, plan
 *						loaded ones: claim an entry: prog_id, our bit, no links
 *	3 attach what was claimed
 *	4					write the ids: links last; plan
 *
 *	5					the last user: remove the links' ids, keep the bit
 *	6 detach
 *	7 free the entry
 *
 * An entry without links belongs to the session of its one bit. When that session dies, the kernel detaches its
 * probes and repair frees the entry. Other sessions wait for the entry for a moment, without the lock.
 */
#include "util/bperf/prog_pair.h"

#include "util/bperf/attr_map.h"
#include "util/bperf/crash_point.h"
#include "util/bperf/leader_internal.h"
#include "util/bperf/leader_sync.h"
#include "util/bperf/pair_entry.h"
#include "util/bperf/prog_columns.h"
#include "util/bperf/prog_probes.h"
#include "util/bperf/seq_wait.h"
#include "util/bperf/shared_word.h"
#include "util/host/bpf_info.h"
#include "util/host/capability.h"
#include "util/lib/util.h"
#include "util/target/bpf_prog.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* So many pairs change in one holding of the lock. */
#define BATCH 16
/* How often an entry that another session is working at is looked at. */
#define POLL_US 10000

/* --- the lock: the one place that takes it here --- */

/* Ours alone: entries of the attr map are not touched. */
static int begin_commit(struct bperf_leader *leader)
{
	__u32 token = 0;
	int session, err;
	bool has_dead;

	capability__raise();
	has_dead = pair_entries__find_dead(leader, &session, &token);
	capability__lower();
	err = attr_map__relock(leader->attr_map);
	if (!err && has_dead && leader->registry->session[session].token == token)
		pair_entries__repair(leader, session);
	return err;
}

static void end_commit(struct bperf_leader *leader)
{
	attr_map__unlock(leader->attr_map);
}

/* --- memory --- */

static size_t cpus_size(int nr_cpus)
{
	return bpf_info__page_up(nr_cpus * sizeof(struct prog_cpu));
}

static void init(struct prog_pair *pair)
{
	memset(pair, 0, sizeof(*pair));
	pair->idx = -1;
	memset(pair->link_fds, -1, sizeof(pair->link_fds));
	memset(pair->prog_fds, -1, sizeof(pair->prog_fds));
}

void prog_pair__put(struct prog_pair *pair)
{
	for (int i = 0; i < NR_PAIR_LINKS; i++) {
		close_fd(&pair->link_fds[i]);
		close_fd(&pair->prog_fds[i]);
	}
	if (pair->plan)
		munmap(pair->plan, bpf_info__page_up(sizeof(*pair->plan)));
	if (pair->cpus)
		munmap(pair->cpus, cpus_size(pair->nr_cpus));
	pair->plan = NULL;
	pair->cpus = NULL;
	pair->idx = -1;
}

/* --- taking --- */

static int hold_link(struct prog_pair *pair, int which, __u32 id)
{
	struct bpf_link_info info;

	pair->link_fds[which] = bpf_link_get_fd_by_id(id);
	if (pair->link_fds[which] < 0 || bpf_info__link(pair->link_fds[which], &info))
		return -errno;
	pair->prog_fds[which] = bpf_prog_get_fd_by_id(info.prog_id);
	return pair->prog_fds[which] < 0 ? -errno : 0;
}

/* A pair that is there, by its ids; -ENOENT: its last user has just gone. */
static int take(const struct bperf_leader *leader, const struct reg_pair *ids,
		struct prog_pair *pair)
{
	int plan __cleanup(close_fd) = bpf_map_get_fd_by_id(ids->map_ids[PAIR_PLAN]);
	int cpus __cleanup(close_fd) = bpf_map_get_fd_by_id(ids->map_ids[PAIR_CPUS]);
	int err = 0;

	for (int i = 0; i < NR_PAIR_LINKS && !err; i++)
		err = hold_link(pair, i, ids->link_ids[i]);
	if (!err && (plan < 0 || cpus < 0))
		err = -ENOENT;
	if (err)
		return err;
	pair->nr_cpus = leader->nr_cpus;
	pair->plan = pair_entry__map_plan(plan);
	pair->cpus = bpf_info__map_memory(cpus, cpus_size(pair->nr_cpus), PROT_READ);
	return pair->plan && pair->cpus ? 0 : -ENOMEM;
}

/* --- joining --- */

enum join_state {
	JOIN_WAITS,  /* nothing yet, or another session works at the entry */
	JOIN_TAKEN,  /* held, and not entered */
	JOIN_LOADED, /* probes are loaded, and not claimed */
	JOIN_CLAIMED,
	JOIN_ATTACHED,
	JOIN_OVER, /* joined, or refused */
};

/* One pair on its way into a session. */
struct join {
	struct pair_request *request;
	enum join_state state;
	struct prog_probes *probes; /* of our own making; NULL: none */
	struct reg_pair ids;	    /* as they were when the pair was taken; of our own */
	bool is_new; /* one of its events got a column while others' executions go on */
};

static void refuse(struct join *join, int err)
{
	join->request->err = err;
	join->state = JOIN_OVER;
	prog_pair__put(join->request->pair);
}

static bool is_same(const struct reg_pair *entry, const struct reg_pair *ids)
{
	return !memcmp(entry->link_ids, ids->link_ids, sizeof(ids->link_ids)) &&
	       !memcmp(entry->map_ids, ids->map_ids, sizeof(ids->map_ids));
}

/* Step 1 */
static void prepare(struct bperf_leader *leader, struct join *join)
{
	struct prog_pair *pair = join->request->pair;
	const struct reg_pair *entry =
		pair_entry__find(leader->registry, join->request->target->id);
	int err;

	if (join->state != JOIN_WAITS)
		return;
	if (entry && pair_entry__is_complete(entry)) {
		join->ids = *entry;
		err = take(leader, &join->ids, pair);
		if (!err)
			join->state = JOIN_TAKEN;
		else
			prog_pair__put(pair);
		if (err == -ENOMEM)
			refuse(join, err);
		return;
	}
	/* Another session works at it; if that one is dead, the commit frees the entry. */
	if (entry && !pair_entry__is_sole_user(entry, leader->session))
		return;
	err = join->probes ? 0 : prog_probes__load(leader, join->request->target, &join->probes);
	if (err)
		refuse(join, err);
	else
		join->state = JOIN_LOADED;
}

/* The session counts there from now on, under the lock. */
static void enter(struct bperf_leader *leader, struct join *join, struct reg_pair *entry)
{
	struct prog_pair *pair = join->request->pair;
	bool was_used =
		!pair_entry__is_sole_user(entry, leader->session) && pair_entry__has_users(entry);
	int err;

	pair->idx = entry - leader->registry->pair;
	pair_entry__set_user(entry, leader->session, true);
	crash_point__reach("pair-joined");
	err = prog_columns__update(leader->registry, entry, pair->plan, pair_entry__is_foreign,
				   leader, &join->is_new);
	/* Executions may still be adding to a column what its event before counted. */
	join->is_new &= was_used;
	if (err == -ENOSPC)
		err = -EOVERFLOW;
	join->state = JOIN_OVER;
	if (!err)
		return;
	/* The entry may go with our bit: its probes go first. */
	refuse(join, err);
	prog_probes__delete(join->probes);
	join->probes = NULL;
	pair_entry__drop_user(leader, entry, leader->session);
}

static void claim(struct bperf_leader *leader, struct join *join)
{
	struct reg_pair *entry = pair_entry__find(leader->registry, 0);

	if (!entry) {
		refuse(join, -ENOSPC);
		return;
	}
	memset(entry->link_ids, 0, sizeof(entry->link_ids));
	memset(entry->map_ids, 0, sizeof(entry->map_ids));
	memset(entry->users, 0, sizeof(entry->users));
	pair_entry__set_user(entry, leader->session, true);
	__atomic_store_n(&entry->prog_id, join->request->target->id, __ATOMIC_RELEASE);
	join->state = JOIN_CLAIMED;
	crash_point__reach("pair-claimed");
}

/* Step 2, under the lock */
static void claim_or_enter(struct bperf_leader *leader, struct join *join)
{
	struct reg_pair *entry = pair_entry__find(leader->registry, join->request->target->id);

	if (join->state == JOIN_TAKEN && entry && is_same(entry, &join->ids)) {
		enter(leader, join, entry);
	} else if (join->state == JOIN_TAKEN) {
		prog_pair__put(join->request->pair);
		join->state = JOIN_WAITS;
	} else if (join->state == JOIN_LOADED && !entry) {
		claim(leader, join);
	} else if (join->state == JOIN_LOADED) {
		/* Our own claim is left from a commit that did not get the lock. */
		join->state = !pair_entry__is_complete(entry) &&
					      pair_entry__is_sole_user(entry, leader->session) ?
				      JOIN_CLAIMED :
				      JOIN_WAITS;
	}
}

/* Step 3: a pair of our own making is held like any other. */
static void attach(struct bperf_leader *leader, struct join *join)
{
	int err = prog_probes__attach(join->probes, &join->ids);

	crash_point__reach("pair-attached");
	if (!err)
		err = take(leader, &join->ids, join->request->pair);
	join->state = JOIN_ATTACHED;
	join->request->err = err;
	if (!err)
		return;
	/* Before the claim goes */
	prog_pair__put(join->request->pair);
	prog_probes__delete(join->probes);
	join->probes = NULL;
}

/* Step 4, under the lock */
static void commit(struct bperf_leader *leader, struct join *join)
{
	struct reg_pair *entry = pair_entry__find(leader->registry, join->request->target->id);

	join->state = JOIN_OVER;
	/* Somebody took our session for dead. */
	if (!entry || !pair_entry__is_sole_user(entry, leader->session)) {
		refuse(join, -ESTALE);
		return;
	}
	if (join->request->err) {
		pair_entry__free(entry);
		return;
	}
	memcpy(entry->map_ids, join->ids.map_ids, sizeof(entry->map_ids));
	entry->link_ids[PAIR_LEAVE] = join->ids.link_ids[PAIR_LEAVE];
	__atomic_store_n(&entry->link_ids[PAIR_ENTER], join->ids.link_ids[PAIR_ENTER],
			 __ATOMIC_RELEASE);
	crash_point__reach("pair-written");
	enter(leader, join, entry);
}

static int nr_in(const struct join *joins, int nr, enum join_state state)
{
	int nr_found = 0;

	for (int i = 0; i < nr; i++)
		nr_found += joins[i].state == state;
	return nr_found;
}

/* Steps 1 to 4, for those that no other session is working at. Return: 0, or -errno: no lock. */
static int try_join(struct bperf_leader *leader, struct join *joins, int nr)
{
	int err;

	for (int i = 0; i < nr; i++)
		prepare(leader, &joins[i]);
	err = begin_commit(leader);
	if (err)
		return err;
	for (int i = 0; i < nr; i++)
		claim_or_enter(leader, &joins[i]);
	end_commit(leader);
	for (int i = 0; i < nr; i++) {
		if (joins[i].state == JOIN_CLAIMED)
			attach(leader, &joins[i]);
	}
	if (!nr_in(joins, nr, JOIN_ATTACHED))
		return 0;
	err = begin_commit(leader);
	if (err)
		return err;
	for (int i = 0; i < nr; i++) {
		if (joins[i].state == JOIN_ATTACHED)
			commit(leader, &joins[i]);
	}
	end_commit(leader);
	return 0;
}

static int join_batch(struct bperf_leader *leader, struct pair_request *requests, int nr,
		      bool waits)
{
	struct join joins[BATCH] = {};
	bool is_new = false;
	int err;

	for (int i = 0; i < nr; i++) {
		joins[i].request = &requests[i];
		init(requests[i].pair);
		requests[i].err = 0;
	}
	do {
		err = try_join(leader, joins, nr);
	} while (!err && nr_in(joins, nr, JOIN_WAITS) && waits &&
		 attr_map__pause(leader->attr_map, POLL_US));
	for (int i = 0; i < nr; i++) {
		if (joins[i].state != JOIN_OVER)
			refuse(&joins[i], err ? err : -EAGAIN);
		prog_probes__delete(joins[i].probes);
		is_new |= joins[i].is_new;
	}
	return is_new && !err ? leader_sync__wait() : err;
}

int prog_pairs__join(struct bperf_leader *leader, struct pair_request *requests, int nr, bool waits)
{
	int err = 0;

	for (int i = 0; i < nr && !err; i += BATCH)
		err = join_batch(leader, requests + i, nr - i < BATCH ? nr - i : BATCH, waits);
	return err;
}

/* The process that an entry waits for; 0: none, it has gone on. */
static __u32 maker_of(const struct bperf_leader *leader, __u32 prog_id)
{
	const struct reg_pair *entry = pair_entry__find(leader->registry, prog_id);

	for (int session = 0; entry && session < MAX_SESSIONS; session++) {
		if (pair_entry__is_user(entry, session))
			return leader->registry->session[session].pid;
	}
	return 0;
}

char *prog_pairs__why_not(const struct bperf_leader *leader, const struct pair_request *request)
{
	if (request->err == -ENOSPC)
		return xasprintf("%d BPF programs are counted already, the most there can be",
				 MAX_PAIRS);
	if (request->err == -EOVERFLOW)
		return xasprintf("all sessions together would count more than %d events there",
				 MAX_COLUMNS);
	if (request->err == -EAGAIN)
		return xasprintf(
			"another session (process %u) is attaching or detaching probes there and has not finished",
			maker_of(leader, request->target->id));
	return prog_probes__why_not(request->target, request->err);
}

/* --- leaving --- */

/* Step 5, under the lock. Return: whether the entry is to be freed after detaching. */
static bool begin_leaving(struct bperf_leader *leader, const struct prog_pair *pair)
{
	struct reg_pair *entry = &leader->registry->pair[pair->idx];

	if (!pair_entry__is_sole_user(entry, leader->session)) {
		pair_entry__drop_user(leader, entry, leader->session);
		return false;
	}
	__atomic_store_n(&entry->link_ids[PAIR_ENTER], 0, __ATOMIC_RELEASE);
	return true;
}

static int leave_batch(struct bperf_leader *leader, struct prog_pair **pairs, int nr)
{
	struct reg_pair *emptied[BATCH];
	int nr_emptied = 0, err = begin_commit(leader);

	if (err)
		return err;
	for (int i = 0; i < nr; i++) {
		struct reg_pair *entry = &leader->registry->pair[pairs[i]->idx];

		if (begin_leaving(leader, pairs[i]))
			emptied[nr_emptied++] = entry;
	}
	end_commit(leader);
	if (nr_emptied)
		crash_point__reach("pair-emptied");
	for (int i = 0; i < nr; i++)
		prog_pair__put(pairs[i]);
	/* Without the lock: an entry without links belongs to its one session alone. */
	for (int i = 0; i < nr_emptied; i++)
		pair_entry__give_back(emptied[i]);
	return 0;
}

int prog_pairs__leave(struct bperf_leader *leader, struct prog_pair **pairs, int nr)
{
	int err = 0;

	for (int i = 0; i < nr && !err; i += BATCH)
		err = leave_batch(leader, pairs + i, nr - i < BATCH ? nr - i : BATCH);
	return err;
}

/* --- reading --- */

__u64 prog_pair__unseen(const struct prog_pair *pair)
{
	struct bpf_prog_info info;

	return bpf_info__prog(pair->prog_fds[PAIR_LEAVE], &info) ? 0 : info.recursion_misses;
}

__u64 prog_pair__runs(const struct prog_pair *pair)
{
	__u64 runs = 0;

	for (int cpu = 0; cpu < pair->nr_cpus; cpu++)
		runs += __atomic_load_n(&pair->cpus[cpu].runs, __ATOMIC_RELAXED);
	return runs;
}

bool prog_pair__copy(const struct prog_pair *pair, int cpu, struct prog_cpu *out)
{
	const struct prog_cpu *from = &pair->cpus[cpu];
	struct seq_wait wait = {};
	struct prog_cpu copy;

	/* Where programs can be preempted the writer may need this CPU to go on. */
	do {
		__u64 seq = __atomic_load_n(&from->seq, __ATOMIC_ACQUIRE);

		if (seq & 1)
			continue;
		memcpy(&copy, from, offsetof(struct prog_cpu, is_leaving));
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		if (__atomic_load_n(&from->seq, __ATOMIC_RELAXED) == seq) {
			memcpy(out, &copy, offsetof(struct prog_cpu, is_leaving));
			return true;
		}
	} while (seq_wait__more(&wait));
	return false;
}
