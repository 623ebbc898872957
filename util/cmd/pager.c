// SPDX-License-Identifier: GPL-2.0
#include "util/cmd/pager.h"

#include "util/host/config.h"
#include "util/lib/msg.h"
#include "util/lib/util.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

/* Set once at start. */
static enum pager_choice pager_choice;
/* The pager that runs; 0: none. */
static pid_t pager_pid;

void pager__choose(enum pager_choice choice)
{
	pager_choice = choice;
}

/* The system's pager, if it is there. Return: NULL: none. */
static const char *system_pager(void)
{
	static const char *const paths[] = {"/usr/bin/pager", "/usr/bin/less"};

	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		if (!access(paths[i], X_OK))
			return paths[i];
	}
	return NULL;
}

/* Return: the command line of the pager, owned; NULL: none. */
static char *find_pager(const char *command)
{
	struct config config;
	const char *pager = getenv("PERF_PAGER"), *configured = NULL;
	char *result = NULL;
	bool on = true;

	if (!config__load(&config))
		configured = config__pager(&config, command);
	if (configured && !config__parse_bool(configured, &on))
		configured = NULL;
	else
		on = true;
	if (!pager)
		pager = configured ? configured : getenv("PAGER");
	if (!pager)
		pager = system_pager();
	if (pager && *pager && strcmp(pager, "cat") && (on || pager_choice == PAGER_ALWAYS))
		result = strdup(pager);
	config__clear(&config);
	return result;
}

/* In the child: become the pager when there is something to read. */
static void run_pager(const char *pager, int in)
{
	struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};

	dup2(in, STDIN_FILENO);
	poll(&input, 1, -1);
	/* As for git: end on one screen, colours, long lines cut, text stays on the screen. */
	setenv("LESS", "FRSX", 0);
	execl("/bin/sh", "sh", "-c", pager, NULL);
	_exit(127);
}

/* The pager also gets Ctrl-C. A handler, not SIG_IGN, because commands inherit that. */
static void on_signal(int sig __unused)
{
}

void pager__start(const char *command)
{
	char *pager __cleanup(free_ptr) = NULL;
	struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
	int fds[2];
	pid_t pid;

	if (pager_pid || pager_choice == PAGER_NEVER || !isatty(STDOUT_FILENO))
		return;
	pager = find_pager(command);
	if (!pager || pipe2(fds, O_CLOEXEC))
		return;
	fflush(stdout);
	pid = fork();
	if (!pid)
		run_pager(pager, fds[0]);
	close(fds[0]);
	if (pid > 0) {
		pager_pid = pid;
		dup2(fds[1], STDOUT_FILENO);
		if (isatty(STDERR_FILENO))
			dup2(fds[1], STDERR_FILENO);
		sigaction(SIGINT, &action, NULL);
		sigaction(SIGQUIT, &action, NULL);
	}
	close(fds[1]);
}

void pager__start_if_asked(const char *command)
{
	if (pager_choice == PAGER_ALWAYS)
		pager__start(command);
}

void pager__end(void)
{
	if (!pager_pid)
		return;
	fflush(stdout);
	fflush(stderr);
	close(STDOUT_FILENO);
	close(STDERR_FILENO);
	while (waitpid(pager_pid, NULL, 0) < 0 && errno == EINTR)
		;
	pager_pid = 0;
}
