// SPDX-License-Identifier: GPL-2.0
#include "util/profile/sort_keys.h"

#include "util/lib/msg.h"
#include "util/lib/util.h"
#include "util/sample/sampler.h"

#include <errno.h>
#include <string.h>

static const struct {
	const char *name, *alias, *title;
	uint32_t sample_key;
	bool is_number;
} rows[NR_SORT_KEYS] = {
	[SORT_COMM] = {"comm", NULL, "Command", SAMPLE_COMM, false},
	[SORT_PID] = {"pid", "tgid", "Pid", SAMPLE_PROCESS, true},
	[SORT_TID] = {"tid", NULL, "Tid", SAMPLE_PROCESS | SAMPLE_THREAD, true},
	[SORT_CPU] = {"cpu", NULL, "CPU", SAMPLE_CPU, true},
	[SORT_CGROUP] = {"cgroup", NULL, "Cgroup", SAMPLE_CGROUP, false},
	[SORT_PRIO] = {"prio", NULL, "Prio", SAMPLE_PRIO, true},
	[SORT_DSO] = {"dso", NULL, "Shared Object", SAMPLE_IP, false},
	[SORT_SYM] = {"sym", "symbol", "Symbol", SAMPLE_IP, false},
	[SORT_IP] = {"ip", "addr", "Instruction", SAMPLE_IP, false},
	[SORT_PAGE] = {"page", NULL, "Code Page", SAMPLE_IP, false},
	[SORT_DATA] = {"daddr", NULL, "Data Address", SAMPLE_ADDR, false},
	[SORT_SRCLINE] = {"srcline", NULL, "Source:Line", SAMPLE_IP, false},
};

static int find(const char *name)
{
	for (int i = 0; i < NR_SORT_KEYS; i++) {
		if (!strcmp(rows[i].name, name) || (rows[i].alias && !strcmp(rows[i].alias, name)))
			return i;
	}
	return -1;
}

bool sort_keys__has(const struct sort_keys *keys, enum sort_key key)
{
	for (int i = 0; i < keys->nr; i++) {
		if (keys->keys[i] == key)
			return true;
	}
	return false;
}

int sort_keys__parse(struct sort_keys *keys, const char *list)
{
	char *copy __cleanup(free_ptr) = strdup(list), *rest = copy, *name;

	if (!copy)
		return -ENOMEM;
	keys->nr = 0;
	while ((name = strsep(&rest, ","))) {
		int key = find(name);

		if (key < 0) {
			pr_err("-s %s: '%s' is not a sort key (comm, pid, tid, cpu, cgroup, prio, dso, sym, ip, page, daddr, srcline)",
			       list, name);
			return -EINVAL;
		}
		if (!sort_keys__has(keys, key))
			keys->keys[keys->nr++] = key;
	}
	return 0;
}

bool sort_keys__are_known(const char *list)
{
	char *copy __cleanup(free_ptr) = strdup(list), *rest = copy, *name;

	while (copy && (name = strsep(&rest, ","))) {
		if (find(name) < 0)
			return false;
	}
	return copy;
}

void sort_keys__add_last(struct sort_keys *keys, enum sort_key key)
{
	if (!sort_keys__has(keys, key))
		keys->keys[keys->nr++] = key;
}

void sort_keys__add_first(struct sort_keys *keys, enum sort_key key)
{
	if (sort_keys__has(keys, key))
		return;
	memmove(keys->keys + 1, keys->keys, keys->nr * sizeof(*keys->keys));
	keys->keys[0] = key;
	keys->nr++;
}

uint32_t sort_keys__sample_key(const struct sort_keys *keys)
{
	uint32_t sample_key = 0;

	for (int i = 0; i < keys->nr; i++)
		sample_key |= rows[keys->keys[i]].sample_key;
	/* User addresses mean something in their process only. */
	return sample_key & SAMPLE_IP ? sample_key | SAMPLE_PROCESS : sample_key;
}

const char *sort_key__title(enum sort_key key)
{
	return rows[key].title;
}

const char *sort_key__name(enum sort_key key)
{
	return rows[key].name;
}

bool sort_key__is_number(enum sort_key key)
{
	return rows[key].is_number;
}

bool sort_key__has_place(enum sort_key key)
{
	return rows[key].sample_key & SAMPLE_IP;
}

bool sort_key__has_level(enum sort_key key)
{
	return key == SORT_SYM || key == SORT_IP;
}
