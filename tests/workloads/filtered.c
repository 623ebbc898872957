// SPDX-License-Identifier: GPL-2.0
/*
 * filtered CALLS: make system calls below a seccomp filter that takes most of their time. It is classic BPF, which the
 * kernel compiles without a symbol, and goes with this process. It loads an argument: otherwise its result would be kept.
 */
#include "workload.h"
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#define LOADS 2000

int main(int argc, char **argv)
{
	static struct sock_filter code[LOADS + 1];
	struct sock_fprog filter = {.len = LOADS + 1, .filter = code};
	unsigned long calls;

	if (argc != 2)
		die("usage: filtered CALLS");
	calls = strtoul(argv[1], NULL, 0);
	for (int i = 0; i < LOADS; i++)
		code[i] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
						       offsetof(struct seccomp_data, args));
	code[LOADS] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter))
		die("seccomp: %m");
	while (calls--)
		syscall(SYS_getppid);
	return 0;
}
