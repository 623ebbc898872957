#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# Samples cost at most the ceilings of tests/data/costs.

load helpers
# shellcheck source=scripts/costs
. "$BATS_TEST_DIRNAME/../../scripts/costs"

teardown() {
	costs_end
}

@test "a sample costs little, and each further session that wants it or does not costs next to nothing" {
	sample_table >"$BATS_TEST_TMPDIR/table" || { cat "$BATS_TEST_TMPDIR/table"; return 1; }
	sed 's/^/# /' "$BATS_TEST_TMPDIR/table" >&3
}

@test "a profile that joins another one starts with little" {
	profile_table >"$BATS_TEST_TMPDIR/table" || { cat "$BATS_TEST_TMPDIR/table"; return 1; }
	sed 's/^/# /' "$BATS_TEST_TMPDIR/table" >&3
}
