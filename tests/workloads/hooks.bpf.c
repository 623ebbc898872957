// SPDX-License-Identifier: GPL-2.0
/*
 * One program for each way to attach one, to be counted where the kernel itself runs it. hooks.c loads,
 * attaches and drives them. Each program counts its executions, in a subprogram.
 */
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

char LICENSE[] SEC("license") = "GPL";

/* Each program has a map of its own, because progload loads each alone. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__type(key, __u32);
	__type(value, __u64);
	__uint(max_entries, 1);
} hits SEC(".maps");

static __attribute__((noinline)) int hit(int result)
{
	__u32 zero = 0;
	__u64 *nr = bpf_map_lookup_elem(&hits, &zero);

	if (nr)
		__sync_fetch_and_add(nr, 1);
	return result;
}

/* @result: the one that changes nothing */
#define HOOK(name, section, result)                                                                \
	SEC(section)                                                                               \
	int hook_##name(void *ctx)                                                                 \
	{                                                                                          \
		return hit(result);                                                                \
	}

HOOK(xdp, "xdp", XDP_PASS)
HOOK(tcx, "tc", -1)
HOOK(netfilter, "netfilter", 1)
HOOK(ingress, "cgroup_skb/ingress", 1)
HOOK(egress, "cgroup_skb/egress", 1)
HOOK(sock_create, "cgroup/sock_create", 1)
HOOK(connect4, "cgroup/connect4", 1)
HOOK(setsockopt, "cgroup/setsockopt", 1)
HOOK(sysctl, "cgroup/sysctl", 1)
HOOK(device, "cgroup/dev", 1)
HOOK(sock_ops, "sockops", 1)
HOOK(filter, "socket", 65535)
HOOK(sk_lookup, "sk_lookup", SK_PASS)
HOOK(reuseport, "sk_reuseport", SK_PASS)
HOOK(dissector, "flow_dissector", BPF_OK)
HOOK(sk_msg, "sk_msg", SK_PASS)
HOOK(sk_skb, "sk_skb/stream_verdict", SK_PASS)
HOOK(raw_tp, "raw_tp/task_rename", 0)
HOOK(tp, "tracepoint/syscalls/sys_enter_socketpair", 0)
HOOK(kprobe, "kprobe/security_socket_socketpair", 0)
HOOK(kretprobe, "kretprobe/security_socket_socketpair", 0)
HOOK(uprobe, "uprobe", 0)
HOOK(perf_event, "perf_event", 0)
HOOK(lsm, "lsm/socket_socketpair", 0)
HOOK(lsm_sleepable, "lsm.s/socket_socketpair", 0)
HOOK(lsm_cgroup, "lsm_cgroup/socket_socketpair", 1)
HOOK(tp_btf, "tp_btf/task_rename", 0)
HOOK(fentry, "fentry/security_socket_socketpair", 0)
HOOK(fexit, "fexit/security_socket_socketpair", 0)
HOOK(fmod_ret, "fmod_ret/security_socket_socketpair", 0)
HOOK(iter, "iter/task", 0)

/* Send each packet once more, which runs this program again before it ends: four nested executions. */
SEC("tc")
int hook_recursion(struct __sk_buff *skb)
{
	if (skb->mark < 3) {
		skb->mark++;
		bpf_clone_redirect(skb, skb->ifindex, 0);
	}
	return hit(-1);
}
