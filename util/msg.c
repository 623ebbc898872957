// SPDX-License-Identifier: GPL-2.0
#include "msg.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Set once at start, before any thread or signal handler could look. */
static const char *msg_prefix = "perf";
static int msg_level;

void msg__init(const char *prefix)
{
	msg_prefix = prefix;
}

void msg__set_verbose(int level)
{
	msg_level = level;
}

int msg__verbose(void)
{
	return msg_level;
}

/* One write per line, so that lines of several processes on one terminal stay whole. */
static void vsay(const char *fmt, va_list ap)
{
	char *text = NULL;

	if (vasprintf(&text, fmt, ap) < 0)
		return;
	fflush(stdout);
	fprintf(stderr, "%s: %s\n", msg_prefix, text);
	free(text);
}

#define DEFINE_SAY(name, level)                                                                    \
	void name(const char *fmt, ...)                                                            \
	{                                                                                          \
		va_list ap;                                                                        \
                                                                                                   \
		if (msg_level < (level))                                                           \
			return;                                                                    \
		va_start(ap, fmt);                                                                 \
		vsay(fmt, ap);                                                                     \
		va_end(ap);                                                                        \
	}

DEFINE_SAY(pr_err, 0)
DEFINE_SAY(pr_warn, 0)
DEFINE_SAY(pr_verbose, 1)
DEFINE_SAY(pr_debug, 2)

void pr_text(const char *fmt, ...)
{
	va_list ap;

	fflush(stdout);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
}
