// SPDX-License-Identifier: GPL-2.0
#include "util/cmd/pass_on.h"

#include "util/host/next_perf.h"
#include "util/lib/msg.h"
#include "util/lib/printable.h"
#include "util/lib/util.h"

#include <errno.h>
#include <string.h>

/* As for any unknown command. */
#define STATUS_UNKNOWN 1

/* The commands of the perf of Linux 7.3 that ours lacks. */
static const char *const of_linux[] = {
	"annotate", "archive", "bench", "buildid-cache", "buildid-list", "c2c",	   "check",
	"daemon",   "data",    "diff",	"evlist",	 "ftrace",	 "inject", "iostat",
	"kallsyms", "kmem",    "kvm",	"kwork",	 "lock",	 "mem",	   "probe",
	"record",   "report",  "sched", "test",		 "timechart",	 "trace",
};

bool pass_on__is_of_linux(const char *command)
{
	for (size_t i = 0; i < ARRAY_SIZE(of_linux); i++) {
		if (!strcmp(of_linux[i], command))
			return true;
	}
	return false;
}

bool pass_on__is_possible(void)
{
	struct next_perf next __cleanup(next_perf__clear) = {};

	return !next_perf__find(&next);
}

int pass_on__exec(char **argv, const char *command)
{
	struct next_perf next __cleanup(next_perf__clear) = {};
	int err = next_perf__find(&next);

	if (!err) {
		err = next_perf__exec(&next, argv);
		pr_err("cannot execute %s for '%s': %s", next.path, command, strerror(-err));
	} else if (err == -ENOENT) {
		pr_err("'%s' is a command of Linux's perf, and PATH has no other perf than this one (%s)",
		       command, next_perf__package());
	} else if (err == -ELOOP) {
		pr_err("'%s' is a command of Linux's perf, and each other perf in PATH leads back to this one (%s)",
		       command, next_perf__package());
	} else {
		pr_err("%s", strerror(-err));
	}
	return STATUS_UNKNOWN;
}

/* Return: the words of the next perf's --list-cmds, owned by the caller; NULL: none. */
static char *next_commands(void)
{
	struct next_perf next __cleanup(next_perf__clear) = {};

	return next_perf__find(&next) ? NULL : next_perf__ask(&next, "--list-cmds");
}

bool pass_on__has(const char *command)
{
	char *text __cleanup(free_ptr) = next_commands(), *save = NULL;

	for (char *word = text ? strtok_r(text, " \n", &save) : NULL; word;
	     word = strtok_r(NULL, " \n", &save)) {
		if (!strcmp(word, command))
			return true;
	}
	return false;
}

/* Print the path of the next perf and the first line of its answer to --version, in brackets. */
static void print_next(FILE *to, const struct next_perf *next)
{
	char *version __cleanup(free_ptr) = next_perf__ask(next, "--version");

	printable__put(to, 0, next->path);
	if (!version || *version == '\n')
		return;
	version[strcspn(version, "\n")] = '\0';
	fputs(" (", to);
	printable__put(to, 0, version);
	fputs(")", to);
}

void pass_on__print_version(FILE *to)
{
	struct next_perf next __cleanup(next_perf__clear) = {};

	if (next_perf__find(&next))
		return;
	fputs("other commands: ", to);
	print_next(to, &next);
	fputs("\n", to);
}

void pass_on__print_help(FILE *to)
{
	struct next_perf next __cleanup(next_perf__clear) = {};
	int err = next_perf__find(&next);

	fputs("\n Other commands (record, report, trace, ...) ", to);
	if (err) {
		fprintf(to, "need Linux's perf, which is not in PATH:\n %s\n",
			next_perf__package());
		return;
	}
	fputs("are passed on to\n ", to);
	print_next(to, &next);
	fputs(".\n", to);
}

void pass_on__print_commands(FILE *to, const char *before, const char *after,
			     bool (*is_ours)(const char *name))
{
	char *text __cleanup(free_ptr) = next_commands(), *save = NULL;

	for (char *word = text ? strtok_r(text, " \n", &save) : NULL; word;
	     word = strtok_r(NULL, " \n", &save)) {
		if (!is_ours(word))
			fprintf(to, "%s%s%s", before, word, after);
	}
}
