#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# Shared counting of tasks on two CPUs. Most tests count shared and plainly in one session. Faults are
# equal. Switches can differ for tasks that are preempted in perf_event_exit_task(): they have ended for
# us, but maybe not for their plain perf events.

load helpers
load kept

has_pmu() {
	[ "$PLACE" != amd ]
}

@test "switches and faults of migrating threads and processes are right on both CPUs" {
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
	# two tasks that never rest, and a third that moves to and fro
	alike 0 $faults bash -c '"$0"/spin 5000000 & "$0"/spin 5000000 & "$0"/faults 2000 &
		for i in 1 2 3 4 5 6; do
			taskset -pc $((i % 2)) $! >/dev/null 2>&1; sleep 0.01
		done; wait' "$WORKLOADS"
	nothing_left
}

# hidden_session : count $events of children that end, check the counts, and set $nr to the number of exits that
# went unseen
hidden_session() {
	begin_exits forks
	perf stat --bpf-attr-map "$ATTR_MAP" -x, -o "$T/hidden.out" -e "$events" \
		taskset -c 0 "$WORKLOADS/forks" 300 1000 >"$T/hidden.err" 2>&1 3>&-
	end_exits
	nr=$(unseen_exits "$T/hidden.err")
	echo "$nr unseen" >&2
	same hidden 0 page-faults:u 100
	missing=$(switches_in_exits) same hidden 0 cs 300
}

@test "exits that the kernel hides from BPF programs are reported, and only what follows them is counted" {
	local nr=0 tries=0 events
	# Before 6.7 the kernel does not count what it hides.
	is_since 6.7 || skip "Linux $KERNEL"
	background "$T/hide" "$WORKLOADS/hide_exits" 0
	wait_for has_text ready "$T/hide"
	with_shared cs,page-faults:u
	# Since 6.16 the leader needs no kprobe, so none is hidden.
	if is_since 6.16; then
		hidden_session
		[ "$nr" = 0 ]
	else
		# Each session is checked. The last one is the first in which the kernel hid an exit.
		while [ "$nr" = 0 ]; do
			[ $((++tries)) -le 30 ]
			hidden_session
		done
	fi
	nothing_left
}

# many_events : print 63 events, more than fit into one set of sums beside others
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

@test "a session reads sums in memory that other sessions made" {
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

@test "10,000 short-lived children on two CPUs are all counted, and no entry is left" {
	alike 0 page-faults bash -c '"$0"/forks 3500 1 & "$0"/forks 3500 1 & wait' "$WORKLOADS"
	at_least "$(field page-faults 1 "$T/alike.out")" 7000
	# Since Linux 7, exits go unseen while another task is preempted in the same program.
	begin_exits bash tree spawns true
	alike 1 cs,page-faults:u bash -c '"$0"/tree 3 10 1 & "$0"/tree 3 12 1 & "$0"/spawns 100 /usr/bin/true & wait' "$WORKLOADS"
	nothing_left
}

@test "cycles of two busy CPUs are right" {
	has_pmu || skip "no PMU"
	alike 0.5 cycles:u "$WORKLOADS/threads" 2 20000000
	alike 0.5 cycles "$WORKLOADS/threads" 5 10000000
	alike 0.5 cycles:u "$WORKLOADS/tree" 2 4 1000000
	nothing_left
}

# churn SIDE NR PID : let NR sessions of all kinds that count this process and others join, leave, or be
# killed, on this CPU
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

@test "a session is right while others join, leave and are killed on both CPUs" {
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
	wait_for has_text "done" "$T/target"
	wait_for sleeps $target
	tell long disable
	finish long
	same long 0 page-faults 3000
	same long 2 cs 100
	[ "$(cat "$T"/churn? | grep -c 'counter stats')" -ge 40 ]
	clean "$T"/churn?
	# the last sessions were also killed
	shared -e cs true 2>"$T/next.err"
	nothing_left
}

@test "simultaneous syncs of a CPU by several sessions do not mix counts" {
	local i runs=() event=page-faults shared_event
	background "$T/gang" taskset -c 1 "$WORKLOADS/gang" 2 2000000 3
	gang=$!
	wait_for has_text ready "$T/gang"
	! has_pmu || event=cycles:u
	with_shared "$event,cs"
	as_shared "$event"
	for ((i = 0; i < 6; i++)); do
		# Two also count plainly, one on each CPU. If all did, the CPU's seven counters could be too
		# few, and the kernel would estimate plain counts: up to 0.9 % off.
		[ "$i" != 2 ] || events="$shared_event,cs:b"
		background "$T/err$i" taskset -c $((i % 2)) perf stat --bpf-attr-map "$ATTR_MAP" -x, \
			-o "$T/all$i" -I 10 --summary -e "$events" -p $gang
		runs+=($!)
	done
	wait_for has_sessions 7
	for i in "${runs[@]}"; do
		wait_for polls "$i"
	done
	begin_exits gang
	for i in 1 2 3; do
		work
	done
	end_exits
	kill -INT "${runs[@]}"
	wait "${runs[@]}" || :
	clean "$T"/err*
	for ((i = 0; i < 6; i++)); do
		sed -n 's/^ *summary,//p' "$T/all$i" >"$T/sum$i.out"
		# All have counted the same work, and the intervals add up to it.
		is_same_row "$shared_event" $i
		is_same_row cs:b $i
		awk -F, '/^ *summary/ { if ($4 ~ /b$/) s[$4] = $2; next } $4 ~ /b$/ { sum[$4] += $2 }
			END { for (e in s) { nr++; print e, s[e], sum[e]; if (s[e] != sum[e]) bad = 1 }
			exit bad || nr != 2 }' "$T/all$i"
	done
	for i in 0 1; do
		[ "$(field "$event" 5 "$T/sum$i.out")" = 100.00 ]
		same sum$i 0 "$event" 1
		# The last switch of a child may come after its plain event has ended. One that is preempted in
		# perf_event_exit_task() has ended for us, but maybe not for its plain event.
		missing=$(switches_in_exits) extra=9 same sum$i 0 cs 6
	done
	nothing_left
}

# is_same_row EVENT I : session I has the count of session 0
is_same_row() {
	[ "$(field "$1" 1 "$T/sum$2.out")" = "$(field "$1" 1 "$T/sum0.out")" ]
}

@test "a task that never switches is counted from the task walk on, on any CPU" {
	has_pmu || skip "no PMU"
	[[ $(uname -r) != 6.1.* ]] || skip "on 6.1 whoever loads programs waits for ordinary tasks of the kernel"
	local cpu target
	set_until_end /proc/sys/kernel/sched_rt_runtime_us -1
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

# is_fifo PID : it has become the spinner, with the real-time class
is_fifo() {
	[[ $(chrt -p "$1") = *FIFO* ]] && is_named "$1" spinfor
}

@test "overlapping sessions on two CPUs may leave in every order" {
	local order name times
	for order in "p t c" "p c t" "t p c" "t c p" "c p t" "c t p"; do
		both_window c page-faults:u,cs -- sh -c 'trap "" TERM; "$0" 3 100000 20 >"$1"' "$WORKLOADS/gang" "$T/gang"
		wait_for has_text ready "$T/gang"
		gang=$(pgrep -x gang)
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

@test "100 short sessions beside a long one leave nothing, and the long one is right" {
	gang 2 10000 5
	short_runs 100 page-faults
	same long 0 page-faults 50
}
