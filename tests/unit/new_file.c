// SPDX-License-Identifier: GPL-2.0
/* Files that get their name when they are complete. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "own_dir.h"
#include "util/lib/new_file.h"
#include "util/lib/util.h"

/* A file with a text. */
static void make(const char *path, mode_t mode, const char *text)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	fputs(text, file);
	assert_int_equal(fclose(file), 0);
	assert_int_equal(chmod(path, mode), 0);
}

static void assert_file(const char *path, mode_t mode, const char *want)
{
	char *text = read_file(path, NULL);
	struct stat st;

	assert_int_equal(lstat(path, &st), 0);
	assert_int_equal(st.st_mode, S_IFREG | mode);
	assert_string_equal(text, want);
	free(text);
}

static void replace(const char *path)
{
	struct new_file new;

	assert_int_equal(new_file__replace(&new, path, 0666), 0);
	fputs("new", new.file);
	assert_int_equal(new_file__finish(&new, NULL), 0);
	new_file__close(&new);
}

/* In place of that of the C library. */
static int close_error;

int close(int fd)
{
	int ret = syscall(SYS_close, fd);

	if (ret || !close_error)
		return ret;
	errno = close_error;
	close_error = 0;
	return -1;
}

static void test_an_error_of_closing_leaves_the_previous_file(void **state __unused)
{
	struct new_file new;

	make("x", 0644, "old");
	assert_int_equal(new_file__open(&new, "x", 0666), 0);
	fputs("new", new.file);
	close_error = EDQUOT;
	assert_int_equal(new_file__finish(&new, NULL), -EDQUOT);
	new_file__close(&new);
	assert_file("x", 0644, "old");
}

static void test_a_file_keeps_its_permissions(void **state __unused)
{
	umask(022);
	replace("x");
	assert_file("x", 0644, "new");
	make("x", 0600, "old");
	replace("x");
	assert_file("x", 0600, "new");
	make("x", 0666, "old");
	replace("x");
	assert_file("x", 0666, "new");
}

static void test_a_link_stays(void **state __unused)
{
	struct stat st;

	make("x", 0640, "old");
	assert_int_equal(symlink("x", "link"), 0);
	replace("link");
	assert_file("x", 0640, "new");
	assert_int_equal(lstat("link", &st), 0);
	assert_true(S_ISLNK(st.st_mode));
	/* It leads nowhere. */
	unlink("x");
	replace("link");
	assert_file("link", 0644, "new");
	unlink("link");
}

static void test_a_file_of_others_lends_no_permissions(void **state __unused)
{
	if (geteuid())
		skip();
	make("x", 0666, "old");
	assert_int_equal(chown("x", 65534, 65534), 0);
	replace("x");
	assert_file("x", 0644, "new");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_an_error_of_closing_leaves_the_previous_file),
		cmocka_unit_test(test_a_file_keeps_its_permissions),
		cmocka_unit_test(test_a_link_stays),
		cmocka_unit_test(test_a_file_of_others_lends_no_permissions),
	};

	return cmocka_run_group_tests(tests, make_own_dir, remove_own_dir);
}
