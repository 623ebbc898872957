// SPDX-License-Identifier: GPL-2.0
#include "util/symbol/symbol_process.h"

#include "util/lib/array.h"
#include "util/lib/byte_buffer.h"
#include "util/lib/end_signals.h"
#include "util/lib/util.h"
#include "util/symbol/debug_info.h"
#include "util/symbol/demangle.h"
#include "util/symbol/sandbox.h"
#include "util/symbol/symbol_worker.h"
#include "util/symbol/xz_data.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* Requests that take longer are cut short by a signal that ends perf. */
#define SLOW_MS 1000
/* Many replies in that time are one step for those who watch. */
#define WATCH_NS (NSEC_PER_SEC / 2)

/* So many units are known whose files with functions kill or hold their readers. */
#define MAX_BAD 16
/* So many of them may be found in one request. */
#define MAX_FOUND 3

/* A worker that cannot be confined; the keeper starts no other. */
#define STATUS_UNCONFINED 2

struct symbol_process {
	pid_t keeper;
	int fd; /* -1: there are no workers any more */
	uint32_t seq;
	struct symbol_limits limits;
	uint64_t asked_ns;	  /* time of the request */
	void (*watch)(void *ctx); /* NULL: nobody watches */
	void *watch_ctx;
	uint64_t watched_ns; /* time of the last call */
	uint32_t nr_left;    /* so many answers more are believed */
	int nr_replaced;     /* workers that died, or were killed */
	uint64_t unit;	     /* id of the unit whose file with functions is read; 0: none */
	uint64_t bad[MAX_BAD];
	int nr_bad; /* the latest stay */
	union {
		struct symbol_reply head;
		char bytes[SYMBOL_MAX_PACKET];
	} reply;
};

/* --- the keeper --- */

/*
 * Keeper and workers have a process group of their own. A worker that is stopped before it asks for its keeper's
 * death signal never gets that. So perf kills the group. If perf itself is killed, the group is an orphan. Then
 * the kernel continues a process that is stopped in it, and a worker looks for its keeper.
 * Keeper and perf both do this, since either may be first.
 */
static void lead_group(pid_t keeper)
{
	(void)setpgid(keeper, keeper); /* without a group, only the window stays open */
}

static void kill_group(pid_t keeper)
{
	kill(-keeper, SIGKILL);
	kill(keeper, SIGKILL);
}

static void run_worker(pid_t keeper, int (*serve)(int fd))
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	/* It may have ended before. */
	if (getppid() != keeper)
		_exit(0);
	if (sandbox__enter())
		_exit(STATUS_UNCONFINED);
	_exit(serve(SANDBOX_FD) ? 1 : 0);
}

static void report_death(void)
{
	const struct symbol_reply reply = {.kind = SYMBOL_REPLY_DIED};

	(void)send(SANDBOX_FD, &reply, sizeof(reply), MSG_NOSIGNAL); /* perf may be gone */
}

/* Kill the worker whenever perf asks for that. Return: false: it cannot be waited for. */
static bool wait_for_end(pid_t worker, const sigset_t *signals, int *status)
{
	pid_t ended = 0;

	while (!ended) {
		if (sigwaitinfo(signals, NULL) == SIGUSR1)
			kill(worker, SIGKILL);
		ended = waitpid(worker, status, WNOHANG);
	}
	return ended > 0;
}

/* Fork workers until one ends because perf has closed the socket. */
static void keep_workers(const sigset_t *signals, const sigset_t *before, int (*serve)(int fd))
{
	const pid_t keeper = getpid();
	int status = 0;

	for (;;) {
		pid_t worker = fork();

		if (worker < 0)
			_exit(1);
		if (!worker) {
			sigprocmask(SIG_SETMASK, before, NULL);
			run_worker(keeper, serve);
		}
		if (!wait_for_end(worker, signals, &status) ||
		    (WIFEXITED(status) && WEXITSTATUS(status) != 1))
			_exit(0);
		report_death();
	}
}

static void keep(int fd, bool has_lines, int (*serve)(int fd))
{
	sigset_t signals, before;

	lead_group(getpid());
	sigemptyset(&signals);
	sigaddset(&signals, SIGCHLD);
	sigaddset(&signals, SIGUSR1);
	sigprocmask(SIG_BLOCK, &signals, &before);
	signal(SIGCHLD, SIG_DFL); /* ignored, it would leave no status of a worker */
	prctl(PR_SET_NAME, "perf-symbols");
	(void)demangle__init(); /* without it names stay mangled */
	(void)xz_data__init();	/* without it files have the symbols of .symtab and .dynsym */
	if (has_lines)
		(void)debug_info__init(); /* without it requests get -ENOSYS */
	if (sandbox__drop_privileges(fd))
		_exit(1);
	keep_workers(&signals, &before, serve);
}

struct symbol_process *symbol_process__start_serving(bool has_lines, int (*serve)(int fd))
{
	struct symbol_process *process = calloc(1, sizeof(*process));
	int fds[2], err;

	if (!process)
		return NULL;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds)) {
		free(process);
		return NULL;
	}
	process->keeper = fork();
	if (!process->keeper)
		keep(fds[1], has_lines, serve);
	err = errno;
	close(fds[1]);
	if (process->keeper > 0)
		lead_group(process->keeper);
	if (process->keeper < 0) {
		close(fds[0]);
		free(process);
		errno = err;
		return NULL;
	}
	process->fd = fds[0];
	process->limits = (struct symbol_limits){SYMBOL_SILENT_MS, SYMBOL_REQUEST_MS};
	return process;
}

struct symbol_process *symbol_process__start(bool has_lines)
{
	return symbol_process__start_serving(has_lines, symbol_worker__serve);
}

void symbol_process__limit(struct symbol_process *process, const struct symbol_limits *limits)
{
	process->limits = *limits;
}

void symbol_process__watch(struct symbol_process *process, void (*fn)(void *ctx), void *ctx)
{
	process->watch = fn;
	process->watch_ctx = ctx;
	process->watched_ns = clock_ns();
}

void symbol_process__stop(struct symbol_process *process)
{
	if (!process)
		return;
	close_fd(&process->fd);
	/* The worker goes with it, even if it hangs. */
	kill_group(process->keeper);
	while (waitpid(process->keeper, NULL, 0) < 0 && errno == EINTR)
		;
	free(process);
}

/* --- requests --- */

/* Files that have functions of the addresses. */
struct split {
	uint64_t nr, id;
	char path[SYMBOL_MAX_NAME + 1];
};

struct splits {
	struct split *list;
	int nr;
};

struct question {
	enum symbol_file_kind kind;
	int fds[SYMBOL_MAX_FDS]; /* those behind the first: -1 or a file, as struct symbol_files has them */
	const uint64_t *addresses;
	int nr;
	int first;		   /* index of the first address for the caller */
	name_fn fn;		   /* NULL: no names are asked for */
	place_fn place_fn;	   /* NULL: no places are asked for */
	line_fn line_fn;	   /* NULL: no lines are asked for */
	struct byte_buffer *bytes; /* NULL: no records are asked for */
	struct splits *splits;	   /* NULL: as line_fn */
	bool is_last;		   /* of several: no other worker can answer it */
	void *ctx;
};

static size_t nr_fds(const struct question *question)
{
	size_t nr = 1;

	while (nr < SYMBOL_MAX_FDS && question->fds[nr] >= 0)
		nr++;
	return nr;
}

static int send_request(struct symbol_process *process, const struct question *question)
{
	struct symbol_request head = {
		.seq = ++process->seq,
		.kind = question->kind,
		.nr = question->nr,
	};
	size_t fd_bytes = nr_fds(question) * sizeof(int);
	char control[CMSG_SPACE(SYMBOL_MAX_FDS * sizeof(int))] __attribute__((aligned(8))) = {};
	struct iovec parts[] = {
		{&head, sizeof(head)},
		{(void *)question->addresses, question->nr * sizeof(*question->addresses)},
	};
	struct msghdr message = {
		.msg_iov = parts,
		.msg_iovlen = ARRAY_SIZE(parts),
		.msg_control = control,
		.msg_controllen = CMSG_SPACE(fd_bytes),
	};
	struct cmsghdr *rights = CMSG_FIRSTHDR(&message);

	rights->cmsg_level = SOL_SOCKET;
	rights->cmsg_type = SCM_RIGHTS;
	rights->cmsg_len = CMSG_LEN(fd_bytes);
	memcpy(CMSG_DATA(rights), question->fds, fd_bytes);
	while (sendmsg(process->fd, &message, MSG_NOSIGNAL) < 0) {
		if (errno != EINTR)
			return -errno;
	}
	return 0;
}

static uint64_t elapsed_ms(const struct symbol_process *process)
{
	return (clock_ns() - process->asked_ns) / NSEC_PER_MSEC;
}

static void call_watch(struct symbol_process *process)
{
	uint64_t now_ns = clock_ns();

	if (!process->watch || now_ns - process->watched_ns < WATCH_NS)
		return;
	process->watched_ns = now_ns;
	process->watch(process->watch_ctx);
}

/*
 * A worker hangs if it is stopped, if its file leads it in circles, or if the file is where no server answers.
 * The time in which perf itself is stopped is not that of the worker.
 * Return: 0; -EINTR: a signal cuts the request short; -ETIMEDOUT: give up.
 */
static int wait_for_reply(struct symbol_process *process)
{
	struct pollfd in = {.fd = process->fd, .events = POLLIN};
	int slice_ms = process->limits.silent_ms < SLOW_MS ? process->limits.silent_ms : SLOW_MS;

	for (int silent_ms = 0; silent_ms < process->limits.silent_ms;) {
		int ret = poll(&in, 1, slice_ms);

		call_watch(process);
		if (elapsed_ms(process) >= SLOW_MS && end_signals__has_any())
			return -EINTR;
		if (elapsed_ms(process) >= (uint64_t)process->limits.request_ms)
			return -ETIMEDOUT;
		if (ret > 0 || (ret < 0 && errno != EINTR))
			return 0;
		silent_ms += ret ? 0 : slice_ms;
	}
	return -ETIMEDOUT;
}

/* Return: length of the next packet, or -errno. */
static ssize_t take_packet(struct symbol_process *process)
{
	ssize_t len;

	do {
		len = recv(process->fd, &process->reply, sizeof(process->reply), 0);
	} while (len < 0 && errno == EINTR);
	if (!len)
		return -EPIPE;
	if (len < 0)
		return -errno;
	return (size_t)len < sizeof(process->reply.head) ? -EPROTO : len;
}

static ssize_t next_reply(struct symbol_process *process)
{
	int err = wait_for_reply(process);

	return err ? err : take_packet(process);
}

/*
 * Have the keeper replace a worker that hangs, and drop what it has sent. Return: 0, or -errno: there are no
 * workers any more.
 */
static int replace_worker(struct symbol_process *process)
{
	struct pollfd in = {.fd = process->fd, .events = POLLIN};
	int limit_ms = process->limits.silent_ms;

	kill(process->keeper, SIGUSR1);
	for (process->asked_ns = clock_ns(); elapsed_ms(process) < (uint64_t)limit_ms;) {
		ssize_t len = poll(&in, 1, limit_ms) > 0 ? take_packet(process) : 0;

		if (len < 0 && len != -EPROTO)
			return len;
		if (len > 0 && process->reply.head.kind == SYMBOL_REPLY_DIED) {
			process->nr_replaced++;
			return 0;
		}
	}
	return -ETIMEDOUT;
}

/* The worker may be in the hands of a hostile file: check everything that it sends. */
static int hand_over_names(struct symbol_process *process, ssize_t len,
			   const struct question *question)
{
	const char *at = process->reply.bytes + sizeof(process->reply.head);
	size_t left = len - sizeof(process->reply.head);

	while (left) {
		char name[SYMBOL_MAX_NAME + 1];
		struct symbol_answer answer;

		if (left < sizeof(answer) || !process->nr_left--)
			return -EPROTO;
		memcpy(&answer, at, sizeof(answer));
		at += sizeof(answer);
		left -= sizeof(answer);
		if (answer.name_len > SYMBOL_MAX_NAME || answer.name_len > left ||
		    answer.idx >= (uint32_t)question->nr)
			return -EPROTO;
		memcpy(name, at, answer.name_len);
		name[answer.name_len] = '\0';
		at += answer.name_len;
		left -= answer.name_len;
		question->fn(question->ctx, question->first + answer.idx, name, answer.offset);
	}
	return 0;
}

static void copy_text(char *text, const char *from, size_t len)
{
	memcpy(text, from, len);
	text[len] = '\0';
}

static int hand_over_lines(struct symbol_process *process, ssize_t len,
			   const struct question *question)
{
	const char *at = process->reply.bytes + sizeof(process->reply.head);
	size_t left = len - sizeof(process->reply.head);

	while (left) {
		char name[SYMBOL_MAX_NAME + 1], file[SYMBOL_MAX_NAME + 1];
		struct symbol_line line = {.name = name, .file = file};
		struct symbol_frame frame;

		if (left < sizeof(frame) || !process->nr_left--)
			return -EPROTO;
		memcpy(&frame, at, sizeof(frame));
		at += sizeof(frame);
		left -= sizeof(frame);
		if (frame.name_len > SYMBOL_MAX_NAME || frame.file_len > SYMBOL_MAX_NAME ||
		    (size_t)frame.name_len + frame.file_len > left ||
		    frame.idx >= (uint32_t)question->nr || frame.depth >= SYMBOL_MAX_INLINED ||
		    frame.line > INT32_MAX)
			return -EPROTO;
		copy_text(name, at, frame.name_len);
		copy_text(file, at + frame.name_len, frame.file_len);
		at += frame.name_len + frame.file_len;
		left -= frame.name_len + frame.file_len;
		line.depth = frame.depth;
		line.line = frame.line;
		question->line_fn(question->ctx, question->first + frame.idx, &line);
	}
	return 0;
}

/* Each address has a file at most, and each file takes memory and, later, a descriptor. */
static int hand_over_splits(struct symbol_process *process, ssize_t len,
			    const struct question *question)
{
	const char *at = process->reply.bytes + sizeof(process->reply.head);
	size_t left = len - sizeof(process->reply.head);

	while (left) {
		struct symbol_split head;
		struct split *split;

		if (left < sizeof(head) || question->splits->nr >= question->nr)
			return -EPROTO;
		memcpy(&head, at, sizeof(head));
		at += sizeof(head);
		left -= sizeof(head);
		if (head.path_len > SYMBOL_MAX_NAME || head.path_len > left)
			return -EPROTO;
		split = array__add(question->splits->list, question->splits->nr);
		if (split) {
			split->nr = head.nr;
			split->id = head.id;
			copy_text(split->path, at, head.path_len);
		}
		at += head.path_len;
		left -= head.path_len;
	}
	return 0;
}

static int hand_over_places(struct symbol_process *process, ssize_t len,
			    const struct question *question)
{
	const char *at = process->reply.bytes + sizeof(process->reply.head);
	size_t left = len - sizeof(process->reply.head);

	for (; left >= sizeof(struct symbol_place); left -= sizeof(struct symbol_place)) {
		struct symbol_place place;

		if (!process->nr_left--)
			return -EPROTO;
		memcpy(&place, at, sizeof(place));
		at += sizeof(place);
		question->place_fn(question->ctx, place.start, place.end, place.address);
	}
	return left ? -EPROTO : 0;
}

static int hand_over_bytes(struct symbol_process *process, ssize_t len,
			   const struct question *question)
{
	size_t size = len - sizeof(process->reply.head);

	if (size > process->nr_left)
		return -EPROTO;
	process->nr_left -= size;
	byte_buffer__put(question->bytes, process->reply.bytes + sizeof(process->reply.head), size);
	return 0;
}

static int note_unit(struct symbol_process *process, ssize_t len)
{
	if (len != sizeof(process->reply.head) + sizeof(process->unit))
		return -EPROTO;
	memcpy(&process->unit, process->reply.bytes + sizeof(process->reply.head),
	       sizeof(process->unit));
	return 0;
}

/* An address has a name at most. Return: how many answers a request can have. */
static uint32_t max_answers(const struct question *question)
{
	return question->line_fn  ? question->nr * SYMBOL_MAX_INLINED :
	       question->place_fn ? SYMBOL_MAX_PLACES :
	       question->bytes	  ? SYMBOL_MAX_BYTES :
				    question->nr;
}

static bool is_plausible(const struct symbol_reply *done)
{
	return done->err <= 0 && done->file.id.len <= BUILD_ID_MAX &&
	       done->file.alt_id.len <= BUILD_ID_MAX;
}

/*
 * Answers to earlier requests may still arrive. A worker may have died before it took this request,
 * and then the next one answers it although it was sent again.
 * Return: 0: DONE is in process->reply; -EAGAIN: a worker has died; other -errno.
 */
static int wait_for_done(struct symbol_process *process, const struct question *question)
{
	for (;;) {
		ssize_t len = next_reply(process);
		const struct symbol_reply *head = &process->reply.head;
		int err = 0;

		if (len < 0)
			return len;
		if (head->kind == SYMBOL_REPLY_DIED) {
			process->nr_replaced++;
			return -EAGAIN;
		}
		if (head->seq != process->seq)
			continue;
		if (head->kind == SYMBOL_REPLY_DONE)
			return is_plausible(head) ? 0 : -EPROTO;
		if (head->kind == SYMBOL_REPLY_NAMES && question->fn)
			err = hand_over_names(process, len, question);
		else if (head->kind == SYMBOL_REPLY_PLACES && question->place_fn)
			err = hand_over_places(process, len, question);
		else if (head->kind == SYMBOL_REPLY_SPLIT && question->splits)
			err = hand_over_splits(process, len, question);
		else if (head->kind == SYMBOL_REPLY_BYTES && question->bytes)
			err = hand_over_bytes(process, len, question);
		else if (head->kind == SYMBOL_REPLY_UNIT)
			err = note_unit(process, len);
		else if (head->kind == SYMBOL_REPLY_FRAMES && question->line_fn)
			err = hand_over_lines(process, len, question);
		if (err)
			return err;
	}
}

/* Ask again once after a death: it may have been of an earlier cause. The next worker lacks what the first one got. */
static int ask_twice(struct symbol_process *process, const struct question *question)
{
	int err = -EAGAIN;

	for (int i = question->is_last ? 1 : 0; i < 2 && err == -EAGAIN; i++) {
		process->asked_ns = clock_ns();
		process->nr_left = max_answers(question);
		/* The worker before may have sent a part. */
		if (question->bytes)
			byte_buffer__clear(question->bytes);
		if (question->splits)
			question->splits->nr = 0;
		err = send_request(process, question);
		if (!err)
			err = wait_for_done(process, question);
	}
	return err == -EAGAIN ? -EBADMSG : err;
}

static int ask(struct symbol_process *process, const struct question *question)
{
	sigset_t before;
	int err, lost;

	if (process->fd < 0)
		return -EPIPE;
	end_signals__hold(&before);
	err = ask_twice(process, question);
	lost = err == -ETIMEDOUT || err == -EINTR || err == -EPROTO ? replace_worker(process) :
	       err == -EBADMSG					    ? 0 :
								      err;
	end_signals__release(&before);
	if (lost)
		close_fd(&process->fd);
	return err == -EPROTO ? -EBADMSG : err ? err : process->reply.head.err;
}

int symbol_process__describe(struct symbol_process *process, int fd, int debug_fd,
			     struct elf_description *file, bool *is_debug_file)
{
	const struct question question = {.kind = SYMBOL_FILE_DESCRIBE, .fds = {fd, debug_fd, -1}};
	const struct symbol_reply *reply = &process->reply.head;
	int err = ask(process, &question);

	*file = (struct elf_description){};
	*is_debug_file = !err && reply->is_debug_file;
	if (err)
		return err;
	*file = reply->file;
	file->debug_link[sizeof(file->debug_link) - 1] = '\0';
	file->alt_link[sizeof(file->alt_link) - 1] = '\0';
	return 0;
}

/* Only one process reads the file after perf, and cannot change it. Return: a descriptor or -errno. */
static int memory_file(const struct byte_buffer *bytes)
{
	int fd = memfd_create("dwo", MFD_CLOEXEC | MFD_ALLOW_SEALING), err = 0;

	if (fd < 0)
		return -errno;
	if (bytes->has_failed || write(fd, bytes->data, bytes->len) != (ssize_t)bytes->len)
		err = -ENOMEM;
	if (!err && fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK))
		err = -errno;
	if (!err)
		return fd;
	close(fd);
	return err;
}

/* Return: a descriptor of the file of a unit in a package; -errno */
static int unpack(struct symbol_process *process, int package, const struct split *split)
{
	struct byte_buffer file = {};
	const struct question question = {
		.kind = SYMBOL_FILE_DWP,
		.fds = {package, -1, -1},
		.addresses = &split->id,
		.nr = 1,
		.bytes = &file,
	};
	int ret = ask(process, &question);

	if (!ret)
		ret = memory_file(&file);
	byte_buffer__clear(&file);
	return ret;
}

static int send_split(struct symbol_process *process, const struct split *split, int fd)
{
	const struct question question = {
		.kind = SYMBOL_FILE_SPLIT,
		.fds = {fd, -1, -1},
		.addresses = &split->nr,
		.nr = 1,
	};

	return ask(process, &question);
}

static bool is_bad(const struct symbol_process *process, uint64_t id)
{
	for (int i = 0; i < process->nr_bad && i < MAX_BAD; i++) {
		if (process->bad[i] == id)
			return true;
	}
	return false;
}

/* Return: 0, also if there is no such file; -errno: a worker did not outlive that. */
static int add_split(struct symbol_process *process, const struct symbol_files *files,
		     const int *packages, int nr, const struct split *split)
{
	int nr_replaced = process->nr_replaced, err = 0;
	int fd __cleanup(close_fd) = -ENOENT;

	for (int i = 0; i < nr && fd < 0 && process->nr_replaced == nr_replaced; i++)
		err = fd = unpack(process, packages[i], split);
	if (fd < 0 && process->nr_replaced == nr_replaced && files->open_split)
		fd = files->open_split(files->ctx, split->path);
	if (fd >= 0)
		err = send_split(process, split, fd);
	if (process->nr_replaced == nr_replaced)
		return 0;
	return err == -EINTR || err == -ETIMEDOUT ? err : -EBADMSG;
}

/* Send the files that are there. Return: as add_split(). */
static int add_splits(struct symbol_process *process, const struct symbol_files *files,
		      const struct splits *splits)
{
	int packages[SYMBOL_MAX_PACKAGES], err = 0;
	int nr = files->open_packages ? files->open_packages(files->ctx, packages) : 0;

	for (int i = 0; i < splits->nr && !err; i++) {
		process->unit = splits->list[i].id;
		if (!is_bad(process, process->unit))
			err = add_split(process, files, packages, nr, &splits->list[i]);
	}
	for (int i = 0; i < nr; i++)
		close_fd(&packages[i]);
	return err;
}

/* @has_splits: false: without files with functions */
static int ask_with_splits(struct symbol_process *process, const struct symbol_files *files,
			   struct question *question, bool has_splits)
{
	struct splits splits = {};
	int err;

	process->unit = 0;
	question->splits = &splits;
	question->is_last = false;
	err = ask(process, question);
	if (!err && splits.nr && has_splits)
		err = add_splits(process, files, &splits);
	if (!err && splits.nr) {
		process->unit = 0;
		question->is_last = true;
		err = ask(process, question);
	}
	free(splits.list);
	question->splits = NULL;
	return err;
}

/* A file with functions that kills or holds its reader costs its functions alone. */
static int ask_lines(struct symbol_process *process, const struct symbol_files *files,
		     struct question *question)
{
	int err = -EBADMSG;

	for (int i = 0; i <= MAX_FOUND + 1 && (err == -EBADMSG || err == -ETIMEDOUT); i++) {
		err = ask_with_splits(process, files, question,
				      i <= MAX_FOUND && err != -ETIMEDOUT);
		if (!err || !process->unit)
			break;
		process->bad[process->nr_bad++ % MAX_BAD] = process->unit;
	}
	return err;
}

/* Ask for a message's worth of addresses at a time. @files: for lines */
static int ask_of_each(struct symbol_process *process, const struct symbol_files *files,
		       struct question *question, const uint64_t *addresses, int nr)
{
	int err = 0;

	for (int first = 0; first < nr && !err; first += SYMBOL_MAX_ADDRESSES) {
		question->addresses = addresses + first;
		question->nr =
			nr - first < SYMBOL_MAX_ADDRESSES ? nr - first : SYMBOL_MAX_ADDRESSES;
		question->first = first;
		err = question->line_fn ? ask_lines(process, files, question) :
					  ask(process, question);
	}
	return err;
}

int symbol_process__name(struct symbol_process *process, const struct symbol_files *files,
			 const uint64_t *addresses, int nr, name_fn fn, void *ctx)
{
	struct question question = {
		.kind = files->kind,
		.fds = {files->fd, files->debug_fd, -1},
		.fn = fn,
		.ctx = ctx,
	};

	return ask_of_each(process, NULL, &question, addresses, nr);
}

int symbol_process__lines(struct symbol_process *process, const struct symbol_files *files,
			  const uint64_t *addresses, int nr, line_fn fn, void *ctx)
{
	bool has_debug = files->debug_fd >= 0;
	struct question question = {
		.kind = files->kind,
		/* A file is not its own debug file, so it fills the place of a missing one. */
		.fds = {files->fd, has_debug ? files->debug_fd : files->fd, files->alt_fd},
		.line_fn = fn,
		.ctx = ctx,
	};

	return ask_of_each(process, files, &question, addresses, nr);
}

int symbol_process__find(struct symbol_process *process, const struct symbol_files *files,
			 const char *name, place_fn fn, void *ctx)
{
	uint64_t words[SYMBOL_MAX_NAME / sizeof(uint64_t) + 1] = {};
	const struct question question = {
		.kind = files->kind,
		.fds = {files->fd, files->debug_fd, -1},
		.addresses = words,
		.nr = ARRAY_SIZE(words),
		.place_fn = fn,
		.ctx = ctx,
	};

	if (strlen(name) > SYMBOL_MAX_NAME)
		return 0;
	memcpy(words, name, strlen(name));
	return ask(process, &question);
}

static void take_bytes(struct byte_buffer *records, struct byte_buffer *part)
{
	byte_buffer__put(records, part->data, part->len);
	records->has_failed |= part->has_failed;
	byte_buffer__clear(part);
}

int symbol_process__jit_code(struct symbol_process *process, int fd, const uint64_t *addresses,
			     int nr, struct byte_buffer *records)
{
	int err = 0;

	for (int first = 0; first < nr && !err; first += SYMBOL_MAX_ADDRESSES) {
		struct byte_buffer part = {};
		const struct question question = {
			.kind = SYMBOL_FILE_JIT_CODE,
			.fds = {fd, -1, -1},
			.addresses = addresses + first,
			.nr = nr - first < SYMBOL_MAX_ADDRESSES ? nr - first : SYMBOL_MAX_ADDRESSES,
			.bytes = &part,
		};

		err = ask(process, &question);
		if (!err || err == -EFBIG)
			take_bytes(records, &part);
		byte_buffer__clear(&part);
		if (!err && records->len > SYMBOL_MAX_BYTES)
			err = -EFBIG;
	}
	return err ? err : records->has_failed ? -ENOMEM : 0;
}
