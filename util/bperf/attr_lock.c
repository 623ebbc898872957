// SPDX-License-Identifier: GPL-2.0
#include "util/bperf/attr_lock.h"

#include "util/lib/msg.h"
#include "util/lib/util.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/time.h>
#include <unistd.h>

/* How often a waiter looks at the clock and at pending signals; the lock itself wakes it at once. */
#define LOOK_US 20000

/* --- the holder --- */

/* The process that holds the lock of an inode; 0: unknown, or in another pid namespace. */
static int find_holder(int fd)
{
	char *file __cleanup(free_ptr) = xasprintf("%s/locks", procfs_root());
	char *locks __cleanup(free_ptr) = file ? read_file(file, NULL) : NULL;
	char *line, *save = NULL;
	struct stat st;
	char id[64];
	int pid = 0;

	if (!locks || fstat(fd, &st))
		return 0;
	snprintf(id, sizeof(id), " %02x:%02x:%lu ", major(st.st_dev), minor(st.st_dev),
		 (unsigned long)st.st_ino);
	for (line = strtok_r(locks, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		/* "->" marks those that wait. */
		if (strstr(line, "FLOCK") && strstr(line, id) && !strstr(line, "->") &&
		    sscanf(line, "%*[^:]: FLOCK %*s %*s %d", &pid) == 1 && pid > 0)
			return pid;
	}
	return 0;
}

/* A line of /proc/PID/status, from behind its name; owned by the caller, NULL: not known. */
static char *status_line(const char *status, const char *name)
{
	const char *line = strstr(status, name);

	if (!line)
		return NULL;
	line += strlen(name);
	line += strspn(line, "\t ");
	return strndup(line, strcspn(line, "\n"));
}

/* "process 12 (perf, T (stopped))", owned by the caller; NULL: out of memory. */
static char *describe(int pid)
{
	char *file __cleanup(free_ptr) = xasprintf("%s/%d/status", procfs_root(), pid);
	char *status __cleanup(free_ptr) = pid && file ? read_file(file, NULL) : NULL;
	char *name __cleanup(free_ptr) = status ? status_line(status, "Name:") : NULL;
	char *state __cleanup(free_ptr) = status ? status_line(status, "State:") : NULL;

	if (!pid)
		return strdup("a process that cannot be seen from here");
	if (!name || !state)
		return xasprintf("process %d", pid);
	return xasprintf("process %d (%s, %s)", pid, name, state);
}

static void warn_holder(int fd, const char *path, const char *otherwise)
{
	int pid = find_holder(fd);
	char *who __cleanup(free_ptr) = describe(pid);

	if (pid)
		pr_warn("%s is held by %s: %s (kill -CONT %d if it is stopped, or end it)", path,
			who ? who : "another process", otherwise, pid);
	else
		pr_warn("%s is held by %s: %s", path, who ? who : "another process", otherwise);
}

/* --- signals --- */

static void on_alarm(int sig __unused)
{
}

static sigset_t set_of(const int *signals, int nr)
{
	sigset_t set;

	sigemptyset(&set);
	for (int i = 0; i < nr; i++)
		sigaddset(&set, signals[i]);
	return set;
}

static const int stop_signals[] = {SIGTSTP, SIGTTIN, SIGTTOU};

static void block_stops(struct attr_lock *lock)
{
	const sigset_t stops = set_of(stop_signals, ARRAY_SIZE(stop_signals));

	sigprocmask(SIG_BLOCK, &stops, &lock->blocked);
}

static void unblock_stops(const struct attr_lock *lock)
{
	sigset_t stops;

	sigemptyset(&stops);
	for (size_t i = 0; i < ARRAY_SIZE(stop_signals); i++) {
		if (sigismember(&lock->blocked, stop_signals[i]) == 0)
			sigaddset(&stops, stop_signals[i]);
	}
	sigprocmask(SIG_UNBLOCK, &stops, NULL);
}

/* The user wants the session to end. The signals are blocked here, whoever calls. */
static bool is_interrupted(void)
{
	sigset_t pending;

	return !sigpending(&pending) &&
	       (sigismember(&pending, SIGINT) == 1 || sigismember(&pending, SIGTERM) == 1);
}

/* --- waiting --- */

/* The timer repeats, so an alarm between the look at the clock and the wait does no harm. */
static int wait_until(int fd, uint64_t end_ns)
{
	const struct itimerval often = {{.tv_usec = LOOK_US}, {.tv_usec = LOOK_US}};
	const struct itimerval never = {};
	int err;

	setitimer(ITIMER_REAL, &often, NULL);
	do {
		err = flock(fd, LOCK_EX) ? -errno : 0;
	} while (err == -EINTR && !is_interrupted() && clock_ns() < end_ns);
	setitimer(ITIMER_REAL, &never, NULL);
	return err != -EINTR || is_interrupted() ? err : -ETIMEDOUT;
}

static int wait_for(int fd, struct lock_wait *wait)
{
	static const int end_signals[] = {SIGINT, SIGTERM}, alarm_signal = SIGALRM;
	const struct sigaction action = {.sa_handler = on_alarm};
	const sigset_t ends = set_of(end_signals, ARRAY_SIZE(end_signals));
	const sigset_t alarms = set_of(&alarm_signal, 1);
	uint64_t begin_ns = clock_ns(), waited_ns;
	struct sigaction old;
	sigset_t blocked;
	int err;

	sigprocmask(SIG_BLOCK, &ends, &blocked);
	sigprocmask(SIG_UNBLOCK, &alarms, NULL);
	sigaction(SIGALRM, &action, &old);
	err = is_interrupted() ? -EINTR : wait_until(fd, begin_ns + wait->left_ns);
	sigaction(SIGALRM, &old, NULL);
	sigprocmask(SIG_SETMASK, &blocked, NULL);
	waited_ns = clock_ns() - begin_ns;
	wait->left_ns = wait->left_ns > waited_ns ? wait->left_ns - waited_ns : 0;
	return err;
}

int attr_lock__take(struct attr_lock *lock, const char *path, struct lock_wait *wait)
{
	int err;

	block_stops(lock);
	err = flock(lock->fd, LOCK_EX | LOCK_NB) ? -errno : 0;
	if (err == -EWOULDBLOCK && wait)
		err = wait->left_ns ? wait_for(lock->fd, wait) : -ETIMEDOUT;
	if (!err) {
		lock->is_held = true;
		msg__hold();
		return 0;
	}
	unblock_stops(lock);
	if (err == -ETIMEDOUT && wait->otherwise) {
		warn_holder(lock->fd, path, wait->otherwise);
		wait->otherwise = NULL;
	} else if (err != -EWOULDBLOCK && err != -EINTR && err != -ETIMEDOUT) {
		pr_err("cannot lock %s: %s", path, strerror(-err));
	}
	return err;
}

void attr_lock__release(struct attr_lock *lock)
{
	if (!lock->is_held)
		return;
	/* Not by closing it: a child that was just forked still has the descriptor. */
	flock(lock->fd, LOCK_UN);
	lock->is_held = false;
	unblock_stops(lock);
	msg__release();
}

bool attr_lock__try_protocol(int fd)
{
	return !flock(fd, LOCK_EX | LOCK_NB);
}

void attr_lock__warn_protocol(int fd, const char *path)
{
	static bool has_warned;

	if (has_warned)
		return;
	/* It was held for a moment only. */
	if (attr_lock__try_protocol(fd)) {
		flock(fd, LOCK_UN);
		return;
	}
	warn_holder(fd, path,
		    "events that other implementations may follow stay open until it is free");
	has_warned = true;
}
