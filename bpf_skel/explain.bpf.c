// SPDX-License-Identifier: GPL-2.0
/*
 * --explain: finding the kernel function behind an error of a system call.
 *
 * The programs follow each call and return of chosen functions, in the system calls of one thread,
 * on a stack of their own. When a function returns an error, the number of functions that it
 * called and that returned the same error decides:
 *
 *	none: the error came up here.
 *	one: the function passed the error on, and the place stays the same.
 *	several: the function tried one after the other, and this is its own verdict.
 *
 * A map keeps the verdict on the outermost function, the system call itself, by the error.
 */
#include <linux/bpf.h>
#include <stdbool.h>

#include <bpf/bpf_helpers.h>

#include "explain.h"

char LICENSE[] SEC("license") = "GPL";

#define MAX_ERRNO 4095
#define MAX_ROOTS 2
/* A probe may follow the landing pad at the start of a function. */
#define MAX_PAD 16

const volatile __u32 tid = 1;
const volatile __u64 roots[MAX_ROOTS] = {}; /* functions of the system calls; 0: none */
const volatile bool is_x86 = false;	    /* otherwise arm64 */

/* errno -> path of the last call that returned it. on_return writes it, user space reads it. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__type(key, __u32);
	__type(value, struct explain_call);
	__uint(max_entries, EXPLAIN_ERRORS);
} calls SEC(".maps");

struct seen {
	__u32 err;
	__u32 nr; /* functions at this depth that returned it to the same caller */
};

/* The state of the one thread. */
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

/* Bound a depth for the verifier: it loses a bound if the compiler computes the address first. */
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

/*
 * Return: the topmost entry of this function; entries above missed their return. EXPLAIN_DEPTH:
 * none.
 */
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

/*
 * Return: the result of the function. In C both loads would become one, of an address that the
 * verifier does not accept as the context.
 */
static __always_inline __u64 result(void *ctx)
{
	__u64 ret;

	if (is_x86)
		asm volatile("%0 = *(u64 *)(%1 + 80)" : "=r"(ret) : "r"(ctx)); /* ax of pt_regs */
	else
		asm volatile("%0 = *(u64 *)(%1 + 0)" : "=r"(ret) : "r"(ctx)); /* regs[0] */
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
	/*
	 * The upper half of an int is 0 or its sign; that of a valid pointer is part of an
	 * address.
	 */
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
	/* Without memory for it, perf explains the error without a call path. */
	if (!d)
		(void)bpf_map_update_elem(&calls, &err, &place, BPF_ANY);
	return 0;
}

/* Thousands of functions at once (since Linux 5.18, if the kernel has fprobe) ... */
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
