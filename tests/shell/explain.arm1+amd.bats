#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# --explain: which function of the kernel refuses an event, and the way to it.

load helpers

requirements() {
	require_root
}

# explains EVENT : what is said about an event alone
explains() {
	local status=0
	perf stat --explain -e "$1" true >"$BATS_TEST_TMPDIR/out" 2>&1 3>&- || status=$?
	cat "$BATS_TEST_TMPDIR/out"
	[ "$status" = 1 ]
	# the system call itself is the last of the way
	[[ "$(tail -n 1 "$BATS_TEST_TMPDIR/out")" = "	__"*"_sys_perf_event_open" ]]
}

came_from() {
	grep -q "$1" "$BATS_TEST_TMPDIR/out"
}

@test "the explanation of a missing tracepoint names the tracepoints' PMU" {
	explains 2:999999
	# which, on arm64, is a part of its caller
	came_from '^2:999999: EINVAL came from perf_\(tp_event_init\|event_alloc\)(), by way of$'
}

@test "the explanation of an unaligned breakpoint names the breakpoints' PMU" {
	[[ $PLACE != arm1 || $(uname -r) != 6.1.* ]] || skip "6.1 takes it on arm64"
	explains mem:0x1/8:rw
	came_from '^mem:0x1/8:rw: EINVAL came from .*breakpoint.*(), by way of$'
	came_from '^	hw_breakpoint_event_init$'
}

@test "the explanation of an event that no PMU has covers all refusals" {
	# where a PMU has cycles, software that there is not; and on arm64 parts of the way cannot be probed
	local event=cycles
	[ "$PLACE" = amd ] || event=1:99
	explains $event
	came_from "^$event: ENOENT came from perf_.*(), .*by way of$"
	[ "$PLACE" != amd ] || came_from ', as it had from all [0-9]* that it called, by way of$'
}

@test "events that are counted get no explanation" {
	perf stat --explain -x, -e dummy true >"$BATS_TEST_TMPDIR/out" 2>&1
	cat "$BATS_TEST_TMPDIR/out"
	[ "$(wc -l <"$BATS_TEST_TMPDIR/out")" = 1 ]
}

@test "perf reports in one line that it may not trace the kernel" {
	as_nobody perf stat --explain -x, -e dummy:u true >"$BATS_TEST_TMPDIR/out" 2>&1
	cat "$BATS_TEST_TMPDIR/out"
	[ "$(wc -l <"$BATS_TEST_TMPDIR/out")" = 2 ]
	came_from '^perf stat: --explain: /sys/kernel/tracing/available_filter_functions: Permission denied$'
}
