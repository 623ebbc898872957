// SPDX-License-Identifier: GPL-2.0
/* The maps of a BPF program, from a kernel that has any number of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "util/host/prog_maps.h"

#include <errno.h>
#include <linux/bpf.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PROG_FD 5

static uint32_t nr_maps;      /* of the program; the id of map i is 1000 + i */
static uint32_t nr_new_maps;  /* that come after the first question */
static uint32_t nr_questions; /* about the program */

/* libbpf calls the kernel through this. */
long syscall(long number, ...)
{
	union bpf_attr *attr;
	struct bpf_prog_info *info;
	uint32_t *ids;
	va_list args;

	va_start(args, number);
	assert_int_equal(number, SYS_bpf);
	assert_int_equal(va_arg(args, int), BPF_OBJ_GET_INFO_BY_FD);
	attr = va_arg(args, union bpf_attr *);
	va_end(args);
	assert_int_equal(attr->info.bpf_fd, PROG_FD);
	info = (struct bpf_prog_info *)(uintptr_t)attr->info.info;
	ids = (uint32_t *)(uintptr_t)info->map_ids;
	for (uint32_t i = 0; i < info->nr_map_ids && i < nr_maps; i++)
		ids[i] = 1000 + i;
	info->nr_map_ids = nr_maps;
	nr_maps += nr_new_maps;
	nr_new_maps = 0;
	nr_questions++;
	return 0;
}

static void set_up(uint32_t nr, uint32_t nr_new)
{
	nr_maps = nr;
	nr_new_maps = nr_new;
	nr_questions = 0;
}

static void all_maps_are_read_however_many_there_are(void **state)
{
	/* 64 is the room at first. */
	static const uint32_t nrs[] = {0, 1, 63, 64, 65, 200, 5000, 3};
	struct prog_maps maps = {};

	(void)state;
	for (size_t i = 0; i < sizeof(nrs) / sizeof(*nrs); i++) {
		set_up(nrs[i], 0);
		assert_int_equal(prog_maps__read(&maps, PROG_FD), 0);
		assert_int_equal(maps.nr, nrs[i]);
		assert_false(prog_maps__has(&maps, 999));
		for (uint32_t m = 0; m < nrs[i]; m++)
			assert_true(prog_maps__has(&maps, 1000 + m));
		assert_false(prog_maps__has(&maps, 1000 + nrs[i]));
	}
	prog_maps__clear(&maps);
}

static void maps_that_come_while_they_are_read_are_among_them(void **state)
{
	struct prog_maps maps = {};

	(void)state;
	set_up(65, 1);
	assert_int_equal(prog_maps__read(&maps, PROG_FD), 0);
	assert_int_equal(nr_questions, 3);
	assert_int_equal(maps.nr, 66);
	assert_true(prog_maps__has(&maps, 1065));
	prog_maps__clear(&maps);
}

static void the_id_0_is_no_map(void **state)
{
	struct prog_maps maps = {};

	(void)state;
	set_up(1, 0);
	assert_int_equal(prog_maps__read(&maps, PROG_FD), 0);
	maps.ids[0] = 0;
	assert_false(prog_maps__has(&maps, 0));
	prog_maps__clear(&maps);
	assert_int_equal(prog_maps__read(&maps, -1), -EBADF);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_maps_are_read_however_many_there_are),
		cmocka_unit_test(maps_that_come_while_they_are_read_are_among_them),
		cmocka_unit_test(the_id_0_is_no_map),
	};

	return cmocka_run_group_tests_name("prog_maps", tests, NULL, NULL);
}
