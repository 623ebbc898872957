#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# Tasks that cannot be counted, and more than can be shared: one line each, others are not disturbed, and
# nothing is left.

load helpers
load kept

requirements() {
	require_root
}

# sleepers N : a process with that many further threads, its pid is $sleepers
sleepers() {
	[ "$1" -lt 500 ] || own_the_tasks
	background "$T/sleepers" "$WORKLOADS/sleepers" "$1"
	sleepers=$!
	wait_for has_text ready "$T/sleepers"
}

# warns_once FILE WHAT : that is all there is: what is full, and that the session counts by itself
warns_once() {
	grep -v '^Events ' "$1" | diff - <(echo "perf stat: $2: counting with events of this session's own") >&2
}

# counts_itself WHAT OPTION... : others leave no room for a session with these options and the gang among its tasks. Its
# counts are exact, and it changes nothing that is shared.
counts_itself() {
	local what=$1
	shift
	tables >"$T/before"
	both_window own page-faults "$@"
	same_tables "$T/before"
	tell own enable
	work
	work
	tell own disable
	end_run "${run_pid[own]}" INT 130
	warns_once "$T/own.err" "$what"
	same own 0 page-faults 4
}

# is_still NAME : this value of the state has been the same for half a second
is_still() {
	local value now=${EPOCHREALTIME/./}
	value=$(state "$1")
	[ "$value" = "${still_value:-}" ] || { still_value=$value; still_us=$now; }
	[ $((now - still_us)) -ge 500000 ]
}

few_entries() {
	[ "$(state entries)" -le "$1" ]
}

# shared_all NAME... : these sessions end, and had no events of their own
shared_all() {
	local name
	finish "$@"
	for name; do
		refute grep "this session's own" "$T/$name.err"
	done
}

# samples_itself WHAT : the same of a session that samples each page fault of a command
samples_itself() {
	tables >"$T/before"
	perf profile --bpf-attr-map "$ATTR_MAP" -j -s pid -c 1 -e page-faults:u -- "$WORKLOADS/faults" 300 >"$T/own.json" 2>"$T/own.err"
	same_tables "$T/before"
	cat "$T/own.json" "$T/own.err" >&2
	[ "$(complaints "$T/own.err")" = "perf profile: $1: sampling with events of this session's own" ]
	# Events of its own miss nothing. The start of the program has less than 100.
	in_range "$(jq -s 'map(.samples // 0) | add' "$T/own.json")" 300 400
}

# tracepoints N : so many different events, to $events
tracepoints() {
	require_tracepoints
	events=$(cd /sys/kernel/tracing/events/syscalls && printf 'syscalls:%s,' sys_enter_* | cut -d, -f "1-$1")
	[ "$(tr -cd , <<<"$events" | wc -c)" = $(($1 - 1)) ] || skip_or_fail "no $1 tracepoints of system calls here"
}

@test "a missing process or thread is an error" {
	refused 22 shared -e cs -p 4194305 true <<'END'
Problems finding threads of monitor
perf stat: -p 4194305: there is no process 4194305
END
	refused 1 shared -e cs -t 4194305 true <<'END'
Error:
No supported events found.
'cs': there is no task to count (it may have ended)
END
	# beside one that there is, it is the only one that is not counted
	sleepers 1
	shared -x, -o "$T/t.out" -e cs -t $sleepers,4194305 true 2>"$T/t.err"
	[ "$(<"$T/t.err")" = "perf stat: thread 4194305 has ended: not counted" ]
	nothing_left
}

# held_up OPTION... : a run that waits for the lock, with its list of threads made. It waits for longer than
# a second, which would not be enough on a busy machine.
held_up() {
	exec 9<"${ATTR_MAP}_lock"
	flock 9
	background "$T/held.err" env PERF_TEST_LOCK_MS=300000 perf stat --bpf-attr-map "$ATTR_MAP" -x, \
		-o "$T/held.out" --bpf-counters "$@" 9<&-
	held=$!
	wait_for waits_for_lock "$held"
}

# go_on STATUS : it gets the lock and ends so; what else it said is on standard input
go_on() {
	local status=0
	exec 9<&-
	wait "$held" || status=$?
	cat >"$T/expected"
	diff -u "$T/expected" "$T/held.err" >&2
	[ $status = "$1" ]
}

@test "a target may end before the task walk" {
	local first second
	"$WORKLOADS/waiter" >"$T/first" 3>&- &
	first=$!
	"$WORKLOADS/waiter" >"$T/second" 3>&- &
	second=$!
	jobs_started+=("$first" "$second")
	held_up -e cs -p $first,$second -- true
	kill -KILL $second
	wait $second || :
	go_on 0 <<<"perf stat: process $second has ended: not counted"
	held_up -e cs -p $first -- true
	kill -KILL $first
	wait $first || :
	go_on 1 <<'END'
Error:
No supported events found.
'cs': there is no task to count (it may have ended)
END
	# one of its threads
	gang 2 1000
	held_up --per-thread -e page-faults -p "$gang" -- true
	kill -KILL "$gang"
	# as long as nobody has waited for it, its first thread is there
	wait "$gang" || :
	go_on 1 <<'END'
Error:
No supported events found.
'page-faults': there is no task to count (it may have ended)
END
	nothing_left
}

@test "ids inside a pid namespace are those of the namespace" {
	local inside missing extra
	begin_witness
	gang 2 1000 5
	both_window outside page-faults -p "$gang"
	tell outside enable
	work
	# the first there is 1, its children are few; outside these numbers are others'
	unshare --fork --pid --mount-proc bash -c '
		: >"$2/inside"
		"$1/gang" 2 1000 30 >>"$2/inside" &
		gang=$!
		until grep -q ready "$2/inside"; do :; done
		echo "$gang $(sed "s/ready *\([0-9]*\).*/\1/" "$2/inside")"
		for target in "-p $gang" "-t $gang" "--per-thread -t $gang"; do
			perf stat --bpf-attr-map "$0" -x, -o "$2/ns.out" -e page-faults,page-faults:b \
				$target -- "$1/poke" $gang "$2/inside" || exit
			cat "$2/ns.out"
		done
		perf stat --bpf-attr-map "$0" -x, -o "$2/alike.out" -e page-faults,page-faults:b "$1/faults" 200
		kill $gang' "$ATTR_MAP" "$WORKLOADS" "$T" >"$T/said" 2>&1
	cat "$T/said"
	read -r inside _ <"$T/said"
	[ "$inside" -lt 100 ]
	tell outside disable
	finish outside
	end_witness
	missing=$(missed events comm faults) extra=$(excess events comm faults)
	same alike 2 page-faults 200
	awk -F, -v missing="$(missed events comm gang)" -v extra="$(excess events comm gang)" '
		/page-faults:b,/ { sub(/.*waiter-[0-9]*,|.*gang-[0-9]*,/, "") }
		/page-faults,/ { sub(/.*gang-[0-9]*,/, ""); plain[++nr] = $1 }
		/page-faults:b,/ { shared[nr] = $1 }
		END {
			for (i = 1; i <= nr; i++) {
				print "plain " plain[i] " shared " shared[i]
				if (plain[i] < 30 || shared[i] < plain[i] * 0.98 - missing ||
				    shared[i] > plain[i] + extra)
					bad = 1
			}
			exit bad || nr != 3
		}' "$T/said"
	missing=$(missed events comm gang) extra=$(excess events comm gang)
	same outside 2 page-faults 5
	nothing_left
}

@test "any next session cleans up after one that died outside a pid namespace" {
	local missing extra
	begin_witness
	gang 2 1000 5
	both_window living page-faults -p "$gang"
	tell living enable
	work
	tables >"$T/before"
	window dies --bpf-counters -e page-faults,cs -p "$gang"
	kill -KILL "${run_pid[dies]}"
	wait "${run_pid[dies]}" || :
	# it cannot see the gang's threads, so it cannot take the dead session's scopes off them
	unshare --fork --pid --mount-proc perf stat --bpf-counters --bpf-attr-map "$ATTR_MAP" -e cs true 2>"$T/ns.err"
	clean "$T/ns.err"
	work
	shared -e cs true 2>"$T/next.err"
	clean "$T/next.err"
	same_tables "$T/before"
	work
	tell living disable
	finish living
	end_witness
	missing=$(missed events comm gang) extra=$(excess events comm gang)
	same living 2 page-faults 15
	nothing_left
}

@test "a session counts privately when others have all rows" {
	local full="all sessions together would count more than 16383 rows of tasks (one per session; with --per-thread, per thread)"
	# With its first thread, and the row of the run that keeps the leader.
	sleepers 16381
	gang 2 1000 5
	window most --bpf-counters --per-thread -e cs -p $sleepers
	counts_itself "$full" -p "$gang"
	samples_itself "$full"
	shared_all most
	nothing_left
}

@test "a session counts privately when others have all scope sets, and leaving sessions find room" {
	local some
	sleepers 4000
	some=$(cd /proc/$sleepers/task && printf '%s\n' * | head -n 500 | paste -sd,)
	gang 2 1000 5
	window first --bpf-counters --per-thread -e cs -p $sleepers
	window second --bpf-counters --per-thread -e cs -p $sleepers
	window third --bpf-counters -e cs -p $sleepers
	counts_itself "all sessions together would count more than 16383 different sets of sessions that count a task" \
		-t "$some,$(IFS=,; echo "$gang,${tids[*]}")"
	shared_all first second third
	nothing_left
}

# faults_in FILE MIN MAX : the page faults of a session that counts them in its only row, or in its last
faults_in() {
	cat "$1" >&2
	# Callers give the reasons.
	in_range "$(field page-faults 1 "$1")" "$2" "$3"
	refute grep 'not counted\|not supported' "$1"
}

@test "a session that would have too many events on one task counts privately" {
	local events text="all sessions together would count more than 64 different events in one task"
	tracepoints 64
	# A series of repeats warns once.
	shared -r 2 -x, -o "$T/own.out" -e "$events,page-faults" "$WORKLOADS/faults" 300 2>"$T/own.err"
	warns_once "$T/own.err" "$text"
	# Its own start is less than 200.
	faults_in "$T/own.out" 300 500
	[ "$(grep -c , "$T/own.out")" = 65 ]
	gang 2 1000 5
	window half --bpf-counters -e "${events%%,*sys_enter_e*}" -p "$gang"
	window most --bpf-counters -e "$(cut -d, -f 2-64 <<<"$events")" -p "$gang"
	counts_itself "$text" -p "$gang"
	finish half most
	nothing_left
}

@test "a group of more events than there are places is refused" {
	refused 1 shared -a -e "{cs$(printf ',cs%.0s' {1..256})}" true <<-'END'
		perf stat: a group of 257 events cannot be shared: 256 at most
	END
}

@test "each kind of target is counted privately when all places for events are used" {
	local events kind text="no room for 'page-faults' among the 256 events that all sessions together can share"
	# And the one of the run that keeps the leader.
	tracepoints 255
	gang 2 1000 5
	window full --bpf-counters -a -e "$events"
	tables >"$T/before"
	shared -r 2 -x, -o "$T/own.out" -e page-faults "$WORKLOADS/faults" 300 2>"$T/own.err"
	warns_once "$T/own.err" "$text"
	faults_in "$T/own.out" 300 500
	for kind in -a "-C 0" "-a --for-each-cgroup /"; do
		# shellcheck disable=SC2086 # words
		shared $kind -x, -o "$T/own.out" -e page-faults taskset -c 0 "$WORKLOADS/faults" 300 2>"$T/own.err"
		warns_once "$T/own.err" "$text"
		faults_in "$T/own.out" 300 100000000
	done
	for kind in -p -t "--per-thread -p"; do
		# shellcheck disable=SC2086 # words
		both_window own page-faults $kind "$gang"
		tell own enable
		work
		work
		tell own disable
		end_run "${run_pid[own]}" INT 130
		warns_once "$T/own.err" "${text/page-faults/page-faults:b}"
		cat "$T/own.out" >&2
		refute grep 'not counted\|not supported' "$T/own.out"
		[ "$kind" != -p ] || same own 0 page-faults 4
	done
	# A group that has no room is not shared in part.
	shared -x, -o "$T/own.out" -e '{cs:u,page-faults}' "$WORKLOADS/faults" 300 2>"$T/own.err"
	warns_once "$T/own.err" "${text/page-faults/cs:u}"
	faults_in "$T/own.out" 300 500
	# Existing parts are shared.
	shared -x, -o "$T/joins.out" -e "${events%%,*}" "$WORKLOADS/faults" 300 2>"$T/joins.err"
	is_silent "$T/joins.err"
	refute perf bperf verify --bpf-attr-map "$ATTR_MAP" -e page-faults --time 10 2>"$T/verify.err"
	[ "$(<"$T/verify.err")" = "perf bperf: $text: nothing can be compared" ]
	same_tables "$T/before"
	finish full
	nothing_left
}

@test "a session counts privately when others have all sums of events" {
	local events some
	tracepoints 63
	sleepers 4000
	some=$(cd /proc/$sleepers/task && printf '%s\n' * | head -n 500 | paste -sd,)
	gang 2 1000 5
	window most --bpf-counters --per-thread -e "$events" -p $sleepers
	counts_itself "all sessions together would count more than 262144 sums of events (an event of a set of sessions is one)" \
		-t "$some,$(IFS=,; echo "$gang,${tids[*]}")"
	shared_all most
	nothing_left
}

# start NR : session NR of many, with ${options[NR]}: ${runs[NR]}
start() {
	# shellcheck disable=SC2086 # words
	background "$T/run$1" perf stat --bpf-counters --bpf-attr-map "$ATTR_MAP" ${options[$1]}
	runs[$1]=$!
}

# settle NR : session NR and the three before count. A session that counts by itself is started again: on a
# busy machine, one of four may get no lock within a second.
settle() {
	local i
	for ((i = $1; i > $1 - 4; i--)); do
		[ -n "${runs[i]:-}" ] || continue
		wait_for polls "${runs[i]}"
		while grep -q "counting with events of this session's own" "$T/run$i"; do
			kill -INT "${runs[i]}"
			wait "${runs[i]}" || :
			start $i
			wait_for polls "${runs[i]}"
		done
	done
}

# prunes_nothing : no session is left to be removed
prunes_nothing() {
	[ "$(perf bperf prune --bpf-attr-map "$ATTR_MAP")" = "removed: 0 dead entries, 0 dead sessions" ]
}

@test "a session counts privately when others have all sets of events, or all places for sessions" {
	local names=(cs page-faults minor-faults major-faults migrations cpu-clock task-clock
		alignment-faults emulation-faults) tids i e events runs=() options=() nr sets
	# The tables have room for 1,024 sessions. A thousand are started with FULL=1 only.
	nr=${FULL:+9} nr=${nr:-5} sets=$((1 << nr))
	[ "${FULL:-}" ] || export PERF_TEST_MAX_SESSIONS=$((2 * sets)) PERF_TEST_MAX_SETS=$((2 * sets))
	sleepers $sets
	read -r -a tids <<<"$(cd /proc/$sleepers/task && echo *)"
	# each subset but the one with cs alone, which the kept run has
	for ((i = 2; i < sets; i++)); do
		events=
		for ((e = 0; e < nr; e++)); do
			[ $((i >> e & 1)) = 0 ] || events+=,${names[e]}
		done
		options[i]="-e ${events#,} -t ${tids[i]}"
		start $i
		[ $((i % 4)) != 3 ] || settle $i
	done
	wait_for has_sessions $((sets - 1))
	tables >"$T/before"
	shared -x, -o "$T/own.out" -e dummy,page-faults "$WORKLOADS/faults" 300 2>"$T/own.err"
	warns_once "$T/own.err" "all sessions together would count more than $((sets - 1)) different sets of events"
	faults_in "$T/own.out" 300 500
	same_tables "$T/before"
	for ((i = sets; i <= 2 * sets; i++)); do
		options[i]="-e cs -a"
		[ $i != $((2 * sets)) ] || options[i]="-e cgroup-switches -a"
		start $i
		[ $((i % 4)) != 3 ] || settle $i
	done
	settle $((2 * sets))
	wait_for has_sessions $((2 * sets))
	tables >"$T/before"
	shared -r 2 -x, -o "$T/own.out" -e page-faults "$WORKLOADS/faults" 300 2>"$T/own.err"
	warns_once "$T/own.err" "$((2 * sets)) sessions count already, the most there can be"
	faults_in "$T/own.out" 300 500
	samples_itself "$((2 * sets)) sessions count already, the most there can be"
	refused 1 perf bperf verify --bpf-attr-map "$ATTR_MAP" -e page-faults --time 10 \
		<<<"perf bperf: $((2 * sets)) sessions count already, the most there can be: nothing can be compared"
	same_tables "$T/before"
	# The place of a dead session is free, although it alone counted an event.
	i=$((2 * sets))
	kill -KILL "${runs[i]}"
	wait "${runs[i]}" || :
	unset "runs[$i]"
	shared -a -e cs true 2>"$T/next.err"
	clean "$T/next.err"
	kill -INT "${runs[@]}"
	wait "${runs[@]}" || :
	# Some of many that leave at once get no lock within a second. A session removes them for half a second.
	wait_for prunes_nothing
	nothing_left
}

@test "entries that no session needs any more are removed when they are many" {
	local KEPT_MAP='' ATTR_MAP=${ATTR_MAP}_left
	window cpus --bpf-counters -a -e cs
	sleepers 3000
	shared -e cs -p $sleepers true 2>"$T/all.err"
	clean "$T/all.err"
	# The tasks live on, but nothing follows them.
	[ "$(state entries)" -ge 3000 ]
	shared -e page-faults true 2>"$T/next.err"
	clean "$T/next.err"
	# All were cleared. One of the second command can stay, where the machine hides its release: measured 1.
	in_range "$(state entries)" 0 10
	finish cpus
	nothing_left
	remove_map
}

@test "a session counts privately when there is no room for its tasks, which is reported when they are new" {
	local KEPT_MAP='' ATTR_MAP=${ATTR_MAP}_small new most full="all sessions together would count more than 1 tasks"
	sleepers 3000
	# Also one that exceeds the limit by itself.
	PERF_TEST_MAX_TASKS=1 shared -x, -o "$T/own.out" -e task-clock -p $sleepers true 2>"$T/own.err"
	warns_once "$T/own.err" "$full"
	PERF_TEST_MAX_TASKS=1 window small --bpf-counters -e cs -- sleep infinity
	gang 2 1000 5
	counts_itself "$full" -p "$sleepers,$gang"
	# what was entered, stays until it ends, or for good where the machine hides its release
	begin_witness
	kill -KILL "$gang" $sleepers
	wait_for is_still entries
	end_witness
	most=$((1 + $(unreleased pid $sleepers pid "$gang")))
	wait_for few_entries $most
	in_range "$(state entries)" 1 $most	# one, and those that the machine hides the release of
	# all of them live at the same time
	background "$T/t.err" perf stat --bpf-counters --bpf-attr-map "$ATTR_MAP" -x, -o "$T/t.out" -e cs \
		"$WORKLOADS/sleepers" 4000
	new=$!
	wait_for has_text ready "$T/t.err"
	end_run $new INT 130
	cat "$T/t.err"
	grep -qE '^perf stat: [0-9]+ switches or new tasks were missed: counts may be short$' "$T/t.err"
	[ "$(grep -c '^perf stat:' "$T/t.err")" = 1 ]
	end_run "${run_pid[small]}" INT 130
	nothing_left
	remove_map
}
