#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# perf profile on an emulated PMU, where a cycle is an instruction and a nanosecond: shares of cycles.

load helpers

T=$BATS_TEST_TMPDIR

requirements() {
	require_root
	PATH=$WORKLOADS:$PATH
}

# profile OPTION... : sample through this test's map
profile() {
	perf profile --bpf-attr-map "$ATTR_MAP" "$@"
}

# share NAME FILE : the percent of a function in CSV with -s sym
share() {
	awk -F, -v name="$1" '$5 == name { print $2; found = 1 } END { if (!found) print 0 }' "$2"
}

@test "functions have their shares of cycles" {
	local way function
	for way in --bpf --no-bpf; do
		# The period is prime, so that no phase of a turn is sampled more often than another.
		profile $way -e cycles -c 20011 -x, -s sym -- blend 20000 >"$T/csv"
		for function in blend_a blend_deep; do
			# Two points, as promised for 10,000 samples. The start of the program lowers shares: measured 19.4 to 20.4.
			in_range "$(share $function "$T/csv")" 18 22
		done
		# as above: measured 39.5 to 39.9
		in_range "$(share blend_b "$T/csv")" 38 42
	done
}

@test "ranges take functions of C++ by the names in the source" {
	perf version --build-options | grep -q 'libiberty: \[ on' || skip_or_fail "built without libiberty"
	profile -e cycles -c 20011 -x, -s sym --range blend::c -- blend 2000 >"$T/csv"
	[ "$(grep -v "^#" "$T/csv" | cut -d, -f5 | sort -u)" = blend::c ]
}

@test "samples of cycles stand for all cycles of the command" {
	profile -e cycles -c 20011 -- blend 20000 >"$T/text"
	# The last period of each CPU is not complete, and the moment of the start has no class yet.
	in_range "$(sed -nE 's/^# .* stands? for ([0-9.]+) % of cycles .*/\1/p' "$T/text")" 95 101
}

@test "samples of a clock in one mode stand for the time in that mode, and the other one is no loss" {
	local way mode
	for way in --bpf --no-bpf; do
		for mode in u k; do
			profile $way -e cpu-clock:$mode -c 50021 -j -- dd if=/dev/zero of=/dev/null bs=16 count=80000 >"$T/json" 2>"$T/err"
			# Both modes have a part of the time. User mode has at least 200 samples, and the first and last periods of
			# the whole time are not complete.
			jq -e -s 'map(.account // empty) | last | .mode.weight > .counted / 20 and .share > 95 and .share < 101 and
				.lost.blind.samples == 0 and .unseen == 0' "$T/json" >/dev/null || { cat "$T/json"; return 1; }
		done
	done
}

@test "stacks of arm64 have the callers" {
	profile -e cycles -c 20011 --folded -- blend 20000 >"$T/folded"
	grep -qE '^blend;(.*;)?main;blend_main;blend_b [0-9]+$' "$T/folded"
	grep -qE '^blend;(.*;)?main;blend_main(;blend_deep){8} [0-9]+$' "$T/folded"
}

@test "idle CPUs have no samples of cycles, and functions of the kernel have names" {
	profile -e cycles -F 1000 -a -x, -s dso,sym --timeout 500 >"$T/csv"
	grep -qF ',[kernel],' "$T/csv"
	refute grep -qF '[kernel]+0x' "$T/csv"
}

@test "code of a JIT compiler on arm64 has the names of its perf map" {
	jit 1000 &
	jobs_started+=("$!")
	wait_for test -s "/tmp/perf-$!.map"
	profile -e cycles -F 1000 -p $! -x, -s sym --timeout 500 >"$T/csv"
	at_least "$(share "jitted loop" "$T/csv")" 50
	kill $!
	wait $! || :
	rm -f "/tmp/perf-$!.map"
}

@test "ranges restrict samples of cycles to functions of arm64, of programs and of the kernel" {
	profile -e cycles -c 20011 -x, -s sym --range blend_b --range blend_a -- blend 20000 >"$T/csv"
	# two thirds and one third, within two points: measured 67.2 and 32.8
	in_range "$(share blend_b "$T/csv")" 64.6 68.7
	in_range "$(share blend_a "$T/csv")" 31.3 35.4
	profile -e cycles -c 20011 -x, -s sym --range vfs_read -- dd if=/dev/zero of=/dev/null bs=16 count=20000 >"$T/csv" 2>"$T/err"
	[ "$(share vfs_read "$T/csv")" = 100.0000 ]
}
