/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_CMD_PASS_ON_H
#define PERF_CMD_PASS_ON_H

/* Commands that ours lacks, passed on to Linux's perf further on in PATH. */

#include <stdbool.h>
#include <stdio.h>

/** pass_on__is_of_linux() - whether Linux's perf has a command of this name */
bool pass_on__is_of_linux(const char *command);

/** pass_on__has() - whether the next perf in PATH itself lists this command */
bool pass_on__has(const char *command);

/** pass_on__is_possible() - whether there is a next perf in PATH */
bool pass_on__is_possible(void);

/**
 * pass_on__exec() - replace this process by the next perf in PATH
 * @argv: all arguments of perf, passed on unchanged
 * @command: the command that needs it, for messages
 *
 * Return: only on failure, an exit status, after a message.
 */
int pass_on__exec(char **argv, const char *command);

/** pass_on__print_version() - print a line about the next perf, if there is one */
void pass_on__print_version(FILE *to);

/** pass_on__print_help() - print who runs other commands */
void pass_on__print_help(FILE *to);

/**
 * pass_on__print_commands() - print the next perf's commands that @is_ours does not know
 * @before: text before each
 * @after: text behind each
 */
void pass_on__print_commands(FILE *to, const char *before, const char *after,
			     bool (*is_ours)(const char *name));

#endif
