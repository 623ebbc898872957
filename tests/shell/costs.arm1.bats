#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# Counting costs at most the ceilings of tests/data/costs.

load helpers
# shellcheck source=scripts/costs
. "$BATS_TEST_DIRNAME/../../scripts/costs"

teardown() {
	costs_end
}

# show COMMAND... : its output as comments, also when it succeeds
show() {
	"$@" >"$BATS_TEST_TMPDIR/table" || { cat "$BATS_TEST_TMPDIR/table"; return 1; }
	sed 's/^/# /' "$BATS_TEST_TMPDIR/table" >&3
}

@test "counting whole CPUs adds next to nothing to a context switch" {
	show switch_table cpu
}

@test "a switch between tasks of the same sessions reads nothing" {
	show switch_table command
}

@test "a switch between uncounted tasks reads nothing" {
	show switch_table other
}

@test "a switch between tasks of different sessions reads each event once" {
	show switch_table alternate
}

@test "a session costs little to start and end, and less if it joins others" {
	show start_table
}

@test "many repeats, and many sessions at once, take at most half as long again as plain ones" {
	show many_table
}
