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
