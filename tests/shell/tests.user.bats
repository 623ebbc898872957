#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# The rules for the tests themselves.

load helpers

# cannot_fail FILE... : print conditions that do not end a test, as "FILE:LINE: TEXT". Bash goes on after
# "! COMMAND", and after "A && B" if A fails, unless it is the last command of a function.
cannot_fail() {
	awk '
	line != "" && !/^\t*}/ { print line }
	{ line = "" }
	/\|\|/ { next }
	gsub(/\047/, "&") % 2 { next }	# a text goes on in the next line
	/^\t+! .*[^&\\|]$/ || /^\t+\[.*\]\]? && \[/ { line = FILENAME ":" FNR ": " $0 }' "$@"
}

@test "each condition of a test can fail the test" {
	cannot_fail "$BATS_TEST_DIRNAME"/*.b* >"$BATS_TEST_TMPDIR/all"
	diff /dev/null "$BATS_TEST_TMPDIR/all" >&2
	# and conditions that cannot fail are found
	printf '%s\n' 'f() {' $'\t! grep a b' $'\ttrue' $'\t[ a = b ] && [ c = d ]' $'\t! grep e f' '}' \
		>"$BATS_TEST_TMPDIR/some"
	[ "$(cannot_fail "$BATS_TEST_TMPDIR/some" | cut -d: -f2 | paste -sd' ')" = "2 4" ]
}
