/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_UTIL_CAPABILITY_H
#define PERF_UTIL_CAPABILITY_H

/* What this process may do, for messages that name what is missing. */

/**
 * capability__missing_to_share() - the capabilities that shared events need and we lack
 *
 * Those of the process's own user namespace: inside a container the kernel may refuse all the same.
 * Return: "CAP_BPF and CAP_SYS_ADMIN", owned by the caller; NULL: none is missing, or not known.
 */
char *capability__missing_to_share(void);

#endif
