#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# The counts of tasks by CPU, core and the like, which only shared counting has.

load helpers

# sum EVENT FILE : of its rows, which begin with CPU or id
sum() {
	awk -F, -v event="$1" '{ for (i = 2; i <= NF; i++) if ($i == event) sum += $(i - 2) } END { print sum + 0 }' "$2"
}

# on CPU EVENT FILE : what the row of that CPU says
on() {
	awk -F, -v cpu="CPU$1" -v event="$2" '$1 == cpu && $4 == event { print $2 }' "$3"
}

@test "a command's counts are right for each CPU" {
	local out=$BATS_TEST_TMPDIR/out
	shared -A -e page-faults,instructions:u -x, --log-fd 4 \
		sh -c "taskset 1 '$WORKLOADS/faults' 3000; taskset 2 '$WORKLOADS/faults' 9000" 4>"$out"
	[ "$(wc -l <"$out")" = 4 ]
	# The shell, taskset and the starts of the programs have less than 500 (measured: 71 and 104).
	in_range "$(on 0 page-faults "$out")" 3000 3500
	in_range "$(on 1 page-faults "$out")" 9000 9500
	[ "$(awk -F, '$6 != "100.00"' "$out" | wc -l)" = 0 ]
	# on a CPU of its own: the other one counted nothing, which is a count
	taskset 1 perf stat --bpf-counters --bpf-attr-map "$ATTR_MAP" -A -e page-faults -x, --log-fd 4 \
		"$WORKLOADS/faults" 500 4>"$out"
	[ "$(on 1 page-faults "$out")" = 0 ]
	in_range "$(on 0 page-faults "$out")" 500 600	# the start of the program has less than 100
}

@test "rows of every kind add up to the whole" {
	local whole=$BATS_TEST_TMPDIR/whole out=$BATS_TEST_TMPDIR/out mode
	shared -e minor-faults:u -x, -o "$whole" "$WORKLOADS/faults" 2000
	for mode in -A --per-core --per-cache --per-cluster --per-die --per-socket --per-node; do
		shared $mode -e minor-faults:u -x, --log-fd 4 "$WORKLOADS/faults" 2000 4>"$out"
		[ "$(sum minor-faults:u "$out")" = "$(field minor-faults:u 1 "$whole")" ]
		refute grep -q 'not counted' "$out"
	done
	[ "$(cut -d, -f1,2 "$out")" = N0,2 ]
	shared --per-core -e minor-faults:u -j --log-fd 4 "$WORKLOADS/faults" 2000 4>"$out"
	[ "$(jq -s 'map(."counter-value" | tonumber) | add' "$out")" = "$(field minor-faults:u 1 "$whole")" ]
	[ "$(jq -s 'map(.counters) | add' "$out")" = 2 ]
}

@test "breakdowns are right for a running process, its threads, and intervals" {
	local out=$BATS_TEST_TMPDIR/out
	taskset 2 "$WORKLOADS/spinfor" 60 &
	local spin=$!
	shared -A -e task-clock -p $spin -x, -o "$out" sleep 0.3
	[ "$(on 0 task-clock "$out")" = 0.00 ]
	# The command sleeps for 300 ms. It also starts and ends, and perf may run on that CPU (measured: 301).
	in_range "$(on 1 task-clock "$out")" 250 400
	shared -A --per-thread -e task-clock -p $spin -x, -o "$out" sleep 0.1
	[ "$(on 0 task-clock "$out")" = 0.00 ]
	shared --per-socket -I 50 --interval-count 3 --summary -e task-clock -p $spin -x, -o "$out" sleep 1
	[ "$(grep -c ',S0,2,' "$out")" = 4 ]
	kill $spin
}

@test "breakdowns by CPU require that every event is shared" {
	fails_with 22 "perf stat: 'cs' is not shared: a breakdown by CPU, core and the like of a task's counts needs every event shared (--bpf-counters, or the modifier b; or -a or -C)" \
		perf stat -A -e cycles:b,cs true
	fails_with 22 "perf stat: 'sched:sched_switch' is not shared, having a filter: a breakdown by CPU, core and the like of a task's counts needs every event shared (or -a or -C)" \
		shared --per-node -e sched:sched_switch --filter 'prev_pid > 1' -p $$
	perf stat --bpf-attr-map "$ATTR_MAP" -A -e '{cs,page-faults}:b,duration_time' -x, --log-fd 4 true 4>"$BATS_TEST_TMPDIR/out"
	[ "$(wc -l <"$BATS_TEST_TMPDIR/out")" = 5 ]
}
