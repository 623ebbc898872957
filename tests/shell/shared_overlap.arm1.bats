#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# Many sessions that count the same tasks at the same time. Each counts its events shared and plainly, so
# that only the way of counting differs.

load helpers
load kept

U=instructions:u

# Instructions of the gang in the overlap tests, for each work
process=8000000		# gang 2 500000 2: the process
thread=2000000		# its second thread

# right NAME TIMES : the counts of that session are right if the gang worked so often meanwhile. A task
# that is preempted in perf_event_exit_task() has ended for us, but maybe not for its plain perf events. So
# if children end, there can be another switch.
right() {
	case $1 in
	t)
		same t 0 $U $((thread * $2)) $((thread * $2 + 10000))
		same t 0 cs "$2" ;;
	*)
		same "$1" 0 $U $((process * $2)) $((process * $2 + 100000))
		[ "$1" = p ] || same "$1" 10 cs "$2" ;;
	esac
}

@test "overlapping sessions of process, thread and command may leave in every order" {
	local order name left
	for order in "p t c" "p c t" "t p c" "t c p" "c p t" "c t p"; do
		# the command's shell ends with its session; the gang stays
		both_window c $U,cs -- sh -c 'trap "" TERM; "$0" 2 500000 2 >"$1"' "$WORKLOADS/gang" "$T/gang"
		wait_for has_text ready "$T/gang"
		gang=$(pgrep -x gang)
		found_gang
		both_window p $U -p "$gang"
		both_window t cs,$U -t "${tids[0]}"
		tell_all enable p t c
		work
		left=1
		for name in $order; do
			tell "$name" disable
			finish "$name"
			right $name $left
			work
			left=$((left + 1))
		done
		kill -TERM "$gang"
		rm "$T/gang"
	done
	nothing_left
}

@test "overlapping sessions may join in every order, with different or equal events" {
	local order name times other
	gang 2 500000
	other=$gang
	gang 2 500000 2
	for order in "p t b" "p b t" "t p b" "t b p" "b p t" "b t p"; do
		for name in $order; do
			case $name in
			p) both_window p $U -p "$gang" ;;
			t) both_window t $U,cs -t "${tids[0]}" ;;
			b) both_window b cs,$U -p "$other,$gang" ;;
			esac
			tell $name enable
			work
		done
		tell_all disable p t b
		times=3
		for name in $order; do
			finish $name
			right $name $times
			times=$((times - 1))
		done
	done
	nothing_left
}

# gangs N ITER : start N gangs of one further thread each; their pids are ${gangs[@]}
gangs() {
	local i
	gangs=()
	: >"$T/gangs"
	for ((i = 0; i < $1; i++)); do
		"$WORKLOADS/gang" 1 "$2" >>"$T/gangs" 3>&- &
		gangs+=($!)
	done
	jobs_started+=("${gangs[@]}")
	wait_for gangs_said ready "$1"
}

# gangs_said WORD N : all gangs together have printed WORD N times
gangs_said() {
	[ "$(grep -c "$1" "$T/gangs")" -ge "$2" ]
}

# all_share : each session has all of its events. It is listed before that; and two that want the same event at
# the same time have one each.
all_share() {
	perf bperf list --bpf-attr-map "$ATTR_MAP" >"$T/list" || return
	awk '$1 == "EVENT" { inside = 1 }
		inside { nr[$1] += $2 }
		/^$/ { inside = 0 }
		END { exit nr["context-switches"] != 65 || nr["instructions:u"] != 64 || nr["cpu-cycles:u"] != 64 }' \
		"$T/list"
}

@test "64 disjoint, identical or overlapping sessions share events, and each is right" {
	local i kind target runs worked=0 share
	gangs 64 100000
	for kind in disjoint identical overlapping; do
		runs=()
		for ((i = 0; i < 64; i++)); do
			share=1
			case $kind in
			disjoint) target=${gangs[i]} ;;
			identical) target=${gangs[0]} ;;
			overlapping)
				target=${gangs[0]},${gangs[1 + i % 63]},${gangs[1 + (i + 1) % 63]}
				share=3 ;;
			esac
			# Hardware events are only shared; events that need no counter count both ways.
			perf stat --bpf-attr-map "$ATTR_MAP" -x, -o "$T/out$i" -e ${U}b,cycles:ub,cs,cs:b \
				-p "$target" 2>"$T/err$i" 3>&- &
			runs+=($!)
		done
		# all sessions have joined, and count once each waits for its end
		wait_for all_share || { cat "$T/list" >&2; false; }
		for i in "${runs[@]}"; do
			wait_for polls "$i"
		done
		kill -USR1 "${gangs[@]}"
		worked=$((worked + 64))
		wait_for gangs_said "done" $worked
		for i in "${gangs[@]}"; do
			wait_for sleeps "$i"
		done
		# jobs of a script ignore INT
		kill -TERM "${runs[@]}"
		wait "${runs[@]}" || :
		clean "$T"/err*
		# all the time; 600,000 instructions a process
		awk -F, -v share=$share '
			NF < 5 { next }
			{ v[$3] = $1; nr[$3]++ }
			$5 != "100.00" { print FILENAME ": " $0; bad = 1 }
			$3 == "instructions:ub" && ($1 < share * 600000 || $1 > share * 606000) {
				print FILENAME ": " $0
				bad = 1
			}
			$3 == "cs:b" && (v["cs"] != v["cs:b"] || !v["cs"]) { print FILENAME ": cs " v["cs"] ", cs:b " v["cs:b"]; bad = 1 }
			END { exit bad || nr["instructions:ub"] != 64 || nr["cycles:ub"] != 64 || nr["cs:b"] != 64 }' "$T"/out*
		rm "$T"/out* "$T"/err*
	done
	nothing_left
}

@test "nested sessions are each right" {
	local plain perf="perf stat --bpf-attr-map $ATTR_MAP -x,"
	perf stat -x, -o "$T/plain.out" -e $U "$WORKLOADS/spin" 5000000
	plain=$(field $U 1 "$T/plain.out")
	# The outer sessions also count the inner perf itself.
	begin_exits spin
	$perf -o "$T/outer.out" -e $U,${U}b,cs,cs:b -- $perf -o "$T/middle.out" -e $U,${U}b -- \
		$perf -o "$T/inner.out" -e $U,${U}b,cs,cs:b "$WORKLOADS/spin" 5000000 2>"$T/inner.err"
	end_exits
	same inner 0 $U "$plain" "$plain"
	# A task that is preempted in perf_event_exit_task() has ended for us, but not for its plain event.
	missing=$(switches_in_exits) same inner 0 cs
	same middle 0 $U $((plain + 100000)) $((plain + 30000000))
	same outer 0 $U $((plain + 200000)) $((plain + 200000000))
	same outer 10 cs 5
	nothing_left
}

# shell_server : start a shell that runs each line of `ask`; its pid is $server
shell_server() {
	mkfifo "$T/todo" "$T/answers"
	exec 7<>"$T/todo" 8<>"$T/answers"
	bash -c 'while read -r line; do eval "$line"; echo done; done' <&7 >&8 2>"$T/server.err" 3>&- &
	server=$!
	jobs_started+=("$server")
	ask :
}

ask() {
	local answer
	echo "$1" >&7
	read -r -t 100 answer <&8
	[ "$answer" = "done" ]
	wait_for sleeps "$server"
}

@test "a shell counted with -p may start commands, including counted ones" {
	local command plain
	shell_server
	command="'$WORKLOADS/spin' 5000000"
	perf stat -x, -o "$T/plain.out" -e $U "$WORKLOADS/spin" 5000000
	plain=$(field $U 1 "$T/plain.out")
	both_window outer $U,cs -p "$server"
	tell outer enable
	ask "$command"
	ask "perf stat --bpf-attr-map $ATTR_MAP -x, -o $T/inner.out -e $U,${U}b,cycles:ub $command"
	tell outer disable
	finish outer
	same inner 0 $U "$plain" "$plain"
	same outer 0 $U $((2 * plain + 100000)) $((2 * plain + 30000000))
	same outer 10 cs 4
	is_silent "$T/server.err"
	nothing_left
}
