// SPDX-License-Identifier: GPL-2.0
#include "util/lib/msg.h"
#include "util/lib/printable.h"
#include "util/lib/program.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Set once at start, before there are threads or signal handlers. */
static const char *msg_prefix = "perf";
static int msg_level, msg_least_level;
static enum msg_hidden msg_hidden;
static unsigned int msg_nr_errors;
static bool has_lost_message;

/* While nr_holds is not 0, messages are collected in a stream. */
static int nr_holds;
static FILE *held;
static char *held_text;
static size_t held_len;

/* Warnings that are kept until the last row is printed. */
static bool keeps_warnings, errors_release;
static FILE *kept;
static char *kept_text;
static size_t kept_len;

/* A terminal shows a status, which the next message replaces. */
static bool has_status;

void msg__init(const char *prefix)
{
	msg_prefix = prefix;
}

const char *msg__prefix(void)
{
	return msg_prefix;
}

void msg__set_verbose(int level)
{
	msg_level = level > msg_least_level ? level : msg_least_level;
}

void msg__set_least_verbose(int level)
{
	msg_least_level = level;
	msg__set_verbose(msg_level);
}

void msg__hide(enum msg_hidden hidden)
{
	msg_hidden = hidden;
}

int msg__verbose(void)
{
	return msg_level;
}

void msg__hold(void)
{
	nr_holds++;
}

static void erase_status(void)
{
	if (has_status)
		fputs("\r\033[K", stderr);
	has_status = false;
}

void msg__release(void)
{
	if (--nr_holds || !held)
		return;
	fclose(held);
	held = NULL;
	fflush(stdout);
	erase_status();
	if (held_text)
		fwrite(held_text, 1, held_len, stderr);
	free(held_text);
	held_text = NULL;
}

/* Return: the stream for messages now: the held one, or stderr also if memory runs out. */
static FILE *stream(void)
{
	if (nr_holds && !held)
		held = open_memstream(&held_text, &held_len);
	if (held)
		return held;
	fflush(stdout);
	erase_status();
	return stderr;
}

void msg__keep_warnings(void)
{
	keeps_warnings = true;
	errors_release = false;
}

void msg__defer_warnings(void)
{
	keeps_warnings = true;
	errors_release = true;
}

/* Write the warnings that are kept, or drop them if they are hidden by now. */
static void flush_warnings(void)
{
	if (!kept)
		return;
	fclose(kept);
	kept = NULL;
	if (kept_text && msg_hidden < MSG_HIDE_WARNINGS)
		fwrite(kept_text, 1, kept_len, stream());
	free(kept_text);
	kept_text = NULL;
}

void msg__print_warnings(void)
{
	keeps_warnings = errors_release = false;
	flush_warnings();
}

static void before_error(void)
{
	if (errors_release)
		flush_warnings();
}

/* Return: the stream for warnings now. */
static FILE *warning_stream(void)
{
	if (keeps_warnings && !kept)
		kept = open_memstream(&kept_text, &kept_len);
	return kept ? kept : stream();
}

/* Replace line breaks and tabs by blanks, in place. */
static void blank_breaks(char *text)
{
	for (; *text; text++) {
		if (*text == '\n' || *text == '\t')
			*text = ' ';
	}
}

/*
 * Return: the message, escaped; owned, NULL without memory. Line breaks and tabs of the format stay,
 * those of the arguments (names) are escaped. Formatting again with a blanked format shows which are
 * which: the two texts differ in the format's own ones only.
 */
static char *format(const char *fmt, va_list ap)
{
	char *text __cleanup(free_ptr) = NULL, *twin __cleanup(free_ptr) = NULL;
	char *blanked __cleanup(free_ptr) = strdup(fmt);
	va_list again;
	int err;

	va_copy(again, ap);
	err = vasprintf(&text, fmt, ap) < 0;
	if (err)
		text = NULL;
	if (!err && blanked) {
		blank_breaks(blanked);
		err = vasprintf(&twin, blanked, again) < 0;
		if (err)
			twin = NULL;
	}
	va_end(again);
	return twin ? printable__text(text, twin) : NULL;
}

unsigned int msg__nr_errors(void)
{
	return msg_nr_errors;
}

void msg__count_error(void)
{
	msg_nr_errors++;
}

/* Return: the remedy for an errno that any system call may return, if @text contains it. */
static const char *remedy(const char *text)
{
	static const struct {
		int err;
		const char *text;
	} remedies[] = {
		{EMFILE, ": raise the limit with ulimit -n"},
		{ENFILE, ": raise the limit with sysctl fs.file-max"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(remedies); i++) {
		if (strstr(text, strerror(remedies[i].err)))
			return remedies[i].text;
	}
	return "";
}

/* Without memory no message can be escaped. One line stands for all of them: stderr has no buffer. */
static void report_lost_message(void)
{
	if (!has_lost_message)
		fprintf(stderr, "%s: out of memory\n", msg_prefix);
	has_lost_message = true;
}

/* Write a line at once, so that lines of several processes do not mix. */
static void vsay(FILE *(*to)(void), const char *fmt, va_list ap)
{
	char *text __cleanup(free_ptr) = format(fmt, ap);
	char *prefix __cleanup(free_ptr) = program__rename(msg_prefix);

	if (!text) {
		report_lost_message();
		return;
	}
	fprintf(to(), "%s: %s%s\n", prefix ? prefix : msg_prefix, text, remedy(text));
}

/* Messages of -v cannot be hidden. */
#define NOT_HIDDEN (MSG_HIDE_WARNINGS + 1)

#define DEFINE_SAY(name, to, level, hidden_by)                                                     \
	void name(const char *fmt, ...)                                                            \
	{                                                                                          \
		va_list ap;                                                                        \
                                                                                                   \
		if (msg_level < (level) || msg_hidden >= (hidden_by))                              \
			return;                                                                    \
		va_start(ap, fmt);                                                                 \
		vsay(to, fmt, ap);                                                                 \
		va_end(ap);                                                                        \
	}

void pr_err(const char *fmt, ...)
{
	va_list ap;

	msg_nr_errors++;
	before_error();
	va_start(ap, fmt);
	vsay(stream, fmt, ap);
	va_end(ap);
}

DEFINE_SAY(pr_warn, warning_stream, 0, MSG_HIDE_WARNINGS)
DEFINE_SAY(pr_verbose, stream, 1, NOT_HIDDEN)
DEFINE_SAY(pr_debug, stream, 2, NOT_HIDDEN)

void pr_hint(const char *fmt, ...)
{
	va_list ap;

	if (msg_hidden >= MSG_HIDE_HINTS)
		return;
	fflush(stdout);
	fputs("Warning:\n", stream());
	va_start(ap, fmt);
	vfprintf(stream(), fmt, ap);
	va_end(ap);
}

static void vtext(const char *fmt, va_list ap)
{
	char *text __cleanup(free_ptr) = NULL;

	before_error();
	text = format(fmt, ap);
	fputs(text ? text : "", stream());
}

void pr_text(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vtext(fmt, ap);
	va_end(ap);
}

void pr_note(const char *fmt, ...)
{
	va_list ap;

	if (msg_hidden >= MSG_HIDE_WARNINGS)
		return;
	va_start(ap, fmt);
	vtext(fmt, ap);
	va_end(ap);
}

void pr_status(const char *text)
{
	char *readable __cleanup(free_ptr) = text ? printable__text(text, NULL) : NULL;

	if (!readable)
		erase_status();
	else if (msg_hidden < MSG_HIDE_WARNINGS)
		has_status = fprintf(stderr, "\r%s\033[K", readable) > 0;
}

void pr_lines(const char *lines)
{
	char *twin __cleanup(free_ptr) = strdup(lines), *text __cleanup(free_ptr) = NULL;

	if (twin) {
		blank_breaks(twin);
		text = printable__text(lines, twin);
	}
	before_error();
	fputs(text ? text : "", stream());
}
