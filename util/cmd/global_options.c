// SPDX-License-Identifier: GPL-2.0
#include "util/cmd/global_options.h"

#include "util/cmd/pager.h"
#include "util/lib/msg.h"
#include "util/lib/parse_options.h"
#include "util/lib/program.h"
#include "util/lib/util.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* The levels of -v that print each perf event and its attr. */
#define VERBOSE_OPEN 2

enum value { VALUE_NONE, VALUE_NEEDED, VALUE_OPTIONAL };

struct global_row {
	const char *name; /* as typed, with its dashes */
	const char *short_name;
	enum value value;
	enum global_action action; /* without a value */
	int (*set)(const char *value);
};

static int paginate(const char *value __unused)
{
	pager__choose(PAGER_ALWAYS);
	return 0;
}

static int no_pager(const char *value __unused)
{
	pager__choose(PAGER_NEVER);
	return 0;
}

static int accept(const char *value __unused)
{
	return 0;
}

static int set_debugfs(const char *value)
{
	return set_debugfs_root(value);
}

/* NAME[=NUMBER], as in Linux's perf. Only two of them have a meaning for counting. */
static int set_debug(const char *value)
{
	static const char *const names[] = {"verbose",	      "perf-event-open", "stderr",
					    "ordered-events", "data-convert",	 "kmaps",
					    "stack-unwind",   "type-profile",	 NULL};
	size_t len = strcspn(value, "=");
	const char *const *name = names;
	char *end = "";
	long level = value[len] ? strtol(value + len + 1, &end, 10) : 1;

	while (*name && (strlen(*name) != len || strncmp(*name, value, len)))
		name++;
	if (!*name) {
		pr_err("--debug %s: there is no such variable (verbose, perf-event-open)", value);
		return -1;
	}
	if (*end || end == value + len + 1 || level < 0) {
		pr_err("--debug %s: not a number after '='", value);
		return -1;
	}
	if (name == &names[0])
		msg__set_least_verbose(level > VERBOSE_OPEN ? VERBOSE_OPEN + 1 : (int)level);
	else if (name == &names[1] && level)
		msg__set_least_verbose(VERBOSE_OPEN);
	return 0;
}

static const struct global_row rows[] = {
	{"--help", "-h", VALUE_NONE, GLOBAL_HELP, NULL},
	{"--version", "-v", VALUE_NONE, GLOBAL_VERSION, NULL},
	{"-vv", NULL, VALUE_NONE, GLOBAL_BUILD_OPTIONS, NULL},
	{"--exec-path", NULL, VALUE_OPTIONAL, GLOBAL_EXEC_PATH, accept},
	{"--html-path", NULL, VALUE_NONE, GLOBAL_HTML_PATH, NULL},
	{"--paginate", "-p", VALUE_NONE, GLOBAL_RUN, paginate},
	{"--no-pager", NULL, VALUE_NONE, GLOBAL_RUN, no_pager},
	{"--debugfs-dir", NULL, VALUE_NEEDED, GLOBAL_RUN, set_debugfs},
	{"--buildid-dir", NULL, VALUE_NEEDED, GLOBAL_RUN, accept},
	{"--list-cmds", NULL, VALUE_NONE, GLOBAL_LIST_CMDS, NULL},
	{"--list-opts", NULL, VALUE_NONE, GLOBAL_LIST_OPTS, NULL},
	{"--debug", NULL, VALUE_NEEDED, GLOBAL_RUN, set_debug},
};

void global_options__print_names(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		if (!strncmp(rows[i].name, "--", 2))
			printf("%s ", rows[i].name);
	}
	printf("\n");
}

static const struct global_row *find(const char *arg)
{
	size_t len = strcspn(arg, "=");

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		if (strlen(rows[i].name) == len && !strncmp(rows[i].name, arg, len))
			return &rows[i];
		if (rows[i].short_name && !strcmp(rows[i].short_name, arg))
			return &rows[i];
	}
	return NULL;
}

/* Return: whether the value of an option, or its lack, is as it should be; otherwise print an error. */
static bool has_good_value(const struct global_row *row, const char *value, bool is_attached)
{
	if (is_attached && row->value == VALUE_NONE)
		pr_err("%s takes no value", row->name);
	else if (row->value == VALUE_NEEDED && (!value || !*value))
		pr_err("%s needs a value", row->name);
	else
		return true;
	return false;
}

int global_options__parse(int argc, char **argv, enum global_action *action)
{
	int i;

	*action = GLOBAL_RUN;
	for (i = 1; i < argc && argv[i][0] == '-'; i++) {
		const struct global_row *row = find(argv[i]);
		char *value = strchr(argv[i], '=');
		bool is_attached = value;

		if (!row) {
			pr_err("unknown option '%s': see '%s --help'", argv[i], program__name());
			return -OPTIONS_USAGE_STATUS;
		}
		if (is_attached)
			value++;
		else if (row->value == VALUE_NEEDED)
			value = argv[++i];
		if (!has_good_value(row, value, is_attached))
			return -OPTIONS_USAGE_STATUS;
		if (row->set && (value || row->value == VALUE_NONE)) {
			if (row->set(value))
				return -OPTIONS_USAGE_STATUS;
			continue;
		}
		*action = row->action;
		return i;
	}
	return i;
}
