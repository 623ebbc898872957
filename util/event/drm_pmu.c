// SPDX-License-Identifier: GPL-2.0
#include "util/event/drm_pmu.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/lib/array.h"
#include "util/lib/util.h"
#include "util/target/thread_map.h"

/* Longer prefixes come first. */
static const struct drm_kind kinds[] = {
	{"drm-engine-capacity-", "Number of engines of this kind", "", false},
	{"drm-engine-", "Time in which the engine was busy", "ns", true},
	{"drm-total-cycles-", "Cycles of the engine", "", true},
	{"drm-cycles-", "Cycles in which the engine was busy", "", true},
	{"drm-maxfreq-", "Highest frequency of the engine", "Hz", false},
	{"drm-total-", "Memory of all buffers", "bytes", false},
	{"drm-shared-", "Memory that other clients share", "bytes", false},
	{"drm-resident-", "Memory that is backed by pages", "bytes", false},
	{"drm-purgeable-", "Memory that may be taken away", "bytes", false},
	{"drm-active-", "Memory that engines use now", "bytes", false},
	{"drm-memory-", "Memory that is backed by pages", "bytes", false},
};

const struct drm_kind *drm_pmu__kind(const char *key)
{
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		size_t len = strlen(kinds[i].prefix);

		if (!strncmp(key, kinds[i].prefix, len) && key[len])
			return &kinds[i];
	}
	return NULL;
}

/* A client is found once for each of its descriptors. */
struct walk {
	int (*fn)(void *data, const char *driver, const char *key, const char *value);
	void *data;
	char **seen; /* "DRIVER PDEV ID" of clients; owned */
	int nr_seen;
};

/* Return: the value of a key in the lines of a client, without blanks before it; owned, NULL: none. */
static char *find_value(const char *text, const char *key)
{
	size_t len = strlen(key);

	for (; text && *text; text = strchr(text, '\n') ? strchr(text, '\n') + 1 : NULL) {
		const char *value = text + len + 1;

		if (strncmp(text, key, len) || text[len] != ':')
			continue;
		value += strspn(value, " \t");
		return strndup(value, strcspn(value, "\n"));
	}
	return NULL;
}

/* Return: whether this client is new, or -ENOMEM. */
static int is_new(struct walk *walk, const char *text, const char *driver)
{
	char *pdev __cleanup(free_ptr) = find_value(text, "drm-pdev");
	char *id __cleanup(free_ptr) = find_value(text, "drm-client-id");
	char *client = xasprintf("%s %s %s", driver, pdev ? pdev : "", id ? id : "");
	char **added;
	int i;

	for (i = 0; client && id && i < walk->nr_seen; i++) {
		if (!strcmp(walk->seen[i], client)) {
			free(client);
			return 0;
		}
	}
	added = client ? array__add(walk->seen, walk->nr_seen) : NULL;
	if (!added) {
		free(client);
		return -ENOMEM;
	}
	*added = client;
	return 1;
}

static int visit_lines(const struct walk *walk, char *text, const char *driver)
{
	char *line;
	int err = 0;

	while (!err && (line = strsep(&text, "\n"))) {
		char *value = strchr(line, ':');

		if (!value)
			continue;
		*value++ = '\0';
		if (drm_pmu__kind(line))
			err = walk->fn(walk->data, driver, line, value);
	}
	return err;
}

static int visit_client(struct walk *walk, const char *path)
{
	char *text __cleanup(free_ptr) = read_file(path, NULL);
	char *driver __cleanup(free_ptr) = text ? find_value(text, "drm-driver") : NULL;
	int ret = driver ? is_new(walk, text, driver) : 0;

	return ret > 0 ? visit_lines(walk, text, driver) : ret;
}

static bool is_gpu(const char *link)
{
	char device[64];
	ssize_t len = readlink(link, device, sizeof(device) - 1);

	device[len < 0 ? 0 : len] = '\0';
	return !strncmp(device, "/dev/dri/", strlen("/dev/dri/")) ||
	       !strncmp(device, "/dev/accel/", strlen("/dev/accel/"));
}

/* Processes end, and those of others may be closed: they have no clients then. */
static int visit_process(struct walk *walk, const char *pid)
{
	char *dir __cleanup(free_ptr) = xasprintf("%s/%s/fd", procfs_root(), pid);
	DIR *fds = dir ? opendir(dir) : NULL;
	struct dirent *entry;
	int err = dir ? 0 : -ENOMEM;

	while (!err && fds && (entry = readdir(fds))) {
		char *link __cleanup(free_ptr) = xasprintf("%s/%s", dir, entry->d_name);
		char *info __cleanup(free_ptr) =
			xasprintf("%s/%s/fdinfo/%s", procfs_root(), pid, entry->d_name);

		if (!link || !info)
			err = -ENOMEM;
		else if (is_gpu(link))
			err = visit_client(walk, info);
	}
	if (fds)
		closedir(fds);
	return err;
}

static int visit_threads(struct walk *walk, const struct thread_map *threads)
{
	char pid[16];
	int err = 0;

	for (int i = 0; i < threads->nr && !err; i++) {
		snprintf(pid, sizeof(pid), "%d", threads->thread[i].tid);
		err = visit_process(walk, pid);
	}
	return err;
}

static int visit_all(struct walk *walk)
{
	DIR *procs = opendir(procfs_root());
	struct dirent *entry;
	int err = 0;

	while (!err && procs && (entry = readdir(procs))) {
		if (isdigit((unsigned char)entry->d_name[0]))
			err = visit_process(walk, entry->d_name);
	}
	if (procs)
		closedir(procs);
	return err;
}

static int visit(struct walk *walk, const struct thread_map *threads)
{
	int err = threads ? visit_threads(walk, threads) : visit_all(walk);

	while (walk->nr_seen)
		free(walk->seen[--walk->nr_seen]);
	free(walk->seen);
	return err;
}

/* --- keys and values --- */

struct key_walk {
	int (*fn)(void *data, const char *driver, const char *key);
	void *data;
};

static int visit_key(void *data, const char *driver, const char *key, const char *value __unused)
{
	const struct key_walk *keys = data;

	return keys->fn(keys->data, driver, key);
}

int drm_pmu__for_each_key(int (*fn)(void *data, const char *driver, const char *key), void *data)
{
	struct key_walk keys = {.fn = fn, .data = data};
	struct walk walk = {.fn = visit_key, .data = &keys};

	return visit(&walk, NULL);
}

/* Return: the number in front, in bytes and Hz. */
static uint64_t parse_value(const char *text)
{
	static const struct {
		const char *unit;
		uint64_t factor;
	} units[] = {
		{"KiB", 1ULL << 10}, {"MiB", 1ULL << 20}, {"GiB", 1ULL << 30},
		{"KHz", 1000},	     {"kHz", 1000},	  {"MHz", 1000000},
	};
	char *end;
	uint64_t value = strtoull(text, &end, 10);

	end += strspn(end, " \t");
	for (size_t i = 0; i < ARRAY_SIZE(units); i++) {
		if (!strncmp(end, units[i].unit, strlen(units[i].unit)))
			return value * units[i].factor;
	}
	return value;
}

struct sum {
	const char *driver, *key;
	uint64_t value;
};

static int add_value(void *data, const char *driver, const char *key, const char *value)
{
	struct sum *sum = data;

	if (!strcmp(driver, sum->driver) && !strcmp(key, sum->key))
		sum->value += parse_value(value);
	return 0;
}

int drm_pmu__value(const char *driver, const char *key, const struct thread_map *threads,
		   uint64_t *value)
{
	struct sum sum = {.driver = driver, .key = key};
	struct walk walk = {.fn = add_value, .data = &sum};
	int err = visit(&walk, threads);

	*value = sum.value;
	return err;
}
