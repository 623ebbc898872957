#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# CPUs go offline and come back under counting. The perf events that were open on them are dead for
# good, and the sessions that live open others.

load helpers
load shared
load cgroups

set_cpu1() {
	echo "$1" >/sys/devices/system/cpu/cpu1/online
}

setup() {
	ATTR_MAP=/sys/fs/bpf/perf_test_$$_$BATS_TEST_NUMBER
	T=$BATS_TEST_TMPDIR
	jobs_started=()
	set_cpu1 1
	# The test itself stays where it is not counted.
	taskset -pc 0 $$ >/dev/null
	nr_back=0
}

teardown() {
	end_jobs
	remove_top
	remove_map
}

# back N : CPU 1 is back, and the runs, with -v, have opened N events there
back() {
	nr_back=$((nr_back + $1))
	set_cpu1 1
	wait_for has_opened $nr_back
}

# has_opened N : so many in all; a run goes on where another one was slow
has_opened() {
	[ "$(cat "$T"/*.err | awk '/CPU 1 came online: [0-9]+ shared events opened there/ { nr += $7 } END { print nr + 0 }')" = "$1" ]
}

off_and_on() {
	set_cpu1 0
	back "$1"
}

# on1 N : N page faults and a few more, always as many, on CPU 1
on1() {
	taskset 2 "$WORKLOADS/faults" "$1"
}

# counted_alone N : how many those are
counted_alone() {
	perf stat -x, -o "$T/alone.csv" -e page-faults "$WORKLOADS/faults" "$1"
	field page-faults 1 "$T/alone.csv"
}

# command_on1 N : the same as a command that is counted. $own is the page faults of it all, those of perf included
command_on1() {
	perf stat -x, -o "$T/own.csv" -e page-faults taskset 2 perf stat --bpf-counters --bpf-attr-map "$ATTR_MAP" \
		-x, -o "$T/out" -e page-faults,cs "$WORKLOADS/faults" "$1"
	own=$(field page-faults 1 "$T/own.csv")
}

# The most page faults of taskset before its exec, which sessions of whole CPUs also count
few=60

@test "the counts of a CPU that goes offline stay, to the last one" {
	faults=$(counted_alone 700)
	start_run long -C 1 -e page-faults,cs
	on1 700
	set_cpu1 0
	end_run "$run_pid" INT 130
	in_range "$(field page-faults 1 "$T/long.csv")" "$faults" $((faults + few))	# one taskset
	[ "$(field page-faults 5 "$T/long.csv")" = 100.00 ]
}

@test "sessions that counted a CPU before count it when it comes back" {
	faults=$(($(counted_alone 700) + $(counted_alone 500) + $(counted_alone 300)))
	start_run long -v -C 1 -e '{page-faults,dummy},cs'
	start_run other -v -a -I 100000 -e page-faults
	on1 700
	off_and_on 4
	on1 500
	off_and_on 4
	on1 300
	end_run "$run_pid" INT 130
	end_run "${jobs_started[0]}" INT 130
	in_range "$(field page-faults 1 "$T/long.csv")" "$faults" $((faults + 3 * few))	# three tasksets
	# The time until the events were opened counts as enabled, not as running: a little is missing.
	in_range "$(field page-faults 5 "$T/long.csv")" 90 100
	at_least "$(awk -F, '$4 == "page-faults" { print $2 }' "$T/other.csv")" "$faults"
	wait_for no_leader_objects
}

@test "a session that starts after that also counts" {
	start_run long -v -a -e page-faults,cs
	off_and_on 2
	plain=$(counted_alone 300)
	command_on1 300
	[ "$(field page-faults 1 "$T/out")" = "$plain" ]
	shared -x, -o "$T/out" -C 1 -e page-faults taskset 2 "$WORKLOADS/faults" 300
	in_range "$(field page-faults 1 "$T/out")" "$plain" $((plain + few))	# one taskset
	# The long one is idle and did it; also where nobody is left who noticed
	end_run "$run_pid" INT 130
	start_run sleeper -a -e cs
	kill -STOP "$run_pid"
	set_cpu1 0
	set_cpu1 1
	command_on1 300
	[ "$(field page-faults 1 "$T/out")" = "$plain" ]
	kill -CONT "$run_pid"
	end_run "$run_pid" INT 130
}

@test "a CPU that was offline at the start of a session is counted when it comes" {
	set_cpu1 0
	start_run long -v -a -A -e page-faults
	back 1
	faults=$(counted_alone 300)
	on1 300
	end_run "$run_pid" INT 130
	in_range "$(awk -F, '$1 == "CPU1" { print $2 }' "$T/long.csv")" "$faults" $((faults + few))	# one taskset
	# One that never came has no row.
	set_cpu1 0
	shared -x, -o "$T/out" -a -A -e page-faults true
	[ "$(grep -c '^CPU' "$T/out")" = 1 ]
}

@test "a CPU that comes online and for which the leader has no room is reported, once by each session that needs it" {
	local late="CPU 1 was added after the first session began" name
	set_cpu1 0
	# It is one that was added later: the session that makes the leader has a sysfs without it.
	make_sysfs 0 0
	SYSFS_PATH=$sysfs start_run cpus -a -A -e page-faults
	start_run cpu0 -C 0 -e page-faults
	start_run tasks -p $$ -e page-faults
	start_run cgroups -a --for-each-cgroup / -e page-faults
	background "$T/profile.err" perf profile --bpf-attr-map "$ATTR_MAP" -a -e cpu-clock -o "$T/profile"
	wait_for is_listed $!
	set_cpu1 1
	for name in cpus tasks cgroups profile; do
		wait_for grep -q "$late" "$T/$name.err"
	done
	set_cpu1 0
	set_cpu1 1
	# Nothing on it is counted, nor added to another one.
	on1 300
	kill -INT "${jobs_started[@]}"
	wait "${jobs_started[@]}" || :
	for name in cpus tasks cgroups; do
		diff - "$T/$name.err" <<<"perf stat: $late: it is not counted until all sessions have ended"
	done
	[ "$(grep -cx "perf profile: $late: it is not sampled until all sessions have ended" "$T/profile.err")" = 1 ]
	is_silent "$T/cpu0.err"
	[ "$(grep -c ^CPU "$T/cpus.csv")" = 1 ]
	wait_for no_leader_objects
}

@test "tasks on a CPU that came back have the same counts as with plain events" {
	background "$T/gang" taskset -c 1 "$WORKLOADS/gang" 3 30000 20
	gang=$!
	wait_for has_text ready "$T/gang"
	start_mixed_run long -v -e page-faults:u,page-faults:ub,cs,cs:b -p "$gang"
	off_and_on 2
	# The kernel has moved them away.
	taskset -apc 1 "$gang" >/dev/null
	kill -USR1 "$gang"
	wait_for has_text "done" "$T/gang"
	on1 300
	end_run "$run_pid" INT 130
	cat "$T/long.csv"
	[ "$(field page-faults:u 1 "$T/long.csv")" = "$(field page-faults:ub 1 "$T/long.csv")" ]
	plain=$(field cs 1 "$T/long.csv")
	# A child that is preempted in perf_event_exit_task() has ended for us, but not for its plain events.
	in_range "$(field cs:b 1 "$T/long.csv")" $((plain - plain * 5 / 100)) "$plain"
	at_least "$(field cs 1 "$T/long.csv")" 20
}

@test "counts go on while a CPU goes and comes repeatedly under load" {
	pids=()
	for n in 1 2; do
		background "$T/load$n" sh -c "while :; do taskset $n '$WORKLOADS/faults' 50; done"
	done
	start_run long -v -a -I 200 -e page-faults,cs,cpu-clock
	long=$run_pid
	start_run tasks -p "${jobs_started[0]}" -e page-faults,cs
	for n in {1..8}; do
		set_cpu1 0
		shared -x, -o "$T/out" -a -e page-faults true
		set_cpu1 1
		shared -x, -o "$T/out" -C 1 -e page-faults taskset 2 "$WORKLOADS/faults" 300
		at_least "$(field page-faults 1 "$T/out")" 300
	done
	end_run "$run_pid" INT 130
	end_run "$long" INT 130
	# Nothing was invented: it is no more than two CPUs can do.
	awk -F, '$3 == "msec" { sum += $2; end = $1 }
		END { exit sum < end * 1000 || sum > end * 2000 * 1.01 }' "$T/long.csv"
	at_least "$(field page-faults 1 "$T/tasks.csv")" 500
	grep -v "came online\|were missed\|went unseen\|had no perf event" "$T/tasks.err" | refute grep .
	kill -KILL -- "-${jobs_started[0]}" "-${jobs_started[1]}"
	wait_for no_leader_objects
}

@test "shared counts equal plain ones while a CPU goes or comes each second" {
	local n target tasks plain nr=6
	[ -z "${FULL:-}" ] || nr=100
	# A process that may run anywhere, one that lives where the CPU goes, and whoever comes and goes
	background "$T/gang" "$WORKLOADS/gang" 3 30000 5
	target=$!
	wait_for has_text ready "$T/gang"
	start_mixed_run tasks -e page-faults,page-faults:b,cs,cs:b -p "$target"
	tasks=$run_pid
	start_run long -v -a -I 500 -e cs,page-faults,cpu-clock
	for ((n = 0; n < nr; n++)); do
		set_cpu1 $((n % 2))
		[ $((n % 2)) = 0 ] || taskset -apc 0,1 "$target" >/dev/null
		shared -x, -o "$T/out" -e page-faults,cs "$WORKLOADS/faults" 300
		in_range "$(field page-faults 1 "$T/out")" 300 400	# the start of the program has less than 100
		kill -USR1 "$target"
		wait_for has_worked $((n + 1))
		sleep 1
	done
	set_cpu1 1
	end_run "$tasks" INT 130
	end_run "$run_pid" INT 130
	cat "$T/tasks.csv" >&2
	[ "$(field page-faults 1 "$T/tasks.csv")" = "$(field page-faults:b 1 "$T/tasks.csv")" ]
	at_least "$(field page-faults 1 "$T/tasks.csv")" $((n * 5))
	plain=$(field cs 1 "$T/tasks.csv")
	# A child that is preempted in perf_event_exit_task() has ended for us, but not for its plain events.
	in_range "$(field cs:b 1 "$T/tasks.csv")" $((plain - n * 5)) "$plain"
	# no more than the CPUs can do, no less than the one that stays does
	awk -F, '$3 == "msec" { sum += $2; end = $1 }
		END { exit sum < end * 1000 * 0.99 || sum > end * 2000 * 1.01 }' "$T/long.csv"
	kill -KILL "$target"
	wait_for no_leader_objects
}

has_worked() {
	[ "$(grep -c done "$T/gang")" = "$1" ]
}

@test "without the lock, a CPU that is offline refuses no event" {
	local event
	# Makes the map and its locks.
	shared -x, -o /dev/null -e dummy true
	background "$T/holder" sh -c 'exec 9<"$1"; flock 9; echo ready; exec sleep 1000' sh "${ATTR_MAP}_lock"
	wait_for has_text ready "$T/holder"
	set_cpu1 0
	# Shared, they would be counted on CPU 1 once that is back.
	shared -x, -o "$T/private.csv" -a -e '{page-faults,minor-faults},cs' "$WORKLOADS/faults" 700 2>"$T/private.err"
	grep -q "counting with events of this session's own" "$T/private.err"
	[ "$(grep -vc "of this session's own" "$T/private.err")" = 0 ]
	for event in page-faults minor-faults; do
		# The start of the program has less than 100, and perf itself a few until then.
		in_range "$(field $event 1 "$T/private.csv")" 700 $((800 + few))
		[ "$(field $event 5 "$T/private.csv")" = 100.00 ]
	done
	at_least "$(field cs 1 "$T/private.csv")" 1
}

# hold_lock : nobody can open events until the job $holder ends
hold_lock() {
	background "$T/holder" sh -c 'exec 9<"$1"; flock 9; echo ready; exec sleep 1000' sh "${ATTR_MAP}_lock"
	holder=$!
	wait_for has_text ready "$T/holder"
}

# gang_works_on1 N : it works on CPU 1, where the kernel had moved it away, for the N-th time
gang_works_on1() {
	taskset -apc 1 "$gang" >/dev/null
	kill -USR1 "$gang"
	wait_for has_worked "$1"
}

# names_short EVENT NAME : the session reported that its counts of the event lack a CPU's
names_short() {
	cat "$T/$2.csv" "$T/$2.err" >&2
	grep -qx "perf stat: '$1': [1-9][0-9]* readings failed, its counts are short: a CPU had no perf event for it at that time" "$T/$2.err"
}

@test "sessions report what they missed on a CPU that came back, and count again as soon as they can" {
	local name tasks groups whole other second
	make_top
	gang 3 30000 20
	echo "$gang" >"$top/cgroup.procs"
	background "$T/sleep" sleep 1000
	start_mixed_run tasks -v -e page-faults:u,page-faults:ub -p "$gang"
	tasks=$run_pid
	start_run groups -v -a -e page-faults:u --for-each-cgroup "${top##*/}"
	groups=$run_pid
	start_run whole -v -a -A -e page-faults:u
	whole=$run_pid
	start_run other -v -e page-faults:u -p "${jobs_started[1]}"
	other=$run_pid
	hold_lock
	set_cpu1 0
	set_cpu1 1
	gang_works_on1 1
	[ "$(state careful)" = 1 ]
	kill -KILL "$holder"
	back 1
	# Switches there cost as little as before.
	wait_for is_quick
	# Counts what is to be seen.
	background "$T/second.err" perf stat -x, -o "$T/second.csv" -e page-faults:u -p "$gang"
	second=$!
	wait_for has_text poll "/proc/$second/wchan"
	gang_works_on1 2
	for name in tasks groups whole other second; do
		end_run "${!name}" INT 130
	done
	names_short page-faults:ub tasks
	names_short page-faults:u groups
	# Nothing but the first time is missing.
	[ "$(field page-faults:ub 1 "$T/tasks.csv")" = "$(field page-faults:u 1 "$T/second.csv")" ]
	[ "$(field page-faults:u 1 "$T/groups.csv")" = "$(field page-faults:u 1 "$T/second.csv")" ]
	at_least "$(field page-faults:u 1 "$T/tasks.csv")" $(($(field page-faults:u 1 "$T/second.csv") + 300))
	came_late whole
	refute grep "readings failed" "$T/other.err"
	remove_top
}

# is_quick : switches ask about single events on no CPU
is_quick() {
	[ "$(state careful)" = 0 ]
}

# came_late NAME : a session of whole CPUs reported the time that it missed on CPU 1
came_late() {
	cat "$T/$1.csv" "$T/$1.err" >&2
	grep -qx "perf stat: CPUs came online (1), and up to [1-9][0-9.]* ms on each were not counted: counts are short" "$T/$1.err"
	in_range "$(share_of1 "$1")" 1 99.99	# some time was missed, and not all
}

# share_of1 NAME : the percent of its time that the event ran on CPU 1
share_of1() {
	awk -F, '$1 == "CPU1" { print $6 }' "$T/$1.csv"
}

# uptime_ms : print the time since the machine started
uptime_ms() {
	awk '{ print int($1 * 1000) }' /proc/uptime
}

@test "the time that a CPU was away is never part of what was missed after it failed to come back" {
	local whole start gap_ms
	start_run whole -v -a -A -e page-faults:u
	whole=$run_pid
	off_and_on 1
	set_cpu1 0
	# longer than the CPU takes to come
	sleep 3
	# It takes its first steps, at which nobody opens the events, and goes again.
	kill -STOP "$whole"
	awk '/ perf:online$/ { print $1 + 0 }' /sys/devices/system/cpu/hotplug/states >/sys/devices/system/cpu/cpu1/hotplug/fail
	refute set_cpu1 1
	kill -CONT "$whole"
	start=$(uptime_ms)
	back 1
	end_run "$whole" INT 130
	cat "$T/whole.err" "$T/whole.csv" >&2
	# There is no message if its events were open before the first task could run there.
	gap_ms=$(sed -n 's/.*and up to \([0-9]*\)[0-9.]* ms on each were not counted.*/\1/p' "$T/whole.err")
	in_range "${gap_ms:-0}" 0 $(($(uptime_ms) - start))	# at most the time since it began to come
}

@test "sessions that end before anybody could open the events report that, too" {
	local name tasks first gone whole
	gang 3 30000 20
	for name in first gone whole; do
		start_run $name -a -A -e page-faults:u
		printf -v $name %s "$run_pid"
	done
	start_run tasks -e page-faults:u -p "$gang"
	tasks=$run_pid
	hold_lock
	set_cpu1 0
	set_cpu1 1
	gang_works_on1 1
	end_run "$first" INT 130
	came_late first
	# The CPU goes again: that time is not forgotten.
	set_cpu1 0
	end_run "$gone" INT 130
	came_late gone
	# And once more.
	set_cpu1 1
	end_run "$whole" INT 130
	came_late whole
	# The second time adds less than the first one, which must be in the share.
	in_range "$(share_of1 whole)" 1 "$(share_of1 gone)"
	end_run "$tasks" INT 130
	names_short page-faults:u tasks
}

@test "switches cost as before after a session died that had opened all events" {
	local tasks
	start_run tasks -e page-faults:u -p $$
	tasks=$run_pid
	kill -STOP "$tasks"
	set_cpu1 0
	set_cpu1 1
	killed_at event-current shared -a -e cs true
	[ "$(state careful)" = 1 ]
	kill -CONT "$tasks"
	wait_for is_quick
	end_run "$tasks" INT 130
}

@test "a session reports a task that ran only while the events of its CPU were opened" {
	local tasks spins opens
	mkfifo "$T/go"
	# It runs from the first of these lines to the second, and nobody preempts it: one slice.
	# shellcheck disable=SC2016 # the inner shell's
	background "$T/spins" chrt -f 50 bash -c 'read -r _ <"$0/go"
		until mapfile -t lines <"$0/opens"; [ "${#lines[@]}" -ge 2 ]; do :; done
		read -r _ <"$0/go"' "$T"
	spins=$!
	start_run tasks -e page-faults:u -p "$spins"
	tasks=$run_pid
	kill -STOP "$tasks"
	set_cpu1 0
	set_cpu1 1
	taskset -pc 1 "$spins" >/dev/null
	background "$T/opens" env PERF_TEST_STOP_AT=event-reopened PERF_TEST_KILL_AT=event-current perf stat \
		--bpf-counters --bpf-attr-map "$ATTR_MAP" -a -e cs true
	opens=$!
	wait_for has_text 'stopped at event-reopened' "$T/opens"
	wait_for has_state "$opens" T
	# No program can read the events at the beginning, and there was nothing to read them at the end.
	echo >"$T/go"
	wait_for has_state "$spins" R
	kill -CONT "$opens"
	wait "$opens" || :
	wait_for has_state "$spins" S
	kill -CONT "$tasks"
	end_run "$tasks" INT 130
	names_short page-faults:u tasks
}

@test "a session that dies while reopening events does no harm" {
	faults=$(counted_alone 300)
	for step in event-prepared event-dropped event-renewed event-reopened event-current; do
		echo "# $step"
		start_run long -C 1 -e '{page-faults,dummy},cs'
		kill -STOP "$run_pid"
		long=$run_pid
		on1 300
		set_cpu1 0
		set_cpu1 1
		killed_at $step shared -a -e cs true
		kill -CONT "$long"
		wait_for is_listed "$long"
		command_on1 300
		[ "$(field page-faults 1 "$T/out")" = "$faults" ]
		on1 300
		end_run "$long" INT 130
		counted=$(awk -F, '$3 == "page-faults" { printf "%d", $1 * $5 / 100 }' "$T/long.csv")
		# Until others take the dead session for dead, the CPU's faults are estimated. The percentage has no
		# decimals, so 1 % is allowed.
		in_range "$counted" $((3 * faults * 99 / 100)) $(((2 * faults + own + 2 * few) * 101 / 100))
		wait_for no_leader_objects
	done
}
