// SPDX-License-Identifier: GPL-2.0
/* The record of a leader in its lock directory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "util/bperf/attr_map.h"
#include "util/bperf/leader_record.h"
#include "util/lib/util.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct leader_record some = {
	.attr_map_id = 12,
	.link_id = 3,
	.prog_id = 45,
	.load_time_ns = 6789,
	.registry_id = 10,
};
static const char some_text[] = "attr-map=12 link=3 program=45 loaded=6789 registry=10";

static void a_record_is_the_same_after_format_and_parse(void **state)
{
	const struct leader_record records[] = {
		some,
		{},
		{~0U, ~0U, ~0U, ~0U, ~0ULL},
	};
	struct leader_record again;
	char text[LEADER_RECORD_TEXT];

	(void)state;
	leader_record__format(&some, text);
	assert_string_equal(text, some_text);
	for (size_t i = 0; i < ARRAY_SIZE(records); i++) {
		leader_record__format(&records[i], text);
		assert_int_equal(leader_record__parse(text, &again), 0);
		assert_memory_equal(&again, &records[i], sizeof(again));
	}
}

static void records_of_other_leaders_differ(void **state)
{
	struct leader_record others[] = {some, some, some, some, some};

	(void)state;
	assert_true(leader_record__is_same(&some, &others[0]));
	others[0].attr_map_id++;
	others[1].link_id++;
	others[2].prog_id++;
	others[3].load_time_ns++;
	others[4].registry_id++;
	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		assert_false(leader_record__is_same(&some, &others[i]));
}

static void other_texts_are_refused(void **state)
{
	static const char *const texts[] = {
		"",
		"12 3 45 6789 10",
		"attr-map=12 link=3 program=45 loaded=6789",
		"attr-map=12 link=3 program=45 loaded=6789 registry=",
		"attr-map=12 link=3 program=45 loaded=6789 registry=10 ",
		"attr-map=12 link=3 program=45 loaded=6789 registry=10x",
		" attr-map=12 link=3 program=45 loaded=6789 registry=10",
		"attr-map=12  link=3 program=45 loaded=6789 registry=10",
		"attr-map=012 link=3 program=45 loaded=6789 registry=10",
		"attr-map=+12 link=3 program=45 loaded=6789 registry=10",
		"attr-map=12 link=-3 program=45 loaded=6789 registry=10",
		"attr-map=4294967308 link=3 program=45 loaded=6789 registry=10",
		"attr-map=12 link=3 program=45 loaded=99999999999999999999 registry=10",
		"../../../etc/passwd",
	};
	struct leader_record record;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		assert_int_equal(leader_record__parse(texts[i], &record), -EINVAL);
}

/* Make a lock directory, on any file system. */
static int make_dir(void **state)
{
	struct attr_map *map = calloc(1, sizeof(*map));
	char *path = strdup("/tmp/leader_record_XXXXXX");

	if (!map || !path || !mkdtemp(path))
		return -1;
	map->path = path;
	map->lock.fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	*state = map;
	return map->lock.fd < 0 ? -1 : 0;
}

static int remove_dir(void **state)
{
	struct attr_map *map = *state;
	DIR *dir = opendir(map->path);
	struct dirent *entry;

	while (dir && (entry = readdir(dir)))
		(void)unlinkat(map->lock.fd, entry->d_name, 0);
	if (dir)
		closedir(dir);
	close(map->lock.fd);
	rmdir(map->path);
	free(map->path);
	free(map);
	return 0;
}

/* Return: the path of the only file in the directory, owned by the caller. */
static char *only_file(const struct attr_map *map)
{
	DIR *dir = opendir(map->path);
	struct dirent *entry;
	char *path = NULL;
	int nr = 0;

	assert_non_null(dir);
	while ((entry = readdir(dir))) {
		if (*entry->d_name == '.')
			continue;
		nr++;
		free(path);
		path = xasprintf("%s/%s", map->path, entry->d_name);
	}
	closedir(dir);
	assert_int_equal(nr, 1);
	return path;
}

static void the_last_record_is_read(void **state)
{
	const struct attr_map *map = *state;
	struct leader_record record = some;
	char *path;

	assert_int_equal(leader_record__read(map, &record), -ENOENT);
	assert_int_equal(leader_record__write(map, &some), 0);
	assert_int_equal(leader_record__read(map, &record), 0);
	assert_memory_equal(&record, &some, sizeof(some));
	record.link_id++;
	/* A session that was killed while it wrote has left this. */
	assert_int_equal(symlinkat("half", map->lock.fd, "leader_new"), 0);
	assert_int_equal(leader_record__write(map, &record), 0);
	assert_int_equal(leader_record__read(map, &record), 0);
	assert_int_equal(record.link_id, some.link_id + 1);
	path = only_file(map);
	/* The BPF file system accepts no dot, and tools show 15 characters. */
	assert_null(strchr(strrchr(path, '/'), '.'));
	assert_true(strlen(strrchr(path, '/') + 1) <= 15);
	free(path);
}

static void other_files_of_its_name_are_not_read(void **state)
{
	const struct attr_map *map = *state;
	struct leader_record record;
	char *path, longer[400];
	int fd;

	assert_int_equal(leader_record__write(map, &some), 0);
	path = only_file(map);
	assert_int_equal(unlink(path), 0);
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	assert_int_equal(write(fd, some_text, strlen(some_text)), strlen(some_text));
	close(fd);
	assert_int_equal(leader_record__read(map, &record), -ENOENT);
	assert_int_equal(unlink(path), 0);
	/* Its beginning would be a valid record. */
	snprintf(longer, sizeof(longer), "%s%0300d", some_text, 0);
	assert_int_equal(symlink(longer, path), 0);
	assert_int_equal(leader_record__read(map, &record), -ENOENT);
	assert_int_equal(leader_record__write(map, &some), 0);
	assert_int_equal(leader_record__read(map, &record), 0);
	free(path);
}

static void another_users_record_is_read_if_the_user_is_trusted(void **state)
{
	static const uid_t trusted[] = {7, 4242, (uid_t)-1};
	struct attr_map *map = *state;
	struct leader_record record = {};
	char *path;

	assert_int_equal(leader_record__write(map, &some), 0);
	path = only_file(map);
	if (lchown(path, 4242, 4242)) {
		free(path);
		skip();
	}
	assert_int_equal(leader_record__read(map, &record), -EPERM);
	assert_int_equal(record.link_id, some.link_id);
	map->trusted = trusted;
	assert_int_equal(leader_record__read(map, &record), 0);
	free(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_record_is_the_same_after_format_and_parse),
		cmocka_unit_test(records_of_other_leaders_differ),
		cmocka_unit_test(other_texts_are_refused),
		cmocka_unit_test_setup_teardown(the_last_record_is_read, make_dir, remove_dir),
		cmocka_unit_test_setup_teardown(other_files_of_its_name_are_not_read, make_dir,
						remove_dir),
		cmocka_unit_test_setup_teardown(another_users_record_is_read_if_the_user_is_trusted,
						make_dir, remove_dir),
	};

	return cmocka_run_group_tests_name("leader_record", tests, NULL, NULL);
}
