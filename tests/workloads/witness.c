// SPDX-License-Identifier: GPL-2.0
/*
 * witness [EVENT]: find the switches that this machine hides from BPF programs. Print "ready" once it
 * sees the switches of all CPUs. At SIGINT or SIGTERM, print in columns:
 *
 *	cpu N SEEN HIDDEN NS EVENTS BETWEEN	visible switches, hidden ones, and the work of the CPU
 *						between the visible switches around hidden ones. If two or
 *						more hidden ones follow each other, so many of these events
 *						can be of any task that a reader at switches did not see
 *	lost PID CGROUP COMM HIDDEN NS EVENTS	the part of that work that ended with this process: a
 *						reader at switches misses at most so much of it
 *	gained PID CGROUP COMM HIDDEN NS EVENTS	the part of that work that began with this process: a
 *						reader at switches charges it at most so much too much
 *	unborn PID CGROUP COMM SLICES NS EVENTS	what else this process did, whose birth was hidden, or that of
 *						the process that made it: nobody can have followed it
 *	unreleased PID CGROUP COMM 1		a thread of this process has ended, and its release was
 *						hidden, or is still to come
 *
 * EVENT is a software event's number (2, page-faults), CGROUP the inode of the cgroup's directory (v2).
 * A blank in COMM is printed as '_'.
 */
#include "witness.h"
#include "workload.h"
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>

static struct bpf_object *load(void)
{
	char path[4096], *name;
	struct bpf_object *object;
	ssize_t len = readlink("/proc/self/exe", path, sizeof(path) - sizeof(".bpf.o"));

	if (len < 0)
		die("/proc/self/exe");
	strcpy(path + len, ".bpf.o");
	name = strrchr(path, '/') + 1;
	object = bpf_object__open_file(path, NULL);
	if (!object || bpf_object__load(object))
		die("%s", name);
	return object;
}

static int map_of(struct bpf_object *object, const char *name)
{
	int fd = bpf_object__find_map_fd_by_name(object, name);

	if (fd < 0)
		die("no map '%s'", name);
	return fd;
}

/* Open the event on all CPUs. Offline CPUs have none, and no switches. */
static void count(int events, unsigned long config, int nr_cpus)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = config,
	};

	for (int cpu = 0; cpu < nr_cpus; cpu++) {
		int fd = syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);

		if (fd < 0 && errno == ENODEV)
			continue;
		if (fd < 0)
			die("perf_event_open");
		if (bpf_map_update_elem(events, &cpu, &fd, BPF_ANY))
			die("event of CPU %d", cpu);
	}
}

/* Visit each CPU: its switch to us completes the work of its last process since a hidden switch. */
static void switch_everywhere(int nr_cpus)
{
	const struct timespec moment = {.tv_nsec = 1000000};

	for (int cpu = 0; cpu < nr_cpus; cpu++) {
		cpu_set_t set;

		CPU_ZERO(&set);
		CPU_SET(cpu, &set);
		if (!sched_setaffinity(0, sizeof(set), &set))
			nanosleep(&moment, NULL);
	}
}

static void print_cpus(int map, int nr_cpus)
{
	struct witness_cpu *cpus = calloc(nr_cpus, sizeof(*cpus));
	__u64 dropped = 0, failed = 0;
	__u32 zero = 0;

	if (!cpus || bpf_map_lookup_elem(map, &zero, cpus))
		die("CPUs");
	for (int i = 0; i < nr_cpus; i++) {
		const struct witness_cpu *cpu = &cpus[i];

		dropped += cpu->dropped;
		failed += cpu->failed;
		if (cpu->seen)
			printf("cpu %d %llu %llu %llu %llu %llu\n", i, cpu->seen,
			       cpu->hidden.switches, cpu->hidden.ns, cpu->hidden.events,
			       cpu->between);
	}
	free(cpus);
	errno = 0;
	if (dropped || failed)
		die("%llu tasks found no room, %llu reads failed", dropped, failed);
}

static void print_who(const char *name, const struct witness_who *who)
{
	printf("%s %u %llu ", name, who->tgid, who->cgroup);
	for (const char *c = who->comm; *c; c++)
		putchar(strchr(" \t\n", *c) ? '_' : *c);
}

static void print_shares(const char *name, int map)
{
	struct witness_who who, *last = NULL;
	struct witness_share share;

	for (; !bpf_map_get_next_key(map, last, &who); last = &who) {
		if (bpf_map_lookup_elem(map, &who, &share))
			die("%s", name);
		print_who(name, &who);
		printf(" %llu %llu %llu\n", share.switches, share.ns, share.events);
	}
}

/* Print threads without a release. Detached programs delete nothing during the walk. */
static void print_dead(int map)
{
	struct witness_who who;
	__u32 pid, *last = NULL;

	for (; !bpf_map_get_next_key(map, last, &pid); last = &pid) {
		if (bpf_map_lookup_elem(map, &pid, &who))
			die("unreleased");
		print_who("unreleased", &who);
		puts(" 1");
	}
}

int main(int argc, char **argv)
{
	int nr_cpus = libbpf_num_possible_cpus(), sig;
	struct bpf_link *links[4] = {NULL};
	struct bpf_program *program;
	struct bpf_object *object;
	int nr = 0;
	sigset_t set;

	usage_unless(argc <= 2, "[EVENT]");
	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	if (nr_cpus < 0 || sigprocmask(SIG_BLOCK, &set, NULL))
		die("setup");
	object = load();
	count(map_of(object, "events"), number(argc, argv, 1, PERF_COUNT_SW_PAGE_FAULTS), nr_cpus);
	count(map_of(object, "switches"), PERF_COUNT_SW_CONTEXT_SWITCHES, nr_cpus);
	bpf_object__for_each_program(program, object)
	{
		links[nr] = bpf_program__attach(program);
		if (!links[nr++])
			die("%s", bpf_program__name(program));
	}
	switch_everywhere(nr_cpus);
	puts("ready");
	fflush(stdout);
	errno = sigwait(&set, &sig);
	if (errno)
		die("sigwait");
	switch_everywhere(nr_cpus);
	while (nr)
		bpf_link__destroy(links[--nr]);
	print_cpus(map_of(object, "cpus"), nr_cpus);
	print_shares("lost", map_of(object, "lost"));
	print_shares("gained", map_of(object, "gained"));
	print_shares("unborn", map_of(object, "unborn"));
	print_dead(map_of(object, "dead"));
	return 0;
}
