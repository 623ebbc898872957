// SPDX-License-Identifier: GPL-2.0
#include "util/cmd/top_screen.h"

#include "util/cmd/profile_life.h"
#include "util/cmd/top_cmd.h"
#include "util/cmd/top_keys.h"
#include "util/event/evlist.h"
#include "util/lib/msg.h"
#include "util/lib/printable.h"
#include "util/lib/terminal.h"
#include "util/lib/util.h"
#include "util/profile/profile_report.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

/* Show the progress of names after this time. */
#define PROGRESS_NS (NSEC_PER_SEC / 2)

/* --- signals --- */

/* Signal handlers write nothing else. */
static volatile sig_atomic_t is_resized, is_to_stop, is_continued;

static void on_terminal(int sig)
{
	if (sig == SIGWINCH)
		is_resized = 1;
	else if (sig == SIGTSTP)
		is_to_stop = 1;
	else
		is_continued = 1;
}

static const int terminal_signals[] = {SIGWINCH, SIGTSTP, SIGCONT};

static void catch_signals(void)
{
	struct sigaction action = {.sa_handler = on_terminal};

	for (size_t i = 0; i < ARRAY_SIZE(terminal_signals); i++)
		sigaction(terminal_signals[i], &action, NULL);
	/* The terminal is closed, or Ctrl-\ was typed. */
	profile_cmd__catch(SIGHUP);
	profile_cmd__catch(SIGQUIT);
}

static const sigset_t *signals(void)
{
	static sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < ARRAY_SIZE(terminal_signals); i++)
		sigaddset(&set, terminal_signals[i]);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGQUIT);
	return &set;
}

/* Stop as if SIGTSTP had not been caught, with the terminal as it was. */
static void stop(void)
{
	struct sigaction action = {.sa_handler = SIG_DFL}, before;
	sigset_t only;

	terminal__end();
	sigemptyset(&only);
	sigaddset(&only, SIGTSTP);
	sigaction(SIGTSTP, &action, &before);
	raise(SIGTSTP);
	sigprocmask(SIG_UNBLOCK, &only, NULL);
	sigprocmask(SIG_BLOCK, &only, NULL);
	sigaction(SIGTSTP, &before, NULL);
}

/* --- drawing --- */

void top_screen__make_report(const struct top_cmd *top, struct profile_report *report)
{
	const struct profile_round round = {
		.accounts = top->history.accounts,
		.time_ns = top->time_ns,
		.elapsed_ns = top->history.elapsed_ns,
	};

	profile_cmd__make_report(&top->profile, &round, report);
	report->samples = &top->history.samples;
}

static char *make_page(struct top_cmd *top)
{
	struct profile_report report;
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);
	int err = 0;

	if (!out)
		return NULL;
	top_screen__make_report(top, &report);
	if (top->shows_help)
		top_keys__print_help(out, top);
	else if (top->history.nr_events)
		err = profile_report__print_page(out, &report, top->event);
	else
		fprintf(out, "# The first table comes after %g s.\n",
			top->profile.run.base.config.options.interval_ms / 1000.0);
	if (fclose(out) || err)
		free_ptr(&text);
	return text;
}

static char *make_bottom(const struct top_cmd *top)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	if (!out)
		return NULL;
	top_keys__print_bottom(out, top);
	if (fclose(out))
		free_ptr(&text);
	return text;
}

int top_screen__draw(struct top_cmd *top)
{
	struct profile_options *options = &top->profile.options;
	char *page __cleanup(free_ptr) = NULL, *bottom __cleanup(free_ptr) = NULL;

	/* Widths of columns are those of the rows that fit. */
	if (!top->entries)
		options->max_rows = terminal__size().lines;
	page = make_page(top);
	bottom = make_bottom(top);
	return page && bottom ? terminal__draw(page, bottom) : -ENOMEM;
}

void top_screen__progress(void *ctx, const char *image, int nr, int of)
{
	struct top_cmd *top = ctx;
	char *page __cleanup(free_ptr) = NULL, *bottom __cleanup(free_ptr) = NULL;

	if (clock_ns() - top->resolve_ns < PROGRESS_NS)
		return;
	bottom = printable__text(image, NULL);
	page = xasprintf("# reading symbols: %d %% (%s)\n", (int)(100LL * nr / of),
			 bottom ? bottom : "?");
	if (page)
		(void)terminal__draw(page, "");
}

/* --- input --- */

/* Return: 0, 1: end, -errno. */
static int read_keys(struct top_cmd *top, bool *has_keys)
{
	struct pollfd in = {.fd = top->profile.run.input_fd, .events = POLLIN};
	unsigned char bytes[256];
	ssize_t len;
	int ret = 0;

	if (in.fd < 0 || poll(&in, 1, 0) <= 0)
		return 0;
	len = read(in.fd, bytes, sizeof(bytes));
	if (len <= 0)
		return len < 0 && (errno == EINTR || errno == EAGAIN) ? 0 : 1;
	for (ssize_t i = 0; i < len && !ret; i++)
		ret = top_keys__take(top, key_input__take(&top->keys, bytes[i], i + 1 == len));
	*has_keys = true;
	return ret;
}

/* Show the first page, and keep messages back: they would be drawn over. */
static int begin(struct top_cmd *top)
{
	top->is_shown = true;
	msg__hold();
	catch_signals();
	terminal__begin();
	return top_screen__draw(top);
}

static int input(void *ctx)
{
	struct top_cmd *top = ctx;
	bool is_due = is_resized;
	int ret;

	is_resized = 0;
	if (!top->is_shown)
		return begin(top);
	if (is_to_stop) {
		is_to_stop = 0;
		stop();
		is_continued = 1;
	}
	if (is_continued) {
		is_continued = 0;
		is_due = true;
		terminal__begin();
	}
	ret = read_keys(top, &is_due);
	return ret || !is_due ? ret : top_screen__draw(top);
}

void top_screen__init(struct top_cmd *top)
{
	struct profile_run *run = &top->profile.run;

	run->input = input;
	run->input_fd = terminal__key_fd();
	run->input_signals = signals();
}

void top_screen__end(struct top_cmd *top)
{
	if (!top->is_shown)
		return;
	terminal__end();
	msg__release();
}
