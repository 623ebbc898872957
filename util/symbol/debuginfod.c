// SPDX-License-Identifier: GPL-2.0
#include "util/symbol/debuginfod.h"

#include "util/lib/end_signals.h"
#include "util/lib/msg.h"
#include "util/lib/util.h"
#include "util/symbol/sandbox.h"

#include <dlfcn.h>
#include <errno.h>
#include <ftw.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MAX_MEMORY (2UL << 30)
#define MAX_FILE   (8UL << 30)
/* A server is silent unless it sends so much. libdebuginfod also counts its own turns of a second. */
#define LEAST_BYTES 1024
#define SILENT_S    10
#define FILE_S	    300
/* perf waits a little longer than the process itself does. */
#define GRACE_MS 3000
#define LOOK_MS	 100
/* The time between two calls of those who watch. */
#define WATCH_NS (NSEC_PER_SEC / 2)
/* A quick fetch is not cut short by a signal. */
#define SLOW_MS	  1000
#define MAX_ERRNO 4095

struct debuginfod {
	pid_t pid;
	int fd; /* -1: no further files */
	uint64_t silent_ms;
	void (*watch)(void *ctx); /* NULL: nobody watches */
	void *watch_ctx;
	uint64_t watched_ns; /* time of the last call */
};

/* A reply comes with a descriptor if err is 0. -EINPROGRESS: the server goes on sending. */
struct reply {
	int32_t err;
};

static uint64_t silent_ms(void)
{
	const char *text = getenv("DEBUGINFOD_TIMEOUT");
	unsigned long seconds = text ? strtoul(text, NULL, 10) : 0;

	return (seconds && seconds < FILE_S ? seconds : SILENT_S) * 1000;
}

/* --- the process --- */

/* libdebuginfod; its types and functions are those of elfutils 0.178 and later. */
#define SONAME "libdebuginfod.so.1"
static struct {
	void *(*begin)(void);
	int (*find)(void *client, const unsigned char *id, int id_len, char **path);
	void (*set_progress)(void *client, int (*fn)(void *client, long a, long b));
	void (*end)(void *client);
	int err; /* without begin(): why */
} lib;

/* The file that is fetched now. */
static struct {
	uint64_t begin_ns, silent_ns;
	uint64_t heard_ns; /* when the server last sent so much */
	uint64_t told_ns;  /* when perf was told that it goes on */
	long bytes;
	bool is_given_up;
} current;

static bool load_library(void)
{
	void *library = dlopen(SONAME, RTLD_NOW | RTLD_LOCAL);

	if (!library)
		return false;
	*(void **)&lib.begin = dlsym(library, "debuginfod_begin");
	*(void **)&lib.find = dlsym(library, "debuginfod_find_debuginfo");
	*(void **)&lib.set_progress = dlsym(library, "debuginfod_set_progressfn");
	*(void **)&lib.end = dlsym(library, "debuginfod_end");
	return lib.begin && lib.find && lib.set_progress && lib.end;
}

static void send_reply(int err, int fd)
{
	struct reply reply = {.err = err};
	char control[CMSG_SPACE(sizeof(fd))] __attribute__((aligned(8))) = {};
	struct iovec part = {&reply, sizeof(reply)};
	struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
	struct cmsghdr *rights;

	if (!err) {
		message.msg_control = control;
		message.msg_controllen = sizeof(control);
		rights = CMSG_FIRSTHDR(&message);
		rights->cmsg_level = SOL_SOCKET;
		rights->cmsg_type = SCM_RIGHTS;
		rights->cmsg_len = CMSG_LEN(sizeof(fd));
		memcpy(CMSG_DATA(rights), &fd, sizeof(fd));
	}
	(void)sendmsg(SANDBOX_FD, &message, MSG_NOSIGNAL); /* perf may be gone */
}

static bool is_perf_gone(void)
{
	struct pollfd in = {.fd = SANDBOX_FD};

	return poll(&in, 1, 0) > 0 && in.revents & (POLLHUP | POLLERR);
}

/* Return: not 0 ends the fetch. */
static int on_progress(void *client __unused, long a, long b __unused)
{
	uint64_t now = clock_ns();

	if (a - current.bytes >= LEAST_BYTES) {
		current.bytes = a;
		current.heard_ns = now;
		if (now - current.told_ns >= NSEC_PER_SEC) {
			current.told_ns = now;
			send_reply(-EINPROGRESS, -1);
		}
	}
	current.is_given_up = now - current.heard_ns >= current.silent_ns ||
			      now - current.begin_ns >= FILE_S * NSEC_PER_SEC || is_perf_gone();
	return current.is_given_up;
}

/* Return: a descriptor or -errno. */
static int fetch(const struct build_id *id)
{
	void *client = lib.begin ? lib.begin() : NULL;
	char *path = NULL;
	int fd;

	if (!client)
		return lib.begin ? -ENOMEM : lib.err;
	current.begin_ns = current.heard_ns = current.told_ns = clock_ns();
	current.bytes = 0;
	current.is_given_up = false;
	lib.set_progress(client, on_progress);
	fd = lib.find(client, id->bytes, id->len, &path);
	lib.end(client);
	free(path);
	return fd < 0 && current.is_given_up ? -ETIMEDOUT : fd;
}

static void serve(void)
{
	struct build_id id;

	while (recv(SANDBOX_FD, &id, sizeof(id), 0) == sizeof(id)) {
		int fd = id.len && id.len <= BUILD_ID_MAX ? fetch(&id) : -EINVAL;

		send_reply(fd < 0 ? fd : 0, fd);
		if (fd >= 0)
			close(fd);
	}
}

static int remove_entry(const char *path, const struct stat *st __unused, int type __unused,
			struct FTW *where __unused)
{
	(void)remove(path);
	return 0;
}

/* Nobody's cache would be everybody's: root's files go to a directory of this process. */
static char *make_cache(void)
{
	const char *dir = getenv("TMPDIR");
	char *path = xasprintf("%s/perf-debuginfod-XXXXXX", dir ? dir : "/tmp");

	if (path && !mkdtemp(path)) {
		free(path);
		path = strdup("/tmp/perf-debuginfod-XXXXXX");
		if (path && !mkdtemp(path))
			free_ptr(&path);
	}
	if (path)
		setenv("DEBUGINFOD_CACHE_PATH", path, 1);
	return path;
}

static int confine(int fd)
{
	int err = setsid() < 0 || chdir("/") ? -errno : sandbox__become_nobody();

	if (!err)
		err = sandbox__drop_privileges(fd);
	/* It cleans up when perf closes the socket. */
	if (!err && prctl(PR_SET_PDEATHSIG, 0))
		err = -errno;
	if (!err)
		err = sandbox__limit(RLIMIT_AS, MAX_MEMORY);
	if (!err)
		err = sandbox__limit(RLIMIT_FSIZE, MAX_FILE);
	return err ? err : sandbox__limit(RLIMIT_CORE, 0);
}

/* Wait until the client ends. It has GRACE_MS after perf has closed the socket: the library may wait for a name server. */
static void wait_for_client(pid_t client)
{
	struct pollfd in = {.fd = SANDBOX_FD};
	uint64_t end_ns = 0;

	while (!waitpid(client, NULL, WNOHANG)) {
		if (poll(&in, 1, end_ns ? 1 : LOOK_MS) > 0)
			in.fd = -1;
		if (in.fd < 0 && !end_ns)
			end_ns = clock_ns() + GRACE_MS * NSEC_PER_MSEC;
		if (end_ns && clock_ns() >= end_ns)
			kill(client, SIGKILL);
	}
}

/* Go on as a child. This process stays to remove the cache, however the child ends. */
static void keep_client(const char *cache)
{
	pid_t client = fork();

	if (!client) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		return;
	}
	if (client > 0)
		wait_for_client(client);
	(void)nftw(cache, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
	_exit(client < 0);
}

__attribute__((noreturn)) static void run(int fd, const char *urls)
{
	bool was_root = !geteuid();
	char *cache = NULL;

	prctl(PR_SET_NAME, "perf-debuginfod");
	if (confine(fd))
		_exit(1);
	setenv("DEBUGINFOD_URLS", urls, 1);
	unsetenv("DEBUGINFOD_PROGRESS");
	unsetenv("DEBUGINFOD_VERBOSE");
	current.silent_ns = silent_ms() * NSEC_PER_MSEC;
	if (was_root)
		cache = make_cache();
	if (cache)
		keep_client(cache);
	lib.err = cache || !was_root ? -ENOSYS : -ENOTDIR;
	if ((cache || !was_root) && !load_library())
		lib.begin = NULL;
	serve();
	_exit(0);
}

/* --- perf --- */

struct debuginfod *debuginfod__start(const char *urls)
{
	struct debuginfod *debuginfod = calloc(1, sizeof(*debuginfod));
	int fds[2], err;

	if (!debuginfod)
		return NULL;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds)) {
		free(debuginfod);
		return NULL;
	}
	debuginfod->silent_ms = silent_ms() + GRACE_MS;
	debuginfod->fd = fds[0];
	debuginfod->pid = fork();
	err = errno;
	if (!debuginfod->pid)
		run(fds[1], urls);
	close(fds[1]);
	if (debuginfod->pid > 0)
		return debuginfod;
	close(fds[0]);
	free(debuginfod);
	errno = err;
	return NULL;
}

void debuginfod__stop(struct debuginfod *debuginfod)
{
	/* Twice the time: a process that keeps a client waits itself. */
	uint64_t end_ns = clock_ns() + 2 * GRACE_MS * NSEC_PER_MSEC;

	if (!debuginfod)
		return;
	close_fd(&debuginfod->fd);
	while (!waitpid(debuginfod->pid, NULL, WNOHANG)) {
		const struct timespec time = {.tv_nsec = NSEC_PER_MSEC};

		if (clock_ns() >= end_ns)
			kill(debuginfod->pid, SIGKILL);
		nanosleep(&time, NULL);
	}
	free(debuginfod);
}

void debuginfod__watch(struct debuginfod *debuginfod, void (*fn)(void *ctx), void *ctx)
{
	debuginfod->watch = fn;
	debuginfod->watch_ctx = ctx;
	debuginfod->watched_ns = clock_ns();
}

static void call_watch(struct debuginfod *debuginfod, uint64_t now)
{
	if (!debuginfod->watch || now - debuginfod->watched_ns < WATCH_NS)
		return;
	debuginfod->watched_ns = now;
	debuginfod->watch(debuginfod->watch_ctx);
}

/* Replies alone do not gain time: the process may be in hostile hands. Return: 0 when there is one; -errno: give up. */
static int wait_for_reply(struct debuginfod *debuginfod, uint64_t begin_ns)
{
	struct pollfd in = {.fd = debuginfod->fd, .events = POLLIN};
	uint64_t heard_ns = clock_ns();

	for (;;) {
		uint64_t now = clock_ns();

		call_watch(debuginfod, now);
		if (now - begin_ns >= SLOW_MS * NSEC_PER_MSEC && end_signals__has_any())
			return -EINTR;
		if (now - heard_ns >= debuginfod->silent_ms * NSEC_PER_MSEC ||
		    now - begin_ns >= FILE_S * NSEC_PER_SEC + GRACE_MS * NSEC_PER_MSEC)
			return -ETIMEDOUT;
		if (poll(&in, 1, LOOK_MS) > 0)
			return 0;
	}
}

/* Only regular files: whatever else may block, or do something. Return: the descriptor, which @fd loses, or -EPROTO. */
static int take_file(int *fd)
{
	int file = *fd;
	struct stat st;

	if (fstat(file, &st) || !S_ISREG(st.st_mode))
		return -EPROTO;
	*fd = -1;
	return file;
}

/* Return: a descriptor; -EINPROGRESS: not yet; other -errno. */
static int take_reply(const struct debuginfod *debuginfod)
{
	char control[CMSG_SPACE(sizeof(int))] __attribute__((aligned(8)));
	struct reply reply;
	struct iovec part = {&reply, sizeof(reply)};
	struct msghdr message = {
		.msg_iov = &part,
		.msg_iovlen = 1,
		.msg_control = control,
		/* The kernel closes all but one descriptor: padding would have room for a second. */
		.msg_controllen = CMSG_LEN(sizeof(int)),
	};
	ssize_t len = recvmsg(debuginfod->fd, &message, MSG_CMSG_CLOEXEC);
	struct cmsghdr *head = len > 0 ? CMSG_FIRSTHDR(&message) : NULL;
	int fd __cleanup(close_fd) = -1;

	/* ECONNRESET: the process ended before it read the request. */
	if (len <= 0)
		return len && errno != ECONNRESET ? -errno : -EPIPE;
	if (head && head->cmsg_type == SCM_RIGHTS && head->cmsg_len == CMSG_LEN(sizeof(fd)))
		memcpy(&fd, CMSG_DATA(head), sizeof(fd));
	if (len != sizeof(reply))
		return -EPROTO;
	if (fd >= 0)
		return take_file(&fd);
	return reply.err < 0 && reply.err > -MAX_ERRNO ? reply.err : -EPROTO;
}

static const char *reason(int err)
{
	return err == -ENOSYS	 ? SONAME " cannot be loaded (elfutils)" :
	       err == -ENOTDIR	 ? "there is no directory for temporary files (TMPDIR)" :
	       err == -ETIMEDOUT ? "the servers take too long" :
	       err == -EINTR	 ? "interrupted" :
	       err == -EPIPE	 ? "the process that fetches files has ended" :
				   strerror(-err);
}

int debuginfod__fetch(struct debuginfod *debuginfod, const struct build_id *id)
{
	uint64_t begin_ns = clock_ns();
	sigset_t before;
	int fd;

	if (debuginfod->fd < 0 || !id->len)
		return -ENOENT;
	end_signals__hold(&before);
	fd = send(debuginfod->fd, id, sizeof(*id), MSG_NOSIGNAL) < 0 ? -errno : -EINPROGRESS;
	while (fd == -EINPROGRESS) {
		fd = wait_for_reply(debuginfod, begin_ns);
		if (!fd)
			fd = take_reply(debuginfod);
	}
	end_signals__release(&before);
	if (fd < 0 && fd != -ENOENT) {
		pr_warn("debuginfod: %s: no further debug information is fetched", reason(fd));
		close_fd(&debuginfod->fd);
	}
	return fd;
}
