#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# Tasks that cannot be counted, and more than can be: one line each, others are not disturbed, and
# nothing is left.

load helpers
load kept

requirements() {
	require_root
}

# sleepers N : a process with that many further threads, its pid is $sleepers
sleepers() {
	background "$T/sleepers" "$WORKLOADS/sleepers" "$1"
	sleepers=$!
	wait_for grep -q ready "$T/sleepers"
}

# too_many WHAT MAX OPTION... : this run is refused with that line, and not even a trace of it is left
too_many() {
	local line="perf stat: cannot share events: all runs together count too many $1: at most $2 (count fewer, or end other runs)"
	shift 2
	tables >"$T/before"
	refused 1 shared "$@" <<<"$line"
	same_tables "$T/before"
}

# tracepoints N : so many different events, to $events
tracepoints() {
	events=$(cd /sys/kernel/tracing/events/syscalls && printf 'syscalls:%s,' sys_enter_* | cut -d, -f "1-$1")
	[ "$(tr -cd , <<<"$events" | wc -c)" = $(($1 - 1)) ] || skip_or_fail "no $1 tracepoints of system calls here"
}

@test "no such process or thread" {
	refused 22 shared -e cs -p 4194305 true <<'END'
Problems finding threads of monitor
perf stat: -p 4194305: No such process
END
	refused 1 shared -e cs -t 4194305 true <<'END'
Error:
No supported events found.
'cs': there is no task to count (it may have ended)
END
	# beside one that there is, it is the only one that is not counted
	sleepers 1
	shared -x, -o "$T/t.out" -e cs -t $sleepers,4194305 true 2>"$T/t.err"
	[ "$(cat "$T/t.err")" = "perf stat: thread 4194305 has ended: not counted" ]
	nothing_left
}

# held_up OPTION... : a run that waits for the lock, with its list of threads made
held_up() {
	exec 9<"${ATTR_MAP}_lock"
	flock 9
	background "$T/held.err" perf stat --bpf-attr-map "$ATTR_MAP" -x, -o "$T/held.out" --bpf-counters "$@" 9<&-
	held=$!
	wait_for grep -q waiting: "$T/held.err"
}

# go_on STATUS : it gets the lock and ends so; what else it said is on standard input
go_on() {
	local status=0
	exec 9<&-
	wait "$held" || status=$?
	cat >"$T/expected"
	grep -v waiting: "$T/held.err" | diff -u "$T/expected" - >&2
	[ $status = "$1" ]
}

@test "a target that ends before it is marked" {
	local first second
	"$WORKLOADS/waiter" >"$T/first" 3>&- &
	first=$!
	"$WORKLOADS/waiter" >"$T/second" 3>&- &
	second=$!
	jobs_started+=("$first" "$second")
	held_up -e cs -p $first,$second -- true
	kill -KILL $second
	wait $second || :
	go_on 0 <<<"perf stat: process $second has ended: not counted"
	held_up -e cs -p $first -- true
	kill -KILL $first
	wait $first || :
	go_on 1 <<'END'
Error:
No supported events found.
'cs': there is no task to count (it may have ended)
END
	# one of its threads
	gang 2 1000
	held_up --per-thread -e page-faults -p "$gang" -- true
	kill -KILL "$gang"
	# as long as nobody has waited for it, its first thread is there
	wait "$gang" || :
	go_on 1 <<'END'
Error:
No supported events found.
'page-faults': there is no task to count (it may have ended)
END
	nothing_left
}

@test "inside a pid namespace: numbers are those of the namespace" {
	local inside
	gang 2 1000 5
	both_window outside page-faults -p "$gang"
	tell outside enable
	work
	# the first there is 1, its children are few; outside these numbers are others'
	unshare --fork --pid --mount-proc bash -c '
		: >"$2/inside"
		"$1/gang" 2 1000 30 >>"$2/inside" &
		gang=$!
		until grep -q ready "$2/inside"; do :; done
		echo "$gang $(sed "s/ready *\([0-9]*\).*/\1/" "$2/inside")"
		for target in "-p $gang" "-t $gang" "--per-thread -t $gang"; do
			perf stat --bpf-attr-map "$0" -x, -o "$2/ns.out" -e page-faults,page-faults:b \
				$target -- "$1/poke" $gang "$2/inside" || exit
			cat "$2/ns.out"
		done
		perf stat --bpf-attr-map "$0" -x, -o "$2/alike.out" -e page-faults,page-faults:b "$1/faults" 200
		kill $gang' "$ATTR_MAP" "$WORKLOADS" "$T" >"$T/said" 2>&1
	cat "$T/said"
	read -r inside _ <"$T/said"
	[ "$inside" -lt 100 ]
	# Where a machine hides switches, as it may when it is busy, some counts are short.
	same alike 30 page-faults 200
	awk -F, '
		/page-faults:b,/ { sub(/.*waiter-[0-9]*,|.*gang-[0-9]*,/, "") }
		/page-faults,/ { sub(/.*gang-[0-9]*,/, ""); plain[++nr] = $1 }
		/page-faults:b,/ { shared[nr] = $1 }
		END {
			for (i = 1; i <= nr; i++) {
				print "plain " plain[i] " shared " shared[i]
				if (plain[i] < 30 || shared[i] < plain[i] * 0.7 || shared[i] > plain[i])
					bad = 1
			}
			exit bad || nr != 3
		}' "$T/said"
	tell outside disable
	finish outside
	same outside 30 page-faults 5
	nothing_left
}

@test "who dies outside a pid namespace is cleaned up after, whoever comes first" {
	gang 2 1000 5
	both_window living page-faults -p "$gang"
	tell living enable
	work
	tables >"$T/before"
	window dies --bpf-counters -e page-faults,cs -p "$gang"
	kill -KILL "${run_pid[dies]}"
	wait "${run_pid[dies]}" || :
	# it cannot see the gang's threads, so it cannot take their marks away
	unshare --fork --pid --mount-proc perf stat --bpf-counters --bpf-attr-map "$ATTR_MAP" -e cs true 2>"$T/ns.err"
	clean "$T/ns.err"
	work
	shared -e cs true 2>"$T/next.err"
	clean "$T/next.err"
	same_tables "$T/before"
	work
	tell living disable
	finish living
	same living 2 page-faults 15
	nothing_left
}

@test "more threads than rows" {
	sleepers 16383
	too_many "rows of tasks (a run has one, with --per-thread each thread)" 16383 --per-thread -e cs -p $sleepers true
	nothing_left
}

@test "more sets of runs than classes; who leaves finds room" {
	sleepers 4000
	window first --bpf-counters --per-thread -e cs -p $sleepers
	window second --bpf-counters --per-thread -e cs -p $sleepers
	window third --bpf-counters -e cs -p $sleepers
	too_many "different sets of runs that count a task" 16383 -e cs -p $sleepers true
	finish first second third
	nothing_left
}

@test "more events on one task than there can be, of one run and of several" {
	local events text="perf stat: cannot share events: more than 64 different ones on one task"
	tracepoints 65
	refused 1 shared -e "$events" true <<<"$text"
	sleepers 1
	window half --bpf-counters -e "${events%%,*sys_enter_e*}" -p $sleepers
	window most --bpf-counters -e "$(cut -d, -f 2-64 <<<"$events")" -p $sleepers
	tables >"$T/before"
	refused 1 shared -e "$(cut -d, -f 65 <<<"$events"),cs" -p $sleepers true <<<"$text"
	same_tables "$T/before"
	finish half most
	nothing_left
}

@test "more events, or sums of them, than there can be" {
	local events last
	tracepoints 256
	last=${events##*,}
	refused 1 shared -a -e "$events" true <<<"perf stat: cannot share '$last': 256 events are shared already, the most there can be"
	tracepoints 64
	sleepers 4096
	too_many "sums of events (an event of a set of runs is one)" 262144 --per-thread -e "$events" -p $sleepers true
	nothing_left
}

@test "more sets of events, and more runs, than there can be" {
	local names=(cs page-faults minor-faults major-faults migrations cpu-clock task-clock
		alignment-faults emulation-faults) tids i e events runs=()
	sleepers 512
	read -r -a tids <<<"$(cd /proc/$sleepers/task && echo *)"
	# each subset but the one with cs alone, which the kept run has
	for ((i = 2; i < 512; i++)); do
		events=
		for ((e = 0; e < 9; e++)); do
			[ $((i >> e & 1)) = 0 ] || events+=,${names[e]}
		done
		background "$T/err" perf stat --bpf-counters --bpf-attr-map "$ATTR_MAP" -e "${events#,}" -t "${tids[i]}"
		runs+=($!)
	done
	wait_for has_runs 511
	too_many "different sets of events" 511 -e dummy -t $sleepers true
	for ((i = 511; i < 1024; i++)); do
		background "$T/err" perf stat --bpf-counters --bpf-attr-map "$ATTR_MAP" -e cs -a
		runs+=($!)
	done
	wait_for has_runs 1024
	tables >"$T/before"
	refused 1 shared -e cs true <<<"perf stat: cannot share events: 1024 runs count already, the most there can be"
	same_tables "$T/before"
	kill -INT "${runs[@]}"
	wait "${runs[@]}" || :
	nothing_left
}

# few_entries : those of ended tasks are gone, but for some whose release this machine may hide
few_entries() {
	[ "$(state entries)" -lt 100 ]
}

@test "more tasks than the table holds: refused when they are marked, said when they are born" {
	local KEPT_MAP='' ATTR_MAP=${ATTR_MAP}_small born
	PERF_TEST_MAX_TASKS=1 window small --bpf-counters -e cs -- sleep infinity
	sleepers 3000
	tables >"$T/before"
	refused 1 shared -e cs -p $sleepers true <<'END'
perf stat: cannot share events: all runs together count too many tasks: at most 131072 (count fewer, or end other runs)
END
	same_tables "$T/before"
	# what was entered, stays until it ends
	kill -KILL $sleepers
	wait_for few_entries
	# all of them live at the same time
	background "$T/t.err" perf stat --bpf-counters --bpf-attr-map "$ATTR_MAP" -x, -o "$T/t.out" -e cs \
		"$WORKLOADS/sleepers" 4000
	born=$!
	wait_for grep -q ready "$T/t.err"
	end_run $born INT 130
	cat "$T/t.err"
	grep -qE '^perf stat: [0-9]+ readings, switches or new tasks were missed: counts may be short$' "$T/t.err"
	[ "$(grep -c '^perf stat:' "$T/t.err")" = 1 ]
	end_run "${run_pid[small]}" INT 130
	nothing_left
	remove_map
}
