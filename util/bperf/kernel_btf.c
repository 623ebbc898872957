// SPDX-License-Identifier: GPL-2.0
#include "util/bperf/kernel_btf.h"

#include "util/bperf/btf_file.h"
#include "util/lib/util.h"

#include <bpf/btf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/vfs.h>
#include <unistd.h>

/* More than any kernel's, which has some 6 MB. */
#define MAX_SIZE (256U << 20)

/* Types between two that are noted on the walk, and how many are noted at most. */
#define INDEX_STEP 512
#define MAX_INDEX  1024

/* On most machines; on others it costs nothing. */
#define HUGE_PAGE (2UL << 20)

/* Anonymous structs and unions within each other. */
#define MAX_NESTING 8

/* --- the kernel's types --- */

/* The file, and the parts of it. */
struct blob {
	void *memory; /* owned */
	size_t room;
	const __u8 *data; /* in it */
	size_t size;
	const __u8 *types, *types_end;
	const char *strings;
	__u32 strings_size;			 /* the last byte is a NUL */
	const struct btf_type *index[MAX_INDEX]; /* every INDEX_STEP-th type; NULL: there is none */
};

static bool map_memory(struct blob *blob, size_t size, int flags, int fd)
{
	int prot = fd < 0 ? PROT_READ | PROT_WRITE : PROT_READ;
	void *memory = mmap(NULL, size, prot, MAP_PRIVATE | flags, fd, 0);

	if (memory == MAP_FAILED)
		return false;
	blob->memory = memory;
	blob->room = size;
	return true;
}

/* Huge pages, if the kernel has some left: to fill the many small ones costs more than to search them. */
static int read_into_memory(struct blob *blob, int fd)
{
	size_t room = (blob->size + HUGE_PAGE - 1) & -HUGE_PAGE;
	__u8 *data;

	if (!map_memory(blob, room + HUGE_PAGE, MAP_ANONYMOUS, -1))
		return -ENOMEM;
	data = (__u8 *)(((uintptr_t)blob->memory + HUGE_PAGE - 1) & -HUGE_PAGE);
	blob->data = data;
	(void)madvise(data, room, MADV_HUGEPAGE);
	return read_exactly(fd, data, blob->size, 0);
}

/* A mapped file of anybody else's may be cut off meanwhile. */
static bool is_kernel_file(int fd)
{
	struct statfs fs;

	return !fstatfs(fd, &fs) && fs.f_type == SYSFS_MAGIC;
}

static int read_whole(const char *file, struct blob *blob)
{
	int fd __cleanup(close_fd) = open(file, O_RDONLY | O_CLOEXEC);
	off_t size = fd < 0 ? -1 : lseek(fd, 0, SEEK_END);

	if (size < 0)
		return -errno;
	if (size == 0 || size > MAX_SIZE)
		return -EINVAL;
	blob->size = size;
	/* Linux 6.16 and later lend their own memory, which never changes. */
	if (is_kernel_file(fd) && map_memory(blob, size, 0, fd)) {
		blob->data = blob->memory;
		return 0;
	}
	return read_into_memory(blob, fd);
}

/* Sections are 4-byte aligned, as the kernel demands of all BTF. */
static int find_sections(struct blob *blob)
{
	const struct btf_header *header = (const void *)blob->data;
	uint64_t types, strings;

	if (blob->size < sizeof(*header) || header->magic != BTF_MAGIC || header->hdr_len % 4)
		return -EINVAL;
	types = (uint64_t)header->hdr_len + header->type_off;
	strings = (uint64_t)header->hdr_len + header->str_off;
	if (types % 4 || types + header->type_len > blob->size || !header->str_len ||
	    strings + header->str_len > blob->size)
		return -EINVAL;
	blob->types = blob->data + types;
	blob->types_end = blob->types + header->type_len;
	blob->strings = (const char *)blob->data + strings;
	blob->strings_size = header->str_len;
	return blob->strings[header->str_len - 1] ? -EINVAL : 0;
}

static const char *name_of(const struct blob *blob, __u32 offset)
{
	return offset < blob->strings_size ? blob->strings + offset : "";
}

/* The bytes of a type, from its info; 0: its kind is not known, so that nothing behind it can be read. */
static inline __attribute__((always_inline)) size_t size_of(__u32 info)
{
	static const struct {
		unsigned int fixed, each;
	} sizes[32] = {
#define FIXED(kind, bytes) [BTF_KIND_##kind] = {sizeof(struct btf_type) + (bytes), 0}
#define EACH(kind, type)   [BTF_KIND_##kind] = {sizeof(struct btf_type), sizeof(struct type)}
		FIXED(INT, sizeof(__u32)),
		FIXED(PTR, 0),
		FIXED(ARRAY, sizeof(struct btf_array)),
		EACH(STRUCT, btf_member),
		EACH(UNION, btf_member),
		EACH(ENUM, btf_enum),
		FIXED(FWD, 0),
		FIXED(TYPEDEF, 0),
		FIXED(VOLATILE, 0),
		FIXED(CONST, 0),
		FIXED(RESTRICT, 0),
		FIXED(FUNC, 0),
		EACH(FUNC_PROTO, btf_param),
		FIXED(VAR, sizeof(struct btf_var)),
		EACH(DATASEC, btf_var_secinfo),
		FIXED(FLOAT, 0),
		FIXED(DECL_TAG, sizeof(struct btf_decl_tag)),
		FIXED(TYPE_TAG, 0),
		EACH(ENUM64, btf_enum64),
#undef FIXED
#undef EACH
	};

	return sizes[BTF_INFO_KIND(info)].fixed +
	       sizes[BTF_INFO_KIND(info)].each * BTF_INFO_VLEN(info);
}

/* Return: the type behind another, or the first; NULL: there is none, or it is cut off. */
static const struct btf_type *next_type(const struct blob *blob, const struct btf_type *type)
{
	const __u8 *at = type ? (const __u8 *)type + size_of(type->info) : blob->types;
	size_t left = blob->types_end - at, size;

	if (left < sizeof(*type))
		return NULL;
	type = (const void *)at;
	size = size_of(type->info);
	return size && size <= left ? type : NULL;
}

/* Only after the walk over all types. Return: NULL if there is none. */
static const struct btf_type *type_by_id(const struct blob *blob, __u32 id)
{
	__u32 noted = id / INDEX_STEP < MAX_INDEX ? id / INDEX_STEP : MAX_INDEX - 1;
	/* Id 0 is no type: the first one has 1. */
	const struct btf_type *type = noted ? blob->index[noted] : next_type(blob, NULL);

	for (__u32 at = noted ? noted * INDEX_STEP : 1; type && at < id; at++)
		type = next_type(blob, type);
	return id ? type : NULL;
}

/* --- what is looked for --- */

enum wanted_name {
	TASK_STRUCT,
	SIGNAL_STRUCT,
	SCHED_ENTITY,
	CFS_RQ,
	RQ,
	CSS_SET,
	CGROUP,
	CGROUP_CSS,
	KERNFS_NODE,
	CGROUP_IDS,
	ITER_TASK,
	ITER_CGROUP,
	IRQ_SAVE,
	IRQ_RESTORE,
	TRACE_EXIT,
	HW_EVENT,
	PERF_EVENT,
	SAMPLE_DATA,
	SAMPLE_DATA_KERNEL,
	USER_REGS,
	KERNEL_CONTEXT,
	NR_WANTED
};

static const struct {
	const char *name;
	__u8 kind;
} wanted[NR_WANTED] = {
	[TASK_STRUCT] = {"task_struct", BTF_KIND_STRUCT},
	[SIGNAL_STRUCT] = {"signal_struct", BTF_KIND_STRUCT},
	[SCHED_ENTITY] = {"sched_entity", BTF_KIND_STRUCT},
	[CFS_RQ] = {"cfs_rq", BTF_KIND_STRUCT},
	[RQ] = {"rq", BTF_KIND_STRUCT},
	[CSS_SET] = {"css_set", BTF_KIND_STRUCT},
	[CGROUP] = {"cgroup", BTF_KIND_STRUCT},
	[CGROUP_CSS] = {"cgroup_subsys_state", BTF_KIND_STRUCT},
	[KERNFS_NODE] = {"kernfs_node", BTF_KIND_STRUCT},
	[CGROUP_IDS] = {"cgroup_subsys_id", BTF_KIND_ENUM},
	[ITER_TASK] = {"bpf_iter_task", BTF_KIND_FUNC},
	[ITER_CGROUP] = {"bpf_iter_cgroup", BTF_KIND_FUNC},
	[IRQ_SAVE] = {"bpf_local_irq_save", BTF_KIND_FUNC},
	[IRQ_RESTORE] = {"bpf_local_irq_restore", BTF_KIND_FUNC},
	[TRACE_EXIT] = {"btf_trace_sched_process_exit", BTF_KIND_TYPEDEF},
	[HW_EVENT] = {"hw_perf_event", BTF_KIND_STRUCT},
	[PERF_EVENT] = {"perf_event", BTF_KIND_STRUCT},
	[SAMPLE_DATA] = {"bpf_perf_event_data", BTF_KIND_STRUCT},
	[SAMPLE_DATA_KERNEL] = {"bpf_perf_event_data_kern", BTF_KIND_STRUCT},
	[USER_REGS] = {"user_pt_regs", BTF_KIND_STRUCT},
	[KERNEL_CONTEXT] = {"bpf_cast_to_kern_ctx", BTF_KIND_FUNC},
};

struct found {
	const struct btf_type *type; /* NULL: the kernel has none */
	__u32 id;
};

/* Which of the wanted names have a letter in one of their first places: a bit for each. */
#define PLACES 3

struct letters {
	__u32 has[PLACES][256];
	__u32 of_kind[32];
};

static void list_letters(struct letters *letters)
{
	memset(letters, 0, sizeof(*letters));
	for (int i = 0; i < NR_WANTED; i++) {
		const char *name = wanted[i].name;

		letters->of_kind[wanted[i].kind] |= 1U << i;
		/* Two letters at least. */
		for (int at = 0; at < PLACES; at++)
			letters->has[at][(__u8)name[at]] |= 1U << i;
	}
}

/* Nearly all names differ in their first letters from each that is wanted. */
static __u32 may_be(const struct letters *letters, __u32 candidates, const char *name)
{
	for (int at = 0; at < PLACES && candidates; at++) {
		candidates &= letters->has[at][(__u8)name[at]];
		if (!name[at])
			break;
	}
	return candidates;
}

/* Compare the name of a type with those of candidates, a bit for each. */
static void match(const struct btf_type *type, __u32 id, const char *name, __u32 candidates,
		  struct found found[NR_WANTED])
{
	for (int i = 0; candidates; i++, candidates >>= 1) {
		if (candidates & 1 && !found[i].type && !strcmp(name, wanted[i].name))
			found[i] = (struct found){type, id};
	}
}

/* The loop has some 150,000 rounds, so it calls nothing for most types. */
static int find_types(struct blob *blob, struct found found[NR_WANTED])
{
	const __u8 *at = blob->types, *end = blob->types_end;
	struct letters letters;

	list_letters(&letters);
	for (__u32 id = 1; at != end; id++) {
		const struct btf_type *type = (const void *)at;
		size_t left = end - at, size = left < sizeof(*type) ? 0 : size_of(type->info);
		__u32 candidates;

		if (!size || size > left)
			return -EINVAL;
		at += size;
		if (!(id % INDEX_STEP) && id / INDEX_STEP < MAX_INDEX)
			blob->index[id / INDEX_STEP] = type;
		candidates = letters.of_kind[BTF_INFO_KIND(type->info)];
		if (candidates && type->name_off < blob->strings_size) {
			const char *name = blob->strings + type->name_off;

			candidates &= letters.has[0][(__u8)name[0]];
			if (candidates)
				match(type, id, name, may_be(&letters, candidates, name), found);
		}
	}
	return 0;
}

static bool is_nested(const struct btf_type *type)
{
	unsigned int kind = BTF_INFO_KIND(type->info);

	return kind == BTF_KIND_STRUCT || kind == BTF_KIND_UNION;
}

/* Find a field of a struct, also within anonymous ones. Return: its offset in bits, or -ENOENT. */
static long find_field(const struct blob *blob, const struct btf_type *type, const char *name,
		       int nesting)
{
	const struct btf_member *member = btf_members(type);

	for (int i = 0; i < btf_vlen(type); i++) {
		if (!strcmp(name_of(blob, member[i].name_off), name))
			return btf_member_bit_offset(type, i);
	}
	for (int i = 0; i < btf_vlen(type) && nesting < MAX_NESTING; i++) {
		const struct btf_type *inner =
			member[i].name_off ? NULL : type_by_id(blob, member[i].type);
		long bits = inner && is_nested(inner) ? find_field(blob, inner, name, nesting + 1) :
							-ENOENT;

		if (bits >= 0)
			return btf_member_bit_offset(type, i) + bits;
	}
	return -ENOENT;
}

/* --- the types for libbpf --- */

enum field_type {
	FIELD_INT,
	FIELD_LONG,
	FIELD_POINTER,
	FIELD_POINTERS,
	FIELD_NAME,
	FIELD_ENTITY,
	FIELD_HW_EVENT,
	NR_FIELD_TYPES
};

static const struct {
	enum wanted_name type;
	const char *name;
	enum field_type field;
} fields[] = {
	/* A struct comes before one that has it within itself. */
	{SCHED_ENTITY, "cfs_rq", FIELD_POINTER},
	{TASK_STRUCT, "__state", FIELD_INT},
	{TASK_STRUCT, "flags", FIELD_INT},
	{TASK_STRUCT, "se", FIELD_ENTITY},
	{TASK_STRUCT, "pid", FIELD_INT},
	{TASK_STRUCT, "tgid", FIELD_INT},
	{TASK_STRUCT, "thread_pid", FIELD_POINTER},
	{TASK_STRUCT, "signal", FIELD_POINTER},
	{TASK_STRUCT, "cgroups", FIELD_POINTER},
	{TASK_STRUCT, "prio", FIELD_INT},
	{TASK_STRUCT, "start_boottime", FIELD_LONG},
	{TASK_STRUCT, "self_exec_id", FIELD_LONG},
	{TASK_STRUCT, "group_leader", FIELD_POINTER},
	{TASK_STRUCT, "comm", FIELD_NAME},
	{SIGNAL_STRUCT, "nr_threads", FIELD_INT},
	{CFS_RQ, "rq", FIELD_POINTER},
	{RQ, "curr", FIELD_POINTER},
	{RQ, "cpu", FIELD_INT},
	{CSS_SET, "subsys", FIELD_POINTERS},
	{CSS_SET, "dfl_cgrp", FIELD_POINTER},
	{CGROUP, "kn", FIELD_POINTER},
	{CGROUP, "subsys", FIELD_POINTERS},
	{CGROUP_CSS, "cgroup", FIELD_POINTER},
	{CGROUP_CSS, "parent", FIELD_POINTER},
	{KERNFS_NODE, "id", FIELD_LONG},
	{KERNFS_NODE, "name", FIELD_POINTER},
	{HW_EVENT, "interrupts", FIELD_LONG},
	{PERF_EVENT, "hw", FIELD_HW_EVENT},
	{SAMPLE_DATA, "sample_period", FIELD_LONG},
	{SAMPLE_DATA, "addr", FIELD_LONG},
	{SAMPLE_DATA_KERNEL, "event", FIELD_POINTER},
	{USER_REGS, "pc", FIELD_LONG},
};

/* Add the types that fields have. Return: 0, or -errno. */
static int add_field_types(struct btf *btf, int ids[])
{
	ids[FIELD_INT] = btf__add_int(btf, "int", sizeof(__u32), BTF_INT_SIGNED);
	ids[FIELD_LONG] = btf__add_int(btf, "long", sizeof(__u64), 0);
	ids[FIELD_POINTER] = btf__add_ptr(btf, 0);
	/* As many as in kernel_types.bpf.h. */
	ids[FIELD_POINTERS] = btf__add_array(btf, ids[FIELD_INT], ids[FIELD_POINTER], 16);
	ids[FIELD_NAME] =
		btf__add_array(btf, ids[FIELD_INT], btf__add_int(btf, "char", 1, BTF_INT_CHAR), 16);
	return ids[FIELD_POINTERS] < 0 ? ids[FIELD_POINTERS] :
	       ids[FIELD_NAME] < 0     ? ids[FIELD_NAME] :
					 0;
}

/* A type or field that this kernel lacks is left out: then libbpf names it. */
static int add_structs(struct btf *btf, const struct blob *blob, const struct found *found)
{
	int ids[NR_FIELD_TYPES] = {}, err = add_field_types(btf, ids);
	const struct btf_type *last = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(fields) && err >= 0; i++) {
		const struct btf_type *type = found[fields[i].type].type;
		long bits = type ? find_field(blob, type, fields[i].name, 0) : -ENOENT;

		if (bits < 0)
			continue;
		if (type != last) {
			err = btf__add_struct(btf, wanted[fields[i].type].name, type->size);
			if (fields[i].type == SCHED_ENTITY)
				ids[FIELD_ENTITY] = err;
			else if (fields[i].type == HW_EVENT)
				ids[FIELD_HW_EVENT] = err;
			last = type;
		}
		if (err >= 0)
			err = btf__add_field(btf, fields[i].name, ids[fields[i].field], bits, 0);
	}
	return err < 0 ? err : 0;
}

static int add_enum(struct btf *btf, const struct blob *blob, const struct btf_type *type)
{
	const struct btf_enum *value = type ? btf_enum(type) : NULL;
	int err = type ? btf__add_enum(btf, wanted[CGROUP_IDS].name, sizeof(__u32)) : 0;

	for (int i = 0; value && err >= 0 && i < btf_vlen(type); i++)
		err = btf__add_enum_value(btf, name_of(blob, value[i].name_off), value[i].val);
	return err < 0 ? err : 0;
}

/* Return: a file with BTF, or -errno. */
static int write_types(const struct blob *blob, const struct found *found)
{
	struct btf *btf = btf__new_empty();
	int err = btf ? add_structs(btf, blob, found) : -errno;

	if (!err)
		err = add_enum(btf, blob, found[CGROUP_IDS].type);
	if (!err)
		err = btf_file__write(btf, "kernel_btf");
	btf__free(btf);
	return err;
}

/* --- all of it --- */

/* True if the tracepoint at a task's end has an argument more than its task, as since its move. */
static bool exits_late(const struct blob *blob, const struct btf_type *type)
{
	for (int i = 0; i < 2 && type; i++)
		type = type_by_id(blob, type->type);
	/* The first argument is the tracepoint's own. */
	return type && BTF_INFO_KIND(type->info) == BTF_KIND_FUNC_PROTO && btf_vlen(type) > 2;
}

int kernel_btf__read(const char *file, struct kernel_btf *btf)
{
	struct blob blob = {};
	struct found found[NR_WANTED] = {};
	int err;

	*btf = (struct kernel_btf){.types_fd = -1};
	err = read_whole(file, &blob);
	if (!err)
		err = find_sections(&blob);
	if (!err)
		err = find_types(&blob, found);
	if (!err) {
		btf->iter_task_id = found[ITER_TASK].id;
		btf->iter_cgroup_id = found[ITER_CGROUP].id;
		btf->irq_save_id = found[IRQ_SAVE].id;
		btf->irq_restore_id = found[IRQ_RESTORE].id;
		btf->kernel_context_id = found[KERNEL_CONTEXT].id;
		/* The one came later than the other. Only then look further. */
		btf->exits_late = btf->irq_save_id && exits_late(&blob, found[TRACE_EXIT].type);
		btf->types_fd = write_types(&blob, found);
		err = btf->types_fd == -ENOMEM ? -ENOMEM : 0;
		/* Files of this size are forbidden: libbpf then reads all types. */
		if (btf->types_fd < 0)
			btf->types_fd = -1;
	}
	if (blob.memory)
		munmap(blob.memory, blob.room);
	return err;
}

void kernel_btf__close(struct kernel_btf *btf)
{
	close_fd(&btf->types_fd);
}
