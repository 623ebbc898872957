#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# The witness, which shows tests the switches and ends that a machine hides from BPF programs.

load helpers

T=$BATS_TEST_TMPDIR

requirements() {
	require_root
}

@test "the witness sees the switches of all CPUs, and none is hidden where nothing hides them" {
	begin_witness
	"$WORKLOADS/pingpong" 1000
	end_witness
	[ "$(awk '$1 == "cpu" && $3 > 0' "$T/witness" | wc -l)" = "$(nproc)" ]
	[ "$(awk '$1 == "cpu" { sum += $3 } END { print (sum > 2000) }' "$T/witness")" = 1 ]
	# emulated machines run all programs
	[ -z "${PLACE:-}" ] || [ "$(awk '$1 == "cpu" { sum += $4 } END { print sum }' "$T/witness")" = 0 ]
}

@test "the witness sees tasks that have ended without a release" {
	begin_witness
	background "$T/zombies" "$WORKLOADS/zombies" 20
	zombies=$!
	wait_for has_text ready "$T/zombies"
	kill -USR1 $zombies
	wait_for has_text ended "$T/zombies"
	end_witness
	[ "$(unreleased comm zombies)" = 20 ]
}

@test "the witness's numbers are summed for the requested tasks" {
	cat >"$T/witness" <<-END
		ready
		cpu 0 100 4 1000 50
		lost 10 $(stat -c %i "$T") one 1 100 20
		lost 11 1 one 2 300 5
		lost 12 1 t_o 1 600 25
		gained 1 1 init 4 1000 50
		unreleased 11 1 one 1
		unreleased 11 1 one 1
	END
	[ "$(missed events)" = 0 ]
	[ "$(missed events pid 10)" = 20 ]
	[ "$(missed events cgroup "$T")" = 20 ]
	[ "$(missed ns comm one)" = 400 ]
	[ "$(missed hidden pid 10 comm one)" = 3 ]
	[ "$(missed events comm 't o')" = 25 ]
	[ "$(excess ns pid 1)" = 1000 ]
	[ "$(excess ns pid 10)" = 0 ]
	[ "$(unreleased pid 11)" = 2 ]
	[ "$(hidden_events)" = 50 ]
}

@test "a test accepts what the witness explains, and nothing else" {
	cat >"$T/witness" <<-END
		lost 10 1 one 1 100 20
		lost 11 1 two 1 100 500
		gained 12 1 one 1 100 5
	END
	explained 300 310 comm one <<<300
	explained 300 310 comm one < <(printf '%s\n' 290 310 290.00)
	explained 300 310 comm one < <(printf '%s\n' 313 280 312)
	refute explained 300 310 comm one <<<279
	refute explained 300 310 comm one < <(printf '%s\n' 290 289)
	refute explained 300 310 comm one < <(printf '%s\n' 313 313)
	refute explained 300 310 comm three <<<299
	refute explained 300 310 comm one </dev/null
	refute explained 300 310 comm one <<<"<not counted>"
	refute explained 300 310 comm one <<<""
	rm "$T/witness"
	refute explained 300 310 comm one <<<300
}
