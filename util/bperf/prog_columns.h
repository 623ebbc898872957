/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_BPERF_PROG_COLUMNS_H
#define PERF_BPERF_PROG_COLUMNS_H

/* Columns of a BPF program, one for each event: pure logic over memory that sessions share. */

#include "bpf_skel/leader_registry.h"
#include "bpf_skel/prog_pair.h"

#include <stdbool.h>

/** prog_columns__is_wanted() - whether an event is counted in a program: for a session that counts both */
bool prog_columns__is_wanted(const struct registry *reg, const struct reg_pair *pair, __u32 slot);

/**
 * prog_columns__update() - make a plan have the events that its users have
 * @is_foreign: whether an event may be another leader's on some CPU
 * @is_new: set when an event got a column
 *
 * They are those of @reg whose users and the users of @pair have a session in common. Columns stay where
 * they are.
 * Return: 0, or -ENOSPC: MAX_COLUMNS; all others are in order then.
 */
int prog_columns__update(const struct registry *reg, const struct reg_pair *pair,
			 struct prog_columns *plan, bool (*is_foreign)(void *ctx, int slot),
			 void *ctx, bool *is_new);

/** prog_columns__find() - the column of a slot's event; -1: it has none */
int prog_columns__find(const struct prog_columns *plan, __u32 slot);

#endif
