// SPDX-License-Identifier: GPL-2.0
#include "util/run/wait.h"

#include "util/lib/util.h"
#include "util/run/pass.h"
#include "util/run/tasks.h"

/* How often to look for tasks that have no descriptor to wait on. */
#define TASK_POLL_MS 50

uint64_t earliest(uint64_t a_ns, uint64_t b_ns)
{
	return !a_ns || (b_ns && b_ns < a_ns) ? b_ns : a_ns;
}

bool is_due(uint64_t at_ns)
{
	return at_ns && clock_ns() >= at_ns;
}

void stat_pass__hold_signals(const sigset_t *more, sigset_t *before)
{
	sigset_t held;

	sigemptyset(&held);
	if (more)
		held = *more;
	sigaddset(&held, SIGINT);
	sigaddset(&held, SIGTERM);
	sigaddset(&held, SIGCHLD);
	sigprocmask(SIG_BLOCK, &held, before);
}

void stat_pass__release_signals(const sigset_t *before)
{
	sigprocmask(SIG_SETMASK, before, NULL);
}

void stat_pass__wait(struct stat_pass *pass, struct pollfd *fds, int nr, uint64_t at_ns,
		     const sigset_t *before)
{
	uint64_t now_ns = clock_ns(), left_ns;
	struct timespec timeout;

	if (stat_pass__needs_polling(pass))
		at_ns = earliest(at_ns, now_ns + TASK_POLL_MS * NSEC_PER_MSEC);
	left_ns = at_ns > now_ns ? at_ns - now_ns : 0;
	timeout.tv_sec = left_ns / NSEC_PER_SEC;
	timeout.tv_nsec = left_ns % NSEC_PER_SEC;
	ppoll(fds, nr, at_ns ? &timeout : NULL, before);
}

bool stat_pass__is_told_to_end(const struct stat_pass *pass)
{
	sig_atomic_t signal = *pass->run->signal;

	return signal && !((signal & SIGNAL_TYPED) && pass->workload.pid);
}
