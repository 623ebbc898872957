#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# perf stat -b on two CPUs, and with tasks that preempt each other within a program.

load helpers
load shared
load progs

eval "base_$(declare -f setup)"
eval "base_$(declare -f teardown)"

setup() {
	base_setup
	progs_begin
}

teardown() {
	progs_end
	base_teardown
}

on_both() {
	"$WORKLOADS/progrun" "$P/target_loop" 100 10 0
	"$WORKLOADS/progrun" "$P/target_loop" 40 10 1
}

@test "runs are counted on the CPUs asked for, and can be shown by CPU" {
	counting all -b "$(id loop)" -e bpf_runs
	a=$run_pid
	counting one -b "$(id loop)" -C 1 -e bpf_runs,cpu-clock
	b=$run_pid
	counting each -b "$(id loop)" -A -e bpf_runs
	c=$run_pid
	on_both
	end_run $a INT 130
	end_run $b INT 130
	end_run $c INT 130
	is_equal "$(field bpf_runs 1 "$T/all.csv")" 140
	is_equal "$(field bpf_runs 1 "$T/one.csv")" 40
	is_equal "$(awk -F, '/^CPU/ { print $1 "=" $2 }' "$T/each.csv" | paste -sd' ')" "CPU0=100 CPU1=40"
	nothing_attached
}

@test "a socket where the program ran on one CPU only has a count" {
	prog_stat -b "$(id loop)" --per-socket -x, -o "$T/out" -e cpu-clock,bpf_runs \
		"$WORKLOADS/progrun" "$P/target_loop" 40 10 1
	! grep -F 'not counted' "$T/out"
	is_equal "$(awk -F, '$5 == "bpf_runs" { sum += $3 } END { print sum }' "$T/out")" 40
}

@test "programs that run on two CPUs at once, and preempt each other, lose no run unsaid" {
	preempt=/sys/kernel/debug/sched/preempt
	[ ! -e $preempt ] || echo full >$preempt
	before=$(seen 7)
	counting a -b "$(id syscall)" -e bpf_runs,cpu-clock
	pids=()
	for cpu in 0 0 1 1; do
		taskset -c $cpu "$WORKLOADS/progrun" "$P/target_syscall" 100 2000 3>&- &
		pids+=($!)
	done
	# Of higher priority: it preempts them where it can
	chrt -r 1 taskset -c 0 "$WORKLOADS/progrun" -s "$P/target_syscall" 200 10
	wait "${pids[@]}"
	end_run "$run_pid" INT 130
	cat "$T/a.err" >&2
	# Whoever preempts a task within our second probe is not seen to leave.
	missed=$(sed -n 's/.*: \([0-9]*\) more runs ended unseen: .*/\1/p' "$T/a.err")
	is_equal $(($(field bpf_runs 1 "$T/a.csv") + ${missed:-0})) $(($(seen 7) - before))
	is_equal $(($(seen 7) - before)) 600
	nothing_attached
}

@test "events of another implementation's leader are counted in programs, too" {
	background "$T/lead" "${WORKLOADS%/*}/foreign/foreign" lead "$ATTR_MAP" 1 0	# cpu-clock
	lead=$!
	wait_for grep -q ready "$T/lead"
	prog_stat -v -b "$(id loop)" -x, -o "$T/out" -e bpf_runs,cpu-clock,page-faults \
		"$WORKLOADS/progrun" "$P/target_loop" 300 1000 2>"$T/err"
	cat "$T/err" >&2
	grep -q "1 of another leader's events are counted" "$T/err"
	refute grep -q 'could not be read' "$T/err"
	is_equal "$(field bpf_runs 1 "$T/out")" 300
	in_range "$(field cpu-clock 1 "$T/out")" 0.3 1000
	is_equal "$(field page-faults 1 "$T/out")" 0
	kill -TERM $lead
	wait $lead || :
}
