#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# perf bperf: what it lists, prunes and verifies.

load helpers

setup() {
	ATTR_MAP=/sys/fs/bpf/perf_test_$$_$BATS_TEST_NUMBER
	T=$BATS_TEST_TMPDIR
	jobs_started=()
	require_root
	require_commands bpftool jq
}

teardown() {
	end_jobs
	rm -f "$ATTR_MAP" "${ATTR_MAP}b"
	rm -rf "${ATTR_MAP}_lock"
	rm -rf "${ATTR_MAP}b_lock"
}

bperf() {
	local command=$1
	shift
	perf bperf "$command" --bpf-attr-map "$ATTR_MAP" "$@"
}

# json FILTER : of what is listed
json() {
	bperf list -j | jq -c "$1"
}

# run_in_background OPTION... : its pid is $run
run_in_background() {
	local out=$T/run${#jobs_started[@]}
	background "$out" perf stat --bpf-counters --bpf-attr-map "$ATTR_MAP" -x, "$@" -- \
		"$WORKLOADS/waiter"
	run=$!
	wait_for has_text ready "$out"
}

# leader_map NAME : the id of a map of the leader
leader_map() {
	our_objects | sed -n "s/^map \([0-9]*\) $1\$/\1/p"
}

# number N : four bytes, as bpftool takes them
number() {
	printf '%d %d %d %d' $(($1 & 255)) $(($1 >> 8 & 255)) $(($1 >> 16 & 255)) $(($1 >> 24 & 255))
}

# announce CONFIG LINK DIFF : an entry of a software event, made by hand
announce() {
	local zeros
	zeros=$(printf '0 %.0s' $(seq 128))
	# shellcheck disable=SC2046,SC2086 # words
	/usr/sbin/bpftool map update pinned "$ATTR_MAP" key $(number 1) $(number 144) $(number "$1") \
		$(number 0) $zeros value $(number "$2") $(number "$3")
}

@test "list shows which sessions share which events" {
	local nr first second
	nr=$(nproc)
	run_in_background -a -e 'cs,{page-faults,cpu-clock}'
	first=$run
	run_in_background -a -e cs:u,cs
	second=$run
	bperf list >"$T/list"
	cat "$T/list"
	grep -Eq "^$first +perf +[0-9.]+$" "$T/list"
	grep -Eq "^context-switches +2 +$nr +[0-9.]+ +100.0%  own +$first,$second$" "$T/list"
	grep -Eq "^context-switches:u +1 +$nr +[0-9.]+ +100.0%  own +$second$" "$T/list"
	grep -Eq "^\{page-faults +1 +$nr +[0-9.]+ +100.0%  own +$first$" "$T/list"
	grep -Eq "^ cpu-clock +1 +$nr +[0-9.]+ +100.0%  own +$first$" "$T/list"
	grep -Eq "^software +0(-$((nr - 1)))? +4$" "$T/list"
	[ "$(tail -n 1 "$T/list")" = "2 sessions share $((4 * nr)) perf events for 4 events" ]
}

@test "list -j prints the same data as JSON" {
	run_in_background -a -e 'cs,{page-faults,cpu-clock}'
	bperf list -j >"$T/json"
	jq . "$T/json"
	[ "$(jq -c "[.\"attr-map\", (.runs | length), .runs[0].pid, .runs[0].command]" "$T/json")" = \
		"[\"$ATTR_MAP\",1,$run,\"perf\"]" ]
	[ "$(jq -c '[.events[] | [.event, .pmu, .group, .runs, .pids, ."perf-events", .multiplexed, .leader]]' \
		"$T/json")" = "[[\"context-switches\",\"software\",null,1,[$run],$(nproc),false,\"own\"],[\"page-faults\",\"software\",1,1,[$run],$(nproc),false,\"own\"],[\"cpu-clock\",\"software\",1,1,[$run],$(nproc),false,\"own\"]]" ]
	[ "$(jq -c '[.pmus[] | [.pmu, ."perf-events"]]' "$T/json")" = '[["software",3]]' ]
	[ "$(jq '.events[0].seconds >= 0 and .events[0]."link-id" > 0' "$T/json")" = true ]
	kill -INT "$run"
	wait "$run" || :
	[ "$(json '[.runs, .events, .programs, .pmus]')" = "[[],[],[],[]]" ]
}

@test "list prints the names of tracepoints and of events in sysfs" {
	require_tracepoints
	run_in_background -a -e 'sched:sched_switch,sched:sched_switch:u'
	[ "$(json '[.events[] | [.event, .pmu]]')" = \
		'[["sched:sched_switch","tracepoint"],["sched:sched_switch:u","tracepoint"]]' ]
}

@test "list counts one counter for each event of the PMU" {
	[ "${PLACE:-}" = arm1 ] || skip "needs the emulated PMU"
	run_in_background -a -e cycles,instructions,cs
	bperf list >"$T/list"
	cat "$T/list"
	grep -Eq "^armv8_pmuv3(_0)? +0 +2$" "$T/list"
	grep -Eq "^software +0 +1$" "$T/list"
	[ "$(json '[.events[] | [.event, .multiplexed]]')" = \
		'[["cpu-cycles",false],["instructions",false],["context-switches",false]]' ]
}

@test "list and verify report multiplexed events" {
	[ "${PLACE:-}" = arm1 ] || skip "needs the emulated PMU"
	local events=instructions,instructions:u,instructions:k,r8,r8:u,r8:k,r1b,r1b:u
	run_in_background -a -e "$events"
	[ "$(json '[.events[] | .multiplexed] | any')" = true ]
	local status=0
	bperf verify >"$T/verify" || status=$?
	cat "$T/verify"
	[ "$status" = 3 ]
	grep -q ' inconclusive: multiplexed$' "$T/verify"
	refute grep -q DIFFER "$T/verify"
}

@test "list shows a foreign leader and the processes that hold it" {
	local link reading other
	run_in_background -a -e cs
	# Another map's leader is as foreign as one of another implementation.
	background "$T/other" perf stat --bpf-counters --bpf-attr-map "${ATTR_MAP}b" -a -e faults -- \
		"$WORKLOADS/waiter"
	other=$!
	wait_for has_text ready "$T/other"
	read -r link reading < <(ATTR_MAP=${ATTR_MAP}b; our_objects >"$T/objects"
		echo "$(sed -n 's/^link //p' "$T/objects") $(leader_map readings)")
	announce 4 "$link" "$reading"
	[ "$(json '.events[] | select(.leader == "foreign") | [.event, ."link-id", .pids, ."perf-events"]')" = \
		"[\"cpu-migrations\",$link,[$other],null]" ]
	bperf list | grep -E "^cpu-migrations +1 +- +- +-  foreign +$other$"
	# Its entry stays, as long as it lives.
	[ "$(bperf prune)" = "removed: 0 dead entries, 0 dead sessions" ]
	[ "$(entries)" = 2 ]
	kill -INT "$other"
	wait "$other" || :
	wait_for are_gone "$T/objects"
	[ "$(bperf prune)" = "removed: 1 dead entries, 0 dead sessions" ]
	[ "$(entries)" = 1 ]
}

@test "prune removes dead entries, entries with reused ids, and dead sessions" {
	local hotplug
	[ "$(bperf prune)" = "nothing to remove: there is no $ATTR_MAP" ]
	run_in_background -a -e cs
	run_in_background -a -e faults
	# a link that is there, but no leader's
	hotplug=$(/usr/sbin/bpftool -j link show | jq "[.[] | select(.type != \"raw_tracepoint\")][0].id")
	[ "$hotplug" != null ] || hotplug=$(/usr/sbin/bpftool -j link show |
		jq "[.[] | select(.tp_name != \"sched_process_hang\")][0].id")
	announce 4 "$hotplug" 1
	announce 5 2000000000 1
	[ "$(entries)" = 4 ]
	[ "$(bperf prune)" = "removed: 2 dead entries, 0 dead sessions" ]
	[ "$(entries)" = 2 ]
	kill -KILL "$run"
	wait "$run" || :
	[ "$(bperf prune)" = "removed: 0 dead entries, 1 dead sessions" ]
	[ "$(entries)" = 1 ]
	[ "$(bperf prune)" = "removed: 0 dead entries, 0 dead sessions" ]
}

@test "verify finds that shared and plain counts agree" {
	run_in_background -a -e cpu-clock,cs,page-faults
	bperf verify >"$T/verify"
	cat "$T/verify"
	grep -Eq '^cpu-clock +[0-9]{9,} +[0-9]{9,} +[0-9]{9,}  agree$' "$T/verify"
	grep -Eq '^context-switches .*  agree$' "$T/verify"
	[ "$(tail -n 1 "$T/verify")" = "all 3 events agree" ]
	bperf verify -e dummy,cpu-clock:k --time 50 >"$T/verify"
	grep -Eq '^dummy +0 +0 +0  agree$' "$T/verify"
	[ "$(tail -n 1 "$T/verify")" = "all 2 events agree" ]
}

@test "verify compares default events if nothing is shared" {
	bperf verify --time 100 >"$T/verify"
	grep -q '^cpu-clock .*  agree$' "$T/verify"
	[ "$(bperf list)" = "no events are shared through $ATTR_MAP" ]
}

@test "verify finds a shared event that stopped counting" {
	run_in_background -a -e cpu-clock,cs
	# shellcheck disable=SC2046 # words
	/usr/sbin/bpftool map delete id "$(leader_map events)" key $(number 0)
	local status=0
	bperf verify --time 100 >"$T/verify" || status=$?
	cat "$T/verify"
	[ "$status" = 2 ]
	grep -Eq '^cpu-clock .*  DIFFER on CPU 0$' "$T/verify"
	grep -Eq '^context-switches .*  agree$' "$T/verify"
	[ "$(tail -n 1 "$T/verify")" = "1 of 2 events differ" ]
}

@test "verify finds a difference even if another CPU goes offline" {
	[ "${PLACE:-}" = amd ] || skip "CPUs go offline in the emulated machine only"
	local verify status=0
	run_in_background -a -e cpu-clock
	# shellcheck disable=SC2046 # words
	/usr/sbin/bpftool map delete id "$(leader_map events)" key $(number 0)
	background "$T/verify" perf bperf verify --bpf-attr-map "$ATTR_MAP" --time 10000
	verify=$!
	wait_for has_sessions 2
	echo 0 >/sys/devices/system/cpu/cpu1/online
	wait $verify || status=$?
	echo 1 >/sys/devices/system/cpu/cpu1/online
	cat "$T/verify"
	grep -Eq '^cpu-clock .*  DIFFER on CPU 0$' "$T/verify"
	[ "$status" = 2 ]
}

@test "verify does not report agreement of events that cannot be counted" {
	[ "${PLACE:-}" != arm1 ] && [ ! -e /sys/bus/event_source/devices/cpu ] || skip "the machine has a PMU"
	local status=0
	bperf verify -e cycles,cpu-clock --time 50 >"$T/verify" || status=$?
	[ "$status" = 3 ]
	grep -Eq '^cycles +- +- +-  not supported$' "$T/verify"
	[ "$(tail -n 1 "$T/verify")" = "inconclusive: 1 of 2 events agree, none differs" ]
}

@test "Ctrl-C during verify leaves nothing" {
	background "$T/out" perf bperf verify --bpf-attr-map "$ATTR_MAP" --time 1000000 -e cs
	local verify=$! status=0
	wait_for has_sessions 1
	kill -INT $verify
	wait $verify || status=$?
	[ "$status" = 130 ]
	[ ! -s "$T/out" ]
	[ "$(bperf prune)" = "removed: 0 dead entries, 0 dead sessions" ]
	[ "$(entries)" = 0 ]
}

@test "perf bperf refuses wrong usage" {
	fails_with 129 "perf bperf: unknown command 'lists': did you mean 'list'?" perf bperf lists
	fails_with 129 "perf bperf: list takes no argument 'all'" perf bperf list all
	fails_with 129 "perf bperf: unknown switch \`j'" perf bperf prune -j
	fails_with 129 "event syntax error: 'nosuch'" bperf verify -e nosuch
	fails_with 129 "perf bperf: 'cs': only events that stand alone and are the kernel's can be verified" \
		bperf verify -e '{cs,faults}'
	fails_with 129 "perf bperf: 'duration_time': only events that stand alone and are the kernel's can be verified" \
		bperf verify -e duration_time
	fails_with 129 "" perf bperf
	shared -a -x, -o "$T/out" -e cs true
	fails_with 1 "perf bperf: not permitted: lacks CAP_BPF (to load BPF programs), CAP_PERFMON (to have them read the kernel, and to open events for everybody) and CAP_SYS_ADMIN (to find what others share by its ids) (run as root)" \
		as_nobody perf bperf prune --bpf-attr-map "$ATTR_MAP"
	fails_with 1 "perf bperf: not permitted: lacks CAP_BPF (to load BPF programs), CAP_PERFMON (to have them read the kernel, and to open events for everybody) and CAP_SYS_ADMIN (to find what others share by its ids) (run as root)" \
		as_nobody perf bperf verify --bpf-attr-map "$ATTR_MAP"
}
