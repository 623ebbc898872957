#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# perf stat -b: programs that come and go while a session counts those of a name or all. Also programs that
# cannot be counted, and sessions that put probes at one program at the same time.

load progs

# reload DIR : the programs of tests/workloads/targets.bpf.c once more, pinned in $P/DIR, as an agent loads
# its own again
reload() {
	mkdir "$P/$1"
	"$WORKLOADS/progload" "$WORKLOADS/targets.bpf.o" "$P/$1"
}

# users ID : how many runs count this program
users() {
	perf bperf list --bpf-attr-map "$ATTR_MAP" |
		awk -v id="$1" '$1 == "PROGRAM" { on = 1 } !NF { on = 0 } on && $2 == id { users = $4 } END { print users + 0 }'
}

has_users() {
	[ "$(users "$1")" = "$2" ]
}

# seconds : of the clock that sessions wait by
seconds() {
	cut -d. -f1 /proc/uptime
}

gone() {
	! $bpftool prog show id "$1" >/dev/null 2>&1
}

# is_stopped PID
is_stopped() {
	grep -q '^State:.T' "/proc/$1/status"
}

# stopped_at STEP NAME OPTION... : a run in the background, $run_pid, that stops itself there
stopped_at() {
	background "$T/$2.err" env PERF_TEST_STOP_AT="$1" perf stat --bpf-attr-map "$ATTR_MAP" -x, \
		-o "$T/$2.csv" "${@:3}"
	run_pid=$!
	wait_for is_stopped "$run_pid"
}

@test "a reloaded program is counted in the sum and has a row; an id is one program" {
	counting sum -b name:target_loop -e bpf_runs,page-faults
	sum=$run_pid
	counting rows -b name:target_loop --per-prog -e bpf_runs,page-faults
	rows=$run_pid
	counting id -b "$(id loop)" -e bpf_runs
	one=$run_pid
	prog_run loop 10
	reload new
	wait_for has_users "$(id_of "$P/new/target_loop")" 2
	prog_run loop 5
	"$WORKLOADS/progrun" "$P/new/target_loop" 30
	end_run "$sum" INT 130
	end_run "$rows" INT 130
	end_run "$one" INT 130
	cat "$T"/*.csv "$T"/*.err >&2
	is_equal "$(field bpf_runs 1 "$T/sum.csv")" 45
	is_equal "$(field bpf_runs 1 "$T/id.csv")" 15
	is_equal "$(prog_field "target_loop-$(id loop)" bpf_runs 1 "$T/rows.csv")" 15
	is_equal "$(prog_field "target_loop-$(id_of "$P/new/target_loop")" bpf_runs 1 "$T/rows.csv")" 30
	is_equal "$(awk -F, '$4 == "bpf_runs"' "$T/rows.csv" | wc -l)" 2
	refute grep -q . "$T/sum.err" "$T/rows.err" "$T/id.err"
	nothing_attached
}

# leave_one_descriptor PID : it can open one file more
leave_one_descriptor() {
	prlimit --pid "$1" --nofile="$(ls "/proc/$1/fd" | awk '
		{ used[$1] }
		END { for (i = 0; i in used || !nr++; i++) ; print i }'):"
}

@test "new programs are counted as soon as there is a free descriptor again, and the others meanwhile" {
	local limit new
	counting rows -b name:target_loop --per-prog -e bpf_runs,page-faults
	limit=$(prlimit --pid "$run_pid" --nofile --noheadings --output SOFT)
	prog_run loop 10
	# A program has a descriptor, and so has its BTF.
	leave_one_descriptor "$run_pid"
	reload new
	new=$(id_of "$P/new/target_loop")
	wait_for has_text 'for now' "$T/rows.err"
	prog_run loop 5
	prlimit --pid "$run_pid" --nofile="$limit:"
	wait_for has_users "$new" 1
	"$WORKLOADS/progrun" "$P/new/target_loop" 30
	end_run "$run_pid" INT 130
	cat "$T"/rows.* >&2
	is_equal "$(prog_field "target_loop-$(id loop)" bpf_runs 1 "$T/rows.csv")" 15
	is_equal "$(prog_field "target_loop-$new" bpf_runs 1 "$T/rows.csv")" 30
	is_equal "$(<"$T/rows.err")" "perf stat: -b: new programs cannot be counted for now: Too many open files: raise the limit with ulimit -n"
	nothing_attached
}

@test "-b tag: counts on a program that is loaded again, with another id and the same tag" {
	local tag old new
	old=$(id loop)
	tag=$($bpftool -j prog show pinned "$P/target_loop" | json_value tag)
	counting sum -b "tag:$tag" -e bpf_runs,page-faults
	sum=$run_pid
	counting rows -b "tag:$tag" --per-prog -e bpf_runs
	rows=$run_pid
	prog_run loop 10
	# Its instructions are the same.
	prog_run twin 3
	reload new
	new=$(id_of "$P/new/target_loop")
	is_equal "$($bpftool -j prog show pinned "$P/new/target_loop" | json_value tag)" "$tag"
	wait_for has_users "$new" 2
	rm "$P/target_loop"
	"$WORKLOADS/progrun" "$P/new/target_loop" 30
	"$WORKLOADS/progrun" "$P/new/target_empty" 500
	end_run "$sum" INT 130
	end_run "$rows" INT 130
	cat "$T"/*.csv "$T"/*.err >&2
	is_equal "$(field bpf_runs 1 "$T/sum.csv")" 43
	is_equal "$(prog_field "target_loop-$old" bpf_runs 1 "$T/rows.csv")" 10
	is_equal "$(prog_field "target_loop-$new" bpf_runs 1 "$T/rows.csv")" 30
	is_equal "$(prog_field "target_twin-$(id twin)" bpf_runs 1 "$T/rows.csv")" 3
	refute grep target_empty "$T/rows.csv"
	clean "$T/sum.err" "$T/rows.err"
	nothing_attached
}

@test "windows, intervals and repeats include the counts of new programs" {
	window w -b name:target_loop -e bpf_runs
	counting i -I 500 -b name:target_loop --per-prog -e bpf_runs
	interval=$run_pid
	reload new
	new=$(id_of "$P/new/target_loop")
	wait_for has_users "$new" 2
	"$WORKLOADS/progrun" "$P/new/target_loop" 30
	tell w enable
	"$WORKLOADS/progrun" "$P/new/target_loop" 7
	tell w disable
	"$WORKLOADS/progrun" "$P/new/target_loop" 100
	finish w
	end_run "$interval" INT 130
	is_equal "$(field bpf_runs 1 "$T/w.out")" 7
	is_equal "$(awk -F, -v row="target_loop-$new" '$2 == row { sum += $3 } END { print sum }' "$T/i.csv")" 137
	prog_stat -r 2 -b name:target_loop -x, -o "$T/out" -e bpf_runs "$WORKLOADS/progrun" "$P/new/target_loop" 8
	is_equal "$(field bpf_runs 1 "$T/out")" 8
	nothing_attached
}

@test "a replaced program is freed after 10 idle seconds, and its counts stay" {
	counting sum -b name:target_loop -e bpf_runs
	sum=$run_pid
	counting rows -I 1000 -b name:target_loop --per-prog -e bpf_runs
	rows=$run_pid
	old=$(id loop)
	local ran
	ran=$(seconds)
	prog_run loop 10
	reload new
	new=$(id_of "$P/new/target_loop")
	wait_for has_users "$new" 2
	rm "$P/target_loop"
	sleep 5
	# On a busy machine without virtual time, more may have passed: then it says nothing.
	! gone "$old" || [ $(($(seconds) - ran)) -ge 10 ]
	has_users "$old" 2 || [ $(($(seconds) - ran)) -ge 10 ]
	"$WORKLOADS/progrun" "$P/new/target_loop" 5
	sleep 6
	wait_for gone "$old"
	perf list --raw-dump bpf >"$T/raw"
	grep -w "id:$new" "$T/raw"
	refute grep -w "id:$old" "$T/raw"
	is_equal "$(users "$old")" 0
	# Its place in the sum is the next one's.
	reload newer
	wait_for has_users "$(id_of "$P/newer/target_loop")" 2
	"$WORKLOADS/progrun" "$P/new/target_loop" 20
	"$WORKLOADS/progrun" "$P/newer/target_loop" 300
	sleep 2
	end_run "$sum" INT 130
	end_run "$rows" INT 130
	cat "$T/rows.csv" >&2
	is_equal "$(field bpf_runs 1 "$T/sum.csv")" 335
	is_equal "$(awk -F, '$5 == "bpf_runs" { sum[$2] += $3 } END { for (row in sum) print sum[row] }' "$T/rows.csv" |
		sort -n | paste -sd' ')" "10 25 300"
	# It has no row any more.
	last=$(awk -F, 'END { print $1 }' "$T/rows.csv")
	refute grep -F "$last,target_loop-$old," "$T/rows.csv"
	nothing_attached
}

@test "a replaced program that is still in use is counted to the end" {
	counting sum -v -b name:target_loop -e bpf_runs
	prog_run loop 10
	reload new
	wait_for has_users "$(id_of "$P/new/target_loop")" 1
	sleep 10
	wait_for grep -F "'target_loop' (id $(id loop)) has a newer one and has not run for 10 s" "$T/sum.err"
	sleep 1
	wait_for has_users "$(id loop)" 1
	prog_run loop 7
	sleep 12
	prog_run loop 3
	end_run "$run_pid" INT 130
	is_equal "$(field bpf_runs 1 "$T/sum.csv")" 20
	nothing_attached
}

@test "-b all goes on without a program that takes no probes, and one line names it" {
	local words
	"$WORKLOADS/progload" "$WORKLOADS/ext.bpf.o" "$P" "$P/target_loop" target_loop
	"$WORKLOADS/progrun" -n "$P/target_plain"
	prog_stat -b all --per-prog -x, -o "$T/out" -e bpf_runs "$WORKLOADS/progrun" "$P/target_twin" 9 2>"$T/err"
	cat "$T/err" >&2
	is_equal "$(prog_field "target_twin-$(id twin)" bpf_runs 1 "$T/out")" 9
	is_equal "$(grep -c 'left out' "$T/err")" 1
	grep -E "^perf stat: -b: [0-9]+ programs left out: " "$T/err"
	grep -F "'target_loop' (id $(id loop)): another program replaces it (freplace), which excludes probes" "$T/err"
	grep -F "'target_plain' (id $(id plain))" "$T/err" | grep -F ": it has no BTF"
	refute grep -F target_loop "$T/out"
	# Beside other words, too, which name programs that are counted already.
	for words in "all,$(id twin)" "all,name:target_twin" "name:target_twin,all"; do
		prog_stat -b "$words" --per-prog -x, -o "$T/out" -e bpf_runs "$WORKLOADS/progrun" "$P/target_twin" 9 2>"$T/err"
		is_equal "$(prog_field "target_twin-$(id twin)" bpf_runs 1 "$T/out")" 9
		grep -F "'target_plain' (id $(id plain))" "$T/err" | grep -F ": it has no BTF"
	done
	refused 1 prog_stat -b "all,$(id plain)" true <<-END
		perf stat: -b $(id plain): 'target_plain' (id $(id plain)) cannot be counted: it has no BTF (compile it with -g, and load it with a loader that passes BTF on)
	END
	# -v names each program at once
	prog_stat -v -b all -x, -o "$T/out" -e bpf_runs true 2>"$T/err"
	grep -xF "perf stat: 'target_loop' (id $(id loop)) is left out: another program replaces it (freplace), which excludes probes" "$T/err"
	nothing_attached
}

@test "an event with a filter is not counted in programs" {
	refused 22 prog_stat -b name:target_loop -e sched:sched_switch --filter 'prev_pid == 1' true <<-'END'
		perf stat: -b: 'sched:sched_switch' has a filter: such events are not shared, and only shared ones can be counted in BPF programs
	END
	nothing_attached
}

@test "a program with room for one probe only is left out, and none stays on it" {
	for ((i = 0; i < 50; i++)); do
		mkdir "$P/nested$i"
		"$WORKLOADS/progload" "$WORKLOADS/nested.bpf.o" "$P/nested$i" "$P/target_twin" target_twin || break
	done
	# BPF_MAX_TRAMP_LINKS, 36 to 38 on the kernels from 6.1 to 7.3, and 40 before.
	in_range $i 36 40
	rm "$P/nested$((i - 1))/target_nested_link"
	prog_stat -b name:target_loop,name:target_twin -x, -o "$T/out" -e bpf_runs \
		"$WORKLOADS/progrun" "$P/target_loop" 6 2>"$T/err"
	is_equal "$(<"$T/err")" "perf stat: -b: 1 program left out: 'target_twin' (id $(id twin)): as many probes as the kernel allows are attached to it already"
	is_equal "$(field bpf_runs 1 "$T/out")" 6
	nothing_attached
}

@test "-b all counts programs with maps named as a leader's, and those that only write to events" {
	"$WORKLOADS/progload" "$WORKLOADS/registry.bpf.o" "$P"
	prog_stat -b all --per-prog -x, -o "$T/out" -e bpf_runs -- bash -c \
		"'$WORKLOADS/progrun' '$P/target_filter' 9; '$WORKLOADS/progrun' '$P/target_output' 8" 2>"$T/err"
	cat "$T/out" "$T/err" >&2
	is_equal "$(prog_field "target_filter-$(id filter)" bpf_runs 1 "$T/out")" 9
	is_equal "$(prog_field "target_output-$(id output)" bpf_runs 1 "$T/out")" 8
}

@test "-b all leaves out other tools that count, both older and newer ones" {
	background "$T/profile" $bpftool prog profile id "$(id twin)" cycles
	profile=$!
	background "$T/lead" "${WORKLOADS%/*}/foreign/foreign" lead "$ATTR_MAP" 1 0
	counting all -v -b all --per-prog -e bpf_runs
	all=$run_pid
	counting others --bpf-attr-map "${ATTR_MAP}_2" -b "$(id loop)" -e cpu-clock
	others=$run_pid
	reload new
	wait_for has_users "$(id_of "$P/new/target_loop")" 1
	prog_run loop 5
	end_run "$others" INT 130
	end_run "$all" INT 130
	kill $profile || :
	cat "$T/all.csv" "$T/all.err" >&2
	is_equal "$(prog_field "target_loop-$(id loop)" bpf_runs 1 "$T/all.csv")" 5
	refute grep -E '^(on_|fexit_|fentry_)' "$T/all.csv"
	end_jobs
	rm "${ATTR_MAP}_2"
	rm -r "${ATTR_MAP}_2_lock"
}

@test "sessions that begin at the same time make one pair" {
	# A session waits a second for another's probes. This emulated machine takes 0.4 s to attach them to one program,
	# longer on Linux 7, and longer if it looks at the sessions meanwhile.
	local -x PERF_TEST_LOCK_MS=10000
	for i in {0..2}; do
		background "$T/$i.err" perf stat --bpf-attr-map "$ATTR_MAP" -x, -o "$T/$i.csv" \
			-b "$(id loop)" -e bpf_runs,cpu-clock
		pids[i]=$!
	done
	sleep 3
	for i in {0..2}; do
		wait_for counts_or_ended "${pids[i]}"
	done
	is_equal "$(pairs)" 1
	prog_run loop 100
	for i in {0..2}; do
		end_run "${pids[i]}" INT 130
		is_equal "$(field bpf_runs 1 "$T/$i.csv")" 100
		clean "$T/$i.err"
	done
	nothing_attached
}

@test "a session stopped while attaching probes does not keep others from counting" {
	stopped_at pair-attached stopped -b "$(id loop)" -e bpf_runs
	stopped=$run_pid
	refused 1 prog_stat -b "$(id loop)" true <<-END
		perf stat: cannot count 'target_loop' (id $(id loop)): another session (process $stopped) is attaching or detaching probes there and has not finished
	END
	# It waits as long as for locks, within the same second.
	began_ms=$(date +%s%3N)
	PERF_TEST_LOCK_MS=4000 refused 1 prog_stat -b "$(id loop)" true <<-END
		perf stat: cannot count 'target_loop' (id $(id loop)): another session (process $stopped) is attaching or detaching probes there and has not finished
	END
	[ $(($(date +%s%3N) - began_ms)) -ge 4000 ]
	# Nor are other events counted of the whole system instead.
	refused 1 prog_stat -b "$(id loop)" -e page-faults,cpu-clock true <<-END
		perf stat: cannot count 'target_loop' (id $(id loop)): another session (process $stopped) is attaching or detaching probes there and has not finished
	END
	counting both -b name:target_loop,name:target_twin -e bpf_runs
	both=$run_pid
	is_equal "$(<"$T/both.err")" "perf stat: -b: 1 program left out: 'target_loop' (id $(id loop)): another session (process $stopped) is attaching or detaching probes there and has not finished"
	prog_run twin 40
	is_equal "$(pairs)" 2
	kill -CONT "$stopped"
	wait_for has_users "$(id loop)" 2
	is_equal "$(pairs)" 2
	prog_run loop 5
	end_run "$both" INT 130
	end_run "$stopped" INT 130
	is_equal "$(field bpf_runs 1 "$T/both.csv")" 45
	is_equal "$(field bpf_runs 1 "$T/stopped.csv")" 5
	nothing_attached
}

@test "the next session does not wait for the leftovers of a stopped one" {
	stopped_at pair-emptied stopped -b "$(id loop)" -e bpf_runs "$WORKLOADS/progrun" "$P/target_loop" 3
	stopped=$run_pid
	prog_stat -b "$(id twin)" -x, -o "$T/out" -e bpf_runs "$WORKLOADS/progrun" "$P/target_twin" 4
	is_equal "$(field bpf_runs 1 "$T/out")" 4
	kill -KILL "$stopped"
	wait "$stopped" || :
	prog_stat -b "$(id loop)" -x, -o "$T/out" -e bpf_runs "$WORKLOADS/progrun" "$P/target_loop" 6
	is_equal "$(field bpf_runs 1 "$T/out")" 6
	nothing_attached
}
