/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_BPF_LEADER_CALLS_H
#define PERF_BPF_LEADER_CALLS_H

/*
 * Placeholders for parts that depend on the kernel: numbers of helpers that no kernel has, and the sections
 * of programs with such calls. util/bperf/prog_load.c replaces them.
 */
#define CALL_IRQ_SAVE	    0x7e000001
#define CALL_IRQ_RESTORE    0x7e000002
#define CALL_KERNEL_CONTEXT 0x7e000003

#define SECTION_TRACEPOINT "irq_raw_tp" /* raw tracepoints */
#define SECTION_KPROBE	   "irq_kprobe"
#define SECTION_WALK_TASK  "walk_task" /* iterators */
#define SECTION_WALK_GROUP "walk_cgroup"
#define SECTION_SAMPLE	   "sample_event" /* of perf events */

#endif
