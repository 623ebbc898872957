#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# Sharing with other implementations of the protocol: counting the events of their leaders, and
# serving their followers. tests/foreign is such an implementation.
# Sessions and followers of the whole machine also count the other commands of a test, which have some hundred
# faults each. A wait has some at each try, so the upper bounds are far above what arm2 measured.

load helpers
load foreign

entry_link() {
	/usr/sbin/bpftool -j map dump pinned "$ATTR_MAP" | grep -oE '"value":\["0x..","0x..","0x..","0x.."' | head -n 1
}

@test "events of a foreign leader are counted, and the leader stays" {
	foreign lead lead $FAULTS
	lead=$foreign_pid
	entry=$(entry_link)
	perf stat -v --bpf-attr-map "$ATTR_MAP" -x, -o "$T/out" -e page-faults,page-faults:b \
		"$WORKLOADS/faults" 500 2>"$T/err"
	cat "$T/err"
	grep -q "1 of another leader's events are counted" "$T/err"
	[ "$(field page-faults 1 "$T/out")" = "$(field page-faults:b 1 "$T/out")" ]
	[ "$(field page-faults:b 5 "$T/out")" = 100.00 ]
	shared -x, -o "$T/out" -a -e page-faults "$WORKLOADS/faults" 500
	n=$(faults 500)
	in_range "$(field page-faults 1 "$T/out")" "$n" $((n + 500))	# and perf's own (measured: 1)
	[ "$(entry_link)" = "$entry" ]
	wait_for no_registry
	end "$lead"
}

@test "our sessions notice a foreign leader that stops its events, and go on" {
	foreign lead lead $FAULTS
	n=$(faults 1000)
	start_run long -v -a -e page-faults
	long=$run_pid
	start_run task -v -p $$ -e page-faults,cs
	task=$run_pid
	"$WORKLOADS/faults" 1000
	end "$foreign_pid"
	wait_for has_text "another leader stopped its event" "$T/long.err" "$T/task.err"
	"$WORKLOADS/faults" 1000
	perf stat --bpf-attr-map "$ATTR_MAP" -x, -o "$T/out" -e page-faults,page-faults:b \
		"$WORKLOADS/faults" 500
	[ "$(field page-faults 1 "$T/out")" = "$(field page-faults:b 1 "$T/out")" ]
	end_run "$task" INT 130
	end_run "$long" INT 130
	# All commands from the start of these sessions to their ends (measured: 4,071 and 1,463 more)
	in_range "$(field page-faults 1 "$T/long.csv")" $((2 * n + 500)) $((2 * n + 20000))
	in_range "$(field page-faults 1 "$T/task.csv")" $((2 * n + 500)) $((2 * n + 20000))
	# Until it was noticed nothing was running.
	in_range "$(field page-faults 5 "$T/long.csv")" 20 99.99
	wait_for no_registry
	[ "$(entries)" = 0 ]
}

@test "our sessions take over the events of a killed foreign leader" {
	foreign lead lead $FAULTS
	start_run long -v -a -e page-faults
	kill -KILL "$foreign_pid"
	wait "$foreign_pid" || :
	n=$(faults 1000)
	perf stat --bpf-attr-map "$ATTR_MAP" -x, -o "$T/out" -e page-faults,page-faults:b \
		"$WORKLOADS/faults" 500
	[ "$(field page-faults 1 "$T/out")" = "$(field page-faults:b 1 "$T/out")" ]
	# New followers follow us.
	foreign all follow $FAULTS
	wait_for has_text "are served" "$T/long.err"
	"$WORKLOADS/faults" 1000
	end "$foreign_pid"
	in_range "$(sums all | cut -d ' ' -f 1)" "$n" $((n + 2000))	# a wait (measured: 244)
	end_run "$run_pid" INT 130
	refute grep "stopped" "$T/long.err"
	[ "$(field page-faults 5 "$T/long.csv")" = 100.00 ]
}

@test "foreign followers count the same as plain events" {
	n=$(faults 1000)
	start_run long -v -a -e page-faults,cs,cpu-clock
	refute is_on_switch
	foreign all follow $FAULTS
	all=$foreign_pid
	mkfifo "$T/pipe"
	# shellcheck disable=SC2016
	background "$T/waits" sh -c 'read line <"$0"; exec "$1" 1000' "$T/pipe" "$WORKLOADS/faults"
	sh=$!
	foreign one follow $FAULTS $sh
	start_run task -p $sh -e page-faults,cs
	wait_for has_text "are served" "$T/long.err"
	is_on_switch
	echo go >"$T/pipe"
	wait $sh
	"$WORKLOADS/faults" 1000
	end "$all" "$foreign_pid"
	wait_for test ! -e "/proc/$run_pid"
	cat "$T/one" "$T/task.csv" "$T/all"
	# The counts of the shell before its exec are in both.
	[ "$(sums one | cut -d ' ' -f 1)" = "$(field page-faults 1 "$T/task.csv")" ]
	in_range "$(sums all | cut -d ' ' -f 1)" $((2 * n)) $((2 * n + 10000))	# two sessions, waits (measured: 2,084)
	wait "${jobs_started[1]}" || :
	# Once nobody follows, the next one who looks takes it all away again.
	shared -x, -o "$T/out" -a -e cs true
	end_run "${jobs_started[0]}" INT 130
	wait_for refute is_on_switch
	wait_for no_registry
}

@test "a follower keeps an event that no session counts any more" {
	n=$(faults 1000)
	start_run other -v -a -e cs
	start_run first -v -a -e page-faults
	first=$run_pid
	foreign all follow $FAULTS
	# The program is on the switch before it serves.
	wait_for has_text "are served" "$T/other.err" "$T/first.err"
	end_run "$first" INT 130
	"$WORKLOADS/faults" 1000
	shared -x, -o "$T/out" -a -e dummy true
	"$WORKLOADS/faults" 1000
	end "$foreign_pid"
	in_range "$(sums all | cut -d ' ' -f 1)" $((2 * n)) $((2 * n + 10000))	# a session and its wait
	shared -x, -o "$T/out" -a -e dummy true
	[ "$(entries)" = 1 ]
	end_run "${jobs_started[0]}" INT 130
	wait_for no_registry
}

@test "another session keeps serving a follower when the first one is killed" {
	n=$(faults 1000)
	start_run one -v -a -e page-faults
	start_run two -v -a -e page-faults
	foreign all follow $FAULTS
	wait_for has_text "are served" "$T/one.err" "$T/two.err"
	victim=${jobs_started[0]}
	grep -q "are served" "$T/one.err" || victim=${jobs_started[1]}
	kill -KILL "$victim"
	wait "$victim" || :
	wait_for is_on_switch
	"$WORKLOADS/faults" 1000
	end "$foreign_pid"
	in_range "$(sums all | cut -d ' ' -f 1)" "$n" $((n + 3000))	# two waits (measured: 982)
}

@test "foreign followers work through maps with keys of other versions" {
	n=$(faults 500)
	for size in 120 128 136; do
		rm -f "$ATTR_MAP"
		foreign lead$size lead $FAULTS $size
		lead=$foreign_pid
		perf stat -v --bpf-attr-map "$ATTR_MAP" -x, -o "$T/out" -e page-faults:b \
			"$WORKLOADS/faults" 500 2>"$T/err"
		grep -q "1 of another leader's events are counted" "$T/err"
		[ "$(field page-faults:b 1 "$T/out")" = "$n" ]
		end "$lead"
		start_run own$size -v -a -e page-faults
		foreign all$size follow $FAULTS
		wait_for has_text "are served" "$T/own$size.err"
		"$WORKLOADS/faults" 500
		end "$foreign_pid"
		in_range "$(sums all$size | cut -d ' ' -f 1)" "$n" $((n + 2000))	# a wait (measured: 238 to 418)
		end_run "$run_pid" INT 130
	done
}

is_served_again() {
	[ "$(grep -c "are served" "$T/long.err")" = 2 ]
}

@test "followers beyond the limit find no leader, instead of counting nothing" {
	start_run long -v -a -e page-faults
	for n in {1..30}; do
		foreign f$n follow $FAULTS
	done
	shared -x, -o "$T/out" -a -e cs true
	status=0
	"$FOREIGN" follow "$ATTR_MAP" $FAULTS </dev/null || status=$?
	[ "$status" = 3 ]
	kill -TERM "${jobs_started[@]:1}"
	wait "${jobs_started[@]:1}" || :
	shared -x, -o "$T/out" -a -e cs true
	foreign again follow $FAULTS
	wait_for is_served_again
	"$WORKLOADS/faults" 300
	end "$foreign_pid"
	in_range "$(sums again | cut -d ' ' -f 1)" 300 5000	# a wait (measured: 841)
	end_run "$run_pid" INT 130
}

@test "an event that is opened while others are served is served, too" {
	n=$(faults 1000)
	start_run first -v -a -e cs
	foreign other follow 1 3
	wait_for has_text "are served" "$T/first.err"
	start_run second -a -e page-faults
	foreign all follow $FAULTS
	"$WORKLOADS/faults" 1000
	end "$foreign_pid"
	in_range "$(sums all | cut -d ' ' -f 1)" "$n" $((n + 1000))	# no wait (measured: 201)
}

# killed_session STEP OPTION... : one that is killed there
killed_session() {
	background "$T/killed.err" env PERF_TEST_KILL_AT="$1" perf stat --bpf-counters --bpf-attr-map "$ATTR_MAP" \
		-o "$T/killed.csv" "${@:2}"
	killed=$!
}

# was_killed_at STEP : that one
was_killed_at() {
	local status=0
	wait "$killed" || status=$?
	cat "$T/killed.err"
	[ "$status" = 137 ]
	grep -qx "killed at $1" "$T/killed.err"
}

@test "a session is killed while it begins to serve: another one serves" {
	local step
	n=$(faults 1000)
	for step in serving followers-served; do
		start_run other -v -a -e page-faults
		killed_session $step -a -e page-faults
		wait_for is_listed "$killed"
		wait_for has_text poll "/proc/$killed/wchan"
		foreign $step follow $FAULTS
		was_killed_at $step
		wait_for is_on_switch
		"$WORKLOADS/faults" 1000
		end "$foreign_pid"
		in_range "$(sums $step | cut -d ' ' -f 1)" "$n" $((n + 3000))	# two waits (measured: 647 and 934)
		end_run "$run_pid" INT 130
		perf bperf prune --bpf-attr-map "$ATTR_MAP"
		wait_for no_registry
	done
}

@test "a session is killed while it looks for followers, or ends serving: others are served on" {
	n=$(faults 1000)
	start_run long -v -a -e page-faults
	foreign all follow $FAULTS
	wait_for has_text "are served" "$T/long.err"
	killed_session followers-seen -a -e dummy true
	was_killed_at followers-seen
	"$WORKLOADS/faults" 1000
	end "$foreign_pid"
	in_range "$(sums all | cut -d ' ' -f 1)" "$n" $((n + 3000))	# a session, a wait (measured: 925)
	killed_session serving-ended -a -e dummy true
	was_killed_at serving-ended
	foreign again follow $FAULTS
	wait_for is_served_again
	"$WORKLOADS/faults" 1000
	end "$foreign_pid"
	in_range "$(sums again | cut -d ' ' -f 1)" "$n" $((n + 3000))	# a wait (measured: 455)
	end_run "$run_pid" INT 130
}
