// SPDX-License-Identifier: GPL-2.0
#include "util/bperf/task_btf.h"

#include "util/bperf/btf_file.h"
#include "util/lib/util.h"

#include <bpf/btf.h>
#include <errno.h>
#include <string.h>

static const char *const fields[2] = {"nvcsw", "nivcsw"};

static int find_field(const struct btf *btf, const struct btf_type *type, const char *name,
		      __u32 *offset)
{
	const struct btf_member *member = btf_members(type);

	for (int i = 0; i < btf_vlen(type); i++) {
		if (strcmp(btf__name_by_offset(btf, member[i].name_off), name))
			continue;
		*offset = btf_member_bit_offset(type, i) / 8;
		return 0;
	}
	return -ENOENT;
}

int task_btf__find(__u32 offsets[2])
{
	struct btf *btf = btf__load_vmlinux_btf();
	const struct btf_type *type;
	int id, err = 0;

	if (!btf)
		return -errno;
	id = btf__find_by_name_kind(btf, "task_struct", BTF_KIND_STRUCT);
	type = id < 0 ? NULL : btf__type_by_id(btf, id);
	if (!type)
		err = -ENOENT;
	for (int i = 0; i < 2 && !err; i++)
		err = find_field(btf, type, fields[i], &offsets[i]);
	btf__free(btf);
	return err;
}

static int add_types(struct btf *btf, const __u32 offsets[2])
{
	__u32 last = offsets[0] > offsets[1] ? offsets[0] : offsets[1];
	int number = btf__add_int(btf, "long unsigned int", sizeof(long), 0), err;

	if (number < 0)
		return number;
	err = btf__add_struct(btf, "task_struct", last + sizeof(long));
	for (int i = 0; i < 2 && err >= 0; i++)
		err = btf__add_field(btf, fields[i], number, 8 * offsets[i], 0);
	return err < 0 ? err : 0;
}

int task_btf__new(const __u32 offsets[2])
{
	struct btf *btf = btf__new_empty();
	int err = btf ? add_types(btf, offsets) : -errno;

	if (!err)
		err = btf_file__write(btf, "task_btf");
	btf__free(btf);
	return err;
}
