#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# What counting costs a BPF program is at most what it may: the ceilings in costs_prog.bash.

load costs_prog

teardown() {
	progs_unload
}

@test "an execution of a counted program costs what its events cost, however many runs count it" {
	prog_table >"$BATS_TEST_TMPDIR/table" || { cat "$BATS_TEST_TMPDIR/table"; return 1; }
	sed 's/^/# /' "$BATS_TEST_TMPDIR/table" >&3
}
