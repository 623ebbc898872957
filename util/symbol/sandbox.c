// SPDX-License-Identifier: GPL-2.0
#include "util/symbol/sandbox.h"

#include "util/lib/util.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/capability.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#if defined(__x86_64__) && !defined(__ILP32__)
#define THIS_ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__) && defined(__AARCH64EL__)
#define THIS_ARCH AUDIT_ARCH_AARCH64
#elif defined(__riscv) && __riscv_xlen == 64
#define THIS_ARCH AUDIT_ARCH_RISCV64
#elif defined(__s390x__)
#define THIS_ARCH AUDIT_ARCH_S390X
#elif defined(__powerpc64__) && defined(__LITTLE_ENDIAN__)
#define THIS_ARCH AUDIT_ARCH_PPC64LE
#endif

#define NOBODY 65534

/* close_range() came with Linux 5.9 and glibc 2.34; the system call is enough. */
static int close_others(void)
{
	return syscall(SYS_close_range, SANDBOX_FD + 1, ~0U, 0) ? -errno : 0;
}

static int use_null(void)
{
	int null = open("/dev/null", O_RDWR);

	if (null < 0)
		return -errno;
	if (dup2(null, STDIN_FILENO) < 0 || dup2(null, STDOUT_FILENO) < 0)
		return -errno;
	return 0;
}

/* Return: whether user 0 here is user 0 of the machine, or may be. */
static bool is_root_outside(void)
{
	char *map __cleanup(free_ptr) = read_file_line("/proc/self/uid_map");
	unsigned int inside, outside;

	return !map || sscanf(map, "%u %u", &inside, &outside) != 2 || !outside;
}

/* A user namespace may lack this user; its root is an ordinary user outside. */
int sandbox__become_nobody(void)
{
	if (geteuid())
		return 0;
	if (!setgroups(0, NULL) && !setresgid(NOBODY, NOBODY, NOBODY) &&
	    !setresuid(NOBODY, NOBODY, NOBODY))
		return 0;
	return is_root_outside() ? -EPERM : 0;
}

int sandbox__drop_capabilities(void)
{
	cap_t none = cap_init();
	int err = !none || cap_set_proc(none) ? -errno : 0;

	cap_free(none);
	/* Without no_new_privs an exec of root's would bring the capabilities back. */
	return !err && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ? -errno : err;
}

int sandbox__limit(int resource, uint64_t most)
{
	struct rlimit limit;

	if (getrlimit(resource, &limit))
		return -errno;
	/* Nobody without capabilities may raise the hard limit. */
	if (limit.rlim_max > most)
		limit.rlim_max = most;
	if (limit.rlim_cur > limit.rlim_max)
		limit.rlim_cur = limit.rlim_max;
	return setrlimit(resource, &limit) ? -errno : 0;
}

int sandbox__drop_privileges(int keep_fd)
{
	int err;

	if (keep_fd != SANDBOX_FD && dup2(keep_fd, SANDBOX_FD) < 0)
		return -errno;
	err = use_null();
	if (!err)
		err = close_others();
	if (!err)
		err = sandbox__drop_capabilities();
	if (!err && prctl(PR_SET_PDEATHSIG, SIGKILL))
		err = -errno;
	/* Ctrl-C is for perf, which then wants names, also before it stops for Ctrl-Z. */
	signal(SIGINT, SIG_IGN);
	signal(SIGQUIT, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	signal(SIGTSTP, SIG_IGN);
	signal(SIGTERM, SIG_DFL);
	signal(SIGPIPE, SIG_DFL);
	return err;
}

/* --- files that perf opens for a library --- */

/* Where the result of a system call belongs, when a signal tells of its refusal. */
#if defined(__x86_64__)
#define OPEN_RESULT gregs[REG_RAX]
#elif defined(__aarch64__)
#define OPEN_RESULT regs[0]
#endif

/* The handler of a signal reads it, in the same thread. */
static volatile sig_atomic_t next_fd = -1;

int sandbox__answer_open(int fd)
{
	int left = next_fd;

	next_fd = fd;
	return left;
}

bool sandbox__can_answer_open(void)
{
#ifdef OPEN_RESULT
	return true;
#else
	return false;
#endif
}

#ifdef OPEN_RESULT

static void on_open(int signal_nr __unused, siginfo_t *info __unused, void *context)
{
	mcontext_t *machine = &((ucontext_t *)context)->uc_mcontext;
	int fd = next_fd;

	next_fd = -1;
	machine->OPEN_RESULT = fd < 0 ? -ENOENT : fd;
}

static int answer_opens(void)
{
	const struct sigaction action = {.sa_sigaction = on_open, .sa_flags = SA_SIGINFO};

	return sigaction(SIGSYS, &action, NULL) ? -errno : 0;
}

#endif

#ifdef THIS_ARCH

/* newfstatat() is how newer C libraries call fstat(), and qsort() asks for the size of memory. */
static const int allowed[] = {
	SYS_read,	   SYS_pread64,		SYS_lseek,
	SYS_fstat,	   SYS_newfstatat,	SYS_close,
	SYS_munmap,	   SYS_mremap,		SYS_brk,
	SYS_madvise,	   SYS_recvmsg,		SYS_sendmsg,
	SYS_exit,	   SYS_exit_group,	SYS_rt_sigreturn,
	SYS_rt_sigaction,  SYS_rt_sigprocmask,	SYS_getrandom,
	SYS_clock_gettime, SYS_futex,		SYS_fcntl,
	SYS_getpid,	   SYS_gettid,		SYS_sigaltstack,
	SYS_sched_yield,   SYS_restart_syscall, SYS_sysinfo,
};

/* libdw looks for the file's name and for further files by itself. It goes on without them. */
static const int refused[] = {
#ifndef OPEN_RESULT
	SYS_openat,
#endif
	SYS_readlinkat,
#ifdef SYS_readlink
	SYS_readlink,
#endif
};

#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
/* Go on behind the next instruction unless the loaded value is @value. */
#define UNLESS(value)  BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, 1)
#define RETURN(action) BPF_STMT(BPF_RET | BPF_K, action)
#define MAX_FILTER     (4 + 2 * (ARRAY_SIZE(allowed) + ARRAY_SIZE(refused) + 1) + 16)
/* The low half of an argument; all architectures above but s390x store it first. */
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define LOAD_ARG(n) LOAD(args[n])
#else
#define LOAD_ARG(n) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[n]) + 4)
#endif

/* Memory that is executable would be code that nobody checked; standard error is for sanitizers. */
static int add_conditions(struct sock_filter *filter, int nr)
{
	const struct sock_filter conditions[] = {
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mmap, 1, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mprotect, 0, 4),
		LOAD_ARG(2),
		BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, PROT_EXEC, 1, 0),
		RETURN(SECCOMP_RET_ALLOW),
		RETURN(SECCOMP_RET_KILL_PROCESS),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_write, 0, 3),
		LOAD_ARG(0),
		UNLESS(STDERR_FILENO),
		RETURN(SECCOMP_RET_ALLOW),
		RETURN(SECCOMP_RET_KILL_PROCESS),
	};

	for (size_t i = 0; i < ARRAY_SIZE(conditions); i++)
		filter[nr++] = conditions[i];
	return nr;
}

static int install_filter(void)
{
	struct sock_filter filter[MAX_FILTER] = {
		LOAD(arch),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, THIS_ARCH, 1, 0),
		RETURN(SECCOMP_RET_KILL_PROCESS),
		LOAD(nr),
	};
	struct sock_fprog program = {.filter = filter};
	int nr = 4;

	for (size_t i = 0; i < ARRAY_SIZE(allowed); i++) {
		filter[nr++] = (struct sock_filter)UNLESS(allowed[i]);
		filter[nr++] = (struct sock_filter)RETURN(SECCOMP_RET_ALLOW);
	}
	for (size_t i = 0; i < ARRAY_SIZE(refused); i++) {
		filter[nr++] = (struct sock_filter)UNLESS(refused[i]);
		filter[nr++] = (struct sock_filter)RETURN(SECCOMP_RET_ERRNO | ENOENT);
	}
#ifdef OPEN_RESULT
	filter[nr++] = (struct sock_filter)UNLESS(SYS_openat);
	filter[nr++] = (struct sock_filter)RETURN(SECCOMP_RET_TRAP);
#endif
	program.len = add_conditions(filter, nr);
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) ? -errno : 0;
}

/* The address sanitizer reserves terabytes. */
static int limit_memory(void)
{
#ifndef SANITIZED
	return sandbox__limit(RLIMIT_AS, SANDBOX_MAX_BYTES);
#else
	return 0;
#endif
}

int sandbox__enter(void)
{
	int err = limit_memory();

	/* A crash on a hostile file is expected: leave no core file of it. */
	if (!err)
		err = sandbox__limit(RLIMIT_CORE, 0);
#ifdef OPEN_RESULT
	if (!err)
		err = answer_opens();
#endif
	return err ? err : install_filter();
}

#else

int sandbox__enter(void)
{
	return -ENOSYS;
}

#endif
