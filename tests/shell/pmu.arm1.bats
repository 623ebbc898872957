#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# Names and forms of events, and the additions to the default set, on a PMU with sysfs files. There, all
# spellings of "instructions of user space" must count the same to the last one.

load helpers

requirements() {
	out=$BATS_TEST_TMPDIR/out
	err=$BATS_TEST_TMPDIR/err
}

setup_file() {
	"$WORKLOADS/spin" 1
}

# counted EVENT [OPTION...] : it counts as instructions:u does
counted() {
	perf stat -x, -o "$out" "${@:2}" -e instructions:u -e "$1" "$WORKLOADS/spin" 100000
	awk -F, -v name="$1" '$3 == "instructions:u" { want = $1 } $3 == name { have = $1 }
		END { print want, have; exit !(want > 200000 && have == want) }' "$out"
}

@test "every form of an event counts the same, plain and shared" {
	local event
	for event in r8:u r0008:u inst_retired:u armv8_pmuv3/inst_retired/u armv8_pmuv3/event=0x8/u \
		armv8_pmuv3/event=8/u armv8_pmuv3/config=0x8/u armv8_pmuv3/instructions/u; do
		counted "$event"
		counted "$event" --bpf-counters --bpf-attr-map "$ATTR_MAP"
	done
}

@test "an event can have a pattern of PMUs and a custom name" {
	perf stat -x, -o "$out" -e instructions:u,armv8_*/event=0x8,name=mine/u "$WORKLOADS/spin" 100000
	[ "$(field instructions:u 1 "$out")" = "$(field mine 1 "$out")" ]
}

@test "events that this PMU lacks are refused with their name and a status" {
	fails_with 129 "event syntax error: 'br_mis_pred'" perf stat -e br_mis_pred true
	fails_with 129 "event syntax error: 'armv8_pmuv3/nope/'" perf stat -e armv8_pmuv3/nope/ true
	fails_with 129 "event syntax error: 'armv8_pmuv3_0/cpu_cycles/'" perf stat -e armv8_pmuv3_0/cpu_cycles/ true
	grep -qx "Did you mean 'armv8_pmuv3'?" "$BATS_TEST_TMPDIR/fails.err"
	refused 1 perf stat -e branch-misses true <<-EOF
	Error:
	No supported events found.
	The branch-misses event is not supported.
	EOF
}

@test "the default set has a row for each metric of this PMU's events" {
	perf stat --log-fd 4 "$WORKLOADS/spin" 100000 4>"$out"
	sed -nE 's/^.{19}.{5}([a-z-]+) +# +[^ ]+ ((%|[A-Za-z/]+) ) ?([A-Za-z_]+).*/\1 \4/p' "$out" >"$err"
	diff -u - "$err" <<-EOF
	context-switches cs_per_second
	cpu-migrations migrations_per_second
	page-faults page_faults_per_second
	task-clock CPUs_utilized
	cpu-cycles cycles_frequency
	instructions insn_per_cycle
	EOF
	grep -q '^ .* stalled-cycles-frontend .*# .* frontend_cycles_idle' "$out"
	refute grep -q branch "$out"	# not in this PMU
}

@test "perf list prints only this PMU's events, and those of its files under both names" {
	perf list hw >"$out"
	grep -q '^  cpu-cycles OR cycles  *\[Hardware event\]$' "$out"
	refute grep -q branch "$out"
	perf list pmu >"$out"
	grep -q '^  inst_retired OR armv8_pmuv3/inst_retired/  *\[Kernel PMU event\]$' "$out"
	[ "$(perf list --raw-dump hw | tr ' ' '\n' | grep -c '^\(cpu-\)*cycles$')" = 2 ]
	perf list --raw-dump pmu | tr ' ' '\n' | grep -qx armv8_pmuv3/inst_retired/
	perf list -j pmu | jq -e '.[] | select(.EventName == "inst_retired") |
		.EventAlias == "armv8_pmuv3/inst_retired/" and .Unit == "armv8_pmuv3"'
	# Whatever is listed can be counted.
	for name in $(perf list --raw-dump hw cache pmu); do
		perf stat -o /dev/null -e "$name" true || { echo "$name" >&2; return 1; }
	done
}
