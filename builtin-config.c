// SPDX-License-Identifier: GPL-2.0
/* perf config: print and change the values of configuration files. */
#include "builtin.h"

#include "util/host/config_edit.h"
#include "util/host/config_file.h"
#include "util/lib/array.h"
#include "util/lib/msg.h"
#include "util/lib/parse_options.h"
#include "util/lib/printable.h"
#include "util/lib/util.h"

#include <ctype.h>
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define STATUS_FAILED 255

/* A key and its last value. */
struct setting {
	char *name, *value;
};

struct config_cmd {
	bool list, user, system;
	struct setting *settings; /* in the order in which the names appear */
	int nr;
};

static int keep(void *ctx, const struct config_entry *entry)
{
	struct config_cmd *cmd = ctx;
	char *value = strdup(entry->value ? entry->value : "true");
	struct setting *added;
	int i;

	for (i = 0; i < cmd->nr && strcmp(cmd->settings[i].name, entry->name); i++)
		;
	if (value && i == cmd->nr) {
		added = array__add(cmd->settings, cmd->nr);
		if (added)
			added->name = strdup(entry->name);
		if (added && !added->name)
			cmd->nr--;
		if (!added || !added->name) {
			free(value);
			return -ENOMEM;
		}
	}
	if (!value)
		return -ENOMEM;
	free(cmd->settings[i].value);
	cmd->settings[i].value = value;
	return 0;
}

static void forget(struct config_cmd *cmd)
{
	while (cmd->nr) {
		free(cmd->settings[--cmd->nr].name);
		free(cmd->settings[cmd->nr].value);
	}
	free_ptr(&cmd->settings);
}

/* Return: the file that values are written to, owned; NULL after a message. */
static char *file_to_write(const struct config_cmd *cmd)
{
	const char *only = secure_getenv("PERF_CONFIG");
	char *path;

	if (cmd->system)
		return strdup(CONFIG_SYSTEM_FILE);
	if (!cmd->user && only && *only)
		return strdup(only);
	path = config_file__of_user();
	if (!path)
		pr_err("there is no file of the user: HOME is not set (or name a file in PERF_CONFIG)");
	return path;
}

/* Read the files that hold for these options. Return: 0 or -errno after a message. */
static int read_files(struct config_cmd *cmd)
{
	const char *only = secure_getenv("PERF_CONFIG");
	char *user __cleanup(free_ptr) = config_file__of_user();
	bool both = !cmd->user && !cmd->system;
	int err = 0;

	forget(cmd);
	if (both && only)
		return *only ? config_file__read(only, keep, NULL, cmd) : 0;
	if (both || cmd->system)
		err = config_file__read(CONFIG_SYSTEM_FILE, keep, NULL, cmd);
	if (!err && (both || cmd->user) && user)
		err = config_file__read(user, keep, NULL, cmd);
	return err;
}

/* Print the settings of a name, or all if it is NULL. */
static void print(const struct config_cmd *cmd, const char *name)
{
	for (int i = 0; i < cmd->nr; i++) {
		if (name && strcmp(cmd->settings[i].name, name))
			continue;
		printable__put(stdout, 0, cmd->settings[i].name);
		putchar('=');
		printable__put(stdout, 0, cmd->settings[i].value);
		putchar('\n');
	}
}

static bool is_word(const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		if (!isalnum((unsigned char)text[i]) && text[i] != '-' && text[i] != '_')
			return false;
	}
	return len;
}

/* Return: true if a name is SECTION.KEY as files can have it; otherwise it prints an error. */
static bool is_good_name(const char *name)
{
	const char *dot = strchr(name, '.');

	if (!dot)
		pr_err("'%s' has no section: SECTION.KEY or SECTION.KEY=VALUE is expected", name);
	else if (!is_word(name, dot - name) || !is_word(dot + 1, strlen(dot + 1)) ||
		 !isalpha((unsigned char)dot[1]))
		pr_err("'%s' is not SECTION.KEY of letters, digits, - and _", name);
	else
		return true;
	return false;
}

/* Print or set one variable. Return: 0 or -errno after a message. */
static int get_or_set(struct config_cmd *cmd, const char *arg)
{
	char *name __cleanup(free_ptr) = strndup(arg, strcspn(arg, "="));
	char *path __cleanup(free_ptr) = NULL;
	const char *equals = strchr(arg, '=');
	int err;

	if (!name)
		return -ENOMEM;
	if (!is_good_name(name))
		return -EINVAL;
	for (char *c = name; *c; c++)
		*c = tolower((unsigned char)*c);
	if (!equals) {
		err = read_files(cmd);
		if (!err)
			print(cmd, name);
		return err;
	}
	if (!equals[1]) {
		pr_err("'%s' has no value: %s=VALUE is expected", arg, name);
		return -EINVAL;
	}
	path = file_to_write(cmd);
	return path ? config_edit__set(path, name, equals + 1) : -EINVAL;
}

#define AT(member) offsetof(struct config_cmd, member)

static const struct option_row rows[] = {
	{'l', "list", OPT_FLAG, AT(list), .help = "print all variables that files set (default)"},
	{0, "system", OPT_FLAG, AT(system), .help = "use " CONFIG_SYSTEM_FILE " only"},
	{0, "user", OPT_FLAG, AT(user), .help = "use ~/.perfconfig only"},
	{}};

int cmd_config(int argc, char **argv)
{
	struct config_cmd cmd = {};
	int err = 0, i;

	msg__init("perf config");
	i = parse_options__parse(rows,
				 "perf config [--user|--system] [-l] [SECTION.KEY[=VALUE]...]",
				 &cmd, argc, argv);
	if (i < 0)
		return -i;
	if (cmd.user && cmd.system) {
		pr_err("--user and --system are mutually exclusive");
		return STATUS_FAILED;
	}
	if (cmd.list && i < argc) {
		pr_err("%s: -l takes no arguments", argv[i]);
		return OPTIONS_USAGE_STATUS;
	}
	if (i == argc) {
		err = read_files(&cmd);
		if (!err)
			print(&cmd, NULL);
	}
	for (; !err && i < argc; i++)
		err = get_or_set(&cmd, argv[i]);
	forget(&cmd);
	return err ? STATUS_FAILED : 0;
}
