#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# Events by the names of libpfm4.

load helpers

requirements() {
	require_perf_events
	# as the build says, not the program
	[ ! -e "$O/flags" ] || grep -q -e -DHAVE_LIBPFM "$O/flags" || skip_or_fail "built without libpfm4"
}

@test "events of libpfm4 are counted beside those of -e" {
	local out=$BATS_TEST_TMPDIR/out
	perf stat --pfm-events 'PAGE-FAULTS:u,{perf::MINOR-FAULTS:u,MAJOR-FAULTS:u}' -e page-faults:u -x, --log-fd 4 \
		true 4>"$out"
	[ "$(cut -d, -f3 "$out" | tr '\n' ' ')" = \
		"PAGE-FAULTS:u perf::MINOR-FAULTS:u MAJOR-FAULTS:u page-faults:u " ]
	[ "$(field PAGE-FAULTS:u 1 "$out")" = "$(field page-faults:u 1 "$out")" ]
	[ "$(field page-faults:u 1 "$out")" = \
		"$(($(field perf::MINOR-FAULTS:u 1 "$out") + $(field MAJOR-FAULTS:u 1 "$out")))" ]
}

@test "perf list pfm lists the events of libpfm4" {
	perf list pfm | grep -q '^  perf::PAGE-FAULTS '
	perf list --raw-dump pfm | tr ' ' '\n' | grep -qx perf::CONTEXT-SWITCHES
	perf list -j pfm | jq -e 'map(select(.EventName == "perf::PAGE-FAULTS" and .Unit == "perf")) | length == 1'
	# they are not for -e
	refute grep -q perf::PAGE-FAULTS <(perf list)
}

@test "errors in a list of libpfm4 events are named" {
	local list reason
	while IFS='|' read -r list mark reason; do
		run perf stat --pfm-events "$list" true
		[ "$status" = 129 ]
		[ "${lines[0]}" = "event syntax error: '$list'" ]
		[ "${lines[1]}" = "$(printf '%*s\\___ %s' $((21 + mark)) '' "$reason")" ]
	done <<-EOF
	|0|Unrecognized input, expected an event
	PAGE-FALTS|0|Bad event name
	PAGE-FAULTS,perf::NOPE|12|Bad event name
	PAGE-FAULTS,|12|Unrecognized input, expected an event
	{PAGE-FAULTS|12|Unrecognized input, expected '}'
	PAGE-FAULTS}|11|Unrecognized input
	{{PAGE-FAULTS}}|1|Unrecognized input: a group in a group
	PAGE-FAULTS cs|11|Unrecognized input, expected ','
	EOF
	[[ $(perf stat --pfm-events PAGE-FALTS true 2>&1) = *"Did you mean 'PAGE-FAULTS'?"* ]]
}
