// SPDX-License-Identifier: GPL-2.0
#include "util/run/tasks.h"

#include "util/host/proc_stat.h"
#include "util/host/task_namespace.h"
#include "util/lib/msg.h"
#include "util/lib/util.h"
#include "util/run/pass.h"
#include "util/target/thread_map.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* Return: the first process of a valid list that does not exist; 0: all have come back meanwhile. */
static long missing_process(const char *list)
{
	for (const char *pos = list;; pos++) {
		char *end;
		long pid = strtol(pos, &end, 10);
		char *dir __cleanup(free_ptr) = xasprintf("%s/%ld/task", procfs_root(), pid);

		if (dir && access(dir, F_OK))
			return pid;
		if (*end != ',')
			return 0;
		pos = end;
	}
}

/* Report why there are no threads. */
static void report_no_threads(const struct target *target, int err)
{
	const char *list = target->pid_list ? target->pid_list : target->tid_list;
	long missing = err == -ESRCH && target->pid_list ? missing_process(list) : 0;
	char letter = target->pid_list ? 'p' : 't';

	if (!list)
		pr_err("--per-thread: %s", strerror(-err));
	else if (err == -ESRCH && target->may_have_ended)
		pr_err("-u: all processes of the user have ended");
	else if (err == -EINVAL)
		pr_err("-%c %s: not a list of numbers such as 12,345", letter, shown_arg(list));
	else if (missing)
		pr_err("-%c %s: there is no process %ld", letter, list, missing);
	else
		pr_err("-%c %s: %s", letter, list, strerror(-err));
}

/* Threads of -t need not be looked for. */
static bool needs_proc(const struct target *target)
{
	return target->pid_list || (target->per_thread && !target->tid_list);
}

int stat_pass__find_threads(struct stat_pass *pass)
{
	const struct target *target = &pass->run->target;
	struct counter_plan *plan = &pass->run->plan;
	int err = needs_proc(target) ? task_namespace__check_proc("cannot find the tasks") : 0;

	plan->threads = NULL;
	if (err)
		return err;
	if (target->may_have_ended)
		plan->threads = thread_map__new_left(target->pid_list);
	else if (target->pid_list)
		plan->threads = thread_map__new_pids(target->pid_list);
	else if (target->tid_list)
		plan->threads = thread_map__new_tids(target->tid_list);
	else if (target->per_thread)
		plan->threads = thread_map__new_all();
	else if (target__has_task(target))
		plan->threads = thread_map__new_one(pass->workload.pid);
	else
		return 0;
	if (plan->threads)
		return 0;
	err = -errno;
	if (err == -EINVAL || err == -ESRCH || err == -ENOENT)
		pr_text("Problems finding threads of monitor\n");
	report_no_threads(target, err);
	return err;
}

/* From linux/pidfd.h, since Linux 6.9: the end of a thread that leads no process. */
#ifndef PIDFD_THREAD
#define PIDFD_THREAD O_EXCL
#endif

/* A process of thousands of threads needs one descriptor, that of the process. */
static int open_pidfd(const struct target *target, pid_t tid)
{
	int fd = syscall(SYS_pidfd_open, tid, 0);

	return fd < 0 && target->tid_list ? syscall(SYS_pidfd_open, tid, PIDFD_THREAD) : fd;
}

/* Wait on the workload alone if there is one, otherwise on every task of the target. */
int stat_pass__watch_tasks(struct stat_pass *pass)
{
	const struct target *target = &pass->run->target;
	struct thread_map *threads = pass->run->plan.threads;

	if (pass->workload.pid || !target__is_attached(target))
		return 0;
	pass->waits = calloc(threads->nr, sizeof(*pass->waits));
	if (!pass->waits)
		return -ENOMEM;
	pass->nr_waits = threads->nr;
	for (int i = 0; i < threads->nr; i++) {
		/* Without a descriptor they are polled. */
		pass->waits[i].fd = open_pidfd(target, threads->thread[i].tid);
		pass->waits[i].events = POLLIN;
	}
	return 0;
}

static bool is_task_alive(pid_t tid)
{
	struct proc_stat stat;

	return !proc_stat__read(tid, &stat) && stat.state != 'Z' && stat.state != 'X';
}

bool stat_pass__is_target_gone(struct stat_pass *pass)
{
	const struct thread_map *threads = pass->run->plan.threads;

	if (pass->workload.pid)
		return workload__wait(&pass->workload, false);
	if (!pass->nr_waits)
		return false;
	for (int i = 0; i < pass->nr_waits; i++) {
		struct pollfd *wait = &pass->waits[i];
		struct pollfd one = {.fd = wait->fd, .events = POLLIN};

		if (wait->fd >= 0 && poll(&one, 1, 0) == 1)
			continue;
		if (wait->fd >= 0 || is_task_alive(threads->thread[i].tid))
			return false;
	}
	return true;
}

int stat_pass__task_fd(const struct stat_pass *pass)
{
	if (pass->workload.pid)
		return pass->workload.pid_fd;
	/* Return a live task; pidfds of dead ones are always readable. */
	for (int i = 0; i < pass->nr_waits; i++) {
		struct pollfd one = {.fd = pass->waits[i].fd, .events = POLLIN};

		if (one.fd >= 0 && !poll(&one, 1, 0))
			return one.fd;
	}
	return -1;
}

/* The pidfd of a process is readable only after its last thread has ended. */
bool stat_pass__needs_polling(const struct stat_pass *pass)
{
	return (pass->workload.pid || pass->nr_waits) && stat_pass__task_fd(pass) < 0;
}

int stat_pass__status(struct stat_pass *pass)
{
	const struct workload *workload = &pass->workload;
	struct stat_run *run = pass->run;

	run->was_killed = run->has_exited = false;
	if (!workload->pid || !workload->is_done)
		return 0;
	if (workload->is_lost) {
		pr_err("cannot tell how '%s' ended: another process has waited for it",
		       run->target.argv[0]);
		return STATUS_FAILED;
	}
	if (WIFEXITED(workload->status)) {
		run->has_exited = *run->signal != 0;
		return WEXITSTATUS(workload->status);
	}
	if (WIFSIGNALED(workload->status)) {
		run->was_killed = true;
		pr_text("%s: %s\n", run->target.argv[0], strsignal(WTERMSIG(workload->status)));
		return 128 + WTERMSIG(workload->status);
	}
	return 0;
}

void stat_pass__release_tasks(struct stat_pass *pass)
{
	workload__delete(&pass->workload);
	for (int i = 0; i < pass->nr_waits; i++)
		close_fd(&pass->waits[i].fd);
	free(pass->waits);
	thread_map__delete(pass->run->plan.threads);
	pass->run->plan.threads = NULL;
}
