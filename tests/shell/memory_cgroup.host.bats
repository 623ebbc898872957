#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# The leader's maps are charged to the memory cgroup of the session that loads it, also the entries that
# are made later. That cgroup is full: the sessions of others count, and report what they could not.

load helpers
load shared
load cgroups
load full_memory

requirements() {
	require_root
	require_perf_events cpu
	require_full_memory
}

teardown() {
	end_jobs
	remove_top
	remove_map
	[ -z "${little:-}" ] || rmdir "$little"
}

# full_leader OPTION... : a session, "first", has loaded the leader in a memory cgroup that is full
full_leader() {
	little_cgroup
	# shellcheck disable=SC2016 # sh's
	run_as=(sh -c 'echo $$ >"$0" && exec "$@"' "$little/cgroup.procs")
	window first --bpf-counters "$@"
	run_as=()
	fill "${run_pid[first]}"
}

@test "new tasks that no entry can be made for are reported, by those who count them" {
	own_the_tasks
	full_leader -e cs -- sleep infinity
	begin_witness
	perf stat --bpf-attr-map "$ATTR_MAP" -x, -o "$T/brood.out" -e page-faults:u,page-faults:ub \
		"$WORKLOADS/brood" 4000 20 2>"$T/brood.err"
	# It prints each child whose release is still to come.
	end_witness 2>/dev/null
	cat "$T"/brood.{out,err} >&2
	local nr plain count
	nr=$(sed -n 's/^perf stat: \([0-9]*\) switches or new tasks were missed: counts may be short$/\1/p' "$T/brood.err")
	[ "${nr:-0}" -gt 0 ]
	plain=$(field page-faults:u 1 "$T/brood.out")
	count=$(field page-faults:ub 1 "$T/brood.out")
	# Each that was missed lacks its 20 faults, and those of the program's own pages: up to 30.
	in_range $((plain - count)) $((nr * 20 - $(excess events comm brood))) \
		$((nr * 50 + $(missed events comm brood)))
	# None of its own tasks was missed.
	finish first
	wait_for no_leader
}

# own_events FILE : nothing but the warning that its session counts so
own_events() {
	diff "$1" - <<<"perf stat: too little memory to share events of tasks (that of the session which loaded the BPF programs, if its memory cgroup is full): counting with events of this session's own"
}

@test "sessions that join count, shared or with events of their own" {
	local i sleepers rounds=40
	own_the_tasks
	begin_witness 2
	background "$T/sleepers" "$WORKLOADS/sleepers" 3000
	sleepers=$!
	wait_for has_text ready "$T/sleepers"
	gang 1 50000
	full_leader -e cs -- sleep infinity
	tables >"$T/before"
	# One task needs no more memory than those before it have used.
	for ((i = 0; i < rounds; i++)); do
		shared -x, -o "$T/one.out" -e page-faults:u "$WORKLOADS/faults" 300 2>"$T/one.err"
		diff "$T/one.err" /dev/null || own_events "$T/one.err"
		field page-faults:u 1 "$T/one.out" >>"$T/counts"
	done
	end_witness
	[ "$(wc -l <"$T/counts")" = $rounds ]
	# All that they lack together, and that each has too many, is from hidden switches.
	in_range "$(awk '$1 < 300 { sum += 300 - $1 } END { print sum + 0 }' "$T/counts")" \
		0 "$(missed events comm faults)"
	# The start of the program has less than 100.
	in_range "$(sort -n "$T/counts" | tail -n 1)" 300 $((400 + $(excess events comm faults)))
	# A hundred of 3,000 find the place of another taken, and need an entry each.
	shared -x, -o "$T/many.out" -e task-clock -p $sleepers,$gang -- "$WORKLOADS/poke" $gang "$T/gang" 2>"$T/many.err"
	own_events "$T/many.err"
	at_least "$(field task-clock 1 "$T/many.out")" 0.01
	# With room again, the next one shares and removes what was left.
	echo -1 >"$limit"
	shared -x, -o "$T/many.out" -e task-clock -p $sleepers -- true 2>"$T/many.err"
	diff "$T/many.err" /dev/null
	kill -KILL $sleepers
	same_tables "$T/before"
	finish first
	wait_for no_leader
}

@test "new cgroups are counted all the same" {
	make_top
	full_leader -a -e cs --for-each-cgroup /
	start_run watches -a -e page-faults:u -I 100 --for-each-cgroup "glob:$name/w*"
	begin_witness
	"$WORKLOADS/cgroup_churn" 400 100 "$top"
	end_witness
	end_run "$run_pid" INT 130
	cat "$T/watches.err" >&2
	# After a hidden switch, one of them may count nothing.
	[ "$(awk -F, -v name="$name/w" 'index($5, name) == 1 && $2 > 0 { print $5 }' "$T/watches.csv" |
		sort -u | wc -l)" -ge $((400 - $(missed hidden comm cgroup_churn))) ]
	refute grep -v -e 'no cgroup matches' -e 'were missed' "$T/watches.err"
	finish first
	wait_for no_leader
}
