#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# Followers of another implementation after our last session: the pins that keep the link at switches.
load helpers
load foreign

# pins : those in the lock directory
pins() {
	compgen -G "${ATTR_MAP}_lock/switch_*" || :
}

# no_pins
no_pins() {
	[ -z "$(pins)" ]
}

# the_pin : the one of the link at switches
the_pin() {
	pins | grep -x '.*switch_[0-9]*'
}

# nothing_left : no part of a leader, and no entry after one more session
nothing_left() {
	wait_for no_registry
	no_pins
	refute is_on_switch
	shared -x, -o "$T/last.csv" -a -e dummy true
	[ "$(entries)" = 0 ]
	wait_for no_registry
}

# task : a process, $task, with page faults of its own at its start, after the first `go` and after the second.
# $T/plain.csv has them as plain events count them, without children
task() {
	mkfifo "$T/pipe"
	# shellcheck disable=SC2016
	background "$T/task" sh -c 'read line <"$0"; (:); read line <"$0"; exec "$1" 1000' \
		"$T/pipe" "$WORKLOADS/faults"
	task=$!
	perf stat -i -x, -o "$T/plain.csv" -e page-faults -p $task 3>&- &
	plain=$!
	jobs_started+=("$plain")
	wait_for has_text poll "/proc/$plain/wchan"
}

go() {
	echo go >"$T/pipe"
}

# task_ends : after the last `go`
task_ends() {
	wait $task
	wait $plain
}

# followed_exactly NAME : that follower counted what plain events did
followed_exactly() {
	cat "$T/$1" "$T/plain.csv" >&2
	[ "$(field page-faults 1 "$T/plain.csv")" -gt 1000 ]
	[ "$(sums "$1" | cut -d ' ' -f 1)" = "$(field page-faults 1 "$T/plain.csv")" ]
}

# entry_link : the number of the link that the one entry names
entry_link() {
	local bytes
	mapfile -t bytes < <(/usr/sbin/bpftool -j map dump pinned "$ATTR_MAP" |
		grep -oE '"value":\["0x..","0x..","0x..","0x.."' | head -n 1 | grep -o '0x..')
	[ ${#bytes[@]} = 4 ] || return
	echo $((bytes[3] << 24 | bytes[2] << 16 | bytes[1] << 8 | bytes[0]))
}

# tracepoint_of LINK : where it is attached
tracepoint_of() {
	/usr/sbin/bpftool -j link show id "$1" | json_value tp_name
}

# followed_alone [STATUS [NAME=VALUE...]] : a session of page-faults, a follower `one` of $task, which came first; then the session
# ends, with STATUS. $foreign_pid is the follower. Words are the environment of the session. Another session, which
# writes to $others, can be the first to serve.
followed_alone() {
	background "$T/only.err" env "${@:2}" perf stat --bpf-counters --bpf-attr-map "$ATTR_MAP" -v -x, \
		-o "$T/only.csv" -a -e page-faults
	only=$!
	wait_for is_listed $only
	wait_for has_text poll "/proc/$only/wchan"
	task
	foreign one follow $FAULTS $task
	wait_for has_text "are served" "$T/only.err" ${others:+"$others"}
	go
	end_run $only INT "${1:-130}"
}

@test "an early follower of one task counts on after our last session" {
	followed_alone
	[ "$(the_pin | wc -l)" = 1 ]
	is_on_switch
	perf bperf list --bpf-attr-map "$ATTR_MAP" | tee "$T/list" >&2
	grep -qxF "1 event stays open for 1 follower of other implementations ($(the_pin)); its counters stay taken" "$T/list"
	[ "$(perf bperf list -j --bpf-attr-map "$ATTR_MAP" |
		jq -c '.pins[] | [.path, .events, ."foreign-followers"]')" = "[\"$(the_pin)\",1,1]" ]
	[ "$(perf bperf prune --bpf-attr-map "$ATTR_MAP")" = "removed: 0 dead entries, 0 dead sessions" ]
	go
	task_ends
	the_pin
	end $foreign_pid
	followed_exactly one
	shared -x, -o "$T/out" -a -e dummy true
	nothing_left
}

@test "the next session shares the pinned leader's events, and leaves it pinned again" {
	followed_alone
	pin=$(the_pin)
	perf stat -v --bpf-attr-map "$ATTR_MAP" -x, -o "$T/out" -e page-faults,page-faults:b \
		"$WORKLOADS/faults" 500 2>"$T/err"
	refute grep "another leader" "$T/err"
	[ "$(field page-faults 1 "$T/out")" = "$(field page-faults:b 1 "$T/out")" ]
	[ "$(the_pin)" = "$pin" ]
	start_run next -a -e page-faults
	no_pins
	end_run $run_pid INT 130
	[ "$(the_pin)" = "$pin" ]
	go
	task_ends
	end $foreign_pid
	followed_exactly one
	[ "$(perf bperf prune --bpf-attr-map "$ATTR_MAP")" = \
		"removed: 0 dead entries, 0 dead sessions, 1 pinned leaders" ]
	nothing_left
}

@test "followers lose nothing when sessions of tasks and CPUs leave at the same time" {
	task
	start_run first -v -p $task -e page-faults,cs
	first=$run_pid
	foreign one follow $FAULTS $task
	wait_for has_text "are served" "$T/first.err"
	start_run second -p $task -e page-faults
	start_run third -a -e page-faults
	go
	kill -INT $first "${jobs_started[@]: -2}"
	wait $first "${jobs_started[@]: -2}" || :
	the_pin
	go
	task_ends
	end $foreign_pid
	followed_exactly one
	perf bperf prune --bpf-attr-map "$ATTR_MAP"
	nothing_left
}

@test "followers lose nothing while the other session is stopped, and once it goes on" {
	start_run other -v -a -e cs
	kill -STOP $run_pid
	followed_alone
	pin=$(the_pin)
	is_on_switch
	refute grep -q "are served" "$T/other.err"
	kill -CONT $run_pid
	# It takes the link, and then needs no pin.
	wait_for no_pins
	go
	task_ends
	end $foreign_pid
	followed_exactly one
	end_run $run_pid INT 130
	no_pins
	nothing_left
}

@test "a session that only samples serves followers, too" {
	others=$T/profile.out
	background "$others" perf profile -v --bpf-attr-map "$ATTR_MAP" -a -e page-faults -c 1000
	profile=$!
	wait_for is_listed $profile
	followed_alone
	# It can have been late, and found the link pinned.
	wait_for no_pins
	is_on_switch
	go
	task_ends
	end $foreign_pid
	followed_exactly one
	end_run $profile INT 0
	nothing_left
}

@test "a session killed while it takes the place of the pins leaves nothing that serves without end" {
	local status=0
	followed_alone
	PERF_TEST_KILL_AT=pins-replaced shared -a -e dummy true 2>"$T/killed.err" || status=$?
	[ "$status" = 137 ]
	no_pins
	wait_for refute is_on_switch
	go
	task_ends
	end $foreign_pid
	nothing_left
}

@test "a session that gets no lock at its start leaves the leader pinned that it joined" {
	local lock
	followed_alone
	background "$T/lock" flock "${ATTR_MAP}_lock/tasks" "$WORKLOADS/waiter"
	lock=$!
	wait_for has_text ready "$T/lock"
	PERF_TEST_LOCK_MS=300 shared -x, -o "$T/own.csv" -e page-faults -p $task true 2>"$T/own.err"
	grep -q "counting with events of this session's own" "$T/own.err"
	the_pin
	is_on_switch
	kill -KILL -- "-$lock"
	go
	task_ends
	end $foreign_pid
	followed_exactly one
	perf bperf prune --bpf-attr-map "$ATTR_MAP"
	nothing_left
}

@test "a CPU that was offline between two sessions is counted again" {
	followed_alone
	set_until_end /sys/devices/system/cpu/cpu1/online 0
	echo 1 >/sys/devices/system/cpu/cpu1/online
	perf stat -v --bpf-attr-map "$ATTR_MAP" -x, -o "$T/out" -e page-faults,page-faults:b \
		taskset -c 1 "$WORKLOADS/faults" 500 2>"$T/err"
	grep -q "CPU 1 came online: 1 shared events opened there" "$T/err"
	[ "$(field page-faults 1 "$T/out")" = "$(field page-faults:b 1 "$T/out")" ]
	go
	task_ends
	end $foreign_pid
	perf bperf prune --bpf-attr-map "$ATTR_MAP"
	nothing_left
}

@test "a session counts the events of an incomplete pinned leader as foreign" {
	followed_alone
	pin=$(the_pin)
	rm "${pin}"_*
	perf stat -v --bpf-attr-map "$ATTR_MAP" -x, -o "$T/out" -e page-faults,page-faults:b \
		"$WORKLOADS/faults" 500 2>"$T/err"
	grep -q "1 of another leader's events are counted" "$T/err"
	[ "$(field page-faults 1 "$T/out")" = "$(field page-faults:b 1 "$T/out")" ]
	[ "$(the_pin)" = "$pin" ]
	go
	task_ends
	end $foreign_pid
	followed_exactly one
	shared -x, -o "$T/out" -a -e dummy true
	nothing_left
}

@test "a killed session leaves no pin, and its early follower stops counting" {
	followed_alone
	start_run next -a -e page-faults
	no_pins
	end_run $run_pid KILL 137
	no_pins
	wait_for refute is_on_switch
	go
	task_ends
	end $foreign_pid
	[ "$(field page-faults 1 "$T/plain.csv")" -gt 1000 ]
	# At most what it did before the last 1,000.
	in_range "$(sums one | cut -d ' ' -f 1)" 0 $(($(field page-faults 1 "$T/plain.csv") - 1000))
	nothing_left
}

@test "entries of followed events name the link at switches, which followers hold" {
	start_run only -v -a -e page-faults
	quiet=$(entry_link)
	foreign first follow $FAULTS
	first=$foreign_pid
	wait_for has_text "are served" "$T/only.err"
	[ "$(tracepoint_of "$(entry_link)")" = sched_switch ]
	task
	foreign one follow $FAULTS $task
	go
	end $first
	# Without any pin.
	end_run $run_pid KILL 137
	no_pins
	go
	task_ends
	end $foreign_pid
	followed_exactly one
	nothing_left
	start_run only -v -a -e page-faults
	quiet=$(entry_link)
	foreign first follow $FAULTS
	wait_for has_text "are served" "$T/only.err"
	end $foreign_pid
	shared -x, -o "$T/out" -a -e dummy true
	[ "$(entry_link)" = "$quiet" ]
	end_run $run_pid INT 130
	nothing_left
}

@test "a pinned leader serves for its time, and again after a command looked at it" {
	n=$(faults 1000)
	background "$T/only.err" env PERF_TEST_SERVE_MS=3000 perf stat --bpf-counters \
		--bpf-attr-map "$ATTR_MAP" -v -x, -o "$T/only.csv" -a -e page-faults
	only=$!
	wait_for is_listed $only
	wait_for has_text poll "/proc/$only/wchan"
	foreign all follow $FAULTS
	wait_for has_text "are served" "$T/only.err"
	end_run $only INT 130
	"$WORKLOADS/faults" 1000
	sleep 4
	# Once on each CPU, at the latest.
	"$WORKLOADS/faults" 40000
	the_pin
	perf bperf list --bpf-attr-map "$ATTR_MAP" >"$T/list"
	"$WORKLOADS/faults" 1000
	end $foreign_pid
	# It follows the whole machine: the commands here have some 700, and none of the 40,000 is among them.
	in_range "$(sums all | cut -d ' ' -f 1)" $((2 * n)) $((2 * n + 5000))
	perf bperf prune --bpf-attr-map "$ATTR_MAP"
	nothing_left
}

@test "the next command removes the pins of a session killed while pinning" {
	followed_alone 137 PERF_TEST_KILL_AT=part-pinned
	[ "$(pins | wc -l)" = 1 ]
	refute the_pin
	go
	task_ends
	perf bperf list --bpf-attr-map "$ATTR_MAP"
	no_pins
	end $foreign_pid
	nothing_left
}

# goes_on_to_end PID : continue it, wherever it stopped, and it has ended
goes_on_to_end() {
	! kill -CONT "$1"
}

@test "a command that saw pins half made leaves them when they are complete" {
	# It waits for the lock that the session has while it pins.
	local -x PERF_TEST_LOCK_MS=300000
	background "$T/only.err" env PERF_TEST_STOP_AT=part-pinned perf stat --bpf-counters --bpf-attr-map "$ATTR_MAP" \
		-v -x, -o "$T/only.csv" -a -e page-faults
	only=$!
	wait_for is_listed $only
	wait_for has_text poll "/proc/$only/wchan"
	task
	foreign one follow $FAULTS $task
	wait_for has_text "are served" "$T/only.err"
	go
	background "$T/prune" env PERF_TEST_STOP_AT=pins-sought perf bperf prune --bpf-attr-map "$ATTR_MAP"
	prune=$!
	wait_for has_state $prune T
	kill -INT $only
	wait_for has_state $only T
	[ -n "$(pins)" ]
	refute the_pin
	kill -CONT $prune
	wait_for has_state $prune S
	wait_for goes_on_to_end $only # it stops at each part
	wait $only || [ $? = 130 ]
	wait $prune
	cat "$T/prune" >&2
	the_pin
	go
	task_ends
	end $foreign_pid
	followed_exactly one
	[ "$(perf bperf prune --bpf-attr-map "$ATTR_MAP")" = \
		"removed: 0 dead entries, 0 dead sessions, 1 pinned leaders" ]
	nothing_left
}

@test "other users' pins, and pins of other objects than leaders, stay" {
	followed_alone
	pin=$(the_pin)
	/usr/sbin/bpftool map create "${ATTR_MAP}_lock/switch_4000000000" type array key 4 value 4 entries 1 \
		name some_map
	go
	task_ends
	end $foreign_pid
	chown 65534 "$pin"
	perf bperf prune --bpf-attr-map "$ATTR_MAP"
	[ -e "$pin" ]
	[ -e "${ATTR_MAP}_lock/switch_4000000000" ]
	chown 0 "$pin"
	perf bperf prune --bpf-attr-map "$ATTR_MAP"
	[ "$(pins)" = "${ATTR_MAP}_lock/switch_4000000000" ]
	rm "${ATTR_MAP}_lock/switch_4000000000"
	nothing_left
}
