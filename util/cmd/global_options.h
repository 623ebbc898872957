/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_CMD_GLOBAL_OPTIONS_H
#define PERF_CMD_GLOBAL_OPTIONS_H

/* The options of perf itself, before the command. They are those of Linux's perf. */

/* An action that an option asks for in place of a command. */
enum global_action {
	GLOBAL_RUN, /* the command */
	GLOBAL_HELP,
	GLOBAL_VERSION,
	GLOBAL_BUILD_OPTIONS,
	GLOBAL_EXEC_PATH,
	GLOBAL_HTML_PATH,
	GLOBAL_LIST_CMDS,
	GLOBAL_LIST_OPTS,
};

/**
 * global_options__parse() - parse the options before the command, and apply them
 * @argc: number of arguments of main()
 * @argv: those arguments
 * @action: receives what to do; the first option that is an action ends the parsing
 *
 * Return: the index of the command, argc if there is none, or the negative exit status after a message.
 */
int global_options__parse(int argc, char **argv, enum global_action *action);

/** global_options__print_names() - print the names of all options on one line */
void global_options__print_names(void);

#endif
