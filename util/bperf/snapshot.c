// SPDX-License-Identifier: GPL-2.0
#include "util/bperf/snapshot.h"

#include "util/bperf/attr_entries.h"
#include "util/bperf/attr_map.h"
#include "util/bperf/foreign_pins.h"
#include "util/bperf/identify.h"
#include "util/bperf/leader_internal.h"
#include "util/bperf/leader_links.h"
#include "util/bperf/leader_sync.h"
#include "util/bperf/prog_columns.h"
#include "util/host/bpf_info.h"
#include "util/host/prog_maps.h"
#include "util/lib/array.h"
#include "util/lib/util.h"
#include "util/target/bpf_prog.h"

#include <bpf/bpf.h>
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <linux/perf_event.h>
#include <string.h>

#define SAMPLE_MS 100

/* --- entries --- */

enum entry_leader shared_entry__kind(const struct attr_map_value *value,
				     const struct bperf_leader *leader, __u32 *prog_id)
{
	int fd __cleanup(close_fd) = bpf_link_get_fd_by_id(value->link_id);
	struct prog_maps maps __cleanup(prog_maps__clear) = {};
	int err;

	*prog_id = 0;
	/* Only what the kernel reports as gone is dead. */
	if (fd < 0)
		return errno == ENOENT ? ENTRY_DEAD : ENTRY_FOREIGN;
	err = identify__read_leader(fd, &maps);
	if (err)
		return err == -ENOENT ? ENTRY_DEAD : ENTRY_FOREIGN;
	*prog_id = maps.info.id;
	if (leader && leader_links__is_own(leader->registry, value->link_id))
		return ENTRY_OWN;
	if (!value->diff_map_id || prog_maps__has(&maps, value->diff_map_id))
		return ENTRY_FOREIGN;
	*prog_id = 0;
	return ENTRY_DEAD;
}

int snapshot__entries(struct snapshot *list, struct attr_map *attr_map,
		      const struct bperf_leader *leader)
{
	struct attr_entries entries __cleanup(attr_entries__clear) = {};
	const __u32 own_size = ATTR_KEY_SIZE;
	size_t copy = attr_map->key_size < ATTR_KEY_SIZE ? attr_map->key_size : ATTR_KEY_SIZE;
	int err = attr_entries__read(&entries, attr_map);

	for (int i = 0; i < entries.nr && !err; i++) {
		struct shared_entry *entry = array__add(list->entries, list->nr_entries);

		if (!entry)
			return -ENOMEM;
		memcpy(entry->key.bytes, attr_entries__key(&entries, attr_map, i), copy);
		memcpy(entry->key.bytes + offsetof(struct perf_event_attr, size), &own_size,
		       sizeof(own_size));
		entry->link_id = entries.values[i].link_id;
		entry->diff_map_id = entries.values[i].diff_map_id;
		entry->kind = shared_entry__kind(&entries.values[i], leader, &entry->prog_id);
	}
	return err;
}

const struct shared_entry *snapshot__entry(const struct snapshot *list, int slot)
{
	const struct reg_event *event = &list->registry->event[slot];
	const struct reg_event *first = &list->registry->event[event->leader];
	struct attr_key key = event->key;

	if (first->nr_members > 1) {
		struct attr_key keys[MAX_EVENTS];

		for (__u32 i = 0; i < first->nr_members; i++)
			keys[i] = first[i].key;
		attr_map__group_key(keys, first->nr_members, event - first, &key);
	}
	for (int i = 0; i < list->nr_entries; i++) {
		if (!memcmp(&list->entries[i].key, &key, sizeof(key)))
			return &list->entries[i];
	}
	return NULL;
}

int snapshot__pins(struct snapshot *list, const struct attr_map *attr_map)
{
	list->nr_pins = foreign_pins__list(attr_map, &list->pins);
	return list->nr_pins < 0 ? list->nr_pins : 0;
}

/* --- our leader --- */

static void add_prog(struct shared_prog *prog, const struct registry *reg,
		     const struct reg_pair *pair)
{
	struct bpf_prog target;
	char type[16];

	prog->id = pair->prog_id;
	for (int slot = 0; slot < MAX_EVENTS; slot++)
		prog->nr_events += prog_columns__is_wanted(reg, pair, slot);
	for (int session = 0; session < MAX_SESSIONS; session++) {
		if (pair->users[session / 64] >> session % 64 & 1)
			prog->pids[prog->nr_pids++] = reg->session[session].pid;
	}
	if (bpf_prog__by_id(prog->id, &target))
		return;
	prog->name = strdup(target.name);
	snprintf(prog->type, sizeof(prog->type), "%s", bpf_prog__type_name(&target, type));
	bpf_prog__clear(&target);
}

static int copy_progs(struct snapshot *list)
{
	const struct registry *reg = list->registry;

	for (int i = 0; i < MAX_PAIRS; i++) {
		struct shared_prog *prog;

		if (!reg->pair[i].prog_id)
			continue;
		prog = array__add(list->progs, list->nr_progs);
		if (!prog)
			return -ENOMEM;
		prog->pids = calloc(MAX_SESSIONS, sizeof(pid_t));
		if (!prog->pids)
			return -ENOMEM;
		add_prog(prog, reg, &reg->pair[i]);
	}
	return 0;
}

/* True if the group that an event of a copied registry names is one, with the event in it. */
static bool is_sound(const struct registry *reg, __u32 slot)
{
	__u32 first = reg->event[slot].leader;

	return first <= slot && reg->event[first].nr_members <= MAX_EVENTS - first &&
	       slot - first < reg->event[first].nr_members;
}

/* The copy is this process's alone, so a check now holds. Unsound parts are left out. */
static void drop_unsound(struct registry *reg)
{
	for (__u32 slot = 0; slot < MAX_EVENTS; slot++) {
		if (!is_sound(reg, slot))
			reg->event[slot].state = REG_FREE;
	}
}

int snapshot__copy(struct snapshot *list, const struct bperf_leader *leader)
{
	list->registry = malloc(sizeof(*list->registry));
	if (!list->registry)
		return -ENOMEM;
	*list->registry = *leader->registry;
	drop_unsound(list->registry);
	list->nr_cpus = leader->nr_cpus;
	list->taken_ns = clock_ns();
	list->samples = calloc((size_t)list->nr_cpus * MAX_EVENTS, sizeof(*list->samples));
	return list->samples ? copy_progs(list) : -ENOMEM;
}

static void ready_mask(const struct registry *reg, uint64_t mask[MASK_WORDS])
{
	memset(mask, 0, MASK_WORDS * sizeof(*mask));
	for (int slot = 0; slot < MAX_EVENTS; slot++) {
		if (reg->event[slot].state == REG_READY)
			mask[slot / 64] |= 1ULL << slot % 64;
	}
}

static int read_cpu(const struct bperf_leader *leader, int cpu, const uint64_t mask[MASK_WORDS],
		    struct event_reading *out)
{
	static const int size = MAX_EVENTS;
	int slots[MAX_EVENTS], err;

	err = leader_sync__cpu(leader, cpu, mask);
	if (err)
		return err;
	for (int slot = 0; slot < size; slot++)
		slots[slot] = slot;
	leader_sync__readings(leader, cpu, slots, size, out);
	return 0;
}

int snapshot__sample(struct snapshot *list, const struct bperf_leader *leader)
{
	struct event_reading *before __cleanup(free_ptr) =
		calloc((size_t)list->nr_cpus * MAX_EVENTS, sizeof(*before));
	bool *is_there __cleanup(free_ptr) = calloc(list->nr_cpus, sizeof(*is_there));
	uint64_t mask[MASK_WORDS];
	int err;

	if (!before || !is_there)
		return -ENOMEM;
	ready_mask(list->registry, mask);
	for (int cpu = 0; cpu < list->nr_cpus; cpu++) {
		err = read_cpu(leader, cpu, mask, before + cpu * MAX_EVENTS);
		is_there[cpu] = !err;
		if (err && err != -ENXIO)
			return err;
	}
	usleep(SAMPLE_MS * 1000);
	for (int cpu = 0; cpu < list->nr_cpus; cpu++) {
		struct event_reading after[MAX_EVENTS];

		if (!is_there[cpu])
			continue;
		err = read_cpu(leader, cpu, mask, after);
		if (err && err != -ENXIO)
			return err;
		for (int slot = 0; slot < MAX_EVENTS && !err; slot++) {
			const struct reg_event *now = &leader->registry->event[slot];
			const struct reg_event *then = &list->registry->event[slot];
			const struct event_reading *first = before + cpu * MAX_EVENTS + slot;
			struct shared_sample *sample = &list->samples[cpu * MAX_EVENTS + slot];

			if (then->state != REG_READY || now->state != REG_READY ||
			    memcmp(&now->key, &then->key, sizeof(now->key)) || first->err ||
			    after[slot].err || after[slot].enabled_ns < first->enabled_ns)
				continue;
			sample->is_open = true;
			sample->age_ns = after[slot].enabled_ns;
			sample->enabled_ns = after[slot].enabled_ns - first->enabled_ns;
			sample->running_ns = after[slot].running_ns - first->running_ns;
		}
	}
	return 0;
}

/* --- users of other implementations --- */

static bool follows(const struct shared_entry *entry, const struct bpf_link_info *info)
{
	struct prog_maps maps __cleanup(prog_maps__clear) = {};
	int prog __cleanup(close_fd) = -1;

	if (info->type != BPF_LINK_TYPE_TRACING || info->tracing.target_obj_id != entry->prog_id)
		return false;
	prog = bpf_prog_get_fd_by_id(info->prog_id);
	return !prog_maps__read(&maps, prog) && prog_maps__has(&maps, entry->diff_map_id);
}

/* The id of the link behind a descriptor of any process; 0: it is none. */
static __u32 link_of_fd(const char *pid, const char *fd)
{
	char *path __cleanup(free_ptr) = xasprintf("%s/%s/fdinfo/%s", procfs_root(), pid, fd);
	char *text __cleanup(free_ptr) = path ? read_file(path, NULL) : NULL;
	const char *at = text ? strstr(text, "link_id:") : NULL;

	return at ? strtoul(at + strlen("link_id:"), NULL, 10) : 0;
}

static void add_pid(struct shared_entry *entry, pid_t pid)
{
	pid_t *added;

	if (entry->nr_pids && entry->pids[entry->nr_pids - 1] == pid)
		return;
	added = array__add(entry->pids, entry->nr_pids);
	if (added)
		*added = pid;
}

/* A link, and the entry that it is, or follows. */
struct held_link {
	__u32 id;
	struct shared_entry *entry;
};

static void look_at_process(const char *pid, const struct held_link *held, int nr)
{
	char *path __cleanup(free_ptr) = xasprintf("%s/%s/fd", procfs_root(), pid);
	DIR *dir = path ? opendir(path) : NULL;
	struct dirent *fd;

	while (dir && (fd = readdir(dir))) {
		char target[64] = "";
		__u32 id;

		/* Few of thousands of descriptors are worth a look. */
		if (readlinkat(dirfd(dir), fd->d_name, target, sizeof(target) - 1) < 0 ||
		    strncmp(target, "anon_inode:bpf", 14))
			continue;
		id = link_of_fd(pid, fd->d_name);
		for (int i = 0; id && i < nr; i++) {
			if (held[i].id == id)
				add_pid(held[i].entry, atoi(pid));
		}
	}
	if (dir)
		closedir(dir);
}

/* The links by which others use the entries; their number, or -ENOMEM. */
static int find_links(struct snapshot *list, struct held_link **out)
{
	struct held_link *held = NULL;
	__u32 id = 0;
	int nr = 0;

	while (!bpf_link_get_next_id(id, &id)) {
		int fd __cleanup(close_fd) = bpf_link_get_fd_by_id(id);
		struct bpf_link_info info;

		if (fd < 0 || bpf_info__link(fd, &info))
			continue;
		for (int i = 0; i < list->nr_entries; i++) {
			struct shared_entry *entry = &list->entries[i];
			bool is_follower =
				entry->diff_map_id && entry->prog_id && follows(entry, &info);
			struct held_link *link;

			if (!is_follower && (entry->kind != ENTRY_FOREIGN || entry->link_id != id))
				continue;
			entry->nr_followers += is_follower;
			link = array__add(held, nr);
			if (!link) {
				free(held);
				return -ENOMEM;
			}
			*link = (struct held_link){.id = id, .entry = entry};
		}
	}
	*out = held;
	return nr;
}

void snapshot__find_users(struct snapshot *list)
{
	struct held_link *held = NULL;
	int nr = find_links(list, &held);
	DIR *proc = nr > 0 ? opendir(procfs_root()) : NULL;
	struct dirent *entry;

	while (proc && (entry = readdir(proc))) {
		if (isdigit((unsigned char)*entry->d_name))
			look_at_process(entry->d_name, held, nr);
	}
	if (proc)
		closedir(proc);
	free(held);
}

void snapshot__clear(struct snapshot *list)
{
	for (int i = 0; i < list->nr_entries; i++)
		free(list->entries[i].pids);
	for (int i = 0; i < list->nr_progs; i++) {
		free(list->progs[i].name);
		free(list->progs[i].pids);
	}
	free_ptr(&list->entries);
	free_ptr(&list->progs);
	free_ptr(&list->pins);
	free_ptr(&list->registry);
	free_ptr(&list->samples);
	list->nr_entries = 0;
	list->nr_progs = 0;
	list->nr_pins = 0;
}
