// SPDX-License-Identifier: GPL-2.0
#include "util/profile/callchain.h"

#include "util/sample/sample_types.h"

/* Return: the position of the next mark, or the end. */
static uint64_t next_mark(const uint64_t *ips, uint64_t nr, uint64_t at)
{
	while (at < nr && !callchain__is_mark(ips[at]))
		at++;
	return at;
}

/*
 * The part of user space comes last. User space can have any value as a return address, also one that looks like a
 * mark: nothing behind it is taken.
 */
void callchain__split(const uint64_t *ips, uint64_t nr, struct sample_entry *entry)
{
	for (uint64_t at = next_mark(ips, nr, 0); at < nr && !entry->user_ips;) {
		uint64_t first = at + 1, end = next_mark(ips, nr, first);

		if (ips[at] == (uint64_t)PERF_CONTEXT_KERNEL) {
			entry->kernel_ips = ips + first;
			entry->nr_kernel = end - first;
		} else if (ips[at] == (uint64_t)PERF_CONTEXT_USER) {
			entry->user_ips = ips + first;
			entry->nr_user = end - first;
		}
		at = end;
	}
}
