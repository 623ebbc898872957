/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_BPERF_PROG_LOAD_H
#define PERF_BPERF_PROG_LOAD_H

/*
 * Loading BPF programs with few types, and with the parts that depend on the kernel. libbpf gets only those of the
 * kernel's types that our programs read. Calls that bpf_skel/leader_calls.h stands in for get the kernel's functions.
 */

struct bpf_object_open_opts;
struct kernel_btf;

/** prog_load__begin() - to be called before an object is opened; one that needs no type of the kernel needs no more */
void prog_load__begin(void);

/**
 * prog_load__types() - the kernel's types, read once for this process
 * @types: not owned, valid until this process ends
 *
 * Return: 0 or -errno, as kernel_btf__read().
 */
int prog_load__types(const struct kernel_btf **types);

/**
 * prog_load__set_types() - have an object take these types instead of all of the kernel's
 * @opts: of bpf_object__open_mem() and its like; it gets a string that is not owned, for good
 *
 * Return: as prog_load__types()
 */
int prog_load__set_types(struct bpf_object_open_opts *opts);

#endif
