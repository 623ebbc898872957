#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# Sessions open and close perf events without their main lock. They do so when a CPU comes back, a foreign leader
# has stopped its own, or sessions have died.
load helpers
load foreign
load locks

TRACING=/sys/kernel/tracing

# trace 1|0 : an instance of tracing notes locks, perf events that are opened, and elements of maps that are deleted, or no more
trace() {
	local name
	[ -d $TRACING/events ] || mount -t tracefs tracefs $TRACING || return
	traced=$TRACING/instances/perf_test_$$
	mkdir -p "$traced" || return
	[ "$1" = 0 ] || echo >"$traced/trace"
	# BPF_MAP_DELETE_ELEM
	echo 'cmd == 3' >"$traced/events/syscalls/sys_enter_bpf/filter"
	for name in sys_{enter,exit}_flock sys_enter_{bpf,perf_event_open}; do
		echo "$1" >"$traced/events/syscalls/$name/enable"
	done
}

# under_lock : "OPENED OPENED_UNDER DELETED DELETED_UNDER MOST". Sessions opened so many perf events without their
# main lock and with it, and deleted so many elements. MOST is the most of these in one hold.
under_lock() {
	follow_locks "$traced/trace" '
		taken && taken == main[session] { nr = 0 }
		session && /sys_perf_event_open\(/ { opened[under]++ }
		session && /sys_bpf\(/ {
			deleted[under]++
			if (under && ++nr > most)
				most = nr
		}
		END { print opened[0] + 0, opened[1] + 0, deleted[0] + 0, deleted[1] + 0, most + 0 }
	'
}

# end_trace : the instance goes
end_trace() {
	[ ! -d "${traced:-}" ] || { trace 0; rmdir "$traced"; }
}

set_cpu1() {
	echo "$1" >/sys/devices/system/cpu/cpu1/online
}

teardown() {
	end_trace
	set_cpu1 1
	end_jobs
	remove_map
}

# opened_there N : sessions with -v have opened so many events on CPU 1, in all
opened_there() {
	[ "$(cat "$T"/*.err | awk '/CPU 1 came online: / { nr += $7 } END { print nr + 0 }')" = "$1" ]
}

@test "the events of a CPU that comes back are opened without the lock" {
	local opened under
	start_run long -v -C 1 -e '{page-faults,dummy},cs'
	start_run other -v -a -e page-faults,minor-faults
	set_cpu1 0
	trace 1
	set_cpu1 1
	wait_for opened_there 5
	trace 0
	read -r opened under _ < <(under_lock)
	echo "# $opened opened without the lock, $under with it" >&3
	[ "$opened" -ge 5 ]
	[ "$under" = 0 ]
	end_run "$run_pid" INT 130
	end_run "${jobs_started[0]}" INT 130
	wait_for no_registry
}

@test "a session stopped while it opens the events of a CPU holds no lock, and others open them" {
	local stopped plain
	perf stat -x, -o "$T/plain.csv" -e page-faults "$WORKLOADS/faults" 300
	plain=$(field page-faults 1 "$T/plain.csv")
	start_run long -v -a -e page-faults,cs
	kill -STOP "$run_pid"
	set_cpu1 0
	set_cpu1 1
	background "$T/stopped.err" env PERF_TEST_STOP_AT=event-prepared perf stat --bpf-counters \
		--bpf-attr-map "$ATTR_MAP" -o "$T/stopped.csv" -a -e cs true
	stopped=$!
	wait_for has_line "stopped at event-prepared" "$T/stopped.err"
	flock -n "${ATTR_MAP}_lock" true
	flock -n "${ATTR_MAP}_lock/tasks" true
	taskset 2 perf stat --bpf-counters --bpf-attr-map "$ATTR_MAP" -v -x, -o "$T/out" \
		-e page-faults,cs "$WORKLOADS/faults" 300 2>"$T/next.err"
	[ "$(field page-faults 1 "$T/out")" = "$plain" ]
	opened_there 2
	# The stopped one finds that it is done.
	kill -CONT "$stopped" "$run_pid"
	wait "$stopped"
	opened_there 2
	end_run "$run_pid" INT 130
	wait_for no_registry
}

@test "events in the place of a foreign leader's are opened without the lock" {
	local opened under
	foreign lead lead $FAULTS
	start_run long -v -a -e page-faults
	trace 1
	end "$foreign_pid"
	wait_for has_text "another leader stopped its event" "$T/long.err"
	wait_for is_ours
	trace 0
	read -r opened under _ < <(under_lock)
	echo "# $opened opened without the lock, $under with it" >&3
	[ "$opened" -ge "$(nproc)" ]
	[ "$under" = 0 ]
	end_run "$run_pid" INT 130
	wait_for no_registry
}

# is_ours : the event of the session is its own leader's
is_ours() {
	perf bperf list --bpf-attr-map "$ATTR_MAP" | grep -q '^page-faults.* own '
}

# pruned N : perf bperf prune closed all but N perf events
pruned() {
	perf bperf prune --bpf-attr-map "$ATTR_MAP" >>"$T/prunes" || return
	[ "$(nr_perf_events)" = "$1" ]
}

@test "perf bperf prune closes the events of dead sessions without the lock" {
	local deleted under most nr=0 event pids=()
	start_run long -a -e cs
	for event in page-faults,minor-faults major-faults,migrations cpu-clock,task-clock; do
		start_run "dead$((nr++))" -a -e $event
		pids+=("$run_pid")
	done
	kill_all "${pids[@]}"
	trace 1
	wait_for pruned "$(nproc)"
	trace 0
	[ "$(awk '{ nr += $5 } END { print nr }' "$T/prunes")" = 3 ]
	read -r _ _ deleted under most < <(under_lock)
	echo "# $deleted deleted without the lock, $under with it, $most at once" >&3
	# From the table of each event, and on each CPU
	[ "$deleted" -ge $((6 * (1 + $(nproc)))) ]
	# Only the entries in the attr map
	[ "$most" -le 6 ]
	end_run "${jobs_started[0]}" INT 130
	wait_for no_registry
}
