// SPDX-License-Identifier: GPL-2.0
/* perf stat: from the command line (util/stat_cmd.h) to a plan; util/stat_run.c carries it out. */
#include "builtin.h"

#include "util/bpf_target.h"
#include "util/capability.h"
#include "util/cgroup.h"
#include "util/definitions.h"
#include "util/evlist.h"
#include "util/msg.h"
#include "util/options.h"
#include "util/pmu.h"
#include "util/stat_cmd.h"
#include "util/thread_map.h"
#include "util/tool_facts.h"
#include "util/util.h"

#include <errno.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define STATUS_NO_RECORD 255

/* The one thing that signal handlers write. */
static volatile sig_atomic_t got_signal;

static void on_signal(int sig)
{
	got_signal = sig;
}

static void handle_signals(void)
{
	struct sigaction action = { .sa_handler = on_signal };
	struct sigaction old;

	/* No SA_RESTART: waiting for a lock ends, too. What was ignored stays so: nohup, "&". */
	if (!sigaction(SIGINT, NULL, &old) && old.sa_handler != SIG_IGN)
		sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
}

/* --pre and --post. Return: the wait status modulo 256, so a command's own failure is 0. */
static bool is_done(const char *command, int *status)
{
	int wait_status = command ? system(command) : 0;

	if (wait_status) {
		pr_err("'%s' failed: this run is not counted", command);
		*status = wait_status & 0xff;
	}
	return !wait_status;
}

static int run_all(struct stat_cmd *cmd)
{
	const struct stat_config *config = &cmd->run.config;
	const struct stat_times nothing = {};
	int status = 0;

	for (int i = 0; (!config->run_count || i < config->run_count) && !got_signal; i++) {
		int failed;

		if (config->verbose && config->run_count > 1)
			fprintf(config->output, "[ perf stat: executing run #%d ... ]\n", i + 1);
		if (!is_done(cmd->pre, &status)) {
			/* There is a table all the same: of what has not been counted. */
			if ((!config->run_count || !i) && stat__run_done(cmd->run.stat, &nothing))
				return STATUS_FAILED;
			if (!config->run_count && stat__print(cmd->run.stat))
				return STATUS_FAILED;
			break;
		}
		if (cmd->sync)
			sync();
		failed = stat_run__once(&cmd->run, &status);
		if (failed)
			return failed;
		if (!config->run_count && stat__print(cmd->run.stat))
			return STATUS_FAILED;
		if (!status && !is_done(cmd->post, &status))
			break;
		/* A workload that died by a signal ends the series. */
		if (cmd->run.was_killed)
			break;
	}
	if (config->run_count && stat__print(cmd->run.stat))
		return STATUS_FAILED;
	return status;
}

/* -b. Return: 0, or an exit status after a message. */
static int find_progs(struct stat_cmd *cmd)
{
	struct counter_plan *plan = &cmd->run.plan;
	char *missing __cleanup(free_ptr) = capability__missing_to_share();
	int err;

	if (missing) {
		pr_err("-b: not permitted: lacks %s (run as root)", missing);
		return STATUS_FAILED;
	}
	err = bpf_targets__new(cmd->run.target.bpf_list, &cmd->progs);
	if (err)
		return err == -EINVAL ? STATUS_INVALID : STATUS_FAILED;
	plan->progs = cmd->progs;
	plan->prog_rows = thread_map__new_progs(cmd->progs);
	if (!plan->prog_rows)
		pr_err("%s", strerror(ENOMEM));
	return plan->prog_rows ? 0 : STATUS_FAILED;
}

static int run_cmd(struct stat_cmd *cmd)
{
	int status, err;

	status = cmd->run.target.bpf_list ? find_progs(cmd) : 0;
	if (status)
		return status;
	err = stat_cmd__add_events(cmd);
	if (err) {
		if (err == -ENOMEM)
			pr_err("out of memory");
		return err == -ENOMEM ? STATUS_FAILED : STATUS_INVALID;
	}
	status = stat_run__assign(&cmd->run);
	if (status)
		return status;
	if (cmd->has_control)
		cmd->run.control = &cmd->control;
	status = stat_cmd__open_output(cmd);
	if (status)
		return status;
	cmd->run.stat = stat__new(&cmd->run.config, cmd->evlist);
	if (!cmd->run.stat) {
		pr_err("%s", strerror(errno));
		return STATUS_FAILED;
	}
	handle_signals();
	status = run_all(cmd);
	if (stat_cmd__close_output(cmd) && !status)
		status = STATUS_FAILED;
	return status;
}

/* What the configuration files say is the default of options. */
static int load_settings(struct stat_cmd *cmd)
{
	const struct config *settings = &cmd->settings;
	int err = config__load(&cmd->settings);

	if (err)
		return err;
	cmd->no_big_num = settings->no_big_num;
	cmd->run.config.no_csv_summary = settings->no_csv_summary;
	cmd->run.share_events = settings->bpf_counter_events;
	cmd->run.plan.attr_map_path = settings->attr_map;
	cmd->run.plan.trusted_owners = settings->trusted;
	return 0;
}

static void clear(struct stat_cmd *cmd)
{
	stat__delete(cmd->run.stat);
	config__clear(&cmd->settings);
	thread_map__delete(cmd->run.plan.prog_rows);
	bpf_targets__delete(cmd->progs);
	if (cmd->has_control)
		control__close(&cmd->control);
	if (cmd->file)
		fclose(cmd->file);
	metric_plan__clear(&cmd->metrics);
	evlist__delete(cmd->evlist);
	cgroup_list__delete(cmd->run.plan.cgroups);
	free(cmd->cgroup_of);
	pmus__delete(cmd->pmus);
	definitions__delete(cmd->defs);
}

/* These words, down to three letters, are commands of perf stat itself; NULL is not. */
static bool is_record_or_report(const char *word)
{
	size_t len = word ? strlen(word) : 0;

	return len >= 3 && (!strncmp(word, "record", len) || !strncmp(word, "report", len));
}

int cmd_stat(int argc, char **argv)
{
	struct stat_cmd cmd = {
		.log_fd = NO_LOG_FD,
		.metrics = { .td_level = 1 },
		.run = { .config = { .aggr_mode = AGGR_GLOBAL, .run_count = 1 }, .signal = &got_signal },
	};
	int first, err, status = STATUS_INVALID;

	msg__init("perf stat");
	setlocale(LC_ALL, "");
	cmd.pmus = pmus__new(sysfs_root());
	cmd.evlist = evlist__new();
	cmd.defs = definitions__new();
	cmd.run.plan.cgroups = cgroup_list__new();
	if (!cmd.pmus || !cmd.evlist || !cmd.defs || !cmd.run.plan.cgroups) {
		pr_err("%s", strerror(errno));
		clear(&cmd);
		return STATUS_FAILED;
	}
	definitions__add_places(cmd.defs);
	pmus__set_definitions(cmd.pmus, cmd.defs);
	cmd.run.plan.evlist = cmd.evlist;
	cmd.run.config.target = &cmd.run.target;
	cmd.run.config.literal = tool__literal;
	cmd.run.config.defs = cmd.defs;
	cmd.run.config.pmus = cmd.pmus;
	if (load_settings(&cmd)) {
		clear(&cmd);
		return STATUS_FAILED;
	}

	first = stat_cmd__parse_options(&cmd, argc, argv);
	if (first < 0) {
		clear(&cmd);
		return -first;
	}
	if (is_record_or_report(argv[first])) {
		pr_err("%s: counts cannot be recorded yet (a command of that name: give its path)",
		       argv[first]);
		clear(&cmd);
		return STATUS_NO_RECORD;
	}
	cmd.run.target.argv = argv + first;
	cmd.run.target.argc = argc - first;
	cmd.run.config.big_num = !cmd.no_big_num;
	msg__set_verbose(cmd.run.config.verbose);
	cmd.run.config.bpf_prog_list = cmd.run.target.bpf_list;
	err = target__validate(&cmd.run.target);
	if (!err)
		err = stat_cmd__add_metrics(&cmd);
	if (err > 0)
		status = err;
	if (!err) {
		stat_cmd__widen_target(&cmd);
		err = stat_cmd__check(&cmd);
	}
	if (!err && cmd.control_spec) {
		err = control__open(&cmd.control, cmd.control_spec);
		cmd.has_control = !err;
		if (err)
			status = OPTIONS_USAGE_STATUS;
	}
	if (!err) {
		stat_cmd__warn(&cmd);
		status = run_cmd(&cmd);
	}
	clear(&cmd);
	if (got_signal) {
		signal(got_signal, SIG_DFL);
		raise(got_signal);
	}
	return status;
}
