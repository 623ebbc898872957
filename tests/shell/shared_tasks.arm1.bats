#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# Shared counting of tasks against plain perf events, on the machine where both are exact.

load helpers
load shared

T=$BATS_TEST_TMPDIR
U=instructions:u

@test "a command: user instructions to 0.01 %, all of compute-bound work to 0.5 %" {
	both -e $U,cycles,instructions,context-switches "$WORKLOADS/spin" 50000000
	agree 0.01 $U
	agree 0.5 instructions cycles
	both -e $U,cycles:u,cycles:k "$WORKLOADS/threads" 3 20000000
	agree 0.01 $U cycles:u
	both -e $U,instructions "$WORKLOADS/tree" 2 3 5000000
	agree 0.01 $U
	agree 0.5 instructions
	both -e $U "$WORKLOADS/forks" 300 50000
	agree 0.01
	nothing_left
}

# alike PERCENT EVENT COMMAND... : counted in one run, shared and plainly at the same time
alike() {
	local percent=$1 event=$2 colon=:
	shift 2
	[[ $event != *:* ]] || colon=
	perf stat --bpf-attr-map "$ATTR_MAP" -x, -o "$T/alike.out" -e "$event,$event${colon}b" "$@" \
		>"$T/alike.err" 2>&1 3>&-
	clean "$T/alike.err"
	echo "$event, $*: $(rows "$T/alike.out" | tr '\n' ' ')" >&2
	within "$(field "$event${colon}b" 1 "$T/alike.out")" "$(field "$event" 1 "$T/alike.out")" "$percent"
}

@test "context switches are exact" {
	local n
	for n in 0 250; do
		alike 0 context-switches "$WORKLOADS/switches" $n
		in_range "$(field context-switches:b 1 "$T/alike.out")" $n $((n + 3))
		alike 0 context-switches:k "$WORKLOADS/switches" $n
		alike 0 context-switches:u "$WORKLOADS/switches" $n
	done
	# of children and threads, one at a time, and at the same time
	alike 0 context-switches "$WORKLOADS/spawns" 20 "$WORKLOADS/switches" 5
	alike 0 context-switches "$WORKLOADS/pingpong" 300
	alike 0 context-switches "$WORKLOADS/tree" 3 3 100000
	alike 0 context-switches "$WORKLOADS/threads" 10 3000000
	alike 0 context-switches -i "$WORKLOADS/tree" 3 3 100000
	alike 0 context-switches "$WORKLOADS/thread_exec" 20 100000
}

@test "-i: the children's part is left out, and only that" {
	both -i -e $U,cycles "$WORKLOADS/tree" 1 4 10000000
	agree 0.01 $U
	in_range "$(field $U 1 "$T/shared.out")" 20000000 20200000
	both -i -e $U "$WORKLOADS/threads" 3 5000000
	in_range "$(field $U 1 "$T/plain.out")" 20000 50000
	in_range "$(field $U 1 "$T/shared.out")" 20000 50000
}

@test "-p and -t: a process with threads, its children, one thread" {
	gang 3 1000000 5
	# 10 million by the threads, 5 by the children, twice that in instructions
	export -f work wait_for is_done
	export T gang
	both -e $U,cycles -p "$gang" -- bash -c work
	agree 0.01 $U
	in_range "$(field $U 1 "$T/shared.out")" 30000000 30300000
	both -i -e $U -p "$gang" -- bash -c work
	agree 0.01
	in_range "$(field $U 1 "$T/shared.out")" 20000000 20100000
	both -e $U -t "${tids[1]}" -- bash -c work
	agree 0.01
	in_range "$(field $U 1 "$T/shared.out")" 6000000 6020000
	both -e $U -t "$gang,${tids[2]}" -- bash -c work
	agree 0.01
	in_range "$(field $U 1 "$T/shared.out")" 20000000 20200000
}

@test "--per-thread: each thread its own row" {
	gang 3 1000000 2
	export -f work wait_for is_done
	export T gang
	perf stat --per-thread -x, -o "$T/plain.out" -e $U,cycles:u -p "$gang" -- bash -c work
	shared --per-thread -x, -o "$T/shared.out" -e $U,cycles:u -p "$gang" -- bash -c work
	local file rank=0 tid
	for tid in "$gang" "${tids[@]}"; do
		rank=$((rank + 1))
		for file in plain shared; do
			awk -F, -v tid="-$tid" 'substr($1, length($1) - length(tid) + 1) == tid { print $4, $2 }' \
				"$T/$file.out" | sort >"$T/$file.thread"
			[ "$(wc -l <"$T/$file.thread")" = 2 ]
		done
		paste -d ' ' "$T/shared.thread" "$T/plain.thread"
		while read -r _ a _ b; do
			within "$a" "$b" 0.01
		done < <(paste -d ' ' "$T/shared.thread" "$T/plain.thread")
		# the first has the children, too
		[ $rank = 1 ] || in_range "$(awk -v e=$U '$1 == e { print $2 }' "$T/shared.thread")" \
			$((rank * 2000000)) $((rank * 2000000 + 20000))
	done
}

@test "groups, mixed plain and shared events, default events, an event given twice" {
	both -e "{$U,cycles:u},{instructions:k,cs}" "$WORKLOADS/spin" 50000000
	agree 0.01 $U cycles:u
	# cycles:b is shared without the option
	perf stat -x, -o "$T/plain.out" -e cycles:u,cs,$U "$WORKLOADS/switches" 20
	perf stat --bpf-attr-map "$ATTR_MAP" -x, -o "$T/shared.out" -e cycles:ub,cs,$U "$WORKLOADS/switches" 20
	cat "$T/plain.out" "$T/shared.out"
	within "$(field cycles:ub 1 "$T/shared.out")" "$(field cycles:u 1 "$T/plain.out")" 1
	[ "$(field $U 1 "$T/shared.out")" = "$(field $U 1 "$T/plain.out")" ]
	both "$WORKLOADS/spin" 50000000
	agree 0.5 cycles instructions
	agree 1 branches task-clock
	both -e $U,$U "$WORKLOADS/spin" 500000
	agree 0.01
	[ "$(wc -l <"$T/pairs")" = 2 ]
}

@test "more hardware events than counters: estimates agree" {
	local many=instructions:u,instructions:uh,instructions:h,instructions:k,cycles:u,cycles:k
	many=$many,instructions:kh,cycles:uh,cycles:kh,cycles:h
	both -e $many "$WORKLOADS/spin" 50000000
	agree 10 instructions:u cycles:u
	# they did have to share
	[ "$(awk -F, '$5 != "" && $5 < 100' "$T/shared.out" | wc -l)" -gt 0 ]
}

@test "-I: the intervals add up to the count" {
	local sum
	perf stat -x, -o "$T/plain.out" -e $U "$WORKLOADS/spin" 50000000
	shared -x, -o "$T/shared.out" -I 10 --summary -e $U "$WORKLOADS/spin" 50000000
	sum=$(awk -F, '$1 != "summary" && $4 == "'$U'" { sum += $2; nr++ } END { print sum, nr }' "$T/shared.out")
	echo "$sum"; tail -n 3 "$T/shared.out"; cat "$T/plain.out"
	in_range "${sum#* }" 9 12
	within "${sum% *}" "$(field $U 1 "$T/plain.out")" 0.01
	within "$(awk -F, '/summary/ { print $2; exit }' "$T/shared.out")" \
		"$(field $U 1 "$T/plain.out")" 0.01
}

@test "-D and --control: only what was inside the windows" {
	# -D: the first 20 of some 100 ms are left out
	both -D 20 -e $U "$WORKLOADS/spin" 50000000
	agree 2
	gang 2 1000000
	window a -e $U -p "$gang"
	plain_window b -e $U -p "$gang"
	work
	tell_all enable a b
	work
	tell_all disable a b
	work
	tell_all enable a b
	work
	work
	tell_all disable a b
	work
	finish a b
	cat "$T/a.out" "$T/b.out"
	within "$(field $U 1 "$T/a.out")" "$(field $U 1 "$T/b.out")" 0.01
	in_range "$(field $U 1 "$T/a.out")" 36000000 36100000
	nothing_left
}

# one_plain EVENT TARGET : what one time of the gang's work is to plain perf events, to $one
one_plain() {
	plain_window plain -e "$1" $2
	tell plain enable
	work
	tell plain disable
	finish plain
	one=$(field "$1" 1 "$T/plain.out")
}

@test "overlap: by process, by thread, in a command; leaving in every order" {
	local order name one process thread left
	window idle -e cs -p 1
	for order in "p t c" "p c t" "t p c" "t c p" "c p t" "c t p"; do
		# the command's shell is told to end with its run; the gang stays
		window c -e $U,cs -- sh -c 'trap "" TERM; "$0" 2 500000 2 >"$1"' "$WORKLOADS/gang" "$T/gang"
		wait_for grep -q ready "$T/gang"
		gang=$(pgrep -x gang)
		jobs_started+=("$gang")
		found_gang
		window p -e $U -p "$gang"
		window t -e cycles:u,$U -t "${tids[0]}"
		if [ -z "${process:-}" ]; then
			one_plain $U "-p $gang"
			process=$one
			one_plain $U "-t ${tids[0]}"
			thread=$one
		fi
		tell_all enable p t c
		work
		left=1
		for name in $order; do
			tell "$name" disable
			finish "$name"
			one=$process
			[ $name != t ] || one=$thread
			counted $name $U $left
			work
			left=$((left + 1))
		done
		kill -TERM "$gang"
		rm "$T/gang"
	done
	finish idle
	nothing_left
}

@test "overlap: joining in every order, beside each other and alike" {
	local order name one process thread times other
	gang 2 500000
	other=$gang
	gang 2 500000 2
	one_plain $U "-p $gang"
	process=$one
	one_plain $U "-t ${tids[0]}"
	thread=$one
	for order in "p t b" "p b t" "t p b" "t b p" "b p t" "b t p"; do
		for name in $order; do
			case $name in
			p) window p -e $U -p "$gang" ;;
			t) window t -e $U,cycles:u -t "${tids[0]}" ;;
			b) window b -e cs,$U -p "$other,$gang" ;;
			esac
			tell $name enable
			work
		done
		tell_all disable p t b
		times=3
		for name in $order; do
			finish $name
			one=$process
			[ $name != t ] || one=$thread
			counted $name $U $times
			times=$((times - 1))
		done
	done
	nothing_left
}

# gangs N ITER : that many of one further thread each, their pids are ${gangs[@]}
gangs() {
	local i
	gangs=()
	for ((i = 0; i < $1; i++)); do
		background "$T/gang$i" "$WORKLOADS/gang" 1 "$2"
		gangs+=($!)
	done
	wait_for gangs_said ready "$1"
}

# gangs_said WORD N : that often in all
gangs_said() {
	[ "$(cat "$T"/gang[0-9]* | grep -c "$1")" -ge "$2" ]
}

@test "64 runs: disjoint, identical, overlapping: one set of events, each right" {
	local i kind target one process runs worked=0
	gangs 64 200000
	gang=${gangs[0]}
	ln "$T/gang0" "$T/gang"
	one_plain $U "-p $gang"
	process=$one
	worked=1
	for kind in disjoint identical overlapping; do
		runs=()
		for ((i = 0; i < 64; i++)); do
			case $kind in
			disjoint) target=${gangs[i]} ;;
			identical) target=$gang ;;
			overlapping) target=$gang,${gangs[1 + i % 63]},${gangs[1 + (i + 1) % 63]} ;;
			esac
			background "$T/err$i" perf stat --bpf-counters --bpf-attr-map "$ATTR_MAP" -x, \
				-o "$T/out$i" -e $U,cycles:u -p "$target"
			runs+=($!)
		done
		# all have joined; and where each waits for its end they count
		wait_for has_runs 64
		perf bperf list --bpf-attr-map "$ATTR_MAP" | grep -q '^64 runs share 2 perf events for 2 events$'
		sleep 0.1
		kill -USR1 "${gangs[@]}"
		worked=$((worked + 64))
		wait_for gangs_said "done" $worked
		sleep 0.1
		kill -INT "${runs[@]}"
		wait "${runs[@]}" || :
		clean "$T"/err*
		one=$((process * (1 + 2 * (${#kind} == 11))))
		# all the time, and the same as plainly
		awk -F, -v one=$one '
			NF > 4 && $5 == "100.00" && $3 == "cycles:u" { cycles++ }
			NF > 4 && $5 == "100.00" && $3 == "instructions:u" { if ($1 < min || !nr++) min = $1; if ($1 > max) max = $1 }
			END {
				print nr " runs, " min " to " max ", expected " one
				exit !(nr == 64 && cycles == 64 && min >= one * 0.998 && max <= one * 1.002)
			}' "$T"/out*
		rm "$T"/out* "$T"/err*
	done
	nothing_left
}

@test "the run that made the leader ends, is interrupted, is killed: the others count on" {
	local how one
	gang 2 500000 1
	one_plain $U "-p $gang"
	for how in stop INT TERM KILL; do
		window first -e $U,cycles:u -p "$gang"
		window second -e $U -p "$gang"
		window third -e cs,$U -p "$gang"
		tell_all enable first second third
		work
		if [ $how = stop ]; then
			tell first stop
		else
			kill -$how "${run_pid[first]}"
		fi
		wait "${run_pid[first]}" || :
		work
		# the next run cleans up after it
		shared -x, -o "$T/next.out" -e $U "$WORKLOADS/spin" 100000
		in_range "$(field $U 1 "$T/next.out")" 200000 230000
		[ "$(state runs)" = 2 ]
		[ "$(state scopes)" = 2 ]
		work
		tell_all disable second third
		finish second third
		counted second $U 3
		counted third $U 3
	done
	nothing_left
}

@test "the last run is killed: nothing is left but an entry, and the next run works" {
	gang 1 500000
	window last -e $U -p "$gang"
	tell last enable
	work
	kill -KILL "${run_pid[last]}"
	wait "${run_pid[last]}" || :
	wait_for no_leader_objects
	nothing_left
}

@test "counting nested in counting" {
	local plain
	perf stat -x, -o "$T/plain.out" -e $U "$WORKLOADS/spin" 5000000
	plain=$(field $U 1 "$T/plain.out")
	shared -x, -o "$T/outer.out" -e $U,cycles:u -- perf stat --bpf-counters \
		--bpf-attr-map "$ATTR_MAP" -x, -o "$T/middle.out" -e $U -- perf stat --bpf-counters \
		--bpf-attr-map "$ATTR_MAP" -x, -o "$T/inner.out" -e $U,cs "$WORKLOADS/spin" 5000000
	cat "$T/inner.out" "$T/middle.out" "$T/outer.out"
	[ "$(field $U 1 "$T/inner.out")" = "$plain" ]
	# The others count perf itself, too.
	in_range "$(field $U 1 "$T/middle.out")" $((plain + 1)) $((plain + 30000000))
	in_range "$(field $U 1 "$T/outer.out")" $(($(field $U 1 "$T/middle.out") + 1)) $((plain + 200000000))
	nothing_left
}

# shell_server : a shell that runs each line that `ask` gives it; its pid is $server
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
}

@test "a shell counted with -p starts a counted command" {
	local command plain
	shell_server
	command="'$WORKLOADS/spin' 5000000"
	perf stat -x, -o "$T/plain.out" -e $U "$WORKLOADS/spin" 5000000
	plain=$(field $U 1 "$T/plain.out")
	ask "$command"
	# each way of counting the shell, and a counted command inside
	plain_window old -e $U -p "$server"
	tell old enable
	ask "$command"
	tell old disable
	window new -e $U,cs -p "$server"
	tell new enable
	ask "$command"
	tell new disable
	finish old new
	cat "$T/old.out" "$T/new.out"
	within "$(field $U 1 "$T/new.out")" "$(field $U 1 "$T/old.out")" 0.5
	window outer -e $U -p "$server"
	tell outer enable
	ask "perf stat --bpf-counters --bpf-attr-map $ATTR_MAP -x, -o $T/inner.out -e $U,cycles:u $command"
	tell outer disable
	finish outer
	cat "$T/outer.out" "$T/inner.out"
	[ "$(field $U 1 "$T/inner.out")" = "$plain" ]
	in_range "$(field $U 1 "$T/outer.out")" $((plain + 100000)) $((plain + 30000000))
	nothing_left
}

@test "10,000 short-lived children: none missed, no entry left" {
	window idle -e cs -p 1
	perf stat -x, -o "$T/plain.out" -e $U "$WORKLOADS/forks" 1000 1000
	shared -x, -o "$T/shared.out" -e $U "$WORKLOADS/forks" 8000 1000
	within "$(field $U 1 "$T/shared.out")" $((8 * $(field $U 1 "$T/plain.out"))) 1
	both -e $U "$WORKLOADS/spawns" 300 "$WORKLOADS/spin" 30000
	agree 0.01
	both -e $U "$WORKLOADS/tree" 3 10 2000
	agree 0.01
	both -e $U "$WORKLOADS/threads" 60 10000
	agree 0.1
	state
	[ "$(state scopes)" = 1 ]
	# bats and what it started are not counted: only init itself
	wait_for state_is entries 1
	[ "$(state inserts)$(state failed)$(state lost)" = 000 ]
	finish idle
	nothing_left
}

@test "a thread that is not the first executes: nothing is lost, nothing counted twice" {
	both -e $U "$WORKLOADS/thread_exec" 20 500000
	agree 0.01
	in_range "$(field $U 1 "$T/shared.out")" 40000000 42000000
	both -i -e $U "$WORKLOADS/thread_exec" 20 500000
	agree 0.01
	nothing_left
}

