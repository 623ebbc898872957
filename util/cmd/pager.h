/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_CMD_PAGER_H
#define PERF_CMD_PAGER_H

/* A pager for long output on a terminal. */

enum pager_choice { PAGER_DEFAULT, PAGER_NEVER, PAGER_ALWAYS };

/** pager__choose() - what --no-pager or --paginate asked for */
void pager__choose(enum pager_choice choice);

/**
 * pager__start() - send stdout, and stderr if that is a terminal, through a pager from now on
 * @command: the command of perf; "pager.COMMAND" of the configuration may name a pager, or switch it off
 *
 * Nothing happens unless stdout is a terminal. The pager is $PERF_PAGER, that of the configuration, $PAGER,
 * or the system's; an empty one and cat are none. Ctrl-C is left to the pager.
 */
void pager__start(const char *command);

/** pager__start_if_asked() - the same for a command that needs --paginate for it */
void pager__start_if_asked(const char *command);

/** pager__end() - end the output and wait for the pager, if there is one */
void pager__end(void);

#endif
