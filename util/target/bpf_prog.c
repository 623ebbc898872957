// SPDX-License-Identifier: GPL-2.0
#include "util/target/bpf_prog.h"

#include "util/host/bpf_info.h"
#include "util/host/capability.h"
#include "util/host/prog_maps.h"
#include "util/lib/util.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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
	[32] = "netfilter", /* BPF_PROG_TYPE_NETFILTER, 6.4 */
};

const char *bpf_prog__type_name(const struct bpf_prog *prog, char buf[16])
{
	if (prog->type < ARRAY_SIZE(type_names) && type_names[prog->type])
		return type_names[prog->type];
	snprintf(buf, 16, "type %u", prog->type);
	return buf;
}

void bpf_prog__clear(struct bpf_prog *prog)
{
	close_fd(&prog->fd);
	free(prog->name);
	free(prog->map_ids);
	prog->name = NULL;
	prog->map_ids = NULL;
}

/* Read the name of the main function, which is the first of the function infos. */
static int read_func(struct bpf_prog *prog, const struct bpf_prog_info *info)
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

	prog->name = strndup(info->name, sizeof(info->name));
	if (!prog->name)
		return -ENOMEM;
	if (!info->btf_id || !info->nr_func_info || info->func_info_rec_size != sizeof(func) ||
	    bpf_obj_get_info_by_fd(prog->fd, &ask, &len))
		return 0;
	btf = btf__load_from_kernel_by_id(info->btf_id);
	/* The program has one all the same: a later look may succeed. */
	if (!btf && (errno == EMFILE || errno == ENFILE || errno == ENOMEM))
		return -errno;
	if (!btf)
		return 0;
	type = btf__type_by_id(btf, func.type_id);
	if (type && btf_is_func(type)) {
		char *name = strdup(btf__name_by_offset(btf, type->name_off));

		if (name) {
			free(prog->name);
			prog->name = name;
			prog->func_id = func.type_id;
			prog->btf_id = info->btf_id;
		}
	}
	btf__free(btf);
	return 0;
}

/*
 * Return: true for an array of shared events. An array that preserves its events after its creator has
 * closed it belongs to a leader, ours or foreign. Arrays for output need no such flag. Only these program
 * types can read events.
 */
static bool shares_events(__u32 type, const struct bpf_map_info *map)
{
	return map->map_flags & BPF_F_PRESERVE_ELEMS &&
	       (type == BPF_PROG_TYPE_TRACING || type == BPF_PROG_TYPE_RAW_TRACEPOINT ||
		type == BPF_PROG_TYPE_TRACEPOINT || type == BPF_PROG_TYPE_KPROBE ||
		type == BPF_PROG_TYPE_PERF_EVENT);
}

/*
 * Return: true for a probe on a BPF program. When the kernel attaches such a probe, it drops the BTF that
 * the probe was loaded for.
 */
static bool is_on_bpf(const struct bpf_prog_info *info)
{
	int fd __cleanup(close_fd) = -1;
	struct bpf_btf_info btf = {};
	__u32 len = sizeof(btf);

	if (info->type != BPF_PROG_TYPE_TRACING)
		return false;
	if (!info->attach_btf_obj_id)
		return true;
	fd = bpf_btf_get_fd_by_id(info->attach_btf_obj_id);
	return fd >= 0 && !bpf_obj_get_info_by_fd(fd, &btf, &len) && !btf.kernel_btf;
}

/* Look at the maps. A counting program has events, of a leader or of a profiler of BPF programs. */
static void look_at_maps(struct bpf_prog *prog, const struct bpf_prog_info *info)
{
	for (int i = 0; i < prog->nr_maps; i++) {
		int fd __cleanup(close_fd) = bpf_map_get_fd_by_id(prog->map_ids[i]);
		struct bpf_map_info map;

		if (fd < 0 || bpf_info__map(fd, &map))
			continue;
		prog->tail_calls |= map.type == BPF_MAP_TYPE_PROG_ARRAY;
		prog->is_counting |= map.type == BPF_MAP_TYPE_PERF_EVENT_ARRAY &&
				     (shares_events(info->type, &map) || is_on_bpf(info));
	}
}

/* Fill @prog. Takes ownership of @fd. */
static int from_fd(int fd, struct bpf_prog *prog)
{
	struct prog_maps maps = {};
	const struct bpf_prog_info *info = &maps.info;
	int err = prog_maps__read(&maps, fd);

	memset(prog, 0, sizeof(*prog));
	prog->fd = fd;
	prog->map_ids = maps.ids;
	prog->nr_maps = maps.nr;
	prog->id = info->id;
	prog->type = info->type;
	prog->is_jited = info->jited_prog_len;
	prog->run_cnt = info->run_cnt;
	memcpy(prog->tag, info->tag, sizeof(prog->tag));
	snprintf(prog->kernel_name, sizeof(prog->kernel_name), "%s", info->name);
	if (!err)
		err = read_func(prog, info);
	if (err)
		bpf_prog__clear(prog);
	else
		look_at_maps(prog, info);
	return err;
}

int bpf_prog__by_id(__u32 id, struct bpf_prog *out)
{
	int fd = bpf_prog_get_fd_by_id(id);

	return fd < 0 ? -errno : from_fd(fd, out);
}

/* Maps and links can also be pinned, and their infos have other fields in the same places. */
static bool is_prog(int fd)
{
	char *path __cleanup(free_ptr) = xasprintf("/proc/self/fd/%d", fd);
	char kind[32] = "";

	return path && readlink(path, kind, sizeof(kind) - 1) > 0 &&
	       !strcmp(kind, "anon_inode:bpf-prog");
}

int bpf_prog__by_path(const char *path, struct bpf_prog *out)
{
	int fd = bpf_obj_get(path);

	if (fd < 0)
		return -errno;
	if (!is_prog(fd)) {
		close(fd);
		return -EACCES; /* as the kernel returns for files other than pins */
	}
	return from_fd(fd, out);
}

/* Return: the verifier's last line before its statistics. */
static char *last_line(char *log)
{
	char *line, *save = NULL, *last = NULL;

	for (line = strtok_r(log, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		if (strncmp(line, "processed ", 10) && strncmp(line, "verification time", 17))
			last = line;
	}
	return last;
}

static char *explain(const struct bpf_prog *prog, int err, const char *word)
{
	char *lacks __cleanup(free_ptr) = capability__missing_to_share();
	char buf[16];

	if ((err == EPERM || err == EACCES) && !lacks)
		return strdup(
			"loading tracing programs is forbidden here, also to root (by a sandbox or security module)");
	if (err == EPERM || err == EACCES)
		return strdup(
			"not permitted: needs CAP_BPF, CAP_PERFMON and CAP_SYS_ADMIN (run as root)");
	if (word && strstr(word, "recursively attach"))
		return strdup(
			"it is a tracing program, which can be probed only on Linux 6.8 or later");
	if (word && strstr(word, "racing program"))
		return strdup("it is a tracing program on another tracing program");
	return xasprintf("the kernel refuses to trace this program of type %s: %s",
			 bpf_prog__type_name(prog, buf), word ? word : strerror(err));
}

char *bpf_prog__why_not(const struct bpf_prog *prog)
{
	/* return 0 */
	static const struct bpf_insn insns[] = {
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0},
		{.code = BPF_JMP | BPF_EXIT},
	};
	char log[4096] = "";
	LIBBPF_OPTS(bpf_prog_load_opts, opts, .expected_attach_type = BPF_TRACE_FEXIT,
		    .attach_prog_fd = prog->fd, .attach_btf_id = prog->func_id, .log_buf = log,
		    .log_size = sizeof(log), .log_level = 1);
	int fd, err;

	if (!prog->func_id)
		return strdup(
			"it has no BTF (compile it with -g, and load it with a loader that passes BTF on)");
	if (!prog->is_jited)
		return strdup(
			"it is interpreted: only compiled programs can be traced (net.core.bpf_jit_enable=1, and load it again)");
	fd = bpf_prog_load(BPF_PROG_TYPE_TRACING, "probe", "GPL", insns, ARRAY_SIZE(insns), &opts);
	if (fd >= 0) {
		close(fd);
		return NULL;
	}
	err = errno;
	return explain(prog, err, last_line(log));
}
