#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# perf stat -b with hardware events, which the emulated machine counts exactly.

load progs

# per_run EVENT : what it came to in one execution, by the metric of $T/out
per_run() {
	awk -F, -v event="$1" '$3 == event && $7 == "per run" { print $6 }' "$T/out"
}

# least_per_run NAME ARG : print the instructions of an execution of target_NAME as a session counts them, the
# least of three: an interrupt in the middle only ever adds
least_per_run() {
	local n
	for n in 1 2 3; do
		prog_stat -b "$(id "$1")" -x, -o "$T/out" -e instructions \
			chrt -r 1 "$WORKLOADS/progrun" "$P/target_$1" 20 "$2" 2>/dev/null
		per_run instructions
	done | sort -g | head -n 1
}

# takes NAME ARG : print the instructions of an execution of target_NAME, its system call included, by the clock:
# nobody counts, and an instruction takes a nanosecond
takes() {
	chrt -r 1 "$WORKLOADS/progrun" -t "$P/target_$1" 2000 "$2"
}

# minus A B : print the difference
minus() {
	awk -v a="$1" -v b="$2" 'BEGIN { print a - b }'
}

# loop_costs N EVENTS : counts 200 executions of N rounds, to $T/out
loop_costs() {
	prog_stat -b "$(id loop)" -x, -o "$T/out" -e "$2" chrt -r 1 "$WORKLOADS/progrun" "$P/target_loop" 200 "$1"
}

@test "instructions of a known loop are right, apart from a constant overhead" {
	overhead=$(least_per_run loop 1)
	in_range "$overhead" 300 600	# up to 528 on 6.12, 563 on 7.3
	base=$(takes loop 1)
	for rounds in 501 4000; do
		counted=$(minus "$(least_per_run loop $rounds)" "$overhead")
		# A round is five instructions of this machine.
		within "$counted" $((5 * (rounds - 1))) 0.5
		within "$counted" "$(minus "$(takes loop $rounds)" "$base")" 0.5
	done
}

@test "levels and clocks of one program are told apart" {
	local n
	for n in 1 2 3; do
		loop_costs 1000 cycles,instructions,cycles:u,instructions:k,page-faults
		is_equal "$(field cycles:u 1 "$T/out")" 0
		is_equal "$(field page-faults 1 "$T/out")" 0
		echo $(($(field instructions 1 "$T/out") - $(field instructions:k 1 "$T/out"))) | tr -d - >>"$T/apart"
	done
	cat "$T/apart"
	# The programs read one event after the other: two instructions apart for each of 200 executions. An interrupt
	# between the two readings has some 5,000, so the least counts.
	is_equal "$(sort -n "$T/apart" | head -n 1)" 400
	# In an idle CPU time passes without instructions: executions that sleep have some.
	prog_stat -b "$(id syscall)" -x, -o "$T/out" -e cpu-clock,instructions \
		"$WORKLOADS/progrun" -f "$P/target_syscall" 20 1 2>"$T/err"
	read -r clock instructions < <(sed -n 's/.*cpu-clock \([0-9]*\), instructions \([0-9]*\)$/\1 \2/p' "$T/err")
	# Twenty times a millisecond, and up to one more until the page is there: measured 21.4.
	in_range "$clock" 20000000 40000000
	at_least "$instructions" 10000
}

@test "ten sessions of six events each share the counters without turns" {
	for i in {0..9}; do
		counting "$i" -b "$(id loop)" -e cycles,instructions,cycles:u,instructions:u,cycles:k,instructions:k
		pids[i]=$run_pid
	done
	prog_run loop 500 100
	for i in {0..9}; do
		end_run "${pids[i]}" INT 130
		for event in cycles instructions cycles:k instructions:k; do
			is_equal "$(field "$event" 5 "$T/$i.csv")" 100.00
			is_equal "$(field "$event" 1 "$T/$i.csv")" "$(field "$event" 1 "$T/0.csv")"
		done
		clean "$T/$i.err"
	done
	nothing_attached
}

@test "two programs at once are told apart by what they cost" {
	overhead=$(least_per_run loop 1)
	for n in 1 2 3; do
		prog_stat -b "$(id loop),$(id twin)" --per-prog -x, -o "$T/out" -e instructions -- bash -c "
			chrt -r 1 '$WORKLOADS/progrun' '$P/target_loop' 10 2000
			chrt -r 1 '$WORKLOADS/progrun' '$P/target_twin' 30 1000"
		for name in loop twin; do
			prog_field "target_$name-$(id $name)" instructions 1 "$T/out" >>"$T/$name"
		done
	done
	# The least, without an interrupt in the middle
	within "$(sort -n "$T/loop" | head -n 1)" "$(awk -v o="$overhead" 'BEGIN { print 10 * (5 * 1999 + o) }')" 0.5
	within "$(sort -n "$T/twin" | head -n 1)" "$(awk -v o="$overhead" 'BEGIN { print 30 * (5 * 999 + o) }')" 0.5
}

@test "a program is charged for its tail calls and its subprograms" {
	$bpftool map update pinned "${P}_maps/tails" key 0 0 0 0 value pinned "$P/target_tail"
	overhead=$(least_per_run empty 0)
	base=$(takes empty 0)
	for name in caller subprog; do
		took=$(minus "$(takes $name 1000)" "$base")
		# A thousand rounds of five instructions, and the call: measured 5,030 and 5,017.
		in_range "$took" 5000 5150
		# The two ways of measuring differ by some instructions: measured 4 and 6.
		within "$(minus "$(least_per_run $name 1000)" "$overhead")" "$took" 0.5
	done
}

@test "no execution is lost or counted twice in a minute under load" {
	counting a -b "$(id seen)" -e bpf_runs,cycles,instructions
	before=$(seen 0)
	start=$(date +%s)
	# Time is skipped while nothing runs.
	while [ $(($(date +%s) - start)) -lt 60 ]; do
		"$WORKLOADS/progrun" -s -i 100 -a sched_switch "$P/target_seen" 300 300
		sleep 2
	done
	runs=$(($(seen 0) - before))
	end_run "$run_pid" INT 130
	missed=$(sed -n 's/.*: \([0-9]*\) more executions ended unseen: .*/\1/p' "$T/a.err")
	cat "$T/a.err" >&2
	is_equal "$(field bpf_runs 1 "$T/a.csv")" $((runs - ${missed:-0}))
	at_least "$runs" 10000
}

# stop_at STEP : a session of tasks is stopped there; $stopped
stop_at() {
	background "$T/stopped" env PERF_TEST_STOP_AT="$1" perf stat --bpf-counters --bpf-attr-map "$ATTR_MAP" -e cs -- true
	stopped=$!
	wait_for has_text ') T ' "/proc/$stopped/stat"
}

# runs_counted : executions of a program are counted
runs_counted() {
	prog_stat -x, -o "$T/out" -b "$(id loop)" -e bpf_runs "$WORKLOADS/progrun" "$P/target_loop" 7
	[ "$(field bpf_runs 1 "$T/out")" = 7 ]
}

@test "-b is refused without the lock, and the only message names the holder" {
	stop_at session-added
	refused 1 prog_stat -b "$(id loop)" -e cycles -- touch "$T/run" \
		<<<"perf stat: ${ATTR_MAP}_lock is held by process $stopped (perf, T (stopped)): BPF programs cannot be counted (kill -CONT $stopped if it is stopped, or end it)"
	refute test -e "$T/run"
	kill -CONT "$stopped"
	wait "$stopped"
	# The lock of tasks is of no concern to programs.
	stop_at scope-set-added
	runs_counted
	kill -CONT "$stopped"
	wait "$stopped"
	runs_counted
}
