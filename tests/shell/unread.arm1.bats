#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# Events that cannot be read: a pinned event that finds no free counter stays without one for good. Only
# the session that counts it prints a warning.

load helpers
load shared
load cgroups

# Pinned events, more than the six counters; cycles have a counter of their own.
pinned=r8:D,r14:D,r3:D,r4:D,r10:D,r1:D,r13:D,r1b:D

# without_counter FILE : print the pinned events that were not counted
without_counter() {
	awk -F, '$1 == "<not counted>" { print $3 }' "$1"
}

# reported FILE : print the events whose readings failed for want of a counter; FILE has nothing else
reported() {
	sed -n "s/^perf stat: '\(.*\)': [1-9][0-9]* readings failed, its counts are short: a pinned event found no free counter\$/\1/p" "$1"
	[ "$(grep -c . "$1")" = "$(grep -c 'readings failed' "$1")" ]
}

# has_failed : the leader's tables have failed readings
has_failed() {
	[ "$(state failed)" -gt 0 ]
}

# is_asleep PID : it runs the command sleep, and waits
is_asleep() {
	grep -q '^[0-9]* (sleep) S' "/proc/$1/stat"
}

# counts_cycles NAME OPTION... : to NAME.csv, the cycles of a command that had the counter all the time. Events
# take turns with one that the kernel still holds for a session that has ended.
counts_cycles() {
	local name=$1
	shift
	perf stat -x, -o "$T/$name.csv" -e cycles:u "$@" "$WORKLOADS/switches" 20 2>"$T/$name.err" || return
	[ "$(field cycles:u 5 "$T/$name.csv")" = 100.00 ]
}

@test "only the session that counts a pinned event without a counter reports it" {
	background "$T/load" sh -c 'while :; do "$0" 20; done' "$WORKLOADS/switches"
	start_run other -e $pinned -p "${jobs_started[0]}"
	wait_for has_failed
	# There is no counter for both in one session.
	wait_for counts_cycles plain
	wait_for counts_cycles shared --bpf-counters --bpf-attr-map "$ATTR_MAP"
	cat "$T/plain.csv" "$T/shared.csv" >&2
	[ ! -s "$T/shared.err" ] || { cat "$T/shared.err" >&2; return 1; }
	[ "$(field cycles:u 1 "$T/plain.csv")" -gt 0 ]
	# An interrupt can make an instruction begin anew, which QEMU counts twice: of 300 plain counts, 12 had one more.
	within "$(field cycles:u 1 "$T/shared.csv")" "$(field cycles:u 1 "$T/plain.csv")" 0 1
	end_run "$run_pid" INT 130
	cat "$T/other.csv" "$T/other.err" >&2
	without_counter "$T/other.csv" >"$T/without"
	[ "$(wc -l <"$T/without")" = 2 ]
	reported "$T/other.err" | diff -u "$T/without" - >&2
}

@test "a session whose process sleeps does not report what failed for another session" {
	background "$T/load" sh -c 'while :; do "$0" 20; done' "$WORKLOADS/switches"
	start_run busy -e $pinned -p "${jobs_started[0]}"
	wait_for has_failed
	background "$T/sleep" sleep 1000
	wait_for is_asleep "${jobs_started[-1]}"
	shared -x, -o "$T/idle.csv" -e $pinned -p "${jobs_started[-1]}" --timeout 300 2>"$T/idle.err"
	cat "$T/idle.csv" "$T/idle.err" >&2
	is_silent "$T/idle.err"
	end_run "$run_pid" INT 130
	without_counter "$T/busy.csv" >"$T/without"
	reported "$T/busy.err" | diff -u "$T/without" - >&2
}

@test "a session in which every event fails reports that if its process ran, and nothing if it slept" {
	local without
	background "$T/load" sh -c 'while :; do "$0" 20; done' "$WORKLOADS/switches"
	start_run busy -e $pinned -p "${jobs_started[0]}"
	wait_for has_failed
	# Readings that find no counter are the same for all sessions.
	shared -x, -o "$T/some.csv" -e $pinned -p "${jobs_started[0]}" --timeout 300 2>"$T/some.err"
	without=$(without_counter "$T/some.csv" | paste -sd,)
	background "$T/sleep" sleep 1000
	wait_for is_asleep "${jobs_started[-1]}"
	shared -x, -o "$T/idle.csv" -e "$without" -p "${jobs_started[-1]}" --timeout 300 2>"$T/idle.err"
	shared -x, -o "$T/runs.csv" -e "$without" -p "${jobs_started[0]}" --timeout 300 2>"$T/runs.err"
	# It ran, but not in the session's only window.
	gang 1 1000
	window w --bpf-counters -e "$without" -p "$gang"
	work
	tell w enable
	nap
	tell w disable
	work
	finish w
	cat "$T"/{idle,runs}.csv "$T"/{idle,runs,w}.err >&2
	[ "$(without_counter "$T/idle.csv" | wc -l)" = 2 ]
	is_silent "$T/idle.err"
	refute grep "readings failed" "$T/w.err"
	without_counter "$T/runs.csv" >"$T/without"
	[ "$(wc -l <"$T/without")" = 2 ]
	reported "$T/runs.err" | diff -u "$T/without" - >&2
	end_run "$run_pid" INT 130
}

@test "with cgroups, one line per event reports a missing counter" {
	make_top
	mkdir "$top/one" "$top/two"
	shared -a -x, -o "$T/groups.csv" -e ${pinned//:D/:uD} --for-each-cgroup "$name/one,$name/two" \
		"$WORKLOADS/in_cgroups" 20000 "$top"/{one,two}/cgroup.procs 2>"$T/groups.err"
	cat "$T/groups.csv" "$T/groups.err" >&2
	without_counter "$T/groups.csv" | sort -u >"$T/without"
	[ "$(wc -l <"$T/without")" = 2 ]
	reported "$T/groups.err" | sort | diff -u "$T/without" - >&2
	remove_top
}
