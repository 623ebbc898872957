// SPDX-License-Identifier: GPL-2.0
/*
 * Another implementation of the established protocol, as small as possible:
 *
 *	foreign lead PIN TYPE CONFIG [KEY_SIZE]
 *		Make a leader for an event and enter it in the attr map at PIN. If there is no map,
 *		make one with keys of KEY_SIZE (144). Print "ready". On SIGTERM disable the events,
 *		as their creator does, and exit.
 *	foreign follow PIN TYPE CONFIG [PID]
 *		Follow the leader of that event and print "ready". On SIGTERM print the counts of the
 *		process, or of all: COUNTER ENABLED_NS RUNNING_NS. Status 3: there is no leader.
 *	foreign attach PIN TYPE CONFIG
 *		Attach the leader's program to switches and print "ready". On SIGTERM exit.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MAX_CPUS 256

struct entry {
	__u32 link_id;
	__u32 diff_map_id;
};

static int attr_map, nr_cpus, key_size = 144;
static unsigned char key[4096];

static void wait_for_end(void)
{
	sigset_t set;
	int sig;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_BLOCK, &set, NULL);
	puts("ready");
	fflush(stdout);
	sigwait(&set, &sig);
}

static struct bpf_object *open_object(const char *name)
{
	char self[PATH_MAX] = "", path[PATH_MAX + 32];
	struct bpf_object *obj;

	if (readlink("/proc/self/exe", self, sizeof(self) - 1) < 0)
		err(1, "/proc/self/exe");
	snprintf(path, sizeof(path), "%s/%s", dirname(self), name);
	obj = bpf_object__open_file(path, NULL);
	if (!obj)
		err(1, "%s", path);
	return obj;
}

static int map_fd(struct bpf_object *obj, const char *name)
{
	return bpf_map__fd(bpf_object__find_map_by_name(obj, name));
}

static void open_attr_map(const char *pin, bool may_make)
{
	struct bpf_map_info info = {};
	__u32 len = sizeof(info);

	attr_map = bpf_obj_get(pin);
	if (attr_map < 0 && may_make) {
		attr_map = bpf_map_create(BPF_MAP_TYPE_HASH, "perf_attr_map", key_size,
					  sizeof(struct entry), 16, NULL);
		if (attr_map < 0 || bpf_obj_pin(attr_map, pin))
			err(1, "%s", pin);
	}
	if (attr_map < 0 || bpf_obj_get_info_by_fd(attr_map, &info, &len))
		err(1, "%s", pin);
	key_size = info.key_size;
	if (flock(attr_map, LOCK_EX))
		err(1, "flock");
}

static void set_key(const char *type, const char *config)
{
	struct perf_event_attr attr = {
		.type = strtoul(type, NULL, 0),
		.size = key_size,
		.config = strtoull(config, NULL, 0),
	};

	memcpy(key, &attr, sizeof(attr) < (size_t)key_size ? sizeof(attr) : (size_t)key_size);
}

static int open_event(int cpu)
{
	struct perf_event_attr attr = {};

	memcpy(&attr, key, 64); /* this program sets only fields of the first version */
	attr.size = sizeof(attr);
	attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	return syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

static void lead(const char *pin)
{
	struct bpf_object *obj = open_object("leader.bpf.o");
	struct bpf_link_info link_info = {};
	struct bpf_map_info map_info = {};
	struct bpf_link *link;
	struct entry entry;
	__u32 len;
	int fds[MAX_CPUS], events, diff;

	bpf_map__set_max_entries(bpf_object__find_map_by_name(obj, "events"), nr_cpus);
	if (bpf_object__load(obj))
		err(1, "load");
	events = map_fd(obj, "events");
	for (int cpu = 0; cpu < nr_cpus; cpu++) {
		fds[cpu] = open_event(cpu);
		if (fds[cpu] >= 0 && bpf_map_update_elem(events, &cpu, &fds[cpu], BPF_ANY))
			err(1, "events");
	}
	link = bpf_program__attach(bpf_object__find_program_by_name(obj, "on_switch"));
	if (!link)
		err(1, "attach");
	len = sizeof(link_info);
	if (bpf_obj_get_info_by_fd(bpf_link__fd(link), &link_info, &len))
		err(1, "link");
	diff = map_fd(obj, "diff_readings");
	len = sizeof(map_info);
	if (bpf_obj_get_info_by_fd(diff, &map_info, &len))
		err(1, "map");
	entry = (struct entry){link_info.id, map_info.id};
	if (bpf_map_update_elem(attr_map, key, &entry, BPF_ANY))
		err(1, "%s", pin);
	flock(attr_map, LOCK_UN);
	wait_for_end();
	for (int cpu = 0; cpu < nr_cpus; cpu++) {
		if (fds[cpu] >= 0)
			ioctl(fds[cpu], PERF_EVENT_IOC_DISABLE, 0);
	}
}

static void trigger(int prog, int cpu)
{
	LIBBPF_OPTS(bpf_test_run_opts, opts, .flags = BPF_F_TEST_RUN_ON_CPU, .cpu = cpu);

	if (bpf_prog_test_run_opts(prog, &opts) && errno != ENXIO)
		err(1, "test run on CPU %d", cpu);
}

static void print_sums(int accum)
{
	struct bpf_perf_event_value *values = calloc(nr_cpus, sizeof(*values)), sum = {};
	__u32 zero = 0;

	if (!values || bpf_map_lookup_elem(accum, &zero, values))
		err(1, "accum_readings");
	for (int cpu = 0; cpu < nr_cpus; cpu++) {
		sum.counter += values[cpu].counter;
		sum.enabled += values[cpu].enabled;
		sum.running += values[cpu].running;
	}
	printf("%llu %llu %llu\n", sum.counter, sum.enabled, sum.running);
	free(values);
}

/* The program and the map of differences of the leader that the entry names. */
static int open_leader(int *diff)
{
	struct bpf_link_info info = {};
	__u32 len = sizeof(info);
	struct entry entry;
	int link, leader;

	if (bpf_map_lookup_elem(attr_map, key, &entry))
		exit(3);
	link = bpf_link_get_fd_by_id(entry.link_id);
	*diff = bpf_map_get_fd_by_id(entry.diff_map_id);
	if (link < 0 || *diff < 0)
		exit(3);
	if (bpf_obj_get_info_by_fd(link, &info, &len))
		err(1, "link");
	leader = bpf_prog_get_fd_by_id(info.prog_id);
	if (leader < 0)
		err(1, "program");
	return leader;
}

static void attach(void)
{
	int diff, leader = open_leader(&diff);

	if (bpf_raw_tracepoint_open("sched_switch", leader) < 0)
		err(1, "attach");
	flock(attr_map, LOCK_UN);
	wait_for_end();
}

static void follow(__u32 process)
{
	struct bpf_object *obj = open_object("follower.bpf.o");
	struct {
		__u32 process, enabled;
	} state = {.process = process, .enabled = 1};
	struct bpf_program *prog = bpf_object__find_program_by_name(obj, "after_switch");
	int diff, leader = open_leader(&diff);
	__u32 zero = 0;

	trigger(leader, 0);
	if (bpf_map__reuse_fd(bpf_object__find_map_by_name(obj, "diff_readings"), diff) ||
	    bpf_program__set_attach_target(prog, leader, "on_switch"))
		err(1, "follow");
	if (bpf_object__load(obj) || !bpf_program__attach(prog))
		err(1, "load");
	flock(attr_map, LOCK_UN);
	if (bpf_map_update_elem(map_fd(obj, ".bss"), &zero, &state, BPF_ANY))
		err(1, "enable");
	wait_for_end();
	for (int cpu = 0; cpu < nr_cpus; cpu++)
		trigger(leader, cpu);
	print_sums(map_fd(obj, "accum_readings"));
}

int main(int argc, char **argv)
{
	if (argc < 5 || argc > 6)
		errx(2, "usage: foreign lead|follow|attach PIN TYPE CONFIG [KEY_SIZE|PID]");
	nr_cpus = libbpf_num_possible_cpus();
	if (nr_cpus > MAX_CPUS)
		errx(1, "too many CPUs");
	if (!strcmp(argv[1], "lead") && argc > 5)
		key_size = atoi(argv[5]);
	open_attr_map(argv[2], !strcmp(argv[1], "lead"));
	set_key(argv[3], argv[4]);
	if (!strcmp(argv[1], "lead"))
		lead(argv[2]);
	else if (!strcmp(argv[1], "attach"))
		attach();
	else
		follow(argc > 5 ? atoi(argv[5]) : 0);
	return 0;
}
