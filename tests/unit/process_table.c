// SPDX-License-Identifier: GPL-2.0
/* Processes, their execs and their images, as records of the kernel tell them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include "processes.h"
#include "util/lib/byte_buffer.h"
#include "util/lib/util.h"
#include "util/symbol/map_events.h"
#include "util/symbol/symbol_table.h"

/* Pids that no process has. */
#define PARENT 0x3ffffff0
#define CHILD  0x3ffffff1

static void map(struct process_table *table, pid_t pid, uint64_t start, const char *path)
{
	const struct new_mapping mapping = {
		.start = start,
		.end = start + 0x1000,
		.offset = 0x2000,
		.inode = 7,
		.path = path,
		.path_len = strlen(path),
	};

	assert_int_equal(process_table__mapped(table, pid, &mapping), 0);
}

/* Return: the path of the image that a process has at an address. */
static const char *image_at(struct process_table *table, const struct process_key *key,
			    uint64_t address)
{
	int process = process_table__find(table, key), image;
	uint64_t offset;

	assert_true(process >= 0);
	image = process_table__image(table, process, key, address, &offset);
	assert_true(image >= 0);
	assert_int_equal(offset, table->images[image].kind == IMAGE_JIT ?
					 address :
					 (address & 0xfff) + 0x2000);
	return table->images[image].path;
}

static void test_a_child_has_its_parents_mappings_until_it_executes(void **state __unused)
{
	struct process_table table = {};
	struct process_key key = {.pid = CHILD, .start_ns = 900, .exec_id = 5, .comm = "shell"};

	assert_int_equal(process_table__begin(&table), 0);
	assert_int_equal(process_table__renamed(&table, PARENT, "shell", true), 0);
	map(&table, PARENT, 0x1000, "/bin/shell");
	assert_int_equal(process_table__forked(&table, CHILD, PARENT, 1000), 0);
	assert_int_equal(process_table__renamed(&table, CHILD, "tool", true), 0);
	map(&table, CHILD, 0x1000, "/bin/tool");
	assert_string_equal(image_at(&table, &key, 0x1010), "/bin/shell");
	key.exec_id = 6;
	key.comm = "renamed"; /* a thread's name changes nothing any more */
	assert_string_equal(image_at(&table, &key, 0x1010), "/bin/tool");
	assert_string_equal(image_at(&table, &key, 0x9000), "[anon]");
	key = (struct process_key){.pid = PARENT, .start_ns = 1, .exec_id = 2, .comm = "shell"};
	assert_string_equal(image_at(&table, &key, 0x1010), "/bin/shell");
	process_table__clear(&table);
}

/* A wrapper that executes a program of its own name. */
static void make_wrapper(struct process_table *table)
{
	assert_int_equal(process_table__begin(table), 0);
	assert_int_equal(process_table__renamed(table, PARENT, "shell", true), 0);
	assert_int_equal(process_table__forked(table, CHILD, PARENT, 1000), 0);
	assert_int_equal(process_table__renamed(table, CHILD, "tool", true), 0);
	map(table, CHILD, 0x1000, "/bin/wrapper");
	assert_int_equal(process_table__renamed(table, CHILD, "tool", true), 0);
	map(table, CHILD, 0x1000, "/bin/tool");
}

static void test_programs_of_one_name_are_told_apart(void **state __unused)
{
	const struct process_key first = {
		.pid = CHILD, .start_ns = 900, .exec_id = 6, .comm = "tool"};
	const struct process_key second = {
		.pid = CHILD, .start_ns = 900, .exec_id = 7, .comm = "tool"};

	/* The samples of a collection come in any order. */
	for (int i = 0; i < 2; i++) {
		struct process_table table = {};

		make_wrapper(&table);
		process_table__expect(&table, i ? &first : &second);
		process_table__expect(&table, i ? &second : &first);
		assert_string_equal(image_at(&table, &first, 0x1010), "/bin/wrapper");
		assert_string_equal(image_at(&table, &second, 0x1010), "/bin/tool");
		assert_string_equal(image_at(&table, &first, 0x1010), "/bin/wrapper");
		process_table__clear(&table);
	}
}

static void test_an_address_tells_which_program_of_a_name_is_sampled(void **state __unused)
{
	struct process_key key = {.pid = CHILD, .start_ns = 900, .exec_id = 6, .comm = "tool"};
	struct process_table table = {};

	/* The second program has begun, but there is no sample of it yet. */
	make_wrapper(&table);
	map(&table, CHILD, 0x3000, "/lib/tool.so");
	assert_int_equal(process_table__renamed(&table, CHILD, "tool", true), 0);
	map(&table, CHILD, 0x5000, "/bin/second");
	process_table__expect(&table, &key);
	assert_string_equal(image_at(&table, &key, 0x9000), "[anon]");
	assert_string_equal(image_at(&table, &key, 0x5010), "/bin/second");
	assert_string_equal(image_at(&table, &key, 0x3010), "/lib/tool.so");
	/* From here on its number is known. */
	assert_string_equal(image_at(&table, &key, 0x5010), "[anon]");
	assert_string_equal(image_at(&table, &key, 0x1010), "/bin/tool");
	key.exec_id = 7;
	process_table__expect(&table, &key);
	assert_string_equal(image_at(&table, &key, 0x5010), "/bin/second");
	key.exec_id = 6;
	assert_string_equal(image_at(&table, &key, 0x1010), "/bin/tool");
	process_table__clear(&table);
}

static void test_a_later_exec_corrects_what_names_left_open(void **state __unused)
{
	struct process_key key = {.pid = CHILD, .start_ns = 900, .exec_id = 6, .comm = "tool"};
	struct process_table table = {};

	make_wrapper(&table);
	process_table__expect(&table, &key);
	assert_string_equal(image_at(&table, &key, 0x1010), "/bin/tool");
	key.exec_id = 7;
	key.comm = "thread";
	process_table__expect(&table, &key);
	assert_string_equal(image_at(&table, &key, 0x1010), "/bin/tool");
	key.exec_id = 6;
	assert_string_equal(image_at(&table, &key, 0x1010), "/bin/wrapper");
	/* Another exec, of another name. */
	assert_int_equal(process_table__renamed(&table, CHILD, "third", true), 0);
	map(&table, CHILD, 0x1000, "/bin/third");
	key.exec_id = 8;
	key.comm = "third";
	process_table__expect(&table, &key);
	assert_string_equal(image_at(&table, &key, 0x1010), "/bin/third");
	key.exec_id = 7;
	assert_string_equal(image_at(&table, &key, 0x1010), "/bin/tool");
	process_table__clear(&table);
}

static void test_a_pid_that_is_used_again_is_another_process(void **state __unused)
{
	struct process_table table = {};
	struct process_key first = {.pid = CHILD, .start_ns = 900, .exec_id = 1, .comm = "one"};
	struct process_key second = {.pid = CHILD, .start_ns = 1900, .exec_id = 1, .comm = "two"};

	assert_int_equal(process_table__begin(&table), 0);
	assert_int_equal(process_table__forked(&table, CHILD, PARENT, 1000), 0);
	assert_int_equal(process_table__renamed(&table, CHILD, "one", true), 0);
	map(&table, CHILD, 0x1000, "/bin/one");
	assert_int_equal(process_table__forked(&table, CHILD, PARENT, 2000), 0);
	assert_int_equal(process_table__renamed(&table, CHILD, "two", true), 0);
	map(&table, CHILD, 0x1000, "/bin/two");
	assert_string_equal(image_at(&table, &second, 0x1000), "/bin/two");
	assert_string_equal(image_at(&table, &first, 0x1000), "/bin/one");
	assert_string_equal(image_at(&table, &second, 0x1000), "/bin/two");
	process_table__clear(&table);
}

static void test_a_process_without_records_that_is_gone_has_no_images(void **state __unused)
{
	struct process_table table = {};
	struct process_key key = {.pid = CHILD, .start_ns = 900, .exec_id = 1, .comm = "gone"};

	assert_int_equal(process_table__begin(&table), 0);
	assert_string_equal(image_at(&table, &key, 0x1234), "[anon]");
	process_table__clear(&table);
}

static void test_memory_with_a_file_of_the_kernel_is_no_file(void **state __unused)
{
	static const char *const paths[] = {"",
					    "//anon",
					    "/memfd:jit (deleted)",
					    "/dev/zero",
					    "/anon_hugepage",
					    "/SYSV0000002a",
					    "/anon_hugepage (deleted)"};
	const struct process_key key = {.pid = CHILD, .exec_id = EXEC_ID_LATEST};

	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		struct process_table table = {};

		assert_int_equal(process_table__begin(&table), 0);
		map(&table, CHILD, 0x1000, paths[i]);
		assert_string_equal(image_at(&table, &key, 0x1234), "[anon]");
		process_table__clear(&table);
	}
}

static void test_processes_of_32_bits_have_another_vdso(void **state __unused)
{
	const Elf64_Ehdr *own = (const void *)getauxval(AT_SYSINFO_EHDR);
	const struct process_key parent = {.pid = PARENT, .exec_id = EXEC_ID_LATEST};
	const struct process_key child = {.pid = CHILD, .exec_id = EXEC_ID_LATEST};
	struct process_table table = {};
	struct image *wide, *narrow;
	uint64_t offset;
	struct stat st;

	assert_int_equal(process_table__begin(&table), 0);
	map(&table, PARENT, 0x7ffd00000000, "[vdso]");
	map(&table, CHILD, 0xf7fc4000, "[vdso]");
	wide = &table.images[process_table__image(&table, process_table__find(&table, &parent),
						  &parent, 0x7ffd00000010, &offset)];
	narrow = &table.images[process_table__image(&table, process_table__find(&table, &child),
						    &child, 0xf7fc4010, &offset)];
	assert_int_equal(wide->kind, IMAGE_VDSO);
	assert_int_equal(narrow->kind, IMAGE_VDSO);
	assert_int_equal(image__open(narrow), -ENOENT);
	if (own) {
		assert_int_equal(image__open(wide), 0);
		assert_int_equal(fstat(wide->fd, &st), 0);
		assert_int_equal(st.st_size, own->e_shoff + own->e_shnum * own->e_shentsize);
	}
	process_table__clear(&table);
}

/* --- records of the kernel --- */

static struct byte_buffer begin_record(uint32_t type, uint16_t misc)
{
	struct byte_buffer record = {};

	byte_buffer__put_u32(&record, type);
	byte_buffer__put_u16(&record, misc);
	byte_buffer__put_u16(&record, 0);
	return record;
}

static struct byte_buffer comm_record(uint32_t pid, uint32_t tid, uint16_t misc, const char *comm)
{
	struct byte_buffer record = begin_record(PERF_RECORD_COMM, misc);

	byte_buffer__put_u32(&record, pid);
	byte_buffer__put_u32(&record, tid);
	byte_buffer__put_text(&record, comm);
	byte_buffer__pad(&record, 8);
	return record;
}

static struct byte_buffer fork_record(uint32_t pid, uint32_t parent)
{
	struct byte_buffer record = begin_record(PERF_RECORD_FORK, 0);

	byte_buffer__put_u32(&record, pid);
	byte_buffer__put_u32(&record, parent);
	byte_buffer__put_u64(&record, 0); /* threads */
	byte_buffer__put_u64(&record, 1000);
	return record;
}

static struct byte_buffer mmap_record(uint32_t pid, uint64_t start, const char *path)
{
	struct byte_buffer record = begin_record(PERF_RECORD_MMAP2, 0);

	byte_buffer__put_u32(&record, pid);
	byte_buffer__put_u32(&record, pid);
	byte_buffer__put_u64(&record, start);
	byte_buffer__put_u64(&record, 0x1000);
	byte_buffer__put_u64(&record, 0x2000); /* offset */
	byte_buffer__put_u64(&record, 0);      /* device */
	byte_buffer__put_u64(&record, 7);      /* inode, generation, protection and flags */
	byte_buffer__put_u64(&record, 0);
	byte_buffer__put_u64(&record, 0);
	byte_buffer__put_text(&record, path);
	byte_buffer__pad(&record, 8);
	return record;
}

static struct byte_buffer named_ksymbol_record(uint16_t type, uint16_t flags, uint64_t address,
					       const char *name)
{
	struct byte_buffer record = begin_record(PERF_RECORD_KSYMBOL, 0);

	byte_buffer__put_u64(&record, address);
	byte_buffer__put_u32(&record, 0x40);
	byte_buffer__put_u16(&record, type);
	byte_buffer__put_u16(&record, flags);
	byte_buffer__put_text(&record, name);
	byte_buffer__pad(&record, 8);
	return record;
}

static struct byte_buffer ksymbol_record(uint16_t type, uint16_t flags, uint64_t address)
{
	return named_ksymbol_record(type, flags, address, "bpf_prog_1");
}

/* Apply a record, which is released. */
static void apply(struct process_table *table, struct symbol_table *kernel,
		  struct byte_buffer record)
{
	assert_int_equal(map_events__apply(record.data, record.len, table, kernel), 0);
	byte_buffer__clear(&record);
}

static void test_records_of_processes_tell_their_mappings(void **state __unused)
{
	struct process_table table = {};
	struct process_key parent = {.pid = PARENT, .start_ns = 1, .exec_id = EXEC_ID_LATEST};
	struct process_key child = {.pid = CHILD, .start_ns = 900, .exec_id = EXEC_ID_LATEST};

	assert_int_equal(process_table__begin(&table), 0);
	apply(&table, NULL, comm_record(PARENT, PARENT, PERF_RECORD_MISC_COMM_EXEC, "shell"));
	apply(&table, NULL, mmap_record(PARENT, 0x1000, "/bin/shell"));
	apply(&table, NULL, fork_record(CHILD, PARENT));
	apply(&table, NULL, fork_record(CHILD, CHILD)); /* a thread */
	assert_string_equal(image_at(&table, &child, 0x1fff), "/bin/shell");
	assert_string_equal(image_at(&table, &child, 0x2000), "[anon]");
	/* The name of a thread, and one that a process gave itself, are no execs. */
	apply(&table, NULL, comm_record(CHILD, CHILD + 1, PERF_RECORD_MISC_COMM_EXEC, "thread"));
	apply(&table, NULL, comm_record(CHILD, CHILD, 0, "renamed"));
	assert_string_equal(image_at(&table, &child, 0x1000), "/bin/shell");
	apply(&table, NULL, comm_record(CHILD, CHILD, PERF_RECORD_MISC_COMM_EXEC, "tool"));
	assert_string_equal(image_at(&table, &child, 0x1000), "[anon]");
	apply(&table, NULL, mmap_record(CHILD, 0x1000, "/bin/tool (deleted)"));
	assert_string_equal(image_at(&table, &child, 0x1000), "/bin/tool");
	assert_string_equal(image_at(&table, &parent, 0x1000), "/bin/shell");
	process_table__clear(&table);
}

static void test_records_of_tasks_without_a_number_are_nobodys(void **state __unused)
{
	struct process_table table = {};
	struct process_key child = {.pid = CHILD, .start_ns = 900, .exec_id = EXEC_ID_LATEST};

	assert_int_equal(process_table__begin(&table), 0);
	apply(&table, NULL, comm_record(0, 0, PERF_RECORD_MISC_COMM_EXEC, "outside"));
	apply(&table, NULL, mmap_record(0, 0x1000, "/bin/outside"));
	assert_int_equal(table.nr, 0);
	apply(&table, NULL, fork_record(CHILD, 0));
	assert_int_equal(table.nr, 1);
	assert_string_equal(image_at(&table, &child, 0x1000), "[anon]");
	process_table__clear(&table);
}

/* The kernel sends it before the record with the inode. */
static struct byte_buffer id_record(uint32_t pid, uint64_t start, uint8_t id)
{
	struct byte_buffer record = begin_record(PERF_RECORD_MMAP2, PERF_RECORD_MISC_MMAP_BUILD_ID);

	byte_buffer__put_u32(&record, pid);
	byte_buffer__put_u32(&record, pid);
	byte_buffer__put_u64(&record, start);
	byte_buffer__put_u64(&record, 0x1000);
	byte_buffer__put_u64(&record, 0x2000);
	byte_buffer__put_u32(&record, 8);
	for (int i = 0; i < BUILD_ID_MAX; i++)
		byte_buffer__put(&record, i < 8 ? &id : &(uint8_t){0}, 1);
	byte_buffer__put_u64(&record, 0); /* protection and flags */
	byte_buffer__put_text(&record, "/bin/tool");
	byte_buffer__pad(&record, 8);
	return record;
}

static void apply_id(struct process_table *table, struct byte_buffer record)
{
	assert_int_equal(map_events__apply_id(record.data, record.len, table), 0);
	byte_buffer__clear(&record);
}

static const struct image *image_of(struct process_table *table, pid_t pid, uint64_t address)
{
	struct process_key key = {.pid = pid, .exec_id = EXEC_ID_LATEST};
	int process = process_table__find(table, &key);
	uint64_t offset;

	return &table->images[process_table__image(table, process, &key, address, &offset)];
}

static void test_a_file_has_an_image_for_each_build_id(void **state __unused)
{
	const struct build_id one = {8, "\1\1\1\1\1\1\1\1"}, two = {8, "\0\0\0\0\0\0\0\0"};
	struct byte_buffer longest = id_record(CHILD, 0x9000, 1);
	struct process_table table = {};
	const struct image *image;

	assert_int_equal(process_table__begin(&table), 0);
	apply(&table, NULL, comm_record(PARENT, PARENT, PERF_RECORD_MISC_COMM_EXEC, "tool"));
	apply(&table, NULL, comm_record(CHILD, CHILD, PERF_RECORD_MISC_COMM_EXEC, "tool"));
	apply(&table, NULL, mmap_record(PARENT, 0x1000, "/bin/tool"));
	assert_int_equal(image_of(&table, PARENT, 0x1000)->sampled_id.len, 0);
	apply_id(&table, id_record(PARENT, 0x3000, 1));
	apply_id(&table, id_record(CHILD, 0x3000, 0));
	apply(&table, NULL, mmap_record(PARENT, 0x3000, "/bin/tool"));
	apply(&table, NULL, mmap_record(CHILD, 0x3000, "/bin/tool"));
	image = image_of(&table, PARENT, 0x3000);
	assert_true(build_id__are_equal(&image->sampled_id, &one));
	assert_ptr_equal(image, image_of(&table, PARENT, 0x1000));
	image = image_of(&table, CHILD, 0x3000);
	assert_true(build_id__are_equal(&image->sampled_id, &two));
	/* One of another mapping is not taken. */
	apply_id(&table, id_record(CHILD, 0x5000, 1));
	apply(&table, NULL, mmap_record(CHILD, 0x7000, "/bin/other"));
	assert_int_equal(image_of(&table, CHILD, 0x7000)->sampled_id.len, 0);
	longest.data[40] = BUILD_ID_MAX;
	apply_id(&table, longest);
	apply(&table, NULL, mmap_record(CHILD, 0x9000, "/bin/other"));
	assert_int_equal(image_of(&table, CHILD, 0x9000)->sampled_id.len, BUILD_ID_MAX);
	process_table__clear(&table);
}

/* No process has numbers from here on. */
#define NO_PID 5000000

static void test_processes_that_ended_take_no_memory(void **state __unused)
{
	struct process_table table = {};
	struct process_key late = {.pid = NO_PID + 1, .exec_id = EXEC_ID_LATEST};
	struct process_key new = {.pid = NO_PID + 2999, .exec_id = EXEC_ID_LATEST};
	struct process_key self = {.pid = getpid(), .exec_id = EXEC_ID_LATEST};
	uint64_t offset;
	int process, image;

	assert_int_equal(process_table__begin(&table), 0);
	apply(&table, NULL, comm_record(getpid(), getpid(), 0, "self"));
	for (int i = 0; i < 3000; i++) {
		apply(&table, NULL, fork_record(NO_PID + i, getpid()));
		apply(&table, NULL,
		      comm_record(NO_PID + i, NO_PID + i, PERF_RECORD_MISC_COMM_EXEC, "tool"));
		apply(&table, NULL, mmap_record(NO_PID + i, 0x1000, "/bin/tool"));
	}
	process = process_table__find(&table, &late);
	image = process_table__image(&table, process, &late, 1, &offset);
	assert_int_equal(table.images[image].kind, IMAGE_JIT);
	assert_int_equal(process_table__forget_ended(&table), 0);
	/* Samples of it may not be collected yet. */
	assert_string_equal(image_at(&table, &late, 0x1000), "/bin/tool");
	apply(&table, NULL, fork_record(new.pid, getpid()));
	apply(&table, NULL, mmap_record(new.pid, 0x1000, "/bin/new"));
	assert_int_equal(process_table__forget_ended(&table), 0);
	assert_int_equal(table.nr, 2);
	assert_string_equal(image_at(&table, &new, 0x1000), "/bin/new");
	/* Its place is that of another process now. */
	process = process_table__find(&table, &late);
	assert_int_not_equal(process_table__image(&table, process, &late, 1, &offset), image);
	apply(&table, NULL, mmap_record(new.pid, 0x5000, "/bin/last"));
	assert_string_equal(image_at(&table, &new, 0x5000), "/bin/last");
	process = process_table__find(&table, &self);
	image = process_table__image(&table, process, &self, (uintptr_t)getpid, &offset);
	assert_int_equal(table.images[image].kind, IMAGE_FILE);
	process_table__clear(&table);
}

static void test_records_of_bpf_programs_name_them(void **state __unused)
{
	struct symbol_table kernel = {};
	const struct symbol *symbol;

	apply(NULL, &kernel, ksymbol_record(PERF_RECORD_KSYMBOL_TYPE_BPF, 0, 0x1000));
	apply(NULL, &kernel, ksymbol_record(PERF_RECORD_KSYMBOL_TYPE_OOL, 0, 0x2000));
	apply(NULL, &kernel,
	      ksymbol_record(PERF_RECORD_KSYMBOL_TYPE_BPF, PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER,
			     0x3000));
	apply(NULL, &kernel, begin_record(PERF_RECORD_EXIT, 0));
	symbol_table__sort(&kernel);
	assert_int_equal(kernel.nr, 1);
	symbol = symbol_table__find(&kernel, 0x103f);
	assert_string_equal(symbol_table__name(&kernel, symbol), "bpf_prog_1");
	assert_string_equal(kernel.names + symbol->owner, "[bpf]");
	assert_null(symbol_table__find(&kernel, 0x1040));
	symbol_table__clear(&kernel);
}

static void test_a_bpf_program_replaces_those_whose_memory_it_has(void **state __unused)
{
	struct symbol_table kernel = {};

	for (uint64_t address = 0x1000; address < 0x1100; address += 0x40)
		apply(NULL, &kernel, ksymbol_record(PERF_RECORD_KSYMBOL_TYPE_BPF, 0, address));
	symbol_table__sort(&kernel);
	/* one that was sorted, one that was not, and a part of both */
	apply(NULL, &kernel, ksymbol_record(PERF_RECORD_KSYMBOL_TYPE_BPF, 0, 0x1100));
	apply(NULL, &kernel,
	      named_ksymbol_record(PERF_RECORD_KSYMBOL_TYPE_BPF, 0, 0x10e0, "bpf_prog_2"));
	symbol_table__sort(&kernel);
	assert_int_equal(kernel.nr, 4);
	for (uint64_t address = 0x1000; address < 0x1120; address++) {
		const struct symbol *symbol = symbol_table__find(&kernel, address);
		const char *name = symbol ? symbol_table__name(&kernel, symbol) : "-";

		assert_string_equal(name, address < 0x10c0  ? "bpf_prog_1" :
					  address >= 0x10e0 ? "bpf_prog_2" :
							      "-");
	}
	symbol_table__clear(&kernel);
}

static void test_records_that_are_cut_off_are_refused(void **state __unused)
{
	struct byte_buffer records[] = {
		comm_record(CHILD, CHILD, 0, "c"),
		fork_record(CHILD, PARENT),
		mmap_record(CHILD, 0x1000, "/"),
		ksymbol_record(PERF_RECORD_KSYMBOL_TYPE_BPF, 0, 0x1000),
	};
	/* Texts need their NUL; what pads them does not matter. */
	const size_t needed[] = {18, 32, 74, 35};

	for (size_t i = 0; i < ARRAY_SIZE(records); i++) {
		for (size_t len = sizeof(struct perf_event_header); len < needed[i]; len++) {
			char *copy = malloc(len);

			memcpy(copy, records[i].data, len);
			assert_int_equal(map_events__apply(copy, len, NULL, NULL), -EBADMSG);
			free(copy);
		}
		byte_buffer__clear(&records[i]);
	}
}

static void test_build_ids_that_are_cut_off_are_refused(void **state __unused)
{
	struct byte_buffer record = id_record(CHILD, 0x1000, 1);

	for (size_t len = sizeof(struct perf_event_header); len < 64; len++) {
		char *copy = malloc(len);

		memcpy(copy, record.data, len);
		assert_int_equal(map_events__apply_id(copy, len, NULL), -EBADMSG);
		free(copy);
	}
	/* Longer than any. */
	record.data[40] = BUILD_ID_MAX + 1;
	assert_int_equal(map_events__apply_id(record.data, record.len, NULL), -EBADMSG);
	byte_buffer__clear(&record);
}

static void test_a_pid_of_a_process_that_was_read_early_is_used_again(void **state __unused)
{
	struct process_key late, early = {.exec_id = EXEC_ID_LATEST};
	struct process_table table = {};

	assert_int_equal(process_table__begin(&table), 0);
	early.pid = waiting_child();
	late = key_of(early.pid);
	assert_true(process_table__find(&table, &early) >= 0);
	end_child(early.pid);
	early.start_ns = late.start_ns;
	late.start_ns += NSEC_PER_SEC;
	assert_int_equal(
		process_table__forked(&table, late.pid, PARENT, late.start_ns + NSEC_PER_MSEC), 0);
	assert_int_equal(process_table__renamed(&table, late.pid, late.comm, true), 0);
	map(&table, late.pid, 0x1000, "/bin/late");
	assert_string_equal(image_at(&table, &late, 0x1010), "/bin/late");
	assert_string_equal(image_at(&table, &early, 0x1010), "[anon]");
	assert_string_equal(image_at(&table, &late, 0x1010), "/bin/late");
	process_table__clear(&table);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_child_has_its_parents_mappings_until_it_executes),
		cmocka_unit_test(test_programs_of_one_name_are_told_apart),
		cmocka_unit_test(test_an_address_tells_which_program_of_a_name_is_sampled),
		cmocka_unit_test(test_a_later_exec_corrects_what_names_left_open),
		cmocka_unit_test(test_a_pid_that_is_used_again_is_another_process),
		cmocka_unit_test(test_a_process_without_records_that_is_gone_has_no_images),
		cmocka_unit_test(test_memory_with_a_file_of_the_kernel_is_no_file),
		cmocka_unit_test(test_processes_of_32_bits_have_another_vdso),
		cmocka_unit_test(test_records_of_processes_tell_their_mappings),
		cmocka_unit_test(test_records_of_tasks_without_a_number_are_nobodys),
		cmocka_unit_test(test_a_file_has_an_image_for_each_build_id),
		cmocka_unit_test(test_processes_that_ended_take_no_memory),
		cmocka_unit_test(test_records_of_bpf_programs_name_them),
		cmocka_unit_test(test_a_bpf_program_replaces_those_whose_memory_it_has),
		cmocka_unit_test(test_records_that_are_cut_off_are_refused),
		cmocka_unit_test(test_build_ids_that_are_cut_off_are_refused),
		cmocka_unit_test(test_a_pid_of_a_process_that_was_read_early_is_used_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
