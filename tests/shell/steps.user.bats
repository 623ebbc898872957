#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# The emulated machines have no sources, so that they cannot know how many steps there are. A line of
# tests/data/steps is a step that shared_crash.arm1.bats comes by. Behind any other step is the test
# file that kills sessions there, or "-" if none does so yet.

load helpers

@test "tests/data/steps names each step of joining, leaving and cleaning up" {
	local step file
	cd "$BATS_TEST_DIRNAME/../.."
	grep -ohE '\b(crash_point__reach|(scope_tables__)?step)\(([a-z]+, )?"[^"]*"\)' util/*/*.c | cut -d '"' -f 2 |
		LC_ALL=C sort >"$BATS_TEST_TMPDIR/steps"
	# each name has one place
	[ -z "$(uniq -d "$BATS_TEST_TMPDIR/steps")" ]
	diff <(cut -d ' ' -f 1 tests/data/steps) "$BATS_TEST_TMPDIR/steps"
	while read -r step file; do
		case $file in ''|-) continue ;; esac
		grep -q "KILL_AT\|killed_at" "tests/shell/$file"
		grep -qw -e "$step" "tests/shell/$file"
	done <tests/data/steps
}
