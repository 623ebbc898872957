#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# PMUs that not every CPU has, as on machines with several kinds of cores. Here sysfs names only CPU 0 for
# the only PMU. Its events are perf's own, so they do not exist on CPU 1.

load progs

requirements() {
	local devices=bus/event_source/devices real=/sys name
	export SYSFS_PATH=$T/sys
	mkdir -p "$SYSFS_PATH/$devices/armv8_pmuv3"
	ln -s $real/devices "$SYSFS_PATH/devices"
	for name in $real/$devices/armv8_pmuv3*/*; do
		ln -s "$name" "$SYSFS_PATH/$devices/armv8_pmuv3/"
	done
	rm "$SYSFS_PATH/$devices/armv8_pmuv3/cpus"
	echo 0 >"$SYSFS_PATH/$devices/armv8_pmuv3/cpus"
	event=armv8_pmuv3/inst_retired/u
}

# silent FILE : a session has printed no message
silent() {
	[ ! -s "$1" ] || { cat "$1" >&2; return 1; }
}

# spin_on N : count a command of two million instructions that runs only on CPU N. $value is the count;
# the session prints no message.
spin_on() {
	taskset -c "$1" perf stat --bpf-counters --bpf-attr-map "$ATTR_MAP" -x, -o "$T/shared.csv" \
		-e "$event,page-faults" "$WORKLOADS/spin" 1000000 2>"$T/shared.err"
	silent "$T/shared.err"
	[ "$(field page-faults 1 "$T/shared.csv")" -gt 0 ]
	value=$(field "$event" 1 "$T/shared.csv")
}

@test "tasks count nothing on a CPU that lacks the event, and no reading fails" {
	background "$T/load" sh -c 'while :; do taskset 2 "$0" 20; taskset 1 "$0" 20; done' "$WORKLOADS/switches"
	start_run load -e "$event,page-faults" -p "${jobs_started[0]}"
	spin_on 0
	in_range "$value" 2000000 4000000	# also has those of the other CPU here
	[ "$(field "$event" 5 "$T/shared.csv")" = 100.00 ]
	spin_on 1
	[ "$value" = "<not counted>" ]
	[ "$(state failed)" = 0 ]
	end_run "$run_pid" INT 130
	silent "$T/load.err"
	[ "$(field "$event" 1 "$T/load.csv")" -gt 0 ]
}

@test "a CPU that lacks the event counts nothing after it has gone and come back" {
	start_run load -v -e "$event,page-faults" sleep infinity
	echo 0 >/sys/devices/system/cpu/cpu1/online
	echo 1 >/sys/devices/system/cpu/cpu1/online
	wait_for has_text "CPU 1 came online: 1 shared events opened there" "$T/load.err"
	spin_on 1
	[ "$value" = "<not counted>" ]
	[ "$(state failed)" = 0 ]
	end_run "$run_pid" INT 130
	refute grep "readings failed" "$T/load.err"
}

@test "system-wide counting has rows of the CPUs with the event, and no message" {
	local mode
	for mode in "" -A --per-core --per-socket; do
		echo "# $mode"
		shared $mode -a -x, -o "$T/shared.csv" -e "$event,page-faults" "$WORKLOADS/spin" 1000000 2>"$T/shared.err"
		perf stat $mode -a -x, -o "$T/plain.csv" -e "$event,page-faults" "$WORKLOADS/spin" 1000000 2>"$T/plain.err"
		cat "$T/shared.csv" "$T/plain.csv"
		silent "$T/plain.err"
		silent "$T/shared.err"
		rows_of "$T/plain.csv" >"$T/rows"
		[ "$(grep -c . "$T/rows")" -ge 2 ]
		rows_of "$T/shared.csv" | diff -u "$T/rows" - >&2
	done
}

# rows_of FILE : print each row without its count
rows_of() {
	awk -F, '/,/ && !/^#/ { sub(/(^|,)[0-9.]+,,/, ",,"); sub(/,[0-9]+,100.00,.*/, ""); print }' "$1"
}

@test "executions on a CPU that lacks the event are counted, and no reading fails" {
	counting whole -b "name:target_loop" -e "bpf_runs,$event,page-faults"
	prog_run loop 10 1000 1
	end_run "$run_pid" INT 130
	cat "$T/whole.csv"
	silent "$T/whole.err"
	[ "$(field bpf_runs 1 "$T/whole.csv")" = 10 ]
	[ "$(field "$event" 1 "$T/whole.csv")" = "<not counted>" ]
	counting whole -b "name:target_loop" -e "bpf_runs,$event,page-faults"
	prog_run loop 10 1000 0
	end_run "$run_pid" INT 130
	silent "$T/whole.err"
	[ "$(field bpf_runs 1 "$T/whole.csv")" = 10 ]
	[ "$(field "$event" 5 "$T/whole.csv")" = 100.00 ]
}
