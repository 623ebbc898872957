// SPDX-License-Identifier: GPL-2.0
#include "util/host/config.h"

#include "util/host/config_file.h"
#include "util/lib/msg.h"
#include "util/lib/util.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <pwd.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>

enum key_kind { KEY_BOOL, KEY_NOT_BOOL, KEY_STRING, KEY_USERS };

#define AT(field) offsetof(struct config, field)

static const struct {
	const char *name;
	enum key_kind kind;
	size_t offset;
	bool is_admins; /* ignored in users' files if perf has privileges that the user lacks */
} keys[] = {
	{.name = "stat.big-num", .kind = KEY_NOT_BOOL, .offset = AT(no_big_num)},
	{.name = "stat.no-csv-summary", .kind = KEY_BOOL, .offset = AT(no_csv_summary)},
	{.name = "stat.bpf-counter-events", .kind = KEY_STRING, .offset = AT(bpf_counter_events)},
	{.name = "buildid-cache.debuginfod", .kind = KEY_STRING, .offset = AT(debuginfod)},
	{.name = "color.ui", .kind = KEY_STRING, .offset = AT(color_ui)},
	{.name = "pager.help", .kind = KEY_STRING, .offset = AT(pager_help)},
	{.name = "pager.list", .kind = KEY_STRING, .offset = AT(pager_list)},
	{.name = "bperf.attr-map", .kind = KEY_STRING, .offset = AT(attr_map)},
	{.name = "bperf.trusted-owners",
	 .kind = KEY_USERS,
	 .offset = AT(trusted),
	 .is_admins = true},
};

int config__parse_bool(const char *value, bool *out)
{
	static const char *const yes[] = {"true", "yes", "on"};
	static const char *const no[] = {"false", "no", "off", ""};
	char *end;
	long number;

	/* A key without a value means true. */
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

/* Parse a user's name or number. Numbers without a user are not trusted. */
static int find_user(const struct config_entry *entry, const char *word, uid_t *uid)
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
	pr_warn("%s:%d: there is no user '%s'", entry->path, entry->line, word);
	return -ENOENT;
}

static int set_users(const struct config_entry *entry, const char *value, uid_t **out)
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
		nr += !find_user(entry, word, &users[nr]);
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

/* The values of a file, and whether an administrator wrote it. */
struct settings {
	struct config *config;
	bool is_admins;
};

static int set(void *ctx, const struct config_entry *entry)
{
	const struct settings *settings = ctx;
	const char *name = entry->name, *value = entry->value;
	void *var;
	size_t i;
	bool on;

	for (i = 0; i < ARRAY_SIZE(keys) && strcmp(keys[i].name, name); i++)
		;
	if (i == ARRAY_SIZE(keys)) {
		/* Ignore unknown keys, except in [bperf], which only we define. */
		if (strncmp(name, "bperf.", strlen("bperf.")))
			return 0;
		return config_file__complain(entry, "there is no key '%s'", name);
	}
	if (keys[i].is_admins && !settings->is_admins) {
		pr_warn("%s:%d: '%s' is ignored because perf runs with file capabilities",
			entry->path, entry->line, name);
		return 0;
	}
	var = (char *)settings->config + keys[i].offset;
	switch (keys[i].kind) {
	case KEY_BOOL:
	case KEY_NOT_BOOL:
		if (config__parse_bool(value, &on))
			return config_file__complain(entry, "'%s' is true or false, not '%s'", name,
						     value);
		*(bool *)var = on == (keys[i].kind == KEY_BOOL);
		return 0;
	case KEY_STRING:
	case KEY_USERS:
		if (value && keys[i].kind == KEY_STRING)
			return set_string(value, var);
		if (value)
			return set_users(entry, value, var);
		return config_file__complain(entry, "'%s' needs a value", name);
	}
	return -EINVAL;
}

int config__parse(struct config *config, const char *path)
{
	struct settings settings = {.config = config, .is_admins = true};

	return config_file__read(path, set, NULL, &settings);
}

int config__load(struct config *config)
{
	/* perf's file has capabilities that the user lacks. */
	struct settings settings = {.config = config, .is_admins = !getauxval(AT_SECURE)};
	const char *only = secure_getenv("PERF_CONFIG"), *home = getenv("HOME");
	char *path __cleanup(free_ptr) = NULL;
	int err;

	memset(config, 0, sizeof(*config));
	if (only && !*only)
		return 0;
	if (only && access(only, F_OK)) {
		pr_warn("%s, named by PERF_CONFIG: %s: no file is read", only, strerror(errno));
		return 0;
	}
	if (only)
		return config__parse(config, only);
	err = config__parse(config, CONFIG_SYSTEM_FILE);
	if (err || !home || !*home)
		return err;
	path = config_file__of_user();
	if (!path)
		pr_err("out of memory");
	return path ? config_file__read(path, set, NULL, &settings) : -ENOMEM;
}

void config__clear(struct config *config)
{
	free_ptr(&config->bpf_counter_events);
	free_ptr(&config->debuginfod);
	free_ptr(&config->attr_map);
	free_ptr(&config->color_ui);
	free_ptr(&config->pager_help);
	free_ptr(&config->pager_list);
	free_ptr(&config->trusted);
}

static bool is_edge(char c)
{
	return !c || c == ',' || c == ' ' || c == '\t';
}

bool config__shares(const char *list, const char *name)
{
	size_t len = strlen(name);

	/* Names may contain commas: cpu/event=1,umask=2/. */
	for (const char *at = list; at && (at = strstr(at, name)); at++) {
		if ((at == list || is_edge(at[-1])) && is_edge(at[len]))
			return true;
	}
	return false;
}

const char *config__pager(const struct config *config, const char *command)
{
	if (!strcmp(command, "list"))
		return config->pager_list;
	return strcmp(command, "help") ? NULL : config->pager_help;
}

bool config__has_color(const struct config *config, int fd)
{
	const char *ui = config->color_ui, *term = getenv("TERM"), *never = getenv("NO_COLOR");
	bool on = true;

	if (never && *never)
		return false;
	if (ui && !strcasecmp(ui, "always"))
		return true;
	if (ui && (!strcasecmp(ui, "never") || (!config__parse_bool(ui, &on) && !on)))
		return false;
	return isatty(fd) && (!term || strcmp(term, "dumb"));
}
