// SPDX-License-Identifier: GPL-2.0
#include "config.h"

#include "msg.h"
#include "util.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <pwd.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>

#define SYSTEM_FILE "/etc/perfconfig"
#define USER_FILE ".perfconfig"

enum key_kind { KEY_BOOL, KEY_NOT_BOOL, KEY_STRING, KEY_USERS };

#define AT(field) offsetof(struct config, field)

static const struct {
	const char *name;
	enum key_kind kind;
	size_t offset;
	bool is_admins;		/* not the user's to say where perf has privileges that the user has not */
} keys[] = {
	{ .name = "stat.big-num", .kind = KEY_NOT_BOOL, .offset = AT(no_big_num) },
	{ .name = "stat.no-csv-summary", .kind = KEY_BOOL, .offset = AT(no_csv_summary) },
	{ .name = "stat.bpf-counter-events", .kind = KEY_STRING, .offset = AT(bpf_counter_events) },
	{ .name = "bperf.attr-map", .kind = KEY_STRING, .offset = AT(attr_map) },
	{ .name = "bperf.trusted-owners", .kind = KEY_USERS, .offset = AT(trusted), .is_admins = true },
};

/* Where the reader is. */
struct reader {
	struct config *config;
	const char *path;
	const char *at;
	int line;		/* from 1 */
	char *section;		/* as in the header, lower case; NULL: none yet */
	bool is_admins;		/* the file is an administrator's */
};

static int complain(const struct reader *reader, int line, const char *what)
{
	pr_err("%s:%d: %s", reader->path, line, what);
	return -EINVAL;
}

/* --- values --- */

static int parse_bool(const char *value, bool *out)
{
	static const char *const yes[] = { "true", "yes", "on" };
	static const char *const no[] = { "false", "no", "off", "" };
	char *end;
	long number;

	/* A key alone is switched on. */
	*out = !value;
	for (size_t i = 0; value && i < ARRAY_SIZE(yes); i++)
		*out |= !strcasecmp(value, yes[i]);
	if (*out)
		return 0;
	for (size_t i = 0; i < ARRAY_SIZE(no); i++) {
		if (!strcasecmp(value, no[i]))
			return 0;
	}
	number = strtol(value, &end, 0);
	*out = number != 0;
	return *end ? -EINVAL : 0;
}

/* A user's number, of its name or its digits; one without a user is nobody to be trusted. */
static int find_user(const struct reader *reader, int line, const char *word, uid_t *uid)
{
	const struct passwd *user = getpwnam(word);
	unsigned long number;
	char *end;

	if (user) {
		*uid = user->pw_uid;
		return 0;
	}
	number = strtoul(word, &end, 10);
	if (isdigit((unsigned char)*word) && !*end && number < UINT32_MAX) {
		*uid = number;
		return 0;
	}
	pr_warn("%s:%d: there is no user '%s'", reader->path, line, word);
	return -ENOENT;
}

static int set_users(const struct reader *reader, int line, const char *value, uid_t **out)
{
	char *copy __cleanup(free_ptr) = strdup(value);
	uid_t *users = calloc(strlen(value) + 1, sizeof(*users));
	char *save = NULL;
	int nr = 0;

	if (!copy || !users) {
		free(users);
		return -ENOMEM;
	}
	for (char *word = strtok_r(copy, ", \t", &save); word; word = strtok_r(NULL, ", \t", &save))
		nr += !find_user(reader, line, word, &users[nr]);
	users[nr] = -1;
	free(*out);
	*out = users;
	return 0;
}

static int set_string(const char *value, char **out)
{
	char *copy = strdup(value);

	if (!copy)
		return -ENOMEM;
	free(*out);
	*out = copy;
	return 0;
}

/* @value NULL: the key stood alone. */
static int set(const struct reader *reader, int line, const char *name, const char *value)
{
	char *what __cleanup(free_ptr) = NULL;
	void *var;
	size_t i;
	bool on;

	for (i = 0; i < ARRAY_SIZE(keys) && strcmp(keys[i].name, name); i++)
		;
	if (i == ARRAY_SIZE(keys)) {
		/* Others' keys are theirs, but this section is ours alone. */
		if (strncmp(name, "bperf.", strlen("bperf.")))
			return 0;
		what = xasprintf("there is no key '%s'", name);
		return complain(reader, line, what ? what : name);
	}
	if (keys[i].is_admins && !reader->is_admins) {
		pr_warn("%s:%d: '%s' is ignored: perf has privileges here that you have not", reader->path,
			line, name);
		return 0;
	}
	var = (char *)reader->config + keys[i].offset;
	switch (keys[i].kind) {
	case KEY_BOOL:
	case KEY_NOT_BOOL:
		if (parse_bool(value, &on)) {
			what = xasprintf("'%s' is true or false, not '%s'", name, value);
			return complain(reader, line, what ? what : name);
		}
		*(bool *)var = on == (keys[i].kind == KEY_BOOL);
		return 0;
	case KEY_STRING:
	case KEY_USERS:
		if (value && keys[i].kind == KEY_STRING)
			return set_string(value, var);
		if (value)
			return set_users(reader, line, value, var);
		what = xasprintf("'%s' needs a value", name);
		return complain(reader, line, what ? what : name);
	}
	return -EINVAL;
}

/* --- reading --- */

static bool is_key_char(int c)
{
	return isalnum(c) || c == '-' || c == '_';
}

static void skip_blanks(struct reader *reader)
{
	while (*reader->at == ' ' || *reader->at == '\t' || *reader->at == '\r')
		reader->at++;
}

static void skip_line(struct reader *reader)
{
	reader->at += strcspn(reader->at, "\n");
}

/* A word of a section or key, in lower case; owned by the caller, NULL: none, or no memory. */
static char *read_word(struct reader *reader, const char *more)
{
	const char *start = reader->at;
	char *word;

	while (*reader->at && (is_key_char((unsigned char)*reader->at) || strchr(more, *reader->at)))
		reader->at++;
	if (reader->at == start)
		return NULL;
	word = strndup(start, reader->at - start);
	for (char *c = word; c && *c; c++)
		*c = tolower((unsigned char)*c);
	return word;
}

/* [name], or [name "more"]: nothing that we know has more, but it must not be taken for the name. */
static int read_section(struct reader *reader)
{
	char *name __cleanup(free_ptr) = NULL;
	const char *more;

	reader->at++;
	name = read_word(reader, ".");
	skip_blanks(reader);
	more = reader->at;
	if (name && *reader->at == '"') {
		for (reader->at++; *reader->at && *reader->at != '"' && *reader->at != '\n'; reader->at++)
			reader->at += *reader->at == '\\' && reader->at[1] && reader->at[1] != '\n';
		reader->at += *reader->at == '"';
	}
	if (!name || *reader->at != ']')
		return complain(reader, reader->line, "not a section as in [stat]");
	free(reader->section);
	reader->section = xasprintf("%s%.*s", name, (int)(reader->at - more), more);
	reader->at++;
	return reader->section ? 0 : -ENOMEM;
}

/* The character that a backslash and this one stand for; 0: none. */
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

/*
 * The rest of a line after "=": blanks at its ends are dropped, those in quotes stay, a backslash at
 * the end goes on in the next line. Owned by the caller.
 */
static int read_value(struct reader *reader, char **out)
{
	char *value = malloc(strlen(reader->at) + 1);
	bool is_quoted = false;
	size_t len = 0, keep = 0;

	if (!value)
		return -ENOMEM;
	for (; *reader->at && *reader->at != '\n'; reader->at++) {
		char c = *reader->at;

		if (c == '"') {
			is_quoted = !is_quoted;
			keep = len;
			continue;
		}
		if (!is_quoted && (c == '#' || c == ';')) {
			skip_line(reader);
			break;
		}
		if (c == '\\') {
			c = *++reader->at;
			if (c == '\r' && reader->at[1] == '\n')
				c = *++reader->at;
			if (c == '\n') {
				reader->line++;
				continue;
			}
			c = unescaped(c);
			if (!c) {
				free(value);
				return complain(reader, reader->line,
						"after a backslash: only one of t b n \" \\ or the line's end");
			}
			value[len++] = c;
			keep = len;
			continue;
		}
		value[len++] = c;
		if (is_quoted || !isspace((unsigned char)c))
			keep = len;
	}
	if (is_quoted) {
		free(value);
		return complain(reader, reader->line, "a quote is not closed");
	}
	value[keep] = '\0';
	*out = value;
	return 0;
}

static int read_key(struct reader *reader)
{
	char *key __cleanup(free_ptr) = NULL;
	char *name __cleanup(free_ptr) = NULL;
	char *value __cleanup(free_ptr) = NULL;
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
	return name ? set(reader, line, name, value) : -ENOMEM;
}

static int read_lines(struct reader *reader)
{
	int err = 0;

	/* Some editors begin a file so. */
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
	}
	return err;
}

static int parse(struct config *config, const char *path, bool is_admins)
{
	char *text __cleanup(free_ptr) = NULL;
	struct reader reader = { .config = config, .path = path, .line = 1, .is_admins = is_admins };
	struct stat st;
	size_t len;
	int err;

	if (stat(path, &st)) {
		/* As far as we may know it is not there. */
		if (errno == ENOENT || errno == ENOTDIR || errno == EACCES)
			return 0;
		err = -errno;
		pr_err("%s: %s", path, strerror(-err));
		return err;
	}
	if (st.st_uid && st.st_uid != geteuid()) {
		pr_warn("%s is ignored: it belongs to user %u, neither root nor you", path, st.st_uid);
		return 0;
	}
	text = read_file(path, &len);
	if (!text) {
		err = -errno;
		pr_err("%s: %s", path, strerror(-err));
		return err;
	}
	if (strlen(text) != len) {
		pr_err("%s: not a text: it has a byte 0", path);
		return -EINVAL;
	}
	reader.at = text;
	err = read_lines(&reader);
	free(reader.section);
	return err;
}

int config__parse(struct config *config, const char *path)
{
	return parse(config, path, true);
}

int config__load(struct config *config)
{
	/* Privileges of the file of perf, which the user lacks. */
	bool is_secure = getauxval(AT_SECURE);
	const char *only = secure_getenv("PERF_CONFIG"), *home = getenv("HOME");
	char *path __cleanup(free_ptr) = NULL;
	int err;

	memset(config, 0, sizeof(*config));
	if (only && !*only)
		return 0;
	if (only && access(only, F_OK)) {
		err = -errno;
		pr_err("%s, named by PERF_CONFIG: %s", only, strerror(-err));
		return err;
	}
	if (only)
		return config__parse(config, only);
	err = config__parse(config, SYSTEM_FILE);
	if (err || !home || !*home)
		return err;
	path = xasprintf("%s/%s", home, USER_FILE);
	return path ? parse(config, path, !is_secure) : -ENOMEM;
}

void config__clear(struct config *config)
{
	free_ptr(&config->bpf_counter_events);
	free_ptr(&config->attr_map);
	free_ptr(&config->trusted);
}

static bool is_edge(char c)
{
	return !c || c == ',' || c == ' ' || c == '\t';
}

bool config__shares(const char *list, const char *name)
{
	size_t len = strlen(name);

	/* Names can have commas themselves: cpu/event=1,umask=2/. */
	for (const char *at = list; at && (at = strstr(at, name)); at++) {
		if ((at == list || is_edge(at[-1])) && is_edge(at[len]))
			return true;
	}
	return false;
}
