#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# What counting costs is at most what it may: the ceilings in the tables of costs.bash.

load costs

teardown() {
	costs_end
}

# show COMMAND... : its output as comments, also when it succeeds
show() {
	"$@" >"$BATS_TEST_TMPDIR/table" || { cat "$BATS_TEST_TMPDIR/table"; return 1; }
	sed 's/^/# /' "$BATS_TEST_TMPDIR/table" >&3
}

@test "counting of whole CPUs adds next to nothing to a context switch" {
	show switch_table cpu_rows
}

@test "a switch between tasks that the same runs count reads nothing" {
	show switch_table command_rows
}

@test "a switch between tasks that nobody counts reads nothing" {
	show switch_table other_rows
}

@test "a switch between tasks that different runs count reads each event once" {
	show switch_table alternate_rows
}

@test "a run costs little to start and end, less when it joins others" {
	show start_table
}
