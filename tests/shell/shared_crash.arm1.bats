#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# Runs that end in the middle of something. PERF_TEST_KILL_AT=N kills a run at the N-th step that it
# makes, of those that tests/data/steps names; tests/shell/steps.user.bats checks that list.

load helpers
load shared

U=instructions:u
process=8000000		# of the gangs here, gang 2 500000 2, in each time of work

@test "the run that made the leader ends, is interrupted, is killed: the others count on" {
	local how
	gang 2 500000 2
	for how in stop INT TERM KILL; do
		window first --bpf-counters -e $U,cycles:u -p "$gang"
		both_window second $U -p "$gang"
		both_window third cs,$U -p "$gang"
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
		alike 0 $U "$WORKLOADS/spin" 100000
		[ "$(state runs) $(state scopes)" = "2 2" ]
		work
		tell_all disable second third
		finish second third
		same second 0 $U $((process * 3)) $((process * 3 + 100000))
		same third 0 $U $((process * 3)) $((process * 3 + 100000))
		same third 20 cs 6
	done
	nothing_left
}

@test "the last run is killed: nothing is left but an entry, and the next run works" {
	gang 1 500000
	window last --bpf-counters -e $U -p "$gang"
	tell last enable
	work
	kill -KILL "${run_pid[last]}"
	wait "${run_pid[last]}" || :
	wait_for no_leader_objects
	nothing_left
}

@test "the lock is held by a process that is stuck: after a minute those who wait end, and say who" {
	local status=0 holder
	shared -e cs -a -- sleep 0.1 2>"$T/first.err"
	both_window leaves cs -a
	setsid flock "${ATTR_MAP}_lock" sleep infinity 3>&- &
	jobs_started+=($!)
	held() { grep -q 'FLOCK.*WRITE' /proc/locks; }
	wait_for held
	shared -e cs true >"$T/begins.out" 2>"$T/begins.err" 3>&- || status=$?
	[ $status = 1 ]
	holder=$(sed -n 's/.* is held by process //p' "$T/begins.err" | sort -u)
	[ -e "/proc/$holder" ]
	sed "s/ $holder$/ PID/" "$T/begins.err" | diff - <(
		echo "perf stat: waiting: ${ATTR_MAP}_lock is held by process PID"
		echo "perf stat: cannot share events: waited for a minute: ${ATTR_MAP}_lock is held by process PID") >&2
	kill -INT "${run_pid[leaves]}"
	wait "${run_pid[leaves]}" || :
	[ -s "$T/leaves.out" ]
	end_jobs
	# what it left the next one cleans up
	alike 0 $U "$WORKLOADS/spin" 1000
	nothing_left
}

# dies_at N COMMAND... : it is killed at its N-th step, whose name goes to $step and to the list of
# those seen; fails if it has less of them, and so came to its end
dies_at() {
	local n=$1 status=0 line
	shift
	PERF_TEST_KILL_AT=$n "$@" >"$T/killed.err" 2>&1 3>&- || status=$?
	[ $status != 0 ] || return 1
	step=
	while read -r line; do
		[ "${line#killed at }" = "$line" ] || step=${line#killed at }
	done <"$T/killed.err"
	[ $status = 137 ] && [ -n "$step" ] || { echo "step $n: status $status" >&2; cat "$T/killed.err" >&2; exit 1; }
	echo "$step" >>"$BATS_FILE_TMPDIR/steps"
}

@test "killed at each step beside a living run: that is right, and the next run repairs" {
	local n before
	gang 2 50000 1
	both_window living $U,cs -p "$gang"
	tell living enable
	# What it counts, another run has counted before: so all that it meets is there, or made anew.
	joiner() {
		shared -e $U,cycles:u,cs -p "$gang" -- "$WORKLOADS/poke" "$gang" "$T/gang"
	}
	joiner 2>"$T/joiner.err"
	clean "$T/joiner.err"
	before=$(tables)
	for ((n = 1; ; n++)); do
		dies_at $n joiner || break
		# those who read, repair; so does who comes
		tell living disable
		tell living enable
		work
		shared -e $U true 2>"$T/next.err"
		[ "$(tables)" = "$before" ] || { diff <(echo "$before") <(tables); echo "after step $n, $step"; return 1; }
	done
	echo "$n steps"
	clean "$T/next.err"
	tell living disable
	finish living
	[ $n -gt 60 ]
	same living 0 $U $((n * 700000))
	same living 5 cs "$n"	# children end, see shared_overlap
	nothing_left
}

@test "killed at each step while it makes the leader: the next run makes another" {
	local n
	for ((n = 1; ; n++)); do
		dies_at $n shared -e $U "$WORKLOADS/spin" 1000
		wait_for no_leader_objects
		alike 0 $U "$WORKLOADS/spin" 1000
		# from here on it goes as beside a living run
		[ "$step" != class-added ] || break
	done
	nothing_left
}

@test "killed at each step while it makes the links to the tasks: the next run makes others" {
	local n
	window cpus --bpf-counters -a -e cs
	shared -e $U "$WORKLOADS/spin" 1000 2>"$T/first.err"
	for ((n = 1; ; n++)); do
		dies_at $n shared -e $U "$WORKLOADS/spin" 1000
		alike 0 $U "$WORKLOADS/spin" 1000
		[ "$(state runs) $(state scopes) $(state classes)" = "1 0 0" ]
		[ "$step" != class-added ] || break
	done
	finish cpus
	nothing_left
}

@test "every step there is was one of those" {
	diff <(grep -v " " "$BATS_TEST_DIRNAME/../data/steps") <(sort -u "$BATS_FILE_TMPDIR/steps")
}
