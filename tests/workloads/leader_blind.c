// SPDX-License-Identifier: GPL-2.0
/*
 * leader_blind PATH: make the leader of the attr map at PATH blind to the tasks that it knows, as if
 * none of its programs ran for them. Print "blind" when it is, and restore its sight on SIGTERM.
 */
#include "leader_tables.h"
#include <signal.h>

int main(int argc, char **argv)
{
	static __u32 saved[1 << BUCKET_BITS];
	struct task_bucket *bucket;
	sigset_t set;
	int i, sig;

	usage_unless(argc == 2, "PATH");
	bucket = table(find_leader(argv[1]), LEADER_BUCKETS, sizeof(*bucket) << BUCKET_BITS,
		       PROT_READ | PROT_WRITE);
	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	if (sigprocmask(SIG_BLOCK, &set, NULL))
		die("sigprocmask");
	/* Programs do not search a bucket with a count of 0. */
	for (i = 0; i < 1 << BUCKET_BITS; i++)
		saved[i] = __atomic_exchange_n(&bucket[i].nr, 0, __ATOMIC_SEQ_CST);
	puts("blind");
	fflush(stdout);
	errno = sigwait(&set, &sig);
	if (errno)
		die("sigwait");
	for (i = 0; i < 1 << BUCKET_BITS; i++)
		__atomic_fetch_add(&bucket[i].nr, saved[i], __ATOMIC_SEQ_CST);
	return 0;
}
