// SPDX-License-Identifier: GPL-2.0
/* perf stat: from the command line (util/stat_cmd.h) to a plan; util/stat_run.c carries it out. */
#include "builtin.h"

#include "util/bpf_target.h"
#include "util/capability.h"
#include "util/cgroup.h"
#include "util/data_reader.h"
#include "util/definitions.h"
#include "util/evlist.h"
#include "util/msg.h"
#include "util/options.h"
#include "util/pmu.h"
#include "util/stat_cmd.h"
#include "util/stat_record.h"
#include "util/stat_report.h"
#include "util/thread_map.h"
#include "util/tool_facts.h"
#include "util/util.h"
#include "util/workload.h"

#include <errno.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The one thing that signal handlers write. */
static volatile sig_atomic_t got_signal;

/* What is typed on a terminal, the kernel sends to its whole foreground. */
static void on_signal(int sig, siginfo_t *info, void *context __unused)
{
	got_signal = info->si_code == SI_KERNEL && !got_signal ? sig | SIGNAL_TYPED : sig;
}

/* Who reads what is recorded may go away; that is an error of writing then. */
static void on_pipe(int sig __unused)
{
}

static void handle_signals(const struct stat_cmd *cmd)
{
	struct sigaction action = { .sa_sigaction = on_signal, .sa_flags = SA_SIGINFO };
	struct sigaction pipe = { .sa_handler = on_pipe }, old;

	/* No SA_RESTART: waiting for a lock ends, too. What was ignored stays so: nohup, "&". */
	if (!sigaction(SIGINT, NULL, &old) && old.sa_handler != SIG_IGN)
		sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	/* Not ignored: the command would inherit that. */
	if (cmd->run.record)
		sigaction(SIGPIPE, &pipe, NULL);
}

/*
 * --pre and --post; a signal ends them as it ends what is counted. Whether the series goes on; the
 * status is that of wait modulo 256, so a command's own failure is 0.
 */
static bool is_done(const struct stat_cmd *cmd, char *command, int *status)
{
	char *argv[] = { "/bin/sh", "-c", command, NULL };
	const struct stat_record *record = cmd->run.record;
	struct workload shell;
	int err;

	if (!command)
		return true;
	err = workload__fork(&shell, argv, record && stat_record__is_stdout(record));
	if (!err)
		err = workload__start(&shell);
	if (!err && !workload__wait_unless(&shell, &got_signal))
		workload__end(&shell);
	if (err)
		pr_err("'%s' failed: %s: this run is not counted", command, strerror(-err));
	else if (shell.status && !got_signal)
		pr_err("'%s' failed: this run is not counted", command);
	if (err || shell.status)
		*status = shell.status & 0xff;
	err = err || shell.status;
	workload__delete(&shell);
	return !err && !got_signal;
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
		if (!is_done(cmd, cmd->pre, &status)) {
			/* There is a table all the same: of what has not been counted. */
			bool is_due = !i || (!config->run_count && !got_signal);

			if (is_due && stat__run_done(cmd->run.stat, &nothing))
				return STATUS_FAILED;
			if (is_due && !config->run_count && stat__print(cmd->run.stat))
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
		if (!status && !is_done(cmd, cmd->post, &status))
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

/* What a report has to know of the run. */
static void fill_extra(struct stat_cmd *cmd)
{
	const struct stat_config *config = &cmd->run.config;
	const struct target *target = &cmd->run.target;
	const struct metric_plan *metrics = &cmd->metrics;
	struct evsel *evsel;
	int i;

	cmd->extra = (struct stat_extra){
		.is_workload =
			target->argc && target__has_task(target) && !target__is_attached(target),
		.is_system_wide = target->system_wide,
		.no_merge = config->no_merge,
		.for_each_cgroup = config->for_each_cgroup,
		.null_run = config->null_run,
		.no_metrics = config->no_metrics,
		.metric_only = config->metric_only,
		.summary = config->summary,
		.percore_show_thread = config->percore_show_thread,
		.detail = cmd->detail,
		.metrics = metrics->names,
		.topdown = metrics->topdown,
		.transaction = metrics->transaction,
		.smi_cost = metrics->smi_cost,
		.td_level = metrics->td_level,
		.metric_no_group = metrics->options.no_group,
		.metric_no_merge = metrics->options.no_merge,
		.metric_no_threshold = metrics->options.no_threshold,
	};
	evlist__for_each(cmd->evlist, evsel, i)
		cmd->extra.has_defaults |= evsel->is_default;
	cmd->run.extra = &cmd->extra;
}

/* perf stat record. Return: 0, or an exit status after a message. */
static int open_record(struct stat_cmd *cmd, int argc, char **argv)
{
	if (stat_cmd__check_record(cmd) ||
	    stat_record__new(cmd->data_path, argc, argv, &cmd->run.record))
		return STATUS_NO_DATA;
	fill_extra(cmd);
	/* Of the two, a pipe gets the data. */
	cmd->quiet |= stat_record__is_stdout(cmd->run.record);
	return 0;
}

static int run_cmd(struct stat_cmd *cmd, int argc, char **argv)
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
	if (!status && cmd->data_path)
		status = open_record(cmd, argc, argv);
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
	handle_signals(cmd);
	status = run_all(cmd);
	stat_run__end(&cmd->run);
	if (stat_cmd__close_output(cmd) && !status)
		status = STATUS_FAILED;
	if (cmd->run.record && cmd->run.has_counted)
		stat_record__finish(cmd->run.record);
	else if (cmd->run.record && !status)
		status = STATUS_NO_DATA;	/* said by whoever failed */
	if (cmd->run.record && stat_record__has_failed(cmd->run.record))
		status = STATUS_NO_DATA;
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
	stat_record__delete(cmd->run.record);
	stat__delete(cmd->run.stat);
	config__clear(&cmd->settings);
	thread_map__delete(cmd->run.plan.prog_rows);
	bpf_targets__delete(cmd->progs);
	if (cmd->has_control)
		control__close(&cmd->control);
	if (cmd->file)
		(void)stat_cmd__close_output(cmd);	/* nothing has been counted */
	metric_plan__clear(&cmd->metrics);
	evlist__delete(cmd->evlist);
	cgroup_list__delete(cmd->run.plan.cgroups);
	free(cmd->cgroup_of);
	pmus__delete(cmd->pmus);
	definitions__delete(cmd->defs);
}

/* These words, down to three letters, are commands of perf stat itself; NULL is not. */
static bool is_command(const char *word, const char *command)
{
	size_t len = word ? strlen(word) : 0;

	return len >= 3 && !strncmp(word, command, len);
}

static int prepare(struct stat_cmd *cmd)
{
	cmd->pmus = pmus__new(sysfs_root());
	cmd->evlist = evlist__new();
	cmd->defs = definitions__new();
	cmd->run.plan.cgroups = cgroup_list__new();
	if (!cmd->pmus || !cmd->evlist || !cmd->defs || !cmd->run.plan.cgroups) {
		pr_err("%s", strerror(errno));
		return -errno;
	}
	definitions__add_places(cmd->defs);
	pmus__set_definitions(cmd->pmus, cmd->defs);
	cmd->run.plan.evlist = cmd->evlist;
	cmd->run.config.target = &cmd->run.target;
	cmd->run.config.literal = tool__literal;
	cmd->run.config.defs = cmd->defs;
	cmd->run.config.pmus = cmd->pmus;
	return load_settings(cmd);
}

static int report(struct stat_cmd *cmd, int argc, char **argv)
{
	int first;

	msg__init("perf stat report");
	first = stat_cmd__parse_report_options(cmd, argc, argv);
	if (first < 0)
		return -first;
	if (first < argc) {
		pr_err("%s: no argument is expected (a file: -i)", argv[first]);
		return OPTIONS_USAGE_STATUS;
	}
	cmd->run.config.big_num = !cmd->no_big_num;
	msg__set_verbose(cmd->run.config.verbose);
	if (stat_cmd__check_output(cmd))
		return STATUS_INVALID;
	if (!cmd->input_path)
		cmd->input_path = data_path(STDIN_FILENO);
	return stat_report__print(cmd, cmd->input_path);
}

/* From options to an exit status; the command begins at @first. */
static int count(struct stat_cmd *cmd, int argc, char **argv, int first)
{
	int err, status = STATUS_INVALID;

	if (cmd->run.config.aggr_mode == AGGR_UNSET)
		cmd->run.config.aggr_mode = AGGR_GLOBAL;
	cmd->run.target.argv = argv + first;
	cmd->run.target.argc = argc - first;
	cmd->run.config.big_num = !cmd->no_big_num;
	msg__set_verbose(cmd->run.config.verbose);
	cmd->run.config.bpf_prog_list = cmd->run.target.bpf_list;
	err = target__validate(&cmd->run.target);
	if (!err)
		err = stat_cmd__add_metrics(cmd);
	if (err > 0)
		status = err;
	if (!err) {
		stat_cmd__widen_target(cmd);
		err = stat_cmd__check(cmd);
	}
	if (!err && cmd->control_spec) {
		err = control__open(&cmd->control, cmd->control_spec);
		cmd->has_control = !err;
		if (err)
			status = OPTIONS_USAGE_STATUS;
	}
	if (!err) {
		stat_cmd__warn(cmd);
		status = run_cmd(cmd, argc, argv);
	}
	return status;
}

/* Options may stand on both sides of the word; with it, -o is where the data go. */
static int record(struct stat_cmd *cmd, int argc, char **argv, int word)
{
	int first = stat_cmd__parse_options(cmd, argc - word, argv + word);

	if (first < 0)
		return -first;
	cmd->data_path = cmd->output_path;
	cmd->output_path = NULL;
	if (!cmd->data_path)
		cmd->data_path = data_path(STDOUT_FILENO);
	return count(cmd, argc, argv, word + first);
}

int cmd_stat(int argc, char **argv)
{
	struct stat_cmd cmd = {
		.log_fd = NO_LOG_FD,
		.metrics = { .td_level = 1 },
		.run = { .config = { .aggr_mode = AGGR_UNSET, .run_count = 1 },
			 .signal = &got_signal },
	};
	int first, status;

	msg__init("perf stat");
	setlocale(LC_ALL, "");
	if (prepare(&cmd)) {
		clear(&cmd);
		return STATUS_FAILED;
	}
	first = stat_cmd__parse_options(&cmd, argc, argv);
	if (first < 0)
		status = -first;
	else if (is_command(argv[first], "record"))
		status = record(&cmd, argc, argv, first);
	else if (is_command(argv[first], "report"))
		status = report(&cmd, argc - first, argv + first);
	else
		status = count(&cmd, argc, argv, first);
	clear(&cmd);
	/* A command that answers it, by exiting as it likes, is what whoever typed it meant. */
	if (got_signal && !((got_signal & SIGNAL_TYPED) && cmd.run.has_exited)) {
		signal(got_signal & ~SIGNAL_TYPED, SIG_DFL);
		raise(got_signal & ~SIGNAL_TYPED);
	}
	return status;
}
