/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_LIB_END_SIGNALS_H
#define PERF_LIB_END_SIGNALS_H

/* The signals that ask perf to end, held back while something is done that they may cut short. */

#include <signal.h>
#include <stdbool.h>

/** end_signals__has_hangup() - whether SIGHUP is such a signal: nohup lets perf ignore it */
bool end_signals__has_hangup(void);

/** end_signals__hold() - hold all of them back; @before receives the mask for end_signals__release() */
void end_signals__hold(sigset_t *before);
void end_signals__release(const sigset_t *before);

/** end_signals__has_any() - whether SIGINT, SIGTERM or SIGHUP is held back */
bool end_signals__has_any(void);

#endif
