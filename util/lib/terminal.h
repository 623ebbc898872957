/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_LIB_TERMINAL_H
#define PERF_LIB_TERMINAL_H

/*
 * A page of text that is redrawn on the terminal of standard output, and keys from standard input.
 *
 * Between terminal__begin() and terminal__end(), keys come without Enter and without echo. The terminal is
 * restored on every way out: by exit(), and by signals such as SIGSEGV. Only SIGKILL leaves it as it is.
 */

#include <stdbool.h>

struct terminal_size {
	int lines, columns;
};

/** terminal__is_there() - whether standard output is a terminal that understands ANSI sequences */
bool terminal__is_there(void);

/** terminal__key_fd() - the descriptor of keys; -1: standard input is no terminal */
int terminal__key_fd(void);

/**
 * terminal__begin() - take the terminal; again after a stop, or if another program may have changed it
 *
 * In the background, the kernel stops the process here until it comes to the foreground.
 */
void terminal__begin(void);

/** terminal__end() - restore the terminal; what was drawn last stays, without its last line */
void terminal__end(void);

/** terminal__size() - the present size; 24 lines of 80 columns if the terminal does not know its size */
struct terminal_size terminal__size(void);

/**
 * terminal__draw() - show a page, and a line at the bottom
 * @page: plain text, as printable.h makes it, with line breaks. Only what fits is drawn
 * @bottom: one line; the cursor is behind it
 *
 * Draws nothing while the terminal is held (Ctrl-S). Return: 0 or -errno.
 */
int terminal__draw(const char *page, const char *bottom);

#endif
