#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# Counting a BPF program costs at most the ceilings of tests/data/costs.

load helpers
# shellcheck source=scripts/costs
. "$BATS_TEST_DIRNAME/../../scripts/costs"

teardown() {
	progs_unload
}

@test "an execution of a program costs the same however many sessions count it" {
	prog_table >"$BATS_TEST_TMPDIR/table" || { cat "$BATS_TEST_TMPDIR/table"; return 1; }
	sed 's/^/# /' "$BATS_TEST_TMPDIR/table" >&3
}
