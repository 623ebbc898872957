#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# Signals that perf inherits as ignored, as jobs of scripts do.

load helpers

requirements() {
	require_perf_events
}

# start_ignoring SIGNAL : start a session, $run, that inherits the signal as ignored and counts a command
start_ignoring() {
	env --ignore-signal="$1" perf stat -x, --log-fd 4 -e page-faults:u -- "$WORKLOADS/waiter" \
		>"$BATS_TEST_TMPDIR/out" 4>"$BATS_TEST_TMPDIR/counts" 3>&- &
	run=$!
	jobs_started+=("$run")
	wait_for has_text ready "$BATS_TEST_TMPDIR/out"
}

has_ended() {
	! grep -q '^State:[[:space:]]*[^Z]' "/proc/$1/status" 2>/dev/null
}

@test "SIGINT ends a session that a script started in the background" {
	local status=0
	start_ignoring INT
	kill -INT "$run"
	wait_for has_ended "$run"
	wait "$run" || status=$?
	[ "$status" = 130 ]
	at_least "$(field page-faults:u 1 "$BATS_TEST_TMPDIR/counts")" 1
}

@test "SIGHUP stays ignored under nohup" {
	start_ignoring HUP
	kill -HUP "$run"
	grep -q '^SigIgn:.*[13579bdf]$' "/proc/$run/status"
	refute has_ended "$run"
	end_run "$run" TERM 143
}
