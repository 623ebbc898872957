#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# perf profile where sharing is impossible just now, because others hold a lock or have all of something. It
# prints one warning, and has events of its own.

load sample

requirements() {
	require_root
	require_commands jq
	PATH=$WORKLOADS:$PATH
}

OWN="sampling with events of this session's own"

# profile OPTION... : sample a program through this test's map, to $T/json, its messages to $T/err
profile() {
	perf profile --bpf-attr-map "$ATTR_MAP" -e cpu-clock -F 2000 -j "$@" -- blend 50000 >"$T/json" 2>"$T/err"
}

# sampled_privately WARNING : that is the only message, and the profile is that of blend
sampled_privately() {
	diff -u - "$T/err" <<<"perf profile: $1" >&2
	jq -s -e '[.[] | .account // empty] | last | .samples > 20 and .counted > 0' "$T/json" >&2
	jq -s -e 'map(select(.sym == "blend_b").samples) | add > 10' "$T/json" >&2
}

# hold_tasks : a process of another kind holds the lock of tasks; $holder
hold_tasks() {
	background "$T/held" flock "${ATTR_MAP}_lock/tasks" sleep infinity
	holder=$!
	wait_for grep -q "FLOCK.* WRITE $holder " /proc/locks
	# flock forks, and the lock is the parent's.
	held_by="${ATTR_MAP}_lock/tasks is held by process $holder (flock, S (sleeping))"
	# A second is a long time.
	export PERF_TEST_LOCK_MS=100
}

# let_go : it ends
let_go() {
	kill -KILL -- "-$holder"
	wait "$holder" || :
	unset PERF_TEST_LOCK_MS
}

@test "a profile without the lock samples by itself, whatever its target" {
	local target pid
	start_sampler keeps -q -a -F 1 cpu-clock
	hold_tasks
	profile
	sampled_privately "$held_by: $OWN (kill -CONT $holder if it is stopped, or end it)"
	background /dev/null blend 100000000
	pid=$!
	for target in "-p $pid" "-t $pid" "-a" "-C 0-" "--for-each-cgroup /" "--range blend_b" "--each -o $T/x"; do
		# shellcheck disable=SC2086 # words
		profile ${target/-C 0-/-C $(</sys/devices/system/cpu/online)}
		sampled_privately "$held_by: $OWN (kill -CONT $holder if it is stopped, or end it)"
	done
	# Each session tries anew.
	let_go
	profile
	is_silent "$T/err"
}

@test "a session that cannot give a command its ranges for a lock goes on by itself" {
	local session lease
	cp "$(command -v blend)" "$T/program"
	start_sampler keeps -q -a -F 1 cpu-clock
	background "$T/lease" leased "$T/program"
	lease=$!
	wait_for has_line ready "$T/lease"
	PERF_TEST_LOCK_MS=100 perf profile --bpf-attr-map "$ATTR_MAP" -e cpu-clock -F 2000 -j --range blend_b -- "$T/program" 50000 \
		>"$T/json" 2>"$T/err" 3>&- &
	session=$!
	jobs_started+=("$session")
	# It samples, and its command is before its exec.
	wait_for has_line wanted "$T/lease"
	hold_tasks
	kill -TERM "$lease"
	wait "$session"
	sampled_privately "$held_by: $OWN (kill -CONT $holder if it is stopped, or end it)"
	[ "$(jq -r '.sym // empty' "$T/json" | sort -u)" = blend_b ]
	let_go
	profile
	is_silent "$T/err"
}

# ends_behind LOCK OPTION... : the profile is complete, in standard output and in each file, while its session waits for
# this lock to leave
ends_behind() {
	local lock=$1 session
	shift
	background "$T/json" env PERF_TEST_LOCK_MS=300000 perf profile --bpf-attr-map "$ATTR_MAP" -e cpu-clock -F 2000 -j \
		-o "$T/data" --flamegraph "$T/flame.svg" "$@" -- "$WORKLOADS/waiter"
	session=$!
	wait_for has_line ready "$T/json"
	exec 9<"${ATTR_MAP}_lock$lock"
	flock 9
	kill -INT "$session"
	wait_for waits_for_lock "$session"
	# The account is the last line, but for warnings.
	grep '"account": ' "$T/json" >"$T/account"
	tail -n 1 "$T/flame.svg" | grep -qx '</svg>'
	perf profile report -j "$T/data" | tail -n 1 | diff "$T/account" -
	exec 9<&-
	wait "$session" || [ $? = 130 ]
	no_sessions
}

@test "a session prints its profile, and writes its files, before it waits for a lock to leave" {
	local target
	for target in -a "-p $$" ""; do
		# shellcheck disable=SC2086 # words
		ends_behind /tasks $target
		# shellcheck disable=SC2086 # words
		ends_behind "" $target
	done
}

@test "the 65th session that samples does so by itself" {
	local i nr=64
	# They all start at once.
	local -x PERF_TEST_LOCK_MS=300000
	for ((i = 0; i < nr; i++)); do
		background "$T/$i" "$SAMPLER" -m "$ATTR_MAP" -q -N -a -F 1 cpu-clock
	done
	for ((i = 0; i < nr; i++)); do
		wait_for grep -q . "$T/$i"
	done
	[ "$(cat "$T"/[0-9]* | sort | uniq -c)" = "     64 ready" ]
	profile
	sampled_privately "64 sessions sample already, the most there can be: $OWN"
	kill -INT "${jobs_started[0]}"
	wait "${jobs_started[0]}"
	profile
	is_silent "$T/err"
}

@test "a session whose event is the 33rd samples by itself" {
	local events
	events=$(printf '%s,%s:u,%s:k,' {page,minor,major,alignment,emulation}-faults{,,} {cs,migrations,task-clock,bpf-output,dummy}{,,})
	start_sampler full -q -a -c 1000000000 "${events}cpu-clock:u,cpu-clock:k"
	profile
	sampled_privately "cpu-clock: 32 other events are sampled already, the most there can be: $OWN"
	perf profile --bpf-attr-map "$ATTR_MAP" -e cpu-clock:u -F 2000 -j -- blend 50000 >"$T/json" 2>"$T/err"
	is_silent "$T/err"
}

@test "a session whose tasks have no room samples by itself, also alone" {
	local blend full="all sessions together would count more than 1 tasks: $OWN"
	own_the_tasks
	background "$T/sleepers" sleepers 3000
	local sleepers=$!
	wait_for has_text ready "$T/sleepers"
	background /dev/null blend 100000000
	blend=$!
	PERF_TEST_MAX_TASKS=1 profile -p "$sleepers,$blend"
	sampled_privately "$full"
	PERF_TEST_MAX_TASKS=1 start_sampler keeps -q -p $blend -F 1 cpu-clock
	profile -p "$sleepers,$blend"
	sampled_privately "$full"
	# A command has one task. While the others live, its bucket belongs to one of them in a fifth of all cases.
	kill -KILL $sleepers
	wait $sleepers || :
	profile
	is_silent "$T/err"
	end_sampler "$sampler_pid"
	wait_for no_sessions
}

@test "a session that others leave no room for ranges samples by itself" {
	local many
	# Ranges that touch are one.
	mapfile -t many < <(seq -f '%.0f' 2000 3100 | sed 's/.*/-R&000-&010/')
	start_sampler many -q -a -F 99 "${many[@]:0:1000}" cpu-clock
	profile --range blend_b --range blend_a
	is_silent "$T/err"
	profile --range blend_b "${many[@]/-R/--range=}"
	sampled_privately "all sessions together would have more than 1023 ranges: $OWN"
}

@test "a session without memory for shared samples takes its own" {
	refusing refusing <<-'EOF'
		static long refused(long nr, const long *args)
		{
			return nr == SYS_bpf && args[0] == BPF_MAP_CREATE && !strcmp(((union bpf_attr *)args[1])->map_name, "perf_samples") ? ENOMEM : 0;
		}
	EOF
	LD_PRELOAD=$T/refusing.so profile
	sampled_privately "cannot share samples: Cannot allocate memory: $OWN"
	profile
	is_silent "$T/err"
}
