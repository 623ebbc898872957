// SPDX-License-Identifier: GPL-2.0
#include "util/run/loop.h"

#include "util/lib/util.h"
#include "util/run/cgroups.h"
#include "util/run/control.h"
#include "util/run/control_cmds.h"
#include "util/run/interval.h"
#include "util/run/pass.h"
#include "util/run/progs.h"
#include "util/run/tasks.h"
#include "util/run/wait.h"

#include <poll.h>

/* Run the handlers of back ends that signalled a wakeup. */
static void handle_wakeup(struct stat_pass *pass)
{
	bool is_woken = false;

	for (int c = 0; c < NR_BACK_ENDS; c++) {
		struct pollfd call = {.fd = stat_pass__wakeup_fd(pass, c), .events = POLLIN};

		if (call.fd < 0 || poll(&call, 1, 0) != 1)
			continue;
		pass->counters[c]->ops->handle_wakeup(pass->counters[c]);
		is_woken = true;
	}
	if (is_woken)
		stat_pass__wake_cgroups(pass);
}

/* Wait for a command, a wakeup, the end of a task, a time or a signal, whichever comes first. */
static void wait_next(struct stat_pass *pass, const sigset_t *unblocked)
{
	struct stat_run *run = pass->run;
	struct pollfd fds[2 + NR_BACK_ENDS];
	uint64_t at_ns;
	int nr = 0;

	if (run->control)
		fds[nr++] = (struct pollfd){.fd = run->control->fd, .events = POLLIN};
	fds[nr++] = (struct pollfd){.fd = stat_pass__task_fd(pass), .events = POLLIN};
	for (int c = 0; c < NR_BACK_ENDS; c++) {
		fds[nr] = (struct pollfd){.fd = stat_pass__wakeup_fd(pass, c), .events = POLLIN};
		nr += fds[nr].fd >= 0;
	}
	at_ns = earliest(earliest(pass->next_print_ns, pass->enable_at_ns), pass->end_at_ns);
	at_ns = earliest(at_ns, pass->next_look_ns);
	at_ns = earliest(at_ns, pass->look_at_ns);
	stat_pass__wait(pass, fds, nr, at_ns, unblocked);
}

/* After the last interval of --interval-count, CPUs are done; a task runs on, without output. */
static int on_interval(struct stat_pass *pass)
{
	struct stat_run *run = pass->run;
	int err = stat_pass__print_interval(pass);

	pass->next_print_ns += run->config.options.interval_ms * NSEC_PER_MSEC;
	if (pass->next_print_ns <= clock_ns())
		pass->next_print_ns = clock_ns() + run->config.options.interval_ms * NSEC_PER_MSEC;
	if (run->interval_count && pass->nr_printed >= run->interval_count) {
		pass->next_print_ns = 0;
		pass->is_over = !pass->workload.pid;
	}
	return err;
}

int stat_pass__loop(struct stat_pass *pass)
{
	sigset_t unblocked;
	int err = 0;

	stat_pass__hold_signals(NULL, &unblocked);
	while (!err && !pass->is_over && !stat_pass__is_told_to_end(pass)) {
		if (stat_pass__is_target_gone(pass))
			break;
		wait_next(pass, &unblocked);
		if (is_due(pass->enable_at_ns))
			err = stat_pass__end_delay(pass);
		handle_wakeup(pass);
		if (is_due(pass->next_look_ns))
			stat_pass__look_for_progs(pass);
		if (is_due(pass->look_at_ns))
			stat_pass__look_cgroups(pass);
		if (!err)
			err = stat_pass__obey(pass);
		if (!err && is_due(pass->next_print_ns) && !stat_pass__is_target_gone(pass))
			err = on_interval(pass);
		if (is_due(pass->end_at_ns))
			pass->is_over = true;
	}
	stat_pass__release_signals(&unblocked);
	return err;
}
