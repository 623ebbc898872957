// SPDX-License-Identifier: GPL-2.0
#include "util/bperf/foreign_pins.h"

#include "util/bperf/attr_map.h"
#include "util/bperf/attr_pin.h"
#include "util/bperf/crash_point.h"
#include "util/bperf/diff_maps.h"
#include "util/bperf/foreign_followers.h"
#include "util/bperf/identify.h"
#include "util/bperf/leader.h"
#include "util/bperf/leader_internal.h"
#include "util/bperf/leader_links.h"
#include "util/bperf/leader_parts.h"
#include "util/bperf/leader_progs.h"
#include "util/host/bpf_info.h"
#include "util/host/capability.h"
#include "util/host/prog_maps.h"
#include "util/lib/array.h"
#include "util/lib/msg.h"
#include "util/lib/util.h"

#include <bpf/bpf.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PREFIX	      "switch_"
#define NAME_MAX_PART 48

/* Looks for the lock at the end of a session, the first after so long, each other after twice the time: 25 ms. */
#define LOCK_TRIES   8
#define LOCK_WAIT_US 100

void foreign_pins__name(__u32 link_id, char name[LEADER_PIN_NAME])
{
	snprintf(name, LEADER_PIN_NAME, PREFIX "%u", link_id);
}

/* --- names in the lock directory --- */

/* The number in a pin's name; 0: it is none. */
static __u32 link_of_name(const char *name)
{
	unsigned long id;
	char *end;

	if (strncmp(name, PREFIX, strlen(PREFIX)))
		return 0;
	id = strtoul(name + strlen(PREFIX), &end, 10);
	return id <= UINT32_MAX && (!*end || *end == '_') ? id : 0;
}

static DIR *open_dir(const struct attr_map *map)
{
	int fd = openat(map->lock.fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);

	if (!dir)
		close_fd(&fd);
	return dir;
}

static int add_id(__u32 **ids, int nr, __u32 id)
{
	__u32 *added;

	for (int i = 0; i < nr; i++) {
		if ((*ids)[i] == id)
			return nr;
	}
	added = array__add(*ids, nr);
	if (!added)
		return -ENOMEM;
	*added = id;
	return nr;
}

/* The numbers of all pins, each once. Return: how many, or -errno. */
static int read_ids(const struct attr_map *map, __u32 **ids)
{
	DIR *dir = open_dir(map);
	struct dirent *entry;
	int nr = 0;

	*ids = NULL;
	if (!dir)
		return -errno;
	while (nr >= 0 && (entry = readdir(dir))) {
		__u32 id = link_of_name(entry->d_name);

		if (id)
			nr = add_id(ids, nr, id);
	}
	closedir(dir);
	if (nr < 0)
		free_ptr(ids);
	return nr;
}

/* Remove all pins of one leader, but those of users who are not trusted. */
static void remove_pins(const struct attr_map *map, __u32 id)
{
	DIR *dir = open_dir(map);
	struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		struct stat st;

		if (link_of_name(entry->d_name) == id &&
		    !fstatat(map->lock.fd, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) &&
		    attr_pin__is_trusted(st.st_uid, map->trusted))
			(void)unlinkat(map->lock.fd, entry->d_name, 0);
	}
	if (dir)
		closedir(dir);
}

/* --- who needs them --- */

/* The pinned link; -ENOENT: there is none; -EPERM: it is another user's. */
static int open_pin(const struct attr_map *map, __u32 id)
{
	char name[LEADER_PIN_NAME], self[64];
	int pin __cleanup(close_fd) = -1;
	struct stat st;
	int fd;

	foreign_pins__name(id, name);
	pin = openat(map->lock.fd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (pin < 0 || fstat(pin, &st))
		return -errno;
	if (!S_ISREG(st.st_mode) || !attr_pin__is_trusted(st.st_uid, map->trusted))
		return -EPERM;
	snprintf(self, sizeof(self), "/proc/self/fd/%d", pin);
	fd = bpf_obj_get(self);
	/* The pin exists. */
	return fd >= 0 ? fd : errno == ENOENT ? -ENXIO : -errno;
}

static bool is_diff_map(__u32 id)
{
	int fd __cleanup(close_fd) = bpf_map_get_fd_by_id(id);
	struct bpf_map_info info;

	return fd >= 0 && !bpf_info__map(fd, &info) && info.type == BPF_MAP_TYPE_PERCPU_ARRAY &&
	       !strcmp(info.name, LEADER_DIFF_MAP);
}

/* The users of a pinned leader. */
struct pin_users {
	struct prog_maps maps; /* its program, and of its maps only those for followers */
	struct foreign_users users;
};

static void pin_users__clear(struct pin_users *pin)
{
	prog_maps__clear(&pin->maps);
	free_ptr(&pin->users.used);
}

static int look_again(struct pin_users *pin)
{
	return identify__look(&pin->users, pin->maps.ids, pin->maps.nr, pin->maps.info.id);
}

/* 0; -ENOENT: there are parts only; other -errno: it is not ours to judge. */
static int look_at(const struct attr_map *map, __u32 id, struct pin_users *pin)
{
	int fd __cleanup(close_fd) = open_pin(map, id);
	__u32 nr = 0;
	int err;

	if (fd < 0)
		return fd;
	err = identify__read_leader(fd, &pin->maps);
	if (err)
		return err == -ENOENT ? -EPROTO : err;
	for (__u32 i = 0; i < pin->maps.nr; i++) {
		if (is_diff_map(pin->maps.ids[i]))
			pin->maps.ids[nr++] = pin->maps.ids[i];
	}
	pin->maps.nr = nr;
	pin->users.used = calloc(nr + 1, sizeof(*pin->users.used));
	return pin->users.used ? look_again(pin) : -ENOMEM;
}

/* With the lock: another session can have completed the parts, and a program can have come. @err: of look_at() */
static bool is_still_unused(const struct attr_map *map, __u32 id, int err, struct pin_users *pin)
{
	int fd __cleanup(close_fd) = err ? open_pin(map, id) : -1;

	return err ? fd == -ENOENT : !look_again(pin) && !pin->users.nr;
}

/*
 * A look at all programs of the machine takes too long for the lock. With it, only those that came since need one. A
 * follower that is about to attach holds the protocol's lock.
 */
static void remove_if_unused(struct attr_map *map, __u32 id, bool waits)
{
	struct pin_users pin __cleanup(pin_users__clear) = {};
	const int err = look_at(map, id, &pin);

	if ((err && err != -ENOENT) || pin.users.nr || attr_map__take(map, waits))
		return;
	if (attr_map__try_protocol(map) && is_still_unused(map, id, err, &pin))
		remove_pins(map, id);
	attr_map__unlock(map);
}

void foreign_pins__remove_unused(struct attr_map *map, bool waits)
{
	__u32 *ids;
	int nr;

	crash_point__reach("pins-sought");
	capability__raise_files();
	nr = read_ids(map, &ids);
	for (int i = 0; i < nr; i++)
		remove_if_unused(map, ids[i], waits);
	capability__lower_files();
	if (nr >= 0)
		free(ids);
}

void foreign_pins__replace(struct bperf_leader *leader)
{
	if (!leader->registry->is_serving)
		return;
	if (leader->session >= 0 && leader->task_link_fds[SERVE_LINK_SWITCH] >= 0) {
		capability__raise_files();
		remove_pins(leader->attr_map, leader->registry->task_link_ids[SERVE_LINK_SWITCH]);
		capability__lower_files();
		crash_point__reach("pins-replaced");
	}
	foreign_followers__renew_end(leader);
}

static struct foreign_pin describe(__u32 id, const struct pin_users *pin)
{
	struct foreign_pin out = {.link_id = id, .nr_followers = pin->users.nr};

	for (__u32 i = 0; i < pin->maps.nr; i++)
		out.nr_events += pin->users.used[i];
	return out;
}

int foreign_pins__list(const struct attr_map *map, struct foreign_pin **out)
{
	__u32 *ids;
	int nr, nr_pins = 0;

	capability__raise_files();
	nr = read_ids(map, &ids);
	*out = nr < 0 ? NULL : calloc(nr + 1, sizeof(**out));
	for (int i = 0; *out && i < nr; i++) {
		struct pin_users pin __cleanup(pin_users__clear) = {};

		if (!look_at(map, ids[i], &pin))
			(*out)[nr_pins++] = describe(ids[i], &pin);
	}
	capability__lower_files();
	if (nr < 0)
		return nr;
	free(ids);
	return *out ? nr_pins : -ENOMEM;
}

/* --- making them --- */

static int pin(const struct attr_map *map, const char *name, int fd)
{
	int err;

	if (fd < 0)
		return 0;
	/* A leader before, whose link had that id, can have left one in a crash. */
	(void)unlinkat(map->lock.fd, name, 0);
	err = attr_pin__pin(map->lock.fd, name, fd);
	if (!err)
		crash_point__reach("part-pinned");
	return err;
}

/* The link at switches goes last: what a crash leaves without it is not needed by anybody. */
static int pin_all(const struct bperf_leader *leader)
{
	__u32 id = leader->registry->task_link_ids[SERVE_LINK_SWITCH];
	const struct attr_map *map = leader->attr_map;
	char name[NAME_MAX_PART];
	int err;

	snprintf(name, sizeof(name), PREFIX "%u_quiet", id);
	err = pin(map, name, leader->link_fd);
	snprintf(name, sizeof(name), PREFIX "%u_hotplug", id);
	if (!err)
		err = pin(map, name, leader->hotplug_link_fd);
	for (int i = 0; i < NR_LEADER_PROGS && !err; i++) {
		/* The links hold these, and optional ones are loaded again. */
		if (i == LEADER_ON_SWITCH || i == LEADER_ON_HOTPLUG || leader_progs__is_optional(i))
			continue;
		snprintf(name, sizeof(name), PREFIX "%u_prog%d", id, i);
		err = pin(map, name, leader->prog_fds[i]);
	}
	foreign_pins__name(id, name);
	if (!err)
		err = pin(map, name, leader->task_link_fds[SERVE_LINK_SWITCH]);
	if (err)
		remove_pins(map, id);
	return err;
}

/* Also where the session may wait no more, or is to end: the lock is held for moments. */
static int take_lock(struct attr_map *map)
{
	int err = attr_map__try_relock(map);

	for (int i = 0; i < LOCK_TRIES && err == -EWOULDBLOCK; i++) {
		usleep(LOCK_WAIT_US << i);
		err = attr_map__try_relock(map);
	}
	return err;
}

static int make_pins(struct bperf_leader *leader)
{
	int err = 0;

	/* If several leave at a time, the last one finds no other holder. */
	leader_links__disown_switches(leader);
	if (!leader->registry->is_serving || leader_links__has_holder(leader) ||
	    !foreign_followers__nr_followers(leader))
		return 0;
	foreign_followers__renew_end(leader);
	capability__raise_files();
	err = pin_all(leader);
	capability__lower_files();
	return err;
}

void foreign_pins__make(struct bperf_leader *leader)
{
	struct attr_map *map = leader->attr_map;
	int err;

	if (!leader->registry->is_serving || leader->task_link_fds[SERVE_LINK_SWITCH] < 0)
		return;
	foreign_followers__look(leader);
	err = take_lock(map);
	if (!err) {
		err = make_pins(leader);
		attr_map__unlock(map);
	}
	if (err && foreign_followers__nr_followers(leader))
		pr_warn("followers of other implementations stop counting now: cannot pin their link in %s_lock: %s",
			map->path, strerror(-err));
}
