// SPDX-License-Identifier: GPL-2.0
#include "builtin.h"
#include "util/capability.h"
#include "util/msg.h"
#include "util/util.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define STATUS_USAGE 1
#define STATUS_BAD_OPTION 129

static int cmd_help(int argc, char **argv);
static int cmd_version(int argc, char **argv);

static const struct command {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *help;
} commands[] = {
	{ "stat", cmd_stat, "Count events of a command, of processes, CPUs or the whole system" },
	{ "list", cmd_list, "List the events that can be counted" },
	{ "script", cmd_script, "Print what perf stat record wrote, count by count" },
	{ "bperf", cmd_bperf, "Show, clean up and check what is shared" },
	{ "version", cmd_version, "Show the version; --build-options: and what is built in" },
	{ "help", cmd_help, "Show this list, or the help of one command" },
};

static const struct command *find(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++) {
		if (!strcmp(commands[i].name, name))
			return &commands[i];
	}
	return NULL;
}

static void print_usage(FILE *to)
{
	fprintf(to, "\n usage: perf [--version] [--help] COMMAND [ARGS]\n\n commands:\n");
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
		fprintf(to, "   %-10s %s\n", commands[i].name, commands[i].help);
	fprintf(to, "\n See 'perf help COMMAND' for a command's options.\n\n");
}

/* For the completion of shells. */
static int list_commands(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
		printf("%s ", commands[i].name);
	printf("\n");
	return 0;
}

static int unknown(const char *name)
{
	const char *names[ARRAY_SIZE(commands) + 1] = {}, *near;

	if (*name == '-') {
		pr_err("unknown option '%s': see 'perf --help'", name);
		return STATUS_BAD_OPTION;
	}
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
		names[i] = commands[i].name;
	near = nearest_name(name, names);
	if (near)
		pr_err("'%s' is not a perf command: did you mean '%s'?", name, near);
	else
		pr_err("'%s' is not a perf command: see 'perf help'", name);
	return STATUS_USAGE;
}

static int cmd_help(int argc, char **argv)
{
	char *help[] = { argc > 1 ? argv[1] : NULL, "--help", NULL };
	const struct command *command;

	if (argc < 2) {
		print_usage(stdout);
		return 0;
	}
	command = find(argv[1]);
	if (!command)
		return unknown(argv[1]);
	if (command->run == cmd_help || command->run == cmd_version) {
		print_usage(stdout);
		return 0;
	}
	command->run(2, help);
	return 0;
}

static const struct {
	const char *name;
	const char *macro;
	bool on;
} features[] = {
	{ "bpf_skeletons", "HAVE_BPF_SKEL", true },
	{ "libbpf", "HAVE_LIBBPF_SUPPORT", true },
	{ "libcap", "HAVE_LIBCAP_SUPPORT", true },
	{ "libelf", "HAVE_LIBELF_SUPPORT", true },
#ifdef HAVE_LIBPFM
	{ "libpfm4", "HAVE_LIBPFM", true },
#else
	{ "libpfm4", "HAVE_LIBPFM", false },
#endif
	{ "libtraceevent", "HAVE_LIBTRACEEVENT", false },
};

static int cmd_version(int argc, char **argv)
{
	printf("perf version %s\n", PERF_VERSION);
	if (argc < 2)
		return 0;
	if (strcmp(argv[1], "--build-options")) {
		pr_err("version: unknown argument '%s' (--build-options)", argv[1]);
		return STATUS_BAD_OPTION;
	}
	for (size_t i = 0; i < ARRAY_SIZE(features); i++)
		printf("%22s: [ %-3s ]  # %s\n", features[i].name, features[i].on ? "on" : "OFF",
		       features[i].macro);
	printf("%22s: %s\n", "libbpf in use", libbpf_version_string());
	return 0;
}

/* Were one of these closed, the next pipe or perf event would take its place, and our messages. */
static void keep_standard_fds(void)
{
	int fd;

	do {
		fd = open("/dev/null", O_RDWR);
	} while (fd >= 0 && fd <= STDERR_FILENO);
	close_fd(&fd);
}

int main(int argc, char **argv)
{
	const struct command *command;
	int status;

	keep_standard_fds();
	msg__init("perf");
	capability__init();
	/* Inherited from a careless parent, it would make every workload's end unknowable. */
	signal(SIGCHLD, SIG_DFL);
	if (argc < 2) {
		print_usage(stderr);
		return STATUS_USAGE;
	}
	if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-v"))
		status = cmd_version(1, argv);
	else if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))
		status = cmd_help(1, argv);
	else if (!strcmp(argv[1], "--list-cmds"))
		status = list_commands();
	else if ((command = find(argv[1])))
		status = command->run(argc - 1, argv + 1);
	else
		status = unknown(argv[1]);
	/* A full disk or closed pipe behind stdout is an error like any other. */
	if (fflush(stdout) && !status) {
		pr_err("writing failed: %s", strerror(errno));
		status = 1;
	}
	return status;
}
