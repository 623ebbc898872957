// SPDX-License-Identifier: GPL-2.0
#include "util/event/parse_error.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>

#include "util/lib/msg.h"
#include "util/lib/printable.h"
#include "util/lib/program.h"
#include "util/lib/util.h"

static const char lead_in[] = "event syntax error: '";

int parse_error__set(struct parse_error *err, int column, char *reason, char *help)
{
	if (err->reason || !reason) {
		int ret = reason ? -EINVAL : -ENOMEM;

		free(reason);
		free(help);
		return ret;
	}
	err->column = column;
	err->reason = reason;
	err->help = help;
	return -EINVAL;
}

void parse_error__clear(struct parse_error *err)
{
	free(err->text);
	free(err->reason);
	free(err->help);
	free(err->suggestion);
	memset(err, 0, sizeof(*err));
}

/* Return: bytes [@start, @end) of a text, escaped; owned, NULL without memory. */
static char *printable_part(const char *text, int start, int end)
{
	char *part __cleanup(free_ptr) = strndup(text + start, end > start ? end - start : 0);

	return part ? printable__text(part, NULL) : NULL;
}

char *parse_error__format(const struct parse_error *err, int columns)
{
	int len = strlen(err->text), room = columns - (int)sizeof(lead_in) - 1;
	int start = 0, end = len, column = err->column < len ? err->column : len;
	char *text = NULL;
	size_t size;
	char *before __cleanup(free_ptr) = NULL, *after __cleanup(free_ptr) = NULL;
	FILE *out;

	if (room < 20)
		room = 20;
	if (len > room) {
		/* keep a third of the room before the error; each cut takes two columns */
		start = column > room / 3 + 2 ? column - room / 3 : 0;
		if (start > len - (room - 2))
			start = len - (room - 2);
		end = start + room - (start ? 2 : 0);
		if (end < len)
			end -= 2;
		else
			end = len;
	}
	out = open_memstream(&text, &size);
	if (!out)
		return NULL;
	before = printable_part(err->text, start, column);
	after = printable_part(err->text, column, end);
	fprintf(out, "%s%s%s%s%s'\n", lead_in, start ? ".." : "", before ? before : "",
		after ? after : "", end < len ? ".." : "");
	fprintf(out, "%*s\\___ ",
		(int)strlen(lead_in) + (start ? 2 : 0) + (before ? (int)strlen(before) : 0), "");
	printable__put(out, 0, err->reason);
	fputc('\n', out);
	if (err->help)
		fprintf(out, "\n%s\n", err->help);
	fprintf(out, "Run '%s list' for a list of valid events\n", program__name());
	if (err->suggestion) {
		fputs("Did you mean '", out);
		printable__put(out, 0, err->suggestion);
		fputs("'?\n", out);
	}
	if (fclose(out)) {
		free(text);
		errno = ENOMEM;
		return NULL;
	}
	return text;
}

static int terminal_columns(void)
{
	const char *columns = getenv("COLUMNS");
	struct winsize size;

	if (columns && atoi(columns) > 0)
		return atoi(columns);
	if (!ioctl(STDERR_FILENO, TIOCGWINSZ, &size) && size.ws_col)
		return size.ws_col;
	return 80;
}

void parse_error__print(const struct parse_error *err)
{
	char *text __cleanup(free_ptr) = NULL;

	if (!err->text || !err->reason)
		return;
	text = parse_error__format(err, terminal_columns());
	if (text)
		pr_lines(text);
}
