// SPDX-License-Identifier: GPL-2.0
/* The tasks of a run: finding them, noticing their end, the end and the status of the workload. */
#include "stat_pass.h"

#include "msg.h"
#include "thread_map.h"
#include "util.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

int stat_pass__find_threads(struct stat_pass *pass)
{
	const struct target *target = &pass->run->target;
	struct counter_plan *plan = &pass->run->plan;

	plan->threads = NULL;
	if (target->pid_list)
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
	if (errno == EINVAL || errno == ESRCH || errno == ENOENT)
		pr_text("Problems finding threads of monitor\n");
	if (errno == EINVAL)
		pr_err("-%c %s: not a list of numbers such as 12,345", target->pid_list ? 'p' : 't',
		       target->pid_list ? target->pid_list : target->tid_list);
	else
		pr_err("-%c %s: %s", target->pid_list ? 'p' : 't',
		       target->pid_list ? target->pid_list : target->tid_list, strerror(errno));
	return STATUS_INVALID;
}

/* What to wait on: the workload alone, else every task of the target; nothing for CPUs. */
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
		/* Fails for a thread that does not lead a process: those are looked for. */
		pass->waits[i].fd = syscall(SYS_pidfd_open, threads->thread[i].tid, 0);
		pass->waits[i].events = POLLIN;
	}
	return 0;
}

static bool is_task_alive(pid_t tid)
{
	char *path __cleanup(free_ptr) = xasprintf("%s/%d/stat", procfs_root(), tid);
	char *text __cleanup(free_ptr) = path ? read_file(path, NULL) : NULL;
	const char *rest = text ? strrchr(text, ')') : NULL;

	return rest && rest[1] == ' ' && rest[2] != 'Z' && rest[2] != 'X';
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
		struct pollfd one = { .fd = wait->fd, .events = POLLIN };

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
	/* One that is still there is enough to wait on: those that ended would end every wait. */
	for (int i = 0; i < pass->nr_waits; i++) {
		struct pollfd one = { .fd = pass->waits[i].fd, .events = POLLIN };

		if (one.fd >= 0 && !poll(&one, 1, 0))
			return one.fd;
	}
	return -1;
}

/* While a process is there, and its descriptor is its last thread's, the target is not gone. */
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
