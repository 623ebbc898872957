// SPDX-License-Identifier: GPL-2.0
#include "util/cmd/profile_diff.h"

#include "util/cmd/profile_check.h"
#include "util/cmd/profile_cmd.h"
#include "util/lib/msg.h"
#include "util/lib/new_file.h"
#include "util/lib/util.h"
#include "util/profile/flame_svg.h"
#include "util/profile/flame_tree.h"
#include "util/profile/folded.h"
#include "util/profile/print_diff.h"
#include "util/profile/profile_flame.h"

#include <errno.h>
#include <string.h>

static int check(const struct profile_cmd *cmd, int argc)
{
	const char *text = NULL;

	if (argc != 1)
		text = "--diff needs two files: --diff BEFORE AFTER";
	else if (profile_cmd__is_sampling(cmd))
		text = "--diff reads two files, and samples nothing: without a target, event or time";
	else if (cmd->g || cmd->options.no_children || cmd->stacks || cmd->folded || cmd->sort ||
		 cmd->by || cmd->data)
		text = "--diff prints functions: without -g, --no-children, -s, --ip, -d, --stacks and --folded";
	else if (cmd->hide_kernel || cmd->hide_user || cmd->inlines || cmd->lines ||
		 cmd->debuginfod || cmd->max_stack || cmd->only_kernel_chains ||
		 cmd->only_user_chains)
		text = "--diff reads no names and stacks but those of the files: without -K, -U, --inline, --lines, --debuginfod, --max-stack, --kernel-callchains and --user-callchains";
	else if (cmd->files.paths[PROFILE_PPROF])
		text = "--diff and --pprof are mutually exclusive";
	else if (cmd->data_path)
		text = "--diff and -o are mutually exclusive";
	else if (cmd->annotate)
		text = "--annotate and --diff are mutually exclusive";
	else if (cmd->json && cmd->options.csv_sep)
		text = "-x and -j are mutually exclusive";
	if (text)
		pr_err("%s", text);
	return text ? -EINVAL : profile_cmd__check_files(cmd);
}

static int draw(const struct profile_cmd *cmd, struct flame_tree *tree, const char *const names[2])
{
	const char *path = cmd->files.paths[PROFILE_FLAMEGRAPH];
	char *title __cleanup(free_ptr) = xasprintf("%s, compared with %s", names[1], names[0]);
	const struct flame_graph graph = {
		.tree = tree,
		.title = title,
		.notes = "Widths are shares after, colours are changes of the share.\n",
		.is_diff = true,
		.is_icicle = cmd->options.is_icicle,
		.is_html = profile_flame__is_html(path),
		.percent_limit = cmd->options.percent_limit,
	};
	struct new_file new;
	int err = new_file__replace(&new, path, 0666);

	if (!err)
		err = title ? flame_svg__write(new.file, &graph) : -ENOMEM;
	if (!err)
		err = new_file__finish(&new, NULL);
	new_file__close(&new);
	if (err)
		pr_err("cannot write %s: %s", path, strerror(-err));
	return err;
}

static int print(const struct profile_cmd *cmd, const struct flame_tree *tree,
		 const char *const names[2])
{
	int err = print_diff(stdout, tree, &cmd->options, names);

	if (!err && fflush(stdout))
		err = -errno;
	if (err)
		pr_err("printing failed: %s", strerror(-err));
	return err;
}

int profile_diff(struct profile_cmd *cmd, int argc, char **argv)
{
	const char *const names[2] = {cmd->diff, argc ? argv[0] : NULL};
	struct flame_tree tree = {};
	int err = check(cmd, argc);

	if (err)
		return STATUS_INVALID;
	cmd->options.format = cmd->json		   ? FORMAT_JSON :
			      cmd->options.csv_sep ? FORMAT_CSV :
						     FORMAT_TEXT;
	for (int i = 0; i < 2 && !err; i++)
		err = folded__read(&tree, names[i], i);
	if (!err && cmd->files.paths[PROFILE_FLAMEGRAPH])
		err = draw(cmd, &tree, names);
	else if (!err)
		err = print(cmd, &tree, names);
	flame_tree__clear(&tree);
	return err == -EINVAL ? STATUS_INVALID : err ? STATUS_FAILED : 0;
}
