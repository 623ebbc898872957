#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# The figures of the README. There are 1,000 sessions with FULL=1, and 100 without. A tenth is stopped for up to
# three seconds, and a tenth killed, at any step or time. Time is virtual, so a second is one of waiting.

load helpers

@test "sessions are exact and on time while a tenth is stopped and a tenth killed" {
	# A second for both locks together, and what a session sleeps for grace periods and other CPUs' work.
	bash "$BATS_TEST_DIRNAME/soak.bash" -n "$([ "${FULL:-}" ] && echo 1000 || echo 100)" -c -S 10 -K 10 -l 1350 \
		-s "${SEED:-1}" >"$BATS_TEST_TMPDIR/soak" || { cat "$BATS_TEST_TMPDIR/soak" >&2; return 1; }
	sed -n '/^seed/,$s/^/# /p' "$BATS_TEST_TMPDIR/soak" >&3
}
