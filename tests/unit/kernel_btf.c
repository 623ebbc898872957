// SPDX-License-Identifier: GPL-2.0
/* The walk over the kernel's BTF: fields within anonymous structs, functions, and files cut off anywhere. */
#include "util/bperf/kernel_btf.h"

#include <bpf/btf.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static char file[] = "/tmp/kernel_btf.XXXXXX";

static int setup(void **state)
{
	int fd = mkstemp(file);

	(void)state;
	return fd < 0 ? -1 : close(fd);
}

static int teardown(void **state)
{
	(void)state;
	return unlink(file);
}

static void write_file(const void *data, size_t size)
{
	FILE *out = fopen(file, "w");

	assert_non_null(out);
	assert_int_equal(fwrite(data, 1, size, out), size);
	assert_int_equal(fclose(out), 0);
}

/* A task_struct with pid in an anonymous struct at 8, at 4 of it; two functions. */
static struct btf *make(__u32 *iter_id)
{
	struct btf *btf = btf__new_empty();
	int number = btf__add_int(btf, "int", 4, BTF_INT_SIGNED), inner, proto;

	inner = btf__add_struct(btf, NULL, 8);
	assert_int_equal(btf__add_field(btf, "flags", number, 0, 0), 0);
	assert_int_equal(btf__add_field(btf, "pid", number, 32, 0), 0);
	assert_true(btf__add_struct(btf, "task_struct", 16) > 0);
	assert_int_equal(btf__add_field(btf, "tgid", number, 0, 0), 0);
	assert_int_equal(btf__add_field(btf, NULL, inner, 64, 0), 0);
	proto = btf__add_func_proto(btf, number);
	*iter_id = btf__add_func(btf, "bpf_iter_task", BTF_FUNC_GLOBAL, proto);
	assert_true(btf__add_func(btf, "bpf_iter_task_not", BTF_FUNC_GLOBAL, proto) > 0);
	return btf;
}

/* The offset of a field of task_struct in the file for libbpf, in bits; -1: it has none. */
static long offset_of(const struct kernel_btf *kernel, const char *name)
{
	char path[64];
	struct btf *btf;
	const struct btf_type *type;
	long bits = -1;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", kernel->types_fd);
	btf = btf__parse_raw(path);
	assert_non_null(btf);
	type = btf__type_by_id(btf, btf__find_by_name_kind(btf, "task_struct", BTF_KIND_STRUCT));
	assert_non_null(type);
	for (int i = 0; i < btf_vlen(type); i++) {
		if (!strcmp(btf__name_by_offset(btf, btf_members(type)[i].name_off), name))
			bits = btf_member_bit_offset(type, i);
	}
	btf__free(btf);
	return bits;
}

static void finds_fields_and_functions(void **state)
{
	__u32 iter_id, size;
	struct btf *btf = make(&iter_id);
	const void *data = btf__raw_data(btf, &size);
	struct kernel_btf kernel;

	(void)state;
	write_file(data, size);
	assert_int_equal(kernel_btf__read(file, &kernel), 0);
	assert_int_equal(kernel.iter_task_id, iter_id);
	assert_int_equal(kernel.iter_cgroup_id, 0);
	assert_int_equal(kernel.irq_save_id, 0);
	assert_false(kernel.exits_late);
	assert_int_equal(offset_of(&kernel, "tgid"), 0);
	assert_int_equal(offset_of(&kernel, "pid"), 96);
	assert_int_equal(offset_of(&kernel, "signal"), -1);
	kernel_btf__close(&kernel);
	btf__free(btf);
}

static void refuses_a_file_that_is_cut_off(void **state)
{
	__u32 iter_id, size;
	struct btf *btf = make(&iter_id);
	const void *data = btf__raw_data(btf, &size);
	struct kernel_btf kernel;

	(void)state;
	for (__u32 len = 0; len < size; len++) {
		write_file(data, len);
		assert_int_equal(kernel_btf__read(file, &kernel), -EINVAL);
		kernel_btf__close(&kernel);
	}
	btf__free(btf);
}

static void any_byte_may_be_wrong(void **state)
{
	__u32 iter_id, size;
	struct btf *btf = make(&iter_id);
	const __u8 *data = btf__raw_data(btf, &size);
	__u8 *copy = malloc(size);
	struct kernel_btf kernel;

	(void)state;
	for (__u32 at = 0; at < size; at++) {
		memcpy(copy, data, size);
		copy[at] ^= 0xff;
		write_file(copy, size);
		(void)kernel_btf__read(file, &kernel); /* whatever it says, it ends */
		kernel_btf__close(&kernel);
	}
	free(copy);
	btf__free(btf);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_fields_and_functions),
		cmocka_unit_test(refuses_a_file_that_is_cut_off),
		cmocka_unit_test(any_byte_may_be_wrong),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
