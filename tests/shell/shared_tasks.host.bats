#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# Shared counting of tasks with many sessions, threads or sets: on a real machine, with software events. A
# host may hide some switches from BPF programs: the witness shows by how much counts can be short.

load helpers
load kept

requirements() {
	require_root
	require_tracepoints
}

@test "hundreds of short sessions beside a long one leave nothing, and the long one is right" {
	local missing extra nr=250
	[ -z "${FULL:-}" ] || nr=1000
	begin_witness
	gang 2 1000 20
	short_runs $nr page-faults
	missing=$(missed events comm gang) extra=$(excess events comm gang)
	same long 0 page-faults 1000
}

@test "no CPU is interrupted to count a task that sleeps, and one is for a task that runs" {
	local sleeps spins
	background "$T/sleeps" "$WORKLOADS/waiter"
	sleeps=$!
	wait_for has_text ready "$T/sleeps"
	wait_for grep -q '^State:.S' "/proc/$sleeps/status"
	PERF_TEST_KILL_AT=synced shared -e page-faults -p "$sleeps" true 2>"$T/sleeps.err"
	background "$T/spins" "$WORKLOADS/spinfor" 1000
	spins=$!
	# Another process may have the CPU at that moment.
	wait_for killed_at synced shared -e page-faults -p "$spins" true
}
