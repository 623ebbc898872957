// SPDX-License-Identifier: GPL-2.0
#include "util/target/thread_map.h"

#include "util/lib/array.h"
#include "util/target/bpf_prog_list.h"

#include "util/lib/util.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static void read_comm(pid_t tid, char comm[16])
{
	char *path __cleanup(free_ptr) = xasprintf("%s/%d/comm", procfs_root(), tid);
	char *text __cleanup(free_ptr) = path ? read_file_line(path) : NULL;

	snprintf(comm, 16, "%s", text ? text : "");
}

static int append(struct thread_map **map, pid_t tid)
{
	int nr = *map ? (*map)->nr : 0;
	struct thread_map *bigger = *map;

	for (int i = 0; i < nr; i++) {
		if ((*map)->thread[i].tid == tid)
			return 0;
	}
	/* The capacity doubles at powers of two. */
	if (!(nr & (nr - 1))) {
		bigger = realloc(*map,
				 sizeof(*bigger) + (nr ? 2 * nr : 1) * sizeof(bigger->thread[0]));
		if (!bigger)
			return -ENOMEM;
	}
	*map = bigger;
	bigger->thread[nr].tid = tid;
	bigger->thread[nr].name = NULL;
	read_comm(tid, bigger->thread[nr].comm);
	bigger->nr = nr + 1;
	return 0;
}

static int compare_tids(const void *a, const void *b)
{
	pid_t left = *(const pid_t *)a, right = *(const pid_t *)b;

	return (left > right) - (left < right);
}

/* Read the numeric names in a directory, ascending. */
static int read_ids(const char *dir, pid_t **ids, int *nr)
{
	DIR *d = opendir(dir);
	struct dirent *entry;
	pid_t *id;

	*ids = NULL;
	*nr = 0;
	if (!d)
		return -errno;
	while ((entry = readdir(d))) {
		if (!isdigit((unsigned char)entry->d_name[0]))
			continue;
		id = array__add(*ids, *nr);
		if (!id) {
			closedir(d);
			return -ENOMEM;
		}
		*id = atoi(entry->d_name);
	}
	closedir(d);
	if (*nr)
		qsort(*ids, *nr, sizeof(**ids), compare_tids);
	return 0;
}

static int append_process(struct thread_map **map, pid_t pid)
{
	char *dir __cleanup(free_ptr) = xasprintf("%s/%d/task", procfs_root(), pid);
	pid_t *tids __cleanup(free_ptr) = NULL;
	int nr, err;

	if (!dir)
		return -ENOMEM;
	err = read_ids(dir, &tids, &nr);
	if (!err && !nr)
		err = -ESRCH;
	for (int i = 0; i < nr && !err; i++)
		err = append(map, tids[i]);
	return err == -ENOENT ? -ESRCH : err;
}

static int append_left(struct thread_map **map, pid_t pid)
{
	int err = append_process(map, pid);

	return err == -ESRCH ? 0 : err;
}

/* Parse "1,22,333": positive decimals, without blanks or empty elements. */
static struct thread_map *from_list(const char *list, int (*add)(struct thread_map **, pid_t))
{
	struct thread_map *map = NULL;
	int err = -EINVAL;

	for (const char *pos = list;; pos++) {
		char *end;
		long id;

		errno = 0;
		id = isdigit((unsigned char)*pos) ? strtol(pos, &end, 10) : -1;
		if (id <= 0 || id > INT_MAX || errno || (*end && *end != ',')) {
			err = -EINVAL;
			break;
		}
		err = add(&map, id);
		if (err || !*end)
			break;
		pos = end;
	}
	if (!err && !map)
		err = -ESRCH;
	if (err) {
		thread_map__delete(map);
		errno = -err;
		return NULL;
	}
	return map;
}

struct thread_map *thread_map__new_pids(const char *list)
{
	return from_list(list, append_process);
}

struct thread_map *thread_map__new_left(const char *list)
{
	return from_list(list, append_left);
}

struct thread_map *thread_map__new_tids(const char *list)
{
	return from_list(list, append);
}

struct thread_map *thread_map__new_one(pid_t tid)
{
	struct thread_map *map = NULL;

	if (append(&map, tid)) {
		errno = ENOMEM;
		return NULL;
	}
	return map;
}

struct thread_map *thread_map__new_all(void)
{
	struct thread_map *map = NULL;
	pid_t *pids __cleanup(free_ptr) = NULL;
	int nr, err;

	err = read_ids(procfs_root(), &pids, &nr);
	for (int i = 0; i < nr && !err; i++) {
		err = append_process(&map, pids[i]);
		if (err == -ESRCH)
			err = 0;
	}
	if (err || !map) {
		thread_map__delete(map);
		errno = err ? -err : ESRCH;
		return NULL;
	}
	return map;
}

int thread_map__update_progs(struct thread_map **map, const struct bpf_prog_list *progs)
{
	struct thread_map *grown;

	grown = realloc(*map, sizeof(*grown) + progs->nr * sizeof(grown->thread[0]));
	if (grown) {
		*map = grown;
		grown->nr = progs->nr;
	}
	/* A row that stays can be of another program now: the name that it had is freed. */
	for (int i = 0; *map && i < (*map)->nr; i++) {
		const struct bpf_prog *prog = &progs->prog[i];
		__typeof__((*map)->thread[0]) *row = &(*map)->thread[i];

		memset(row, 0, sizeof(*row));
		row->tid = prog->id;
		row->name = prog->name;
		row->is_left_out = prog->state == BPF_PROG_LEFT_OUT;
		row->is_over = prog->state == BPF_PROG_GIVEN_UP || prog->state == BPF_PROG_OVER;
	}
	return grown ? 0 : -ENOMEM;
}

struct thread_map *thread_map__new_progs(const struct bpf_prog_list *progs)
{
	struct thread_map *map = NULL;

	return thread_map__update_progs(&map, progs) ? NULL : map;
}

void thread_map__delete(struct thread_map *map)
{
	free(map);
}
