// SPDX-License-Identifier: GPL-2.0
#include "util/lib/end_signals.h"

#include <stddef.h>

void end_signals__hold(sigset_t *before)
{
	sigset_t ends;

	sigemptyset(&ends);
	sigaddset(&ends, SIGINT);
	sigaddset(&ends, SIGTERM);
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
