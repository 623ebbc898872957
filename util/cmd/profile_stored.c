// SPDX-License-Identifier: GPL-2.0
#include "util/cmd/profile_stored.h"

#include "util/cmd/profile_check.h"
#include "util/cmd/profile_cmd.h"
#include "util/cmd/profile_life.h"
#include "util/cmd/profile_parse.h"
#include "util/data/profile_replay.h"
#include "util/data/reader.h"
#include "util/event/evlist.h"
#include "util/lib/msg.h"
#include "util/lib/util.h"
#include "util/symbol/symbols.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#define NO_LINES "report has the names of the file: without --inline, --lines and srcline"

/* Parse options before and after the file. Return: 0 or an exit status after a message. */
static int parse(struct profile_cmd *cmd, int argc, char **argv, const char **path)
{
	*path = NULL;
	for (int at = 0; at < argc;) {
		int next = profile_cmd__parse(cmd, argc - at, argv + at);

		if (next < 0)
			return -next;
		at += next;
		if (at < argc && *path) {
			pr_err("report: one file at a time: '%s' is another one",
			       shown_arg(argv[at]));
			return STATUS_INVALID;
		}
		if (at < argc)
			*path = argv[at];
	}
	if (!*path)
		*path = data_path(STDIN_FILENO);
	return 0;
}

static int check(const struct profile_cmd *cmd)
{
	const char *text = NULL;

	if (profile_cmd__is_sampling(cmd))
		text = "report reads a file, and samples nothing: without a target, event or time";
	else if (cmd->max_stack || cmd->only_kernel_chains || cmd->only_user_chains)
		text = "report prints the stacks of the file: without --max-stack, --kernel-callchains and --user-callchains";
	else if (cmd->inlines || cmd->lines)
		text = NO_LINES;
	else if (cmd->data_path || cmd->diff)
		text = "report prints a file: without -o and --diff";
	if (text)
		pr_err("%s", text);
	return text ? -EINVAL : profile_cmd__check_conflicts(cmd);
}

/* Refuse columns that the file does not have. */
static int check_columns(const struct profile_cmd *cmd, uint32_t recorded)
{
	const struct sort_keys *sort = &cmd->options.sort;

	for (int i = 0; i < sort->nr; i++) {
		const struct sort_keys one = {.keys = {sort->keys[i]}, .nr = 1};

		if (sort->keys[i] == SORT_SRCLINE) {
			pr_err("%s", NO_LINES);
			return -EINVAL;
		}
		/* Stacks begin with the instruction. */
		if (!(sort_keys__sample_key(&one) & ~(recorded | SAMPLE_IP)))
			continue;
		pr_err("-s %s: the file has no such column (record it with -s %s, too)",
		       sort_key__name(sort->keys[i]), sort_key__name(sort->keys[i]));
		return -EINVAL;
	}
	return 0;
}

/* The report borrows what was read; @cmd releases what it has a place for. */
static int settle(struct profile_cmd *cmd, struct profile_replay *replay)
{
	evlist__delete(cmd->run.events);
	cmd->run.events = replay->events;
	replay->events = NULL;
	cmd->run.symbols = replay->symbols;
	replay->symbols = NULL;
	profile_cmd__use_debuginfod(cmd);
	cmd->run.samples = replay->samples;
	replay->samples = (struct samples){};
	cmd->cgroup_names = replay->cgroups;
	replay->cgroups = (struct cgroup_names){};
	cmd->target_text = replay->target;
	replay->target = NULL;
	cmd->run.sampling.rate_kind = replay->rate_kind;
	cmd->run.sampling.rate = replay->rate;
	cmd->rate_text = profile_cmd__rate_text(cmd);
	if (!cmd->rate_text) {
		pr_err("out of memory");
		return -ENOMEM;
	}
	return profile_cmd__check_files(cmd);
}

static int print(struct profile_cmd *cmd, const struct profile_replay *replay)
{
	const struct profile_round round = {
		.accounts = replay->accounts,
		.time_ns = replay->time_ns,
		.elapsed_ns = replay->elapsed_ns,
	};
	unsigned int nr_errors = msg__nr_errors();
	int err = profile_files__open(&cmd->files);

	if (!err)
		err = cmd->run.report(cmd->run.ctx, &round);
	/* A reader that has gone knows why. */
	if (err && err != -EPIPE && msg__nr_errors() == nr_errors)
		pr_err("printing failed: %s", strerror(-err));
	return err;
}

int profile_stored(struct profile_cmd *cmd, int argc, char **argv)
{
	struct profile_replay replay = {};
	const char *path;
	int err = parse(cmd, argc, argv, &path);

	if (err)
		return err;
	msg__set_verbose(cmd->verbose);
	err = check(cmd);
	if (!err)
		err = profile_cmd__check_tools(cmd);
	if (!err)
		err = profile_cmd__choose_output(cmd);
	replay.samples.no_kernel = cmd->hide_kernel && cmd->options.view != VIEW_LIST;
	replay.samples.no_user = cmd->hide_user && cmd->options.view != VIEW_LIST;
	if (!err)
		err = profile_replay__read(&replay, path);
	if (!err)
		err = check_columns(cmd, replay.key);
	if (!err)
		err = settle(cmd, &replay);
	if (!err)
		err = print(cmd, &replay);
	profile_replay__clear(&replay);
	return err == -EINVAL ? STATUS_INVALID : err ? STATUS_FAILED : 0;
}
