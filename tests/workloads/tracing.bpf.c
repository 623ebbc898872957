// SPDX-License-Identifier: GPL-2.0
/* Programs that hang on functions of the kernel. Tracing ones cannot be loaded, or counted, everywhere. */
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

char LICENSE[] SEC("license") = "GPL";

/* How often each has run, as it counts itself. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__type(key, __u32);
	__type(value, __u64);
	__uint(max_entries, 3);
} traced SEC(".maps");

static __attribute__((always_inline)) void see(__u32 which)
{
	__u64 *nr = bpf_map_lookup_elem(&traced, &which);

	if (nr)
		__sync_fetch_and_add(nr, 1);
}

SEC("kprobe/do_nanosleep")
int target_kprobe(void *ctx)
{
	see(2);
	return 0;
}

SEC("tp_btf/task_rename")
int target_tp_btf(void *ctx)
{
	see(0);
	return 0;
}

SEC("fentry/do_nanosleep")
int target_fentry(void *ctx)
{
	see(1);
	return 0;
}
