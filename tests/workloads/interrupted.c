// SPDX-License-Identifier: GPL-2.0
/*
 * interrupted [-e EVENT -c PERIOD [-b | -r [-g]]] FRAMES [PARTS]: execute parts of equal length, and print the
 * nanoseconds by which an interrupt lengthens one, and how many did. Stacks have FRAMES frames meanwhile, the
 * first of the C library. The printed number is the mean of all that differ little from the median. So it is
 * that of the most frequent interrupt: samples are much more frequent than ticks. Run it at a real-time priority.
 * -e	sample cycles or cpu-clock on CPU 0, without anything that reads the samples
 * -b	with an empty BPF program
 * -r	with a ring buffer, and the fields of samples of Debian's perf record -a -c PERIOD. -g: also their stacks
 */
#include "workload.h"
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>

#define NOINLINE                                                                                   \
	__attribute__((noinline, noclone,                                                          \
		       optimize("no-optimize-sibling-calls", "no-omit-frame-pointer")))

/* Instructions of a part: a few, so that one has one interrupt at most. */
#define LENGTH 4000

/* An interrupt costs more than this, and a reading of the clock less. */
#define LEAST 500

/* The clock moves in steps. Parts of several lengths, so many different ones, begin anywhere in a step. */
#define LENGTHS 8
#define STEP	16

/* Pages of a ring buffer, which has room for all samples. */
#define RING_PAGES 512

static unsigned long frames, nr_parts;
static unsigned int *ns;

struct sampling {
	const char *event; /* NULL: none */
	unsigned long period;
	int with_prog, with_ring, with_stacks;
};

static unsigned long now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000UL + now.tv_nsec;
}

static NOINLINE void spin_in_parts(void)
{
	unsigned long before = now_ns(), after;

	for (unsigned long i = 0; i < nr_parts; i++) {
		spin(LENGTH / 2 + i % LENGTHS);
		after = now_ns();
		ns[i] = after - before - 2 * (i % LENGTHS);
		before = after;
	}
}

/* The last of these is the caller of spin_in_parts(), and the clock is read in one more. */
static NOINLINE void descend(unsigned long depth)
{
	if (depth)
		descend(depth - 1);
	else
		spin_in_parts();
	asm volatile("");
}

static int compare(const void *a, const void *b)
{
	unsigned int x = *(const unsigned int *)a, y = *(const unsigned int *)b;

	return x < y ? -1 : x > y;
}

/* Return: the mean of all in a sorted range that differ little from its median. */
static double mean(const unsigned int *sorted, unsigned long nr)
{
	unsigned int median = sorted[nr / 2];
	unsigned long near = 0;
	double sum = 0;

	for (unsigned long i = 0; i < nr; i++) {
		if (sorted[i] + 2 * STEP < median || sorted[i] > median + 2 * STEP)
			continue;
		sum += sorted[i];
		near++;
	}
	return sum / near;
}

static void print_interrupts(void)
{
	unsigned long first = 0;

	qsort(ns, nr_parts, sizeof(*ns), compare);
	while (first < nr_parts && ns[first] < ns[0] + LEAST)
		first++;
	if (nr_parts - first < 100)
		die("only %lu parts were interrupted", nr_parts - first);
	printf("%.1f %lu\n", mean(ns + first, nr_parts - first) - mean(ns, first),
	       nr_parts - first);
}

static int load_empty(void)
{
	/* return 0 */
	static const struct bpf_insn insns[] = {
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0},
		{.code = BPF_JMP | BPF_EXIT},
	};
	union bpf_attr attr = {
		.prog_type = BPF_PROG_TYPE_PERF_EVENT,
		.insns = (unsigned long)insns,
		.insn_cnt = 2,
		.license = (unsigned long)"GPL",
	};

	return syscall(__NR_bpf, BPF_PROG_LOAD, &attr, sizeof(attr));
}

/* On arm64, perf also takes the register with the caller's address. */
static void set_sample(struct perf_event_attr *attr, int with_stacks)
{
	attr->sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU;
	attr->sample_type |= with_stacks ? PERF_SAMPLE_IDENTIFIER : PERF_SAMPLE_ID;
	if (!with_stacks)
		return;
	attr->sample_type |= PERF_SAMPLE_CALLCHAIN;
#ifdef __aarch64__
	attr->sample_type |= PERF_SAMPLE_REGS_USER;
	attr->sample_regs_user = 1 << 30;
#endif
}

static void sample(const struct sampling *sampling)
{
	int is_clock = !strcmp(sampling->event, "cpu-clock");
	struct perf_event_attr attr = {
		.type = is_clock ? PERF_TYPE_SOFTWARE : PERF_TYPE_HARDWARE,
		.config = is_clock ? PERF_COUNT_SW_CPU_CLOCK : PERF_COUNT_HW_CPU_CYCLES,
		.size = sizeof(attr),
		.sample_period = sampling->period,
		.disabled = 1,
	};
	int fd;

	if (sampling->with_ring)
		set_sample(&attr, sampling->with_stacks);
	fd = syscall(__NR_perf_event_open, &attr, -1, 0, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0)
		die("%s", sampling->event);
	if (sampling->with_prog && ioctl(fd, PERF_EVENT_IOC_SET_BPF, load_empty()))
		die("program");
	if (sampling->with_ring && mmap(NULL, (1 + RING_PAGES) * sysconf(_SC_PAGESIZE),
					PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) == MAP_FAILED)
		die("ring buffer");
	if (ioctl(fd, PERF_EVENT_IOC_ENABLE, 0))
		die("enable");
}

int main(int argc, char **argv)
{
	static ucontext_t here, there;
	static char stack[1 << 18] __attribute__((aligned(16)));

	struct sampling sampling = {};
	int option;

	while ((option = getopt(argc, argv, "+e:c:brg")) != -1) {
		if (option == 'e')
			sampling.event = optarg;
		else if (option == 'c')
			sampling.period = strtoul(optarg, NULL, 0);
		else if (option == 'b')
			sampling.with_prog = 1;
		else if (option == 'r')
			sampling.with_ring = 1;
		else if (option == 'g')
			sampling.with_stacks = 1;
		else
			argc = 0;
	}
	argc -= optind - 1;
	argv += optind - 1;
	frames = number(argc, argv, 1, 0);
	nr_parts = number(argc, argv, 2, 10000);
	usage_unless(argc < 4 && frames >= 2 && frames < 200 && nr_parts,
		     "[-e EVENT -c PERIOD [-b | -r [-g]]] FRAMES [PARTS]");
	if (sampling.event)
		sample(&sampling);
	ns = calloc(nr_parts, sizeof(*ns));
	if (!ns || getcontext(&there))
		die("memory");
	memset(ns, 1, nr_parts * sizeof(*ns));
	there.uc_stack.ss_sp = stack;
	there.uc_stack.ss_size = sizeof(stack);
	there.uc_link = &here;
	/* Its caller has no frame. */
	if (frames == 2)
		makecontext(&there, spin_in_parts, 0);
	else
		makecontext(&there, (void (*)(void))descend, 1, (int)frames - 3);
	if (swapcontext(&here, &there))
		die("context");
	print_interrupts();
	return 0;
}
