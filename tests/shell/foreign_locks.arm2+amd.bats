#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# Beside followers of another implementation sessions hold their lock for short commits only. The kernel
# traces what they do meanwhile.
load helpers
load foreign
load locks

TRACING=/sys/kernel/tracing

# trace : from here on the kernel notes locks, grace periods, sleeps, and system calls of the kind bpf
trace() {
	local name
	[ -d $TRACING/events ] || mount -t tracefs tracefs $TRACING
	echo >$TRACING/trace
	for name in synchronize_rcu synchronize_rcu_expedited; do
		echo "p:perf_test/$name $name" >>$TRACING/kprobe_events
	done
	# BPF_PROG_GET_NEXT_ID
	echo 'cmd == 11' >$TRACING/events/syscalls/sys_enter_bpf/filter
	set_events 1
}

set_events() {
	local name
	for name in syscalls/sys_{enter,exit}_flock syscalls/sys_enter_{bpf,clock_nanosleep} perf_test; do
		echo "$1" >"$TRACING/events/$name/enable"
	done
}

# end_trace : to $T/trace
end_trace() {
	set_events 0 || return
	echo 0 >$TRACING/events/syscalls/sys_enter_bpf/filter
	cat $TRACING/trace >"$T/trace" || return
	echo '-:perf_test/synchronize_rcu' >>$TRACING/kprobe_events
	echo '-:perf_test/synchronize_rcu_expedited' >>$TRACING/kprobe_events
}

# under_lock : "LOCKS WAITS_OUTSIDE WAITS_UNDER PROGRAMS". LOCKS is how often sessions took their lock, WAITS how
# often they slept or waited for a grace period without it and with it. PROGRAMS is the most programs that they
# asked the kernel for while they held it.
under_lock() {
	follow_locks "$T/trace" '
		taken && taken == main[session] {
			locks++
			programs = 0
		}
		session && /sys_bpf\(/ && under && ++programs > most { most = programs }
		session && /sys_clock_nanosleep\(|\(synchronize_rcu/ { if (under) within++; else outside++ }
		END { print locks + 0, outside + 0, within + 0, most + 0 }
	'
}

# nr_programs : of the machine
nr_programs() {
	/usr/sbin/bpftool prog show | grep -c '^[0-9]'
}

teardown() {
	[ -s "$T/trace" ] || end_trace 2>/dev/null || :
	end_jobs
	remove_map
}

@test "serving begins, goes on with new events, and ends: no wait and no search under the lock" {
	local n locks outside under programs
	# With the programs that follow tasks, the machine has more than the search may look at.
	start_run tasks -v -e cs -p $$
	start_run long -v -a -e page-faults
	trace
	foreign all follow $FAULTS
	# The session that looks first serves.
	wait_for has_text "are served" "$T/tasks.err" "$T/long.err"
	shared -x, -o "$T/out" -a -e cs,dummy true
	n=$(nr_programs)
	end "$foreign_pid"
	shared -x, -o "$T/out" -a -e cs,dummy true
	end_trace
	read -r locks outside under programs < <(under_lock)
	echo "# $locks locks, $outside waits without, $under with it, $programs of $n programs" >&3
	# Each of the two sessions that count takes it once: to begin serving, or to hold the link. Both of the
	# others take it to join, for each of two events, to have those served or to end serving, and to leave.
	# The first one leaves while serving goes on, so it looks if it has to pin the link.
	[ "$locks" = 13 ]
	# The map of differences is put into place.
	[ "$outside" -ge 1 ]
	[ "$under" = 0 ]
	# Once for each event that may be followed, and for each step that asks whether any is.
	[ "$programs" -le 8 ]
	[ "$n" -gt 8 ]
	end_run "$run_pid" INT 130
	end_run "${jobs_started[0]}" INT 130
	wait_for no_registry
}

is_stopped() {
	grep -q ') T ' "/proc/$1/stat"
}

@test "a session that is stopped while it looks for followers, or has found them, holds no lock" {
	local step stopped
	start_run long -v -a -e page-faults
	foreign all follow $FAULTS
	wait_for has_text "are served" "$T/long.err"
	for step in followers-seen followers-served; do
		background "$T/stopped.err" env PERF_TEST_STOP_AT=$step perf stat --bpf-counters \
			--bpf-attr-map "$ATTR_MAP" -o "$T/stopped.csv" -a -e cs true
		stopped=$!
		wait_for is_stopped "$stopped"
		grep -qx "stopped at $step" "$T/stopped.err"
		flock -n "${ATTR_MAP}_lock" true
		flock -n "${ATTR_MAP}_lock/tasks" true
		shared -x, -o "$T/out" -a -e cs,dummy true 2>"$T/err"
		refute grep "is held by" "$T/err"
		kill -KILL "$stopped"
		wait "$stopped" || :
	done
	end "$foreign_pid"
	shared -x, -o "$T/out" -a -e dummy true
	end_run "${jobs_started[0]}" INT 130
	wait_for no_registry
}

@test "a pinned leader of another layout is looked at without the lock" {
	local n locks outside under programs
	start_run only -v -a -e page-faults
	foreign all follow $FAULTS
	wait_for has_text "are served" "$T/only.err"
	end_run "$run_pid" INT 130
	rm "${ATTR_MAP}_lock/switch_"*_*
	n=$(nr_programs)
	trace
	shared -x, -o "$T/out" -a -e cs true
	end_trace
	read -r locks outside under programs < <(under_lock)
	echo "# $locks locks, $outside waits without, $under with it, $programs of $n programs" >&3
	# To join, for the event, and to leave. The new leader is loaded under it, which waits.
	[ "$locks" = 3 ]
	[ "$programs" = 0 ]
	# The pinned program and the one that follows it, at least.
	[ "$n" -ge 2 ]
	end "$foreign_pid"
	shared -x, -o "$T/out" -a -e cs true
	[ -z "$(compgen -G "${ATTR_MAP}_lock/switch_*")" ]
	wait_for no_registry
}

@test "a program at switches that somebody else has attached delays no session of tasks" {
	local locks outside under programs task
	start_run long -v -a -e page-faults
	foreign other attach $FAULTS
	trace
	background "$T/task.err" perf stat --bpf-counters --bpf-attr-map "$ATTR_MAP" -v -o "$T/task.csv" \
		-p $$ -e page-faults
	task=$!
	# It counts: another program than the one that followers find is at switches for it.
	wait_for has_text poll "/proc/$task/wchan"
	end "$foreign_pid"
	end_run "$task" INT 130
	end_trace
	read -r locks outside under programs < <(under_lock)
	echo "# $locks locks, $outside waits without, $under with it" >&3
	# To join, for the event, and to leave; scopes have the lock of tasks.
	[ "$locks" = 3 ]
	[ "$under" = 0 ]
	end_run "${jobs_started[0]}" INT 130
	wait_for no_registry
}
