// SPDX-License-Identifier: GPL-2.0
#include "util/lib/end_signals.h"

#include <stddef.h>

bool end_signals__has_hangup(void)
{
	struct sigaction action;

	return !sigaction(SIGHUP, NULL, &action) && action.sa_handler != SIG_IGN;
}

void end_signals__hold(sigset_t *before)
{
	sigset_t ends;

	sigemptyset(&ends);
	sigaddset(&ends, SIGINT);
	sigaddset(&ends, SIGTERM);
	/* The kernel keeps a signal that is held back even if it is ignored. */
	if (end_signals__has_hangup())
		sigaddset(&ends, SIGHUP);
	sigprocmask(SIG_BLOCK, &ends, before);
}

void end_signals__release(const sigset_t *before)
{
	sigprocmask(SIG_SETMASK, before, NULL);
}

bool end_signals__has_any(void)
{
	sigset_t pending;

	return !sigpending(&pending) &&
	       (sigismember(&pending, SIGINT) || sigismember(&pending, SIGTERM) ||
		sigismember(&pending, SIGHUP));
}
