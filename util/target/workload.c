// SPDX-License-Identifier: GPL-2.0
#include "util/target/workload.h"

#include "util/lib/array.h"
#include "util/lib/end_signals.h"
#include "util/lib/util.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

/* Maximum wait for the command to end after our SIGTERM. */
#define TERM_WAIT_MS 200
/* Polling period for the end without a pidfd. */
#define POLL_MS 50

/* Descriptors that the command inherits, in their order: those that perf got itself. All others end at exec. */
static struct {
	int *fds;
	int nr;
	bool is_known;
} inherited;

static int compare_fds(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

/* Without /proc nothing is shared, so there is nothing that a child must not hold. */
static int find_inherited(void)
{
	DIR *dir = inherited.is_known ? NULL : opendir("/proc/self/fd");
	struct dirent *entry;
	int err = 0;

	while (dir && !err && (entry = readdir(dir))) {
		int fd = atoi(entry->d_name), *added;

		if (*entry->d_name == '.' || fcntl(fd, F_GETFD) & FD_CLOEXEC)
			continue;
		added = array__add(inherited.fds, inherited.nr);
		if (added)
			*added = fd;
		else
			err = -ENOMEM;
	}
	if (!dir)
		return 0;
	closedir(dir);
	if (err)
		return err;
	qsort(inherited.fds, inherited.nr, sizeof(*inherited.fds), compare_fds);
	inherited.is_known = true;
	return 0;
}

/*
 * In the child: close what exec would close, except two. The child can wait for long. Stopped, it would keep the
 * locks of a dead perf, and the map by which others see that perf lives.
 */
static void close_others(int go_fd, int err_fd)
{
	const int first = go_fd < err_fd ? go_fd : err_fd, last = go_fd < err_fd ? err_fd : go_fd;
	int next = 0, at = 0;

	if (!inherited.is_known)
		return;
	for (;;) {
		int keep = at < inherited.nr ? inherited.fds[at] : INT_MAX;

		if (first >= next && first < keep)
			keep = first;
		else if (last >= next && last < keep)
			keep = last;
		else
			at++;
		if (keep > next)
			(void)close_range(next, keep == INT_MAX ? ~0U : (unsigned int)keep - 1, 0);
		if (keep == INT_MAX)
			return;
		next = keep + 1;
	}
}

/* In the child: wait for the byte, then execute the command. Uses only functions safe after fork(). */
static void run_child(char *const *argv, int go_fd, int err_fd)
{
	char go;
	int err;

	while (read(go_fd, &go, 1) != 1) {
		/* The other end is closed: perf failed or was killed. */
		if (errno != EINTR)
			_exit(1);
		errno = 0;
	}
	execvp(argv[0], argv);
	err = errno;
	if (write(err_fd, &err, sizeof(err)) != sizeof(err))
		_exit(126);
	_exit(127);
}

int workload__fork(struct workload *workload, char *const *argv, bool to_stderr)
{
	int go[2], fail[2], err;

	memset(workload, 0, sizeof(*workload));
	workload->go_fd = workload->err_fd = workload->pid_fd = -1;
	err = find_inherited();
	if (err)
		return err;
	if (pipe2(go, O_CLOEXEC))
		return -errno;
	if (pipe2(fail, O_CLOEXEC)) {
		err = -errno;
		goto out_go;
	}
	workload->pid = fork();
	if (workload->pid < 0) {
		err = -errno;
		workload->pid = 0;
		close(fail[0]);
		close(fail[1]);
		goto out_go;
	}
	if (!workload->pid) {
		/* An inherited write end would keep the pipe open if perf died. */
		close(go[1]);
		close(fail[0]);
		if (to_stderr && dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
			_exit(1);
		close_others(go[0], fail[1]);
		errno = 0;
		run_child(argv, go[0], fail[1]);
	}
	close(go[0]);
	close(fail[1]);
	workload->go_fd = go[1];
	workload->err_fd = fail[0];
	/* Without pidfd_open() (before Linux 5.3), the end is polled. */
	workload->pid_fd = syscall(SYS_pidfd_open, workload->pid, 0);
	return 0;
out_go:
	close(go[0]);
	close(go[1]);
	return err;
}

/* Let a traced child go on: it gets its signal, or stays stopped until SIGCONT. */
static void pass_stop(pid_t pid, int status)
{
	int sig = status & 0xff, event = status >> 8;

	if (event == PTRACE_EVENT_STOP && sig != SIGTRAP)
		ptrace(PTRACE_LISTEN, pid, 0, 0);
	else
		ptrace(PTRACE_CONT, pid, 0, event ? 0 : sig);
}

/* Return: whether a traced child has come to its exec, and stops there; otherwise it ends. */
static bool comes_to_exec(const struct workload *workload)
{
	siginfo_t info = {};

	/* Its end is left to workload__wait(). */
	for (;;) {
		if (waitid(P_PID, workload->pid, &info, WEXITED | WSTOPPED | WNOWAIT)) {
			if (errno != EINTR)
				return false;
		} else if (info.si_code != CLD_TRAPPED) {
			return false;
		} else if (info.si_status >> 8 == PTRACE_EVENT_EXEC) {
			return true;
		} else {
			pass_stop(workload->pid, info.si_status);
		}
	}
}

/* Let the child execute the command. Return: 0 or -errno. */
static int let_go(struct workload *workload)
{
	while (write(workload->go_fd, "", 1) != 1) {
		if (errno != EINTR)
			return -errno;
	}
	close_fd(&workload->go_fd);
	return 0;
}

/* Wait for the exec. Return: 0, or its -errno. */
static int exec_result(struct workload *workload)
{
	ssize_t len;
	int err = 0;

	/* End of file means success: exec has closed the write end. */
	do {
		len = read(workload->err_fd, &err, sizeof(err));
	} while (len < 0 && errno == EINTR);
	close_fd(&workload->err_fd);
	if (len != sizeof(err))
		return 0;
	workload__wait(workload, true);
	return -err;
}

int workload__start(struct workload *workload)
{
	int err = let_go(workload);

	return err ? err : exec_result(workload);
}

int workload__hold(struct workload *workload)
{
	return ptrace(PTRACE_SEIZE, workload->pid, 0, PTRACE_O_TRACEEXEC) ? -errno : 0;
}

int workload__start_held(struct workload *workload)
{
	bool is_stopped;
	int err = let_go(workload);

	if (err)
		return err;
	is_stopped = comes_to_exec(workload);
	err = exec_result(workload);
	return err ? err : is_stopped;
}

void workload__continue(struct workload *workload)
{
	ptrace(PTRACE_DETACH, workload->pid, 0, 0); /* one that was killed does not need it */
}

static uint64_t timeval_ns(const struct timeval *tv)
{
	return tv->tv_sec * NSEC_PER_SEC + tv->tv_usec * 1000ULL;
}

bool workload__wait(struct workload *workload, bool block)
{
	struct rusage usage;
	pid_t pid;

	if (!workload->pid || workload->is_done)
		return workload->is_done;
	do {
		pid = wait4(workload->pid, &workload->status, block ? 0 : WNOHANG, &usage);
	} while (pid < 0 && errno == EINTR && block);
	/* A tracer or a library's handler was faster. The pidfd stays readable, so stop waiting. */
	if (pid < 0 && errno == ECHILD) {
		workload->is_done = workload->is_lost = true;
		return true;
	}
	if (pid != workload->pid)
		return false;
	workload->is_done = true;
	workload->user_ns = timeval_ns(&usage.ru_utime);
	workload->sys_ns = timeval_ns(&usage.ru_stime);
	return true;
}

bool workload__wait_unless(struct workload *workload, const volatile sig_atomic_t *signal)
{
	/* Used without a pidfd. */
	static const struct timespec poll_time = {.tv_nsec = POLL_MS * NSEC_PER_MSEC};
	struct pollfd fd = {.fd = workload->pid_fd, .events = POLLIN};
	sigset_t unblocked;

	/* Signals that are held back also end ppoll() if they arrive before it. */
	end_signals__hold(&unblocked);
	while (!workload__wait(workload, false) && !*signal)
		ppoll(&fd, 1, fd.fd >= 0 ? NULL : &poll_time, &unblocked);
	end_signals__release(&unblocked);
	return workload->is_done;
}

void workload__end(struct workload *workload)
{
	uint64_t until_ns = clock_ns() + TERM_WAIT_MS * NSEC_PER_MSEC;
	struct pollfd fd = {.fd = workload->pid_fd, .events = POLLIN};

	if (!workload->pid || workload->is_done)
		return;
	kill(workload->pid, SIGTERM);
	while (!workload__wait(workload, false) && clock_ns() < until_ns)
		poll(&fd, 1, fd.fd >= 0 ? TERM_WAIT_MS : 1);
}

void workload__delete(struct workload *workload)
{
	if (!workload->pid)
		return;
	close_fd(&workload->pid_fd);
	close_fd(&workload->err_fd);
	if (workload->go_fd >= 0) {
		close_fd(&workload->go_fd);
		workload__wait(workload, true);
	}
}
