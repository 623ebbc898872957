#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# Shared counting of tasks on two CPUs. Most of it counts shared and plainly in one run: faults are
# equal, and switches but for those of tasks that are preempted in perf_event_exit_task(), which have
# ended for us, while their plain perf events may not have yet.

load helpers
load kept

has_pmu() {
	[ "$PLACE" != amd ]
}

@test "tasks that migrate, threads and processes on both CPUs: switches and faults" {
	local faults=page-faults,page-faults:u
	alike 0 cs,$faults "$WORKLOADS/switches" 50
	alike 0 cs,$faults "$WORKLOADS/faults" 500
	alike 0 $faults "$WORKLOADS/tree" 4 3 20000
	alike 5 cs "$WORKLOADS/tree" 4 3 20000
	alike 0 $faults "$WORKLOADS/threads" 8 1000000
	alike 20 cs "$WORKLOADS/threads" 8 1000000	# of some 7
	alike 0 $faults "$WORKLOADS/spawns" 20 "$WORKLOADS/faults" 20
	alike 0 $faults "$WORKLOADS/thread_exec" 20 20000
	alike 0 $faults -i "$WORKLOADS/tree" 3 3 20000
	alike 0 cs -i "$WORKLOADS/tree" 3 3 20000
	# two that never rest, the third moved to and fro
	alike 0 $faults bash -c '"$0"/spin 5000000 & "$0"/spin 5000000 & "$0"/faults 2000 &
		for i in 1 2 3 4 5 6; do
			taskset -pc $((i % 2)) $! >/dev/null 2>&1; sleep 0.01
		done; wait' "$WORKLOADS"
	nothing_left
}

# many_events : 63 of them, more than one set of sums has room for beside others
many_events() {
	local event modifier list=
	for event in page-faults minor-faults major-faults alignment-faults emulation-faults cs migrations \
		dummy bpf-output; do
		for modifier in '' :u :k :h :uk :uh :kh; do
			list+=,$event$modifier
		done
	done
	echo "${list#,}"
}

@test "sums in memory that other runs made are read by one that counts" {
	gang 2 1000 3
	both_window living page-faults,page-faults:u -p "$gang"
	tell living enable
	work
	background "$T/crew" "$WORKLOADS/crew" 64 1
	crew=$!
	wait_for awk 'END { exit NR < 64 }' "$T/crew"
	window many --bpf-counters --per-thread -e "$(many_events)" -p "$crew"
	window more --bpf-counters -e "$(many_events)" -p "$gang"
	work
	tell living disable
	finish living more many
	same living 0 page-faults 30
	same living 0 page-faults:u 30
	kill "$crew"
	nothing_left
}

@test "10,000 short-lived children on two CPUs: each counts, no entry is left" {
	alike 0 page-faults bash -c '"$0"/forks 3500 1 & "$0"/forks 3500 1 & wait' "$WORKLOADS"
	in_range "$(field page-faults 1 "$T/alike.out")" 7000 10000000
	alike 1 cs,page-faults:u bash -c '"$0"/tree 3 10 1 & "$0"/tree 3 12 1 & "$0"/spawns 100 /usr/bin/true & wait' "$WORKLOADS"
	nothing_left
}

@test "cycles of two CPUs at work" {
	has_pmu || skip "no PMU"
	alike 0.5 cycles:u "$WORKLOADS/threads" 2 20000000
	alike 0.5 cycles "$WORKLOADS/threads" 5 10000000
	alike 0.5 cycles:u "$WORKLOADS/tree" 2 4 1000000
	nothing_left
}

# churn SIDE NR PID : that many runs of all kinds that count this process and others join, leave, or
# are killed, on this CPU
churn() {
	background "$T/churn$1" taskset -c "$1" bash -c '
		for ((i = 0; i < $2; i++)); do
			case $(((i + $1) % 5)) in
			0) options="-p $3 -- true" ;;
			1) options="-t $3 -- true" ;;
			2) options="--per-thread -p $3 -- true" ;;
			3) options="-i -p $3,$$ -- true" ;;
			4) options="-- $WORKLOADS/forks 3 100" ;;
			esac
			perf stat --bpf-counters --bpf-attr-map "$0" -e cs,page-faults:u $options &
			run=$!
			[ $((i % 4)) != 3 ] || kill -KILL $run
			wait $run
		done' "$ATTR_MAP" "$@"
	churns+=($!)
}

@test "others join, leave and are killed on both CPUs meanwhile: the living run is right" {
	local target churns=()
	mkfifo "$T/go"
	exec 7<>"$T/go"
	background "$T/target" bash -c 'read -r -u 7; while [ ! -e "$1/over" ]; do
		"$0"/faults 300; "$0"/switches 10; "$0"/threads 3 1000000; "$0"/tree 2 3 100000; done
		echo "done"; read -r -u 7' "$WORKLOADS" "$T"
	target=$!
	both_window long page-faults,cs -p $target
	tell long enable
	echo >&7
	churn 0 30 $target
	churn 1 30 $target
	wait "${churns[@]}" || :
	: >"$T/over"
	wait_for grep -q "done" "$T/target"
	wait_for sleeps $target
	tell long disable
	finish long
	same long 0 page-faults 3000
	same long 2 cs 100
	[ "$(cat "$T"/churn? | grep -c 'counter stats')" -ge 40 ]
	clean "$T"/churn?
	# the last of them were killed, too
	shared -e cs true 2>"$T/next.err"
	nothing_left
}

@test "syncs of a CPU by several runs at once: none counts into another" {
	local i runs=() event=page-faults
	background "$T/gang" taskset -c 1 "$WORKLOADS/gang" 2 2000000 3
	gang=$!
	wait_for grep -q ready "$T/gang"
	! has_pmu || event=cycles:u
	with_shared "$event,cs"
	for ((i = 0; i < 6; i++)); do
		background "$T/err$i" taskset -c $((i % 2)) perf stat --bpf-attr-map "$ATTR_MAP" -x, \
			-o "$T/all$i" -I 10 --summary -e "$events" -p $gang
		runs+=($!)
	done
	wait_for has_runs 7
	for i in "${runs[@]}"; do
		wait_for polls "$i"
	done
	for i in 1 2 3; do
		work
	done
	kill -INT "${runs[@]}"
	wait "${runs[@]}" || :
	clean "$T"/err*
	for ((i = 0; i < 6; i++)); do
		sed -n 's/^ *summary,//p' "$T/all$i" >"$T/sum$i.out"
		same sum$i 0.5 $event 1
		same sum$i 10 cs 6
		# and the sum of the intervals
		awk -F, '/^ *summary/ { if ($4 ~ /b$/) s[$4] = $2; next } $4 ~ /b$/ { sum[$4] += $2 }
			END { for (e in s) { nr++; print e, s[e], sum[e]; if (s[e] != sum[e]) bad = 1 }
			exit bad || nr != 2 }' "$T/all$i"
	done
	nothing_left
}

@test "a task that never switches is counted from its marking on, on another CPU and on ours" {
	has_pmu || skip "no PMU"
	[[ $(uname -r) != 6.1.* ]] || skip "on 6.1 whoever loads programs waits for ordinary tasks of the kernel"
	local cpu target
	echo -1 >/proc/sys/kernel/sched_rt_runtime_us
	for cpu in 0 1; do
		background "$T/spinner" taskset -c 1 chrt -f 10 "$WORKLOADS/spinfor" 1000
		target=$!
		wait_for is_fifo $target
		taskset -c $cpu chrt -f 20 perf stat --bpf-attr-map "$ATTR_MAP" -x, -o "$T/spin$cpu.out" \
			-e cycles,cycles:b,cs,cs:b -p $target sleep 0.3
		kill -KILL $target
		same spin$cpu 1 cycles 200000000 330000000
		same spin$cpu 0 cs 0
		# beside ours it has not switched once
		[ $cpu = 1 ] || [ "$(field cs:b 1 "$T/spin0.out")" = 0 ]
	done
	nothing_left
}

# is_fifo PID : it is the spinner by now, and of that class
is_fifo() {
	[[ $(chrt -p "$1") = *FIFO* ]] && [ "$(cat "/proc/$1/comm")" = spinfor ]
}

@test "overlap on two CPUs: by process, thread and command, leaving in every order" {
	local order name times
	for order in "p t c" "p c t" "t p c" "t c p" "c p t" "c t p"; do
		both_window c page-faults:u,cs -- sh -c 'trap "" TERM; "$0" 3 100000 20 >"$1"' "$WORKLOADS/gang" "$T/gang"
		wait_for grep -q ready "$T/gang"
		gang=$(pgrep -x gang)
		jobs_started+=("$gang")
		both_window p page-faults:u,cs -p "$gang"
		both_window t page-faults:u,cs -t "$gang"
		tell_all enable p t c
		work
		times=1
		for name in $order; do
			tell $name disable
			finish $name
			same $name 0 page-faults:u $((times * 20))
			same $name 10 cs $((times * 10))
			work
			times=$((times + 1))
		done
		kill -TERM "$gang"
		rm "$T/gang"
	done
	nothing_left
}

@test "100 short runs beside a long one leave nothing, and the long one is right" {
	gang 2 10000 5
	short_runs 100 page-faults
	same long 0 page-faults 50
}
