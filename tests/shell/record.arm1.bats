#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# perf stat record and report of hardware events: metrics, their thresholds, events that share counters.

load helpers
load record

setup() {
	cd "$BATS_TEST_TMPDIR"
	ATTR_MAP=/sys/fs/bpf/perf_test_$$_$BATS_TEST_NUMBER
	jobs_started=()
}

@test "a report prints what the run printed: default events, metrics, groups" {
	same_again "$WORKLOADS/spin" 10000
	same_again -a true
	same_again -e '{cycles,instructions:u}' -e branches "$WORKLOADS/spin" 10000
	same_again -M insn_per_cycle,branch_miss_rate "$WORKLOADS/spin" 10000
	same_again -a -A -M Default true
}

@test "more events than counters: shares of the time" {
	same_again -e cycles,instructions,branches,branch-misses,cache-references,cache-misses,r8,r11,r1,r2,r3,r4 \
		"$WORKLOADS/spin" 100000000
	grep -q '%)' <(perf stat report -i again.data 2>&1)
	same_again --no-scale -e cycles,instructions,branches,r1,r2,r3,r4,r5,r6,r7 "$WORKLOADS/spin" 100000000
}

@test "shared hardware events" {
	local shared="--bpf-counters --bpf-attr-map $ATTR_MAP"
	# shellcheck disable=SC2086 # two options
	{
		same_again $shared -e cycles,instructions "$WORKLOADS/spin" 10000
		same_again $shared -A -e cycles,instructions "$WORKLOADS/spin" 10000
		same_again $shared -a -M insn_per_cycle true
	}
}
