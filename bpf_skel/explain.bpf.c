// SPDX-License-Identifier: GPL-2.0
/*
 * --explain: where in the kernel an error came up. Of one thread's system calls every call and
 * return of chosen functions is followed on a stack of our own:
 *
 *	a function returns an error, and none that it called had returned that: here it came up
 *	one had: it was passed on, the place is the one before
 *	several had: the function asked one after the other, and this is its own verdict
 *
 * The verdict of the outermost function, the system call itself, is kept by its error.
 */
#include <linux/bpf.h>
#include <stdbool.h>

#include <bpf/bpf_helpers.h>

#include "explain.h"

char LICENSE[] SEC("license") = "GPL";

#define MAX_ERRNO 4095
#define MAX_ROOTS 2
/* A probe may stand behind the landing pad with which functions begin. */
#define MAX_PAD 16

const volatile __u32 tid = 1;
const volatile __u64 roots[MAX_ROOTS] = {};	/* the system calls' functions; 0: none */
const volatile bool is_x86 = false;		/* else arm64 */

/* errno -> how the last call that returned it came to. Written by on_return, read by user space. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__type(key, __u32);
	__type(value, struct explain_call);
	__uint(max_entries, EXPLAIN_ERRORS);
} calls SEC(".maps");

struct seen {
	__u32 err;
	__u32 nr;		/* functions at this depth that returned it to the same caller */
};

/* Of the one thread. */
static __u64 stack[EXPLAIN_DEPTH];
static struct seen seen[EXPLAIN_DEPTH + 1];
static struct explain_call place;
static __u32 depth;

static __always_inline bool is_ours(void)
{
	return (__u32)bpf_get_current_pid_tgid() == tid;
}

static __always_inline bool is_root(__u64 ip)
{
	for (int i = 0; i < MAX_ROOTS; i++) {
		if (roots[i] && ip - roots[i] < MAX_PAD)
			return true;
	}
	return false;
}

/* For the verifier, which loses a bound when the compiler makes an address before it compares. */
static __always_inline __u32 bounded(__u32 d)
{
	asm volatile("" : "+r"(d));
	return d & (EXPLAIN_DEPTH - 1);
}

static __always_inline int enter(void *ctx)
{
	__u64 ip;
	__u32 d = depth;

	if (!is_ours())
		return 0;
	ip = bpf_get_func_ip(ctx);
	if (is_root(ip))
		d = 0;
	else if (!d)
		return 0;
	if (d >= EXPLAIN_DEPTH)
		return 0;
	d = bounded(d);
	stack[d] = ip;
	seen[d + 1].nr = 0;
	if (!d)
		seen[0].nr = 0;
	depth = d + 1;
	return 0;
}

/* The topmost entry of this function; those above missed their return. EXPLAIN_DEPTH: none. */
static __always_inline __u32 find(__u64 ip)
{
	__u32 d = depth;

	for (int i = 0; i < EXPLAIN_DEPTH; i++) {
		if (!d)
			break;
		d--;
		if (stack[d & (EXPLAIN_DEPTH - 1)] == ip)
			return d;
	}
	return EXPLAIN_DEPTH;
}

/* In C both loads would become one, of an address that the verifier does not take for the context. */
static __always_inline __u64 result(void *ctx)
{
	__u64 ret;

	if (is_x86)
		asm volatile("%0 = *(u64 *)(%1 + 80)" : "=r"(ret) : "r"(ctx));	/* ax of pt_regs */
	else
		asm volatile("%0 = *(u64 *)(%1 + 0)" : "=r"(ret) : "r"(ctx));	/* regs[0] */
	return ret;
}

static __always_inline int leave(void *ctx)
{
	__u64 ret, high;
	__u32 d, err, nr;

	if (!is_ours() || !depth)
		return 0;
	d = find(bpf_get_func_ip(ctx));
	if (d >= EXPLAIN_DEPTH)
		return 0;
	d = bounded(d);
	depth = d;
	ret = result(ctx);
	/* An int has nothing above it, or its sign; a pointer that is no error has an address. */
	high = ret >> 32;
	err = -(__u32)ret;
	if ((high && high != 0xffffffff) || !err || err > MAX_ERRNO)
		return 0;
	nr = seen[d + 1].err == err ? seen[d + 1].nr : 0;
	if (nr != 1) {
		__builtin_memcpy(place.stack, stack, sizeof(stack));
		place.depth = d + 1;
		place.tried = nr;
	}
	nr = seen[d].err == err ? seen[d].nr : 0;
	seen[d].err = err;
	seen[d].nr = nr + 1;
	if (!d)
		bpf_map_update_elem(&calls, &err, &place, BPF_ANY);
	return 0;
}

/* Thousands of functions at once (5.18, where functions can be traced so) ... */
SEC("?kprobe.multi")
int on_call(void *ctx)
{
	return enter(ctx);
}

SEC("?kretprobe.multi")
int on_return(void *ctx)
{
	return leave(ctx);
}

/* ... or one by one. */
SEC("?kprobe")
int on_call_one(void *ctx)
{
	return enter(ctx);
}

SEC("?kretprobe")
int on_return_one(void *ctx)
{
	return leave(ctx);
}
