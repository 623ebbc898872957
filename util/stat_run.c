// SPDX-License-Identifier: GPL-2.0
#include "stat_run.h"

#include "capability.h"
#include "cgroup.h"
#include "config.h"
#include "control.h"
#include "counts.h"
#include "cpumap.h"
#include "evlist.h"
#include "explain.h"
#include "msg.h"
#include "open_error.h"
#include "pmu.h"
#include "supervisor.h"
#include "thread_map.h"
#include "util.h"
#include "workload.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#define STATUS_FAILED 1
#define STATUS_INVALID 22

/* How often tasks that have no descriptor to wait on are looked for. */
#define TASK_POLL_MS 50
/* How long a workload may take to follow our SIGTERM before its counts are printed without it. */
#define TERM_WAIT_MS 200

enum { PLAIN, BPERF, TOOL, NR_COUNTERS };

/* One pass of the loop. */
struct pass {
	struct stat_run *run;
	struct counter *counters[NR_COUNTERS];	/* NULL: not in use */
	struct workload workload;
	struct pollfd *waits;		/* tasks; -1: ended, or to be looked for */
	int nr_waits;
	uint64_t start_ns;
	uint64_t next_print_ns, enable_at_ns, end_at_ns;	/* 0: never */
	unsigned int nr_printed;
	bool is_enabled;
	bool is_over;
};

/* --- before opening --- */

static int use_cpus(struct evsel *evsel, const struct cpumap *cpus)
{
	static const int any = -1;

	cpumap__delete(evsel->cpus);
	evsel->cpus = cpus ? cpumap__dup(cpus) : cpumap__new(&any, 1);
	return evsel->cpus ? 0 : -ENOMEM;
}

/* Tool events are read once, on the first CPU; the times of a CPU on each. */
static int assign_tool(struct evsel *evsel, const struct cpumap *cpus)
{
	bool per_cpu = evsel->tool == TOOL_USER_TIME || evsel->tool == TOOL_SYSTEM_TIME;
	struct cpumap *first;
	int err;

	if (!cpus || per_cpu)
		return use_cpus(evsel, cpus);
	first = cpumap__new(cpus->cpu, 1);
	if (!first)
		return -ENOMEM;
	err = use_cpus(evsel, first);
	cpumap__delete(first);
	return err;
}

/* Some CPUs of a list are not the PMU's: those count nothing, and the user may not know. */
static void warn_foreign_cpus(const struct evsel *evsel, const struct cpumap *cpus,
			      const struct target *target)
{
	struct cpumap *foreign = cpumap__minus(cpus, evsel->own_cpus);
	char *own __cleanup(free_ptr) = cpumap__str(evsel->own_cpus);

	if (target->cpu_list && foreign && foreign->nr && own)
		pr_warn("-C %s: '%s' is counted on CPUs of %s only: %s", target->cpu_list,
			evsel->name, evsel->pmu ? evsel->pmu->name : "its PMU", own);
	cpumap__delete(foreign);
}

/*
 * Shared events of the whole system follow CPUs that come online later, where rows are not made of
 * a topology that only CPUs that are online have.
 */
static bool counts_newcomers(const struct stat_run *run, const struct evsel *evsel)
{
	enum aggr_mode mode = run->config.aggr_mode;

	return evsel->share && !run->target.cpu_list &&
	       (mode == AGGR_GLOBAL ||
		(run->plan.progs ? mode == AGGR_PROG : mode == AGGR_NONE && !evsel->cgroup));
}

static int use_possible_cpus(struct evsel *evsel)
{
	struct cpumap *possible = cpumap__possible();
	int err = possible ? use_cpus(evsel, possible) : -errno;

	cpumap__delete(possible);
	return err;
}

/* Where tasks may run: shared sums of tasks are kept by CPU. */
static int use_task_cpus(struct evsel *evsel)
{
	struct cpumap *online = cpumap__online(), *own = NULL;
	int err = -errno;

	if (online && evsel->own_cpus)
		own = cpumap__and(online, evsel->own_cpus);
	if (online && (own || !evsel->own_cpus))
		err = use_cpus(evsel, own ? own : online);
	cpumap__delete(own);
	cpumap__delete(online);
	return err;
}

static int assign_cpus(struct evsel *evsel, const struct cpumap *cpus, const struct stat_run *run)
{
	const struct target *target = &run->target;
	struct cpumap *both;
	int err;

	if (evsel->tool != TOOL_NONE)
		return assign_tool(evsel, cpus);
	if (!cpus && run->plan.by_cpu && !evsel->needs_cpu)
		return use_task_cpus(evsel);
	if (!cpus)
		return use_cpus(evsel, evsel->needs_cpu ? evsel->own_cpus : NULL);
	if (!evsel->own_cpus && counts_newcomers(run, evsel))
		return use_possible_cpus(evsel);
	if (!evsel->own_cpus)
		return use_cpus(evsel, cpus);
	warn_foreign_cpus(evsel, cpus, target);
	both = cpumap__and(cpus, evsel->own_cpus);
	if (!both)
		return -ENOMEM;
	err = use_cpus(evsel, both);
	cpumap__delete(both);
	return err;
}

/* "8" or "8 and 9" or "8-11", with the right verb. */
static char *offline_text(const struct cpumap *offline)
{
	char *list __cleanup(free_ptr) = cpumap__str(offline);

	if (!list)
		return NULL;
	return xasprintf(offline->nr == 1 ? "CPU %s is offline" : "CPUs %s are offline", list);
}

/* The CPUs to count on; NULL with *status 0 for task targets. */
static struct cpumap *target_cpus(const struct target *target, int *status)
{
	struct cpumap *online = NULL, *asked = NULL, *both = NULL, *offline = NULL;
	char *online_text __cleanup(free_ptr) = NULL;
	char *what __cleanup(free_ptr) = NULL;

	*status = 0;
	if (target__has_task(target))
		return NULL;
	*status = STATUS_FAILED;
	online = cpumap__online();
	if (!online) {
		pr_err("cannot tell which CPUs are online: %s", strerror(errno));
		return NULL;
	}
	if (!target->cpu_list) {
		*status = 0;
		return online;
	}
	asked = cpumap__parse(target->cpu_list);
	if (!asked) {
		pr_err("-C %s: not a list of CPUs such as 0-3,6", target->cpu_list);
		*status = STATUS_INVALID;
		goto out;
	}
	both = cpumap__and(asked, online);
	offline = cpumap__minus(asked, online);
	online_text = cpumap__str(online);
	if (!both || !offline || !online_text)
		goto out;
	what = offline->nr ? offline_text(offline) : NULL;
	if (!both->nr) {
		pr_text("Error:\nNo supported events found.\n-C %s: %s (online: %s)\n",
			target->cpu_list, what ? what : "none", online_text);
		cpumap__delete(both);
		both = NULL;
		goto out;
	}
	if (what)
		pr_warn("-C %s: %s: skipped (online: %s)", target->cpu_list, what, online_text);
	*status = 0;
out:
	cpumap__delete(online);
	cpumap__delete(asked);
	cpumap__delete(offline);
	return both;
}

/* Whether the event can be shared at all; what its attr does not say cannot be. */
static bool can_share(const struct evsel *evsel)
{
	return evsel->tool == TOOL_NONE && !evsel->filter;
}

/*
 * The configuration says what is shared where it can be: a machine's file must not keep users who
 * may not share from counting. One member shares the whole group.
 */
static void share_configured(struct stat_run *run)
{
	char *missing __cleanup(free_ptr) = NULL;
	struct evlist *evlist = run->plan.evlist;
	struct evsel *evsel;
	int i;

	if (!run->share_events || run->share_all)
		return;
	missing = capability__missing_to_share();
	evlist__for_each(evlist, evsel, i) {
		if (evsel->share || !can_share(evsel->leader) ||
		    !config__shares(run->share_events, evsel->name))
			continue;
		if (missing) {
			pr_verbose("'%s' is not shared, as the configuration says: lacks %s", evsel->name,
				   missing);
			continue;
		}
		for (int m = 0; m < evsel->leader->nr_members; m++)
			evlist->evsels[evsel->leader->idx + m]->share = true;
	}
}

static int check_sharing(struct stat_run *run)
{
	const char *option = run->plan.progs  ? "-b" :
			     run->share_all ? "--bpf-counters" :
					      "the modifier b";
	char *missing __cleanup(free_ptr) = NULL;
	bool is_shared = false;
	struct evsel *evsel;
	int i;

	share_configured(run);
	evlist__for_each(run->plan.evlist, evsel, i) {
		if (evsel->runs) {
			if (!run->plan.progs) {
				pr_err("'%s' counts executions of BPF programs: which, -b says", evsel->name);
				return STATUS_INVALID;
			}
			evsel->share = true;
			continue;
		}
		if (run->plan.progs && evsel->filter) {
			pr_err("-b: '%s' has a filter: such events are not shared, and only shared ones can be counted in BPF programs",
			       evsel->name);
			return STATUS_INVALID;
		}
		if ((run->share_all || run->plan.progs) && can_share(evsel->leader))
			evsel->share = true;
		if (!evsel->share)
			continue;
		if (!can_share(evsel)) {
			pr_verbose("'%s' is not shared: its %s is its own", evsel->name,
				   evsel->filter ? "filter" : "value");
			evsel->share = false;
			continue;
		}
		is_shared = true;
	}
	/* Asked before anything is opened or pinned: what is missing has a name then. */
	missing = is_shared ? capability__missing_to_share() : NULL;
	if (missing) {
		pr_err("%s: not permitted: lacks %s (run as root)", option, missing);
		return STATUS_FAILED;
	}
	return 0;
}

/* A breakdown of tasks' counts by CPU and the like: plain events of tasks have but one sum. */
static int check_breakdown(struct stat_run *run)
{
	struct evsel *evsel;
	int i;

	run->plan.by_cpu = target__has_task(&run->target) && run->config.aggr_mode != AGGR_GLOBAL &&
			   run->config.aggr_mode != AGGR_THREAD;
	evlist__for_each(run->plan.evlist, evsel, i) {
		if (!run->plan.by_cpu || evsel->share || evsel->tool != TOOL_NONE)
			continue;
		pr_err("'%s' is not shared%s: a breakdown by CPU, core and the like of a task's counts needs every event shared (%s)",
		       evsel->name, evsel->filter ? ", having a filter" : "",
		       evsel->filter ? "or -a or -C" : "--bpf-counters, or the modifier b; or -a or -C");
		return STATUS_INVALID;
	}
	return 0;
}

int stat_run__assign(struct stat_run *run)
{
	struct evlist *evlist = run->plan.evlist;
	struct cpumap *cpus;
	struct evsel *evsel;
	int status, i;

	status = check_sharing(run);
	if (!status)
		status = check_breakdown(run);
	if (status)
		return status;
	cpus = target_cpus(&run->target, &status);
	if (status)
		return status;
	evlist__for_each(evlist, evsel, i) {
		if (assign_cpus(evsel, run->target.per_thread ? NULL : cpus, run)) {
			status = STATUS_FAILED;
			pr_err("out of memory");
			break;
		}
	}
	cpumap__delete(cpus);
	if (!status)
		evlist__check_groups(evlist);
	return status;
}

/* --- opening --- */

static struct counter *(*const makers[NR_COUNTERS])(const struct counter_plan *) = {
	[PLAIN] = counter_plain__new,
	[BPERF] = counter_bperf__new,
	[TOOL] = counter_tool__new,
};

static int counter_kind(const struct evsel *evsel)
{
	if (evsel->tool != TOOL_NONE)
		return TOOL;
	return evsel->share ? BPERF : PLAIN;
}

/* Kept for a cgroup to come. */
static bool is_vacant(const struct evsel *evsel)
{
	return evsel->cgroup && evsel->cgroup->state == CGROUP_FREE;
}

/* Give the events from @first on, not opened yet, to the back ends that can count them. */
static int assign_counters(struct pass *pass, int first)
{
	const struct counter_plan *plan = &pass->run->plan;

	for (int i = first; i < plan->evlist->nr; i++) {
		struct evsel *evsel = plan->evlist->evsels[i];
		int kind = counter_kind(evsel);

		evsel->in_progs = plan->progs && kind == BPERF;
		evsel->threads = evsel->in_progs ? plan->prog_rows : plan->threads;
		evsel->state = EVSEL_UNOPENED;
		evsel->err = 0;
		free(evsel->counts);
		evsel->counts = NULL;
		evsel->counter = NULL;
		/* A CPU list and a PMU's own CPUs may have none in common. */
		if (!evsel->cpus->nr) {
			evsel->state = EVSEL_NOT_SUPPORTED;
			evsel->err = ENODEV;
			continue;
		}
		if (!pass->counters[kind])
			pass->counters[kind] = makers[kind](plan);
		if (!pass->counters[kind])
			return -ENOMEM;
		evsel->counter = pass->counters[kind];
	}
	return 0;
}

static int open_counters(struct pass *pass)
{
	int err = assign_counters(pass, 0);

	for (int c = 0; c < NR_COUNTERS && !err; c++) {
		if (pass->counters[c])
			err = pass->counters[c]->ops->open(pass->counters[c]);
	}
	return err;
}

/* Counting needs none; what is shared is left, and events are opened again, with them. */
static void lower_privileges(const struct pass *pass)
{
	const struct stat_run *run = pass->run;

	if (!pass->counters[BPERF] && run->config.run_count == 1 && !run->plan.cgroups->follows)
		capability__drop();
	else
		capability__lower();
}

static bool is_denied(const struct evsel *evsel)
{
	return evsel->err == EACCES || evsel->err == EPERM;
}

static void say_unsupported(const struct stat_run *run, const struct evsel *evsel)
{
	char *text __cleanup(free_ptr) = open_error__text(evsel, &run->target);

	if (text && run->explain)
		pr_warn("%s (%s)", text, strerror(evsel->err));
	else if (text)
		pr_verbose("%s (%s)", text, strerror(evsel->err));
}

/*
 * Without any event there is nothing to count, and the workload is not started. The reason given
 * then is the last one, but for missing permissions: those can be had.
 */
static int check_opened(const struct stat_run *run)
{
	const struct evsel *last = NULL;
	struct evsel *evsel;
	bool is_counting = false;
	int i;

	evlist__for_each(run->plan.evlist, evsel, i) {
		if (is_vacant(evsel))
			is_counting = true;
		else if (evsel->state == EVSEL_COUNTING)
			is_counting |= !evsel->hidden;
		else if (!last || is_denied(evsel) || !is_denied(last))
			last = evsel;
	}
	if (!is_counting && last) {
		pr_text("Error:\nNo supported events found.\n");
		open_error__print(last, &run->target);
		explain__print(run->plan.explain, last->idx, last->name);
		return STATUS_FAILED;
	}
	evlist__for_each(run->plan.evlist, evsel, i) {
		if (evsel->state == EVSEL_SKIPPED)
			open_error__warn(evsel, &run->target);
		else if (evsel->state == EVSEL_NOT_SUPPORTED && !evsel->is_default)
			say_unsupported(run, evsel);
		if (evsel->state != EVSEL_COUNTING)
			explain__print(run->plan.explain, evsel->idx, evsel->name);
	}
	return 0;
}

/* --- tasks --- */

static int find_threads(struct pass *pass)
{
	const struct target *target = &pass->run->target;
	struct counter_plan *plan = &pass->run->plan;

	plan->threads = NULL;
	if (target->pid_list)
		plan->threads = thread_map__new_pids(target->pid_list);
	else if (target->tid_list)
		plan->threads = thread_map__new_tids(target->tid_list);
	else if (target->per_thread)
		plan->threads = thread_map__new_all();
	else if (target__has_task(target))
		plan->threads = thread_map__new_one(pass->workload.pid);
	else
		return 0;
	if (plan->threads)
		return 0;
	if (errno == EINVAL || errno == ESRCH || errno == ENOENT)
		pr_text("Problems finding threads of monitor\n");
	if (errno == EINVAL)
		pr_err("-%c %s: not a list of numbers such as 12,345", target->pid_list ? 'p' : 't',
		       target->pid_list ? target->pid_list : target->tid_list);
	else
		pr_err("-%c %s: %s", target->pid_list ? 'p' : 't',
		       target->pid_list ? target->pid_list : target->tid_list, strerror(errno));
	return STATUS_INVALID;
}

/* What to wait on: the workload alone, else every task of the target; nothing for CPUs. */
static int watch_tasks(struct pass *pass)
{
	const struct target *target = &pass->run->target;
	struct thread_map *threads = pass->run->plan.threads;

	if (pass->workload.pid || !target__is_attached(target))
		return 0;
	pass->waits = calloc(threads->nr, sizeof(*pass->waits));
	if (!pass->waits)
		return -ENOMEM;
	pass->nr_waits = threads->nr;
	for (int i = 0; i < threads->nr; i++) {
		/* Fails for a thread that does not lead a process: those are looked for. */
		pass->waits[i].fd = syscall(SYS_pidfd_open, threads->thread[i].tid, 0);
		pass->waits[i].events = POLLIN;
	}
	return 0;
}

static bool is_task_alive(pid_t tid)
{
	char *path __cleanup(free_ptr) = xasprintf("%s/%d/stat", procfs_root(), tid);
	char *text __cleanup(free_ptr) = path ? read_file(path, NULL) : NULL;
	const char *rest = text ? strrchr(text, ')') : NULL;

	return rest && rest[1] == ' ' && rest[2] != 'Z' && rest[2] != 'X';
}

/* Whether everything that was to be counted has ended. */
static bool is_target_gone(struct pass *pass)
{
	const struct thread_map *threads = pass->run->plan.threads;

	if (pass->workload.pid)
		return workload__wait(&pass->workload, false);
	if (!pass->nr_waits)
		return false;
	for (int i = 0; i < pass->nr_waits; i++) {
		struct pollfd *wait = &pass->waits[i];
		struct pollfd one = { .fd = wait->fd, .events = POLLIN };

		if (wait->fd >= 0 && poll(&one, 1, 0) == 1)
			continue;
		if (wait->fd >= 0 || is_task_alive(threads->thread[i].tid))
			return false;
	}
	return true;
}

static bool needs_polling(const struct pass *pass)
{
	if (pass->workload.pid)
		return pass->workload.pid_fd < 0;
	for (int i = 0; i < pass->nr_waits; i++) {
		if (pass->waits[i].fd < 0)
			return true;
	}
	return false;
}

/* --- counting --- */

static int calls_fd(struct counter *counter)
{
	return counter && counter->ops->calls_fd ? counter->ops->calls_fd(counter) : -1;
}

static int enable(struct pass *pass)
{
	int err = 0;

	for (int c = 0; c < NR_COUNTERS && !err; c++) {
		if (pass->counters[c])
			err = pass->counters[c]->ops->enable(pass->counters[c]);
	}
	pass->is_enabled = true;
	return err;
}

/* In the reverse order of enable(), so that windows nest. */
static int disable(struct pass *pass)
{
	int err = 0;

	for (int c = NR_COUNTERS - 1; c >= 0; c--) {
		int one = 0;

		if (pass->counters[c])
			one = pass->counters[c]->ops->disable(pass->counters[c]);
		err = err ? err : one;
	}
	pass->is_enabled = false;
	return err;
}

static int read_all(struct pass *pass)
{
	int err = 0;

	for (int c = 0; c < NR_COUNTERS && !err; c++) {
		if (pass->counters[c])
			err = pass->counters[c]->ops->read(pass->counters[c]);
	}
	return err;
}

/* Have all back ends do that, one after the other. */
static int call_all(struct pass *pass, int (*op_of(const struct counter_ops *ops))(struct counter *))
{
	int err = 0;

	for (int c = 0; c < NR_COUNTERS && !err; c++) {
		struct counter *counter = pass->counters[c];
		int (*op)(struct counter *) = counter ? op_of(counter->ops) : NULL;

		err = op ? op(counter) : 0;
	}
	return err;
}

static int (*look_of(const struct counter_ops *ops))(struct counter *)
{
	return ops->look;
}

static int (*add_of(const struct counter_ops *ops))(struct counter *)
{
	return ops->add;
}

static int (*drop_of(const struct counter_ops *ops))(struct counter *)
{
	return ops->drop;
}

/* Cgroups that came since the last interval get events, in an old place or at the end. */
static int add_cgroups(struct pass *pass)
{
	struct cgroup_list *list = pass->run->plan.cgroups;
	struct evlist *evlist = pass->run->plan.evlist;
	int nr_models, nr_before = evlist->nr, err;

	if (!list->follows)
		return 0;
	for (nr_models = 1; nr_models < evlist->nr; nr_models++) {
		if (evlist->evsels[nr_models]->cgroup != evlist->evsels[0]->cgroup)
			break;
	}
	capability__raise();
	err = cgroup_list__scan(list);
	if (!err)
		err = call_all(pass, look_of);
	for (int i = evlist->nr / nr_models; i < list->nr && !err; i++) {
		int first = evlist__repeat(evlist, nr_models, list->cgroups[i]);

		err = first < 0 ? first : 0;
	}
	if (!err)
		err = assign_counters(pass, nr_before);
	if (!err)
		err = call_all(pass, add_of);
	if (!err)
		cgroup_list__begin(list);
	capability__lower();
	return err;
}

/* Those that are gone have been printed for the last time. */
static int drop_cgroups(struct pass *pass)
{
	struct cgroup_list *list = pass->run->plan.cgroups;
	int err = 0;

	if (list->follows) {
		capability__raise();
		err = call_all(pass, drop_of);
		capability__lower();
	}
	for (int i = 0; i < list->nr && !err; i++) {
		if (list->cgroups[i]->state == CGROUP_GONE)
			cgroup_list__free(list, i);
	}
	return err;
}

static int print_interval(struct pass *pass)
{
	int err = add_cgroups(pass);

	if (!err)
		err = read_all(pass);
	if (!err)
		err = stat__interval(pass->run->stat, clock_ns() - pass->start_ns);
	if (!err)
		err = drop_cgroups(pass);
	pass->nr_printed++;
	return err;
}

/* With -D -1 and --control an interval is printed at each change, besides the regular ones. */
static int print_at_change(struct pass *pass)
{
	const struct stat_run *run = pass->run;

	return run->delay_ms < 0 && run->config.interval_ms ? print_interval(pass) : 0;
}

static int obey(struct pass *pass)
{
	struct stat_run *run = pass->run;
	enum control_command command;
	int err = 0;

	while (!err && run->control &&
	       (command = control__next(run->control)) != CONTROL_NONE) {
		switch (command) {
		case CONTROL_ENABLE:
			pass->enable_at_ns = 0;
			if (!pass->is_enabled) {
				err = enable(pass);
				pr_text("Events enabled\n");
				if (!err)
					err = print_at_change(pass);
			}
			break;
		case CONTROL_DISABLE:
			if (pass->is_enabled) {
				err = disable(pass);
				pr_text("Events disabled\n");
				if (!err)
					err = print_at_change(pass);
			}
			break;
		case CONTROL_STOP:
			pass->is_over = true;
			break;
		case CONTROL_PING:
			break;
		case CONTROL_UNKNOWN:
		case CONTROL_NONE:
			continue;
		}
		control__ack(run->control);
	}
	return err;
}

static uint64_t earliest(uint64_t a, uint64_t b)
{
	return !a || (b && b < a) ? b : a;
}

/* Let the back ends do what they were called for. */
static int answer(struct pass *pass)
{
	bool is_called = false;
	int err = 0;

	for (int c = 0; c < NR_COUNTERS && !err; c++) {
		struct pollfd call = { .fd = calls_fd(pass->counters[c]), .events = POLLIN };

		if (call.fd < 0 || poll(&call, 1, 0) != 1)
			continue;
		capability__raise();
		err = pass->counters[c]->ops->answer(pass->counters[c]);
		capability__lower();
		is_called = true;
	}
	/* Many cgroups came: the places for them are to be emptied. */
	return !err && is_called ? add_cgroups(pass) : err;
}

/* Wait for whatever comes first: a command, a call, the end of a task, a moment, a signal. */
static void wait_next(struct pass *pass, const sigset_t *unblocked)
{
	struct stat_run *run = pass->run;
	struct pollfd fds[2 + NR_COUNTERS + pass->nr_waits];
	uint64_t at_ns, now_ns = clock_ns();
	struct timespec timeout, *wait = NULL;
	int nr = 0;

	if (run->control)
		fds[nr++] = (struct pollfd){ .fd = run->control->fd, .events = POLLIN };
	if (pass->workload.pid)
		fds[nr++] = (struct pollfd){ .fd = pass->workload.pid_fd, .events = POLLIN };
	for (int c = 0; c < NR_COUNTERS; c++) {
		fds[nr] = (struct pollfd){ .fd = calls_fd(pass->counters[c]), .events = POLLIN };
		nr += fds[nr].fd >= 0;
	}
	/* One that is still there is enough to wait on: those that ended would end every wait. */
	for (int i = 0; i < pass->nr_waits; i++) {
		struct pollfd one = { .fd = pass->waits[i].fd, .events = POLLIN };

		if (one.fd >= 0 && !poll(&one, 1, 0)) {
			fds[nr++] = one;
			break;
		}
	}
	at_ns = earliest(earliest(pass->next_print_ns, pass->enable_at_ns), pass->end_at_ns);
	if (needs_polling(pass))
		at_ns = earliest(at_ns, now_ns + TASK_POLL_MS * NSEC_PER_MSEC);
	if (at_ns) {
		uint64_t left_ns = at_ns > now_ns ? at_ns - now_ns : 0;

		timeout.tv_sec = left_ns / NSEC_PER_SEC;
		timeout.tv_nsec = left_ns % NSEC_PER_SEC;
		wait = &timeout;
	}
	ppoll(fds, nr, wait, unblocked);
}

static bool is_due(uint64_t at_ns)
{
	return at_ns && clock_ns() >= at_ns;
}

/* The last interval asked for is the end when CPUs are counted; a task is waited for silently. */
static int on_interval(struct pass *pass)
{
	struct stat_run *run = pass->run;
	int err = print_interval(pass);

	pass->next_print_ns += run->config.interval_ms * NSEC_PER_MSEC;
	if (pass->next_print_ns <= clock_ns())
		pass->next_print_ns = clock_ns() + run->config.interval_ms * NSEC_PER_MSEC;
	if (run->interval_count && pass->nr_printed >= run->interval_count) {
		pass->next_print_ns = 0;
		pass->is_over = !pass->workload.pid;
	}
	return err;
}

static int loop(struct pass *pass, const sigset_t *unblocked)
{
	int err = 0;

	while (!err && !pass->is_over && !*pass->run->signal) {
		if (is_target_gone(pass))
			break;
		wait_next(pass, unblocked);
		if (is_due(pass->enable_at_ns)) {
			pass->enable_at_ns = 0;
			err = enable(pass);
			pr_text("Events enabled\n");
		}
		if (!err)
			err = answer(pass);
		if (!err)
			err = obey(pass);
		if (!err && is_due(pass->next_print_ns) && !is_target_gone(pass))
			err = on_interval(pass);
		if (is_due(pass->end_at_ns))
			pass->is_over = true;
	}
	return err;
}

/*
 * A workload that still runs when we end is told to, and its end is waited for briefly, so that
 * what it does on the way out is counted, too.
 */
static void end_workload(struct pass *pass)
{
	uint64_t until_ns = clock_ns() + TERM_WAIT_MS * NSEC_PER_MSEC;

	if (!pass->workload.pid || pass->workload.is_done)
		return;
	kill(pass->workload.pid, SIGTERM);
	while (!workload__wait(&pass->workload, false) && clock_ns() < until_ns) {
		struct pollfd fd = { .fd = pass->workload.pid_fd, .events = POLLIN };

		poll(&fd, 1, fd.fd >= 0 ? TERM_WAIT_MS : 1);
	}
}

static int workload_status(struct stat_run *run, const struct workload *workload)
{
	run->was_killed = false;
	if (!workload->pid || !workload->is_done)
		return 0;
	if (WIFEXITED(workload->status))
		return WEXITSTATUS(workload->status);
	if (WIFSIGNALED(workload->status)) {
		run->was_killed = true;
		pr_text("%s: %s\n", run->target.argv[0], strsignal(WTERMSIG(workload->status)));
		return 128 + WTERMSIG(workload->status);
	}
	return 0;
}

static int start(struct pass *pass)
{
	struct stat_run *run = pass->run;
	int err = 0;

	pass->start_ns = clock_ns();
	if (!run->delay_ms)
		err = enable(pass);
	else if (run->delay_ms > 0)
		pass->enable_at_ns = pass->start_ns + run->delay_ms * NSEC_PER_MSEC;
	else
		pr_text("Events disabled\n");
	if (err)
		return err;
	if (run->config.interval_ms)
		pass->next_print_ns = pass->start_ns + run->config.interval_ms * NSEC_PER_MSEC;
	if (run->timeout_ms)
		pass->end_at_ns = pass->start_ns + run->timeout_ms * NSEC_PER_MSEC;
	/* Of a command the variable is its own business. */
	if (!pass->workload.pid) {
		supervisor__ready();
		return 0;
	}
	err = workload__start(&pass->workload);
	if (err)
		pr_text("Workload failed: %s\n", strerror(-err));
	return err;
}

static int finish(struct pass *pass)
{
	struct stat_run *run = pass->run;
	struct stat_times times;
	int err;

	err = add_cgroups(pass);
	if (!err)
		err = disable(pass);
	times.elapsed_ns = clock_ns() - pass->start_ns;
	if (!err)
		err = read_all(pass);
	/* What is left since the last interval. */
	if (!err && run->config.interval_ms && (!run->interval_count || pass->next_print_ns))
		err = stat__interval(run->stat, times.elapsed_ns);
	times.user_ns = pass->workload.user_ns;
	times.sys_ns = pass->workload.sys_ns;
	if (!err)
		err = stat__run_done(run->stat, &times);
	return err;
}

int stat_run__once(struct stat_run *run, int *status)
{
	struct pass pass = { .run = run };
	sigset_t blocked, unblocked;
	int err = 0, failed = 0;

	*status = 0;
	run->plan.target = &run->target;
	run->plan.workload = NULL;
	if (run->target.argc) {
		err = workload__fork(&pass.workload, run->target.argv);
		if (err) {
			pr_err("cannot start '%s': %s", run->target.argv[0], strerror(-err));
			return STATUS_FAILED;
		}
		run->plan.workload = &pass.workload;
	}
	run->plan.enable_on_exec = target__has_task(&run->target) && run->target.argc &&
				   !target__is_attached(&run->target) && !run->delay_ms;
	failed = find_threads(&pass);
	if (failed)
		goto out;
	failed = STATUS_FAILED;
	capability__raise();
	run->plan.explain = run->explain ? explain__start() : NULL;
	err = open_counters(&pass);
	explain__stop(run->plan.explain);
	if (err) {
		explain__print(run->plan.explain, -1, "sharing");
		goto out;
	}
	lower_privileges(&pass);
	if (check_opened(run))
		goto out;
	if (watch_tasks(&pass))
		goto out;
	err = start(&pass);
	if (err)
		goto out;

	sigemptyset(&blocked);
	sigaddset(&blocked, SIGINT);
	sigaddset(&blocked, SIGTERM);
	sigaddset(&blocked, SIGCHLD);
	sigprocmask(SIG_BLOCK, &blocked, &unblocked);
	err = loop(&pass, &unblocked);
	sigprocmask(SIG_SETMASK, &unblocked, NULL);
	end_workload(&pass);
	if (!err)
		err = finish(&pass);
	failed = err ? STATUS_FAILED : 0;
	*status = workload_status(run, &pass.workload);
out:
	if (err == -ENOMEM)
		pr_err("out of memory");
	explain__delete(run->plan.explain);
	run->plan.explain = NULL;
	if (pass.counters[BPERF])
		capability__raise();
	for (int c = 0; c < NR_COUNTERS; c++) {
		if (pass.counters[c])
			pass.counters[c]->ops->destroy(pass.counters[c]);
	}
	capability__lower();
	workload__delete(&pass.workload);
	for (int i = 0; i < pass.nr_waits; i++)
		close_fd(&pass.waits[i].fd);
	free(pass.waits);
	thread_map__delete(run->plan.threads);
	run->plan.threads = NULL;
	return failed;
}
