#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# Counting by cgroup costs at most the ceilings of tests/data/costs.

@test "neither the number of cgroups nor their depth costs anything at a context switch" {
	# As make bench calls it.
	local table=$BATS_TEST_TMPDIR/table
	"$BATS_TEST_DIRNAME/../../scripts/costs" --test cgroups >"$table" 3>&- || { cat "$table"; return 1; }
	sed 's/^/# /' "$table" >&3
}
