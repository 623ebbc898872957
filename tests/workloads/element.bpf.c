// SPDX-License-Identifier: GPL-2.0
/* The program of leader_words: where an element of an array is in the kernel's memory. */
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

char LICENSE[] SEC("license") = "GPL";

/* Any size, set before load: the array in question takes its place. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__type(key, __u32);
	__type(value, __u64);
	__uint(max_entries, 1);
} array SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__type(key, __u32);
	__type(value, __u64);
	__uint(max_entries, 1);
} address SEC(".maps");

SEC("raw_tp")
int find_element(void *ctx)
{
	__u32 zero = 0;
	void *element = bpf_map_lookup_elem(&array, &zero);
	__u64 *found = bpf_map_lookup_elem(&address, &zero);

	if (element && found)
		*found = (__u64)element;
	return 0;
}
