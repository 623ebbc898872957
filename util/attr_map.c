// SPDX-License-Identifier: GPL-2.0
#include "attr_map.h"

#include "../bpf_skel/leader.h"
#include "capability.h"
#include "msg.h"
#include "util.h"

#include <assert.h>
#include <bpf/bpf.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <linux/magic.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#define DEFAULT_NAME "perf_attr_map"
#define MAX_ENTRIES 1024
#define PROTOCOL_WAIT_NS (2 * NSEC_PER_SEC)
#define OWN_WAIT_S 60
#define POLL_US 10000

static const char who_may[] =
	" (it, or the way to it, belongs to another user: needs CAP_DAC_OVERRIDE, or another path with --bpf-attr-map)";

/* Our struct may be older than the map's keys (extended with zeros) but never longer than ours. */
static_assert(sizeof(struct perf_event_attr) <= ATTR_KEY_SIZE, "attr fits the key");
static_assert(offsetof(struct perf_event_attr, sig_data) == 120, "where it has been since 5.13");

char *attr_map__path(void)
{
	return xasprintf("%s/%s", bpffs_root(), DEFAULT_NAME);
}

void attr_map__key(const struct perf_event_attr *attr, struct attr_key *key)
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

#ifdef PERF_ATTR_SIZE_VER8
	canon.config3 = attr->config3;
#endif
	memset(key, 0, sizeof(*key));
	memcpy(key->bytes, &canon, sizeof(canon));
}

void attr_map__group_key(const struct attr_key *keys, int nr, int idx, struct attr_key *key)
{
	uint64_t hash = 0xcbf29ce484222325ULL;	/* FNV-1a, 64 bits */

	for (int i = 0; i < nr; i++) {
		for (size_t b = 0; b < sizeof(keys[i].bytes); b++)
			hash = (hash ^ keys[i].bytes[b]) * 0x100000001b3ULL;
	}
	hash = (hash ^ (unsigned int)idx) * 0x100000001b3ULL;
	*key = keys[idx];
	memcpy(key->bytes + offsetof(struct perf_event_attr, sig_data), &hash, sizeof(hash));
}

/*
 * The key as this map wants it: its own size, in the field too; owned by the caller. NULL with errno:
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

int attr_map__set(struct attr_map *map, const struct attr_key *key,
		  const struct attr_map_value *value)
{
	__u8 *fit __cleanup(free_ptr) = fit_key(map, key);

	if (!fit)
		return -errno;
	return bpf_map_update_elem(map->fd, fit, value, BPF_ANY) ? -errno : 0;
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

int attr_map__each(struct attr_map *map,
		   int (*fn)(void *ctx, const struct attr_map_value *value, bool *drop), void *ctx)
{
	__u8 *keys __cleanup(free_ptr) = malloc(2 * map->key_size);
	__u8 *key = keys, *next = keys + map->key_size;
	bool have_key = false;

	if (!keys)
		return -ENOMEM;
	while (!bpf_map_get_next_key(map->fd, have_key ? key : NULL, next)) {
		struct attr_map_value value;
		bool drop = false;
		int err;

		if (bpf_map_lookup_elem(map->fd, next, &value)) {
			if (errno == ENOENT)
				goto step;
			return -errno;
		}
		err = fn(ctx, &value, &drop);
		if (drop) {
			/* The walk goes on from the last key that is still there. */
			if (bpf_map_delete_elem(map->fd, next) && errno != ENOENT)
				return -errno;
			if (err)
				return err;
			continue;
		}
		if (err)
			return err;
step:
		memcpy(key, next, map->key_size);
		have_key = true;
	}
	return errno == ENOENT ? 0 : -errno;
}

static bool is_bpffs(const char *dir)
{
	struct statfs fs;

	return !statfs(dir, &fs) && fs.f_type == BPF_FS_MAGIC;
}

/* The directory of the pin must be on a BPF file system; the usual one is mounted if need be. */
static int prepare_dir(const char *path)
{
	char *copy __cleanup(free_ptr) = strdup(path);
	const char *dir, *root = bpffs_root();
	int err;

	if (!copy)
		return -ENOMEM;
	dir = dirname(copy);
	if (is_bpffs(dir))
		return 0;
	if (strcmp(dir, root)) {
		err = access(dir, F_OK) ? -errno : -ENOENT;
		pr_err("cannot share events through '%s': %s (--bpf-attr-map takes a path on a BPF file system, e.g. %s/NAME)",
		       path, access(dir, F_OK) ? strerror(-err) : "not on a BPF file system", root);
		return err;
	}
	if (!mount("bpf", root, "bpf", MS_NOSUID | MS_NODEV | MS_NOEXEC | MS_RELATIME, "mode=0700"))
		return 0;
	err = -errno;
	pr_err("cannot share events: no BPF file system at %s, and mounting one failed: %s (mount -t bpf bpf %s)",
	       root, strerror(-err), root);
	return -ENOENT;
}

/* A pin that some other user made could lead us to programs and maps of their choice. */
static int check_owner(const struct attr_map *map, const char *path, const struct stat *st)
{
	if (st->st_uid == 0 || st->st_uid == geteuid())
		return 0;
	for (const uid_t *user = map->trusted; user && *user != (uid_t)-1; user++) {
		if (st->st_uid == *user)
			return 0;
	}
	pr_err("cannot share events: %s belongs to user %u, who is not trusted: only root's and one's own are (remove it, name another path with --bpf-attr-map, or trust the user: bperf.trusted-owners in /etc/perfconfig)",
	       path, st->st_uid);
	return -EPERM;
}

/* The process that holds the lock of an inode; 0: not known. */
static int find_holder(const struct stat *st)
{
	char *locks __cleanup(free_ptr) = NULL;
	char *file __cleanup(free_ptr) = xasprintf("%s/locks", procfs_root());
	char *line, *save = NULL;
	char id[64];
	int pid = 0;

	snprintf(id, sizeof(id), ":%lu ", (unsigned long)st->st_ino);
	locks = file ? read_file(file, NULL) : NULL;
	for (line = locks ? strtok_r(locks, "\n", &save) : NULL; line;
	     line = strtok_r(NULL, "\n", &save)) {
		if (strstr(line, "FLOCK") && strstr(line, id) && !strstr(line, "->") &&
		    sscanf(line, "%*[^:]: FLOCK %*s %*s %d", &pid) == 1)
			break;
	}
	return pid > 0 ? pid : 0;
}

static void say_holder(int pid, const char *how, const char *what)
{
	if (pid)
		pr_warn("%s%s is held by process %d", how, what, pid);
	else
		pr_warn("%s%s is held by another process", how, what);
}

static void on_alarm(int sig)
{
	(void)sig;
}

static sigset_t set_of(int a, int b)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, a);
	sigaddset(&set, b);
	return set;
}

/* Somebody wants us to end. The signals are blocked here, whoever calls. */
static bool is_interrupted(void)
{
	sigset_t pending;

	return !sigpending(&pending) &&
	       (sigismember(&pending, SIGINT) == 1 || sigismember(&pending, SIGTERM) == 1);
}

/*
 * Whoever waits is woken, so the lock is not polled for, but for signals, each second. Who holds it
 * for a minute is stuck: a run that begins ends, one that ends leaves what it counted to the next.
 */
static int wait_in_line(int fd, const struct stat *st, const char *dir)
{
	int holder = find_holder(st), now_holds, err;
	uint64_t begin_ns = clock_ns();

	say_holder(holder, "waiting: ", dir);
	for (;;) {
		alarm(1);
		err = flock(fd, LOCK_EX) ? -errno : 0;
		alarm(0);
		if (err != -EINTR || is_interrupted())
			return err;
		now_holds = find_holder(st);
		if (now_holds != holder) {
			holder = now_holds;
			begin_ns = clock_ns();
		} else if (clock_ns() - begin_ns >= OWN_WAIT_S * NSEC_PER_SEC) {
			say_holder(holder, "cannot share events: waited for a minute: ", dir);
			return -ETIMEDOUT;
		}
	}
}

static void sleep_poll(void)
{
	usleep(POLL_US);
}

/* With a word after a second; -EINTR when somebody wants us to end. */
static int wait_for_own(int fd, const struct stat *st, const char *dir)
{
	const struct sigaction action = { .sa_handler = on_alarm };
	const sigset_t ends = set_of(SIGINT, SIGTERM), alarms = set_of(SIGALRM, SIGALRM);
	uint64_t said_ns = clock_ns() + NSEC_PER_SEC;
	struct sigaction old;
	sigset_t blocked;
	int err;

	sigprocmask(SIG_BLOCK, &ends, &blocked);
	sigprocmask(SIG_UNBLOCK, &alarms, NULL);
	sigaction(SIGALRM, &action, &old);
	while ((err = flock(fd, LOCK_EX | LOCK_NB) ? -errno : 0) == -EWOULDBLOCK) {
		if (is_interrupted()) {
			err = -EINTR;
			break;
		}
		if (clock_ns() > said_ns) {
			err = wait_in_line(fd, st, dir);
			break;
		}
		sleep_poll();
	}
	sigaction(SIGALRM, &old, NULL);
	sigprocmask(SIG_SETMASK, &blocked, NULL);
	return err;
}

/* Ours */
static int take_own_lock(struct attr_map *map)
{
	char *dir __cleanup(free_ptr) = xasprintf("%s_lock", map->path);
	int fd __cleanup(close_fd) = -1;
	struct stat st;
	int err;

	if (!dir)
		return -ENOMEM;
	if (mkdir(dir, 0700) && errno != EEXIST) {
		err = -errno;
		pr_err("cannot share events: cannot make %s: %s%s", dir, strerror(-err),
		       err == -EACCES || err == -EPERM ? who_may : "");
		return err;
	}
	fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st)) {
		err = -errno;
		pr_err("cannot share events: cannot open %s: %s%s", dir, strerror(-err),
		       err == -EACCES || err == -EPERM ? who_may : "");
		return err;
	}
	err = check_owner(map, dir, &st);
	if (!err)
		err = wait_for_own(fd, &st, dir);
	if (err)
		return err;
	map->lock_fd = fd;
	fd = -1;
	/* Under the lock things are found by their ids, which counting does not need. */
	capability__raise();
	return 0;
}

/* The protocol's lock can be held by anybody's descriptor of any anonymous inode: never for good. */
static void take_map_lock(struct attr_map *map)
{
	uint64_t end_ns = clock_ns() + PROTOCOL_WAIT_NS;
	struct stat st;

	while (flock(map->fd, LOCK_EX | LOCK_NB)) {
		if (errno != EWOULDBLOCK && errno != EINTR)
			return;
		if (clock_ns() > end_ns) {
			if (msg__verbose() && !fstat(map->fd, &st))
				say_holder(find_holder(&st), "going on without ",
					   "the lock of the attr map, which");
			return;
		}
		sleep_poll();
	}
	map->has_map_lock = true;
}

/* What an open map must be to serve; fills in what depends on it. */
static int check_map(struct attr_map *map)
{
	struct bpf_map_info info = {};
	__u32 len = sizeof(info);
	struct stat st;
	int err;

	if (stat(map->path, &st)) {
		err = -errno;
		pr_err("cannot share events: %s: %s", map->path, strerror(-err));
		return err;
	}
	err = check_owner(map, map->path, &st);
	if (err)
		return err;
	if (bpf_obj_get_info_by_fd(map->fd, &info, &len)) {
		/* A pinned program or link opens just as well, and answers with other data. */
		err = -errno;
		pr_err("cannot share events: %s is no map (%s)", map->path, strerror(-err));
		return -EPROTO;
	}
	if (info.type != BPF_MAP_TYPE_HASH || info.value_size != sizeof(struct attr_map_value) ||
	    info.key_size < PERF_ATTR_SIZE_VER0 || info.key_size > 4096) {
		pr_err("cannot share events: %s is no attr map: type %u, key %u, value %u bytes (remove it, or name another path with --bpf-attr-map)",
		       map->path, info.type, info.key_size, info.value_size);
		return -EPROTO;
	}
	map->id = info.id;
	map->key_size = info.key_size;
	return 0;
}

static int say_open_failed(const struct attr_map *map, int err)
{
	const char *name = strrchr(map->path, '/');

	pr_err("cannot share events: cannot open the attr map %s: %s%s", map->path, strerror(-err),
	       err == -EPERM && strchr(name ? name : map->path, '.') ?
				" (the BPF file system takes no name with a dot in it)" :
	       err == -EPERM  ? " (needs CAP_BPF and CAP_SYS_ADMIN: run as root)" :
	       err == -EACCES ? who_may : "");
	return err;
}

/* Before the lock is made: what will be refused anyhow is refused without leaving anything. */
static int check_existing(struct attr_map *map)
{
	struct stat st;
	int err;

	if (!stat(map->path, &st) && S_ISDIR(st.st_mode)) {
		pr_err("cannot share events: %s is a directory, no attr map", map->path);
		return -EPROTO;
	}
	map->fd = bpf_obj_get(map->path);
	if (map->fd < 0)
		return errno == ENOENT ? 0 : say_open_failed(map, -errno);
	err = check_map(map);
	close_fd(&map->fd);
	return err;
}

static int open_map(struct attr_map *map)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts);
	int err;

	map->fd = bpf_obj_get(map->path);
	if (map->fd < 0 && errno == ENOENT) {
		map->fd = bpf_map_create(BPF_MAP_TYPE_HASH, "perf_attr_map", ATTR_KEY_SIZE,
					 sizeof(struct attr_map_value), MAX_ENTRIES, &opts);
		if (map->fd >= 0 && bpf_obj_pin(map->fd, map->path)) {
			err = -errno;
			close_fd(&map->fd);
			/* Another implementation does not take our lock and may have been first. */
			if (err == -EEXIST)
				map->fd = bpf_obj_get(map->path);
			errno = -err;
		}
	}
	return map->fd < 0 ? say_open_failed(map, -errno) : check_map(map);
}

int attr_map__relock_own(struct attr_map *map)
{
	int err;

	capability__raise_files();
	err = take_own_lock(map);
	capability__lower_files();
	return err;
}

int attr_map__relock(struct attr_map *map)
{
	int err = attr_map__relock_own(map);

	if (!err)
		take_map_lock(map);
	return err;
}

void attr_map__unlock(struct attr_map *map)
{
	/* Not just closed: a descriptor inherited by a held workload would keep the lock. */
	if (map->has_map_lock)
		flock(map->fd, LOCK_UN);
	map->has_map_lock = false;
	if (map->lock_fd < 0)
		return;
	flock(map->lock_fd, LOCK_UN);
	close_fd(&map->lock_fd);
	capability__lower();
}

int attr_map__lock(const char *path, const uid_t *trusted, struct attr_map **out)
{
	struct attr_map *map;
	int err;

	map = calloc(1, sizeof(*map));
	if (!map)
		return -ENOMEM;
	map->fd = -1;
	map->lock_fd = -1;
	map->trusted = trusted;
	map->path = strdup(path);
	err = map->path ? prepare_dir(path) : -ENOMEM;
	/* Map and lock can belong to another user. */
	capability__raise_files();
	if (!err)
		err = check_existing(map);
	if (!err)
		err = take_own_lock(map);
	if (!err)
		err = open_map(map);
	capability__lower_files();
	if (err) {
		attr_map__delete(map);
		return err;
	}
	take_map_lock(map);
	*out = map;
	return 0;
}

void attr_map__delete(struct attr_map *map)
{
	if (!map)
		return;
	attr_map__unlock(map);
	close_fd(&map->fd);
	free(map->path);
	free(map);
}
