// SPDX-License-Identifier: GPL-2.0
/*
 * progrun [OPTION...] PATH TIMES [ARG [CPU]]: test-run the BPF program pinned at PATH TIMES times. ARG is
 * the first argument of a raw tracepoint or system call program (the second is the address of 64 bytes).
 * Network programs get a small packet. Only raw tracepoints can run on a given CPU. The program's
 * results are ignored.
 *
 * -t	print the fewest nanoseconds that an execution took in one of 50 equal parts of TIMES: interrupts fall
 *	into the others
 * -a TRACEPOINT	attach the program to this raw tracepoint meanwhile
 * -i US	let a timer interrupt meanwhile, so many microseconds after the last execution began
 * -s	sleep between any two executions, for context switches
 * -n	do not run a program: load one without BTF and pin it at PATH
 * -f	put the 64 bytes on a missing page: the program sleeps until another thread provides it
 * -b ARG,ARG	the second and third argument of a raw tracepoint program
 */
#include "workload.h"
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <time.h>

static long bpf(int cmd, union bpf_attr *attr)
{
	return syscall(__NR_bpf, cmd, attr, sizeof(*attr));
}

static __u32 type_of(int fd)
{
	struct bpf_prog_info info = {};
	union bpf_attr attr = {};

	attr.info.bpf_fd = fd;
	attr.info.info_len = sizeof(info);
	attr.info.info = (unsigned long)&info;
	if (bpf(BPF_OBJ_GET_INFO_BY_FD, &attr))
		die("info");
	return info.type;
}

static __u64 now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ULL + now.tv_nsec;
}

static void attach(int fd, const char *tracepoint)
{
	union bpf_attr attr = {};

	attr.raw_tracepoint.name = (unsigned long)tracepoint;
	attr.raw_tracepoint.prog_fd = fd;
	if (bpf(BPF_RAW_TRACEPOINT_OPEN, &attr) < 0)
		die("%s", tracepoint);
}

static int start_timer(unsigned long us)
{
	int fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK);
	struct itimerspec spec = {
		.it_interval = {.tv_nsec = us * 1000},
		.it_value = {.tv_nsec = us * 1000},
	};

	if (timerfd_settime(fd, 0, &spec, NULL))
		die("timer");
	return fd;
}

/* Provide each missing page after a moment, so that its reader sleeps. */
static void *bring_pages(void *data)
{
	int fd = *(int *)data;
	struct uffd_msg msg;

	while (read(fd, &msg, sizeof(msg)) == sizeof(msg)) {
		struct uffdio_zeropage zero = {
			.range = {msg.arg.pagefault.address & -4096ULL, 4096},
		};

		usleep(1000);
		if (ioctl(fd, UFFDIO_ZEROPAGE, &zero))
			die("page");
	}
	return NULL;
}

static void *missing_page(void)
{
	void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct uffdio_api api = {.api = UFFD_API};
	struct uffdio_register reg = {
		.range = {(unsigned long)page, 4096},
		.mode = UFFDIO_REGISTER_MODE_MISSING,
	};
	static int fd;
	pthread_t thread;

	fd = syscall(SYS_userfaultfd, O_CLOEXEC);
	if (fd < 0 || ioctl(fd, UFFDIO_API, &api) || ioctl(fd, UFFDIO_REGISTER, &reg))
		die("userfaultfd");
	if (pthread_create(&thread, NULL, bring_pages, &fd))
		die("thread");
	return page;
}

/* The arguments behind the first, as -b gives them; NULL: none. */
static const char *further_args;

struct pace {
	int is_sleepy; /* sleep after each execution */
	int timer;     /* to read after each; -1: none */
	void *page;    /* to drop before each; NULL: none */
};

static void run(int fd, unsigned long times, int argc, char **argv, const struct pace *pace)
{
	union bpf_attr attr = {};
	static char packet[64], out[256];
	__u64 args[12] = {number(argc, argv, 2, 0),
			  (unsigned long)(pace->page ? pace->page : packet)};

	if (further_args && sscanf(further_args, "%llu,%llu", &args[1], &args[2]) != 2)
		die("-b %s", further_args);
	attr.test.prog_fd = fd;
	switch (type_of(fd)) {
	case BPF_PROG_TYPE_RAW_TRACEPOINT:
		attr.test.ctx_in = (unsigned long)args;
		attr.test.ctx_size_in = sizeof(args);
		if (argc > 3) {
			attr.test.flags = BPF_F_TEST_RUN_ON_CPU;
			attr.test.cpu = number(argc, argv, 3, 0);
		}
		break;
	case BPF_PROG_TYPE_TRACING:
		break;
	case BPF_PROG_TYPE_SYSCALL:
		attr.test.ctx_in = (unsigned long)args;
		attr.test.ctx_size_in = 2 * sizeof(args[0]);
		break;
	default:
		attr.test.data_in = (unsigned long)packet;
		attr.test.data_size_in = sizeof(packet);
		attr.test.data_out = (unsigned long)out;
		attr.test.data_size_out = sizeof(out);
		attr.test.repeat = 1;
	}
	for (unsigned long i = 0; i < times; i++) {
		if (pace->page)
			madvise(pace->page, 4096, MADV_DONTNEED);
		if (bpf(BPF_PROG_TEST_RUN, &attr))
			die("test run %lu", i);
		if (pace->is_sleepy)
			usleep(1);
		/* The timer must be read before it fires again. */
		if (pace->timer >= 0 && read(pace->timer, out, sizeof(__u64)) < 0 &&
		    errno != EAGAIN)
			die("timer");
	}
}

/* A tick of the kernel costs as much as some executions, and happens at no certain one. */
static double least_ns(int fd, unsigned long times, int argc, char **argv, void *page)
{
	const unsigned long parts = 50, each = times / parts;
	const struct pace pace = {.timer = -1, .page = page};
	double least = 0;

	usage_unless(each, "-t PATH TIMES, at least 50");
	for (unsigned long part = 0; part < parts; part++) {
		__u64 begin = now_ns();
		double ns;

		run(fd, each, argc, argv, &pace);
		ns = (double)(now_ns() - begin) / each;
		if (!part || ns < least)
			least = ns;
	}
	return least;
}

static void pin_without_btf(const char *path)
{
	/* return 0 */
	static const struct bpf_insn insns[] = {
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0},
		{.code = BPF_JMP | BPF_EXIT},
	};
	union bpf_attr attr = {
		.prog_type = BPF_PROG_TYPE_RAW_TRACEPOINT,
		.insns = (unsigned long)insns,
		.insn_cnt = 2,
		.license = (unsigned long)"GPL",
		.prog_name = "target_plain",
	};
	int fd = bpf(BPF_PROG_LOAD, &attr);

	memset(&attr, 0, sizeof(attr));
	attr.pathname = (unsigned long)path;
	attr.bpf_fd = fd;
	if (fd < 0 || bpf(BPF_OBJ_PIN, &attr))
		die("%s", path);
}

int main(int argc, char **argv)
{
	union bpf_attr attr = {};
	const char *tracepoint = NULL;
	int option, is_timed = 0, without_btf = 0, fd;
	unsigned long times, us = 0;
	struct pace pace = {.timer = -1};

	while ((option = getopt(argc, argv, "+ta:b:i:sfn")) != -1) {
		switch (option) {
		case 't':
			is_timed = 1;
			break;
		case 'a':
			tracepoint = optarg;
			break;
		case 'b':
			further_args = optarg;
			break;
		case 'i':
			us = strtoul(optarg, NULL, 0);
			break;
		case 's':
			pace.is_sleepy = 1;
			break;
		case 'n':
			without_btf = 1;
			break;
		case 'f':
			pace.page = missing_page();
			break;
		default:
			argc = 0;
		}
	}
	argc -= optind;
	argv += optind;
	usage_unless(
		argc >= 2 - without_btf && argc < 5,
		"[-t] [-s] [-f] [-n] [-a TRACEPOINT] [-i US] [-b ARG,ARG] PATH TIMES [ARG [CPU]]");
	if (without_btf) {
		pin_without_btf(argv[0]);
		return 0;
	}
	times = number(argc, argv, 1, 1);
	attr.pathname = (unsigned long)argv[0];
	fd = bpf(BPF_OBJ_GET, &attr);
	if (fd < 0)
		die("%s", argv[0]);
	if (tracepoint)
		attach(fd, tracepoint);
	if (us)
		pace.timer = start_timer(us);
	if (is_timed)
		printf("%.1f\n", least_ns(fd, times, argc, argv, pace.page));
	else
		run(fd, times, argc, argv, &pace);
	return 0;
}
