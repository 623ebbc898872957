// SPDX-License-Identifier: GPL-2.0
/* Waiting while a run counts: intervals, calls of the back ends, the end. */
#include "stat_pass.h"

#include "control.h"
#include "stat_record.h"
#include "util.h"

#include <poll.h>

/* How often tasks that have no descriptor to wait on are looked for. */
#define TASK_POLL_MS 50

int stat_pass__print_interval(struct stat_pass *pass)
{
	struct stat_run *run = pass->run;
	int err = stat_pass__add_cgroups(pass);
	uint64_t time_ns;

	if (!err)
		err = stat_pass__read(pass);
	time_ns = clock_ns() - pass->start_ns;
	if (!err)
		err = stat__interval(run->stat, time_ns);
	if (!err && run->record)
		err = stat_record__round(run->record, run->plan.evlist, ROUND_INTERVAL, time_ns, NULL);
	if (!err)
		err = stat_pass__drop_cgroups(pass);
	pass->nr_printed++;
	return err;
}

static uint64_t earliest(uint64_t a, uint64_t b)
{
	return !a || (b && b < a) ? b : a;
}

/* Let the back ends do what they were called for. */
static int answer(struct stat_pass *pass)
{
	bool is_called = false;

	for (int c = 0; c < NR_COUNTERS; c++) {
		struct pollfd call = { .fd = stat_pass__calls_fd(pass, c), .events = POLLIN };

		if (call.fd < 0 || poll(&call, 1, 0) != 1)
			continue;
		pass->counters[c]->ops->answer(pass->counters[c]);
		is_called = true;
	}
	/* Many cgroups came: the places for them are to be emptied. */
	return is_called ? stat_pass__add_cgroups(pass) : 0;
}

/* Wait for whatever comes first: a command, a call, the end of a task, a moment, a signal. */
static void wait_next(struct stat_pass *pass, const sigset_t *unblocked)
{
	struct stat_run *run = pass->run;
	struct pollfd fds[2 + NR_COUNTERS];
	uint64_t at_ns, now_ns = clock_ns();
	struct timespec timeout, *wait = NULL;
	int nr = 0;

	if (run->control)
		fds[nr++] = (struct pollfd){ .fd = run->control->fd, .events = POLLIN };
	fds[nr++] = (struct pollfd){ .fd = stat_pass__task_fd(pass), .events = POLLIN };
	for (int c = 0; c < NR_COUNTERS; c++) {
		fds[nr] = (struct pollfd){ .fd = stat_pass__calls_fd(pass, c), .events = POLLIN };
		nr += fds[nr].fd >= 0;
	}
	at_ns = earliest(earliest(pass->next_print_ns, pass->enable_at_ns), pass->end_at_ns);
	if (stat_pass__needs_polling(pass))
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
static int on_interval(struct stat_pass *pass)
{
	struct stat_run *run = pass->run;
	int err = stat_pass__print_interval(pass);

	pass->next_print_ns += run->config.interval_ms * NSEC_PER_MSEC;
	if (pass->next_print_ns <= clock_ns())
		pass->next_print_ns = clock_ns() + run->config.interval_ms * NSEC_PER_MSEC;
	if (run->interval_count && pass->nr_printed >= run->interval_count) {
		pass->next_print_ns = 0;
		pass->is_over = !pass->workload.pid;
	}
	return err;
}

/* A command that got the signal, too, ends by itself, if it likes to; its end is waited for. */
static bool is_told_to_end(const struct stat_pass *pass)
{
	sig_atomic_t signal = *pass->run->signal;

	return signal && !((signal & SIGNAL_TYPED) && pass->workload.pid);
}

int stat_pass__loop(struct stat_pass *pass)
{
	sigset_t blocked, unblocked;
	int err = 0;

	sigemptyset(&blocked);
	sigaddset(&blocked, SIGINT);
	sigaddset(&blocked, SIGTERM);
	sigaddset(&blocked, SIGCHLD);
	sigprocmask(SIG_BLOCK, &blocked, &unblocked);
	while (!err && !pass->is_over && !is_told_to_end(pass)) {
		if (stat_pass__is_target_gone(pass))
			break;
		wait_next(pass, &unblocked);
		if (is_due(pass->enable_at_ns))
			err = stat_pass__end_delay(pass);
		if (!err)
			err = answer(pass);
		if (!err)
			err = stat_pass__obey(pass);
		if (!err && is_due(pass->next_print_ns) && !stat_pass__is_target_gone(pass))
			err = on_interval(pass);
		if (is_due(pass->end_at_ns))
			pass->is_over = true;
	}
	sigprocmask(SIG_SETMASK, &unblocked, NULL);
	return err;
}
