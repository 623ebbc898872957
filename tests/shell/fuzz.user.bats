#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# A short run of each fuzzer, four times as long with FULL=1. make fuzz runs them longer.

load helpers

# fuzz NAME RUNS [SEEDS] : from the committed corpus of at least so many inputs (50), with the same chances
fuzz() {
	local script=$BATS_TEST_DIRNAME/../../scripts/fuzz runs=$2
	[ "${FULL:-}" ] || runs=$(($2 / 4))
	[ -x "$script" ] || skip "no source tree here"
	[ -x "$O-sanitize/fuzz/$1" ] || skip_or_fail "no $O-sanitize/fuzz/$1: clang has no libFuzzer, or make fuzzers was not run"
	O=$O CORPUS=$BATS_TEST_TMPDIR/corpus "$script" "$1" -runs="$runs" -seed=1 -print_final_stats=1 \
		>"$BATS_TEST_TMPDIR/log" 2>&1 3>&- || { tail -n 50 "$BATS_TEST_TMPDIR/log" >&2; return 1; }
	# no fewer than asked for, and the corpus was understood
	in_range "$(sed -n 's/^stat::number_of_executed_units: //p' "$BATS_TEST_TMPDIR/log")" "$runs" "$((runs + 1000))"
	[ "$(find "$BATS_TEST_TMPDIR/corpus" -name 'seed-*' | wc -l)" -ge "${3:-50}" ]
}

@test "the parser of event lists survives fuzzing" {
	fuzz parse_events 20000
}

@test "the parser of metric expressions survives fuzzing" {
	fuzz metric_expr 50000
}

@test "the reader of definitions survives fuzzing" {
	fuzz definitions 2000
}

@test "the reader of recorded counts survives fuzzing" {
	fuzz perf_data 5000
}

@test "the reader of profiles survives fuzzing" {
	fuzz profile_data 10000
}

@test "the list of shared events survives any numbers in the registry" {
	fuzz snapshot 2000
}

@test "the tables of scope sets survive any numbers that change while they are read" {
	fuzz scope_set 400
}

@test "sessions that sample survive any numbers in their tables that change while they are read" {
	fuzz sample_tables 3000 6
}

@test "the reader of ELF files survives fuzzing" {
	fuzz elf_symbols 60000
}

@test "the reader of debug information survives fuzzing" {
	perf version --build-options | grep -q 'libdw: \[ on' || skip_or_fail "there is no libdw in this build"
	fuzz debug_info 5000 5
}

@test "the reader of the kernel's symbols survives fuzzing" {
	fuzz kallsyms 200000
}

@test "the reader of mappings survives fuzzing" {
	fuzz maps 200000
}

@test "the reader of perf maps survives fuzzing" {
	fuzz perf_map 100000
}

@test "the reader of jitdumps survives fuzzing" {
	fuzz jit_dump 10000 3
}

@test "the reader of packages of split debug information survives fuzzing" {
	fuzz dwp_file 300 4
}

@test "the reader of split debug information survives fuzzing" {
	perf version --build-options | grep -q 'libdw: \[ on' || skip_or_fail "there is no libdw in this build"
	fuzz split_info 10000 8
}

@test "the reader of folded stacks survives fuzzing" {
	fuzz folded 6000
}
