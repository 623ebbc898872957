#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# Sampling on a CPU that goes offline and comes back: its event is dead for good, and another is opened.

load sample

set_cpu1() {
	echo "$1" >/sys/devices/system/cpu/cpu1/online
}

setup() {
	ATTR_MAP=/sys/fs/bpf/perf_test_$$_$BATS_TEST_NUMBER
	jobs_started=()
	set_cpu1 1
}

max_rate=

teardown() {
	[ ! "$max_rate" ] || echo "$max_rate" >/proc/sys/kernel/perf_event_max_sample_rate
	end_jobs
	remove_map
}

teardown_file() {
	set_cpu1 1
}

# is_sampled_there : a command that runs on CPU 1 has samples
is_sampled_there() {
	taskset 2 "$WORKLOADS/spin" 5000000 || return
	awk -F '\t' '$1 == "entry" && $3 == 1 && $6 == "spin" { found = 1 } END { exit !found }' "$T/out"
}

@test "a CPU that comes back is sampled again" {
	start_sampler out -a -c 100003 cycles
	wait_for is_sampled_there
	set_cpu1 0
	set_cpu1 1
	sleep 0.1
	: >"$T/out"
	wait_for is_sampled_there
	end_sampler "$sampler_pid"
	adds_up "$T/out"
}

# lines : print how many intervals of the profile have ended
lines() {
	grep -c '"account"' "$T/json"
}

# start_profile OPTION... : all CPUs, into $T/json and $T/err
start_profile() {
	background /dev/null sh -c 'exec perf profile --bpf-attr-map "$ATTR_MAP" -a -j -s cpu "$@" >"$T/json" 2>"$T/err"' sh "$@"
	profile_pid=$!
	wait_for has_text '"account"' "$T/json"
}

# opened_before_collection : the event of CPU 1 is opened as the CPU comes, before the next collection ends an interval
opened_before_collection() {
	local generation before
	generation=$("$WORKLOADS/sample_slots" "$ATTR_MAP" 1)
	before=$(lines)
	set_cpu1 0
	set_cpu1 1
	until [ "$("$WORKLOADS/sample_slots" "$ATTR_MAP" 1)" != "$generation" ]; do
		[ "$(lines)" = "$before" ] || return
	done
	[ "$(lines)" = "$before" ]
}

@test "a session opens the event of a CPU that comes back at once, not at its next collection" {
	export ATTR_MAP T
	start_profile -I 900 -e cpu-clock -F 99
	wait_for opened_before_collection
	kill -INT "$profile_pid"
	wait "$profile_pid"
	is_silent "$T/err"
}

# account EXPRESSION : it holds for the account of an interval that has ended since $from
account() {
	tail -n "+$from" "$T/json" | jq -R -e -n "[inputs | fromjson? | .account // empty] | any($1)"
}

@test "the time from a CPU's return to its event is accounted for" {
	export ATTR_MAP T
	start_profile -I 200 -e cpu-clock -F 99
	set_cpu1 0
	# the last reading there is before
	from=$(($(wc -l <"$T/json") + 1))
	wait_for account 'true'
	kill -STOP "$profile_pid"
	set_cpu1 1
	sleep 0.5
	from=$(($(wc -l <"$T/json") + 1))
	kill -CONT "$profile_pid"
	wait_for account '.absent_ns >= 500000000'
	kill -INT "$profile_pid"
	wait "$profile_pid"
	is_silent "$T/err"
}

@test "an event that the kernel refuses when its CPU comes back is tried again, and accounted for" {
	local sysctl=/proc/sys/kernel/perf_event_max_sample_rate
	export ATTR_MAP T
	max_rate=$(<$sysctl)
	start_profile -I 200 -e page-faults -F 900
	set_cpu1 0
	echo 500 >$sysctl
	set_cpu1 1
	wait_for grep -q . "$T/err"
	from=$(($(wc -l <"$T/json") + 1))
	# the whole of an interval
	wait_for account '.absent_ns >= 190000000'
	echo "$max_rate" >$sysctl
	from=$(($(wc -l <"$T/json") + 1))
	wait_for account '.absent_ns == 0'
	wait_for is_profiled_there
	kill -INT "$profile_pid"
	wait "$profile_pid"
	diff -u - "$T/err" >&2 <<<"perf profile: page-faults is not sampled on CPU 1: the kernel has lowered kernel.perf_event_max_sample_rate to 500 (perf tries again each second)"
}

# is_profiled_there : a command that runs on CPU 1 has samples
is_profiled_there() {
	taskset 2 "$WORKLOADS/faults" 2000 || return
	tail -n "+$from" "$T/json" | grep -q '"cpu": 1}'
}

@test "a CPU that was offline at the start brings nothing of earlier times" {
	start_sampler before -q -a -c 100003 cycles
	taskset 2 "$WORKLOADS/spin" 200000000
	set_cpu1 0
	start_sampler out -a -c 100003 cycles
	# The first one reopens the event, so its older counts are in the base.
	set_cpu1 1
	wait_for is_sampled_there
	end_sampler "$sampler_pid"
	adds_up "$T/out"
	# All samples are its own, but for a few between a reading and the start; before there were hundreds.
	[ "$(total other.nr "$T/out")" -lt 10 ]
}

@test "a slot whose events are all on an offline CPU is freed when its session ends" {
	start_sampler beside -N -q -C 0 -c 1000003 cycles
	beside=$sampler_pid
	start_sampler out -N -q -C 1 -c 100003 cycles:u
	slots_are $'0 1 1 1000003 0\n1 1 1 0 100003'
	set_cpu1 0
	end_sampler "$sampler_pid"
	slots_are '0 1 1 1000003 0'
	end_sampler "$beside"
}
