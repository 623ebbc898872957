#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# Options of perf profile that other tests do not have, where an instruction is a cycle and a nanosecond.

load helpers
load shared

T=$BATS_TEST_TMPDIR

requirements() {
	require_root
	PATH=$WORKLOADS:$PATH
}

teardown() {
	end_jobs
	remove_map
}

# profile OPTION... : sample through this test's map, as JSON
profile() {
	perf profile --bpf-attr-map "$ATTR_MAP" -s comm -j "$@"
}

# weight COMM FILE : the weight of all samples of a task
weight() {
	jq -s --arg comm "$1" '[.[] | select(.comm == $comm) | .weight] | add // 0' "$2"
}

@test "sampling begins after -D and ends after --timeout" {
	local way spin
	for way in --bpf --no-bpf; do
		profile $way -e cycles:u -c 20011 -D 50 -- spin 50000000 >"$T/json"
		# Half of 100 ms of user mode. The delay begins before the command is executed, which takes some milliseconds.
		# The last period is not complete. Measured 50.5 and 54.3 million.
		in_range "$(weight spin "$T/json")" 49900000 60000000
		background /dev/null spin 1000000000000
		spin=$!
		profile $way -e cycles:u -c 20011 --timeout 60 -p $spin >"$T/json"
		kill -KILL $spin
		# 60 ms, without those of the session's own start and end: measured 53.7 and 54.4 million
		in_range "$(weight spin "$T/json")" 50000000 60100000
	done
}

@test "only the work between enable and disable is sampled" {
	local way name
	for name in before sampled after; do
		cp "$WORKLOADS/spin" "$T/$name"
	done
	for way in --bpf --no-bpf; do
		open_control ctl
		background "$T/out" perf profile $way --bpf-attr-map "$ATTR_MAP" -s comm -j -e cycles:u -c 20011 -a -D -1 \
			--control "fifo:$T/ctl.ctl,$T/ctl.ack"
		tell ctl ping
		"$T/before" 10000000
		tell ctl enable
		"$T/sampled" 10000000
		tell ctl disable
		"$T/after" 10000000
		tell ctl stop
		wait $!
		grep '^{' "$T/out" >"$T/json"
		# Its instructions, and those of its start
		in_range "$(weight sampled "$T/json")" 19900000 20300000
		[ "$(weight before "$T/json") $(weight after "$T/json")" = "0 0" ]
	done
}

@test "stacks that the kernel cuts are reported as cut" {
	local way deep
	set_until_end /proc/sys/kernel/perf_event_max_stack 20
	background /dev/null stacks 2000 30
	deep=$!
	for way in --bpf --no-bpf; do
		profile $way -e cycles:u -c 100003 -g --timeout 100 -p $deep >"$T/json"
		grep account "$T/json" >&2
		jq -s -e 'map(.account // empty) | last | .samples > 100 and .truncated.samples > .samples * 0.9' "$T/json"
	done
	kill -KILL $deep
	# Stacks with less frames are whole.
	profile -e cycles:u -c 100003 -g -- spin 10000000 >"$T/json"
	jq -s -e 'map(.account // empty) | last | .samples > 100 and .truncated.samples == 0' "$T/json"
}

# stands_for LEAST MOST : so many percent of the count
stands_for() {
	# Callers give the reasons.
	in_range "$(jq -s 'map(.account // empty) | last | .share' "$T/json")" "$1" "$2"
}

@test "samples that QEMU's late interrupts leave out at a frequency have a line" {
	local n way
	# The kernel chooses a period by the time between two interrupts, which QEMU delivers with the next tick of 4 ms. So
	# first periods are too short, and those after an idle time too long. Plain events of perf_event_open() at 99 Hz
	# begin with periods of 1, 1, 1 and 549. They have one of 53 million after 200 ms without work. Their samples weigh
	# 99 % of the count of a second, but little of the first 20 ms. A shared event runs before the command does, and
	# has 165 ms with a single sample, which is next to nothing of a short command.
	for way in --bpf --no-bpf; do
		for n in 25000000 500000000; do
			profile $way -e instructions -F 99 -- spin $n >"$T/json"
			jq -s -e 'map(.account // empty) | last | .counted as $all |
				[.weight, .thinned, .other.weight, .elsewhere.weight, .lost[].weight] | add |
				. > $all * 0.995 and . < $all * 1.005' "$T/json" || { grep '"account"' "$T/json"; return 1; }
		done
	done
	# of a second, without sharing
	stands_for 97 101
}

@test "raw events that take turns are reported with their part of the time" {
	local way events=r08,r08:u,r08:k,r11,r11:u,r11:k,instructions,instructions:u,instructions:k
	background /dev/null spin 1000000000000
	for way in --bpf --no-bpf; do
		# There are seven counters.
		perf profile $way --bpf-attr-map "$ATTR_MAP" -a -c 1000003 -e "$events" --timeout 400 >"$T/text"
		grep -qE '^# multiplexed: counted [5-9][0-9]\.[0-9] % of the time$' "$T/text" || { grep '^#' "$T/text"; return 1; }
	done
}

@test "raw events are sampled by period and in the kernel's frequency mode, and cache events where the PMU has them" {
	local way
	local -A of=([--bpf]="" [--no-bpf]="-a")
	for way in --bpf --no-bpf; do
		# Cycles by their number: only the counter of cycles interrupts in time. The first periods are short.
		profile $way -e r11 -F 5000 -- spin 50000000 >"$T/json"
		stands_for 99 101
		# 500 in 100 ms. The kernel adapts the period, which is short at first: measured 490 and 512.
		in_range "$(jq -s 'map(.account // empty) | last | .samples' "$T/json")" 450 600
		# Instructions: QEMU delivers interrupts of other counters up to two ticks of 4 ms late. A switch in
		# that time stops the event of a task, and the sample is lost, so this is an event of the CPU. The last
		# period is not complete.
		profile $way ${of[$way]} -e r08 -c 10000019 -- spin 53000000 >"$T/json"
		stands_for 91 94
		[ "$(jq -s 'map(.account // empty) | last | .samples' "$T/json")" = 10 ]
	done
	# This PMU lacks all of them.
	refused 1 perf profile --bpf-attr-map "$ATTR_MAP" -e L1-dcache-loads -c 100003 true <<<"\
perf profile: L1-dcache-loads cannot be sampled: The L1-dcache-loads event is not supported."
	refused 1 perf profile --no-bpf -e L1-dcache-loads -c 100003 true <<<"\
perf profile: The L1-dcache-loads event is not supported."
}

@test "a session keeps all its stacks beside a faster one, whichever began first" {
	local order name pids
	local -A rate=([slow]=99 [fast]=2000)
	# All stacks differ. 2,000 of them in a second fill the store of a CPU three times.
	background /dev/null stacks 50
	for order in "slow fast" "fast slow"; do
		pids=()
		for name in $order; do
			open_control "$name"
			background "$T/$name" perf profile --bpf-attr-map "$ATTR_MAP" -s comm -g -j -a -e cycles:u \
				-F "${rate[$name]}" --control "fifo:$T/$name.ctl,$T/$name.ack"
			pids+=($!)
			tell "$name" ping
		done
		sleep 1
		tell_all stop slow fast
		wait "${pids[@]}"
		for name in slow fast; do
			grep '^{' "$T/$name" >"$T/json"
			jq -s -e --argjson least $((rate[$name] * 8 / 10)) 'map(.account // empty) | last |
				.samples >= $least and ([.lost[].weight] | add) == 0' "$T/json" ||
				{ grep '"account"' "$T/json"; return 1; }
		done
	done
}
