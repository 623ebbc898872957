// SPDX-License-Identifier: GPL-2.0
#include "util/bperf/attr_map.h"

#include "bpf_skel/leader.h"
#include "util/bperf/attr_pin.h"
#include "util/bperf/crash_point.h"
#include "util/host/bpf_info.h"
#include "util/host/capability.h"
#include "util/lib/msg.h"
#include "util/lib/util.h"

#include <assert.h>
#include <bpf/bpf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define DEFAULT_NAME "perf_attr_map"
#define MAX_ENTRIES  1024
#define LOCK_TRIES   16
#define TASK_LOCK    "tasks"

/* Our struct may be older than the map's keys (extended with zeros) but never longer than ours. */
static_assert(sizeof(struct perf_event_attr) <= ATTR_KEY_SIZE, "attr fits the key");
static_assert(offsetof(struct perf_event_attr, sig_data) == 120, "where it has been since 5.13");

char *attr_map__path(void)
{
	return xasprintf("%s/%s", bpffs_root(), DEFAULT_NAME);
}

void attr_map__key(const struct perf_event_attr *attr, const uint64_t more_config[NR_MORE_CONFIG],
		   struct attr_key *key)
{
	struct perf_event_attr canon = {
		.type = attr->type,
		.size = ATTR_KEY_SIZE,
		.config = attr->config,
		.exclude_user = attr->exclude_user,
		.exclude_kernel = attr->exclude_kernel,
		.exclude_hv = attr->exclude_hv,
		.exclude_idle = attr->exclude_idle,
		.exclude_host = attr->exclude_host,
		.exclude_guest = attr->exclude_guest,
		.precise_ip = attr->precise_ip,
		.pinned = attr->pinned,
		.exclusive = attr->exclusive,
		.bp_type = attr->bp_type,
		.config1 = attr->config1,
		.config2 = attr->config2,
	};

	memset(key, 0, sizeof(*key));
	memcpy(key->bytes, &canon, sizeof(canon));
	memcpy(key->bytes + MORE_CONFIG_OFFSET, more_config, NR_MORE_CONFIG * sizeof(*more_config));
}

void attr_map__attr(const struct attr_key *key, union wide_attr *wide)
{
	uint64_t more_config[NR_MORE_CONFIG];
	struct attr_key canonical;

	static_assert(sizeof(*wide) == sizeof(key->bytes), "a key has all config words");
	memcpy(wide->bytes, key->bytes, sizeof(wide->bytes));
	memcpy(more_config, wide->bytes + MORE_CONFIG_OFFSET, sizeof(more_config));
	attr_map__key(&wide->attr, more_config, &canonical);
	memcpy(wide->bytes, canonical.bytes, sizeof(wide->bytes));
	wide_attr__set_size(wide);
}

void attr_map__group_key(const struct attr_key *keys, int nr, int idx, struct attr_key *key)
{
	uint64_t hash = 0xcbf29ce484222325ULL; /* FNV-1a, 64 bits */

	for (int i = 0; i < nr; i++) {
		for (size_t b = 0; b < sizeof(keys[i].bytes); b++)
			hash = (hash ^ keys[i].bytes[b]) * 0x100000001b3ULL;
	}
	hash = (hash ^ (unsigned int)idx) * 0x100000001b3ULL;
	*key = keys[idx];
	memcpy(key->bytes + offsetof(struct perf_event_attr, sig_data), &hash, sizeof(hash));
}

/*
 * The key as this map wants it: its own size, also in the field; owned by the caller. NULL with errno:
 * ENOMEM; E2BIG if something is cut off.
 */
static __u8 *fit_key(const struct attr_map *map, const struct attr_key *key)
{
	uint32_t copy = map->key_size < ATTR_KEY_SIZE ? map->key_size : ATTR_KEY_SIZE;
	__u8 *fit;

	for (uint32_t i = copy; i < ATTR_KEY_SIZE; i++) {
		if (key->bytes[i]) {
			errno = E2BIG;
			return NULL;
		}
	}
	fit = calloc(1, map->key_size);
	if (!fit)
		return NULL;
	memcpy(fit, key->bytes, copy);
	memcpy(fit + offsetof(struct perf_event_attr, size), &map->key_size, sizeof(__u32));
	return fit;
}

int attr_map__get(const struct attr_map *map, const struct attr_key *key,
		  struct attr_map_value *value)
{
	__u8 *fit __cleanup(free_ptr) = fit_key(map, key);

	if (!fit)
		return errno == E2BIG ? -ENOENT : -errno;
	return bpf_map_lookup_elem(map->fd, fit, value) ? -errno : 0;
}

static int update(struct attr_map *map, const struct attr_key *key,
		  const struct attr_map_value *value, __u64 flags)
{
	__u8 *fit __cleanup(free_ptr) = fit_key(map, key);

	if (!fit)
		return -errno;
	return bpf_map_update_elem(map->fd, fit, value, flags) ? -errno : 0;
}

int attr_map__add(struct attr_map *map, const struct attr_key *key,
		  const struct attr_map_value *value)
{
	return update(map, key, value, BPF_NOEXIST);
}

int attr_map__replace(struct attr_map *map, const struct attr_key *key,
		      const struct attr_map_value *value)
{
	return update(map, key, value, BPF_EXIST);
}

int attr_map__remove(struct attr_map *map, const struct attr_key *key)
{
	__u8 *fit __cleanup(free_ptr) = fit_key(map, key);

	if (!fit)
		return -errno;
	if (bpf_map_delete_elem(map->fd, fit) && errno != ENOENT)
		return -errno;
	return 0;
}

bool attr_map__is_entry(const struct attr_map *map, const __u8 *key)
{
	__u32 size;

	memcpy(&size, key + offsetof(struct perf_event_attr, size), sizeof(size));
	return size == map->key_size;
}

/* --- locks --- */

void attr_map__expect(struct attr_map *map, const char *otherwise)
{
	map->wait = (struct lock_wait){
		.left_ns = crash_point__setting(CRASH_LOCK_MS, ATTR_MAP_WAIT_MS) * NSEC_PER_MSEC,
		.otherwise = otherwise,
	};
}

void attr_map__never_wait(struct attr_map *map)
{
	map->wait = (struct lock_wait){};
}

uint64_t attr_map__left_ns(const struct attr_map *map)
{
	return map->wait.left_ns;
}

void attr_map__spend(struct attr_map *map, uint64_t begin_ns)
{
	uint64_t spent_ns = clock_ns() - begin_ns;

	map->wait.left_ns -= spent_ns < map->wait.left_ns ? spent_ns : map->wait.left_ns;
}

bool attr_map__pause(struct attr_map *map, uint32_t us)
{
	uint64_t begin_ns = clock_ns();

	if (!map->wait.left_ns)
		return false;
	usleep(us);
	attr_map__spend(map, begin_ns);
	return true;
}

static int take(struct attr_map *map, struct attr_lock *lock, const char *below,
		struct lock_wait *wait)
{
	char *dir __cleanup(free_ptr) = xasprintf("%s_lock%s", map->path, below);
	int err = dir ? attr_lock__take(lock, dir, wait) : -ENOMEM;

	/* Under a lock things are found by their ids, which counting does not need. */
	if (!err)
		capability__raise();
	return err;
}

static void give_back(struct attr_lock *lock)
{
	if (!lock->is_held)
		return;
	attr_lock__release(lock);
	capability__lower();
}

int attr_map__relock(struct attr_map *map)
{
	return take(map, &map->lock, "", &map->wait);
}

int attr_map__try_relock(struct attr_map *map)
{
	return take(map, &map->lock, "", NULL);
}

int attr_map__take(struct attr_map *map, bool waits)
{
	return waits ? attr_map__relock(map) : attr_map__try_relock(map);
}

void attr_map__unlock(struct attr_map *map)
{
	if (map->has_protocol_lock)
		flock(map->fd, LOCK_UN);
	map->lacks_protocol = map->has_tried_protocol && !map->has_protocol_lock;
	map->has_protocol_lock = map->has_tried_protocol = false;
	give_back(&map->lock);
}

int attr_map__lock_tasks(struct attr_map *map)
{
	return take(map, &map->task_lock, "/" TASK_LOCK, &map->wait);
}

int attr_map__try_lock_tasks(struct attr_map *map)
{
	return take(map, &map->task_lock, "/" TASK_LOCK, NULL);
}

void attr_map__unlock_tasks(struct attr_map *map)
{
	give_back(&map->task_lock);
}

bool attr_map__try_protocol(struct attr_map *map)
{
	/* Once while our lock is held: others wait for that. */
	if (!map->has_tried_protocol)
		map->has_protocol_lock = attr_lock__try_protocol(map->fd);
	map->has_tried_protocol = true;
	return map->has_protocol_lock;
}

void attr_map__warn_protocol(const struct attr_map *map)
{
	if (map->lacks_protocol)
		attr_lock__warn_protocol(map->fd, map->path);
}

static int open_lock(struct attr_map *map)
{
	char *dir __cleanup(free_ptr) = xasprintf("%s_lock", map->path);

	if (!dir)
		return -ENOMEM;
	close_fd(&map->lock.fd);
	map->lock.fd = attr_pin__open_dir(map->parent_fd, dir, map->trusted, &map->lock_stat);
	if (map->lock.fd < 0)
		return map->lock.fd;
	/* The leader is looked for before this lock is taken. */
	(void)fstatat(map->lock.fd, TASK_LOCK, &map->task_lock_stat, AT_SYMLINK_NOFOLLOW);
	return 0;
}

/*
 * The lock of tasks is a directory in the other one. Both can belong to another user. It stays open: a session
 * shares only with those that have the same one (struct registry), also if it is removed.
 */
static int open_task_lock(struct attr_map *map)
{
	char *dir __cleanup(free_ptr) = xasprintf("%s_lock/" TASK_LOCK, map->path);

	if (!dir)
		return -ENOMEM;
	close_fd(&map->task_lock.fd);
	map->task_lock.fd =
		attr_pin__open_dir(map->lock.fd, dir, map->trusted, &map->task_lock_stat);
	if (map->task_lock.fd < 0)
		return map->task_lock.fd;
	/* Not empty, it is left alone by rmdir and by scripts that remove empty directories. */
	if (symlinkat(TASK_LOCK, map->task_lock.fd, "in_use") && errno != EEXIST)
		pr_verbose("%s/in_use: %s", dir, strerror(errno));
	return 0;
}

/*
 * The directory can be removed before this process has its lock; then whoever comes next makes
 * another one, and both would hold a lock. So the path must still lead to the locked directory.
 */
static int take_first(struct attr_map *map)
{
	char *dir __cleanup(free_ptr) = xasprintf("%s_lock", map->path);
	int err = dir ? 0 : -ENOMEM;

	for (int i = 0; i < LOCK_TRIES && !err; i++) {
		err = attr_map__relock(map);
		if (err || attr_pin__is_at(map->parent_fd, dir, &map->lock_stat))
			return err;
		attr_map__unlock(map);
		err = open_lock(map);
	}
	if (!err)
		pr_err("cannot share events: %s was removed %d times while perf waited for its lock",
		       dir, LOCK_TRIES);
	return err ? err : -EAGAIN;
}

/* --- the map --- */

/*
 * Each entry's key has its size in the field `size`. A map with entries, none of which has, belongs
 * to another program. Return: 0, -EPROTO, other -errno.
 */
static int check_entries(const struct attr_map *map)
{
	__u8 *key __cleanup(free_ptr) = malloc(map->key_size);
	bool has_key = false;

	if (!key)
		return -ENOMEM;
	for (int i = 0; i < MAX_ENTRIES; i++) {
		if (bpf_map_get_next_key(map->fd, has_key ? key : NULL, key))
			return errno != ENOENT ? -errno : has_key ? -EPROTO : 0;
		has_key = true;
		if (attr_map__is_entry(map, key))
			return 0;
	}
	return -EPROTO;
}

/* Judge an open map, and fill in its id and key size. */
static int check_map(struct attr_map *map)
{
	struct bpf_map_info info;
	int err;

	if (bpf_info__map(map->fd, &info)) {
		/* A pinned program or link opens just as well, and answers with other data. */
		err = -errno;
		pr_err("cannot share events: %s is not a map (%s)", map->path, strerror(-err));
		return -EPROTO;
	}
	if (info.type != BPF_MAP_TYPE_HASH || info.value_size != sizeof(struct attr_map_value) ||
	    info.key_size < PERF_ATTR_SIZE_VER0 || info.key_size > 4096) {
		pr_err("cannot share events: %s is not an attr map: type %u, key %u, value %u bytes (remove it, or name another path with --bpf-attr-map)",
		       map->path, info.type, info.key_size, info.value_size);
		return -EPROTO;
	}
	map->id = info.id;
	map->key_size = info.key_size;
	map->max_entries = info.max_entries;
	err = check_entries(map);
	if (err == -EPROTO)
		pr_err("cannot share events: %s is not an attr map: its keys are not events (name another path with --bpf-attr-map)",
		       map->path);
	else if (err)
		pr_err("cannot share events: cannot read %s: %s", map->path, strerror(-err));
	return err;
}

/* Return: 0, also when there is no map; -errno after a message. */
static int open_existing(struct attr_map *map)
{
	int err;

	map->fd = attr_pin__get(map->parent_fd, map->path, map->trusted, &map->stat);
	if (map->fd < 0)
		return map->fd == -ENOENT ? 0 : map->fd;
	err = check_map(map);
	if (err)
		close_fd(&map->fd);
	return err;
}

static int make_map(struct attr_map *map)
{
	int fd __cleanup(close_fd) =
		bpf_map_create(BPF_MAP_TYPE_HASH, "perf_attr_map", ATTR_KEY_SIZE,
			       sizeof(struct attr_map_value), MAX_ENTRIES, NULL);
	int err = fd < 0 ? -errno : attr_pin__pin(map->parent_fd, map->path, fd);

	/* Another implementation does not take our lock and may have been first. */
	return err == -EEXIST || !err ? 0 : attr_pin__report_open(map->path, err);
}

/* The map that was opened before can have been removed while this process waited for the lock. */
static int open_map(struct attr_map *map)
{
	int err = 0;

	if (map->fd >= 0 && attr_pin__is_at(map->parent_fd, map->path, &map->stat))
		return 0;
	close_fd(&map->fd);
	err = open_existing(map);
	if (err || map->fd >= 0)
		return err;
	err = make_map(map);
	if (!err)
		err = open_existing(map);
	return err || map->fd >= 0 ? err : attr_pin__report_open(map->path, -ENOENT);
}

static int open_all(struct attr_map *map)
{
	int err;

	map->parent_fd = attr_pin__open_parent(map->path);
	if (map->parent_fd < 0)
		return map->parent_fd;
	/* Map and lock can belong to another user. */
	capability__raise_files();
	/* Before the lock is made: a refusal leaves nothing behind. */
	err = open_existing(map);
	if (!err)
		err = open_lock(map);
	capability__lower_files();
	return err;
}

int attr_map__open(const char *path, const uid_t *trusted, const char *otherwise,
		   struct attr_map **out)
{
	struct attr_map *map;
	int err;

	map = calloc(1, sizeof(*map));
	if (!map)
		return -ENOMEM;
	map->fd = map->parent_fd = map->lock.fd = map->task_lock.fd = -1;
	map->trusted = trusted;
	map->path = strdup(path);
	attr_map__expect(map, otherwise);
	err = map->path ? open_all(map) : -ENOMEM;
	if (err) {
		attr_map__delete(map);
		return err;
	}
	*out = map;
	return 0;
}

int attr_map__lock(struct attr_map *map)
{
	int err;

	capability__raise_files();
	err = take_first(map);
	if (!err)
		err = open_task_lock(map);
	if (!err)
		err = open_map(map);
	capability__lower_files();
	return err;
}

void attr_map__delete(struct attr_map *map)
{
	if (!map)
		return;
	attr_map__unlock(map);
	attr_map__unlock_tasks(map);
	close_fd(&map->task_lock.fd);
	close_fd(&map->lock.fd);
	close_fd(&map->parent_fd);
	close_fd(&map->fd);
	free(map->path);
	free(map);
}
