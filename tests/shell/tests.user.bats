#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# The rules for the tests themselves.

load helpers

teardown() {
	local pid
	# Only if the test failed
	for pid in $(cat "$BATS_TEST_TMPDIR"/pid* 2>/dev/null); do
		kill -KILL "$pid" 2>/dev/null || :
	done
}

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

# second_meanings HELPERS FILE... : print functions of helpers that these files define again. bats calls the first five.
second_meanings() {
	awk '
	!/^[a-z_]+\(\) ?{/ { next }
	{ sub(/\(.*/, "") }
	/^(setup|teardown|setup_file|teardown_file|requirements)$/ { next }
	FILENAME == ARGV[1] { is_helper[$0]; next }
	$0 in is_helper { print FILENAME ": " $0 }' "$@"
}

@test "no helper has another meaning in a test file" {
	second_meanings "$BATS_TEST_DIRNAME"/helpers.bash "$BATS_TEST_DIRNAME"/*.bats "$BATS_TEST_DIRNAME"/[!h]*.bash |
		diff /dev/null - >&2
	printf '%s\n' 'nap() {' 'teardown() {' >"$BATS_TEST_TMPDIR/a.bats"
	[ "$(second_meanings "$BATS_TEST_DIRNAME/helpers.bash" "$BATS_TEST_TMPDIR/a.bats")" = "$BATS_TEST_TMPDIR/a.bats: nap" ]
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
			local a="$(<b)" b
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

# left_by FILE : tests/tap runs the file, which fails. Print the processes that it left
left_by() {
	local status=0
	env -u TAP_DIR "$BATS_TEST_DIRNAME/../tap" "$1" >"$BATS_TEST_TMPDIR/out" 2>&1 3>&- </dev/null || status=$?
	cat "$BATS_TEST_TMPDIR/out" >&2
	[ "$status" = 1 ] || return
	sed -n 's/^# left behind: process //p' "$BATS_TEST_TMPDIR/out" | sort -n
}

# named NAME... : the same, from the numbers that the processes wrote
named() {
	local name
	for name; do
		printf '%s (sleep 1000)\n' "$(<"$BATS_TEST_TMPDIR/pid.$name")"
	done | sort -n
}

# ended PID : also if nobody has taken its status yet
ended() {
	[ -z "$(tr -d '\0' 2>/dev/null <"/proc/$1/cmdline")" ]
}

@test "processes that a test file leaves behind end with it and fail it, also if they keep its pipe" {
	local name
	# bats takes any line with @test for one of this file
	sed "s:^TEST:@test:; s:DIR:$BATS_TEST_TMPDIR:" >"$BATS_TEST_TMPDIR/left.user.bats" <<-'END'
		TEST "leaves a process without files" {
			setsid sh -c 'echo $$ >DIR/pid.quiet; exec sleep 1000' >/dev/null 2>&1 3>&- &
			until [ -s DIR/pid.quiet ]; do sleep 0.1; done
		}
		TEST "leaves a process with the pipe that bats reads" {
			setsid sh -c 'echo $$ >DIR/pid.pipe; exec sleep 1000' &
			until [ -s DIR/pid.pipe ]; do sleep 0.1; done
		}
	END
	cat >"$BATS_TEST_TMPDIR/program" <<-END
		#!/bin/sh
		echo 1..1
		sleep 1000 &
		echo \$! >$BATS_TEST_TMPDIR/pid.program
		echo ok 1
	END
	chmod +x "$BATS_TEST_TMPDIR/program"
	left_by "$BATS_TEST_TMPDIR/left.user.bats" >"$BATS_TEST_TMPDIR/left"
	named quiet pipe | diff - "$BATS_TEST_TMPDIR/left"
	[ "$(grep -c '^ok' "$BATS_TEST_TMPDIR/out")" = 2 ]
	left_by "$BATS_TEST_TMPDIR/program" >"$BATS_TEST_TMPDIR/left"
	named program | diff - "$BATS_TEST_TMPDIR/left"
	grep -qx 'ok 1' "$BATS_TEST_TMPDIR/out"
	for name in quiet pipe program; do
		wait_for ended "$(<"$BATS_TEST_TMPDIR/pid.$name")"
	done
}

@test "a test file without leftovers passes" {
	printf '@''test "passes" {\n\ttrue\n}\n' >"$BATS_TEST_TMPDIR/pass.user.bats"
	env -u TAP_DIR "$BATS_TEST_DIRNAME/../tap" "$BATS_TEST_TMPDIR/pass.user.bats" 3>&- |
		diff <(printf '1..1\nok 1 passes\n') -
}

@test "helpers find the build by a relative path, as scripts/soak has it" {
	local build
	cd "$BATS_TEST_DIRNAME/../.."
	build=$(realpath --relative-to=. "$O")
	# shellcheck disable=SC2016 # the inner shell's
	[ "$(env -u WORKLOADS O="$build" bash -c '. tests/shell/helpers.bash; cd /; "$WORKLOADS/job" echo found')" = found ]
	cd tests
	# shellcheck disable=SC2016
	[ "$(env -u WORKLOADS O="$build" bash -c '. ../tests/shell/helpers.bash; cd /; "$WORKLOADS/job" echo found')" = found ]
}
