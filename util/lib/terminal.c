// SPDX-License-Identifier: GPL-2.0
#include "util/lib/terminal.h"

#include "util/lib/printable.h"
#include "util/lib/util.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>
#include <wchar.h>

/* Clear the last line, wrap lines, show the cursor. */
#define RESTORE "\r\033[K\033[?7h\033[?25h"
/* Hide the cursor, clear the screen. */
#define PREPARE "\033[?25l\033[H\033[2J"

/* A terminal that takes nothing for so long gets the rest of a page with the next one. */
#define HELD_MS 1000

/* Signal handlers read these. */
static int out_fd = STDOUT_FILENO;
static struct termios saved;
static volatile sig_atomic_t is_taken, is_saved;

bool terminal__is_there(void)
{
	const char *term = getenv("TERM");

	return isatty(STDOUT_FILENO) && term && *term && strcmp(term, "dumb");
}

int terminal__key_fd(void)
{
	return isatty(STDIN_FILENO) ? STDIN_FILENO : -1;
}

/*
 * A terminal that nobody reads must not hold perf up: open it a second time, as others share the flags of
 * standard output. A user may lack the right, as after su(1); then writing blocks.
 */
static void open_out(void)
{
	int fd = open("/proc/self/fd/1", O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);

	out_fd = fd < 0 ? STDOUT_FILENO : fd;
}

/* Write all, or what the terminal takes before it is held up. Return: 0 or -errno. */
static int write_all(const char *text, size_t len)
{
	struct pollfd out = {.fd = out_fd, .events = POLLOUT};
	bool is_held = false;

	while (len) {
		ssize_t done = write(out_fd, text, len);

		if (done < 0 && errno == EAGAIN) {
			if (is_held || poll(&out, 1, HELD_MS) <= 0)
				return 0;
			is_held = true;
		} else if (done < 0 && errno != EINTR) {
			return -errno;
		} else if (done > 0) {
			is_held = false;
			text += done;
			len -= done;
		}
	}
	return 0;
}

/*
 * Only calls that are safe in signal handlers. The terminal belongs to another program while this one is in
 * the background.
 */
static void restore(void)
{
	if (!is_taken)
		return;
	is_taken = 0;
	if (is_saved && tcgetpgrp(STDIN_FILENO) == getpgrp())
		tcsetattr(STDIN_FILENO, TCSANOW, &saved);
	/* Go on after Ctrl-S, or the write would not return. */
	tcflow(STDOUT_FILENO, TCOON);
	(void)!write(out_fd, RESTORE, sizeof(RESTORE) - 1);
}

/* The default action of the signal follows. */
static void on_fatal(int sig)
{
	restore();
	raise(sig);
}

static void restore_always(void)
{
	static const int fatal[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGSYS, SIGXCPU};
	struct sigaction action = {.sa_handler = on_fatal, .sa_flags = SA_RESETHAND};

	for (size_t i = 0; i < ARRAY_SIZE(fatal); i++)
		sigaction(fatal[i], &action, NULL);
	atexit(restore);
}

static void take_keys(void)
{
	struct termios raw;

	if (!is_saved && tcgetattr(STDIN_FILENO, &saved))
		return;
	is_saved = 1;
	raw = saved;
	/* Ctrl-C, Ctrl-Z and line breaks of the output work as usual. */
	raw.c_lflag &= ~(ICANON | ECHO | IEXTEN);
	raw.c_cc[VMIN] = 1;
	raw.c_cc[VTIME] = 0;
	while (tcsetattr(STDIN_FILENO, TCSADRAIN, &raw) && errno == EINTR)
		;
}

void terminal__begin(void)
{
	static bool is_safe;

	if (!is_safe) {
		open_out();
		restore_always();
	}
	is_safe = true;
	fflush(stdout);
	if (terminal__key_fd() >= 0)
		take_keys();
	is_taken = 1;
	(void)write_all(PREPARE, sizeof(PREPARE) - 1);
}

void terminal__end(void)
{
	restore();
}

struct terminal_size terminal__size(void)
{
	struct winsize size;

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) || !size.ws_row || !size.ws_col)
		return (struct terminal_size){24, 80};
	return (struct terminal_size){size.ws_row, size.ws_col};
}

static int width_of(uint32_t code)
{
	int width = wcwidth(code);

	/* In the C locale nothing is known. */
	return width < 0 ? 1 : width;
}

/* Print as much of a line as fits. Return: its end, at the line break or NUL. */
static const char *put_line(FILE *out, const char *line, int columns)
{
	size_t len = strcspn(line, "\n");
	const char *at = line, *end = line + len;

	while (at < end) {
		struct printable_char c = printable__char(at);

		columns -= width_of(c.code);
		if (columns < 0)
			break;
		at += c.len;
	}
	fwrite(line, 1, at - line, out);
	return end;
}

static void put_page(FILE *out, const char *page, const char *bottom, struct terminal_size size)
{
	/* If a width is not known, the terminal cuts the line. */
	fputs("\033[?7l\033[H", out);
	for (int line = 0; *page && line < size.lines - 1; line++) {
		page = put_line(out, page, size.columns);
		page += *page == '\n';
		fputs("\033[K\n", out);
	}
	/* The cursor needs a column. */
	put_line(out, bottom, size.columns - 1);
	fputs("\033[J\033[?7h", out);
}

int terminal__draw(const char *page, const char *bottom)
{
	struct pollfd poll_out = {.fd = out_fd, .events = POLLOUT};
	char *text __cleanup(free_ptr) = NULL;
	size_t len;
	FILE *out;

	if (poll(&poll_out, 1, 0) == 0)
		return 0;
	out = open_memstream(&text, &len);
	if (!out)
		return -errno;
	put_page(out, page, bottom, terminal__size());
	return fclose(out) ? -errno : write_all(text, len);
}
