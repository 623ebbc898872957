// SPDX-License-Identifier: GPL-2.0
#include "util/host/config_file.h"

#include "util/lib/msg.h"
#include "util/lib/util.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* A foreign file may have an error in every line. */
#define MAX_FAULTS_SAID 10

/* Place of the reader in a file. */
struct config_reader {
	config_entry_fn on_entry;
	config_section_fn on_section;
	void *ctx;
	const char *path;
	const char *text, *at;
	int line;      /* from 1 */
	char *section; /* as in the header, lower case; NULL: none yet */
	unsigned int nr_faults;
};

/* Counting does not depend on a file of defaults: skip a bad line and use the others. */
static int complain(struct config_reader *reader, int line, const char *what)
{
	if (reader->nr_faults++ < MAX_FAULTS_SAID)
		pr_warn("%s:%d: %s: the line is ignored", reader->path, line, what);
	return -EINVAL;
}

int config_file__complain(const struct config_entry *entry, const char *fmt, ...)
{
	char *what = NULL;
	va_list args;
	int err;

	va_start(args, fmt);
	if (vasprintf(&what, fmt, args) < 0)
		what = NULL;
	va_end(args);
	err = complain(entry->reader, entry->line, what ? what : entry->name);
	free(what);
	return err;
}

static bool is_key_char(int c)
{
	return isalnum(c) || c == '-' || c == '_';
}

static void skip_blanks(struct config_reader *reader)
{
	while (*reader->at == ' ' || *reader->at == '\t' || *reader->at == '\r')
		reader->at++;
}

static void skip_line(struct config_reader *reader)
{
	reader->at += strcspn(reader->at, "\n");
}

/* Return: a word of a section or key, in lower case, owned; NULL: none, or no memory. */
static char *read_word(struct config_reader *reader, const char *more)
{
	const char *start = reader->at;
	char *word;

	while (*reader->at &&
	       (is_key_char((unsigned char)*reader->at) || strchr(more, *reader->at)))
		reader->at++;
	if (reader->at == start)
		return NULL;
	word = strndup(start, reader->at - start);
	for (char *c = word; c && *c; c++)
		*c = tolower((unsigned char)*c);
	return word;
}

/* Parse [name] or [name "more"]. None of our sections has "more". */
static int read_section(struct config_reader *reader)
{
	char *name __cleanup(free_ptr) = NULL;
	const char *more;

	reader->at++;
	name = read_word(reader, ".");
	skip_blanks(reader);
	more = reader->at;
	if (name && *reader->at == '"') {
		for (reader->at++; *reader->at && *reader->at != '"' && *reader->at != '\n';
		     reader->at++)
			reader->at += *reader->at == '\\' && reader->at[1] && reader->at[1] != '\n';
		reader->at += *reader->at == '"';
	}
	free_ptr(&reader->section);
	/* Keys that follow a bad header belong to no known section. */
	if (!name || *reader->at != ']') {
		reader->section = strdup("");
		return reader->section ?
			       complain(reader, reader->line, "not a section as in [stat]") :
			       -ENOMEM;
	}
	reader->section = xasprintf("%s%.*s", name, (int)(reader->at - more), more);
	reader->at++;
	if (!reader->section)
		return -ENOMEM;
	if (reader->on_section)
		reader->on_section(reader->ctx, reader->section, reader->at - reader->text);
	return 0;
}

/* Return: the character that a backslash and this one stand for; 0: none. */
static char unescaped(char c)
{
	switch (c) {
	case 't':
		return '\t';
	case 'b':
		return '\b';
	case 'n':
		return '\n';
	case '"':
	case '\\':
		return c;
	default:
		return 0;
	}
}

/* A growing value. */
struct value {
	char *text;
	size_t len, cap;
	size_t keep; /* trailing blanks from here on are dropped */
};

static int append(struct value *value, char c)
{
	if (value->len + 1 >= value->cap) {
		size_t cap = value->cap ? 2 * value->cap : 64;
		char *grown = realloc(value->text, cap);

		if (!grown)
			return -ENOMEM;
		value->text = grown;
		value->cap = cap;
	}
	value->text[value->len++] = c;
	return 0;
}

/* Read an escape. The reader moves from the backslash to the last character of the escape. */
static int read_escape(struct config_reader *reader, struct value *value)
{
	char c = *++reader->at;
	int err;

	if (c == '\r' && reader->at[1] == '\n')
		c = *++reader->at;
	if (c == '\n') {
		reader->line++;
		return 0;
	}
	c = unescaped(c);
	if (!c)
		return complain(reader, reader->line,
				"after a backslash: only one of t b n \" \\ or the line's end");
	err = append(value, c);
	value->keep = value->len;
	return err;
}

/*
 * Read the value behind "=". Blanks at its ends are dropped, blanks in quotes stay, and a backslash
 * at the end continues it on the next line. Owned by the caller.
 */
static int read_value(struct config_reader *reader, char **out)
{
	struct value value = {};
	bool is_quoted = false;
	int err = 0;

	for (; !err && *reader->at && *reader->at != '\n'; reader->at++) {
		char c = *reader->at;

		if (c == '"') {
			is_quoted = !is_quoted;
			value.keep = value.len;
		} else if (!is_quoted && (c == '#' || c == ';')) {
			skip_line(reader);
			break;
		} else if (c == '\\') {
			err = read_escape(reader, &value);
			if (err)
				break;
		} else {
			err = append(&value, c);
			if (is_quoted || !isspace((unsigned char)c))
				value.keep = value.len;
		}
	}
	if (!err && is_quoted)
		err = complain(reader, reader->line, "a quote is not closed");
	/* Terminate the text; an empty value has no memory yet. */
	value.len = value.keep;
	if (!err)
		err = append(&value, '\0');
	if (err) {
		free(value.text);
		return err;
	}
	*out = value.text;
	return 0;
}

/* Call the user of the file for a key. */
static int report_key(struct config_reader *reader, const char *start, int line, const char *name,
		      const char *value)
{
	/* The section's line is faulty: nobody knows the section of this key. */
	bool is_lost = !*reader->section;
	const struct config_entry entry = {
		.reader = reader,
		.path = reader->path,
		.line = line,
		.name = name,
		.value = value,
		.start = start - reader->text,
		.end = reader->at - reader->text,
	};

	return is_lost ? 0 : reader->on_entry(reader->ctx, &entry);
}

static int read_key(struct config_reader *reader)
{
	char *key __cleanup(free_ptr) = NULL;
	char *name __cleanup(free_ptr) = NULL;
	char *value __cleanup(free_ptr) = NULL;
	const char *start = reader->at;
	int line = reader->line, err;

	if (!isalpha((unsigned char)*reader->at))
		return complain(reader, line, "neither a [section] nor a KEY = VALUE");
	key = read_word(reader, "");
	if (!key)
		return -ENOMEM;
	skip_blanks(reader);
	if (*reader->at == '=') {
		reader->at++;
		skip_blanks(reader);
		err = read_value(reader, &value);
		if (err)
			return err;
	} else if (*reader->at == '#' || *reader->at == ';') {
		skip_line(reader);
	} else if (*reader->at && *reader->at != '\n') {
		return complain(reader, line, "neither a [section] nor a KEY = VALUE");
	}
	if (!reader->section)
		return complain(reader, line, "a key before any [section]");
	name = xasprintf("%s.%s", reader->section, key);
	return name ? report_key(reader, start, line, name, value) : -ENOMEM;
}

static int read_lines(struct config_reader *reader)
{
	int err = 0;

	/* Some editors start a file with a byte order mark. */
	if (!strncmp(reader->at, "\xef\xbb\xbf", 3))
		reader->at += 3;
	while (!err) {
		skip_blanks(reader);
		switch (*reader->at) {
		case '\0':
			return 0;
		case '\n':
			reader->line++;
			reader->at++;
			break;
		case '#':
		case ';':
			skip_line(reader);
			break;
		case '[':
			err = read_section(reader);
			break;
		default:
			err = read_key(reader);
		}
		if (err == -EINVAL) {
			skip_line(reader);
			err = 0;
		}
	}
	return err;
}

/* Return: the text of a file, owned by the caller; NULL after a warning. */
static char *read_text(const char *path)
{
	size_t len;
	char *text = read_file(path, &len);

	if (!text) {
		pr_warn("%s: %s: the file is ignored", path, strerror(errno));
	} else if (strlen(text) != len) {
		pr_warn("%s: not a text file (NUL byte): the file is ignored", path);
		free_ptr(&text);
	}
	return text;
}

int config_file__read_text(const char *path, const char *text, config_entry_fn on_entry,
			   config_section_fn on_section, void *ctx)
{
	struct config_reader reader = {
		.on_entry = on_entry,
		.on_section = on_section,
		.ctx = ctx,
		.path = path,
		.text = text,
		.at = text,
		.line = 1,
	};
	int err = read_lines(&reader);

	if (reader.nr_faults > MAX_FAULTS_SAID)
		pr_warn("%s: %u more faulty lines are ignored", path,
			reader.nr_faults - MAX_FAULTS_SAID);
	free(reader.section);
	if (err)
		pr_err("%s: %s", path, strerror(-err));
	return err;
}

int config_file__read(const char *path, config_entry_fn on_entry, config_section_fn on_section,
		      void *ctx)
{
	char *text __cleanup(free_ptr) = NULL;
	struct stat st;

	if (stat(path, &st)) {
		/* A file that we may not see is treated as absent. */
		if (errno != ENOENT && errno != ENOTDIR && errno != EACCES)
			pr_warn("%s: %s: the file is ignored", path, strerror(errno));
		return 0;
	}
	if (st.st_uid && st.st_uid != geteuid()) {
		pr_warn("%s is ignored: it belongs to user %u, neither root nor you", path,
			st.st_uid);
		return 0;
	}
	text = read_text(path);
	return text ? config_file__read_text(path, text, on_entry, on_section, ctx) : 0;
}

char *config_file__of_user(void)
{
	const char *home = getenv("HOME");

	return home && *home ? xasprintf("%s/.perfconfig", home) : NULL;
}
