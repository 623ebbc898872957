#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# Sessions that die, or are stopped, in the middle of their work, and the sessions that take it over.

load helpers
load shared

requirements() {
	require_root
	require_commands bpftool jq strace
}

teardown() {
	end_jobs
	rm -f "${ATTR_MAP}_prog"
	remove_map
}

# cpu_returns : the leader's program is run as if CPU 0 went offline and came back, so the events there are stale
cpu_returns() {
	local id
	id=$(our_objects | awk '$1 == "prog" && $3 == "on_hotplug" { print $2 }')
	/usr/sbin/bpftool prog pin id "$id" "${ATTR_MAP}_prog"
	# The first argument is the CPU; the others are the step at the end, and the one now.
	"$WORKLOADS/progrun" -b 0,1 "${ATTR_MAP}_prog" 1 0 0
	"$WORKLOADS/progrun" -b 1,0 "${ATTR_MAP}_prog" 1 0 0
	rm "${ATTR_MAP}_prog"
}

# opened N : sessions with -v have opened so many events on CPU 0 again, in all
opened() {
	[ "$(cat "$T"/*.err | awk '/CPU 0 came online: / { nr += $7 } END { print nr + 0 }')" = "$1" ]
}

# stopped_with_events NAME SETTING... : start a session that stops itself, $stopped, with events prepared
stopped_with_events() {
	background "$T/$1.err" env PERF_TEST_STOP_AT=event-prepared "${@:2}" perf stat --bpf-counters \
		--bpf-attr-map "$ATTR_MAP" -v -x, -o "$T/$1.csv" -a -e cs true
	stopped=$!
	wait_for has_line "stopped at event-prepared" "$T/$1.err"
}

@test "a session that dies with events prepared is taken over at once" {
	# Others are never taken for stopped.
	local -x PERF_TEST_OPENING_MS=1000000000
	start_run long -v -a -e page-faults,cs
	kill -STOP "$run_pid"
	cpu_returns
	killed_at event-prepared shared -a -e cs true
	refute state_is opening 0
	kill -CONT "$run_pid"
	wait_for opened 2
	wait_for state_is opening 0
	state_is careful 0
	end_run "$run_pid" INT 130
	nothing_left
}

@test "a session that is stopped with events prepared is taken over after a moment" {
	start_run long -v -a -e page-faults,cs
	kill -STOP "$run_pid"
	cpu_returns
	stopped_with_events stopped
	state_is opening "$(token "$stopped")"
	kill -CONT "$run_pid"
	wait_for opened 2
	# The stopped one finds that it is done.
	kill -CONT "$stopped"
	wait "$stopped"
	opened 2
	end_run "$run_pid" INT 130
	nothing_left
}

@test "a stopped session that goes on leaves the opening to the one that has taken over" {
	local first second
	start_run long -v -a -e cs
	kill -STOP "$run_pid"
	cpu_returns
	stopped_with_events first
	first=$stopped
	stopped_with_events second PERF_TEST_OPENING_MS=0
	second=$(token "$stopped")
	state_is opening "$second"
	kill -CONT "$first"
	wait "$first"
	opened 1
	state_is opening "$second"
	kill -CONT "$stopped"
	wait "$stopped"
	opened 1
	state_is opening 0
	kill -CONT "$run_pid"
	end_run "$run_pid" INT 130
	nothing_left
}

@test "a key in shared memory does not decide how its event is opened" {
	start_run long -v -a -e page-faults,cs
	kill -STOP "$run_pid"
	cpu_returns
	"$WORKLOADS/wild_keys" "$ATTR_MAP"
	kill -CONT "$run_pid"
	wait_for opened 2
	end_run "$run_pid" INT 130
	clean "$T/long.err"
	nothing_left
}

# waits MS : how often a session that may wait for so long waits, for another one that opens events
waits() {
	PERF_TEST_LOCK_MS=$1 strace -qq -e trace=clock_nanosleep -e signal=none -o "$T/trace" perf stat --bpf-counters \
		--bpf-attr-map "$ATTR_MAP" -o "$T/out" -a -e cs true
	grep -c clock_nanosleep "$T/trace" || :
}

@test "a session waits for one that opens events only as long as it may wait for locks" {
	local -x PERF_TEST_OPENING_MS=1000000000
	start_run long -v -a -e page-faults,cs
	kill -STOP "$run_pid"
	cpu_returns
	stopped_with_events stopped
	[ "$(waits 0)" = 0 ]
	cpu_returns
	[ "$(waits 20)" -gt 0 ]
	kill -CONT "$stopped"
	wait "$stopped"
	kill -CONT "$run_pid"
	end_run "$run_pid" INT 130
	nothing_left
}

# die_three : three sessions that count a task die, one after the other, and their tokens with them
die_three() {
	local event dead=()
	for event in page-faults cs migrations; do
		start_run "dead-$event" -e $event -p "$target"
		dead+=("$run_pid")
	done
	kill_all "${dead[@]}"
}

# holdings STEP LOCK COMMAND... : have perf print each time that it comes by this step. Print the number of times in
# each holding of a lock, whose path ends so.
holdings() {
	local step=$1 lock=$2
	shift 2
	PERF_TEST_STOP_AT=$step PERF_TEST_STOP_BY=0 strace -qq -y -e trace=flock,write -e signal=none \
		-o "$T/trace" "$@" >"$T/traced" 2>&1 3>&-
	awk -v lock="$lock>, LOCK_" -v text="\"stopped at $step\\\\n\"" '
		index($0, lock "EX") && / = 0$/ { is_held = 1; nr = 0 }
		index($0, text) { nr++; if (!is_held) print "without the lock: " $0 }
		is_held && index($0, lock "UN") { is_held = 0; print nr }
	' "$T/trace"
}

@test "one holding of a lock removes at most one dead session" {
	local target stays row step lock nr
	# One removed by the session that joins and leaves is its own.
	for row in "scope-freed _lock/tasks 4" "session-forgotten _lock 3"; do
		read -r step lock nr <<<"$row"
		background "$T/waiter" "$WORKLOADS/waiter"
		target=$!
		start_run stays -e page-faults -p "$target"
		stays=$run_pid
		die_three
		holdings "$step" "$lock" perf stat --bpf-counters --bpf-attr-map "$ATTR_MAP" -o "$T/out" \
			-e page-faults -p "$target" true >"$T/joins"
		# A session gives that up after half a second; this does not.
		holdings "$step" "$lock" perf bperf prune --bpf-attr-map "$ATTR_MAP" >"$T/prunes"
		echo "# $step: $(paste -sd ' ' "$T/joins"), then $(paste -sd ' ' "$T/prunes")" >&3
		[ "$(sort -n "$T/joins" "$T/prunes" | uniq -c | awk '$2 != 0 { print $1 " of " $2 }')" = "$nr of 1" ]
		has_sessions 1
		end_run "$stays" INT 130
		nothing_left
	done
}
