#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# One attr map and many processes, which die and remove it.

load helpers

requirements() {
	require_root
}

@test "processes that die and remove the map leave one lock and one map to the others" {
	local rounds locks killed removed
	# However busy the machine is: only a wrong lock fails here.
	PERF_TEST_LOCK_MS=100000 "${WORKLOADS%/*}/drivers/attr_maps" "$ATTR_MAP" 60 >"$BATS_TEST_TMPDIR/out"
	read -r rounds _ locks _ killed _ removed _ <"$BATS_TEST_TMPDIR/out"
	[ "$rounds" = 60 ]
	# 60 rounds of 8 processes have 2,880 locks if none dies, and 30 removals. Some processes die before theirs.
	in_range "$locks" 1000 2880
	in_range "$killed" 50 480
	in_range "$removed" 10 30
}
