/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_CMD_MAN_PAGE_H
#define PERF_CMD_MAN_PAGE_H

/* The manual pages that were installed with this program. */

/**
 * man_page__show() - show the page of a command with man(1), in place of this process
 * @command: e.g. "stat"
 *
 * Return: only if the page is not installed, or there is no man.
 */
void man_page__show(const char *command);

#endif
