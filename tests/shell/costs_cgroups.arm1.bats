#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# What counting by cgroup costs is at most what it may: the ceilings in the table of
# costs_cgroups.bash.

load costs_cgroups

teardown() {
	costs_end
	remove_cgroups
}

@test "neither the number of cgroups nor their depth costs anything at a context switch" {
	cgroup_table >"$BATS_TEST_TMPDIR/table" || { cat "$BATS_TEST_TMPDIR/table"; return 1; }
	sed 's/^/# /' "$BATS_TEST_TMPDIR/table" >&3
}
