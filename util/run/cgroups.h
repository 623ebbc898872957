/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_RUN_CGROUPS_H
#define PERF_RUN_CGROUPS_H

/* New and removed cgroups during a pass with patterns of cgroups. */

#include <stdbool.h>

struct stat_pass;

/**
 * stat_pass__add_cgroups() - give events to the cgroups that came, in a free place or at the end
 *
 * Cgroups that cannot be counted are printed as such, or are tried again; a warning is printed once.
 */
void stat_pass__add_cgroups(struct stat_pass *pass);

/**
 * stat_pass__add_last_cgroups() - the same when it cannot be put off: retry, then warn of a held lock
 * @begins: a window of counting begins, rather than ends. Cgroups are counted from their creation, so
 *	those that exist must not wait for a later look.
 */
void stat_pass__add_last_cgroups(struct stat_pass *pass, bool begins);

/** stat_pass__wake_cgroups() - look for new cgroups soon, but not too often: sets pass->look_at_ns */
void stat_pass__wake_cgroups(struct stat_pass *pass);

/** stat_pass__look_cgroups() - do so now: add cgroups without a walk over the tree */
void stat_pass__look_cgroups(struct stat_pass *pass);

/** stat_pass__drop_cgroups() - free the places of removed cgroups, which were printed a last time */
void stat_pass__drop_cgroups(struct stat_pass *pass);

#endif
