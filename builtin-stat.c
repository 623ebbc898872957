// SPDX-License-Identifier: GPL-2.0
/* perf stat: turn the command line into a plan, carry it out, print. */
#include "builtin.h"

#include "util/cmd/stat_cmd.h"
#include "util/cmd/stat_conflicts.h"
#include "util/cmd/stat_evlist.h"
#include "util/cmd/stat_options.h"
#include "util/cmd/stat_output.h"
#include "util/cmd/stat_report.h"
#include "util/cmd/stat_sinks.h"
#include "util/data/reader.h"
#include "util/data/record.h"
#include "util/defs/definitions.h"
#include "util/event/evlist.h"
#include "util/event/pmu.h"
#include "util/event/tool_values.h"
#include "util/host/capability.h"
#include "util/lib/msg.h"
#include "util/lib/program.h"
#include "util/lib/util.h"
#include "util/report/stat.h"
#include "util/run/assign.h"
#include "util/run/run.h"
#include "util/target/bpf_prog_list.h"
#include "util/target/cgroup_list.h"
#include "util/target/thread_map.h"
#include "util/target/workload.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Signal handlers write nothing else. */
static volatile sig_atomic_t got_signal;

/* Ctrl-C reaches the whole foreground process group. */
static void on_signal(int sig, siginfo_t *info, void *context __unused)
{
	got_signal = info->si_code == SI_KERNEL && !got_signal ? sig | SIGNAL_TYPED : sig;
}

/* The reader of the pipe may exit: get EPIPE instead of SIGPIPE. */
static void on_pipe(int sig __unused)
{
}

static void handle_signals(const struct stat_cmd *cmd)
{
	struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO};
	struct sigaction pipe = {.sa_handler = on_pipe};

	/*
	 * No SA_RESTART: a signal also ends a wait for a lock. A shell without job control starts "perf &"
	 * with SIGINT ignored; like Linux's perf, handle it anyway, so that kill -INT works. Leave SIGHUP
	 * alone for nohup.
	 */
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	/* The command would inherit an ignored signal, but not a handler. */
	if (cmd->record)
		sigaction(SIGPIPE, &pipe, NULL);
}

/* Return: the exit status that a shell gives a command with this wait(2) status. */
static int shell_status(int status)
{
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/*
 * Run the command of --pre or --post; a signal ends it like the workload.
 * Return: true if the series continues; otherwise *status is the command's exit status.
 */
static bool run_hook(const struct stat_cmd *cmd, char *command, int *status)
{
	const char *effect =
		command == cmd->pre ? "this repeat is not counted" : "no repeat follows";
	char *argv[] = {"/bin/sh", "-c", command, NULL};
	struct workload shell;
	int err;

	if (!command)
		return true;
	err = workload__fork(&shell, argv, cmd->run.stdout_has_data);
	if (!err)
		err = workload__start(&shell);
	if (!err && !workload__wait_unless(&shell, &got_signal))
		workload__end(&shell);
	if (!err && shell.is_lost)
		err = -ECHILD;
	if (err)
		pr_err("'%s' failed: %s: %s", command, strerror(-err), effect);
	else if (shell.status && !got_signal)
		pr_err("'%s' failed: %s", command, effect);
	if (err || shell.status)
		*status = err ? STATUS_FAILED : shell_status(shell.status);
	err = err || shell.status;
	workload__delete(&shell);
	return !err && !got_signal;
}

/* Return: 0 or -errno after a message. */
static int finish(struct stat_cmd *cmd)
{
	return stat_sinks__finish(cmd->run.sinks, &cmd->run);
}

/* A signal came before anything was counted. */
static bool is_too_early(const struct stat_cmd *cmd)
{
	return got_signal && !cmd->run.has_begun;
}

/* Return: an exit status, which is the workload's if all went well. */
static int run_all(struct stat_cmd *cmd)
{
	const struct report_options *options = &cmd->run.config.options;
	const struct stat_times nothing = {};
	int status = 0;

	for (int i = 0; (!options->run_count || i < options->run_count) && !got_signal; i++) {
		enum stat_status failed;

		if (options->verbose && options->run_count > 1)
			fprintf(cmd->run.config.env.output, "[ %s stat: executing run #%d ... ]\n",
				program__name(), i + 1);
		if (!run_hook(cmd, cmd->pre, &status)) {
			/* Print the table anyway: all rows are <not counted>. */
			bool is_due = !i || (!options->run_count && !got_signal);

			if (is_too_early(cmd))
				return status;
			if (is_due && stat__add_repeat(cmd->stat, &nothing))
				return STATUS_FAILED;
			if (is_due && !options->run_count && finish(cmd))
				return STATUS_FAILED;
			break;
		}
		if (cmd->sync)
			sync();
		failed = stat_run__once(&cmd->run, &status);
		if (failed)
			return failed;
		if (cmd->run.was_too_early)
			break;
		if (!options->run_count && finish(cmd))
			return STATUS_FAILED;
		if (!status && !run_hook(cmd, cmd->post, &status))
			break;
		/* A workload that died by a signal ends the series. */
		if (cmd->run.was_killed)
			break;
	}
	if (options->run_count && !is_too_early(cmd) && finish(cmd))
		return STATUS_FAILED;
	return status;
}

/* Find the BPF programs of -b. Return: 0 or -errno after a message. */
static int find_progs(struct stat_cmd *cmd)
{
	struct counter_plan *plan = &cmd->run.plan;
	char *missing __cleanup(free_ptr) = capability__missing_to_share();
	int err;

	if (missing) {
		pr_err("-b: not permitted: lacks %s (run as root)", missing);
		return -EPERM;
	}
	err = bpf_prog_list__new(cmd->run.target.bpf_list, &cmd->progs);
	if (err)
		return err;
	cmd->progs->by_row = cmd->run.config.options.aggr_mode == AGGR_PROG;
	plan->progs = cmd->progs;
	plan->prog_rows = thread_map__new_progs(cmd->progs);
	if (!plan->prog_rows)
		pr_err("out of memory");
	return plan->prog_rows ? 0 : -ENOMEM;
}

/* Note for perf stat report how the run was started. */
static void fill_annotations(struct stat_cmd *cmd)
{
	const struct target *target = &cmd->run.target;
	struct evsel *evsel;
	int i;

	cmd->annotations = (struct annotations){
		.is_workload =
			target->argc && target__has_task(target) && !target__is_attached(target),
		.is_system_wide = target->system_wide,
		.options = cmd->run.config.options,
		.detail = cmd->detail,
		.metrics = cmd->metrics,
	};
	evlist__for_each(cmd->evlist, evsel, i)
		cmd->annotations.has_defaults |= evsel->is_default;
}

/* perf stat record. Return: 0 or -errno after a message. */
static int open_record(struct stat_cmd *cmd, int argc, char **argv)
{
	int err = stat_cmd__check_record(cmd);

	if (!err)
		err = stat_record__new(cmd->data_path, argc, argv, &cmd->record);
	if (err)
		return err;
	fill_annotations(cmd);
	/* stdout carries the data: print no table. */
	cmd->run.stdout_has_data = stat_record__is_stdout(cmd->record);
	cmd->quiet |= cmd->run.stdout_has_data;
	return 0;
}

/* Return: the status for -errno of a function that has written a message. */
static enum stat_status status_of(int err)
{
	return !err ? STATUS_OK : err == -EINVAL ? STATUS_INVALID : STATUS_FAILED;
}

/* Settle what is counted. Return: 0 or -errno after a message. */
static int choose_events(struct stat_cmd *cmd)
{
	int err = cmd->run.target.bpf_list ? find_progs(cmd) : 0;

	if (!err)
		err = stat_cmd__add_events(cmd);
	return err ? err : stat_run__assign(&cmd->run);
}

/* Count and print. Return: an exit status. */
static int run_cmd(struct stat_cmd *cmd, int argc, char **argv)
{
	int err, status;

	err = choose_events(cmd);
	if (err)
		return status_of(err);
	if (cmd->data_path && open_record(cmd, argc, argv))
		return STATUS_NO_DATA;
	err = stat_cmd__open_output(cmd);
	if (err)
		return status_of(err);
	cmd->stat = stat__new(&cmd->run.config, cmd->evlist);
	if (!cmd->stat) {
		pr_err("%s", strerror(errno));
		return STATUS_FAILED;
	}
	stat_cmd__add_sinks(cmd);
	handle_signals(cmd);
	status = run_all(cmd);
	if (is_too_early(cmd))
		pr_err("ended by SIG%s before counting began",
		       sigabbrev_np(got_signal & ~SIGNAL_TYPED));
	if (stat_cmd__close_output(cmd) && !status)
		status = STATUS_FAILED;
	/* A message has been written by now. */
	if (cmd->record && !cmd->run.has_counted && !status)
		status = STATUS_NO_DATA;
	if (cmd->record && stat_record__has_failed(cmd->record))
		status = STATUS_NO_DATA;
	/* Leaving may have to wait for other sessions. */
	stat_run__end(&cmd->run);
	msg__print_warnings();
	return status;
}

/* Configuration files set option defaults. */
static int load_settings(struct stat_cmd *cmd)
{
	const struct config *settings = &cmd->settings;
	int err = config__load(&cmd->settings);

	if (err)
		return err;
	cmd->no_big_num = settings->no_big_num;
	cmd->run.config.options.no_csv_summary = settings->no_csv_summary;
	cmd->run.share_events = settings->bpf_counter_events;
	cmd->run.plan.attr_map_path = settings->attr_map;
	cmd->run.plan.trusted_owners = settings->trusted;
	return 0;
}

static void clear(struct stat_cmd *cmd)
{
	stat_record__delete(cmd->record);
	stat__delete(cmd->stat);
	stat_explain__clear(&cmd->explain_sink);
	config__clear(&cmd->settings);
	thread_map__delete(cmd->run.plan.prog_rows);
	bpf_prog_list__delete(cmd->progs);
	if (cmd->run.control)
		control__close(&cmd->control);
	if (cmd->file)
		(void)stat_cmd__close_output(cmd); /* nothing has been counted */
	metric_options__clear(&cmd->metrics);
	evlist__delete(cmd->evlist);
	io_ports__clear(&cmd->io_ports);
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
	cmd->run.config.env.target = &cmd->run.target;
	cmd->run.config.env.literal = tool__literal;
	cmd->run.config.env.defs = cmd->defs;
	cmd->run.config.env.pmus = cmd->pmus;
	return load_settings(cmd);
}

/*
 * Programs read rows of CSV and JSON from stderr: without -v, no warning gets among them. Warnings of
 * the options themselves have been kept until here.
 */
static void settle_messages(const struct stat_cmd *cmd)
{
	const struct report_options *options = &cmd->run.config.options;
	bool is_for_programs = options->csv_sep || options->json;
	bool on_stderr = cmd->output_path ? !strcmp(cmd->output_path, "-") :
					    cmd->log_fd == NO_LOG_FD || !cmd->log_fd ||
						    cmd->log_fd == STDERR_FILENO;

	msg__set_verbose(options->verbose);
	if (cmd->quiet || (is_for_programs && on_stderr && !options->verbose && !cmd->explain))
		msg__hide(MSG_HIDE_WARNINGS);
	else if (is_for_programs)
		msg__hide(MSG_HIDE_HINTS);
	msg__print_warnings();
}

static int report(struct stat_cmd *cmd, int argc, char **argv)
{
	int first;

	msg__init("perf stat report");
	first = stat_cmd__parse_report_options(cmd, argc, argv);
	if (first < 0)
		return -first;
	if (first < argc) {
		pr_err("%s: no argument is expected (a file: -i)", shown_arg(argv[first]));
		return STATUS_USAGE;
	}
	cmd->run.config.options.big_num = !cmd->no_big_num;
	settle_messages(cmd);
	if (stat_cmd__check_output(cmd))
		return STATUS_INVALID;
	if (!cmd->input_path)
		cmd->input_path = data_path(STDIN_FILENO);
	return stat_report__print(cmd, cmd->input_path);
}

static void complete_options(struct stat_cmd *cmd, int argc, char **argv)
{
	struct report_options *options = &cmd->run.config.options;

	if (options->aggr_mode == AGGR_UNSET)
		options->aggr_mode = AGGR_GLOBAL;
	cmd->run.target.argv = argv;
	cmd->run.target.argc = argc;
	options->big_num = !cmd->no_big_num;
	options->bpf_prog_list = cmd->run.target.bpf_list;
	settle_messages(cmd);
}

/* The options have been read; the command begins at @first. Return: an exit status. */
static int count(struct stat_cmd *cmd, int argc, char **argv, int first)
{
	int err;

	complete_options(cmd, argc - first, argv + first);
	if (cmd->lists_ports) {
		io_ports__print(&cmd->io_ports);
		return 0;
	}
	err = target__validate(&cmd->run.target);
	if (err)
		return status_of(err);
	err = stat_cmd__add_metrics(cmd);
	if (err)
		return err == -ENOENT ? STATUS_NO_METRIC : status_of(err);
	err = stat_cmd__check(cmd);
	if (err)
		return status_of(err);
	if (cmd->control_spec) {
		if (control__open(&cmd->control, cmd->control_spec))
			return STATUS_USAGE;
		cmd->run.control = &cmd->control;
	}
	stat_cmd__warn(cmd);
	return run_cmd(cmd, argc, argv);
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
		.metrics = {.td_level = 1},
		.run = {.config.options = {.aggr_mode = AGGR_UNSET, .run_count = 1},
			.signal = &got_signal},
	};
	int first, status;

	msg__init("perf stat");
	use_locale();
	msg__defer_warnings();
	if (prepare(&cmd)) {
		msg__print_warnings();
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
	msg__print_warnings();
	/* If the command handled Ctrl-C and exited, report its status instead of dying by the signal. */
	if (got_signal && !((got_signal & SIGNAL_TYPED) && cmd.run.has_exited)) {
		signal(got_signal & ~SIGNAL_TYPED, SIG_DFL);
		raise(got_signal & ~SIGNAL_TYPED);
	}
	return status;
}
