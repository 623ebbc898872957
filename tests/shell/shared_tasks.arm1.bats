#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# Shared counting of tasks against plain perf events, on the machine where both are exact.

load helpers
load kept

U=instructions:u

@test "a command's user instructions are right to 0.01 %, all compute-bound work to 0.5 %" {
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

# exits_alike NR NAMES [OPTION...] COMMAND... : its context switches counted both ways are equal but for switches of the
# NR tasks of these names, or more, in perf_event_exit_task(). Such a task has ended for the leader, not for its plain event
exits_alike() {
	# shellcheck disable=SC2086 # words
	begin_exits $2
	alike 0 context-switches "${@:3}"
	switches_at_exits | wc -l >&2
	[ "$(switches_at_exits | wc -l)" -ge "$1" ]
}

@test "context switches are exact" {
	local n
	for n in 0 250; do
		alike 0 context-switches "$WORKLOADS/switches" $n
		# Other tasks can preempt it: measured none.
		in_range "$(field context-switches:b 1 "$T/alike.out")" $n $((n + 3))
		alike 0 context-switches:k "$WORKLOADS/switches" $n
		alike 0 context-switches:u "$WORKLOADS/switches" $n
	done
	# of children and threads, one at a time, and at the same time
	exits_alike 20 switches "$WORKLOADS/spawns" 20 "$WORKLOADS/switches" 5
	exits_alike 2 pingpong "$WORKLOADS/pingpong" 300
	exits_alike 40 tree "$WORKLOADS/tree" 3 3 100000
	exits_alike 11 threads "$WORKLOADS/threads" 10 3000000
	exits_alike 40 tree -i "$WORKLOADS/tree" 3 3 100000
	exits_alike 21 "thread_exec exe" "$WORKLOADS/thread_exec" 20 100000
}

@test "with -r, each repeat counts what it would count alone" {
	local one nr
	nothing_left
	shared -x, -o "$T/one" -e $U,page-faults:u "$WORKLOADS/tree" 1 2 1000000
	one=$(field $U 1 "$T/one")
	shared -r 5 -x, -o "$T/five" -e $U,page-faults:u "$WORKLOADS/tree" 1 2 1000000
	cat "$T/one" "$T/five"
	# a mean of five and its deviation
	within "$(field $U 1 "$T/five")" "$one" 0.01
	awk -F, '$3 ~ /instructions/ { gsub("%", "", $4); exit $4 > 0.01 }' "$T/five"
	gang 2 1000
	for nr in 1 5; do
		shared -r $nr --per-thread -p "$gang" -x, -o "$T/self" -e $U,cs -- true
	done
	nothing_left
}

@test "-i leaves out the children's part, and only that" {
	both -i -e $U,cycles "$WORKLOADS/tree" 1 4 10000000
	agree 0.01 $U
	# 20 million, and the start, the forks and the end of the program: measured 28,129
	in_range "$(field $U 1 "$T/shared.out")" 20000000 20060000
	both -i -e $U "$WORKLOADS/threads" 3 5000000
	# only the start and end of the first thread: measured 32,119
	in_range "$(field $U 1 "$T/plain.out")" 20000 50000
	in_range "$(field $U 1 "$T/shared.out")" 20000 50000
}

@test "-p counts a process with threads and children, -t one thread" {
	gang 3 1000000 5
	# 10 million by the threads, 5 by the children, twice that in instructions
	local work=("$WORKLOADS/poke" "$gang" "$T/gang")
	both -e $U,cycles -p "$gang" -- "${work[@]}"
	agree 0.01 $U
	# with the waits of the threads, and the start and end of each child: measured 4,624
	in_range "$(field $U 1 "$T/shared.out")" 30000000 30030000
	both -i -e $U -p "$gang" -- "${work[@]}"
	agree 0.01
	# with the waits, and the fork()s: measured 3,139
	in_range "$(field $U 1 "$T/shared.out")" 20000000 20020000
	both -e $U -t "${tids[1]}" -- "${work[@]}"
	agree 0.01
	# with its waits: measured 155
	in_range "$(field $U 1 "$T/shared.out")" 6000000 6001000
	both -e $U -t "$gang,${tids[2]}" -- "${work[@]}"
	agree 0.01
	# with their waits, and the start and end of each child: measured 4,314
	in_range "$(field $U 1 "$T/shared.out")" 20000000 20030000
}

@test "--per-thread prints a row for each thread" {
	gang 3 1000000 2
	local work=("$WORKLOADS/poke" "$gang" "$T/gang")
	perf stat --per-thread -x, -o "$T/plain.out" -e $U,cycles:u -p "$gang" -- "${work[@]}"
	shared --per-thread -x, -o "$T/shared.out" -e $U,cycles:u -p "$gang" -- "${work[@]}"
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
			# Two runs: the order of waits can differ, so some instructions of the C library. Measured equal.
			within "$a" "$b" 0.01
		done < <(paste -d ' ' "$T/shared.thread" "$T/plain.thread")
		# the first row also has the children
		[ $rank = 1 ] || in_range "$(awk -v e=$U '$1 == e { print $2 }' "$T/shared.thread")" \
			$((rank * 2000000)) $((rank * 2000000 + 20000))
	done
}

@test "groups, plain beside shared events, default events and duplicates count correctly" {
	both -e "{$U,cycles:u},{instructions:k,cs}" "$WORKLOADS/spin" 50000000
	agree 0.01 $U cycles:u
	# cycles:b is shared without the option
	perf stat -x, -o "$T/plain.out" -e cycles:u,cs,$U "$WORKLOADS/switches" 20
	perf stat --bpf-attr-map "$ATTR_MAP" -x, -o "$T/shared.out" -e cycles:ub,cs,$U "$WORKLOADS/switches" 20
	cat "$T/plain.out" "$T/shared.out"
	# A cycle is an instruction, for which see below: measured equal.
	within "$(field cycles:ub 1 "$T/shared.out")" "$(field cycles:u 1 "$T/plain.out")" 0.1
	# An interrupt can make an instruction begin anew, which QEMU counts twice: of 300 plain counts, 12 had one more.
	within "$(field $U 1 "$T/shared.out")" "$(field $U 1 "$T/plain.out")" 0 1
	both "$WORKLOADS/spin" 50000000
	agree 0.5 cycles instructions
	agree 1 branches task-clock
	both -e $U,$U "$WORKLOADS/spin" 500000
	agree 0.01
	[ "$(wc -l <"$T/pairs")" = 2 ]
}

@test "estimates of multiplexed hardware events agree" {
	local many=instructions:u,instructions:uh,instructions:h,instructions:k,cycles:u,cycles:k
	many=$many,instructions:kh,cycles:uh,cycles:kh,cycles:h
	both -e $many "$WORKLOADS/spin" 50000000
	agree 10 instructions:u cycles:u
	# the events had to take turns
	[ "$(awk -F, '$5 != "" && $5 < 100' "$T/shared.out" | wc -l)" -gt 0 ]
}

@test "the intervals of -I add up to the count" {
	local sum
	perf stat -x, -o "$T/plain.out" -e $U "$WORKLOADS/spin" 50000000
	shared -x, -o "$T/shared.out" -I 10 --summary -e $U "$WORKLOADS/spin" 50000000
	sum=$(awk -F, '$1 != "summary" && $4 == "'$U'" { sum += $2; nr++ } END { print sum, nr }' "$T/shared.out")
	echo "$sum"; tail -n 3 "$T/shared.out"; cat "$T/plain.out"
	# Some 100 ms have ten intervals, or less if QEMU ends waits late, and the rest: measured 11.
	in_range "${sum#* }" 9 12
	# Two runs: QEMU can count an instruction at an interrupt twice. Measured equal.
	within "${sum% *}" "$(field $U 1 "$T/plain.out")" 0.001
	within "$(awk -F, '/summary/ { print $2; exit }' "$T/shared.out")" \
		"$(field $U 1 "$T/plain.out")" 0.001
}

@test "-D and --control count only inside the windows" {
	# -D: the first 20 of some 100 ms are left out
	both -D 20 -e $U "$WORKLOADS/spin" 50000000
	agree 2
	gang 2 1000000
	window a --bpf-counters -e $U -p "$gang"
	window b -e $U -p "$gang"
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
	# The gang sleeps at both ends of each window.
	[ "$(field $U 1 "$T/a.out")" = "$(field $U 1 "$T/b.out")" ]
	# three times 12 million, with the waits of the threads: measured 3,222
	in_range "$(field $U 1 "$T/a.out")" 36000000 36020000
	nothing_left
}
