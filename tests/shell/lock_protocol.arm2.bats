#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# The protocol's lock is on an inode that all BPF descriptors of the machine share, so any process can hold it. It
# takes nothing from sessions. Other tests beside this one would be disturbed, so it has a machine of its own.
load helpers
load shared
load cgroups

requirements() {
	require_root
}

setup() {
	ATTR_MAP=/sys/fs/bpf/perf_test_$$_$BATS_TEST_NUMBER
	T=$BATS_TEST_TMPDIR
	jobs_started=()
}

teardown() {
	end_jobs
	remove_top
	remove_map
}

# intervals NAME : how many a session with -I has printed
intervals() {
	awk -F, '$1 + 0 && $1 != last { nr++; last = $1 } END { print nr + 0 }' "$T/$1.csv"
}

# has_intervals NAME N : so many, at least
has_intervals() {
	[ "$(intervals "$1")" -ge "$2" ]
}

@test "beside ten holders of the protocol's lock, ten sessions at once count, and intervals keep coming" {
	# With icount, the CPUs run one at a time: each session gets the lock
	local -x PERF_TEST_LOCK_MS=100000
	local i own groups first holders=() runs=()
	# Each session closes one that nobody else counts, which needs that lock.
	local events=(- cs:u cs:k migrations major-faults minor-faults cpu-clock task-clock alignment-faults
		emulation-faults dummy)
	make_top
	begin_witness
	for i in {1..10}; do
		background "$T/holder$i" "$WORKLOADS/hold_anon" shared
		holders+=($!)
	done
	for i in {1..10}; do
		wait_for has_text ready "$T/holder$i"
	done
	# A witness: it has its intervals without any lock.
	background "$T/own.err" perf stat -x, -o "$T/own.csv" -I 200 -a -e page-faults
	own=$!
	background "$T/groups.err" perf stat --bpf-counters --bpf-attr-map "$ATTR_MAP" -x, -o "$T/groups.csv" \
		-I 200 -a -e page-faults --for-each-cgroup "$name,glob:$name/*"
	groups=$!
	wait_for has_intervals groups 1
	first=$(intervals own)
	for i in {1..10}; do
		mkdir "$top/$i"
		background "$T/run$i.err" perf stat --bpf-counters --bpf-attr-map "$ATTR_MAP" -x, -o "$T/run$i.csv" \
			-e "page-faults:u,${events[i]}" "$WORKLOADS/faults" 300
		runs+=($!)
	done
	wait "${runs[@]}"
	work_in 1000 "$top/10"
	wait_for has_intervals own $((first + 10))
	wait_for grep -q "[1-9].*,page-faults,$name/10," "$T/groups.csv"
	# It had one before, and the last may be under way. With a wait at each, there was one in four seconds.
	[ "$(intervals groups)" -ge 10 ]
	end_run "$own" INT 130
	end_run "$groups" INT 130
	for i in {1..10}; do
		refute grep "of this session's own" "$T/run$i.err"
		field page-faults:u 1 "$T/run$i.csv" >>"$T/counts"
	done
	end_witness 2>/dev/null
	explained 300 500 comm faults <"$T/counts"
	clean "$T/groups.err"
	# Each holder had it all the time.
	kill -0 "${holders[@]}"
}

# stops N : the session has stopped itself for the N-th time, before it tries that lock
stops() {
	[ "$(grep -cx "stopped at event-changing" "$T/run.err")" = "$1" ] && is_state "$run" T
}

@test "a process that holds the protocol's lock for moments is not named" {
	local run holder
	background "$T/run.err" env PERF_TEST_STOP_AT=event-changing perf stat --bpf-counters \
		--bpf-attr-map "$ATTR_MAP" -x, -o "$T/run.csv" -a -e cs true
	run=$!
	wait_for stops 1
	background "$T/holder" "$WORKLOADS/hold_anon"
	holder=$!
	wait_for has_text ready "$T/holder"
	kill -CONT "$run"
	wait_for stops 2
	kill -CONT "$run"
	wait_for stops 3
	kill -KILL "$holder"
	wait "$holder" || :
	kill -CONT "$run"
	wait "$run"
	cat "$T/run.err"
	[ "$(sort -u "$T/run.err")" = "stopped at event-changing" ]
	[ "$(grep -c . "$T/run.err")" = 3 ]
}
