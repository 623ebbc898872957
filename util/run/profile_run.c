// SPDX-License-Identifier: GPL-2.0
#include "util/run/profile_run.h"

#include "util/event/evlist.h"
#include "util/host/capability.h"
#include "util/host/cpumap.h"
#include "util/host/sd_notify.h"
#include "util/host/task_namespace.h"
#include "util/lib/msg.h"
#include "util/lib/util.h"
#include "util/profile/account.h"
#include "util/profile/each_sample.h"
#include "util/profile/prog_object.h"
#include "util/profile/sample_source.h"
#include "util/run/control.h"
#include "util/run/pass.h"
#include "util/run/tasks.h"
#include "util/run/wait.h"
#include "util/symbol/symbols.h"
#include "util/target/target_cpus.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- collecting --- */

/* The time for mappings of processes that ran before: some 2,000 at the beginning, the others a few at a time. */
#define FIRST_MAPS_NS (200 * NSEC_PER_MSEC)
#define MORE_MAPS_NS  (10 * NSEC_PER_MSEC)

/* A change of the symbols can lack memory: then names are missing, which is no reason to end. */
static int without_names(int err)
{
	return err == -ENOMEM ? 0 : err;
}

/* Execs up to now are known before the first entry tells which of them were sampled. */
static int expect_entry(void *ctx, const struct sample_entry *entry)
{
	struct profile_run *run = ctx;
	int err = run->last_cpu < 0 ? without_names(symbols__update(run->symbols)) : 0;

	run->last_cpu = entry->cpu;
	if (!err)
		samples__expect(&run->samples, entry);
	return err;
}

/* Memory for distinct samples until the next report. More than that takes minutes to print, too. */
#define MAX_SAMPLES_BYTES (512UL << 20)

/* A collection goes on without an entry for which there is no memory: others may be known already. */
static void lose(struct profile_run *run, const struct sample_entry *entry)
{
	struct sample_sum *lost = &run->lost[entry->event];

	lost->nr += entry->nr_samples;
	lost->weight += entry->weight;
}

/* Records of new mappings have little room, so they are taken meanwhile. */
static int take_entry(void *ctx, const struct sample_entry *entry)
{
	struct profile_run *run = ctx;
	int err = 0;

	if (entry->cpu != run->last_cpu)
		err = without_names(symbols__update(run->symbols));
	run->last_cpu = entry->cpu;
	if (!err)
		err = samples__add(&run->samples, entry);
	if (err == -ENOMEM) {
		lose(run, entry);
		return 0;
	}
	if (!err && run->each)
		each_sample__add(run->each, run->samples.last, entry);
	return err;
}

static int collect(struct profile_run *run)
{
	int err;

	run->last_cpu = -1;
	err = sample_source__collect(run->source, expect_entry, take_entry, run);
	run->look_at_ns = 0;
	if (!err)
		err = without_names(symbols__update(run->symbols));
	if (!err)
		err = without_names(early_maps__read(&run->early_maps, run->symbols, MORE_MAPS_NS));
	if (!err)
		err = without_names(symbols__forget_ended(run->symbols));
	return err;
}

/* The source may be looked at earlier than was planned, after a wakeup, but not later. */
static void plan_look(struct profile_run *run)
{
	uint64_t at_ns = clock_ns() + (uint64_t)sample_source__look_ms(run->source) * NSEC_PER_MSEC;

	if (!run->look_at_ns || at_ns < run->look_at_ns)
		run->look_at_ns = at_ns;
}

/* Collect if it is time to. */
static int look(struct profile_run *run)
{
	run->look_at_ns = 0;
	return sample_source__is_due(run->source) ? collect(run) : 0;
}

/* Take the accounts since the last round, and what else a report needs of the source. */
static struct profile_round end_round(struct profile_run *run, uint64_t start_ns)
{
	struct profile_round round = {
		.accounts = run->accounts,
		.time_ns = clock_ns() - start_ns,
	};

	round.elapsed_ns = round.time_ns - run->old_round_ns;
	run->old_round_ns = round.time_ns;
	for (int i = 0; i < run->events->nr; i++) {
		struct sample_account account;

		sample_source__account(run->source, i, &account);
		account.lost[SAMPLE_LOST_TABLE].nr += run->lost[i].nr;
		account.lost[SAMPLE_LOST_TABLE].weight += run->lost[i].weight;
		account.kept.nr -= run->lost[i].nr;
		account.kept.weight -= run->lost[i].weight;
		if (run->each)
			each_sample__account(run->each, i, &account);
		run->accounts[i] = account__advance(&account, &run->old_accounts[i]);
	}
	return round;
}

static int report(struct profile_run *run, const struct profile_round *round)
{
	int err = run->report(run->ctx, round);

	samples__reset(&run->samples);
	return err;
}

/* --- the loop --- */

static int set_enabled(struct profile_run *run, struct stat_pass *pass, bool enable)
{
	if (pass->is_enabled == enable)
		return 0;
	pass->is_enabled = enable;
	return sample_source__set(run->source, enable);
}

static void list_events(const struct profile_run *run)
{
	for (int i = 0; i < run->events->nr; i++)
		pr_text("%s\n", run->events->evsels[i]->name);
}

/* Single events cannot be switched: a session's samples are one. */
static int switch_events(struct profile_run *run, struct stat_pass *pass, bool enable)
{
	if (run->base.control->arg) {
		pr_err("--control: single events cannot be switched: enable or disable without '%s'",
		       run->base.control->arg);
		return 0;
	}
	pr_text("Events %s\n", enable ? "enabled" : "disabled");
	pass->stays_disabled = !enable;
	return set_enabled(run, pass, enable);
}

static int obey(struct profile_run *run, struct stat_pass *pass)
{
	struct control *control = run->base.control;
	enum control_command command;
	int err = 0;

	while (!err && control && (command = control__next(control)) != CONTROL_NONE) {
		if (command == CONTROL_UNKNOWN)
			continue;
		if (command == CONTROL_ENABLE || command == CONTROL_DISABLE)
			err = switch_events(run, pass, command == CONTROL_ENABLE);
		else if (command == CONTROL_EVLIST)
			list_events(run);
		else if (command == CONTROL_STOP)
			pass->is_over = true;
		control__ack(control);
	}
	return err;
}

static void wait_next(const struct profile_run *run, struct stat_pass *pass,
		      const sigset_t *unblocked)
{
	struct pollfd fds[] = {
		{.fd = run->base.control ? run->base.control->fd : -1, .events = POLLIN},
		{.fd = stat_pass__task_fd(pass), .events = POLLIN},
		{.fd = run->input ? run->input_fd : -1, .events = POLLIN},
		{.fd = sample_source__wakeup_fd(run->source), .events = POLLIN},
	};
	uint64_t at_ns = earliest(earliest(pass->next_print_ns, pass->enable_at_ns),
				  earliest(pass->end_at_ns, run->look_at_ns));

	stat_pass__wait(pass, fds, ARRAY_SIZE(fds), at_ns, unblocked);
}

static int on_interval(struct profile_run *run, struct stat_pass *pass)
{
	uint64_t interval_ns = run->base.config.options.interval_ms * NSEC_PER_MSEC;
	int err = collect(run);

	if (!err) {
		struct profile_round round = end_round(run, pass->start_ns);

		err = report(run, &round);
	}
	pass->nr_printed++;
	pass->next_print_ns += interval_ns;
	if (pass->next_print_ns <= clock_ns())
		pass->next_print_ns = clock_ns() + interval_ns;
	if (run->base.interval_count && pass->nr_printed >= run->base.interval_count)
		pass->is_over = true;
	return err;
}

static void start_clock(struct profile_run *run, struct stat_pass *pass)
{
	const struct stat_run *base = &run->base;

	pass->start_ns = clock_ns();
	if (base->config.options.interval_ms)
		pass->next_print_ns =
			pass->start_ns + base->config.options.interval_ms * NSEC_PER_MSEC;
	if (base->timeout_ms)
		pass->end_at_ns = pass->start_ns + base->timeout_ms * NSEC_PER_MSEC;
	run->old_round_ns = 0;
}

static int end_delay(struct profile_run *run, struct stat_pass *pass)
{
	pass->enable_at_ns = 0;
	if (pass->stays_disabled || pass->is_enabled)
		return 0;
	pr_text("Events enabled\n");
	start_clock(run, pass);
	return set_enabled(run, pass, true);
}

/* A new interval begins at once. Return: 0 or -errno. */
static int take_input(struct profile_run *run, struct stat_pass *pass)
{
	unsigned int interval_ms = run->base.config.options.interval_ms;
	int ret = run->input ? run->input(run->ctx) : 0;

	if (run->base.config.options.interval_ms != interval_ms)
		pass->next_print_ns =
			clock_ns() + run->base.config.options.interval_ms * NSEC_PER_MSEC;
	if (ret > 0)
		pass->is_over = true;
	return ret < 0 ? ret : 0;
}

static int step(struct profile_run *run, struct stat_pass *pass)
{
	int err = is_due(pass->enable_at_ns) ? end_delay(run, pass) : 0;

	sample_source__handle_wakeup(run->source);
	if (!err)
		err = obey(run, pass);
	if (!err)
		err = take_input(run, pass);
	if (!err && is_due(pass->next_print_ns))
		err = on_interval(run, pass);
	else if (!err && is_due(run->look_at_ns))
		err = look(run);
	plan_look(run);
	if (is_due(pass->end_at_ns))
		pass->is_over = true;
	return err;
}

static int loop(struct profile_run *run, struct stat_pass *pass)
{
	sigset_t unblocked;
	int err;

	stat_pass__hold_signals(run->input ? run->input_signals : NULL, &unblocked);
	err = take_input(run, pass);
	while (!err && !pass->is_over && !stat_pass__is_told_to_end(pass) &&
	       !stat_pass__is_target_gone(pass)) {
		wait_next(run, pass, &unblocked);
		err = step(run, pass);
	}
	stat_pass__release_signals(&unblocked);
	return err;
}

/* --- the source --- */

static struct sample_request request_of(const struct profile_run *run)
{
	return (struct sample_request){
		.options = &run->sampling,
		.events = run->events,
		.threads = run->base.plan.threads,
		.symbols = run->symbols,
	};
}

/* Events of this session's own. */
static int open_ring(struct profile_run *run)
{
	const struct sample_request request = request_of(run);

	return sample_source__open_ring(&request, &run->source);
}

static int open_shared(struct profile_run *run)
{
	const struct sample_request request = request_of(run);
	int err = sample_source__open_shared(&request, &run->source);

	return err == SAMPLE_OTHERWISE ? open_ring(run) : err;
}

static int open_source(struct profile_run *run)
{
	const char *namespace = task_namespace__name();
	char *missing __cleanup(free_ptr) = NULL;

	run->sampling.target = &run->base.target;
	run->sampling.events = run->events;
	run->samples.max_bytes = MAX_SAMPLES_BYTES;
	run->sampling.otherwise = "sampling with events of this session's own";
	run->accounts = calloc(run->events->nr, sizeof(*run->accounts));
	run->old_accounts = calloc(run->events->nr, sizeof(*run->old_accounts));
	run->lost = calloc(run->events->nr, sizeof(*run->lost));
	if (!run->accounts || !run->old_accounts || !run->lost) {
		pr_err("out of memory");
		return -ENOMEM;
	}
	if (run->prog)
		run->sampling.prog_fd = prog_object__fd(run->prog);
	if (run->no_bpf || run->prog)
		return open_ring(run);
	missing = capability__missing_to_share();
	if (!missing && !namespace)
		return open_shared(run);
	if (missing)
		pr_verbose("sampling without BPF: lacks %s: the kernel copies every sample to perf",
			   missing);
	else
		pr_warn("perf runs in a %s namespace, and shared samples have the machine's %ss: %s",
			namespace, namespace, run->sampling.otherwise);
	return open_ring(run);
}

/* Waits until others let this session leave, a second at most. */
static void close_source(struct profile_run *run)
{
	sample_source__delete(run->source);
	run->source = NULL;
}

static void close_source_now(struct profile_run *run)
{
	if (sample_source__try_leave(run->source))
		close_source(run);
}

/* The search for ranges takes files that cannot be opened for files of tasks that have ended. */
static int reserve_files(const struct profile_run *run)
{
	char *missing __cleanup(free_ptr) = capability__missing_to_share();

	if (missing || run->no_bpf || run->prog || task_namespace__name())
		return 0;
	return stat_pass__reserve_to_share();
}

/* Sampling may have begun. */
static int replace_source(struct profile_run *run, const struct stat_pass *pass)
{
	int err;

	close_source(run);
	symbols__unfollow(run->symbols);
	err = open_ring(run);
	if (!err)
		err = sample_source__set_ranges(run->source, &run->ranges.found);
	if (!err && pass->is_enabled)
		err = sample_source__set(run->source, true);
	return err;
}

/* --- begin and end --- */

/* --- ranges --- */

/* Find ranges that are there before a command starts. */
static int find_ranges(struct profile_run *run)
{
	int err;

	if (!run->ranges.nr)
		return 0;
	run->sampling.has_ranges = true;
	err = profile_ranges__find_kernel(&run->ranges, run->symbols);
	if (!err && !run->sampling.workload)
		err = profile_ranges__find_user(&run->ranges, run->symbols, &run->base.target, 0);
	run->has_bad_range = err == -EINVAL;
	return err;
}

static int set_ranges(struct profile_run *run, const struct stat_pass *pass)
{
	int err = 0;

	if (run->ranges.nr)
		err = sample_source__set_ranges(run->source, &run->ranges.found);
	return err == SAMPLE_OTHERWISE ? replace_source(run, pass) : err;
}

/* A program's code is nowhere before its exec. */
static int set_ranges_of_workload(struct profile_run *run, struct stat_pass *pass)
{
	int err = profile_ranges__find_user(&run->ranges, run->symbols, &run->base.target,
					    pass->workload.pid);

	run->has_bad_range = err == -EINVAL;
	if (!err)
		err = set_ranges(run, pass);
	if (err)
		kill(pass->workload.pid, SIGKILL);
	workload__continue(&pass->workload);
	return err;
}

/* Return: as workload__start_held(). */
static int start_held(struct stat_pass *pass)
{
	int err = workload__hold(&pass->workload);

	if (!err)
		return workload__start_held(&pass->workload);
	pr_err("--range: cannot hold the command at its start: %s%s", strerror(-err),
	       err == -EPERM ? " (if a debugger traces perf, use -p)" : "");
	return err;
}

static int start_workload(struct profile_run *run, struct stat_pass *pass)
{
	unsigned int nr_errors = msg__nr_errors();
	int ret = profile_ranges__has_all(&run->ranges) ? workload__start(&pass->workload) :
							  start_held(pass);

	if (ret >= 0)
		return ret ? set_ranges_of_workload(run, pass) : 0;
	if (msg__nr_errors() != nr_errors)
		return ret;
	msg__count_error();
	pr_text("Workload failed: %s\n", strerror(-ret));
	return ret;
}

static int start(struct profile_run *run, struct stat_pass *pass)
{
	int delay_ms = run->base.delay_ms, err = 0;

	start_clock(run, pass);
	plan_look(run);
	if (delay_ms)
		pr_text("Events disabled\n");
	else
		err = set_enabled(run, pass, true);
	if (delay_ms > 0) {
		pass->enable_at_ns = pass->start_ns + delay_ms * NSEC_PER_MSEC;
		pass->next_print_ns = pass->end_at_ns = 0;
	}
	if (err)
		return err;
	if (!pass->workload.pid) {
		sd_notify__ready();
		return 0;
	}
	return start_workload(run, pass);
}

/*
 * A report can take long. Meanwhile the events of this session would cost others, and take their counters. So leave
 * before it, but let it not wait for a lock: what is left is done after it.
 */
static int finish(struct profile_run *run, struct stat_pass *pass)
{
	int err = set_enabled(run, pass, false);
	struct profile_round round;

	if (!err)
		err = collect(run);
	if (err)
		return err;
	round = end_round(run, pass->start_ns);
	close_source_now(run);
	/* The rest since the last interval; none after the last one of --interval-count. */
	if (run->base.interval_count && pass->nr_printed >= run->base.interval_count)
		return 0;
	return report(run, &round);
}

/* New mappings are followed by now. */
static int read_maps(struct profile_run *run)
{
	bool has_user = !run->samples.no_user && symbols__makes_places(run->symbols);
	int err = has_user ? early_maps__begin(&run->early_maps, &run->base.target) : 0;

	if (!err)
		err = symbols__update(run->symbols);
	return err ? err : early_maps__read(&run->early_maps, run->symbols, FIRST_MAPS_NS);
}

static int sample(struct profile_run *run, struct stat_pass *pass, int *status)
{
	int err;

	run->sampling.workload = pass->workload.pid;
	err = reserve_files(run);
	if (!err)
		err = find_ranges(run);
	if (!err)
		err = open_source(run);
	if (!err)
		err = set_ranges(run, pass);
	if (!err)
		err = read_maps(run);
	if (!err)
		err = stat_pass__watch_tasks(pass);
	if (!err)
		err = start(run, pass);
	if (err)
		return err;
	err = loop(run, pass);
	/* Sample what a command does while it exits. */
	workload__end(&pass->workload);
	/* Without memory for more, there is what was sampled up to now. */
	if (!err || err == -ENOMEM) {
		int finish_err = finish(run, pass);

		err = err ? err : finish_err;
	}
	run->has_sampled = !err;
	*status = stat_pass__status(pass);
	return err;
}

static int fork_workload(struct profile_run *run, struct stat_pass *pass)
{
	const struct target *target = &run->base.target;
	int err;

	if (!target->argc)
		return 0;
	err = workload__fork(&pass->workload, target->argv, run->base.stdout_has_data);
	if (err)
		pr_err("cannot start '%s': %s", target->argv[0], strerror(-err));
	return err;
}

static int find_cpus(struct profile_run *run)
{
	char *why __cleanup(free_ptr) = NULL;
	int err = 0;

	if (run->base.target.cpu_list)
		err = target_cpus__find(&run->base.target, &run->cpus, &why);
	if (why)
		pr_err("%s", why);
	run->sampling.cpus = run->cpus;
	return err;
}

static void report_failure(const struct target *target, int err)
{
	if (err == -ESRCH && target__is_attached(target))
		pr_err("-%c %s: there is no such task (it may have ended)",
		       target->pid_list ? 'p' : 't',
		       target->pid_list ? target->pid_list : target->tid_list);
	else
		pr_err("sampling failed: %s", err == -ENOMEM ? "out of memory" : strerror(-err));
}

enum stat_status profile_run__once(struct profile_run *run, int *status)
{
	unsigned int nr_errors = msg__nr_errors();
	struct stat_pass pass = {.run = &run->base};
	bool is_valid = true;
	int err;

	*status = 0;
	/* Names come from /proc, by the number of the process. */
	err = task_namespace__check_proc("cannot sample");
	if (!err)
		err = fork_workload(run, &pass);
	if (!err) {
		err = stat_pass__find_threads(&pass);
		is_valid = !err;
	}
	if (!err) {
		err = find_cpus(run);
		is_valid = err != -EINVAL;
	}
	/* Collecting opens events again, of CPUs that come back, and files of other users' processes. */
	capability__raise();
	if (!err)
		err = sample(run, &pass, status);
	close_source(run);
	capability__lower();
	/* A reader that has gone knows why. */
	if (err && err != -EINTR && err != -EPIPE && msg__nr_errors() == nr_errors)
		report_failure(&run->base.target, err);
	stat_pass__release_tasks(&pass);
	early_maps__clear(&run->early_maps);
	free(run->accounts);
	free(run->old_accounts);
	free(run->lost);
	cpumap__delete(run->cpus);
	return !err ? STATUS_OK : is_valid && !run->has_bad_range ? STATUS_FAILED : STATUS_INVALID;
}
