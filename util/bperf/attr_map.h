/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_BPERF_ATTR_MAP_H
#define PERF_BPERF_ATTR_MAP_H

/*
 * The pinned map of shared events, and its locks. Sessions find each other through it.
 *
 * It is a hash from struct perf_event_attr to {link id, diff map id}: ids, not references, so an
 * entry may name what is gone. Linux's perf uses maps of the same form. Our lock is the directory
 * PATH_lock of mode 0700 next to the map PATH (bpffs allows no dots in names). A process that sees the
 * map also sees the lock.
 *
 *	1. flock(PATH_lock/tasks)	scopes, scope sets, cgroups: held through walks and grace periods
 *	2. flock(PATH_lock)		sessions, events, programs: held for short commits only
 *	3. flock(map)			the protocol's: any descriptor of the kernel's one anonymous
 *					inode can hold it, so it is tried and never waited for
 *
 * They are taken in this order. A holder can be stopped at any time, so a session waits for a bounded
 * time. After that it goes on without the lock.
 */

#include "util/bperf/attr_lock.h"
#include "util/host/wide_attr.h"

#include <linux/types.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

struct attr_key;
struct perf_event_attr;

/* How long a session waits for others in all, at its start, and again at its end. */
#define ATTR_MAP_WAIT_MS 1000

/* A pause between two holdings of a lock: sessions that wait have their turn. */
#define ATTR_MAP_TURN_US 1000

/* Value of the map; other implementations also read and write it. */
struct attr_map_value {
	__u32 link_id;
	__u32 diff_map_id;
};

struct attr_map {
	int fd;
	int parent_fd;	       /* the pin's directory */
	struct attr_lock lock; /* ours */
	struct attr_lock task_lock;
	struct lock_wait wait; /* for either of them */
	bool has_protocol_lock, has_tried_protocol;
	bool lacks_protocol;	    /* it was tried in the last holding of our lock, in vain */
	struct stat stat;	    /* of the pin */
	struct stat lock_stat;	    /* of the lock directory */
	struct stat task_lock_stat; /* of the directory tasks in it; zeros if there is none yet */
	uint32_t id;
	uint32_t key_size;
	uint32_t max_entries;
	char *path;
	const uid_t *trusted; /* as given to attr_map__open() */
};

/**
 * attr_map__path() - where the map is pinned by default
 *
 * Return: owned by the caller; NULL with errno ENOMEM.
 */
char *attr_map__path(void);

/**
 * attr_map__open() - open the pinned map of shared events, if it is there, and our lock
 * @path: where it is pinned; the BPF file system is mounted if need be, the lock is made
 * @trusted: users besides root and oneself who may own map and lock directory, ended by -1; borrowed
 *	until attr_map__delete(); NULL: nobody
 * @otherwise: the consequence of waiting in vain, for the warning; NULL: no warning
 * @out: on success the map, not locked, and with a descriptor of -1 if there is none yet; released
 *	by attr_map__delete()
 *
 * No symbolic link is followed at @path. Map and lock directory must belong to a trusted user, and
 * nobody but the owner may write them (attr_pin.h). Return: 0, or -errno after a message.
 */
int attr_map__open(const char *path, const uid_t *trusted, const char *otherwise,
		   struct attr_map **out);

/**
 * attr_map__lock() - take our lock for the first time, and make the map if there is none
 *
 * Where others have removed map or lock meanwhile, they are opened again.
 * Waits at most a second.
 * Return: 0, or -errno after a message; -ETIMEDOUT: waited in vain;
 * -EINTR: a signal came while waiting.
 */
int attr_map__lock(struct attr_map *map);

/** attr_map__expect() - from now on waiting takes at most a second again; @otherwise as above */
void attr_map__expect(struct attr_map *map, const char *otherwise);

/** attr_map__left_ns() - how long this session may still wait for others */
uint64_t attr_map__left_ns(const struct attr_map *map);

/** attr_map__spend() - deduct the time since @begin_ns: it was spent on others, and not on locks */
void attr_map__spend(struct attr_map *map, uint64_t begin_ns);

/** attr_map__pause() - wait for something else than a lock; false: no time for waiting is left */
bool attr_map__pause(struct attr_map *map, uint32_t us);

/** attr_map__never_wait() - from now on a lock that is held is -ETIMEDOUT at once, without a warning */
void attr_map__never_wait(struct attr_map *map);

/**
 * attr_map__relock() - take our lock again after attr_map__unlock()
 * attr_map__try_relock() - the same if it is free: -EWOULDBLOCK
 * attr_map__take() - the first if @waits, otherwise the second
 *
 * With a lock goes the privilege to find things by their ids: it is in effect until the last is
 * given back. Errors as attr_map__lock().
 */
int attr_map__relock(struct attr_map *map);
int attr_map__try_relock(struct attr_map *map);
int attr_map__take(struct attr_map *map, bool waits);
void attr_map__unlock(struct attr_map *map);

/** attr_map__lock_tasks(), attr_map__try_lock_tasks(), attr_map__unlock_tasks() - the other lock */
int attr_map__lock_tasks(struct attr_map *map);
int attr_map__try_lock_tasks(struct attr_map *map);
void attr_map__unlock_tasks(struct attr_map *map);

/** attr_map__try_protocol() - whether we have the protocol's lock, until attr_map__unlock() */
bool attr_map__try_protocol(struct attr_map *map);

/**
 * attr_map__warn_protocol() - name its holder, once, if the last try was in vain and it is held still
 *
 * Call it without our lock, after the last try: well-behaved processes hold it for moments.
 */
void attr_map__warn_protocol(const struct attr_map *map);

/** attr_map__delete() - unlock and close; NULL is ignored */
void attr_map__delete(struct attr_map *map);

/**
 * attr_map__key() - the canonical key of an event: what it is, and nothing of how it is opened
 * @attr: of the evsel
 * @more_config: its config3 and config4
 */
void attr_map__key(const struct perf_event_attr *attr, const uint64_t more_config[NR_MORE_CONFIG],
		   struct attr_key *key);

/**
 * attr_map__attr() - the event of a key, and nothing of how it is opened
 *
 * A key in shared memory can have any other bits: with some the kernel takes samples or sends signals.
 */
void attr_map__attr(const struct attr_key *key, union wide_attr *wide);

/**
 * attr_map__group_key() - the key under which a member of a group is announced
 * @keys: the members' own keys, in order
 * @nr: how many
 * @idx: which of them
 *
 * Its sig_data, which counting does not use, is a hash of the group: it meets no single event.
 */
void attr_map__group_key(const struct attr_key *keys, int nr, int idx, struct attr_key *key);

/** attr_map__get() - the entry of a key; 0, -ENOENT, other -errno */
int attr_map__get(const struct attr_map *map, const struct attr_key *key,
		  struct attr_map_value *value);

/**
 * attr_map__add(), attr_map__replace(), attr_map__remove() - make, change or delete a key's entry
 *
 * Return: 0; -EEXIST: there is one; -ENOENT: there is none to change; -E2BIG: the map is full, or its
 * keys are too short; other -errno.
 */
int attr_map__add(struct attr_map *map, const struct attr_key *key,
		  const struct attr_map_value *value);
int attr_map__replace(struct attr_map *map, const struct attr_key *key,
		      const struct attr_map_value *value);
int attr_map__remove(struct attr_map *map, const struct attr_key *key);

/** attr_map__is_entry() - whether @key is an event's: its field `size` is the size of the map's keys */
bool attr_map__is_entry(const struct attr_map *map, const __u8 *key);

#endif
