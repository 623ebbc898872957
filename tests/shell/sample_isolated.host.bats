#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# Sampling sessions that are stopped at any step, or lack memory or descriptors: profiles and counts of others are
# right. Each page fault is a sample, so that a command has as many samples as faults.

load sample
load full_memory

requirements() {
	require_root
	require_perf_events cpu
}

teardown() {
	end_jobs
	remove_map
	[ -z "${little:-}" ] || rmdir "$little"
}

# profiled NAME COMMAND... : sample each fault of a command, to $T/NAME and $T/NAME.err
profiled() {
	local name=$1
	shift
	perf profile --bpf-attr-map "$ATTR_MAP" -j -s pid -c 1 -e page-faults:u -- "$@" >"$T/$name" 2>"$T/$name.err"
}

# faults_in FILE LEAST : print the samples of a profile. Lost samples that it reports count where it has less.
faults_in() {
	jq -s --argjson least "$2" '
		(map(.samples // 0) | add) as $rows |
		(map(.account // empty) | last) as $account |
		([$account.lost[].samples] | add) as $lost |
		if $rows != $account.samples then "rows are not the account" else
		if $rows >= $least then $rows else [$rows + $lost, $least] | min end end' "$1"
}

# warnings FILE : print it without lines about the protocol's lock, which other tests of this machine can hold, and about
# a machine that runs many programs
warnings() {
	complaints "$1" | grep -v ': events that other implementations may follow stay open until it is free ' || :
}

# only_warns FILE CONSEQUENCE : nothing, or one warning that names the session that is stopped, with this consequence. On
# a busy machine the living one can also hold the lock for longer than others wait here.
only_warns() {
	warnings "$1" >"$T/warnings"
	cat "$T/warnings" >&2
	[ "$(grep -c " is held by process $held " "$T/warnings")" -le 1 ]
	refute grep -vE "_lock(/tasks)? is held by process ($held \(sampler, T \(stopped\)\): $2|${living:-0} \(sampler, .*\): .*) \(kill -CONT [0-9]+ if it is stopped, or end it\)\$" "$T/warnings"
}

# others : a command is sampled, and another one counted. Its own start is less than 200 faults.
others() {
	local private="with events of this session's own"
	local -x PERF_TEST_LOCK_MS=50
	profiled profile "$WORKLOADS/faults" 100
	only_warns "$T/profile.err" "sampling $private"
	faults_in "$T/profile" 100 >>"$T/faults"
	perf stat --bpf-counters --bpf-attr-map "$ATTR_MAP" -x, -o "$T/count" -e page-faults:u "$WORKLOADS/faults" 100 2>"$T/count.err"
	only_warns "$T/count.err" "counting $private"
	field page-faults:u 1 "$T/count" >>"$T/faults"
}

# others_beside STEP : the same, beside a session that is stopped at that step
others_beside() {
	local event=cpu-clock options=()
	case $1 in
	sample-slot-written) event=task-clock ;;	# a new slot
	sample-records-placed) options=(-E 10) ;;
	sample-ranges-*) options=(-R 1000-7fffffffffff) ;;
	esac
	background "$T/held" env PERF_TEST_STOP_AT="$1" "$SAMPLER" -m "$ATTR_MAP" -q -a -d 20 "${options[@]}" -F 1999 "$event"
	held=$!
	wait_for is_stopped "$held"
	others
	wait_for continued "$held"
	wait "$held"
}

@test "a sampling session that is stopped at any step harms no profile and no count" {
	local step living steps=(sample-table-placed sample-records-placed sampler-added sample-slot-written
		sample-slot-claimed sample-event-read sample-event-placed sample-event-enabled sample-event-opened
		sample-slot-applied sample-ranges-written sample-ranges-turned sample-slots-left sample-table-removed)
	begin_witness
	# The first of all makes the object, when there is no living one.
	for step in sample-maps-written sample-object-written; do
		others_beside "$step"
	done
	start_sampler living -q -a -F 499 cpu-clock
	living=$sampler_pid	# also for only_warns
	for step in "${steps[@]}"; do
		others_beside "$step"
	done
	end_sampler "$living"
	adds_up "$T/living"
	end_witness 2>/dev/null
	# All that the others have, and nobody is left.
	[ "$(wc -l <"$T/faults")" = $((2 * (2 + ${#steps[@]}))) ]
	explained 100 300 comm faults <"$T/faults"
	wait_for no_sessions
}

@test "every step of sampling is among those at which a session is stopped here" {
	local step
	while read -r step _; do
		grep -q "[( 	]$step\b" "$BATS_TEST_FILENAME" || { echo "not $step" >&2; return 1; }
	done < <(grep -E '^sampler?-' "$BATS_TEST_DIRNAME/../data/steps")
}

# own_events FILE : nothing, or that the session has events of its own for want of memory
own_events() {
	cat "$1" >&2
	[ "$(warnings "$1" | wc -l)" -le 1 ]
	refute grep -vE "^perf (profile|stat): (cannot share samples: Cannot allocate memory|too little memory to share events of tasks \(.*\)): (sampling|counting) with events of this session's own\$" <(warnings "$1")
}

# full_first : a session samples, which has loaded everything in a memory cgroup that is full: entries of tasks that
# others need are charged there
full_first() {
	require_full_memory
	little_cgroup
	background /dev/null "$WORKLOADS/spin" 1000000000000
	# shellcheck disable=SC2016 # the inner shell's
	background "$T/first" sh -c 'echo $$ >"$0" && exec "$@"' "$little/cgroup.procs" \
		"$SAMPLER" -m "$ATTR_MAP" -q -F 499 -p $! cpu-clock
	first=$!
	wait_for grep -q '^ready' "$T/first"
	fill "$first"
}

@test "profiles and counts are right beside a session whose memory cgroup is full" {
	local first i
	full_first
	begin_witness
	for i in 1 2 3 4 5; do
		profiled profile "$WORKLOADS/faults" 100
		own_events "$T/profile.err"
		faults_in "$T/profile" 100 >>"$T/faults"
		perf stat --bpf-counters --bpf-attr-map "$ATTR_MAP" -x, -o "$T/count" -e page-faults:u "$WORKLOADS/faults" 100 2>"$T/count.err"
		own_events "$T/count.err"
		field page-faults:u 1 "$T/count" >>"$T/faults"
	done
	end_witness 2>/dev/null
	explained 100 300 comm faults <"$T/faults"
	end_sampler "$first"
	adds_up "$T/first"
	wait_for no_sessions
}

@test "new tasks that no entry can be made for are reported, by those who sample them" {
	local first nr plain count
	full_first
	begin_witness
	perf profile --bpf-attr-map "$ATTR_MAP" -j -s comm -c 1 -e page-faults:u -- \
		perf stat -x, -o "$T/plain" -e page-faults:u "$WORKLOADS/brood" 3000 20 >"$T/brood" 2>"$T/brood.err"
	# It prints each child whose release is still to come.
	end_witness 2>/dev/null
	cat "$T/brood.err" "$T/plain" "$T/brood" >&2
	nr=$(sed -n 's/^perf profile: \([0-9]*\) switches or new tasks were missed: the profile may lack their samples$/\1/p' "$T/brood.err")
	[ "${nr:-0}" -gt 0 ]
	plain=$(field page-faults:u 1 "$T/plain")
	count=$(jq -s 'map((select(.comm == "brood") | .samples), (.account // empty | [.lost[].samples] | add)) | add' "$T/brood")
	# Each that was missed lacks its 20 faults, and those of the program's own pages: up to 30.
	in_range $((plain - count)) $((nr * 20 - $(excess events comm brood))) \
		$((nr * 50 + $(missed events comm brood)))
	end_sampler "$first"
	wait_for no_sessions
}
