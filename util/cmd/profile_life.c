// SPDX-License-Identifier: GPL-2.0
#include "util/cmd/profile_life.h"

#include "util/cmd/profile_check.h"
#include "util/cmd/profile_cmd.h"
#include "util/data/profile_record.h"
#include "util/event/evlist.h"
#include "util/event/pmu.h"
#include "util/lib/end_signals.h"
#include "util/lib/msg.h"
#include "util/lib/util.h"
#include "util/profile/each_sample.h"
#include "util/profile/profile_report.h"
#include "util/profile/prog_object.h"
#include "util/symbol/symbols.h"
#include "util/target/cgroup_list.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

/* Signal handlers write nothing else. */
static volatile sig_atomic_t got_signal;

/* Ctrl-C reaches the whole foreground process group. */
static void on_signal(int sig, siginfo_t *info, void *context __unused)
{
	got_signal = info->si_code == SI_KERNEL && !got_signal ? sig | SIGNAL_TYPED : sig;
}

/* The reader of the pipe may exit: get EPIPE instead of SIGPIPE, and leave the leader in order. */
static void on_pipe(int sig __unused)
{
}

void profile_cmd__catch(int sig)
{
	struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO};

	/* No SA_RESTART: a signal also ends a wait for a lock. */
	sigaction(sig, &action, NULL);
}

static void handle_signals(void)
{
	struct sigaction pipe = {.sa_handler = on_pipe};

	profile_cmd__catch(SIGINT);
	profile_cmd__catch(SIGTERM);
	if (end_signals__has_hangup())
		profile_cmd__catch(SIGHUP);
	sigaction(SIGPIPE, &pipe, NULL);
}

/* Nothing needs care any more: a signal ends perf at once. */
static void release_signals(void)
{
	signal(SIGINT, SIG_DFL);
	signal(SIGTERM, SIG_DFL);
	if (end_signals__has_hangup())
		signal(SIGHUP, SIG_DFL);
}

/* --- texts --- */

static char *target_text(const struct profile_cmd *cmd)
{
	const struct target *target = &cmd->run.base.target;

	if (cmd->user)
		return xasprintf("user %s", cmd->user);
	if (target->pid_list)
		return xasprintf("process id %s", target->pid_list);
	if (target->tid_list)
		return xasprintf("thread id %s", target->tid_list);
	if (target->cpu_list)
		return xasprintf("CPU %s", target->cpu_list);
	return strdup(target__has_task(target) ? target->argv[0] : "system wide");
}

char *profile_cmd__rate_text(const struct profile_cmd *cmd)
{
	return xasprintf(cmd->run.sampling.rate_kind == SAMPLE_BY_FREQ ? "%" PRIu64 " Hz" :
									 "every %" PRIu64,
			 cmd->run.sampling.rate);
}

/* --- the life --- */

int profile_cmd__prepare(struct profile_cmd *cmd)
{
	cmd->pmus = pmus__new(sysfs_root());
	cmd->run.events = evlist__new();
	cmd->cgroups = cgroup_list__new();
	if (!cmd->pmus || !cmd->run.events || !cmd->cgroups) {
		pr_err("%s", strerror(errno));
		return -errno;
	}
	cmd->run.base.signal = &got_signal;
	return config__load(&cmd->settings);
}

void profile_cmd__clear(struct profile_cmd *cmd)
{
	if (cmd->run.base.control)
		control__close(&cmd->control);
	profile_files__close(&cmd->files);
	profile_record__delete(cmd->record);
	each_sample__delete(cmd->run.each);
	samples__reset(&cmd->run.samples);
	profile_ranges__clear(&cmd->run.ranges);
	symbols__delete(cmd->run.symbols);
	prog_object__delete(cmd->run.prog);
	evlist__delete(cmd->run.events);
	cgroup_names__clear(&cmd->cgroup_names);
	cgroup_list__delete(cmd->cgroups);
	config__clear(&cmd->settings);
	pmus__delete(cmd->pmus);
	free(cmd->user_pids);
	free(cmd->target_text);
	free(cmd->rate_text);
}

int profile_cmd__settle(struct profile_cmd *cmd, int first, int argc, char **argv)
{
	int err;

	msg__set_verbose(cmd->verbose);
	cmd->run.base.target.argv = argv + first;
	cmd->run.base.target.argc = argc - first;
	if (!cmd->run.sampling.attr_map_path)
		cmd->run.sampling.attr_map_path = cmd->settings.attr_map;
	cmd->run.sampling.trusted_owners = cmd->settings.trusted;
	err = profile_cmd__check(cmd);
	if (err)
		return err == -EINVAL ? STATUS_INVALID : STATUS_FAILED;
	cmd->target_text = target_text(cmd);
	cmd->rate_text = profile_cmd__rate_text(cmd);
	if (cmd->target_text && cmd->rate_text)
		return 0;
	pr_err("out of memory");
	return STATUS_FAILED;
}

static enum stat_status dump_maps(struct profile_cmd *cmd)
{
	int err = prog_object__dump(cmd->run.prog, stdout);

	cmd->has_lost_reader = err == -EPIPE;
	if (err && err != -EPIPE)
		pr_err("writing the profile failed: %s", strerror(-err));
	return err ? STATUS_FAILED : STATUS_OK;
}

static enum symbols_depth depth_of(const struct profile_cmd *cmd)
{
	uint32_t code = SAMPLE_IP | SAMPLE_KERNEL_STACK | SAMPLE_USER_STACK;

	if (!(cmd->run.sampling.key & code) && !cmd->run.ranges.nr)
		return SYMBOLS_NONE;
	if (cmd->inlines)
		return SYMBOLS_INLINES;
	if (sort_keys__has(&cmd->options.sort, SORT_SRCLINE))
		return SYMBOLS_LINES;
	return cmd->annotate ? SYMBOLS_FILES : SYMBOLS_NAMES;
}

void profile_cmd__use_debuginfod(const struct profile_cmd *cmd)
{
	const char *urls = cmd->debuginfod ? cmd->debuginfod : cmd->settings.debuginfod;

	if (urls && *urls)
		symbols__use_debuginfod(cmd->run.symbols, urls);
}

int profile_cmd__run(struct profile_cmd *cmd)
{
	enum stat_status failed;
	int status;

	if (cmd->control_spec) {
		if (control__open(&cmd->control, cmd->control_spec))
			return STATUS_USAGE;
		cmd->run.base.control = &cmd->control;
	}
	if (profile_files__open(&cmd->files))
		return STATUS_FAILED;
	if (cmd->data_path && profile_record__new(cmd->data_path, &cmd->record))
		return STATUS_FAILED;
	if (cmd->run.sampling.nr_singles) {
		cmd->run.each = each_sample__new(cmd->run.events->nr);
		if (!cmd->run.each)
			return STATUS_FAILED;
	}
	/* The confined process that reads files must not have what the sampler maps. */
	cmd->run.symbols = symbols__new(depth_of(cmd), !cmd->run.no_bpf);
	if (!cmd->run.symbols)
		return STATUS_FAILED;
	profile_cmd__use_debuginfod(cmd);
	cmd->run.samples.symbols = cmd->run.symbols;
	if (cmd->prog && prog_object__load(cmd->prog, &cmd->run.prog))
		return STATUS_INVALID;
	handle_signals();
	failed = profile_run__once(&cmd->run, &status);
	release_signals();
	if (!failed && cmd->dump_maps)
		failed = dump_maps(cmd);
	if (symbols__nr_lost(cmd->run.symbols))
		pr_warn("%" PRIu64
			" records of new mappings were lost: some functions have no names",
			symbols__nr_lost(cmd->run.symbols));
	return failed ? (int)failed : status;
}

void profile_cmd__make_report(const struct profile_cmd *cmd, const struct profile_round *round,
			      struct profile_report *report)
{
	*report = (struct profile_report){
		.options = &cmd->options,
		.samples = &cmd->run.samples,
		.events = cmd->run.events,
		.accounts = round->accounts,
		.target = cmd->target_text,
		.rate = cmd->rate_text,
		.time_ns = round->time_ns,
		.elapsed_ns = round->elapsed_ns,
	};
}

int profile_cmd__record(struct profile_cmd *cmd, const struct profile_report *report)
{
	const struct profile_source source = {
		.report = report,
		.each = cmd->run.each,
		.key = cmd->run.samples.key,
		.rate_kind = cmd->run.sampling.rate_kind,
		.rate = cmd->run.sampling.rate,
		.pmus = cmd->pmus,
		.argc = cmd->argc,
		.argv = cmd->argv,
	};

	return cmd->record ? profile_record__write(cmd->record, &source) : 0;
}

int profile_cmd__resolve(struct profile_cmd *cmd,
			 void (*progress)(void *ctx, const char *image, int nr, int of), void *ctx)
{
	int err = symbols__resolve(cmd->run.symbols, progress, ctx);

	/* Cgroups that are not found print as numbers. */
	if (!err && cmd->run.samples.key & SAMPLE_CGROUP)
		(void)cgroup_names__update(&cmd->cgroup_names);
	return err;
}

void profile_cmd__die_if_unread(const struct profile_cmd *cmd)
{
	if (!cmd->has_lost_reader)
		return;
	signal(SIGPIPE, SIG_DFL);
	raise(SIGPIPE);
}
