/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_HOST_BPF_INFO_H
#define PERF_HOST_BPF_INFO_H

/* Ids, information and memory of BPF links, maps and programs. */

#include <linux/bpf.h>
#include <stdbool.h>
#include <stddef.h>

/** bpf_info__link(), bpf_info__map(), bpf_info__prog() - what the kernel reports of an open object; 0 or -errno */
int bpf_info__link(int fd, struct bpf_link_info *info);
int bpf_info__map(int fd, struct bpf_map_info *info);
int bpf_info__prog(int fd, struct bpf_prog_info *info);

/** bpf_info__link_id(), bpf_info__map_id(), bpf_info__prog_id() - the id of an open object; 0 or -errno */
int bpf_info__link_id(int fd, __u32 *id);
int bpf_info__map_id(int fd, __u32 *id);
int bpf_info__prog_id(int fd, __u32 *id);

/**
 * bpf_info__is_link_alive(), bpf_info__is_map_alive() - whether an id still names an object
 *
 * They take no reference: two processes that ask must not keep a dead object alive for each other. An
 * error other than ENOENT, as EPERM, counts as alive. No link has the id 0.
 */
bool bpf_info__is_link_alive(__u32 id);
bool bpf_info__is_map_alive(__u32 id);

/**
 * bpf_info__new_map() - make an array of one 32-bit number, or a map of one such map
 * @inner_fd: an example of the map inside; -1: make an array
 *
 * libbpf first tries which features the kernel has, by loading two programs, in each process.
 * Return: a descriptor, owned by the caller, or -errno.
 */
int bpf_info__new_map(const char *name, int inner_fd);

/** bpf_info__map_memory() - map the memory of a BPF map; NULL with errno */
void *bpf_info__map_memory(int fd, size_t size, int prot);

/** bpf_info__page_up() - the size of an array's memory: the kernel rounds it up to pages */
size_t bpf_info__page_up(size_t size);

#endif
