/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_UTIL_ATTR_MAP_H
#define PERF_UTIL_ATTR_MAP_H

/*
 * The pinned map of shared events, through which runs find each other, and its two locks.
 *
 * It is a hash from struct perf_event_attr to {link id, diff map id}: ids, not references, so an
 * entry may name what is gone. Linux's perf uses maps of the same form. Next to the map PATH
 * stands our lock, the directory PATH_lock of mode 0700 (bpffs allows no dots in names): whoever
 * sees the map sees the lock.
 *
 *	1. flock(PATH_lock)	ours: everything written by us is written under it
 *	2. flock(map)		the protocol's: second, and bounded, because any descriptor of the
 *				kernel's one anonymous inode can hold it
 */

#include <linux/types.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct attr_key;
struct perf_event_attr;

/* Value of the map; other implementations read and write it, too. */
struct attr_map_value {
	__u32 link_id;
	__u32 diff_map_id;
};

struct attr_map {
	int fd;
	int lock_fd;		/* -1: not locked */
	bool has_map_lock;	/* the protocol's lock, too */
	uint32_t id;
	uint32_t key_size;
	char *path;
	const uid_t *trusted;	/* as given to attr_map__lock() */
};

/**
 * attr_map__path() - where the map is pinned when nobody says otherwise
 *
 * Return: owned by the caller; NULL with errno ENOMEM.
 */
char *attr_map__path(void);

/**
 * attr_map__lock() - open the pinned map of shared events and take both of its locks
 * @path: where it is pinned; created there when absent, the BPF file system mounted if need be
 * @trusted: users besides root and oneself who may own map and lock directory, ended by -1; borrowed
 *	until attr_map__delete(); NULL: nobody
 * @out: on success the locked map, released by attr_map__delete()
 *
 * Waits at most a minute while another run holds our lock, 2 s for the protocol's.
 * Return: 0, or -errno after a message; -ETIMEDOUT: waited in vain;
 * -EINTR: a signal came while waiting.
 */
int attr_map__lock(const char *path, const uid_t *trusted, struct attr_map **out);

/** attr_map__relock() - take the locks again after attr_map__unlock(); errors as attr_map__lock() */
int attr_map__relock(struct attr_map *map);

/** attr_map__relock_own() - ours alone: entries must not be touched */
int attr_map__relock_own(struct attr_map *map);
void attr_map__unlock(struct attr_map *map);

/** attr_map__delete() - unlock and close; NULL is ignored */
void attr_map__delete(struct attr_map *map);

/**
 * attr_map__key() - the canonical key of an event: what it is, and nothing of how it is opened
 * @attr: of the evsel
 */
void attr_map__key(const struct perf_event_attr *attr, struct attr_key *key);

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
 * attr_map__set(), attr_map__remove() - write or delete the entry of a key
 *
 * Return: 0; -E2BIG: the map's keys are too short for this one, or it is full; other -errno.
 */
int attr_map__set(struct attr_map *map, const struct attr_key *key,
		  const struct attr_map_value *value);
int attr_map__remove(struct attr_map *map, const struct attr_key *key);

/**
 * attr_map__each() - call @fn with every entry's value until it returns something other than 0
 *
 * @fn may ask for the entry to be deleted by setting *@drop. Return: what @fn returned, or -errno.
 */
int attr_map__each(struct attr_map *map,
		   int (*fn)(void *ctx, const struct attr_map_value *value, bool *drop), void *ctx);

#endif
