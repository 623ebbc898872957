// SPDX-License-Identifier: GPL-2.0
/*
 * hooks DIR TIMES NAME...: attach the programs of hooks.bpf.c or slow.bpf.c, which progload has pinned in DIR,
 * one after the other. Have the kernel run each TIMES times, and detach it. Print "NAME HITS" with the
 * program's own count, or why it cannot be attached. Bring the loopback up.
 */
#include "workload.h"
#include <arpa/inet.h>
#include <bpf/bpf.h>
#include <fcntl.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <linux/perf_event.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#define LOOPBACK 1 /* its interface's index */
#define CGROUP	 "/sys/fs/cgroup/perf_hooks"

/* The headers lack these constants. */
#define ATTACH_NETFILTER   45 /* BPF_NETFILTER, 6.4 */
#define ATTACH_TCX_INGRESS 46 /* BPF_TCX_INGRESS, 6.6 */
#define ATTACH_TCX_EGRESS  47 /* BPF_TCX_EGRESS, 6.6 */

/* The descriptors that a hook needs while it is driven; 0 for none. main() closes all of them. */
struct hook_state {
	int prog;
	int link;
	int fd, peer; /* sockets, perf events */
	int map;
	void *page;
};

static const struct sockaddr_in any_port = {
	.sin_family = AF_INET,
	.sin_addr.s_addr =
		0x0100007f /* 127.0.0.1 on little endians, as all of these machines are */
};

/* --- attaching: 0, or -1 and errno --- */

/*
 * Create a link. Uses a struct of its own, since the headers' union lacks some of the kinds.
 * @more: three numbers that only some kinds have; NULL: none
 */
static int link_to(struct hook_state *state, int target, int type, __u32 flags, const __u32 *more)
{
	struct {
		__u32 prog, target, type, flags, more[12];
	} attr = {state->prog, target, type, flags, {}};

	if (more)
		memcpy(attr.more, more, 3 * sizeof(*more));
	state->link = syscall(__NR_bpf, BPF_LINK_CREATE, &attr, sizeof(attr));
	return state->link < 0 ? -1 : 0;
}

static int bound_socket(int type)
{
	int fd = socket(AF_INET, type, 0), on = 1;

	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &on, sizeof(on)) ||
	    bind(fd, (const void *)&any_port, sizeof(any_port)))
		die("socket");
	return fd;
}

static int at_loopback(struct hook_state *state, int type)
{
	state->fd = bound_socket(SOCK_DGRAM);
	return link_to(state, LOOPBACK, type, type == BPF_XDP ? 2 /* XDP_FLAGS_SKB_MODE */ : 0,
		       NULL);
}

static int at_netfilter(struct hook_state *state, int type)
{
	static const __u32 ipv4_local_in[3] = {2, 1, 100};

	state->fd = bound_socket(SOCK_DGRAM);
	return link_to(state, 0, type, 0, ipv4_local_in);
}

static int at_namespace(struct hook_state *state, int type)
{
	int target = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC), err;

	state->fd = bound_socket(SOCK_DGRAM);
	err = link_to(state, target, type, 0, NULL);
	close(target);
	return err;
}

static void enter_cgroup(const char *path)
{
	char file[64];
	int fd;

	snprintf(file, sizeof(file), "%s/cgroup.procs", path);
	fd = open(file, O_WRONLY | O_CLOEXEC);
	if (fd < 0 || write(fd, "0", 1) != 1)
		die("%s", file);
	close(fd);
}

/* Attach to a new cgroup that has only this process. */
static int at_cgroup(struct hook_state *state, int type)
{
	int target, err;

	if (mkdir(CGROUP, 0755) && errno != EEXIST)
		die(CGROUP);
	enter_cgroup(CGROUP);
	state->fd = bound_socket(SOCK_DGRAM);
	target = open(CGROUP, O_RDONLY | O_CLOEXEC);
	err = link_to(state, target, type, 0, NULL);
	close(target);
	return err;
}

static int at_socket(struct hook_state *state, int option)
{
	state->fd = bound_socket(SOCK_DGRAM);
	return setsockopt(state->fd, SOL_SOCKET, option, &state->prog, sizeof(state->prog));
}

/* Make both ends of a TCP connection to this process. */
static void connection(int *one, int *other)
{
	int listener = bound_socket(SOCK_STREAM);
	struct sockaddr_in addr;
	socklen_t len = sizeof(addr);

	*one = socket(AF_INET, SOCK_STREAM, 0);
	if (listen(listener, 1) || getsockname(listener, (void *)&addr, &len) ||
	    connect(*one, (void *)&addr, len))
		die("connect");
	*other = accept(listener, NULL, NULL);
	close(listener);
}

/* Attach to a map of sockets that has the receiver or the sender. */
static int at_sockmap(struct hook_state *state, int type)
{
	__u32 key = 0;

	connection(&state->fd, &state->peer);
	state->map = bpf_map_create(BPF_MAP_TYPE_SOCKMAP, "sockets", 4, 4, 1, NULL);
	if (state->map < 0)
		die("sockmap");
	if (bpf_prog_attach(state->prog, state->map, type, 0))
		return -1;
	return bpf_map_update_elem(state->map, &key,
				   type == BPF_SK_MSG_VERDICT ? &state->fd : &state->peer, BPF_ANY);
}

/* Attach to the target that the program named when it was loaded. */
static int at_kernel(struct hook_state *state, int type)
{
	(void)type;
	state->link = bpf_raw_tracepoint_open(NULL, state->prog);
	return state->link < 0 ? -1 : 0;
}

static int at_task_rename(struct hook_state *state, int type)
{
	(void)type;
	state->link = bpf_raw_tracepoint_open("task_rename", state->prog);
	return state->link < 0 ? -1 : 0;
}

static int at_iterator(struct hook_state *state, int type)
{
	return link_to(state, 0, type, 0, NULL);
}

static int at_event(struct hook_state *state, struct perf_event_attr *attr)
{
	attr->size = sizeof(*attr);
	state->fd = syscall(__NR_perf_event_open, attr, attr->type == PERF_TYPE_SOFTWARE ? 0 : -1,
			    attr->type == PERF_TYPE_SOFTWARE ? -1 : 0, -1, PERF_FLAG_FD_CLOEXEC);
	return state->fd < 0 || ioctl(state->fd, PERF_EVENT_IOC_SET_BPF, state->prog) ||
			       ioctl(state->fd, PERF_EVENT_IOC_ENABLE) ?
		       -1 :
		       0;
}

static int at_page_faults(struct hook_state *state, int type)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_PAGE_FAULTS,
		.sample_period = 1,
	};

	(void)type;
	state->page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return at_event(state, &attr);
}

static unsigned long number_in(const char *path)
{
	FILE *file = fopen(path, "re");
	unsigned long value;

	if (!file || fscanf(file, "%lu", &value) != 1)
		die("%s", path);
	fclose(file);
	return value;
}

static int at_tracepoint(struct hook_state *state, int type)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_TRACEPOINT,
		.config = number_in("/sys/kernel/tracing/events/syscalls/sys_enter_socketpair/id"),
		.sample_period = 1,
	};

	(void)type;
	return at_event(state, &attr);
}

static int at_function(struct hook_state *state, int returns)
{
	struct perf_event_attr attr = {
		.type = number_in("/sys/bus/event_source/devices/kprobe/type"),
		.config = returns,
		.config1 = (unsigned long)"security_socket_socketpair",
		.sample_period = 1,
	};

	return at_event(state, &attr);
}

__attribute__((noinline)) static void probed(void)
{
	asm volatile("nop" ::: "memory");
}

/* Return: the offset of a function in our executable file. */
static unsigned long offset_of(unsigned long function)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	unsigned long begin, end, offset;
	char line[512];

	while (maps && fgets(line, sizeof(line), maps)) {
		if (sscanf(line, "%lx-%lx %*s %lx", &begin, &end, &offset) == 3 &&
		    function >= begin && function < end) {
			fclose(maps);
			return function - begin + offset;
		}
	}
	die("no such function");
}

static int at_our_function(struct hook_state *state, int type)
{
	struct perf_event_attr attr = {
		.type = number_in("/sys/bus/event_source/devices/uprobe/type"),
		.config1 = (unsigned long)"/proc/self/exe",
		.config2 = offset_of((unsigned long)probed),
		.sample_period = 1,
	};

	(void)type;
	return at_event(state, &attr);
}

/* --- driving: once --- */

static void packet(struct hook_state *state)
{
	struct sockaddr_in addr;
	socklen_t len = sizeof(addr);
	char byte = 0;

	if (getsockname(state->fd, (void *)&addr, &len) ||
	    sendto(state->fd, &byte, 1, 0, (void *)&addr, len) != 1 ||
	    recv(state->fd, &byte, 1, 0) != 1)
		die("packet");
}

static void raw_packet(struct hook_state *state)
{
	struct sockaddr_ll addr = {.sll_family = AF_PACKET, .sll_ifindex = LOOPBACK};
	char frame[64] = {[12] = ETH_P_IP >> 8, [13] = ETH_P_IP & 255};
	int fd = socket(AF_PACKET, SOCK_RAW, 0);

	(void)state;
	if (fd < 0 || sendto(fd, frame, sizeof(frame), 0, (void *)&addr, sizeof(addr)) < 0)
		die("frame");
	close(fd);
}

static void make_socket(struct hook_state *state)
{
	(void)state;
	close(socket(AF_INET, SOCK_DGRAM, 0));
}

static void make_pair(struct hook_state *state)
{
	int pair[2];

	(void)state;
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair))
		die("socketpair");
	close(pair[0]);
	close(pair[1]);
}

static void connect_socket(struct hook_state *state)
{
	struct sockaddr_in addr = any_port;

	addr.sin_port = htons(9);
	if (connect(state->fd, (void *)&addr, sizeof(addr)))
		die("connect");
}

static void connect_pair(struct hook_state *state)
{
	int one, other;

	(void)state;
	connection(&one, &other);
	close(one);
	close(other);
}

static void set_option(struct hook_state *state)
{
	int size = 4096;

	if (setsockopt(state->fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof(size)))
		die("option");
}

static void read_file(const char *path)
{
	char text[64];
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || read(fd, text, sizeof(text)) < 0)
		die("%s", path);
	close(fd);
}

static void read_sysctl(struct hook_state *state)
{
	(void)state;
	read_file("/proc/sys/kernel/ostype");
}

static void open_device(struct hook_state *state)
{
	(void)state;
	read_file("/dev/null");
}

static void message(struct hook_state *state)
{
	char byte = 0;

	if (send(state->fd, &byte, 1, 0) != 1 || recv(state->peer, &byte, 1, 0) != 1)
		die("message");
}

static void rename_task(struct hook_state *state)
{
	(void)state;
	prctl(PR_SET_NAME, "hooks");
}

static void touch_page(struct hook_state *state)
{
	madvise(state->page, 4096, MADV_DONTNEED);
	*(volatile char *)state->page = 1;
}

static void call_probed(struct hook_state *state)
{
	(void)state;
	probed();
}

static void walk(struct hook_state *state)
{
	int fd = bpf_iter_create(state->link);
	char text[64];

	if (fd < 0 || read(fd, text, sizeof(text)) != 0)
		die("iterator");
	close(fd);
}

/* --- the hooks --- */

static const struct hook {
	const char *name;
	int (*attach)(struct hook_state *state, int arg);
	int arg;
	void (*drive)(struct hook_state *state);
} hooks[] = {
	{"xdp", at_loopback, BPF_XDP, packet},
	{"tcx", at_loopback, ATTACH_TCX_INGRESS, packet},
	{"recursion", at_loopback, ATTACH_TCX_EGRESS, packet},
	{"netfilter", at_netfilter, ATTACH_NETFILTER, packet},
	{"ingress", at_cgroup, BPF_CGROUP_INET_INGRESS, packet},
	{"egress", at_cgroup, BPF_CGROUP_INET_EGRESS, packet},
	{"sock_create", at_cgroup, BPF_CGROUP_INET_SOCK_CREATE, make_socket},
	{"connect4", at_cgroup, BPF_CGROUP_INET4_CONNECT, connect_socket},
	{"setsockopt", at_cgroup, BPF_CGROUP_SETSOCKOPT, set_option},
	{"sysctl", at_cgroup, BPF_CGROUP_SYSCTL, read_sysctl},
	{"device", at_cgroup, BPF_CGROUP_DEVICE, open_device},
	{"sock_ops", at_cgroup, BPF_CGROUP_SOCK_OPS, connect_pair},
	{"filter", at_socket, SO_ATTACH_BPF, packet},
	{"sk_lookup", at_namespace, BPF_SK_LOOKUP, packet},
	{"reuseport", at_socket, SO_ATTACH_REUSEPORT_EBPF, packet},
	{"dissector", at_namespace, BPF_FLOW_DISSECTOR, raw_packet},
	{"sk_msg", at_sockmap, BPF_SK_MSG_VERDICT, message},
	{"sk_skb", at_sockmap, BPF_SK_SKB_STREAM_VERDICT, message},
	{"raw_tp", at_task_rename, 0, rename_task},
	{"tp", at_tracepoint, 0, make_pair},
	{"kprobe", at_function, 0, make_pair},
	/* of slow.bpf.c */
	{"slow_tp", at_tracepoint, 0, make_pair},
	{"slow_kprobe", at_function, 0, make_pair},
	{"kretprobe", at_function, 1, make_pair},
	{"uprobe", at_our_function, 0, call_probed},
	{"perf_event", at_page_faults, 0, touch_page},
	{"lsm", at_kernel, 0, make_pair},
	{"lsm_sleepable", at_kernel, 0, make_pair},
	{"lsm_cgroup", at_cgroup, BPF_LSM_CGROUP, make_pair},
	{"tp_btf", at_kernel, 0, rename_task},
	{"fentry", at_kernel, 0, make_pair},
	{"fexit", at_kernel, 0, make_pair},
	{"fmod_ret", at_kernel, 0, make_pair},
	{"iter", at_iterator, BPF_TRACE_ITER, walk},
};

static void drive(const char *dir, const struct hook *hook, unsigned long times)
{
	struct hook_state state = {};
	__u32 zero = 0;
	__u64 before, hits;
	char path[256];
	int map, err;

	snprintf(path, sizeof(path), "%s/hook_%s_hits", dir, hook->name);
	map = bpf_obj_get(path);
	path[strlen(path) - strlen("_hits")] = 0;
	state.prog = bpf_obj_get(path);
	if (state.prog < 0 || map < 0 || bpf_map_lookup_elem(map, &zero, &before))
		die("%s", path);
	err = hook->attach(&state, hook->arg) ? errno : 0;
	for (unsigned long i = 0; i < times && !err; i++)
		hook->drive(&state);
	/* Close everything, lest one hook see the actions of another. */
	close_range(map + 1, ~0U, 0);
	if (state.page)
		munmap(state.page, 4096);
	if (hook->attach == at_cgroup) {
		enter_cgroup("/sys/fs/cgroup");
		rmdir(CGROUP);
	}
	if (err)
		printf("%s cannot be attached: %s\n", hook->name, strerror(err));
	else if (!bpf_map_lookup_elem(map, &zero, &hits))
		printf("%s %llu\n", hook->name, hits - before);
	close(map);
}

static const struct hook *find(const char *name)
{
	for (size_t i = 0; i < sizeof(hooks) / sizeof(hooks[0]); i++) {
		if (!strcmp(hooks[i].name, name))
			return &hooks[i];
	}
	errno = 0;
	die("no such hook: %s", name);
}

static void bring_loopback_up(void)
{
	struct ifreq lo = {.ifr_name = "lo", .ifr_flags = IFF_UP};
	int fd = socket(AF_INET, SOCK_DGRAM, 0);

	if (fd < 0 || ioctl(fd, SIOCSIFFLAGS, &lo))
		die("lo");
	close(fd);
}

int main(int argc, char **argv)
{
	usage_unless(argc > 3, "DIR TIMES NAME...");
	bring_loopback_up();
	for (int i = 3; i < argc; i++)
		drive(argv[1], find(argv[i]), number(argc, argv, 2, 1));
	return 0;
}
