// SPDX-License-Identifier: GPL-2.0
/* Names of addresses in processes and in the kernel. */
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

#include "processes.h"
#include "util/lib/byte_buffer.h"
#include "util/lib/util.h"
#include "util/profile/early_maps.h"
#include "util/symbol/maps.h"
#include "util/symbol/symbol_process.h"
#include "util/symbol/symbols.h"
#include "util/target/target.h"

__attribute__((noinline)) int known_function(int x);
int known_function(int x)
{
	return x + 1;
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
	struct symbols *symbols = symbols__new(SYMBOLS_NAMES, false);
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
	struct symbols *symbols = symbols__new(SYMBOLS_NAMES, false);
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
	struct symbols *symbols = symbols__new(SYMBOLS_NAMES, false);
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
	struct symbols *symbols = symbols__new(SYMBOLS_NAMES, false);
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
	struct symbols *symbols = symbols__new(SYMBOLS_NAMES, false);
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
	struct symbols *symbols = symbols__new(SYMBOLS_NAMES, false);
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
	struct symbols *symbols = symbols__new(SYMBOLS_NAMES, false);
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
	struct symbols *symbols = symbols__new(SYMBOLS_NAMES, false);
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
	symbols = symbols__new(SYMBOLS_NAMES, false);
	put_perf_map(path, 0644, 12345, "10000 100 forged\n");
	assert_string_equal(name_at(symbols, &key, 0x10010, false).name, "[anon]+0x10010");
	symbols__delete(symbols);
	unlink(path);
	free(path);
}

static void test_a_fifo_in_place_of_a_perf_map_blocks_nobody(void **state __unused)
{
	char *path = xasprintf("/tmp/perf-%d.map", getpid());
	struct symbols *symbols = symbols__new(SYMBOLS_NAMES, false);
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
	struct symbols *symbols = symbols__new(SYMBOLS_NAMES, false);
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
	struct symbols *symbols = symbols__new(SYMBOLS_NAMES, false);
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
	symbols = symbols__new(SYMBOLS_NAMES, false);
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

static void test_processes_that_ran_before_have_names_after_their_end(void **state __unused)
{
	const pid_t pids[] = {waiting_child(), waiting_child(), waiting_child()};
	char *listed = xasprintf("%d,%d", pids[0], pids[1]);
	const struct target target = {.pid_list = listed};
	struct symbols *symbols = symbols__new(SYMBOLS_NAMES, false);
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
	symbols = symbols__new(SYMBOLS_NAMES, false);
	assert_true(symbols__process(symbols, &key) >= 0);
	ended.pid = waiting_child();
	ended.start_ns = 0;
	assert_true(symbols__process(symbols, &ended) >= 0);
	end_child(ended.pid);
	assert_string_equal(name_at(symbols, &key, address, false).name, "known_function");
	symbols__delete(symbols);
}

static void test_new_places_are_refused_at_the_limit_and_known_ones_found(void **state)
{
	struct symbols *symbols = symbols__new(SYMBOLS_NAMES, false);

	(void)state;
	for (int i = 0; i < SYMBOLS_MAX_PLACES; i++)
		assert_int_equal(symbols__place(symbols, 0, NULL, i, true, false), i);
	assert_int_equal(symbols__place(symbols, 0, NULL, SYMBOLS_MAX_PLACES, true, false),
			 -ENOMEM);
	assert_int_equal(symbols__place(symbols, 0, NULL, 4711, true, false), 4711);
	symbols__delete(symbols);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
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
		cmocka_unit_test(test_a_file_is_opened_by_the_process_that_was_sampled),
		cmocka_unit_test(test_new_places_are_refused_at_the_limit_and_known_ones_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
