// SPDX-License-Identifier: GPL-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "util/host/proc_stat.h"
#include "util/lib/byte_buffer.h"
#include "util/lib/util.h"
#include "util/profile/early_maps.h"
#include "util/symbol/map_events.h"
#include "util/symbol/maps.h"
#include "util/symbol/process_table.h"
#include "util/symbol/symbol_process.h"
#include "util/symbol/symbol_table.h"
#include "util/symbol/symbols.h"
#include "util/target/target.h"

/* --- mappings --- */

static void insert(struct maps **maps, uint64_t start, uint64_t end, int image)
{
	const struct map_range range = {start, end, start * 0x10, image};

	assert_int_equal(maps__insert(maps, &range), 0);
}

/* Return: all mappings as "START-END:IMAGE@OFFSET", owned by the caller. */
static char *text_of(const struct maps *maps)
{
	char *text = NULL;
	size_t size;
	FILE *file = open_memstream(&text, &size);

	for (int i = 0; i < maps->nr; i++)
		fprintf(file, "%s%" PRIx64 "-%" PRIx64 ":%d@%" PRIx64, i ? " " : "",
			maps->ranges[i].start, maps->ranges[i].end, maps->ranges[i].image,
			maps->ranges[i].offset);
	fclose(file);
	return text;
}

static void assert_maps(const struct maps *maps, const char *want)
{
	char *text = text_of(maps);

	assert_string_equal(text, want);
	free(text);
}

static void test_a_new_mapping_replaces_what_it_overlaps(void **state __unused)
{
	struct maps *maps = maps__new();

	insert(&maps, 0x10, 0x20, 1);
	insert(&maps, 0x30, 0x40, 2);
	assert_maps(maps, "10-20:1@100 30-40:2@300");
	insert(&maps, 0x14, 0x18, 3); /* in the middle */
	assert_maps(maps, "10-14:1@100 14-18:3@140 18-20:1@108 30-40:2@300");
	insert(&maps, 0x12, 0x38, 4); /* over several */
	assert_maps(maps, "10-12:1@100 12-38:4@120 38-40:2@308");
	insert(&maps, 0x0, 0x50, 5);
	assert_maps(maps, "0-50:5@0");
	insert(&maps, 0x60, 0x60, 6); /* empty */
	assert_maps(maps, "0-50:5@0");
	maps__put(maps);
}

/* Otherwise the time for the records of a compiler that maps memory often would grow with their square. */
static void test_memory_without_a_file_takes_no_place(void **state __unused)
{
	struct maps *parent = maps__new(), *child;

	insert(&parent, 0x5, 0x8, -1);
	insert(&parent, 0x10, 0x20, 1);
	insert(&parent, 0x40, 0x50, 2);
	child = maps__get(parent);
	insert(&child, 0x0, 0x10, -1);
	insert(&child, 0x20, 0x40, -1);
	insert(&child, 0x50, 0x60, -1);
	assert_ptr_equal(child, parent);
	insert(&child, 0x18, 0x48, -1);
	assert_maps(child, "10-18:1@100 48-50:2@408");
	assert_maps(parent, "10-20:1@100 40-50:2@400");
	insert(&child, 0x0, 0x60, -1);
	assert_maps(child, "");
	maps__put(child);
	maps__put(parent);
}

static void test_a_shared_set_of_mappings_is_copied_before_a_change(void **state __unused)
{
	struct maps *parent = maps__new(), *child;

	insert(&parent, 0x10, 0x20, 1);
	child = maps__get(parent);
	insert(&child, 0x20, 0x30, 2);
	assert_maps(parent, "10-20:1@100");
	assert_maps(child, "10-20:1@100 20-30:2@200");
	maps__put(child);
	maps__put(parent);
}

static void test_an_address_is_found_in_its_mapping_only(void **state __unused)
{
	struct maps *maps = maps__new();

	insert(&maps, 0x10, 0x20, 1);
	insert(&maps, 0x30, 0x40, 2);
	assert_null(maps__find(maps, 0xf));
	assert_int_equal(maps__find(maps, 0x10)->image, 1);
	assert_int_equal(maps__find(maps, 0x1f)->image, 1);
	assert_null(maps__find(maps, 0x20));
	assert_int_equal(maps__find(maps, 0x3f)->image, 2);
	assert_null(maps__find(maps, 0x40));
	maps__put(maps);
}

static void test_a_line_of_maps_has_blanks_in_paths_and_marks_deleted_files(void **state __unused)
{
	static const char text[] = "55d0-55e0 r-xp 00001000 fe:01 1234    /opt/my app/x (deleted)\n"
				   "7ff0-7ff8 rwxp 00000000 00:00 0 \n"
				   "broken\n"
				   "7ffc000-7ffd000 r--p 00000000 00:00 0   [vvar]";
	struct map_line line;
	const char *next;

	assert_true(map_line__parse(text, &line, &next));
	assert_int_equal(line.start, 0x55d0);
	assert_int_equal(line.end, 0x55e0);
	assert_int_equal(line.offset, 0x1000);
	assert_int_equal(line.major, 0xfe);
	assert_int_equal(line.minor, 1);
	assert_int_equal(line.inode, 1234);
	assert_true(line.is_code);
	assert_true(line.is_deleted);
	assert_int_equal(line.path_len, strlen("/opt/my app/x"));
	assert_memory_equal(line.path, "/opt/my app/x", line.path_len);
	assert_true(map_line__parse(next, &line, &next));
	assert_int_equal(line.path_len, 0);
	assert_false(map_line__parse(next, &line, &next));
	assert_true(map_line__parse(next, &line, &next));
	assert_false(line.is_code);
	assert_int_equal(*next, '\0');
}

/* Otherwise the time for a text of many lines would grow with its square. */
static void test_nothing_behind_a_line_of_maps_is_read(void **state __unused)
{
	static const char text[] = "55d0-55e0 r-xp 00001000 fe:01 1234    /opt/x\n";
	size_t page = sysconf(_SC_PAGESIZE), len = strlen(text);
	char *pages =
		mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct map_line line;
	const char *next;

	assert_ptr_not_equal(pages, MAP_FAILED);
	assert_return_code(mprotect(pages + page, page, PROT_NONE), errno);
	memcpy(pages + page - len, text, len);
	assert_true(map_line__parse(pages + page - len, &line, &next));
	assert_int_equal(line.path_len, strlen("/opt/x"));
	assert_ptr_equal(next, pages + page);
	munmap(pages, 2 * page);
}

static const char *const wrong_lines[] = {
	"",
	"1000",
	"1000-2000",
	"1000-2000 r-xp",
	"1000-2000 r-x 0 0:0 1 /short",
	"1000-2000 r-xps 0 0:0 1 /long",
	"1000-2000 r-xp 0 0:0",
	"1000-2000 r-xp 0 0 1 /x",
	"1000-2000 r-xp 0 0:0 1f /x",
	"1000-2000 r-xp 0 0:0 f /x",
	"1000- 2000 r-xp 0 0:0 1 /x",
	"-1000-2000 r-xp 0 0:0 1 /x",
	"1000-\n2000 r-xp 0 0:0 1 /x",
	"1000-2000 r-xp 0 0:0\n1 /x",
};

static void test_a_line_of_another_form_is_no_mapping(void **state __unused)
{
	for (size_t i = 0; i < ARRAY_SIZE(wrong_lines); i++) {
		struct map_line line;
		const char *next, *text = wrong_lines[i];

		assert_false(map_line__parse(text, &line, &next));
		assert_ptr_equal(next, text + strcspn(text, "\n") + (strchr(text, '\n') != NULL));
	}
}

/* --- processes --- */

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

static struct byte_buffer ksymbol_record(uint16_t type, uint16_t flags, uint64_t address)
{
	struct byte_buffer record = begin_record(PERF_RECORD_KSYMBOL, 0);

	byte_buffer__put_u64(&record, address);
	byte_buffer__put_u32(&record, 0x40);
	byte_buffer__put_u16(&record, type);
	byte_buffer__put_u16(&record, flags);
	byte_buffer__put_text(&record, "bpf_prog_1");
	byte_buffer__pad(&record, 8);
	return record;
}

/* Apply a record, which is released. Return: whether the kernel has new symbols. */
static bool apply(struct process_table *table, struct symbol_table *kernel,
		  struct byte_buffer record)
{
	bool has_symbols = false;

	assert_int_equal(map_events__apply(record.data, record.len, table, kernel, &has_symbols),
			 0);
	byte_buffer__clear(&record);
	return has_symbols;
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

	assert_true(apply(NULL, &kernel, ksymbol_record(PERF_RECORD_KSYMBOL_TYPE_BPF, 0, 0x1000)));
	assert_false(apply(NULL, &kernel, ksymbol_record(PERF_RECORD_KSYMBOL_TYPE_OOL, 0, 0x2000)));
	assert_false(apply(NULL, &kernel,
			   ksymbol_record(PERF_RECORD_KSYMBOL_TYPE_BPF,
					  PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER, 0x3000)));
	assert_false(apply(NULL, &kernel, begin_record(PERF_RECORD_EXIT, 0)));
	symbol_table__sort(&kernel);
	assert_int_equal(kernel.nr, 1);
	symbol = symbol_table__find(&kernel, 0x103f);
	assert_string_equal(symbol_table__name(&kernel, symbol), "bpf_prog_1");
	assert_string_equal(kernel.names + symbol->owner, "[bpf]");
	assert_null(symbol_table__find(&kernel, 0x1040));
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
			bool has_symbols = false;

			memcpy(copy, records[i].data, len);
			assert_int_equal(map_events__apply(copy, len, NULL, NULL, &has_symbols),
					 -EBADMSG);
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

/* --- names --- */

__attribute__((noinline)) int known_function(int x);
int known_function(int x)
{
	return x + 1;
}

static struct process_key key_of(pid_t pid)
{
	struct proc_stat stat;

	assert_int_equal(proc_stat__read(pid, &stat), 0);
	return (struct process_key){.pid = pid, .start_ns = stat.start_ns + 5, .comm = "symbols"};
}

static struct process_key self(void)
{
	return key_of(getpid());
}

static struct place_name name_of(struct symbols *symbols, const struct process_key *key,
				 uint64_t address, bool is_kernel, bool is_return)
{
	int process = symbols__process(symbols, key), place;
	struct place_name name;

	assert_true(process >= 0);
	place = symbols__place(symbols, process, key, address, is_kernel, is_return);
	assert_true(place >= 0);
	assert_int_equal(symbols__resolve(symbols, NULL, NULL), 0);
	symbols__name(symbols, place, &name);
	return name;
}

static struct place_name name_at(struct symbols *symbols, const struct process_key *key,
				 uint64_t address, bool is_kernel)
{
	return name_of(symbols, key, address, is_kernel, false);
}

static void test_a_function_of_this_process_has_its_name(void **state __unused)
{
	struct symbols *symbols = symbols__new(SYMBOLS_NAMES);
	struct process_key key = self();
	struct place_name name = name_at(symbols, &key, (uintptr_t)known_function + 1, false);

	assert_string_equal(name.name, "known_function");
	assert_int_equal(name.offset, 1);
	assert_string_equal(name.image, "symbols");
	assert_false(name.is_unknown);
	name = name_at(symbols, &key, (uintptr_t)getpagesize, false);
	assert_int_equal(strncmp(name.image, "libc", 4), 0);
	symbols__delete(symbols);
}

/* A function that ends with a call, the next one, and code to which handlers of signals return. */
__asm__(".text\n"
	".type ends_with_call, %function\n"
	"ends_with_call: .skip 16\n"
	".size ends_with_call, 16\n"
	".type next_function, %function\n"
	"next_function: .skip 16\n"
	".size next_function, 16\n"
	".skip 16\n"
	".type trampoline, %function\n"
	"trampoline: .skip 16\n"
	".size trampoline, 16\n");
extern const char ends_with_call[], next_function[], trampoline[];

static void test_a_return_address_is_in_the_function_of_the_call(void **state __unused)
{
	struct symbols *symbols = symbols__new(SYMBOLS_NAMES);
	struct process_key key = self();
	struct place_name name = name_of(symbols, &key, (uintptr_t)next_function, false, true);

	assert_string_equal(name.name, "ends_with_call");
	assert_int_equal(name.offset, 16);
	name = name_at(symbols, &key, (uintptr_t)next_function, false);
	assert_string_equal(name.name, "next_function");
	assert_int_equal(name.offset, 0);
	name = name_of(symbols, &key, (uintptr_t)ends_with_call + 4, false, true);
	assert_string_equal(name.name, "ends_with_call");
	assert_int_equal(name.offset, 4);
	/* There is no function before it. */
	name = name_of(symbols, &key, (uintptr_t)trampoline, false, true);
	assert_string_equal(name.name, "trampoline");
	assert_int_equal(name.offset, 0);
	symbols__delete(symbols);
}

static void test_another_process_that_has_the_pid_now_gives_no_names(void **state __unused)
{
	struct symbols *symbols = symbols__new(SYMBOLS_NAMES);
	struct process_key key = self();
	struct place_name name;
	char *want = xasprintf("[anon]+0x%" PRIxPTR, (uintptr_t)known_function);

	key.start_ns -= NSEC_PER_SEC;
	name = name_at(symbols, &key, (uintptr_t)known_function, false);
	assert_true(name.is_unknown);
	assert_string_equal(name.name, want);
	free(want);
	symbols__delete(symbols);
}

static void test_code_without_a_symbol_is_file_and_offset(void **state __unused)
{
	char path[] = "/tmp/perf-unit-XXXXXX";
	int fd = mkstemp(path);
	struct symbols *symbols = symbols__new(SYMBOLS_NAMES);
	struct process_key key = self();
	struct place_name name;
	char *want, *code;

	assert_int_equal(ftruncate(fd, 0x3000), 0);
	code = mmap(NULL, 0x1000, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0x2000);
	assert_ptr_not_equal(code, MAP_FAILED);
	unlink(path);
	name = name_at(symbols, &key, (uintptr_t)code + 0x34, false);
	want = xasprintf("%s+0x2034", strrchr(path, '/') + 1);
	assert_string_equal(name.name, want);
	assert_true(name.is_unknown);
	free(want);
	symbols__delete(symbols);
	munmap(code, 0x1000);
	close(fd);
}

static void test_a_file_that_is_called_deleted_is_opened(void **state __unused)
{
	char path[] = "/tmp/perf-unit-XXXXXX (deleted)";
	int fd = mkstemps(path, strlen(" (deleted)"));
	struct image image = {.kind = IMAGE_FILE, .fd = -1, .debug_fd = -1, .alt_fd = -1};
	struct stat st;

	assert_int_equal(fstat(fd, &st), 0);
	image.inode = st.st_ino;
	image.path = strndup(path, strlen(path) - strlen(" (deleted)"));
	assert_int_equal(image__open(&image), 0);
	assert_string_equal(image.path, path);
	image__close(&image);
	/* Another file of that name is not taken. */
	image.path[strlen(path) - strlen(" (deleted)")] = '\0';
	image.inode++;
	assert_int_equal(image__open(&image), -ENOENT);
	free(image.path);
	unlink(path);
	close(fd);
}

/* Return: the process that reads files. */
static pid_t worker(void)
{
	char *children = xasprintf("/proc/self/task/%d/children", getpid());
	char *text = read_file(children, NULL);
	char *workers = xasprintf("/proc/%d/task/%d/children", atoi(text), atoi(text));
	pid_t pid = 0;

	free(text);
	while (!pid) {
		text = read_file(workers, NULL);
		pid = text ? atoi(text) : 0;
		free(text);
	}
	free(children);
	free(workers);
	return pid;
}

static void test_a_file_that_cannot_be_read_in_time_has_no_names(void **state __unused)
{
	struct symbols *symbols = symbols__new(SYMBOLS_NAMES);
	struct process_key key = self();
	struct place_name name;

	symbol_process__limit(symbols__reader(symbols), &(struct symbol_limits){1000, 10000});
	kill(worker(), SIGSTOP);
	name = name_at(symbols, &key, (uintptr_t)known_function, false);
	assert_int_equal(strncmp(name.name, "symbols+0x", 10), 0);
	assert_true(name.is_unknown);
	/* Other files have theirs. */
	symbol_process__limit(symbols__reader(symbols), &(struct symbol_limits){10000, 10000});
	assert_false(name_at(symbols, &key, (uintptr_t)getpagesize, false).is_unknown);
	symbols__delete(symbols);
}

static volatile sig_atomic_t nr_signals;

static void count_signal(int sig __unused)
{
	nr_signals++;
}

static void test_a_signal_cuts_short_what_takes_long(void **state __unused)
{
	struct symbols *symbols = symbols__new(SYMBOLS_NAMES);
	struct process_key key = self();
	struct place_name name;
	sigset_t term;

	signal(SIGTERM, count_signal);
	symbol_process__limit(symbols__reader(symbols), &(struct symbol_limits){600000, 600000});
	kill(worker(), SIGSTOP);
	sigemptyset(&term);
	sigaddset(&term, SIGTERM);
	sigprocmask(SIG_BLOCK, &term, NULL);
	raise(SIGTERM);
	name = name_at(symbols, &key, (uintptr_t)known_function, false);
	assert_int_equal(strncmp(name.name, "symbols+0x", 10), 0);
	assert_int_equal(nr_signals, 0);
	sigprocmask(SIG_UNBLOCK, &term, NULL);
	assert_int_equal(nr_signals, 1);
	signal(SIGTERM, SIG_DFL);
	symbols__delete(symbols);
}

static void put_perf_map(const char *path, mode_t mode, uid_t owner, const char *text)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	fputs(text, file);
	fclose(file);
	chmod(path, mode);
	if (owner)
		assert_int_equal(chown(path, owner, -1), 0);
}

static void test_a_reader_without_memory_ends_nothing(void **state __unused)
{
	char *path = xasprintf("/tmp/perf-%d.map", getpid());
	const struct rlimit none = {1, 1};
	struct symbols *symbols = symbols__new(SYMBOLS_NAMES);
	struct process_key key = self();

	put_perf_map(path, 0600, 0, "10000 100 jitted one\n");
	assert_int_equal(truncate(path, 100 << 20), 0);
	assert_int_equal(prlimit(worker(), RLIMIT_AS, &none, NULL), 0);
	/* Its name is unknown, or the next reader finds it if this one ends. */
	(void)name_at(symbols, &key, 0x10010, false);
	symbols__delete(symbols);
	unlink(path);
	free(path);
}

static void test_code_of_a_jit_compiler_is_in_its_perf_map(void **state __unused)
{
	char *path = xasprintf("/tmp/perf-%d.map", getpid());
	struct symbols *symbols = symbols__new(SYMBOLS_NAMES);
	struct process_key key = self();
	struct place_name name;

	put_perf_map(path, 0600, 0, "10000 100 jitted one\n");
	name = name_at(symbols, &key, 0x10010, false);
	assert_string_equal(name.name, "jitted one");
	assert_string_equal(name.image, "[jit]");
	assert_int_equal(name.offset, 0x10);
	symbols__delete(symbols);
	unlink(path);
	free(path);
}

static void test_a_perf_map_of_another_user_is_not_read(void **state __unused)
{
	char *path = xasprintf("/tmp/perf-%d.map", getpid());
	struct symbols *symbols;
	struct process_key key = self();

	if (geteuid())
		skip(); /* only root can give files away */
	symbols = symbols__new(SYMBOLS_NAMES);
	put_perf_map(path, 0644, 12345, "10000 100 forged\n");
	assert_string_equal(name_at(symbols, &key, 0x10010, false).name, "[anon]+0x10010");
	symbols__delete(symbols);
	unlink(path);
	free(path);
}

static void test_a_fifo_in_place_of_a_perf_map_blocks_nobody(void **state __unused)
{
	char *path = xasprintf("/tmp/perf-%d.map", getpid());
	struct symbols *symbols = symbols__new(SYMBOLS_NAMES);
	struct process_key key = self();

	assert_int_equal(mkfifo(path, 0600), 0);
	assert_string_equal(name_at(symbols, &key, 0x10010, false).name, "[anon]+0x10010");
	symbols__delete(symbols);
	unlink(path);
	free(path);
}

static void test_the_kernels_functions_have_names_or_addresses(void **state __unused)
{
	char *text = read_file("/proc/kallsyms", NULL),
	     *line = text ? strstr(text, " T schedule\n") : NULL;
	struct symbols *symbols = symbols__new(SYMBOLS_NAMES);
	struct process_key key = self();
	struct place_name name;
	uint64_t address;

	name = name_at(symbols, &key, 0x10, true);
	assert_string_equal(name.name, "[kernel]+0x10");
	assert_true(name.is_unknown);
	assert_true(name.is_kernel);
	while (line && line > text && line[-1] != '\n')
		line--;
	if (line && sscanf(line, "%" SCNx64, &address) == 1 && address) {
		name = name_at(symbols, &key, address, true);
		assert_string_equal(name.name, "schedule");
		assert_string_equal(name.image, "[kernel]");
		name = name_of(symbols, &key, address, true, true);
		assert_string_not_equal(name.name, "schedule");
		assert_int_not_equal(name.offset, 0);
	}
	free(text);
	symbols__delete(symbols);
}

static void test_places_of_one_function_share_its_number(void **state __unused)
{
	struct symbols *symbols = symbols__new(SYMBOLS_NAMES);
	struct process_key key = self();
	struct place_name a, b, c;

	a = name_at(symbols, &key, (uintptr_t)known_function, false);
	b = name_at(symbols, &key, (uintptr_t)known_function + 1, false);
	c = name_at(symbols, &key, (uintptr_t)self, false);
	assert_int_equal(a.function, b.function);
	assert_int_not_equal(a.function, c.function);
	symbols__delete(symbols);
}

/* A child that ends before anybody looks: only the kernel's records have its mappings. */
static void test_a_process_that_ended_has_names_by_records(void **state __unused)
{
	struct symbols *symbols;
	struct process_key key = self();
	struct place_name name;
	int status;

	if (geteuid())
		skip();
	symbols = symbols__new(SYMBOLS_NAMES);
	symbols__follow(symbols);
	key.pid = fork();
	if (!key.pid)
		_exit(0);
	assert_int_equal(waitpid(key.pid, &status, 0), key.pid);
	key.start_ns += 1; /* the record of the fork has a later time */
	assert_int_equal(symbols__update(symbols), 0);
	name = name_at(symbols, &key, (uintptr_t)known_function, false);
	assert_string_equal(name.name, "known_function");
	assert_int_equal(symbols__nr_lost(symbols), 0);
	symbols__delete(symbols);
}

/* Return: a child that waits for its end. */
static pid_t waiting_child(void)
{
	pid_t pid = fork();

	if (!pid) {
		alarm(60); /* if a test fails */
		for (;;)
			pause();
	}
	return pid;
}

static void end_child(pid_t pid)
{
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void test_processes_that_ran_before_have_names_after_their_end(void **state __unused)
{
	const pid_t pids[] = {waiting_child(), waiting_child(), waiting_child()};
	char *listed = xasprintf("%d,%d", pids[0], pids[1]);
	const struct target target = {.pid_list = listed};
	struct symbols *symbols = symbols__new(SYMBOLS_NAMES);
	struct early_maps maps = {};

	assert_int_equal(early_maps__begin(&maps, &target), 0);
	/* One at a time without time. */
	assert_int_equal(early_maps__read(&maps, symbols, 0), 0);
	assert_int_equal(maps.nr_read, 1);
	assert_int_equal(early_maps__read(&maps, symbols, 60 * NSEC_PER_SEC), 0);
	assert_int_equal(maps.nr_read, 2);
	assert_int_equal(early_maps__read(&maps, symbols, 60 * NSEC_PER_SEC), 0);
	for (size_t i = 0; i < ARRAY_SIZE(pids); i++) {
		const struct process_key key = key_of(pids[i]);

		end_child(pids[i]);
		/* The third one was not listed. */
		assert_int_equal(
			name_at(symbols, &key, (uintptr_t)known_function, false).is_unknown, i > 1);
	}
	early_maps__clear(&maps);
	symbols__delete(symbols);
	free(listed);
}

static void test_a_command_has_no_processes_before_it_begins(void **state __unused)
{
	const struct target target = {.argc = 1};
	struct early_maps maps = {};

	assert_int_equal(early_maps__begin(&maps, &target), 0);
	assert_int_equal(maps.pids.nr, 0);
}

/* Map the code of this program once more, from a copy that is then removed. Return: where known_function() is. */
static uint64_t map_deleted_copy(void)
{
	char path[] = "/tmp/perf-unit-XXXXXX", *maps = read_file("/proc/self/maps", NULL);
	uint64_t address = (uintptr_t)known_function;
	const char *next = maps;
	struct map_line line;
	size_t len;
	char *text, *code;
	int fd = mkstemp(path);

	while (!map_line__parse(next, &line, &next) || line.end <= address)
		;
	text = read_file("/proc/self/exe", &len);
	assert_int_equal(write(fd, text, len), len);
	code = mmap(NULL, line.end - line.start, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd,
		    line.offset);
	assert_ptr_not_equal(code, MAP_FAILED);
	unlink(path);
	close(fd);
	free(maps);
	free(text);
	return (uintptr_t)code + (address - line.start);
}

static void test_a_file_is_opened_by_the_process_that_was_sampled(void **state __unused)
{
	struct process_key key = self(), ended = self();
	uint64_t address;
	struct symbols *symbols;

	if (geteuid())
		skip(); /* others may not open a mapping of a file that is gone */
	address = map_deleted_copy();
	symbols = symbols__new(SYMBOLS_NAMES);
	assert_true(symbols__process(symbols, &key) >= 0);
	ended.pid = waiting_child();
	ended.start_ns = 0;
	assert_true(symbols__process(symbols, &ended) >= 0);
	end_child(ended.pid);
	assert_string_equal(name_at(symbols, &key, address, false).name, "known_function");
	symbols__delete(symbols);
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
		cmocka_unit_test(test_a_new_mapping_replaces_what_it_overlaps),
		cmocka_unit_test(test_memory_without_a_file_takes_no_place),
		cmocka_unit_test(test_a_shared_set_of_mappings_is_copied_before_a_change),
		cmocka_unit_test(test_an_address_is_found_in_its_mapping_only),
		cmocka_unit_test(test_a_line_of_maps_has_blanks_in_paths_and_marks_deleted_files),
		cmocka_unit_test(test_nothing_behind_a_line_of_maps_is_read),
		cmocka_unit_test(test_a_line_of_another_form_is_no_mapping),
		cmocka_unit_test(test_a_child_has_its_parents_mappings_until_it_executes),
		cmocka_unit_test(test_programs_of_one_name_are_told_apart),
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
		cmocka_unit_test(test_records_that_are_cut_off_are_refused),
		cmocka_unit_test(test_build_ids_that_are_cut_off_are_refused),
		cmocka_unit_test(test_a_function_of_this_process_has_its_name),
		cmocka_unit_test(test_a_return_address_is_in_the_function_of_the_call),
		cmocka_unit_test(test_another_process_that_has_the_pid_now_gives_no_names),
		cmocka_unit_test(test_code_without_a_symbol_is_file_and_offset),
		cmocka_unit_test(test_a_file_that_is_called_deleted_is_opened),
		cmocka_unit_test(test_a_reader_without_memory_ends_nothing),
		cmocka_unit_test(test_a_file_that_cannot_be_read_in_time_has_no_names),
		cmocka_unit_test(test_a_signal_cuts_short_what_takes_long),
		cmocka_unit_test(test_code_of_a_jit_compiler_is_in_its_perf_map),
		cmocka_unit_test(test_a_perf_map_of_another_user_is_not_read),
		cmocka_unit_test(test_a_fifo_in_place_of_a_perf_map_blocks_nobody),
		cmocka_unit_test(test_the_kernels_functions_have_names_or_addresses),
		cmocka_unit_test(test_places_of_one_function_share_its_number),
		cmocka_unit_test(test_a_process_that_ended_has_names_by_records),
		cmocka_unit_test(test_processes_that_ran_before_have_names_after_their_end),
		cmocka_unit_test(test_a_command_has_no_processes_before_it_begins),
		cmocka_unit_test(test_a_pid_of_a_process_that_was_read_early_is_used_again),
		cmocka_unit_test(test_a_file_is_opened_by_the_process_that_was_sampled),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
