#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# The soak (tests/workloads/soak.c), short: all kinds of sessions beside stopped, killed and starved ones,
# and locks that others hold. `make soak` is long.

load helpers

requirements() {
	require_root
}

@test "random disturbed sessions have exact or reported short counts, and leave nothing" {
	local others=-o
	[ "${PLACE:-host}" = host ] || others=
	bash "$BATS_TEST_DIRNAME/soak.bash" $others -t "$([ "${FULL:-}" ] && echo 120 || echo 20)" -r 10 -s "${SEED:-1}" >"$BATS_TEST_TMPDIR/soak" ||
		{ cat "$BATS_TEST_TMPDIR/soak" >&2; return 1; }
	sed -n '/^seed/,$s/^/# /p' "$BATS_TEST_TMPDIR/soak" >&3
}
