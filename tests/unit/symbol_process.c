// SPDX-License-Identifier: GPL-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "util/lib/byte_buffer.h"
#include "util/lib/util.h"
#include "util/symbol/sandbox.h"
#include "util/symbol/symbol_process.h"
#include "util/symbol/symbol_worker.h"

/* A function whose name is looked up in this program's own file. */
__attribute__((noinline)) int known_function(int x);
int known_function(int x)
{
	return x + 1;
}

static int find_offset(struct dl_phdr_info *info, size_t size __unused, void *offset)
{
	uint64_t address = (uintptr_t)known_function - info->dlpi_addr;

	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *header = &info->dlpi_phdr[i];

		if (header->p_type == PT_LOAD && address - header->p_vaddr < header->p_filesz)
			*(uint64_t *)offset = address - header->p_vaddr + header->p_offset;
	}
	return 1; /* the first is the program */
}

/* A file that is read without others. */
static struct symbol_files alone(enum symbol_file_kind kind, int fd)
{
	return (struct symbol_files){.kind = kind, .fd = fd, .debug_fd = -1, .alt_fd = -1};
}

/* The position of known_function() in the file. */
static uint64_t known_offset(void)
{
	uint64_t offset = 0;

	dl_iterate_phdr(find_offset, &offset);
	assert_int_not_equal(offset, 0);
	return offset;
}

/* Return: a child of a process; 0: none */
static pid_t child_of(pid_t parent)
{
	DIR *dir = opendir("/proc");
	struct dirent *entry;
	pid_t child = 0;

	while ((entry = readdir(dir))) {
		char *path = xasprintf("/proc/%s/stat", entry->d_name);
		char *text = atoi(entry->d_name) ? read_file(path, NULL) : NULL;
		char *rest = text ? strrchr(text, ')') : NULL;
		int ppid;

		if (rest && sscanf(rest, ") %*c %d", &ppid) == 1 && ppid == parent)
			child = atoi(entry->d_name);
		free(text);
		free(path);
	}
	closedir(dir);
	return child;
}

static pid_t worker(void)
{
	pid_t keeper = child_of(getpid()), child;

	assert_int_not_equal(keeper, 0);
	while (!(child = child_of(keeper)))
		usleep(1000);
	return child;
}

static int open_pid(pid_t pid)
{
	int fd = syscall(SYS_pidfd_open, pid, 0);

	assert_return_code(fd, errno);
	return fd;
}

/* Wait until a process has ended, whoever reaps it. */
static void wait_for_end_of(int pidfd)
{
	struct pollfd poll_fd = {.fd = pidfd, .events = POLLIN};
	int ret = poll(&poll_fd, 1, 60000);

	if (!ret)
		syscall(SYS_pidfd_send_signal, pidfd, SIGKILL, NULL, 0);
	close(pidfd);
	assert_int_equal(ret, 1);
}

struct found {
	int nr;
	char name[100];
	uint64_t offset;
	int idx;
};

static void take(void *ctx, int idx, const char *name, uint64_t offset)
{
	struct found *found = ctx;

	found->nr++;
	snprintf(found->name, sizeof(found->name), "%s", name);
	found->offset = offset;
	found->idx = idx;
}

static void assert_knows(struct symbol_process *process)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	const struct symbol_files files = alone(SYMBOL_FILE_ELF, fd);
	uint64_t addresses[] = {1ULL << 40, known_offset() + 1};
	struct found found = {};

	assert_int_equal(symbol_process__name(process, &files, addresses, 2, take, &found), 0);
	assert_int_equal(found.nr, 1);
	assert_string_equal(found.name, "known_function");
	assert_int_equal(found.offset, 1);
	assert_int_equal(found.idx, 1);
	close(fd);
}

static void test_a_function_is_found_by_its_place_in_the_file(void **state __unused)
{
	struct symbol_process *process = symbol_process__start(false);

	assert_non_null(process);
	assert_knows(process);
	assert_knows(process); /* from the kept table */
	symbol_process__stop(process);
}

struct found_lines {
	int nr;
	bool is_here;
};

static void take_frame(void *ctx, int idx, const struct symbol_line *line)
{
	struct found_lines *found = ctx;

	found->nr++;
	found->is_here = idx == 1 && !line->depth && line->line > 0 &&
			 strstr(line->file, "tests/unit/symbol_process.c");
}

static void assert_has_lines(struct symbol_process *process)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	const uint64_t addresses[] = {1ULL << 40, known_offset()};
	struct found_lines found = {};
	const struct symbol_files files = alone(SYMBOL_FILE_LINES, fd);
	int err = symbol_process__lines(process, &files, addresses, 2, take_frame, &found);

	close(fd);
	if (err == -ENOSYS || err == -ENODATA)
		skip(); /* no libdw, or no -g */
	assert_int_equal(err, 0);
	assert_int_equal(found.nr, 1);
	assert_true(found.is_here);
}

static void test_lines_come_also_after_a_worker_died(void **state __unused)
{
	struct symbol_process *process = symbol_process__start(true);

	assert_has_lines(process);
	assert_has_lines(process); /* from the kept tables */
	kill(worker(), SIGKILL);
	assert_has_lines(process);
	assert_knows(process);
	symbol_process__stop(process);
}

static void test_without_libdw_there_are_no_lines(void **state __unused)
{
	struct symbol_process *process = symbol_process__start(false);
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	const struct symbol_files files = alone(SYMBOL_FILE_LINES, fd);
	const uint64_t address = known_offset();

	assert_int_equal(symbol_process__lines(process, &files, &address, 1, take_frame, NULL),
			 -ENOSYS);
	assert_knows(process);
	close(fd);
	symbol_process__stop(process);
}

static void test_many_addresses_keep_their_indices(void **state __unused)
{
	enum { NR = 2 * SYMBOL_MAX_ADDRESSES + 3 };
	struct symbol_process *process = symbol_process__start(false);
	uint64_t *addresses = calloc(NR, sizeof(*addresses));
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	const struct symbol_files files = alone(SYMBOL_FILE_ELF, fd);
	struct found found = {};

	for (int i = 0; i < NR; i++)
		addresses[i] = 1ULL << 40;
	addresses[NR - 2] = known_offset();
	assert_int_equal(symbol_process__name(process, &files, addresses, NR, take, &found), 0);
	assert_int_equal(found.nr, 1);
	assert_int_equal(found.idx, NR - 2);
	found.nr = 0;
	for (int i = 0; i < NR; i++)
		addresses[i] = known_offset();
	assert_int_equal(symbol_process__name(process, &files, addresses, NR, take, &found), 0);
	assert_int_equal(found.nr, NR);
	free(addresses);
	close(fd);
	symbol_process__stop(process);
}

static void test_a_worker_that_dies_is_replaced(void **state __unused)
{
	struct symbol_process *process = symbol_process__start(false);

	assert_knows(process);
	for (int i = 0; i < 3; i++) {
		kill(worker(), SIGKILL);
		assert_knows(process);
	}
	symbol_process__stop(process);
}

/* Ask for the description of this program. */
static int describe(struct symbol_process *process)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC), err;
	struct elf_description file;
	bool is_debug_file;

	err = symbol_process__describe(process, fd, -1, &file, &is_debug_file);
	close(fd);
	return err;
}

static void test_a_worker_that_hangs_is_replaced(void **state __unused)
{
	struct symbol_process *process = symbol_process__start(false);
	pid_t first = worker();

	symbol_process__limit(process, &(struct symbol_limits){1000, SYMBOL_REQUEST_MS});
	kill(first, SIGSTOP);
	assert_int_equal(describe(process), -ETIMEDOUT);
	assert_int_not_equal(worker(), first);
	symbol_process__limit(process,
			      &(struct symbol_limits){SYMBOL_SILENT_MS, SYMBOL_REQUEST_MS});
	assert_knows(process);
	symbol_process__stop(process);
}

static void test_a_worker_that_answers_without_end_is_replaced(void **state __unused)
{
	struct symbol_process *process = symbol_process__start(false);
	pid_t first = worker();

	symbol_process__limit(process, &(struct symbol_limits){SYMBOL_SILENT_MS, 0});
	assert_int_equal(describe(process), -ETIMEDOUT);
	assert_int_not_equal(worker(), first);
	symbol_process__limit(process,
			      &(struct symbol_limits){SYMBOL_SILENT_MS, SYMBOL_REQUEST_MS});
	assert_knows(process);
	symbol_process__stop(process);
}

static void test_without_a_worker_and_a_keeper_that_runs_perf_goes_on(void **state __unused)
{
	struct symbol_process *process = symbol_process__start(false);
	pid_t first = worker(), keeper = child_of(getpid());

	/* Only a worker that has begun ends with its keeper, also when it is stopped. */
	assert_knows(process);
	symbol_process__limit(process, &(struct symbol_limits){100, SYMBOL_REQUEST_MS});
	kill(first, SIGSTOP);
	kill(keeper, SIGSTOP);
	assert_int_equal(describe(process), -ETIMEDOUT);
	assert_int_equal(describe(process), -EPIPE);
	symbol_process__stop(process);
}

static void test_without_a_keeper_there_are_no_names(void **state __unused)
{
	struct symbol_process *process = symbol_process__start(false);
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	struct elf_description file;
	bool is_debug_file;
	int worker_fd = open_pid(worker());

	kill(child_of(getpid()), SIGKILL);
	/* It ends with its keeper. */
	wait_for_end_of(worker_fd);
	assert_int_equal(symbol_process__describe(process, fd, -1, &file, &is_debug_file), -EPIPE);
	assert_int_equal(symbol_process__describe(process, fd, -1, &file, &is_debug_file), -EPIPE);
	close(fd);
	symbol_process__stop(process);
}

/* Return: a line of /proc/PID/status, owned by the caller. */
static char *status_line(pid_t pid, const char *name)
{
	char *path = xasprintf("/proc/%d/status", pid), *text = read_file(path, NULL);
	char *line = strstr(text, name);

	assert_non_null(line);
	line = strndup(line, strcspn(line, "\n"));
	free(text);
	free(path);
	return line;
}

/* In a child, before fork() returns there: if this counts down to 0, the child stops. */
static int forks_left;

static void stop_in_fork(void)
{
	if (forks_left && !--forks_left)
		raise(SIGSTOP);
}

/* Start a keeper. Return: its worker, which is stopped before it asks for its keeper's death signal */
static pid_t stopped_worker(struct symbol_process **process)
{
	pid_t stopped;
	char *line;

	forks_left = 2; /* the keeper, the worker */
	*process = symbol_process__start(false);
	forks_left = 0;
	stopped = worker();
	for (line = status_line(stopped, "State:"); !strchr(line, 'T');) {
		usleep(1000);
		free(line);
		line = status_line(stopped, "State:");
	}
	free(line);
	return stopped;
}

static void test_a_worker_stopped_at_its_start_ends_with_perf(void **state __unused)
{
	for (int is_killed = 0; is_killed < 2; is_killed++) {
		struct symbol_process *process;
		int fd = open_pid(stopped_worker(&process));

		if (is_killed)
			kill(child_of(getpid()), SIGKILL);
		symbol_process__stop(process);
		wait_for_end_of(fd);
	}
}

static void test_a_worker_stopped_at_its_start_ends_with_a_killed_perf(void **state __unused)
{
	struct symbol_process *process;
	pid_t perf, stopped = 0;
	int fds[2], fd;

	assert_return_code(pipe(fds), errno);
	perf = fork();
	if (!perf) {
		/* The process that adopts orphans is in another session, as it is outside of containers. */
		setsid();
		stopped = stopped_worker(&process);
		_exit(write(fds[1], &stopped, sizeof(stopped)) == sizeof(stopped) ? pause() : 1);
	}
	assert_int_equal(read(fds[0], &stopped, sizeof(stopped)), sizeof(stopped));
	fd = open_pid(stopped);
	kill(perf, SIGKILL);
	waitpid(perf, NULL, 0);
	wait_for_end_of(fd);
	close(fds[0]);
	close(fds[1]);
}

static void test_the_worker_is_confined(void **state __unused)
{
	static const char *const lines[] = {"CapPrm:\t0000000000000000",
					    "CapEff:\t0000000000000000", "NoNewPrivs:\t1",
					    "Seccomp:\t2"};
	int leaked = open("/proc/self/exe", O_RDONLY);
	struct symbol_process *process = symbol_process__start(false);
	char *path;
	DIR *dir;
	int nr = 0;

	assert_knows(process);
	for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
		char *name = strndup(lines[i], strcspn(lines[i], "\t") + 1);
		char *line = status_line(worker(), name);

		assert_string_equal(line, lines[i]);
		free(line);
		free(name);
	}
	path = xasprintf("/proc/%d/fd", worker());
	dir = opendir(path);
	if (dir) { /* not without root: the worker is not dumpable for us */
		for (struct dirent *entry; (entry = readdir(dir));)
			nr += *entry->d_name != '.';
		closedir(dir);
		assert_int_equal(nr, 4); /* standard ones and the socket */
	}
	free(path);
	close(leaked);
	symbol_process__stop(process);
}

/* Return: a file in memory with the first bytes of this program, some of them changed. */
static int damaged(size_t len, size_t from, size_t to, int byte)
{
	int exe = open("/proc/self/exe", O_RDONLY | O_CLOEXEC), fd = memfd_create("damaged", 0);
	char *bytes = malloc(len);

	assert_int_equal(pread(exe, bytes, len, 0), len);
	for (size_t i = from; i < to && i < len; i++)
		bytes[i] = byte;
	assert_int_equal(write(fd, bytes, len), len);
	free(bytes);
	close(exe);
	return fd;
}

static void test_damaged_files_have_no_names_and_do_no_harm(void **state __unused)
{
	struct symbol_process *process = symbol_process__start(false);

	for (size_t from = 16; from < 512; from += 8) {
		int fd = damaged(16 * 1024, from, from + 8, from % 3 ? 0xff : 0x7f);
		const struct symbol_files files = alone(SYMBOL_FILE_ELF, fd);
		uint64_t address = known_offset();
		struct found found = {};
		struct elf_description file;
		bool is_debug_file;

		(void)symbol_process__describe(process, fd, -1, &file, &is_debug_file);
		(void)symbol_process__name(process, &files, &address, 1, take, &found);
		assert_int_equal(found.nr, 0);
		close(fd);
	}
	assert_knows(process);
	symbol_process__stop(process);
}

static void test_a_text_is_no_elf_file(void **state __unused)
{
	struct symbol_process *process = symbol_process__start(false);
	int fd = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
	struct elf_description file;
	bool is_debug_file;

	assert_int_equal(symbol_process__describe(process, fd, -1, &file, &is_debug_file),
			 -ENOEXEC);
	assert_int_equal(file.id.len, 0);
	close(fd);
	symbol_process__stop(process);
}

static void test_the_build_id_of_this_program_is_read(void **state __unused)
{
	struct symbol_process *process = symbol_process__start(false);
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	bool is_debug_file = false;
	struct elf_description file;

	assert_int_equal(symbol_process__describe(process, fd, -1, &file, &is_debug_file), 0);
	assert_true(file.has_symtab);
	assert_false(is_debug_file);
	assert_int_equal(file.id.len, 20);
	close(fd);
	symbol_process__stop(process);
}

static void test_a_perf_map_is_read_by_the_worker(void **state __unused)
{
	struct symbol_process *process = symbol_process__start(false);
	int fd = memfd_create("map", 0);
	const struct symbol_files files = alone(SYMBOL_FILE_PERF_MAP, fd);
	const uint64_t addresses[] = {0x1008};
	struct found found = {};

	dprintf(fd, "1000 10 _Z3fooi\n");
	assert_int_equal(symbol_process__name(process, &files, addresses, 1, take, &found), 0);
	assert_string_equal(found.name, "foo");
	close(fd);
	symbol_process__stop(process);
}

/* --- files that are opened for a library --- */

/* Answer with -ENOTTY if the worker opens just the descriptor that it was given, and nothing by name. */
static int serve_opens(int fd)
{
	char bytes[SYMBOL_MAX_PACKET];
	struct iovec part = {bytes, sizeof(bytes)};
	struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
	struct symbol_reply done = {.kind = SYMBOL_REPLY_DONE};
	struct symbol_request request;
	int given = fcntl(STDIN_FILENO, F_DUPFD, 0);
	bool is_refused = open("/proc/self/exe", O_RDONLY) < 0 && errno == ENOENT, is_given;

	assert_int_equal(sandbox__answer_open(given), -1);
	is_given = open("/proc/self/exe", O_RDONLY) == given;
	is_refused = is_refused && open("/proc/self/exe", O_RDONLY) < 0 && errno == ENOENT;
	if (recvmsg(fd, &message, 0) < (ssize_t)sizeof(request))
		return 0;
	memcpy(&request, bytes, sizeof(request));
	done.seq = request.seq;
	done.err = is_refused && is_given && sandbox__answer_open(-1) == -1 ? -ENOTTY : -EIO;
	part = (struct iovec){&done, sizeof(done)};
	(void)sendmsg(fd, &message, MSG_NOSIGNAL);
	return 0;
}

static void test_the_worker_opens_what_it_is_given_and_nothing_else(void **state __unused)
{
	struct symbol_process *process;

	if (!sandbox__can_answer_open())
		skip();
	process = symbol_process__start_serving(false, serve_opens);
	assert_int_equal(describe(process), -ENOTTY);
	symbol_process__stop(process);
}

/* --- code of a JIT compiler --- */

/* A jitdump with functions of 4 MiB, of which a file needs few bytes on a disk. */
static int many_functions(int nr)
{
	static const uint32_t header[10] = {0x4a695444, 1, 40};
	const uint64_t size = 4 << 20;
	int fd = memfd_create("jit.dump", 0);
	uint64_t at = sizeof(header);

	assert_int_equal(pwrite(fd, header, sizeof(header), 0), sizeof(header));
	for (int i = 0; i < nr; i++) {
		const uint64_t start = i * size;
		const uint64_t record[] = {(58 + size) << 32, 0, 0, start, start, size, -1ULL};

		assert_int_equal(pwrite(fd, record, sizeof(record), at), sizeof(record));
		assert_int_equal(pwrite(fd, "f", 2, at + sizeof(record)), 2);
		at += 58 + size;
	}
	assert_int_equal(ftruncate(fd, at), 0);
	return fd;
}

static void test_code_that_is_too_much_is_cut_off(void **state __unused)
{
	enum { NR = 17, SIZE = 4 << 20 };
	struct symbol_process *process = symbol_process__start(false);
	int fd = many_functions(NR);
	struct byte_buffer records = {};
	uint64_t addresses[NR];

	for (int i = 0; i < NR; i++)
		addresses[i] = (uint64_t)i * SIZE + i;
	assert_int_equal(symbol_process__jit_code(process, fd, addresses, 2, &records), 0);
	assert_int_equal(records.len, 2 * (58 + SIZE));
	byte_buffer__clear(&records);
	assert_int_equal(symbol_process__jit_code(process, fd, addresses, NR, &records), -EFBIG);
	assert_int_equal(records.len, 15 * (58 + SIZE));
	byte_buffer__clear(&records);
	assert_knows(process);
	close(fd);
	symbol_process__stop(process);
}

/* --- a worker in the hands of a hostile file --- */

static enum {
	TOO_MANY_NAMES,
	TOO_MANY_LINES,
	TOO_MANY_PLACES,
	TOO_MANY_BYTES,
	TOO_MANY_SPLITS,
	SHORT_UNIT,
	SHORT_PACKET,
	LONG_ID,
	GOOD_ERROR
} fault;

static void send_reply(int fd, const struct symbol_reply *head, const void *body, size_t len)
{
	struct iovec parts[] = {{(void *)head, sizeof(*head)}, {(void *)body, len}};
	struct msghdr message = {.msg_iov = parts, .msg_iovlen = ARRAY_SIZE(parts)};

	(void)sendmsg(fd, &message, MSG_NOSIGNAL);
}

/* Answer the first address again and again, and then as if nothing had happened. */
static void answer_wrongly(int fd, const struct symbol_request *request)
{
	const struct symbol_answer name = {};
	const struct symbol_frame frame = {};
	const struct symbol_place place = {};
	const struct symbol_split split = {};
	static const char bytes[SYMBOL_MAX_PACKET / 2];
	struct symbol_reply head = {.seq = request->seq};

	for (int i = 0; i < SYMBOL_MAX_PLACES + 1; i++) {
		if (fault == TOO_MANY_NAMES && i < 2) {
			head.kind = SYMBOL_REPLY_NAMES;
			send_reply(fd, &head, &name, sizeof(name));
		} else if (fault == TOO_MANY_LINES && i <= SYMBOL_MAX_INLINED) {
			head.kind = SYMBOL_REPLY_FRAMES;
			send_reply(fd, &head, &frame, sizeof(frame));
		} else if (fault == TOO_MANY_SPLITS && i < 2) {
			head.kind = SYMBOL_REPLY_SPLIT;
			send_reply(fd, &head, &split, sizeof(split));
		} else if (fault == SHORT_UNIT && !i) {
			head.kind = SYMBOL_REPLY_UNIT;
			send_reply(fd, &head, &split, 4);
		} else if (fault == TOO_MANY_PLACES) {
			head.kind = SYMBOL_REPLY_PLACES;
			send_reply(fd, &head, &place, sizeof(place));
		} else if (fault == TOO_MANY_BYTES && i * sizeof(bytes) <= SYMBOL_MAX_BYTES) {
			head.kind = SYMBOL_REPLY_BYTES;
			send_reply(fd, &head, bytes, sizeof(bytes));
		}
	}
	head.kind = SYMBOL_REPLY_DONE;
	head.file.id.len = fault == LONG_ID ? BUILD_ID_MAX + 1 : 0;
	head.err = fault == GOOD_ERROR ? 1 : 0;
	send_reply(fd, &head, NULL, 0);
}

/* Answer wrongly once. Later workers are good ones: the fault is in memory that this one shares. */
static bool *is_hostile;

static int serve_wrongly(int fd)
{
	char bytes[SYMBOL_MAX_PACKET];
	struct iovec part = {bytes, sizeof(bytes)};
	struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
	struct symbol_request request;

	if (!*is_hostile)
		return symbol_worker__serve(fd);
	*is_hostile = false;
	if (recvmsg(fd, &message, 0) < (ssize_t)sizeof(request))
		return 0;
	memcpy(&request, bytes, sizeof(request));
	part.iov_len = 1;
	if (fault == SHORT_PACKET)
		(void)sendmsg(fd, &message, MSG_NOSIGNAL);
	part.iov_len = sizeof(bytes);
	answer_wrongly(fd, &request);
	for (;;) /* until perf has it replaced */
		(void)recvmsg(fd, &message, 0);
}

static void ignore_place(void *ctx __unused, uint64_t start __unused, uint64_t end __unused,
			 uint64_t address __unused)
{
}

static void ignore_line(void *ctx __unused, int idx __unused,
			const struct symbol_line *line __unused)
{
}

/* The records are of no interest. */
static int jit_code(struct symbol_process *process, int fd, const uint64_t *addresses, int nr)
{
	struct byte_buffer records = {};
	int err = symbol_process__jit_code(process, fd, addresses, nr, &records);

	byte_buffer__clear(&records);
	return err;
}

static int ask_for(struct symbol_process *process, int fd)
{
	const struct symbol_files names = alone(SYMBOL_FILE_ELF, fd);
	const struct symbol_files lines = alone(SYMBOL_FILE_LINES, fd);
	const struct symbol_files functions = alone(SYMBOL_FILE_FIND, fd);
	const uint64_t address = known_offset();
	struct found found = {};

	if (fault == TOO_MANY_NAMES)
		return symbol_process__name(process, &names, &address, 1, take, &found);
	if (fault == TOO_MANY_LINES || fault == TOO_MANY_SPLITS || fault == SHORT_UNIT)
		return symbol_process__lines(process, &lines, &address, 1, ignore_line, NULL);
	if (fault == TOO_MANY_PLACES)
		return symbol_process__find(process, &functions, "name", ignore_place, NULL);
	if (fault == TOO_MANY_BYTES)
		return jit_code(process, fd, &address, 1);
	return describe(process);
}

static void test_a_worker_that_answers_wrongly_is_replaced(void **state __unused)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

	is_hostile = mmap(NULL, sizeof(*is_hostile), PROT_READ | PROT_WRITE,
			  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(is_hostile, MAP_FAILED);
	for (fault = TOO_MANY_NAMES; fault <= GOOD_ERROR; fault++) {
		struct symbol_process *process;

		*is_hostile = true;
		process = symbol_process__start_serving(false, serve_wrongly);
		assert_int_equal(ask_for(process, fd), -EBADMSG);
		assert_knows(process);
		symbol_process__stop(process);
	}
	munmap(is_hostile, sizeof(*is_hostile));
	close(fd);
}

/* --- files with functions that kill or hold their reader --- */

/* A unit's file: one that kills when it is added, when it is read, holds its reader, or is good. */
enum { KILLS_ADDED = 1, KILLS_READ, HOLDS, GOOD, NR_UNITS = 6 };

struct units {
	int nr_lines; /* requests for lines */
	bool is_added[NR_UNITS];
};

static void name_units(int fd, const struct symbol_request *request)
{
	const struct symbol_reply head = {.seq = request->seq, .kind = SYMBOL_REPLY_SPLIT};

	for (uint32_t i = 0; i < request->nr; i++) {
		const struct {
			struct symbol_split split;
			char path[2];
		} __attribute__((packed)) body = {{.id = 100 + i, .nr = i, .path_len = 2}, "/u"};

		send_reply(fd, &head, &body, sizeof(body));
	}
}

/* The address of a unit is the kind of its file, and the line tells whether it was read. */
static void read_units(int fd, const struct symbol_request *request, const uint64_t *kinds,
		       const struct units *units)
{
	struct symbol_reply head = {.seq = request->seq};

	for (uint32_t i = 0; i < request->nr; i++) {
		const uint64_t id = units->is_added[i] ? 100 + i : 0;
		const struct symbol_frame frame = {.idx = i, .line = id ? 2 : 1};

		head.kind = SYMBOL_REPLY_UNIT;
		send_reply(fd, &head, &id, sizeof(id));
		if (id && kinds[i] == KILLS_READ)
			_exit(1);
		while (id && kinds[i] == HOLDS)
			(void)recvmsg(fd, &(struct msghdr){}, 0); /* until perf has it replaced */
		head.kind = SYMBOL_REPLY_FRAMES;
		send_reply(fd, &head, &frame, sizeof(frame));
	}
}

static int serve_units(int fd)
{
	struct units units = {};
	struct {
		struct symbol_request head;
		uint64_t addresses[NR_UNITS];
	} request;
	uint64_t kinds[NR_UNITS];
	struct iovec part = {&request, sizeof(request)};
	struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};

	while (recvmsg(fd, &message, 0) >= (ssize_t)sizeof(request.head)) {
		struct symbol_reply done = {.seq = request.head.seq, .kind = SYMBOL_REPLY_DONE};

		if (request.head.kind == SYMBOL_FILE_SPLIT) {
			if (kinds[request.addresses[0]] == KILLS_ADDED)
				_exit(1);
			units.is_added[request.addresses[0]] = true;
		} else if (units.nr_lines++) {
			read_units(fd, &request.head, request.addresses, &units);
		} else {
			memcpy(kinds, request.addresses, sizeof(kinds));
			name_units(fd, &request.head);
		}
		send_reply(fd, &done, NULL, 0);
	}
	return 0;
}

static int open_any(void *ctx __unused, const char *path __unused)
{
	return open("/dev/null", O_RDONLY | O_CLOEXEC);
}

static void take_number(void *ctx, int idx, const struct symbol_line *line)
{
	((int *)ctx)[idx] = line->line;
}

/* @lines: that of each unit, 1: without its file, 2: with it */
static void assert_lines(struct symbol_process *process, const uint64_t *kinds, const int *lines)
{
	int fd = open("/dev/null", O_RDONLY | O_CLOEXEC), found[NR_UNITS] = {};
	const struct symbol_files files = {SYMBOL_FILE_LINES, fd, -1, -1, NULL, open_any, NULL};

	assert_int_equal(
		symbol_process__lines(process, &files, kinds, NR_UNITS, take_number, found), 0);
	assert_memory_equal(found, lines, sizeof(found));
	close(fd);
}

static void test_a_file_that_kills_its_reader_costs_itself_alone(void **state __unused)
{
	struct symbol_process *process = symbol_process__start_serving(false, serve_units);
	const uint64_t kinds[NR_UNITS] = {GOOD, KILLS_READ, GOOD, KILLS_ADDED, KILLS_READ, GOOD};

	assert_lines(process, kinds, (int[]){2, 1, 2, 1, 1, 2});
	symbol_process__stop(process);
}

static void test_too_many_files_that_kill_their_reader_cost_all(void **state __unused)
{
	struct symbol_process *process = symbol_process__start_serving(false, serve_units);
	const uint64_t kinds[NR_UNITS] = {GOOD,	      KILLS_READ,  KILLS_READ,
					  KILLS_READ, KILLS_ADDED, GOOD};

	assert_lines(process, kinds, (int[]){1, 1, 1, 1, 1, 1});
	symbol_process__stop(process);
}

static void test_a_file_that_holds_its_reader_does_so_once(void **state __unused)
{
	struct symbol_process *process = symbol_process__start_serving(false, serve_units);
	const uint64_t kinds[NR_UNITS] = {GOOD, GOOD, HOLDS, GOOD, GOOD, GOOD};

	/* The next worker has so long for each answer. */
	symbol_process__limit(process, &(struct symbol_limits){3000, SYMBOL_REQUEST_MS});
	assert_lines(process, kinds, (int[]){1, 1, 1, 1, 1, 1});
	symbol_process__stop(process);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_function_is_found_by_its_place_in_the_file),
		cmocka_unit_test(test_lines_come_also_after_a_worker_died),
		cmocka_unit_test(test_without_libdw_there_are_no_lines),
		cmocka_unit_test(test_many_addresses_keep_their_indices),
		cmocka_unit_test(test_a_worker_that_dies_is_replaced),
		cmocka_unit_test(test_a_worker_that_hangs_is_replaced),
		cmocka_unit_test(test_a_worker_that_answers_without_end_is_replaced),
		cmocka_unit_test(test_a_worker_that_answers_wrongly_is_replaced),
		cmocka_unit_test(test_without_a_worker_and_a_keeper_that_runs_perf_goes_on),
		cmocka_unit_test(test_without_a_keeper_there_are_no_names),
		cmocka_unit_test(test_a_worker_stopped_at_its_start_ends_with_perf),
		cmocka_unit_test(test_a_worker_stopped_at_its_start_ends_with_a_killed_perf),
		cmocka_unit_test(test_the_worker_is_confined),
		cmocka_unit_test(test_damaged_files_have_no_names_and_do_no_harm),
		cmocka_unit_test(test_a_text_is_no_elf_file),
		cmocka_unit_test(test_the_build_id_of_this_program_is_read),
		cmocka_unit_test(test_a_perf_map_is_read_by_the_worker),
		cmocka_unit_test(test_code_that_is_too_much_is_cut_off),
		cmocka_unit_test(test_a_file_that_kills_its_reader_costs_itself_alone),
		cmocka_unit_test(test_too_many_files_that_kill_their_reader_cost_all),
		cmocka_unit_test(test_a_file_that_holds_its_reader_does_so_once),
		cmocka_unit_test(test_the_worker_opens_what_it_is_given_and_nothing_else),
	};

	pthread_atfork(NULL, NULL, stop_in_fork);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
