/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_UTIL_CAPABILITY_H
#define PERF_UTIL_CAPABILITY_H

/*
 * What this process may do, and that it may no more of it than it needs at the time.
 *
 * Counting itself needs no capability: events and programs have been checked when they were opened.
 * So they are effective while events are opened, on a CPU that comes back too, and while a run joins
 * and leaves; in between they are only permitted, to be raised again. CAP_DAC_OVERRIDE, which opens
 * every file, is effective for nothing but the attr map and the lock directory beside it, unless
 * we are root. Documentation/perf-stat.txt says which step needs which.
 */

#include <stdbool.h>

/** capability__init() - at the start of the process, before any file is opened */
void capability__init(void);

/**
 * capability__missing_to_share() - the capabilities that shared events need and we lack
 *
 * Those of the process's own user namespace: inside a container the kernel may refuse all the same.
 * Return: "CAP_BPF (what for) and CAP_SYS_ADMIN (what for)", owned by the caller; NULL: none is
 * missing, or not known.
 */
char *capability__missing_to_share(void);

/** capability__may_count() - whether we have what opens every perf event, in our user namespace */
bool capability__may_count(void);

/**
 * capability__raise(), __lower() - those for opening and sharing become effective, stop being so
 *
 * They nest: as many have to lower as have raised. Whoever has the attr map's lock has raised.
 */
void capability__raise(void);
void capability__lower(void);

/** capability__drop() - give those up for good: nothing will be opened any more */
void capability__drop(void);

/** capability__lower_files(), __raise_files() - the same for CAP_DAC_OVERRIDE; root keeps it */
void capability__lower_files(void);
void capability__raise_files(void);

#endif
