/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SOAK_STORM_H
#define SOAK_STORM_H

/* Disturb all sessions at once, with one storm after the other. */

#include "soak.h"

#include <sys/file.h>
#include <sys/stat.h>

static uint64_t storm_chance;

static pid_t start_program(const char *const *argv)
{
	pid_t pid = fork();

	if (pid < 0)
		die("fork");
	if (!pid) {
		dup2(open("/dev/null", O_RDWR), STDOUT_FILENO);
		dup2(STDOUT_FILENO, STDERR_FILENO);
		execvp(argv[0], (char **)argv);
		_exit(126);
	}
	return pid;
}

static void run_program(const char *const *argv)
{
	waitpid(start_program(argv), NULL, 0);
}

/* Hold the lock of the protocol, as any process can. */
static void hold_protocol(void)
{
	pid_t pid;

	if (soak.has_others)
		return;
	pid = start_program((const char *[]){workload("hold_anon"), NULL});

	sleep_ms(chance_of(&storm_chance, 2000));
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static void hold_lock(void)
{
	char path[400];
	int fd;

	snprintf(path, sizeof(path), "%s_lock%s", soak.map,
		 chance_of(&storm_chance, 2) ? "/tasks" : "");
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return;
	if (!flock(fd, LOCK_EX | LOCK_NB))
		sleep_ms(chance_of(&storm_chance, 2500));
	close(fd);
}

/* Remove the lock directory, which works only while it is empty: before and after any leader. */
static void remove_lock(void)
{
	char path[400];

	snprintf(path, sizeof(path), "%s_lock", soak.map);
	rmdir(path);
}

static void fork_storm(void)
{
	run_program((const char *[]){workload("tree"), "3", "5", "10000", NULL});
}

static void churn(void)
{
	char dir[400];

	snprintf(dir, sizeof(dir), "%s/churn", soak.cgroups);
	mkdir(dir, 0755);
	run_program((const char *[]){workload("cgroup_churn"), "30", "1000", dir, "sub", NULL});
	rmdir(dir);
}

static void look(void)
{
	run_program((const char *[]){"perf", "bperf",
				     chance_of(&storm_chance, 2) ? "list" : "prune",
				     "--bpf-attr-map", soak.map, NULL});
}

static void unplug(void)
{
	static const char path[] = "/sys/devices/system/cpu/cpu1/online";

	write_file(path, "0");
	sleep_ms(chance_of(&storm_chance, 1000));
	write_file(path, "1");
}

static void (*const storms[])(void) = {
	hold_protocol, hold_lock, remove_lock, fork_storm, churn, look, unplug,
};

/* Disturb sessions until the round is over. */
static void storm_on(unsigned nr)
{
	storm_chance = (soak.seed * 1000033ULL + soak.round + nr) * 0x9e3779b97f4a7c15ULL;
	while (!shared->is_over) {
		storms[chance_of(&storm_chance, COUNT_OF(storms) - !soak.has_hotplug)]();
		sleep_ms(chance_of(&storm_chance, 500));
	}
}

#endif
