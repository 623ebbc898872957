/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_HOST_CAPABILITY_H
#define PERF_HOST_CAPABILITY_H

/*
 * The capabilities of this process, each effective only while it is needed.
 *
 * Counting itself needs no capability: the kernel checks when events and programs are opened. So
 * capabilities are effective while events are opened (also on a CPU that comes back) and while a
 * session joins or leaves. In between they are only permitted. CAP_DAC_OVERRIDE, which opens every
 * file, is effective only for the attr map and the lock directory beside it, unless we are root.
 * Documentation/perf-stat.txt lists the capabilities of each step.
 */

#include <stdbool.h>

/** capability__init() - call at start, before any file is opened */
void capability__init(void);

/**
 * capability__missing_to_share() - the capabilities that sharing needs and we lack
 *
 * Looks at the process's own user namespace: in a container the kernel may still refuse.
 * Return: "CAP_BPF (purpose) and CAP_SYS_ADMIN (purpose)", owned by the caller; NULL: none is
 * missing, or unknown.
 */
char *capability__missing_to_share(void);

/** capability__may_count() - whether we may open every perf event, in our user namespace */
bool capability__may_count(void);

/**
 * capability__raise(), __lower() - make capabilities for opening and sharing effective, or not
 *
 * Calls nest. A holder of the attr map's lock has raised them.
 */
void capability__raise(void);
void capability__lower(void);

/** capability__drop() - give these up for good; nothing will be opened after that */
void capability__drop(void);

/** capability__lower_files(), __raise_files() - the same for CAP_DAC_OVERRIDE; root keeps it */
void capability__lower_files(void);
void capability__raise_files(void);

#endif
