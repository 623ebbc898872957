// SPDX-License-Identifier: GPL-2.0
/* perf profile: find the functions that take an event, by sampling. */
#include "builtin.h"

#include "util/cmd/profile_check.h"
#include "util/cmd/profile_cmd.h"
#include "util/cmd/profile_diff.h"
#include "util/cmd/profile_life.h"
#include "util/cmd/profile_parse.h"
#include "util/cmd/profile_stored.h"
#include "util/lib/msg.h"
#include "util/lib/util.h"
#include "util/profile/annotation.h"
#include "util/profile/profile_report.h"

#include <errno.h>
#include <locale.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Show the progress of symbols that take longer. */
#define PROGRESS_NS NSEC_PER_SEC

static void show_progress(void *ctx, const char *image, int nr, int of)
{
	const uint64_t *start_ns = ctx;
	char *text __cleanup(free_ptr) = NULL;

	if (clock_ns() - *start_ns < PROGRESS_NS || !isatty(STDERR_FILENO))
		return;
	text = xasprintf("reading symbols: %3d %% (%.40s)", (int)(100LL * nr / of), image);
	pr_status(text);
}

static int resolve(struct profile_cmd *cmd)
{
	uint64_t start_ns = clock_ns();
	int err = profile_cmd__resolve(cmd, show_progress, &start_ns);

	pr_status(NULL);
	return err;
}

static void warn_of_flat_stacks(struct profile_cmd *cmd)
{
	if (cmd->has_warned || !profile_report__has_flat_stacks(&cmd->run.samples))
		return;
	cmd->has_warned = true;
	pr_warn("most stacks of user space have one frame: the programs were compiled without frame pointers (-fno-omit-frame-pointer)");
}

static bool has_stacks(const struct profile_cmd *cmd)
{
	return cmd->options.view != VIEW_LIST && cmd->options.view != VIEW_ANNOTATION;
}

/* Return: 0, also if there is nothing to annotate; -errno, after a message if the function is missing. */
static int annotate(struct profile_cmd *cmd, struct annotation *annotation)
{
	int err =
		cmd->annotate ? annotation__make(annotation, &cmd->run.samples, cmd->annotate) : 0;

	cmd->run.has_bad_range |= err == -EINVAL;
	return err;
}

static int report(void *ctx, const struct profile_round *round)
{
	struct profile_cmd *cmd = ctx;
	struct samples inlined = {.symbols = cmd->run.symbols, .scale = cmd->run.samples.scale};
	struct profile_report page;
	struct annotation annotation = {};
	int err = resolve(cmd), lost = 0, ret;

	profile_cmd__make_report(cmd, round, &page);
	/* Readers of perf.data find inlined functions by themselves. */
	if (!err)
		lost = profile_cmd__record(cmd, &page);
	if (!err && cmd->inlines) {
		err = samples__add_inlined(&inlined, &cmd->run.samples);
		page.samples = &inlined;
	}
	/* The report is also printed if a disk is full. */
	if (!err) {
		ret = profile_files__write(&cmd->files, &page);
		lost = lost ? lost : ret;
	}
	if (!err)
		err = annotate(cmd, &annotation);
	page.annotation = &annotation;
	if (!err && !profile_cmd__has_stdout(cmd))
		err = profile_report__print(stdout, &page);
	if (!err && annotation.has_problem)
		err = -ENODATA;
	err = err ? err : lost;
	samples__reset(&inlined);
	annotation__clear(&annotation);
	cmd->has_lost_reader = err == -EPIPE;
	if (!err && (has_stacks(cmd) || cmd->data_path || profile_files__has_any(&cmd->files)))
		warn_of_flat_stacks(cmd);
	return err;
}

static int profile(struct profile_cmd *cmd, int argc, char **argv)
{
	int first = profile_cmd__parse(cmd, argc, argv), status;

	if (first < 0)
		return -first;
	/* A command of that name follows "--". */
	if (argv[first] && !strcmp(argv[first], "report") && strcmp(argv[first - 1], "--"))
		return profile_stored(cmd, argc - first, argv + first);
	if (cmd->diff) {
		msg__set_verbose(cmd->verbose);
		return profile_diff(cmd, argc - first, argv + first);
	}
	status = profile_cmd__settle(cmd, first, argc, argv);
	return status ? status : profile_cmd__run(cmd);
}

int cmd_profile(int argc, char **argv)
{
	struct profile_cmd cmd = {.run.report = report, .argc = argc, .argv = argv};
	int status;

	cmd.run.ctx = &cmd;
	msg__init("perf profile");
	use_locale();
	setlocale(LC_NUMERIC, "C"); /* of JSON and CSV */
	status = profile_cmd__prepare(&cmd) ? STATUS_FAILED : profile(&cmd, argc, argv);
	profile_cmd__clear(&cmd);
	profile_cmd__die_if_unread(&cmd);
	return status;
}
