// SPDX-License-Identifier: GPL-2.0
#include "shared_list.h"

#include "attr_map.h"
#include "bpf_target.h"
#include "leader.h"
#include "prog_pair.h"
#include "util.h"

#include <bpf/bpf.h>
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/mman.h>

#define SAMPLE_MS 100
#define MAX_MAPS 64

/* --- entries --- */

/* The ids of a program's maps; their number, or -errno. */
static int prog_maps(__u32 prog_id, char name[BPF_OBJ_NAME_LEN], __u32 ids[MAX_MAPS])
{
	int fd __cleanup(close_fd) = bpf_prog_get_fd_by_id(prog_id);
	struct bpf_prog_info info = { .map_ids = (uintptr_t)ids, .nr_map_ids = MAX_MAPS };
	__u32 len = sizeof(info);

	if (fd < 0 || bpf_obj_get_info_by_fd(fd, &info, &len))
		return -errno;
	memcpy(name, info.name, BPF_OBJ_NAME_LEN);
	return info.nr_map_ids < MAX_MAPS ? info.nr_map_ids : MAX_MAPS;
}

static bool is_own_registry(__u32 map_id, const struct attr_map *attr_map)
{
	int fd __cleanup(close_fd) = bpf_map_get_fd_by_id(map_id);
	struct bpf_map_info info = {};
	__u32 len = sizeof(info);
	struct registry *reg;
	bool is_own;

	if (fd < 0 || bpf_obj_get_info_by_fd(fd, &info, &len) || strcmp(info.name, "registry") ||
	    info.type != BPF_MAP_TYPE_ARRAY || info.value_size != sizeof(*reg))
		return false;
	reg = leader__map_memory(fd, leader__page_up(sizeof(*reg)), PROT_READ);
	if (!reg)
		return false;
	is_own = reg->layout == LEADER_LAYOUT && reg->attr_map_id == attr_map->id;
	munmap(reg, leader__page_up(sizeof(*reg)));
	return is_own;
}

/* A leader is a raw tracepoint's program on_switch; of any other kind it has the diff map. */
static void classify(struct shared_entry *entry, const struct attr_map *attr_map)
{
	int fd __cleanup(close_fd) = bpf_link_get_fd_by_id(entry->link_id);
	struct bpf_link_info info = {};
	char name[BPF_OBJ_NAME_LEN];
	__u32 len = sizeof(info), ids[MAX_MAPS];
	bool has_diff = false;
	int nr;

	entry->kind = ENTRY_DEAD;
	if (fd < 0) {
		/* Only what the kernel says is gone is dead. */
		if (errno != ENOENT)
			entry->kind = ENTRY_FOREIGN;
		return;
	}
	if (bpf_obj_get_info_by_fd(fd, &info, &len) || info.type != BPF_LINK_TYPE_RAW_TRACEPOINT)
		return;
	nr = prog_maps(info.prog_id, name, ids);
	if (nr < 0 || strcmp(name, "on_switch"))
		return;
	for (int i = 0; i < nr; i++) {
		if (is_own_registry(ids[i], attr_map)) {
			entry->kind = ENTRY_OWN;
			entry->prog_id = info.prog_id;
			return;
		}
		has_diff |= ids[i] == entry->diff_map_id;
	}
	if (has_diff) {
		entry->kind = ENTRY_FOREIGN;
		entry->prog_id = info.prog_id;
	}
}

int shared_list__entries(struct shared_list *list, struct attr_map *attr_map)
{
	__u8 *key __cleanup(free_ptr) = calloc(2, attr_map->key_size);
	const __u32 own_size = ATTR_KEY_SIZE;
	__u8 *prev = NULL;
	size_t copy = attr_map->key_size < ATTR_KEY_SIZE ? attr_map->key_size : ATTR_KEY_SIZE;

	if (!key)
		return -ENOMEM;
	while (!bpf_map_get_next_key(attr_map->fd, prev, key)) {
		struct attr_map_value value;
		struct shared_entry *grown, *entry;

		prev = key + attr_map->key_size;
		memcpy(prev, key, attr_map->key_size);
		if (bpf_map_lookup_elem(attr_map->fd, key, &value))
			continue;
		grown = realloc(list->entries, (list->nr_entries + 1) * sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		list->entries = grown;
		entry = &grown[list->nr_entries++];
		memset(entry, 0, sizeof(*entry));
		memcpy(entry->key.bytes, key, copy);
		memcpy(entry->key.bytes + offsetof(struct perf_event_attr, size), &own_size,
		       sizeof(own_size));
		entry->link_id = value.link_id;
		entry->diff_map_id = value.diff_map_id;
		classify(entry, attr_map);
	}
	return errno == ENOENT ? 0 : -errno;
}

const struct shared_entry *shared_list__entry(const struct shared_list *list, int slot)
{
	const struct reg_event *event = &list->registry->event[slot];
	const struct reg_event *first = &list->registry->event[event->leader % MAX_EVENTS];
	struct attr_key key = event->key;

	if (first->nr_members > 1) {
		struct attr_key keys[MAX_EVENTS];

		for (__u32 i = 0; i < first->nr_members && i < MAX_EVENTS; i++)
			keys[i] = first[i].key;
		attr_map__group_key(keys, first->nr_members, event - first, &key);
	}
	for (int i = 0; i < list->nr_entries; i++) {
		if (!memcmp(&list->entries[i].key, &key, sizeof(key)))
			return &list->entries[i];
	}
	return NULL;
}

/* --- our leader --- */

static void add_prog(struct shared_prog *prog, const struct registry *reg, const struct reg_pair *pair)
{
	struct bpf_target target;
	char type[16];

	prog->id = pair->prog_id;
	for (int slot = 0; slot < MAX_EVENTS; slot++)
		prog->nr_events += prog_plan__is_wanted(reg, pair, slot);
	for (int run = 0; run < MAX_RUNS; run++) {
		if (pair->users[run / 64] >> run % 64 & 1)
			prog->pids[prog->nr_pids++] = reg->run[run].pid;
	}
	if (bpf_target__by_id(prog->id, &target))
		return;
	prog->name = strdup(target.name);
	snprintf(prog->type, sizeof(prog->type), "%s", bpf_target__type_name(&target, type));
	bpf_target__clear(&target);
}

static int copy_progs(struct shared_list *list)
{
	const struct registry *reg = list->registry;

	for (int i = 0; i < MAX_PAIRS; i++) {
		struct shared_prog *grown;

		if (!reg->pair[i].prog_id)
			continue;
		grown = realloc(list->progs, (list->nr_progs + 1) * sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		list->progs = grown;
		grown += list->nr_progs++;
		*grown = (struct shared_prog){ .pids = calloc(MAX_RUNS, sizeof(pid_t)) };
		if (!grown->pids)
			return -ENOMEM;
		add_prog(grown, reg, &reg->pair[i]);
	}
	return 0;
}

int shared_list__copy(struct shared_list *list, const struct leader *leader)
{
	list->registry = malloc(sizeof(*list->registry));
	if (!list->registry)
		return -ENOMEM;
	*list->registry = *leader->registry;
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

static int read_cpu(const struct leader *leader, int cpu, const uint64_t mask[MASK_WORDS],
		    struct event_reading *out)
{
	static const int size = MAX_EVENTS;
	int slots[MAX_EVENTS], err;

	err = leader__sync(leader, cpu, mask, false);
	if (err)
		return err;
	for (int slot = 0; slot < size; slot++)
		slots[slot] = slot;
	leader__readings(leader, cpu, slots, size, out);
	return 0;
}

int shared_list__sample(struct shared_list *list, const struct leader *leader)
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
	char name[BPF_OBJ_NAME_LEN];
	__u32 ids[MAX_MAPS];
	int nr;

	if (info->type != BPF_LINK_TYPE_TRACING || info->tracing.target_obj_id != entry->prog_id)
		return false;
	nr = prog_maps(info->prog_id, name, ids);
	for (int i = 0; i < nr; i++) {
		if (ids[i] == entry->diff_map_id)
			return true;
	}
	return false;
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
	pid_t *grown;

	if (entry->nr_pids && entry->pids[entry->nr_pids - 1] == pid)
		return;
	grown = realloc(entry->pids, (entry->nr_pids + 1) * sizeof(*grown));
	if (!grown)
		return;
	entry->pids = grown;
	entry->pids[entry->nr_pids++] = pid;
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

		/* Of thousands of descriptors few are worth a look. */
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
static int find_links(struct shared_list *list, struct held_link **out)
{
	struct held_link *held = NULL;
	__u32 id = 0;
	int nr = 0;

	while (!bpf_link_get_next_id(id, &id)) {
		int fd __cleanup(close_fd) = bpf_link_get_fd_by_id(id);
		struct bpf_link_info info = {};
		__u32 len = sizeof(info);

		if (fd < 0 || bpf_obj_get_info_by_fd(fd, &info, &len))
			continue;
		for (int i = 0; i < list->nr_entries; i++) {
			struct shared_entry *entry = &list->entries[i];
			bool is_follower = entry->diff_map_id && entry->prog_id && follows(entry, &info);
			struct held_link *grown;

			if (!is_follower && (entry->kind != ENTRY_FOREIGN || entry->link_id != id))
				continue;
			entry->nr_followers += is_follower;
			grown = realloc(held, (nr + 1) * sizeof(*grown));
			if (!grown) {
				free(held);
				return -ENOMEM;
			}
			held = grown;
			held[nr++] = (struct held_link){ .id = id, .entry = entry };
		}
	}
	*out = held;
	return nr;
}

void shared_list__find_users(struct shared_list *list)
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

void shared_list__clear(struct shared_list *list)
{
	for (int i = 0; i < list->nr_entries; i++)
		free(list->entries[i].pids);
	for (int i = 0; i < list->nr_progs; i++) {
		free(list->progs[i].name);
		free(list->progs[i].pids);
	}
	free_ptr(&list->entries);
	free_ptr(&list->progs);
	free_ptr(&list->registry);
	free_ptr(&list->samples);
	list->nr_entries = 0;
	list->nr_progs = 0;
}
