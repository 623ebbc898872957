#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# Shared counters of whole CPUs, as far as software events show them: windows, CPUs that are
# offline, runs that end, are interrupted, are killed, and die half-way through joining or leaving.

load helpers

# count OPTION... : a run, its rows as CSV to $out, what it says to $err
count() {
	shared -x, -o "$out" "$@" 2>"$err"
}

# whole NR_CPUS [FILE PERCENT] : the CPUs' clocks were counted from the beginning of the window to
# its end. Where time is not emulated, some of it passes between two clocks
whole() {
	local file=${2:-$out} percent=1
	[ "$PLACE" != amd ] || percent=3
	cat "$file"
	[ "$(field cpu-clock 5 "$file")" = 100.00 ]
	within "$(field cpu-clock 1 "$file")" \
		"$(awk -v ns="$(field duration_time 1 "$file")" -v n="$1" 'BEGIN { print ns * n / 1e6 }')" "${3:-$percent}"
}

set_cpu1() {
	echo "$1" >/sys/devices/system/cpu/cpu1/online
}

now_ms() {
	echo $((${EPOCHREALTIME/./} / 1000))
}

setup() {
	ATTR_MAP=/sys/fs/bpf/perf_test_$$_$BATS_TEST_NUMBER
	out=$BATS_TEST_TMPDIR/out.csv
	err=$BATS_TEST_TMPDIR/err
	jobs_started=()
	set_cpu1 1 2>/dev/null || :
}

@test "time counts from the beginning of a run to its end" {
	start_run hold -a -e cpu-clock sleep 10000
	sleep 1
	count -a -e cpu-clock,duration_time sleep 1
	whole 2
	count -C 1 -e cpu-clock,duration_time sleep 1
	whole 1
	count -a -D 300 -e cpu-clock,duration_time sleep 1
	whole 2
}

@test "events are told apart" {
	start_run hold -a -e cs,page-faults,dummy,cpu-clock sleep 10000
	# The counts are of all that happens, so the difference of two tells what the workload did.
	"$WORKLOADS/faults" 100
	count -a -e dummy,page-faults,cs "$WORKLOADS/faults" 100
	few=$(field page-faults 1 "$out")
	count -a -e cs,dummy,page-faults "$WORKLOADS/faults" 900
	in_range $(($(field page-faults 1 "$out") - few)) 780 820
	[ "$(field dummy 1 "$out")" = 0 ]
	in_range "$(field cs 1 "$out")" 2 200
	count -a -e page-faults,cs "$WORKLOADS/switches" 500
	in_range "$(field cs 1 "$out")" 1000 1500
	in_range $(($(field page-faults 1 "$out") - few + 200)) 70 130
}

@test "offline CPUs are named and left out" {
	set_cpu1 0
	count -C 0-1 -e cpu-clock,duration_time sleep 0.5
	[ "$(cat "$err")" = "perf stat: -C 0-1: CPU 1 is offline: skipped (online: 0)" ]
	whole 1
	count -a -e cpu-clock,duration_time sleep 0.5
	[ ! -s "$err" ]
	whole 1
}

@test "offline CPUs alone are an error, and nothing is left behind" {
	set_cpu1 0
	run count -C 1 -e cpu-clock sleep 0.5
	[ "$status" = 1 ]
	diff "$err" - <<-END
		Error:
		No supported events found.
		-C 1: CPU 1 is offline (online: 0)
	END
	[ ! -e "$ATTR_MAP" ]
	no_leader_objects
}

@test "a CPU that goes offline is counted up to then, the others go on" {
	before=$(now_ms)
	start_run long -a -e cpu-clock,duration_time
	long=$run_pid
	counting=$(now_ms)
	sleep 1
	going=$(now_ms)
	set_cpu1 0
	gone=$(now_ms)
	sleep 1
	end_run "$long" INT 130
	cat "$BATS_TEST_TMPDIR/long.err" "$BATS_TEST_TMPDIR/long.csv"
	# All of the run on CPU 0, and on CPU 1 until it was on its way out.
	ms=$(field cpu-clock 1 "$BATS_TEST_TMPDIR/long.csv")
	elapsed=$(($(field duration_time 1 "$BATS_TEST_TMPDIR/long.csv") / 1000000))
	in_range "$ms" $((elapsed + going - counting - 50)) $((elapsed + gone - before + 50))
}

@test "twenty runs share one set of perf events and disturb no other" {
	pids=()
	for n in {1..20}; do
		start_run "run$n" -a -I 500 -e cpu-clock,cs
		pids+=("$run_pid")
	done
	has_runs 20
	[ "$(nr_perf_events)" = 4 ]
	sleep 0.7
	end_run "${pids[0]}" KILL 137
	end_run "${pids[7]}" INT 130
	end_run "${pids[8]}" TERM 143
	end_run "${pids[19]}" KILL 137
	has_runs 16
	[ "$(nr_perf_events)" = 4 ]
	sleep 0.7
	kill -KILL "${pids[@]:9}" 2>/dev/null || :
	wait_for has_runs 6
	for n in 2 3 4 5 6 7; do
		end_run "${pids[n - 1]}" INT 130
		undisturbed "run$n" cpu-clock
	done
	wait "${pids[@]}" || :
	# An entry for each shared event, and the last run took them away.
	wait_for has_no_entries
	wait_for no_leader_objects
}

has_no_entries() {
	perf bperf list --bpf-attr-map "$ATTR_MAP"
	[ "$(entries)" = 0 ]
}

@test "after all runs were killed one more starts, counts, and leaves an empty map" {
	for n in 1 2 3 4 5; do
		start_run "run$n" -a -e cpu-clock,cs,page-faults sleep 10000
		pids[n]=$run_pid
	done
	kill -KILL "${pids[@]}"
	wait "${pids[@]}" || :
	wait_for no_leader_objects
	[ "$(entries)" = 3 ]
	count -a -e cpu-clock,duration_time sleep 0.5
	[ ! -s "$err" ]
	whole 2
	[ "$(entries)" = 0 ]
	wait_for no_leader_objects
}

# repaired_by_next : a run that comes counts right, and has the others' rests cleared away
repaired_by_next() {
	count -a -e "cpu-clock,cs,{page-faults,minor-faults},duration_time" sleep 0.2
	cat "$err"
	[ ! -s "$err" ]
	whole 2
}

@test "a run that dies joining or leaving disturbs nobody, and the next one repairs" {
	start_run long -a -I 100 -e cpu-clock
	long=$run_pid
	for step in run-written run-added event-written event-claimed event-opened \
		event-ready event-joined event-announced \
		event-left event-closing event-closed event-freed run-left run-removed; do
		echo "# $step"
		killed_at $step shared -a -e 'cpu-clock,cs,{page-faults,minor-faults}' true
		repaired_by_next
		has_runs 1
		[ "$(nr_perf_events)" = 2 ]
		[ "$(entries)" = 1 ]
		undisturbed long cpu-clock
	done
	end_run "$long" INT 130
	[ "$(entries)" = 0 ]
	wait_for no_leader_objects
}

@test "a run that dies alone, joining or leaving, leaves nothing that holds up the next" {
	for step in leader-written leader-complete run-added event-opened event-announced \
		event-closing run-removed; do
		echo "# $step"
		killed_at $step shared -a -e 'cpu-clock,cs,{page-faults,minor-faults}' true
		repaired_by_next
		has_no_entries
	done
	wait_for no_leader_objects
}

@test "a run that dies making a leader disturbs no other leader's runs" {
	start_run long -a -I 100 -e cpu-clock
	for step in leader-written leader-complete; do
		rm -f "${ATTR_MAP}b"
		killed_at $step perf stat --bpf-counters --bpf-attr-map "${ATTR_MAP}b" -a -e cs true
		perf stat --bpf-counters --bpf-attr-map "${ATTR_MAP}b" -a -e cs true 2>/dev/null
		has_runs 1
	done
	rm -f "${ATTR_MAP}b"
	rmdir "${ATTR_MAP}b_lock"
	end_run "$run_pid" INT 130
	undisturbed long cpu-clock
}

@test "many that die while others join at the same time do no harm" {
	start_run long -a -I 100 -e cpu-clock
	long=$run_pid
	steps=(run-added event-claimed event-opened event-ready event-joined event-announced
		event-left event-closing event-freed run-left)
	pids=()
	for n in {0..9}; do
		background /dev/null env PERF_TEST_KILL_AT="${steps[n]}" perf stat --bpf-counters \
			--bpf-attr-map "$ATTR_MAP" -a -e cs,page-faults,cpu-clock sleep 0.2
		pids+=($!)
		background "$BATS_TEST_TMPDIR/$n.err" perf stat --bpf-counters --bpf-attr-map "$ATTR_MAP" \
			-x, -o "$BATS_TEST_TMPDIR/$n.csv" -a -e cpu-clock,cs,duration_time sleep 0.5
		pids+=($!)
	done
	wait "${pids[@]}" || :
	for n in {0..9}; do
		cat "$BATS_TEST_TMPDIR/$n.err"
		# Twenty that start at once keep each other waiting, also between two readings.
		whole 2 "$BATS_TEST_TMPDIR/$n.csv" 20
	done
	repaired_by_next
	has_runs 1
	[ "$(nr_perf_events)" = 2 ]
	end_run "$long" INT 130
	undisturbed long cpu-clock
	[ "$(entries)" = 0 ]
	wait_for no_leader_objects
}
