#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# What counting by cgroup costs is at most what it may: the ceilings in the table of
# costs_cgroups.bash.

@test "neither the number of cgroups nor their depth costs anything at a context switch" {
	# On its own: bats' trap at every command makes loops over hundreds of cgroups slow.
	local table=$BATS_TEST_TMPDIR/table
	bash "$BATS_TEST_DIRNAME/costs_cgroups.bash" test >"$table" 3>&- || { cat "$table"; return 1; }
	sed 's/^/# /' "$table" >&3
}
