#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# How long sessions hold their main lock, in time that is the same in each run: one instruction takes one
# nanosecond. Others wait for that long, and no longer if the holder is not stopped.
load helpers
load shared
load cgroups
load locks

TRACING=/sys/kernel/tracing

setup() {
	ATTR_MAP=/sys/fs/bpf/perf_test_$$_$BATS_TEST_NUMBER
	T=$BATS_TEST_TMPDIR
	jobs_started=()
	[ -d $TRACING/events ] || mount -t tracefs tracefs $TRACING
}

teardown() {
	trace 0
	end_jobs
	remove_top
	remove_map
}

# trace 1|0 : note all locks, and the switches of sessions, from here on or no more
trace() {
	local name filter=0
	# The filter 0 is none.
	[ "$1" = 0 ] || filter='prev_comm == "perf" || next_comm == "perf"'
	echo "$filter" >$TRACING/events/sched/sched_switch/filter
	for name in syscalls/sys_{enter,exit}_flock sched/sched_switch; do
		echo "$1" >"$TRACING/events/$name/enable"
	done
}

# holds : "NR LONGEST SLEEPS". Sessions had their main lock so often, ran with it for so many microseconds at most,
# and slept with it so often. The time of other tasks on the only CPU is left out. $T/holds lists all holds.
holds() {
	follow_locks $TRACING/trace '
		function number(name) {
			return match($0, name "=[0-9]+") ? substr($0, RSTART + length(name) + 1, RLENGTH - length(name) - 1) : 0
		}
		{ us = $4 * 1000000 }
		/sched_switch:/ {
			pid = "perf-" number("prev_pid")
			if (pid in since) {
				sleeps += !/prev_state=R/
				out[pid] = us
			}
			pid = "perf-" number("next_pid")
			if (pid in since && pid in out)
				since[pid] += us - out[pid]
		}
		freed && freed == main[session] {
			held = us - since[session]
			printf "%s %d\n", session, held >list
			nr++
			longest = held > longest ? held : longest
			delete since[session]
		}
		taken && taken == main[session] {
			since[session] = us
			delete out[session]
		}
		END { printf "%d %d %d\n", nr, longest, sleeps }
	' -v list="$T/holds"
}

# short_holds N : sessions had their main lock at least N times since trace 1, each time for at most 1 ms, and never slept
short_holds() {
	local nr longest sleeps
	trace 0
	read -r nr longest sleeps < <(holds)
	echo "# $nr holds, the longest $longest us, $sleeps sleeps" >&3
	sort -k2nr "$T/holds" >&2
	[ "$nr" -ge "$1" ] && [ "$longest" -le 1000 ] && [ "$sleeps" = 0 ]
}

# sessions : start one of each kind, "all", "tasks" and "groups"
sessions() {
	start_run all "$@" -a -e "$events"
	all=$run_pid
	start_run tasks "$@" -e "$events" -p "$gang"
	tasks=$run_pid
	start_run groups "$@" -a -e "$events" --for-each-cgroup "glob:$name*"
	groups=$run_pid
}

@test "sessions that join, leave, merge sums or repair hold the main lock for at most 1 ms" {
	local events all tasks groups pids=()
	make_top
	gang 3 1000 2
	# The leader is loaded under the lock. Sessions wait for that for a second at most.
	start_run first -a -e cs
	echo >$TRACING/trace
	trace 1
	events=cs,page-faults
	sessions
	pids+=("$tasks" "$all" "$groups")
	# More events than a session of perf stat has by default, alone and in groups
	events='{instructions,cycles},{branches,branch-misses},cs,faults,minor-faults,major-faults,migrations'
	events+=,task-clock,cpu-clock,dummy,instructions:u,cycles:u,branches:u,cs:u
	sessions
	pids+=("$groups" "$all" "$tasks")
	mkdir "$top/a" "$top/a/b"
	work
	# The first ones leave. Their sums go to those that stay.
	for pid in "${pids[@]:0:3}"; do
		end_run "$pid" INT 130
	done
	# The others die. The next session repairs.
	kill -KILL "${pids[@]:3}"
	wait "${pids[@]:3}" || :
	shared -x, -o "$T/out" -a -e cs true
	shared -x, -o "$T/out" -e cs -r 3 true
	shared -x, -o "$T/out" -a -e cs --for-each-cgroup "$name" true
	[ "$(nr_sessions)" = 1 ]
	# Each of nine sessions joins, adds events, and leaves or dies.
	short_holds 24
}

# many_events : print 250 events for -e
many_events() {
	(cd $TRACING/events/syscalls && printf 'syscalls:%s\n' sys_enter_*/) | head -n 250 | tr -d / | paste -sd ,
}

# die_with EVENTS : the last session is killed, and its entries stay
die_with() {
	start_run dead -a -e "$1"
	our_objects >"$T/objects"
	kill -KILL "$run_pid"
	wait "$run_pid" || :
	wait_for are_gone "$T/objects"
}

@test "perf bperf prune removes 250 dead entries, and looks at 250 living ones, in as short holds" {
	local events
	events=$(many_events)
	die_with "$events"
	echo >$TRACING/trace
	trace 1
	[ "$(perf bperf prune --bpf-attr-map "$ATTR_MAP")" = "removed: 250 dead entries, 0 dead sessions" ]
	# one for the leader, and one for each 24 entries
	short_holds 12
	start_run lives -a -e "$events"
	echo >$TRACING/trace
	trace 1
	[ "$(perf bperf prune --bpf-attr-map "$ATTR_MAP")" = "removed: 0 dead entries, 0 dead sessions" ]
	# one for the leader, and one to look for dead sessions
	short_holds 2
	[ "$(entries)" = 250 ]
}

@test "the session that loads the next leader removes 250 dead entries in as short holds" {
	die_with "$(many_events)"
	[ "$(entries)" = 250 ]
	echo >$TRACING/trace
	trace 1
	shared -x, -o "$T/out" -a -e cs true
	[ "$(entries)" = 0 ]
	trace 0
	holds
	sort -k2nr "$T/holds" >&2
	# In the first one it loads the leader, for which others wait for a second at most.
	[ "$(sort -k2nr "$T/holds" | awk 'NR > 1 && $2 > 1000' | wc -l)" = 0 ]
	[ "$(wc -l <"$T/holds")" -ge 14 ]
}

@test "a session of 250 events joins and leaves, and another one removes a dead one of 250, in as short holds" {
	local events many
	events=$(many_events)
	[ "$(tr -cd , <<<"$events" | wc -c)" = 249 ]
	start_run first -a -e cs
	echo >$TRACING/trace
	trace 1
	start_run many -a -e "$events"
	many=$run_pid
	end_run "$many" INT 130
	start_run dead -a -e "$events"
	many=$run_pid
	[ "$(perf bperf list --bpf-attr-map "$ATTR_MAP" -j | jq '.events | length')" = 251 ]
	kill -KILL "$many"
	wait "$many" || :
	shared -x, -o "$T/out" -a -e cs true
	[ "$(nr_sessions)" = 1 ]
	short_holds 8
}

@test "sessions that cannot close their events, since others hold the protocol's lock, hold the main lock as briefly" {
	local holder event
	start_run first -a -e cs
	background "$T/holder" "$WORKLOADS/hold_anon" shared
	holder=$!
	wait_for has_text ready "$T/holder"
	echo >$TRACING/trace
	trace 1
	for event in faults minor-faults migrations; do
		shared -x, -o "$T/out" -a -e $event true
	done
	# Each of the three joins, adds its event, leaves, and tries to close it.
	short_holds 12
	kill -0 "$holder"
}

@test "the time in which a session removes dead ones is a part of that in which it waits for locks" {
	local i begin ms stopped pids=()
	start_run first -a -e cs
	for ((i = 1; i <= 60; i++)); do
		background /dev/null perf stat --bpf-counters --bpf-attr-map "$ATTR_MAP" -a -e "r$i" -I 100000
		pids+=("$!")
	done
	wait_for has_sessions 61
	background /dev/null env PERF_TEST_STOP_AT=walked perf stat --bpf-counters --bpf-attr-map "$ATTR_MAP" -e cs -- true
	stopped=$!
	wait_for is_state "$stopped" T
	kill -KILL "${pids[@]}"
	wait "${pids[@]}" 2>/dev/null || :
	begin=$(date +%s%N)
	PERF_TEST_LOCK_MS=100 shared -x, -o "$T/out" -e cs true 2>"$T/err"
	ms=$((($(date +%s%N) - begin) / 1000000))
	grep -q "_lock/tasks is held by process $stopped (perf, T (stopped)): " "$T/err"
	# 100 ms, and 41 for the rest. Each dead session takes more than 1 ms, so 60 do not fit into half of the time.
	in_range "$ms" 100 160
	kill -KILL "$stopped"
}

# longest_hold : the most milliseconds for which a session had a lock, with the time of other tasks
longest_hold() {
	follow_locks $TRACING/trace '
		{ ms = $4 * 1000 }
		freed {
			if (ms - since[freed] > longest)
				longest = ms - since[freed]
		}
		taken { since[taken] = ms }
		END { printf "%d\n", longest }
	'
}

@test "a session of a thousand cgroups holds no lock for long" {
	local held
	make_top
	seq -f "$top/w%g" 1000 | xargs mkdir
	start_run other -a -e cs --for-each-cgroup "$name/w1"
	echo >$TRACING/trace
	trace 1
	shared -x, -o "$T/out" -a -e cs,faults,minor-faults,major-faults,migrations,task-clock,cpu-clock,dummy \
		--for-each-cgroup "glob:$name/w*" true
	trace 0
	[ "$(grep -c ,cs, "$T/out")" = 1000 ]
	held=$(longest_hold)
	echo "# the longest hold $held ms" >&3
	# Others wait for a second at most. Up to Linux 6.7, a wait of the kernel for each of the 63 chunks of sums
	# took more than 0.7 seconds. One for four of them took 0.2 seconds. The rest is work for 8,000 sums.
	in_range "$held" 20 300
}
