// SPDX-License-Identifier: GPL-2.0
/* perf: find the command and run it. */
#include "builtin.h"
#include "util/cmd/global_options.h"
#include "util/cmd/man_page.h"
#include "util/cmd/pager.h"
#include "util/cmd/pass_on.h"
#include "util/host/capability.h"
#include "util/host/config.h"
#include "util/host/libbpf_words.h"
#include "util/host/next_perf.h"
#include "util/lib/msg.h"
#include "util/lib/parse_options.h"
#include "util/lib/program.h"
#include "util/lib/util.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define STATUS_USAGE	  1
#define STATUS_BAD_OPTION 129
#define STATUS_NO_PAGES	  255 /* info or HTML pages are asked for */

static int cmd_help(int argc, char **argv);
static int cmd_version(int argc, char **argv);

/* The arguments of main(), to be passed on. */
static char **all_args;

static const struct command {
	const char *name;
	const char *help;
	int (*run)(int argc, char **argv);
	/* NULL: always; else whether this command line is for our command, not for Linux's */
	bool (*is_ours)(int argc, char **argv);
} commands[] = {
	{"stat", "Count events of a command, of processes, CPUs or the whole system", cmd_stat,
	 NULL},
	{"profile", "Find the functions that take an event, by sampling", cmd_profile, NULL},
	{"top", "Show the functions that take an event, redrawn while they do", cmd_top,
	 cmd_top_is_ours},
	{"list", "List the events that can be counted", cmd_list, NULL},
	{"script", "Print what perf stat record wrote, count by count", cmd_script,
	 cmd_script_is_ours},
	{"bperf", "Show, clean up and verify shared events", cmd_bperf, NULL},
	{"config", "Print and change variables of configuration files", cmd_config, NULL},
	{"version", "Show the version, with --build-options also the built-in features",
	 cmd_version, NULL},
	{"help", "Show this list, or the help of one command", cmd_help, NULL},
};

static const struct command *find(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++) {
		if (!strcmp(commands[i].name, name))
			return &commands[i];
	}
	return NULL;
}

static bool is_command(const char *name)
{
	return find(name) != NULL;
}

/* Under another name, such as bperf, it stands beside Linux's perf, and in front of none. */
static bool passes_on(void)
{
	return !strcmp(program__name(), "perf");
}

static void print_usage(FILE *to)
{
	fprintf(to, "\n usage: %s [--version] [--help] [OPTIONS] COMMAND [ARGS]\n\n commands:\n",
		program__name());
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++) {
		char *help __cleanup(free_ptr) = program__rename(commands[i].help);

		fprintf(to, "   %-10s %s\n", commands[i].name, help ? help : "");
	}
	if (passes_on())
		pass_on__print_help(to);
	fprintf(to, "\n See '%s help COMMAND' for a command's options.\n\n", program__name());
}

/* Print the commands on one line, for the completion of shells. */
static int list_commands(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
		printf("%s ", commands[i].name);
	if (passes_on())
		pass_on__print_commands(stdout, "", " ", is_command);
	printf("\n");
	return 0;
}

/* Return: one of our commands that @name may be meant to be, NULL: none. */
static const char *near_command(const char *name)
{
	const char *names[ARRAY_SIZE(commands) + 1] = {};

	for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
		names[i] = commands[i].name;
	return nearest_name(name, names);
}

/* A command that is none of ours: pass it on, but not a typo. Return: an exit status. */
static int unknown(const char *name)
{
	const char *near = NULL;

	if (!pass_on__is_of_linux(name))
		near = near_command(name);
	if (passes_on() &&
	    (pass_on__is_of_linux(name) || (near ? pass_on__has(name) : pass_on__is_possible())))
		return pass_on__exec(all_args, name);
	if (pass_on__is_of_linux(name))
		pr_err("'%s' is a command of Linux's perf: run 'perf %s'", name, name);
	else if (near)
		pr_err("'%s' is not a perf command: did you mean '%s'?", name, near);
	else
		pr_err("'%s' is not a perf command: see '%s help'", name, program__name());
	return STATUS_USAGE;
}

/* Print the help of one of our commands: its manual page, otherwise its options, to stdout. */
static int help_on(const struct command *command)
{
	char *help[] = {(char *)command->name, "-h", NULL};

	man_page__show(command->name);
	pager__start("help");
	dup2(STDOUT_FILENO, STDERR_FILENO);
	if (command->run == cmd_version)
		print_usage(stdout);
	else
		command->run(2, help);
	return 0;
}

struct help_cmd {
	bool all, man, info, web;
};

static const struct option_row help_options[] = {
	{'a', "all", OPT_FLAG, offsetof(struct help_cmd, all), NULL, NULL,
	 "list all commands, those of the next perf in PATH included", 0, NULL},
	{'m', "man", OPT_FLAG, offsetof(struct help_cmd, man), NULL, NULL,
	 "show the manual page (default)", 0, NULL},
	{'i', "info", OPT_FLAG, offsetof(struct help_cmd, info), NULL, NULL,
	 "for commands that are passed on: show the info page", 0, NULL},
	{'w', "web", OPT_FLAG, offsetof(struct help_cmd, web), NULL, NULL,
	 "for commands that are passed on: show the HTML page", 0, NULL},
	{0, NULL, 0, 0, NULL, NULL, NULL, 0, NULL},
};

/* Print the commands, with @all also each of the next perf. */
static int list_help(bool all)
{
	pager__start("help");
	print_usage(stdout);
	if (all && passes_on() && pass_on__is_possible()) {
		pass_on__print_commands(stdout, "   ", "\n", is_command);
		printf("\n");
	}
	return 0;
}

static int cmd_help(int argc, char **argv)
{
	struct help_cmd cmd = {};
	const struct command *command;
	int first;

	msg__init("perf help");
	first = parse_options__parse(help_options, "perf help [-a] [-m|-i|-w] [<command>]", &cmd,
				     argc, argv);
	if (first < 0)
		return -first;
	msg__init("perf");
	if (cmd.all || first == argc)
		return list_help(cmd.all);
	command = find(argv[first]);
	if (!command)
		return unknown(argv[first]);
	if (cmd.info || cmd.web) {
		pr_err("%s: there are no %s pages: see '%s help %s'", cmd.info ? "-i" : "-w",
		       cmd.info ? "info" : "HTML", program__name(), command->name);
		return STATUS_NO_PAGES;
	}
	return help_on(command);
}

#ifdef HAVE_LIBPFM
#define HAS_LIBPFM true
#else
#define HAS_LIBPFM false
#endif

#ifdef HAVE_LIBIBERTY
#define HAS_LIBIBERTY true
#else
#define HAS_LIBIBERTY false
#endif

#ifdef HAVE_LIBDW
#define HAS_LIBDW true
#else
#define HAS_LIBDW false
#endif

static const struct {
	const char *name;
	const char *macro;
	bool on;
} features[] = {
	{"bpf_skeletons", "HAVE_BPF_SKEL", true}, {"libbpf", "HAVE_LIBBPF_SUPPORT", true},
	{"libcap", "HAVE_LIBCAP_SUPPORT", true},  {"libdw", "HAVE_LIBDW", HAS_LIBDW},
	{"libelf", "HAVE_LIBELF_SUPPORT", true},  {"libiberty", "HAVE_LIBIBERTY", HAS_LIBIBERTY},
	{"libpfm4", "HAVE_LIBPFM", HAS_LIBPFM},
};

/* Print the features of the build, on a terminal in colours as Linux's perf has them. */
static void print_features(void)
{
	struct config config;
	bool has_color;

	(void)config__load(&config);
	has_color = config__has_color(&config, STDOUT_FILENO);
	config__clear(&config);
	for (size_t i = 0; i < ARRAY_SIZE(features); i++) {
		const char *color = features[i].on ? "\033[32m" : "\033[31m";

		printf("%22s: [ %s%-3s%s ]  # %s\n", features[i].name, has_color ? color : "",
		       features[i].on ? "on" : "OFF", has_color ? "\033[m" : "", features[i].macro);
	}
	printf("%22s: %s\n", "libbpf in use", libbpf_version_string());
}

static int cmd_version(int argc, char **argv)
{
	if (argc > 1 && strcmp(argv[1], "--build-options")) {
		pr_err("version: unknown argument '%s' (--build-options)", argv[1]);
		return STATUS_BAD_OPTION;
	}
	printf("%s version %s\n", program__name(), PERF_VERSION);
	if (passes_on())
		pass_on__print_version(stdout);
	if (argc > 1)
		print_features();
	return 0;
}

/*
 * Open /dev/null for closed standard fds, lest a pipe or perf event take their place and get messages.
 * They are closed again if another perf is executed.
 */
static void keep_standard_fds(void)
{
	int fd;

	do {
		fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	} while (fd >= 0 && fd <= STDERR_FILENO);
	close_fd(&fd);
}

/* Commands of ours inherit all standard fds to their children. */
static void share_standard_fds(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		fcntl(fd, F_SETFD, 0);
}

/* A file that may not grow is an error of writing. Programs that perf executes do not inherit a handler. */
static void on_file_limit(int sig __unused)
{
}

static void catch_file_limit(void)
{
	const struct sigaction action = {.sa_handler = on_file_limit, .sa_flags = SA_RESTART};
	struct sigaction before;

	if (!sigaction(SIGXFSZ, NULL, &before) && before.sa_handler == SIG_DFL)
		sigaction(SIGXFSZ, &action, NULL);
}

/* Run a command of ours. Return: an exit status. */
static int run(const struct command *command, int argc, char **argv)
{
	pager__start_if_asked(command->name);
	share_standard_fds();
	capability__init();
	libbpf_words__begin();
	/* If the parent ignores SIGCHLD, we could not wait for the workload. */
	signal(SIGCHLD, SIG_DFL);
	catch_file_limit();
	return command->run(argc, argv);
}

/* Return: an exit status. */
static int run_or_pass_on(int argc, char **argv)
{
	const struct command *command = find(argv[0]);

	if (!command)
		return unknown(argv[0]);
	if (command->is_ours && passes_on() && !command->is_ours(argc, argv) &&
	    pass_on__is_possible())
		return pass_on__exec(all_args, argv[0]);
	if (argc > 1 && !strcmp(argv[1], "--help"))
		return help_on(command);
	return run(command, argc, argv);
}

/* Print the directory of the program: that of the next perf, otherwise ours. */
static int print_path(const char *option)
{
	char path[PATH_MAX] = "";
	char *end;

	if (passes_on() && pass_on__is_possible())
		return pass_on__exec(all_args, option);
	if (readlink("/proc/self/exe", path, sizeof(path) - 1) < 0) {
		pr_err("cannot read /proc/self/exe: %s", strerror(errno));
		return 1;
	}
	end = strrchr(path, '/');
	printf("%.*s\n", end ? (int)(end - path) : 0, path);
	return 0;
}

/* Do what the option argv[0] wants in place of a command. Return: an exit status. */
static int act(enum global_action action, int argc, char **argv)
{
	static char *build_options[] = {"version", "--build-options", NULL};

	switch (action) {
	case GLOBAL_HELP:
		return cmd_help(argc, argv);
	case GLOBAL_VERSION:
		return cmd_version(1, build_options);
	case GLOBAL_BUILD_OPTIONS:
		return cmd_version(2, build_options);
	case GLOBAL_EXEC_PATH:
	case GLOBAL_HTML_PATH:
		return print_path(argv[0]);
	case GLOBAL_LIST_CMDS:
		return list_commands();
	case GLOBAL_LIST_OPTS:
		global_options__print_names();
		return 0;
	case GLOBAL_RUN:
		break;
	}
	return STATUS_USAGE;
}

/* More than the deepest calls take: 300 KB, in util/bperf/scope_set.c. */
#define STACK_BYTES (512 << 10)

static __attribute__((noinline)) void touch_stack(void)
{
	volatile char lowest[STACK_BYTES];

	lowest[0] = 0;
	(void)lowest[0];
}

/*
 * Let the stack grow now. Where the address space is limited, it may not grow later, and then the kernel kills perf, in
 * the worst case with a lock.
 */
static bool reserve_stack(void)
{
	void *room = mmap(NULL, STACK_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (room == MAP_FAILED)
		return false;
	munmap(room, STACK_BYTES);
	touch_stack();
	return true;
}

int main(int argc, char **argv)
{
	enum global_action action;
	int status, first;

	next_perf__init();
	keep_standard_fds();
	program__init(argc ? argv[0] : NULL);
	msg__init("perf");
	if (!reserve_stack()) {
		pr_err("out of memory: raise the limit with ulimit -v");
		return STATUS_USAGE;
	}
	all_args = argv;
	first = global_options__parse(argc, argv, &action);
	if (first < 0)
		return -first;
	if (action == GLOBAL_RUN && first >= argc) {
		print_usage(stderr);
		return STATUS_USAGE;
	}
	if (action == GLOBAL_RUN)
		status = run_or_pass_on(argc - first, argv + first);
	else
		status = act(action, argc - first, argv + first);
	/* A full disk or a closed pipe behind stdout may show only now. */
	if (fflush(stdout) && !status) {
		pr_err("writing failed: %s", strerror(errno));
		status = 1;
	}
	pager__end();
	return status;
}
