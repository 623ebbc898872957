#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# Defects that the soak has found, each alone: sessions beside one that holds a lock.

load helpers
load shared
load cgroups

teardown() {
	remove_top
	end_jobs
	remove_map
}

requirements() {
	require_root
}

# hold_tasks : somebody has the lock of tasks, for good; it is process $holder
hold_tasks() {
	hold_lock "${ATTR_MAP}_lock/tasks"
}

# hold_lock DIR : the same of any lock
hold_lock() {
	# Makes the map and its locks.
	shared -x, -o /dev/null -e cs true
	background "$T/holder" sh -c 'exec 9<"$1"; flock 9; echo ready; exec sleep 1000' sh "$1"
	holder=$!
	wait_for has_text ready "$T/holder"
}

# counts_private NAME : that window of a gang was counted with perf events of its own, and right
counts_private() {
	tell "$1" enable
	work
	work
	tell "$1" disable
	end_run "${run_pid[$1]}" INT 130
	grep -q "_lock/tasks is held by process [0-9]*: counting with events of this session's own" "$T/$1.err" ||
		{ cat "$T/$1.err" >&2; return 1; }
	clean "$T/$1.err"
}

@test "several threads are counted privately while the lock of tasks is held" {
	local as nr=0
	gang 3 1000 2
	# With -A, a row is <not counted> where one thread has not run on that CPU (as with plain
	# events): all run on one.
	taskset -acp 0 "$gang" >"$T/taskset"
	hold_tasks
	for as in -x, --per-thread -A; do
		nr=$((nr + 1))
		window all$nr --bpf-counters -e page-faults "$as" -p "$gang"
		counts_private all$nr
		awk -F, '{ for (i = 3; i < NF; i++) if ($(i) == "page-faults") sum += $(i - 2) }
			END { print sum; exit sum < 4 }' "$T/all$nr.out" >&2
	done
	both_window pair page-faults -p "$gang"
	counts_private pair
	same pair 0 page-faults 4
}

@test "a held lock of tasks at an interval does not end counting of new cgroups" {
	local long
	make_top
	window long -I 20 --bpf-counters -a -e page-faults --for-each-cgroup "^$name"
	tell long enable
	hold_tasks
	mkdir "$top/x"
	work_in 1000 "$top/x"
	# Some intervals later.
	wait_for awk 'END { exit NR < 20 }' "$T/long.out"
	rmdir "$top/x"
	kill -0 "${run_pid[long]}"
	kill -KILL "$holder"
	mkdir "$top/y"
	work_in 1000 "$top/y"
	wait_for grep -q "$name/y" "$T/long.out"
	tell long disable
	finish long
}

# has_rows_of CGROUP NR : so many, in the table of the run "long"
has_rows_of() {
	[ "$(awk -F, -v cgroup="$name/$1" '$5 == cgroup' "$T/long.out" | wc -l)" -ge "$2" ]
}

# adds_up NAME : what $name counted is the sum of what those below it did; whoever is hidden from BPF programs
# is missing in both
adds_up() {
	cat "$T/$1.out" >&2
	awk -F, -v top="$name" '
		{ for (i = 4; i <= 5; i++) {
			if ($(i) == top) all += $(i - 3)
			if (index($(i), top "/") == 1) sum += $(i - 3)
		} }
		END { print "sum " sum " of " all; exit !all || sum != all }' "$T/$1.out" >&2
}

# has_lines FILE NR : at least
has_lines() {
	[ "$(wc -l <"$1")" -ge "$2" ]
}

@test "a new cgroup in the place of another, and with the lock held for some intervals, has all of its counts" {
	local lines
	make_top
	window long -I 20 --bpf-counters -a -e page-faults --for-each-cgroup "^$name"
	tell long enable
	"$WORKLOADS/cgroup_churn" 1 1000 "$top"
	wait_for grep -q "$name/w0" "$T/long.out"
	# It counts $name, and watches for others.
	wait_for state_is scopes 2
	hold_tasks
	"$WORKLOADS/cgroup_churn" 1 1000 "$top"
	lines=$(wc -l <"$T/long.out")
	wait_for has_lines "$T/long.out" $((lines + 3))
	kill -KILL "$holder"
	wait_for has_rows_of w0 2
	tell long disable
	finish long
	adds_up long
}

@test "activity of new cgroups counts in its own window and in no later one" {
	make_top
	# Intervals are printed at changes only.
	window long -I 100000 --bpf-counters -a -e page-faults --for-each-cgroup "^$name"
	tell long enable
	"$WORKLOADS/cgroup_churn" 1 1000 "$top"
	tell long disable
	mkdir "$top/x"
	bash -c "echo \$\$ >$top/x/cgroup.procs && exec $WORKLOADS/faults 3000"
	tell long enable
	"$WORKLOADS/cgroup_churn" 1 1000 "$top"
	tell long disable
	finish long
	adds_up long
}

@test "cgroups made while a session joins are counted from its beginning" {
	make_top
	background "$T/long.err" env PERF_TEST_STOP_AT=session-added perf stat --bpf-attr-map "$ATTR_MAP" -x, \
		-o "$T/long.out" -I 100000 --bpf-counters -a -e page-faults --for-each-cgroup "^$name" -- \
		bash -c "echo \$\$ >$top/x/cgroup.procs && exec $WORKLOADS/faults 3000"
	# It has its list of cgroups, and the lock.
	wait_for has_line "stopped at session-added" "$T/long.err"
	mkdir "$top/x"
	kill -CONT $!
	wait $!
	clean "$T/long.err"
	adds_up long
}

@test "new cgroups are reported if their lock is held until the end" {
	make_top
	window long -I 20 --bpf-counters -a -e page-faults --for-each-cgroup "^$name"
	tell long enable
	hold_tasks
	mkdir "$top/x"
	work_in 1000 "$top/x"
	tell long disable
	end_run "${run_pid[long]}" INT 130
	grep -qx "perf stat: 1 new cgroup is counted only for those above it: another session held the lock" "$T/long.err"
}

@test "with -x and -j no warning stands among rows on stderr; with -v it follows them" {
	local format
	make_top
	for format in -x, -j "-x, -v"; do
		# shellcheck disable=SC2086 # words
		background "$T/rows" perf stat --bpf-counters --bpf-attr-map "$ATTR_MAP" $format -I 20 -a \
			-e page-faults --for-each-cgroup "^$name"
		run_pid[rows]=$!
		wait_for awk 'END { exit NR < 3 }' "$T/rows"
		hold_tasks
		mkdir "$top/x"
		work_in 1000 "$top/x"
		end_run "${run_pid[rows]}" INT 130
		kill -KILL "$holder"
		rmdir "$top/x"
		if [ "$format" = "-x, -v" ]; then
			awk -F, '/^perf stat: 1 new cgroup is counted only for those above it/ { found = 1; next }
				found && NF > 5 { print; bad = 1 } END { exit bad || !found }' "$T/rows"
			continue
		fi
		# There are rows only.
		cp "$T/rows" "$T/only"
		if [ $format = -j ]; then
			jq -es 'length > 2 and all(has("event"))' "$T/only"
		else
			awk -F, 'NF < 6 || $1 !~ /^ *[0-9.]+$/ { print; bad = 1 } END { exit bad || NR < 3 }' "$T/only"
		fi
	done
}

@test "verify compares nothing while the lock is held, and reports the reason" {
	hold_lock "${ATTR_MAP}_lock"
	refute perf bperf verify --bpf-attr-map "$ATTR_MAP" -e page-faults --time 10 >"$T/verify.out" 2>"$T/verify.err"
	[ ! -s "$T/verify.out" ]
	grep -q "_lock is held by process [0-9]*.*: nothing can be compared" "$T/verify.err"
	refute grep -q "of this session's own" "$T/verify.err"
}

@test "a session reports new cgroups that others gave up, though it never gets the lock of tasks again" {
	local long
	make_top
	window long -I 20 --bpf-counters -a -e page-faults --for-each-cgroup "^$name"
	tell long enable
	window other -I 20 --bpf-counters -a -e page-faults --for-each-cgroup "^$name"
	wait_for state_is scopes 4
	kill -STOP "${run_pid[long]}"
	mkdir "$top/x"
	# The other session has looked, and given it up for the stopped one.
	wait_for state_is pending 0
	rmdir "$top/x"
	hold_tasks
	kill -CONT "${run_pid[long]}"
	tell long disable
	end_run "${run_pid[long]}" INT 130
	grep -v "^Events \|no cgroup matches" "$T/long.err" |
		diff - <(echo "perf stat: 1 new cgroups were found late: their first activity is counted for their parents only")
	kill -KILL "$holder"
	finish other
}
