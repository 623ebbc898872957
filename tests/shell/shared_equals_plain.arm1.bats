#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# Plain and shared counts of one session: only the way of counting differs.
load helpers

tracing=/sys/kernel/tracing

setup_file() {
	printf '%s\n' 'p:perf_test/exec perf_event_exec' 'p:perf_test/exit perf_event_exit_task' \
		'r:perf_test/ended perf_event_exit_task' >>$tracing/kprobe_events
	mkdir $tracing/instances/perf_test
	for event in perf_test/exec perf_test/exit perf_test/ended task/task_rename sched/sched_switch; do
		echo 1 >$tracing/instances/perf_test/events/$event/enable
	done
}

teardown_file() {
	rmdir $tracing/instances/perf_test
	printf -- '-:perf_test/%s\n' exec exit ended >>$tracing/kprobe_events
}

# between : print the number of switches since the trace was emptied in which a plain event of a task
# counts and a shared one does not. These are preemptions in an exec before the task has its new name, and
# in the function that ends the task's events.
between() {
	awk '
		match($0, /-[0-9]+ +\[/) { pid = substr($0, RSTART + 1) + 0 }
		/: (exec|exit): / { is_between[pid] = 1 }
		/: (task_rename|ended): / { is_between[pid] = 0 }
		/: sched_switch: .* prev_state=R/ { n += is_between[pid] }
		END { print n + 0 }' $tracing/instances/perf_test/trace
}

# agrees EVENT... -- COMMAND... : the plain and shared counts of each event are equal. Only switches may be
# missing from the shared count, up to as many as there were in between
agrees() {
	local events=() list='' out=$BATS_TEST_TMPDIR/out event plain shared less
	while [ "$1" != -- ]; do events+=("$1"); list+=,$1,$1b; shift; done
	shift
	list=${list//page-faultsb/page-faults:b}
	list=${list//context-switchesb/context-switches:b}
	: >$tracing/instances/perf_test/trace
	perf stat --bpf-attr-map "$ATTR_MAP" -x, -o "$out" -e "${list#,}" "${options[@]}" -- "$@"
	for event in "${events[@]}"; do
		case $event in *:*) shared=${event}b ;; *) shared=$event:b ;; esac
		plain=$(field "$event" 1 "$out")
		[ -n "$plain" ]
		less=0
		[ "$event" != context-switches ] || less=$(between)
		# Plain events also have switches in between.
		in_range "$(field "$shared" 1 "$out")" $((plain - less)) "$plain" || { cat "$out"; return 1; }
	done
}

all=(context-switches page-faults instructions:u)

@test "shared switches, faults and user instructions of a command equal plain ones" {
	options=()
	agrees "${all[@]}" -- "$WORKLOADS/spin" 1000000
	agrees "${all[@]}" -- "$WORKLOADS/switches" 20
	agrees "${all[@]}" -- "$WORKLOADS/faults" 300
}

@test "shared counts equal plain ones with children, threads and a tree of them" {
	options=()
	agrees "${all[@]}" -- "$WORKLOADS/forks" 50 1000
	agrees "${all[@]}" -- "$WORKLOADS/threads" 4 10000
	agrees "${all[@]}" -- "$WORKLOADS/tree" 3 2 1000
	agrees "${all[@]}" -- "$WORKLOADS/pingpong" 500
}

@test "shared counts equal plain ones without children" {
	options=(-i)
	agrees "${all[@]}" -- "$WORKLOADS/forks" 20 1000
	agrees "${all[@]}" -- "$WORKLOADS/threads" 4 10000
}

@test "shared counts equal plain ones with execs by shells" {
	options=()
	agrees "${all[@]}" -- sh -c 'for i in 1 2 3 4 5 6 7 8; do /bin/true; (exec /bin/true); done'
}
