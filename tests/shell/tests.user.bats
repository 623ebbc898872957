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

@test "no check is ignored because a function is a condition" {
	local script=$BATS_TEST_DIRNAME/../../scripts/unchecked
	[ -x "$script" ] || skip "no source tree here"
	"$script" >"$BATS_TEST_TMPDIR/all"
	diff /dev/null "$BATS_TEST_TMPDIR/all" >&2
	# and such checks are found, and only these
	cat >"$BATS_TEST_TMPDIR/loaded.bash" <<-'END'
		check() {
			[ a = b ]
			echo "if a; then check"
		}
		try() {
			until "$@"; do :; done
		}
		called() { grep a b; check; }
		good() {
			local a="$(cat b)" b
			[ "$a" = 1 ] || return
			check || { echo no; return 1; }
			case $a in
			1) grep c d ;;
			*)
				# [ a = b ]
				grep e f ;;
			esac
		}
	END
	cat >"$BATS_TEST_TMPDIR/a.bats" <<-'END'
		load loaded
		negated() {
			grep 'not
				checked' a
			true
		}
		unconditional() {
			grep a b
			true
		}
		looped() {
			for i in 1 2; do
				grep a "$i"
			done
		}
		tried() {
			grep g h | tail -n 1 \
				>a
			true
		}
		TEST "a" {
			! negated "${1:-a b}" || false
			unconditional
			if called; then :; fi
			called || looped || good
			try tried "unconditional called" 1
			[ "$(unconditional)" = 1 ]
		}
	END
	sed -i 's/^TEST/@test/' "$BATS_TEST_TMPDIR/a.bats"
	(cd "$BATS_TEST_TMPDIR" && "$script" a.bats loaded.bash) | cut -d ' ' -f 1,2 >"$BATS_TEST_TMPDIR/some"
	diff - "$BATS_TEST_TMPDIR/some" <<-'END'
		a.bats:3: grep
		a.bats:13: grep
		a.bats:17: grep
		loaded.bash:2: [
		loaded.bash:8: grep
	END
}
