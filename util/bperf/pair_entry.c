// SPDX-License-Identifier: GPL-2.0
#include "util/bperf/pair_entry.h"

#include "util/bperf/crash_point.h"
#include "util/bperf/leader_internal.h"
#include "util/bperf/leader_slots.h"
#include "util/bperf/prog_columns.h"
#include "util/host/bpf_info.h"
#include "util/lib/util.h"

#include <bpf/bpf.h>
#include <string.h>
#include <sys/mman.h>

void pair_entry__set_user(struct reg_pair *entry, int session, bool on)
{
	__u64 bit = 1ULL << session % 64, *word = &entry->users[session / 64];

	__atomic_store_n(word, on ? *word | bit : *word & ~bit, __ATOMIC_RELEASE);
}

bool pair_entry__is_user(const struct reg_pair *entry, int session)
{
	return entry->users[session / 64] >> session % 64 & 1;
}

bool pair_entry__has_users(const struct reg_pair *entry)
{
	for (int w = 0; w < MAX_SESSIONS / 64; w++) {
		if (entry->users[w])
			return true;
	}
	return false;
}

void pair_entry__free(struct reg_pair *entry)
{
	__atomic_store_n(&entry->prog_id, 0, __ATOMIC_RELEASE);
	memset(entry->users, 0, sizeof(entry->users));
}

void pair_entry__give_back(struct reg_pair *entry)
{
	/* Not the users: by now they may be another claim's, which begins with none. */
	__atomic_store_n(&entry->prog_id, 0, __ATOMIC_RELEASE);
}

struct prog_columns *pair_entry__map_plan(int fd)
{
	return bpf_info__map_memory(fd, bpf_info__page_up(sizeof(struct prog_columns)),
				    PROT_READ | PROT_WRITE);
}

bool pair_entry__is_foreign(void *ctx, int slot)
{
	return leader_slots__has_foreign(ctx, slot);
}

/* Bring the plan of a pair, ours or not, in line with its users; gone: there is nothing to do. */
static void update_plan(struct bperf_leader *leader, struct reg_pair *entry)
{
	int fd __cleanup(close_fd) = bpf_map_get_fd_by_id(entry->map_ids[PAIR_PLAN]);
	struct prog_columns *plan = fd < 0 ? NULL : pair_entry__map_plan(fd);
	bool is_new = false;

	if (!plan)
		return;
	prog_columns__update(leader->registry, entry, plan, pair_entry__is_foreign, leader,
			     &is_new);
	munmap(plan, bpf_info__page_up(sizeof(*plan)));
}

/* Columns go before their events: a pair must not read what is being closed. */
void pair_entry__drop_user(struct bperf_leader *leader, struct reg_pair *entry, int session)
{
	pair_entry__set_user(entry, session, false);
	crash_point__reach("pair-left");
	update_plan(leader, entry);
	if (!pair_entry__has_users(entry))
		pair_entry__free(entry);
}

void pair_entries__forget(struct bperf_leader *leader, int session)
{
	for (int i = 0; i < MAX_PAIRS; i++) {
		struct reg_pair *entry = &leader->registry->pair[i];

		if (entry->prog_id && pair_entry__is_user(entry, session))
			pair_entry__drop_user(leader, entry, session);
	}
}

/* The sessions that use any pair. */
static void find_users(const struct registry *reg, __u64 users[MAX_SESSIONS / 64])
{
	for (int i = 0; i < MAX_PAIRS; i++) {
		for (int w = 0; w < MAX_SESSIONS / 64 && reg->pair[i].prog_id; w++)
			users[w] |= reg->pair[i].users[w];
	}
}

bool pair_entries__find_dead(const struct bperf_leader *leader, int *session, __u32 *token)
{
	__u64 users[MAX_SESSIONS / 64] = {};

	find_users(leader->registry, users);
	for (int i = 0; i < MAX_SESSIONS; i++) {
		if (!(users[i / 64] >> i % 64 & 1))
			continue;
		*session = i;
		*token = __atomic_load_n(&leader->registry->session[i].token, __ATOMIC_ACQUIRE);
		if (!*token || !bpf_info__is_map_alive(*token))
			return true;
	}
	return false;
}

/* All plans: the session may have died after it left an entry, and before it changed the plan. */
void pair_entries__repair(struct bperf_leader *leader, int session)
{
	for (int i = 0; i < MAX_PAIRS; i++) {
		struct reg_pair *entry = &leader->registry->pair[i];

		if (!entry->prog_id)
			continue;
		pair_entry__set_user(entry, session, false);
		update_plan(leader, entry);
		if (!pair_entry__has_users(entry))
			pair_entry__free(entry);
	}
}

struct reg_pair *pair_entry__find(struct registry *reg, __u32 prog_id)
{
	for (int i = 0; i < MAX_PAIRS; i++) {
		if (reg->pair[i].prog_id == prog_id)
			return &reg->pair[i];
	}
	return NULL;
}

bool pair_entry__is_complete(const struct reg_pair *entry)
{
	return __atomic_load_n(&entry->link_ids[PAIR_ENTER], __ATOMIC_ACQUIRE) != 0;
}

bool pair_entry__is_sole_user(const struct reg_pair *entry, int session)
{
	for (int w = 0; w < MAX_SESSIONS / 64; w++) {
		if (entry->users[w] != (w == session / 64 ? 1ULL << session % 64 : 0))
			return false;
	}
	return true;
}

bool pair_entries__has_prog(const struct bperf_leader *leader, __u32 prog_id)
{
	const struct registry *reg = leader->registry;

	for (int i = 0; i < NR_LEADER_PROGS; i++) {
		if (reg->prog_ids[i] == prog_id)
			return true;
	}
	for (int i = 0; i < MAX_PAIRS * NR_PAIR_LINKS; i++) {
		__u32 id = reg->pair[i / NR_PAIR_LINKS].link_ids[i % NR_PAIR_LINKS];
		int fd __cleanup(close_fd) = id ? bpf_link_get_fd_by_id(id) : -1;
		struct bpf_link_info info;

		if (fd >= 0 && !bpf_info__link(fd, &info) && info.prog_id == prog_id)
			return true;
	}
	return false;
}

bool pair_entries__has_pair(const struct bperf_leader *leader, __u32 prog_id)
{
	return pair_entry__find(leader->registry, prog_id) != NULL;
}
