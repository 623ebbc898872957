#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# Shared counting of tasks on two CPUs. Most of it counts in one run shared and plainly at the same
# time: software events must be equal, cycles nearly.

load helpers
load shared

T=$BATS_TEST_TMPDIR

has_pmu() {
	[ "$PLACE" != amd ]
}

@test "tasks that migrate, threads and processes on both CPUs: switches and faults are exact" {
	local event
	window idle --bpf-counters -e cs -p 1
	for event in context-switches page-faults page-faults:u; do
		alike 0 $event "$WORKLOADS/switches" 50
		alike 0 $event "$WORKLOADS/faults" 500
		alike 0 $event "$WORKLOADS/tree" 4 3 20000
		alike 0 $event "$WORKLOADS/threads" 8 1000000
		alike 0 $event "$WORKLOADS/spawns" 20 "$WORKLOADS/faults" 20
		alike 0 $event "$WORKLOADS/thread_exec" 20 20000
		alike 0 $event "$WORKLOADS/forks" 500 1000
		alike 0 $event -i "$WORKLOADS/tree" 3 3 20000
		# two that never rest, moved to and fro
		alike 0 $event bash -c '"$0"/spin 20000000 & "$0"/spin 20000000 & "$0"/faults 2000 &
			for i in 1 2 3 4 5 6; do
				taskset -pc $((i % 2)) $! >/dev/null 2>&1; sleep 0.01
			done; wait' "$WORKLOADS"
	done
	finish idle
	nothing_left
}

@test "10,000 short-lived children on two CPUs: each counts, no entry is left" {
	window idle --bpf-counters -e cs -p 1
	alike 0 page-faults bash -c '"$0"/forks 4000 1 & "$0"/forks 4000 1 & wait' "$WORKLOADS"
	in_range "$(field page-faults 1 "$T/alike.out")" 8000 10000000
	alike 0 context-switches bash -c '"$0"/tree 3 9 1 & "$0"/tree 3 9 1 & "$0"/spawns 200 /usr/bin/true & wait' "$WORKLOADS"
	state
	[ "$(state scopes)" = 1 ]
	wait_for state_is entries 1
	wait_for state_is members 1
	[ "$(state inserts)$(state failed)$(state lost)" = 000 ]
	finish idle
	nothing_left
}

@test "cycles of two CPUs at work" {
	has_pmu || skip "no PMU"
	alike 0.5 cycles:u "$WORKLOADS/threads" 2 50000000
	alike 0.5 cycles "$WORKLOADS/threads" 5 20000000
	alike 0.5 cycles:u "$WORKLOADS/tree" 2 4 2000000
	nothing_left
}

# churn SECONDS PID : runs of all kinds that count this process and others join, leave, or are
# killed, on both CPUs
churn() {
	local side
	for side in 0 1; do
		background "$T/churn$side" timeout "$1" taskset -c $side bash -c '
			for ((i = 0; ; i++)); do
				case $(((i + $3) % 5)) in
				0) options="-p $2 -- true" ;;
				1) options="-t $2 -- true" ;;
				2) options="--per-thread -p $2 -- true" ;;
				3) options="-i -p $2,$$ -- true" ;;
				4) options="-- $WORKLOADS/forks 3 100" ;;
				esac
				perf stat --bpf-counters --bpf-attr-map "$1" -e cs,page-faults:u $options &
				run=$!
				[ $((i % 4)) != 3 ] || kill -KILL $run
				wait $run
			done' bash "$ATTR_MAP" "$2" $side
	done
}

@test "others join, leave and are killed on both CPUs meanwhile: the living run is right" {
	window idle --bpf-counters -e cs -p 1
	state >"$T/before"
	mkfifo "$T/go"
	exec 7<>"$T/go"
	background "$T/bash.out" bash -c 'read -r -u 7; for ((i = 0; i < 30; i++)); do
		"$0"/faults 300; "$0"/switches 10; "$0"/threads 3 1000000; "$0"/tree 2 3 100000; done; echo "done"; read -r -u 7' "$WORKLOADS"
	local target=$!
	background "$T/long.err" perf stat --bpf-attr-map "$ATTR_MAP" -x, -o "$T/long.out" \
		-e page-faults,page-faults:b,context-switches,context-switches:b -p $target
	local long=$!
	wait_for has_runs 2
	churn 2 $target
	echo >&7
	wait_for grep -q "done" "$T/bash.out"
	wait "${jobs_started[@]: -2}" || :
	kill -INT $long
	wait $long || :
	clean "$T/long.err"
	rows "$T/long.out"
	in_range "$(field page-faults 1 "$T/long.out")" 9000 1000000
	[ "$(field page-faults 1 "$T/long.out")" = "$(field page-faults:b 1 "$T/long.out")" ]
	[ "$(field context-switches 1 "$T/long.out")" = "$(field context-switches:b 1 "$T/long.out")" ]
	in_range "$(cat "$T"/churn? | grep -c 'counter stats')" 30 10000
	clean "$T"/churn?
	kill -KILL -- -$target
	# the last of them were killed, too
	shared -e cs true 2>/dev/null
	same_state "$T/before"
	finish idle
	nothing_left
}

@test "syncs of a CPU by several runs at once: none counts into another" {
	local i runs=() event=page-faults
	background "$T/target" taskset -c 1 "$WORKLOADS/gang" 2 3000000
	gang=$!
	wait_for grep -q ready "$T/target"
	has_pmu && event=cycles:u
	for ((i = 0; i < 6; i++)); do
		background "$T/err$i" taskset -c $((i % 2)) perf stat --bpf-attr-map "$ATTR_MAP" -x, \
			-o "$T/out$i" -I 10 --summary -e "$event,${event/:u/:ub},context-switches,context-switches:b" -p $gang
		runs+=($!)
	done
	wait_for has_runs 6
	for ((i = 0; i < 5; i++)); do
		kill -USR1 $gang
		sleep 0.2
	done
	kill -INT "${runs[@]}"
	wait "${runs[@]}" || :
	clean "$T"/err*
	[ "$(state nested 2>/dev/null || :)" = "" ]
	for ((i = 0; i < 6; i++)); do
		grep '^ *summary' "$T/out$i" | tee "$T/summary" | cut -d, -f 2-5
		[ "$(wc -l <"$T/summary")" = 4 ]
		awk -F, '{ v[NR] = $2 } END {
			d = v[1] > v[2] ? v[1] - v[2] : v[2] - v[1]
			exit !(v[3] == v[4] && v[3] > 0 && d <= v[1] * 0.005) }' "$T/summary"
		# and the sum of the intervals
		awk -F, '/^ *summary/ { if ($4 ~ /b$/) s[$4] = $2; next } $4 ~ /b$/ { sum[$4] += $2 }
			END { for (e in s) { print e, s[e], sum[e]; if (s[e] != sum[e]) bad = 1 } exit bad }' "$T/out$i"
	done
}

@test "a task that never switches is counted from its marking on, on another CPU and on ours" {
	has_pmu || skip "no PMU"
	local cpu target
	echo -1 >/proc/sys/kernel/sched_rt_runtime_us
	for cpu in 0 1; do
		background "$T/spinner" taskset -c 1 chrt -f 10 "$WORKLOADS/spinfor" 1000
		target=$!
		sleep 0.5
		taskset -c $cpu chrt -f 20 perf stat --bpf-attr-map "$ATTR_MAP" -x, -o "$T/spin.out" \
			-e cycles,cycles:b,context-switches:b -p $target sleep 1
		rows "$T/spin.out"
		kill -KILL $target
		within "$(field cycles:b 1 "$T/spin.out")" "$(field cycles 1 "$T/spin.out")" 1
		in_range "$(field cycles:b 1 "$T/spin.out")" 800000000 1100000000
	done
}

# equal NAME EVENT [LEAST] : that run counted the event as often plainly as shared
equal() {
	local plain shared colon=:
	[[ $2 != *:* ]] || colon=
	plain=$(field "$2" 1 "$T/$1.out")
	shared=$(field "$2${colon}b" 1 "$T/$1.out")
	echo "$1: $2: plain $plain shared $shared" >&2
	[ "$plain" = "$shared" ]
	in_range "$shared" "${3:-0}" 1000000000
}

@test "overlap on two CPUs: by process, thread and command, leaving in every order" {
	local order name events=page-faults:u,page-faults:ub,cs,cs:b times
	window idle --bpf-counters -e cs -p 1
	for order in "p t c" "p c t" "t p c" "t c p" "c p t" "c t p"; do
		window c -e $events -- sh -c 'trap "" TERM; "$0" 3 300000 20 >"$1"' "$WORKLOADS/gang" "$T/gang"
		wait_for grep -q ready "$T/gang"
		gang=$(pgrep -x gang)
		jobs_started+=("$gang")
		window p -e $events -p "$gang"
		window t -e $events -t "$gang"
		tell_all enable p t c
		work
		times=1
		for name in $order; do
			tell $name disable
			finish $name
			equal $name page-faults:u $((times * 20))
			equal $name cs $((times * 10))
			work
			times=$((times + 1))
		done
		kill -TERM "$gang"
		rm "$T/gang"
	done
	finish idle
	nothing_left
}

# A perf event of a CPU that goes is gone for good; until the leader opens it again, what happens
# there when it is back is not counted. So the count is short, and everything else stays right.
@test "a CPU goes and comes again under counting: nothing is invented, the other CPU counts" {
	local online=/sys/devices/system/cpu/cpu1/online u=page-faults:u name
	[ -w $online ] || skip "CPUs cannot be taken off here"
	background "$T/gang" taskset -c 1 "$WORKLOADS/gang" 3 30000 20
	gang=$!
	wait_for grep -q ready "$T/gang"
	work
	window before -e $u,${u}b,cs,cs:b -p $gang
	window all -e $u,${u}b,cs,cs:b -p $gang
	tell_all enable before all
	work
	echo 0 >$online
	# the gang has been moved away
	work
	tell before disable
	echo 1 >$online
	taskset -apc 1 $gang >/dev/null
	work
	tell all disable
	finish before all
	rows "$T/before.out"
	rows "$T/all.out"
	equal before $u 40
	equal before cs 5
	for name in $u cs:; do
		in_range "$(field "${name}b" 1 "$T/all.out")" "$(field "${name}b" 1 "$T/before.out")" \
			"$(field "${name%:}" 1 "$T/all.out")"
	done
	nothing_left
}

@test "who comes while a CPU is offline counts on the others" {
	local online=/sys/devices/system/cpu/cpu1/online u=page-faults:u
	[ -w $online ] || skip "CPUs cannot be taken off here"
	echo 0 >$online
	window idle --bpf-counters -e $u,cs -p 1
	alike 0 $u "$WORKLOADS/faults" 300
	alike 0 cs "$WORKLOADS/switches" 30
	echo 1 >$online
	finish idle
	# the next leader has events on all of them
	wait_for no_leader_objects
	alike 0 $u taskset -c 1 "$WORKLOADS/faults" 300
	alike 0 cs taskset -c 1 "$WORKLOADS/switches" 30
	nothing_left
}
