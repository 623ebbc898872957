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

@test "a report prints the same default events, metrics and groups as the session" {
	same_again "$WORKLOADS/spin" 10000
	same_again -a true
	same_again -e '{cycles,instructions:u}' -e branches "$WORKLOADS/spin" 10000
	same_again -M insn_per_cycle,branch_miss_rate "$WORKLOADS/spin" 10000
	same_again -a -A -M Default true
}

@test "a report has the shares of time of multiplexed events" {
	local many=cycles,instructions,branches,branch-misses,cache-references,cache-misses,r8,r11,r1,r2,r3,r4
	same_again -e $many "$WORKLOADS/spin" 100000000
	grep -q '%)' <(perf stat report -i again.data 2>&1)
	same_again --no-scale -e cycles,instructions,branches,r1,r2,r3,r4,r5,r6,r7 "$WORKLOADS/spin" 100000000

	# by CPU, a script has the scaled counts, too; as one sum, what was read
	perf stat record -o x -a -A -e $many "$WORKLOADS/spin" 60000000 >/dev/null 2>&1
	perf stat report -i x -A -x, --no-metrics 2>&1 | awk -F, '{ print $2 + 0, $4 }' >want
	perf script -i x | awk 'NR > 1 { print $3, $7 }' | diff want -
	perf stat record -o x -a -e $many "$WORKLOADS/spin" 60000000 >/dev/null 2>&1
	# (a cycle, an instruction: a nanosecond)
	perf script -i x | awk '
		$7 ~ /^(cycles|instructions|r8|r11)$/ {
			some += $5 < $4 * 0.95
			bad += $3 > $5 * 1.01
			print
		}
		END { exit !some || bad }' >&2
}

@test "a report has the counts of shared hardware events" {
	local shared="--bpf-counters --bpf-attr-map $ATTR_MAP"
	# shellcheck disable=SC2086 # two options
	{
		same_again $shared -e cycles,instructions "$WORKLOADS/spin" 10000
		same_again $shared -A -e cycles,instructions "$WORKLOADS/spin" 10000
		same_again $shared -a -M insn_per_cycle true
	}
}
