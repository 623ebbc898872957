#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# What counting costs, in instructions, on the emulated machine arm1: one CPU, where one instruction
# takes one nanosecond. Run as a program it prints the tables of Documentation/costs.md; the test
# costs.arm1.bats sources it.
#
# Context switches: two tasks play ping-pong on the CPU while runs count; the rows are
#
#	CEILING|RUNS|EVENTS|WHICH|HOW|WHAT
#
# CEILING	instructions that may be added to a switch, - for events whose own cost it is
# RUNS		how many runs count at the same time
# EVENTS	how many each of them counts, from a list of events of its own: WHICH
# WHICH		same: all runs the same. overlapping: run n begins with the n-th of the list.
#		disjoint: no event twice. Else: this event.
# HOW		a function that starts a run: start_HOW NR EVENTS; it sets run_pid
# WHAT		the row's name in the table
#
# PERF EVENTS in the table are those the runs share, as "perf bperf list" has it.
#
# A new kind of target is a function start_X and rows that name it.

switch_rows=(
	"30|1|1|same|all|system-wide"
	"30|1|4|same|all|system-wide"
	"30|1|16|same|all|system-wide"
	"30|1|4|same|cpu|one CPU (-C 0)"
	"30|4|4|same|all|system-wide, the same events"
	"30|16|4|overlapping|all|system-wide, overlapping events"
	"30|64|1|same|all|system-wide, the same events"
	"30|64|16|same|all|system-wide, the same events"
	"30|64|4|overlapping|all|system-wide, overlapping events"
	"30|64|1|disjoint|all|system-wide, an event of its own each"
	"-|1|4|same|plain|system-wide, not shared"
	"-|1|1|context-switches|plain|only \`context-switches\`, not shared"
	"-|1|1|context-switches|all|only \`context-switches\`: the event's own cost"
)

# Starting and ending: CEILING (million instructions)|EVENTS|HOW|WHAT
start_rows=(
	"-|1|plain|not shared"
	"-|4|plain|not shared"
	"-|8|plain|not shared"
	"130|1|first|shared, the first run"
	"130|4|first|shared, the first run"
	"130|8|first|shared, the first run"
	"10|1|join|shared, joining others"
	"10|4|join|shared, joining others"
	"10|8|join|shared, joining others"
)

# At most six can be hardware events: more would take turns.
hardware=(cycles instructions cycles:u instructions:u cycles:k instructions:k)
software=(page-faults minor-faults major-faults cpu-migrations alignment-faults emulation-faults
	bpf-output dummy cpu-clock task-clock)

costs_map=/sys/fs/bpf/perf_costs_$$
costs_pids=()

# nth_events WHICH NR N : what the N-th run (from 0) counts, NR events
nth_events() {
	local all=("${hardware[@]}" "${software[@]}") out=() i modifiers=(u k h uk uh kh)
	case $1 in
	same) out=("${all[@]:0:$2}") ;;
	overlapping)
		for ((i = 0; i < $2; i++)); do out+=("${all[($3 + i) % ${#all[@]}]}"); done ;;
	disjoint)
		# 16, then those software events that may have a modifier with each of them.
		for ((i = $3 * $2; i < ($3 + 1) * $2; i++)); do
			if [ $i -lt ${#all[@]} ]; then
				out+=("${all[i]}")
			else
				out+=("${software[(i - 16) % 8]}:${modifiers[(i - 16) / 8]}")
			fi
		done ;;
	*) out=("$1") ;;
	esac
	(IFS=,; echo "${out[*]}")
}

counted() {
	setsid env --default-signal=INT perf stat -o /dev/null "$@" >/dev/null 2>&1 3>&- &
	costs_pids+=($!)
}

start_all() { counted --bpf-counters --bpf-attr-map "$costs_map" -a -e "$2"; }
start_cpu() { counted --bpf-counters --bpf-attr-map "$costs_map" -C 0 -e "$2"; }
start_plain() { counted -a -e "$2"; }

# All of them sleep in poll(): they count.
all_wait() {
	local pid
	for pid in "${costs_pids[@]}"; do
		grep -q poll "/proc/$pid/wchan" 2>/dev/null || return 1
	done
}

stop_all() {
	[ ${#costs_pids[@]} -gt 0 ] || return 0
	kill -INT "${costs_pids[@]}" 2>/dev/null
	wait "${costs_pids[@]}" 2>/dev/null
	costs_pids=()
	sleep 0.5	# what is freed later is freed
	return 0
}

costs_end() {
	stop_all
	rm -f "$costs_map"
	[ ! -d "${costs_map}_lock" ] || rmdir "${costs_map}_lock"
}

# Nanoseconds, thus instructions, of one switch: the least of three, because what else happens
# only ever adds. Real time, so that no other task comes between the two.
one_switch() {
	local n
	for n in 1 2 3; do
		chrt -r 1 "$WORKLOADS/pingpong" -t 1500
	done | sort -n | head -n 1
}

# switch_row ROW BASE : prints the row; fails when it is above its ceiling
switch_row() {
	local ceiling runs events which how what n tries with shared
	IFS='|' read -r ceiling runs events which how what <<<"$1"
	for ((n = 0; n < runs; n++)); do
		"start_$how" $n "$(nth_events "$which" "$events" $n)"
	done
	for ((tries = 0; tries < 500; tries++)); do
		! all_wait || break
		sleep 0.02
	done
	if ! all_wait; then
		echo "$what: not all $runs runs count"
		stop_all
		return 1
	fi
	shared=-
	if [ "$how" != plain ]; then
		shared=$(perf bperf list --bpf-attr-map "$costs_map" |
			sed -n "s/^$runs runs\{0,1\} shares\{0,1\} \([0-9]*\) perf event.*/\1/p")
		[ -n "$shared" ] || { echo "$what: $runs runs do not share"; stop_all; return 1; }
	fi
	sleep 0.2
	with=$(one_switch)
	stop_all
	awk -v what="$what" -v runs="$runs" -v events="$events" -v with="$with" -v base="$2" \
		-v ceiling="$ceiling" -v shared="$shared" 'BEGIN {
		printf "| %-45s | %4d | %6d | %11s | %6.1f | %7s |\n", what, runs, events, shared,
			with - base, ceiling
		exit ceiling != "-" && with - base > ceiling }'
}

switch_table() {
	local row base failed=0
	sleep 2		# what the machine still does after booting
	base=$(one_switch)
	echo "| $(printf '%-45s | runs | events | perf events |  added | ceiling' "counting") |"
	echo "|---|---:|---:|---:|---:|---:|"
	for row in "${switch_rows[@]}"; do
		switch_row "$row" "$base" || failed=1
	done
	echo
	echo "A switch without any counting takes $base instructions."
	return $failed
}

# all_of COMMAND... : the instructions of the whole machine from its start to its end
all_of() {
	local n
	for n in 1 2; do
		"$WORKLOADS/pmucount" -a 0:1 -- "$@" >/tmp/costs.$$ 2>/dev/null </dev/null || exit 1
		sleep 0.3	# what the kernel frees later must not be in the next one
		cut -d ' ' -f 1 /tmp/costs.$$
	done | sort -n | head -n 1
	rm -f /tmp/costs.$$
}

# start_row ROW : prints the row; fails when it is above its ceiling
start_row() {
	local ceiling events how what list cost shared=(--bpf-counters --bpf-attr-map "$costs_map")
	IFS='|' read -r ceiling events how what <<<"$1"
	# Half of them hardware events
	list=$(IFS=,; echo "${hardware[*]:0:$(((events + 1) / 2))},${software[*]:0:$((events / 2))}")
	list=${list%,}
	case $how in
	plain) shared=() ;;
	join)
		start_all 0 "$list"
		while ! all_wait; do sleep 0.02; done ;;
	esac
	cost=$(all_of perf stat "${shared[@]}" -o /dev/null -a -e "$list" true)
	stop_all
	awk -v what="$what" -v events="$events" -v cost="$cost" -v ceiling="$ceiling" 'BEGIN {
		printf "| %-26s | %6d | %8.1f | %7s |\n", what, events, cost / 1e6, ceiling
		exit cost !~ /^[0-9]+$/ || (ceiling != "-" && cost > ceiling * 1e6) }'
}

start_table() {
	local row failed=0
	perf stat -o /dev/null true
	echo "| $(printf '%-26s | events | millions | ceiling' "perf stat -a -e ... true") |"
	echo "|---|---:|---:|---:|"
	for row in "${start_rows[@]}"; do
		start_row "$row" || failed=1
	done
	echo
	echo "\`true\` alone takes $(all_of true | awk '{ printf "%.1f", $1 / 1e6 }') million."
	return $failed
}

if [ "${BASH_SOURCE[0]}" = "$0" ]; then
	trap costs_end EXIT
	echo "## Instructions added to a context switch"
	echo
	switch_table; one=$?
	echo
	echo "## Million instructions to start and end a run"
	echo
	start_table; two=$?
	[ $one = 0 ] && [ $two = 0 ]
fi
