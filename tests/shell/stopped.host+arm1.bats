#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# Sessions that are stopped, and others beside them. PERF_TEST_STOP_AT=N stops a session at its N-th
# step, PERF_TEST_STOP_BY=SIGNAL by another signal than SIGSTOP.

load helpers
load shared

# On the emulated machine time is virtual: a second there is a second of waiting and not of load.
longest_ms=0

# timed COMMAND... : run it; nobody may wait longer than a second
timed() {
	local begin end status=0
	begin=$(date +%s%N)
	"$@" || status=$?
	end=$(($(date +%s%N) - begin))
	[ $((end / 1000000)) -le $longest_ms ] || longest_ms=$((end / 1000000))
	# Starting and counting take up to 350 ms there when the leader has to be made.
	[ "${PLACE:-host}" = host ] || [ $((end / 1000000)) -lt 1350 ] || {
		echo "$* took $((end / 1000000)) ms" >&2
		return 1
	}
	return $status
}

# ended PID : it has, or waits for its parent
ended() {
	! [ -e "/proc/$1" ] || is_state "$1" Z
}

stopped_or_ended() {
	is_state "$1" T || ended "$1"
}

# stop_at STEP OPTION... : a session is stopped there; its pid is $stopped. Fails if it comes to its end
stop_at() {
	local step=$1
	shift
	background "$T/stopped.err" env PERF_TEST_STOP_AT="$step" perf stat --bpf-counters \
		--bpf-attr-map "$ATTR_MAP" "$@"
	stopped=$!
	wait_for stopped_or_ended "$stopped" || return
	is_state "$stopped" T
}

# stop_at_each STEP OPTION... : the same at one of all steps, in order. At two of them a session has the
# protocol's lock, which is one for all maps of the machine: others cannot close events meanwhile. Keep tests
# out that compare the tables of cgroups, or of thousands of tasks, but at no other step.
stop_at_each() {
	case $(sed -n 's/^stopped at //p' "$T/stopped.err" 2>/dev/null) in
	event-changing) own_the_tasks || return ;;
	event-closing) let_tasks_be || return ;;
	esac
	stop_at "$@" || return
	[ "$(grep -c " WRITE $stopped " /proc/locks)" -le 1 ] || [ -n "${tasks_lock:-}" ] ||
		{ echo "not expected to have two locks" >&2; exit 1; }
}

# go_on : it goes on, also where it comes by a step of that name again, and ends well
go_on() {
	wait_for continued "$stopped"
	wait "$stopped"
}

# begin_counts : commands are counted from now on. Emulated machines hide no switches.
begin_counts() {
	[ "${PLACE:-host}" != host ] || begin_witness
}

# counts_right FILE : the faults of a command that makes 300 itself. On the host
# end_counts compares them.
counts_right() {
	if [ "${PLACE:-host}" = host ]; then
		field page-faults 1 "$1" >>"$T/counts"
	else
		# Its own start is less than 200.
		in_range "$(field page-faults 1 "$1")" 300 500
	fi
}

# end_counts : all were right, but for what hidden switches explain
end_counts() {
	[ "${PLACE:-host}" = host ] || return 0
	end_witness 2>/dev/null
	explained 300 500 comm faults <"$T/counts"
}

# only_holder FILE [CONSEQUENCE] : nothing but one warning that names the holder and its state
only_holder() {
	local private="counting with events of this session's own"
	[ "$(wc -l <"$1")" -le 1 ]
	refute grep -v "_lock.* is held by process $stopped (perf, T (stopped)): ${2:-$private} (kill -CONT $stopped if it is stopped, or end it)\$" "$1"
}

# lists FILE OPTION... : perf bperf list, to FILE.out, without anything on stderr but one such warning
lists() {
	local file=$1
	shift
	timed perf bperf list --bpf-attr-map "$ATTR_MAP" "$@" >"$file.out" 2>"$file.err"
	only_holder "$file.err" "listed without it, so the list may be of a moment in between"
}

# others : a command, all CPUs, and a list, beside one that is stopped
others() {
	# Only the emulated machine measures how long they wait.
	[ "${PLACE:-host}" != host ] || local -x PERF_TEST_LOCK_MS=100
	timed shared -x, -o "$T/task.out" -e page-faults:u "$WORKLOADS/faults" 300 2>"$T/task.err"
	counts_right <(sed s/:u// "$T/task.out")
	only_holder "$T/task.err"
	timed shared -a -x, -o "$T/cpus.out" -e page-faults "$WORKLOADS/faults" 300 2>"$T/cpus.err"
	at_least "$(field page-faults 1 "$T/cpus.out")" 300
	only_holder "$T/cpus.err"
	lists "$T/list"
}

# beside_each_step STEPS OPTION... : others, beside a session that is stopped at each of its steps, of
# which there are more than STEPS
beside_each_step() {
	local n steps=$1
	shift
	begin_counts
	for ((n = 1; ; n++)); do
		stop_at_each $n "$@" || break
		others
		go_on
	done
	end_counts
	[ "${PLACE:-host}" = host ] || echo "# $n steps, longest $longest_ms ms" >&3
	[ $n -gt "$steps" ]
}

@test "the perf to install ignores the variables that kill and stop the perf of the tests" {
	killed_at leader-complete shared -e cs -- true
	use_product
	PERF_TEST_KILL_AT=1 PERF_TEST_STOP_AT=2 shared -e cs -- true 2>"$T/product"
	cat "$T/product"
	grep -q ' cs ' "$T/product"
	refute grep -q 'at leader-' "$T/product"
}

@test "a session of tasks stopped at any step delays others at most a second" {
	beside_each_step 30 -e cs -- true
	wait_for no_leader
}

@test "a session of all CPUs stopped at any step delays others at most a second" {
	beside_each_step 12 -a -e cs -- true
	wait_for no_leader
}

@test "the list beside a session that is stopped under the lock has all sessions and events" {
	local living
	window living --bpf-counters -a -e page-faults,minor-faults
	living=${run_pid[living]}
	stop_at session-added -a -e cs -- true
	lists "$T/list"
	cat "$T/list.out"
	[ "$(wc -l <"$T/list.err")" = 1 ]
	grep -Eq "^$living +perf +[0-9.]+$" "$T/list.out"
	grep -Eq "^$stopped +perf +[0-9.]+$" "$T/list.out"
	grep -Eq "^page-faults +1 +$(nproc) +[0-9.]+ +100.0%  own +$living$" "$T/list.out"
	[ "$(tail -n 1 "$T/list.out")" = "2 sessions share $((2 * $(nproc))) perf events for 2 events" ]
	lists "$T/json" -j
	[ "$(wc -l <"$T/json.err")" = 1 ]
	[ "$(jq -c '[[.runs[].pid], [.events[] | [.event, .pids, ."perf-events"]]]' "$T/json.out")" = \
		"[[$living,$stopped],[[\"page-faults\",[$living],$(nproc)],[\"minor-faults\",[$living],$(nproc)]]]" ]
	go_on
	finish living
	lists "$T/none"
	[ "$(<"$T/none.out")" = "no events are shared through $ATTR_MAP" ]
	is_silent "$T/none.err"
}

@test "a session stopped at any step does not affect one that counts" {
	local n
	gang 1 50000
	window living --bpf-counters -e page-faults:u,instructions:u -p "$gang"
	tell living enable
	for ((n = 1; ; n++)); do
		stop_at_each $n -e cs -p "$gang" -- true || break
		tell living disable
		tell living enable
		go_on
	done
	[ $n -gt 20 ]
	finish living
	wait_for no_leader
}

@test "a session stopped while it takes hold of the leader has no lock, and joins the later leader" {
	begin_counts
	window first --bpf-counters -a -e page-faults
	stop_at leader-held -a -e page-faults -- sleep infinity
	others
	is_silent "$T/task.err"
	is_silent "$T/cpus.err"
	# Another map and another leader: what it holds serves nobody.
	finish first
	remove_map
	window second --bpf-counters -a -e page-faults
	kill -CONT "$stopped"
	wait_for has_sessions 2
	end_run "$stopped" INT 130
	cat "$T/stopped.err" >&2
	clean "$T/stopped.err"
	# The same leader, though nobody else counts any more.
	stop_at leader-held -x, -o "$T/late.out" -e page-faults:u -- "$WORKLOADS/faults" 300
	finish second
	go_on
	counts_right <(sed s/:u// "$T/late.out")
	end_counts
	wait_for no_leader
}

@test "readings are complete and prompt beside a session stopped while moving sums" {
	window reads --bpf-counters -e page-faults:u -p $$
	tell reads enable
	stop_at merge-decided -e cs -p $$ -- true
	tell reads disable
	kill -INT "${run_pid[reads]}"
	timed wait "${run_pid[reads]}" || :
	[ -s "$T/reads.out" ]
	clean "$T/reads.err"
	[ "$(field page-faults:u 1 "$T/reads.out")" -gt 0 ]
	go_on
	# The entry that it could not remove goes with the next session.
	shared -x, -o /dev/null -e cs true
	wait_for no_leader
}

@test "a session waits for another that opens the same events, and shares them" {
	local first
	stop_at event-opened -a -e page-faults -- sleep infinity
	first=$stopped
	killed_at event-awaited shared -a -e page-faults true
	timed shared -a -x, -o "$T/out" -e page-faults true
	stop_at event-awaited -a -e page-faults -- sleep infinity
	kill -CONT "$first"
	wait_for polls "$first"
	kill -CONT "$stopped"
	wait_for polls "$stopped"
	has_sessions 2
	[ "$(nr_perf_events)" = "$(nproc)" ]
	end_run "$first" INT 130
	end_run "$stopped" INT 130
	wait_for no_leader
}

# table : the leader's events as other layouts find them: where each begins, in the array of events
table() {
	our_objects | while read -r kind id name; do
		[ "$kind $name" = "map perf_shared_v0" ] || continue
		/usr/sbin/bpftool -j map dump id "$id" | jq -r '.[].value[4:8] | map(ltrimstr("0x")) | reverse | join("")'
	done
}

# restored : by the next session; where others hold the protocol's lock, by one after it
restored() {
	local i
	for ((i = 0; i < 50; i++)); do
		shared -a -x, -o "$T/next.out" -e page-faults true
		[ "$(table)" != "$(printf %08x "$(nproc)")" ] || return 0
	done
	return 1
}

@test "other layouts find an event again when its twin of another session has ended" {
	local first second
	stop_at event-opened -a -e page-faults -- sleep infinity
	first=$stopped
	stop_at event-tabled -a -e page-faults -- sleep infinity
	second=$stopped
	# The table leads to the first one's now, and the attr map will lead to the second one's.
	kill -CONT "$first"
	wait_for polls "$first"
	kill -CONT "$second"
	wait_for polls "$second"
	[ "$(table)" = 00000000 ]
	end_run "$first" INT 130
	restored
	end_run "$second" INT 130
	wait_for no_leader
}

@test "Ctrl-Z under a lock takes effect when perf releases the lock" {
	local step
	begin_counts
	# The last session of all would merge nothing.
	start_run beside -a -e cs
	for step in session-added scope-set-added merge-begun; do
		background "$T/job.err" "$WORKLOADS/own_group" "$T/pid" \
			env PERF_TEST_STOP_BY="$(kill -l TSTP)" PERF_TEST_STOP_AT=$step \
			perf stat --bpf-counters --bpf-attr-map "$ATTR_MAP" -e cs -- true
		local job=$!
		wait_for [ -s "$T/pid" ]
		read -r stopped <"$T/pid"
		rm "$T/pid"
		wait_for is_state "$stopped" T
		timed shared -x, -o "$T/task.out" -e page-faults:u "$WORKLOADS/faults" 300 2>"$T/task.err"
		counts_right <(sed s/:u// "$T/task.out")
		is_silent "$T/task.err"
		wait_for continued "$stopped"
		wait "$job"
	done
	end_run "$run_pid" INT 130
	end_counts
	wait_for no_leader
}

@test "a session that blocks on a message holds no lock" {
	local reader
	mkfifo "$T/full"
	exec {reader}<>"$T/full"
	# Loading prints more than is left in a pipe of 64 KiB.
	printf '%62000s' '' >&"$reader"
	background "$T/stopped.err" sh -c 'exec perf stat -vvv --bpf-counters --bpf-attr-map "$1" -e cs true 2>"$2"' \
		sh "$ATTR_MAP" "$T/full"
	stopped=$!
	full() { grep -q pipe "/proc/$stopped/wchan"; }
	wait_for full
	begin_counts
	timed shared -x, -o "$T/task.out" -e page-faults:u "$WORKLOADS/faults" 300 2>"$T/task.err"
	counts_right <(sed s/:u// "$T/task.out")
	end_counts
	is_silent "$T/task.err"
	exec {reader}>&-
	end_jobs
}

@test "sessions share without waiting while the protocol's lock is held" {
	# It is one for all BPF descriptors of a machine, so that tests beside this one would be disturbed.
	[ "${PLACE:-host}" != host ] || skip "only where no other test runs at the same time"
	background "$T/holder" "$WORKLOADS/hold_anon"
	local holder=$! i
	wait_for has_text ready "$T/holder"
	window witness --bpf-counters -a -e page-faults
	tell witness enable
	for i in 1 2 3; do
		timed shared -x, -o "$T/task.out" -e page-faults:u "$WORKLOADS/faults" 300 2>"$T/task.err"
		counts_right <(sed s/:u// "$T/task.out")
	done
	# Said without -v, by whoever finds that events could not be closed before.
	grep -q "is held by process $holder (hold_anon, " "$T/task.err"
	kill -KILL "$holder"
	shared -x, -o /dev/null -e cs true
	[ "$(entries)" = 1 ]
	finish witness
	wait_for no_leader
}

@test "every target but BPF programs is counted without the lock after a second" {
	local kind
	gang 1 50000
	stop_at session-added -e cs -- true
	begin_counts
	others
	end_counts
	for kind in "-p $gang" "-t $gang" "--per-thread -p $gang" "-C 0" "-a -A" "-a --for-each-cgroup /"; do
		# shellcheck disable=SC2086 # words
		timed shared $kind -x, -o "$T/kind.out" -e task-clock "$WORKLOADS/poke" "$gang" "$T/gang" \
			2>"$T/kind.err"
		grep -q task-clock "$T/kind.out"
		# A plain event of a cgroup counts from the next switch between cgroups on, and there may be none.
		[ "$kind" = "-a --for-each-cgroup /" ] || refute grep 'not counted\|not supported' "$T/kind.out"
		only_holder "$T/kind.err"
	done
	# Each repetition tries anew.
	go_on
	shared -x, -o "$T/again.out" -e page-faults "$WORKLOADS/faults" 300 2>"$T/again.err"
	is_silent "$T/again.err"
	wait_for no_leader
}
