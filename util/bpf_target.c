// SPDX-License-Identifier: GPL-2.0
#include "bpf_target.h"

#include "capability.h"
#include "util.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const type_names[] = {
	[BPF_PROG_TYPE_SOCKET_FILTER] = "socket_filter",
	[BPF_PROG_TYPE_KPROBE] = "kprobe",
	[BPF_PROG_TYPE_SCHED_CLS] = "sched_cls",
	[BPF_PROG_TYPE_SCHED_ACT] = "sched_act",
	[BPF_PROG_TYPE_TRACEPOINT] = "tracepoint",
	[BPF_PROG_TYPE_XDP] = "xdp",
	[BPF_PROG_TYPE_PERF_EVENT] = "perf_event",
	[BPF_PROG_TYPE_CGROUP_SKB] = "cgroup_skb",
	[BPF_PROG_TYPE_CGROUP_SOCK] = "cgroup_sock",
	[BPF_PROG_TYPE_LWT_IN] = "lwt_in",
	[BPF_PROG_TYPE_LWT_OUT] = "lwt_out",
	[BPF_PROG_TYPE_LWT_XMIT] = "lwt_xmit",
	[BPF_PROG_TYPE_SOCK_OPS] = "sock_ops",
	[BPF_PROG_TYPE_SK_SKB] = "sk_skb",
	[BPF_PROG_TYPE_CGROUP_DEVICE] = "cgroup_device",
	[BPF_PROG_TYPE_SK_MSG] = "sk_msg",
	[BPF_PROG_TYPE_RAW_TRACEPOINT] = "raw_tracepoint",
	[BPF_PROG_TYPE_CGROUP_SOCK_ADDR] = "cgroup_sock_addr",
	[BPF_PROG_TYPE_LWT_SEG6LOCAL] = "lwt_seg6local",
	[BPF_PROG_TYPE_LIRC_MODE2] = "lirc_mode2",
	[BPF_PROG_TYPE_SK_REUSEPORT] = "sk_reuseport",
	[BPF_PROG_TYPE_FLOW_DISSECTOR] = "flow_dissector",
	[BPF_PROG_TYPE_CGROUP_SYSCTL] = "cgroup_sysctl",
	[BPF_PROG_TYPE_RAW_TRACEPOINT_WRITABLE] = "raw_tracepoint_writable",
	[BPF_PROG_TYPE_CGROUP_SOCKOPT] = "cgroup_sockopt",
	[BPF_PROG_TYPE_TRACING] = "tracing",
	[BPF_PROG_TYPE_STRUCT_OPS] = "struct_ops",
	[BPF_PROG_TYPE_EXT] = "ext",
	[BPF_PROG_TYPE_LSM] = "lsm",
	[BPF_PROG_TYPE_SK_LOOKUP] = "sk_lookup",
	[BPF_PROG_TYPE_SYSCALL] = "syscall",
	[32] = "netfilter",		/* BPF_PROG_TYPE_NETFILTER, 6.4 */
};

const char *bpf_target__type_name(const struct bpf_target *target, char buf[16])
{
	if (target->type < ARRAY_SIZE(type_names) && type_names[target->type])
		return type_names[target->type];
	snprintf(buf, 16, "type %u", target->type);
	return buf;
}

void bpf_target__clear(struct bpf_target *target)
{
	close_fd(&target->fd);
	free(target->name);
	free(target->map_ids);
	target->name = NULL;
	target->map_ids = NULL;
}

/* The main function is the first that its function infos name. */
static int read_func(struct bpf_target *target, const struct bpf_prog_info *info)
{
	struct bpf_func_info func = {};
	struct bpf_prog_info ask = {
		.nr_func_info = 1,
		.func_info_rec_size = sizeof(func),
		.func_info = (uintptr_t)&func,
	};
	const struct btf_type *type;
	struct btf *btf;
	__u32 len = sizeof(ask);

	target->name = strndup(info->name, sizeof(info->name));
	if (!target->name)
		return -ENOMEM;
	if (!info->btf_id || !info->nr_func_info ||
	    info->func_info_rec_size != sizeof(func) ||
	    bpf_obj_get_info_by_fd(target->fd, &ask, &len))
		return 0;
	btf = btf__load_from_kernel_by_id(info->btf_id);
	if (!btf)
		return 0;
	type = btf__type_by_id(btf, func.type_id);
	if (type && btf_is_func(type)) {
		char *name = strdup(btf__name_by_offset(btf, type->name_off));

		if (name) {
			free(target->name);
			target->name = name;
			target->func_id = func.type_id;
			target->btf_id = info->btf_id;
		}
	}
	btf__free(btf);
	return 0;
}

/* Programs of other tools for counting: by what they are called, or, when others might be, have. */
static bool is_of_counting_tool(const struct bpf_target *target, bool has_events)
{
	return !strcmp(target->name, "fexit_XXX") || !strcmp(target->name, "fentry_XXX") ||
	       (has_events && !strcmp(target->name, "on_switch"));
}

/* A look at the maps of a program: those of ours have the registry or the counts of a pair there. */
static void read_maps(struct bpf_target *target, __u32 nr)
{
	__u32 *ids = target->map_ids = calloc(nr ? nr : 1, sizeof(*ids));
	struct bpf_prog_info ask = { .nr_map_ids = nr, .map_ids = (uintptr_t)ids };
	__u32 len = sizeof(ask);
	bool has_events = false;

	if (!ids || !nr || bpf_obj_get_info_by_fd(target->fd, &ask, &len))
		nr = 0;
	target->nr_maps = nr < ask.nr_map_ids ? nr : ask.nr_map_ids;
	for (int i = 0; i < target->nr_maps; i++) {
		int fd __cleanup(close_fd) = bpf_map_get_fd_by_id(ids[i]);
		struct bpf_map_info map = {};

		len = sizeof(map);
		if (fd < 0 || bpf_obj_get_info_by_fd(fd, &map, &len))
			continue;
		target->tail_calls |= map.type == BPF_MAP_TYPE_PROG_ARRAY;
		has_events |= map.type == BPF_MAP_TYPE_PERF_EVENT_ARRAY;
		target->is_counting |= map.type == BPF_MAP_TYPE_ARRAY &&
				       (!strcmp(map.name, "registry") || !strcmp(map.name, "prog_cpus"));
	}
	target->is_counting |= is_of_counting_tool(target, has_events);
}

/* Takes over @fd. */
static int from_fd(int fd, struct bpf_target *target)
{
	struct bpf_prog_info info = {};
	__u32 len = sizeof(info);
	int err;

	memset(target, 0, sizeof(*target));
	target->fd = fd;
	if (bpf_obj_get_info_by_fd(fd, &info, &len)) {
		err = -errno;
		bpf_target__clear(target);
		return err;
	}
	target->id = info.id;
	target->type = info.type;
	target->is_jited = info.jited_prog_len;
	target->run_cnt = info.run_cnt;
	memcpy(target->tag, info.tag, sizeof(target->tag));
	snprintf(target->kernel_name, sizeof(target->kernel_name), "%s", info.name);
	err = read_func(target, &info);
	if (err) {
		bpf_target__clear(target);
		return err;
	}
	read_maps(target, info.nr_map_ids);
	return 0;
}

int bpf_target__by_id(__u32 id, struct bpf_target *out)
{
	int fd = bpf_prog_get_fd_by_id(id);

	return fd < 0 ? -errno : from_fd(fd, out);
}

int bpf_target__by_path(const char *path, struct bpf_target *out)
{
	int fd = bpf_obj_get(path);

	return fd < 0 ? -errno : from_fd(fd, out);
}

/* The verifier's last word before its statistics. */
static char *last_line(char *log)
{
	char *line, *save = NULL, *last = NULL;

	for (line = strtok_r(log, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		if (strncmp(line, "processed ", 10) && strncmp(line, "verification time", 17))
			last = line;
	}
	return last;
}

static char *explain(const struct bpf_target *target, int err, const char *word)
{
	char *lacks __cleanup(free_ptr) = capability__missing_to_share();
	char buf[16];

	if ((err == EPERM || err == EACCES) && !lacks)
		return strdup("loading tracing programs is forbidden here, to root, too (by a sandbox or security module)");
	if (err == EPERM || err == EACCES)
		return strdup("not permitted: needs CAP_BPF, CAP_PERFMON and CAP_SYS_ADMIN (run as root)");
	if (word && strstr(word, "recursively attach"))
		return strdup("it is a tracing program: to put probes on those takes Linux 6.8 or later");
	if (word && strstr(word, "racing program"))
		return strdup("it is a tracing program that is attached to a tracing program itself");
	return xasprintf("the kernel refuses to trace this program of type %s: %s",
			 bpf_target__type_name(target, buf), word ? word : strerror(err));
}

char *bpf_target__why_not(const struct bpf_target *target)
{
	/* return 0 */
	static const struct bpf_insn insns[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	char log[4096] = "";
	LIBBPF_OPTS(bpf_prog_load_opts, opts, .expected_attach_type = BPF_TRACE_FEXIT,
		    .attach_prog_fd = target->fd, .attach_btf_id = target->func_id,
		    .log_buf = log, .log_size = sizeof(log), .log_level = 1);
	int fd, err;

	if (!target->func_id)
		return strdup("it has no BTF (compile it with -g, and load it with a loader that passes BTF on)");
	if (!target->is_jited)
		return strdup("it is interpreted: only compiled programs can be traced (net.core.bpf_jit_enable=1, and load it again)");
	fd = bpf_prog_load(BPF_PROG_TYPE_TRACING, "probe", "GPL", insns, ARRAY_SIZE(insns), &opts);
	if (fd >= 0) {
		close(fd);
		return NULL;
	}
	err = errno;
	return explain(target, err, last_line(log));
}
