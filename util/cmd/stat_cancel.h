/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_CMD_STAT_CANCEL_H
#define PERF_CMD_STAT_CANCEL_H

/* The options of perf stat that take other options back, such as --no-topdown. */

/**
 * stat_cancel__NAME() - undo the option of that name
 * @ctx: a struct stat_cmd
 */
void stat_cancel__merge(void *ctx);
void stat_cancel__topdown(void *ctx);
void stat_cancel__verbose(void *ctx);
void stat_cancel__smi_cost(void *ctx);
void stat_cancel__hybrid_merge(void *ctx);
void stat_cancel__all_user(void *ctx);
void stat_cancel__all_kernel(void *ctx);
void stat_cancel__interval(void *ctx);
void stat_cancel__separator(void *ctx);
void stat_cancel__cache(void *ctx);
void stat_cancel__iostat(void *ctx);
void stat_cancel__tpebs(void *ctx);

#endif
