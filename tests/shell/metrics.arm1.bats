#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# Metrics of the emulated PMU, where a cycle is an instruction.

load helpers

@test "the events of a metric count at the same time, both plain and shared" {
	local out=$BATS_TEST_TMPDIR/out options
	for options in "" "--bpf-counters --bpf-attr-map $ATTR_MAP"; do
		# shellcheck disable=SC2086 # words
		perf stat $options -M IPC,CPI -x, --log-fd 4 "$WORKLOADS/spin" 1000000 4>"$out"
		# Plain counts are equal. Shared ones are read one after the other (measured: 33 instructions).
		within "$(field instructions 1 "$out")" "$(field cpu-cycles 1 "$out")" 0.1
		# The start and the end of the program, with the kernel's part (measured: 236,149 and 269,176)
		in_range "$(field instructions 1 "$out")" 2000000 2500000
		grep -q ',instructions,.*,1.00,IPC$' "$out"
		grep -qx ',,,,,1.00,CPI' "$out"
	done
}

@test "metrics that share a group are computed from the same counts" {
	# 7 counters are too few for three groups at a time, so their counts are estimates
	perf stat -M insn_per_cycle,IPC,frontend_cycles_idle,backend_cycles_idle,cycles_frequency -j --log-fd 4 \
		"$WORKLOADS/spin" 1000000 4>"$BATS_TEST_TMPDIR/out"
	jq -es '[.[] | select(."metric-unit" == "IPC" or ."metric-unit" == "instructions  insn_per_cycle") |
		."metric-value"] == ["1.000000", "1.000000"]' "$BATS_TEST_TMPDIR/out"
	# of a task that runs alone, where a cycle is a nanosecond
	jq -es '[.[] | select(."metric-unit" == "GHz  cycles_frequency") | ."metric-value" | tonumber |
		. > 0.97 and . < 1.03] == [true]' "$BATS_TEST_TMPDIR/out"
}
