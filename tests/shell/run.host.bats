#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# "make run", the first command of a new user: two sessions that share their events.

load helpers

T=$BATS_TEST_TMPDIR
top=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
# The map of users who name none
map=/sys/fs/bpf/perf_attr_map

requirements() {
	require_root
	[ ! -e $map ] || skip_or_fail "$map exists: tests/tap has a BPF file system for each test"
}

teardown() {
	rm -rf $map ${map}_lock
}

# show : run the script of make run. It gives up if the second session takes three seconds to start; then
# another try follows.
show() {
	local tries
	for ((tries = 0; tries < 5; tries++)); do
		if "$top/scripts/run" "$O" >"$T/out" 2>"$T/err" 3>&-; then return; fi
		grep -q "(on a very busy machine: try again)$" "$T/err" || break
	done
	cat "$T/out" "$T/err" >&2
	return 1
}

@test "make run shows two sessions that share three events, and leaves nothing shared" {
	local cpus
	show
	is_silent "$T/err"
	cpus=$(getconf _NPROCESSORS_ONLN)
	[ "$(grep -c " sessions share .* perf events for 3 events$" "$T/out")" = 1 ]
	[ "$(sed -n 's/^2 sessions share \([0-9]*\) perf events for 3 events$/\1/p' "$T/out")" -eq $((3 * cpus)) ]
	# Each event has one perf event per CPU and both sessions, whose pids stand above.
	awk -v cpus="$cpus" '
		/^PID / { in_pids = 1; next }
		/^EVENT / { in_events = 1; next }
		!NF { in_pids = in_events = 0 }
		in_pids { pids = pids (pids ? "," : "") $1; swapped = $1 (swapped ? "," : "") swapped; sessions++ }
		# The numbers of processes begin anew at some time.
		in_events && $2 == 2 && $3 == cpus && ($NF == pids || $NF == swapped) { events++ }
		END { print sessions " sessions, " events " events of both"; exit sessions != 2 || events != 3 }' "$T/out" >&2
	# Both have printed three counts.
	[ "$(grep -c "^ Performance counter stats for 'system wide':$" "$T/out")" = 2 ]
	[ "$(grep -cE "^ +[1-9][0-9.]* (msec)? +[a-z-]+  " "$T/out")" = 6 ]
	grep -qx "no events are shared through $map" "$T/out"
}

@test "make run first installs what building needs, then builds, then shows" {
	[ -f "$top/Makefile" ] || skip "no source tree here"
	make -n -C "$top" O="$O" run >"$T/commands" 3>&-
	[ "$(grep -v '^make' "$T/commands" | head -n 1)" = "scripts/deps build" ]
	[ "$(grep -v '^make' "$T/commands" | tail -n 1)" = "scripts/run $O" ]
}
