// SPDX-License-Identifier: GPL-2.0
#include "util/symbol/tool_process.h"

#include "util/lib/util.h"
#include "util/symbol/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

#define MAX_BYTES (1UL << 30)
#define NOBODY	  65534
/* Statuses of a child that never became the tool, as shells have them. */
#define STATUS_UNCONFINED 126
#define STATUS_NOT_RUN	  127
#define READ_BYTES	  65536
/* How often perf looks for signals. */
#define LOOK_MS 100
/* Longer lines are cut into several. */
#define LINE_BYTES 4096

char *tool_process__find(const char *name)
{
	const char *path = getenv("PATH");

	for (const char *dir = path ? path : "/usr/bin:/bin"; *dir;) {
		int len = strcspn(dir, ":");
		char *tool = xasprintf("%.*s/%s", len, dir, name);

		/* A directory that is not absolute would be that of whoever wrote its files. */
		if (tool && *dir == '/' && !access(tool, X_OK))
			return tool;
		free(tool);
		dir += len + (dir[len] == ':');
	}
	return NULL;
}

/* --- the child --- */

static int set_limits(void)
{
	int err = sandbox__limit(RLIMIT_AS, MAX_BYTES);

	if (!err)
		err = sandbox__limit(RLIMIT_CPU, TOOL_SECONDS);
	if (!err)
		err = sandbox__limit(RLIMIT_FSIZE, 0);
	return err ? err : sandbox__limit(RLIMIT_CORE, 0);
}

static int set_descriptors(int input, int output)
{
	int null = open("/dev/null", O_RDWR);

	if (null < 0 || dup2(null, STDERR_FILENO) < 0)
		return -errno;
	/* Neither is below 3: perf has its own three. */
	if (dup2(input, STDIN_FILENO) < 0 || dup2(output, STDOUT_FILENO) < 0)
		return -errno;
	return syscall(SYS_close_range, STDERR_FILENO + 1, ~0U, 0) ? -errno : 0;
}

__attribute__((noreturn)) static void run(const char *const argv[], int input, int output,
					  pid_t parent)
{
	char *const environment[] = {"LC_ALL=C", NULL};
	sigset_t none;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	/* It gets neither the terminal, into which it could type commands, nor our directory. */
	if (setsid() < 0 || chdir("/"))
		_exit(STATUS_UNCONFINED);
	if (set_descriptors(input, output) || sandbox__become_nobody() ||
	    sandbox__drop_capabilities() || set_limits())
		_exit(STATUS_UNCONFINED);
	/* A change of the user clears it. perf may have ended before. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() == parent)
		execve(argv[0], (char *const *)argv, environment);
	_exit(STATUS_NOT_RUN);
}

/* --- the parent --- */

struct output {
	int fd;
	uint64_t end_ns;
	size_t left; /* bytes that it may print */
	tool_line_fn fn;
	void *ctx;
	char line[LINE_BYTES];
	size_t len;
};

static int end_line(struct output *output)
{
	output->line[output->len] = '\0';
	output->len = 0;
	return output->fn(output->ctx, output->line);
}

static int take_bytes(struct output *output, const char *bytes, size_t len)
{
	int err = 0;

	for (size_t i = 0; i < len && !err; i++) {
		if (bytes[i] == '\n' || output->len == sizeof(output->line) - 1)
			err = end_line(output);
		if (bytes[i] != '\n' && bytes[i])
			output->line[output->len++] = bytes[i];
	}
	return err;
}

/* The signals that end perf are blocked. */
static bool is_told_to_end(void)
{
	sigset_t pending;

	return !sigpending(&pending) &&
	       (sigismember(&pending, SIGINT) == 1 || sigismember(&pending, SIGTERM) == 1);
}

/* Return: 0 when there are bytes, or the end; -ETIMEDOUT; -EINTR: perf is to end. */
static int wait_for_bytes(const struct output *output)
{
	struct pollfd in = {.fd = output->fd, .events = POLLIN};
	int ret;

	do {
		if (is_told_to_end())
			return -EINTR;
		if (clock_ns() >= output->end_ns)
			return -ETIMEDOUT;
		ret = poll(&in, 1, LOOK_MS);
	} while (!ret || (ret < 0 && errno == EINTR));
	return ret < 0 ? -errno : 0;
}

static int read_output(struct output *output)
{
	char bytes[READ_BYTES];
	ssize_t len = 1;
	int err = 0;

	while (len && !err) {
		err = wait_for_bytes(output);
		if (err)
			break;
		len = read(output->fd, bytes, sizeof(bytes));
		if (len < 0)
			err = errno == EINTR ? 0 : -errno;
		else if ((size_t)len > output->left)
			err = -EFBIG;
		else
			err = take_bytes(output, bytes, len);
		output->left -= len > 0 ? len : 0;
	}
	return !err && output->len ? end_line(output) : err;
}

/* Wait for its end until the time is over; it may have closed its output long before. */
static int wait_for_end(const struct output *output, pid_t pid, int *status)
{
	const struct timespec time = {.tv_nsec = NSEC_PER_MSEC};
	pid_t ret;

	while (!(ret = waitpid(pid, status, WNOHANG))) {
		if (is_told_to_end())
			return -EINTR;
		if (clock_ns() >= output->end_ns)
			return -ETIMEDOUT;
		nanosleep(&time, NULL);
	}
	return ret < 0 ? -errno : 0;
}

static int error_of(int status)
{
	if (WIFEXITED(status) && WEXITSTATUS(status) == STATUS_UNCONFINED)
		return -ECANCELED;
	if (WIFEXITED(status) && WEXITSTATUS(status) == STATUS_NOT_RUN)
		return -ENOPKG;
	return status ? -ECHILD : 0;
}

static int reap(const struct output *output, pid_t pid, int err)
{
	int status = 0;

	if (!err)
		err = wait_for_end(output, pid, &status);
	if (!err)
		return error_of(status);
	/* It leads a group: all that it started also ends. */
	kill(-pid, SIGKILL);
	kill(pid, SIGKILL);
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	return err;
}

int tool_process__run(const char *const argv[], int input, size_t max_bytes, tool_line_fn fn,
		      void *ctx)
{
	struct output output = {.fn = fn,
				.ctx = ctx,
				.left = max_bytes,
				.end_ns = clock_ns() + TOOL_SECONDS * NSEC_PER_SEC};
	pid_t parent = getpid(), pid;
	sigset_t ends, before;
	int fds[2], err;

	if (pipe2(fds, O_CLOEXEC))
		return -errno;
	sigemptyset(&ends);
	sigaddset(&ends, SIGINT);
	sigaddset(&ends, SIGTERM);
	sigprocmask(SIG_BLOCK, &ends, &before);
	pid = fork();
	if (!pid)
		run(argv, input, fds[1], parent);
	err = pid < 0 ? -errno : 0;
	close(fds[1]);
	output.fd = fds[0];
	if (!err)
		err = reap(&output, pid, read_output(&output));
	close(fds[0]);
	sigprocmask(SIG_SETMASK, &before, NULL);
	return err;
}
