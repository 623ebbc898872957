#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# perf profile --annotate on arm64: entries through which a file calls others, and code of a JIT compiler.

load helpers

T=$BATS_TEST_TMPDIR

requirements() {
	require_root
	PATH=$WORKLOADS:$PATH
	publish
	imitate_objdump
}

teardown() {
	end_jobs
	remove_map
	[ -z "${public-}" ] || rm -r "$public"
}

# imitate_objdump : an objdump that prints the words of the code in place of instructions: this machine has none
imitate_objdump() {
	cat >"$public/objdump" <<-'EOF'
		#!/bin/bash
		file=${!#}
		number() { printf %u "$(od -An -v -t u8 -j "$1" -N 8 "$file")"; }
		section=$(($(number 40) + 64))
		address=$(number $((section + 16)))
		od -An -v -t x4 -w4 -j "$(number $((section + 24)))" -N "$(number $((section + 32)))" "$file" |
			while read -r word; do
				printf ' %x:\t%s\n' "$address" "$word"
				((address += 4))
			done
	EOF
	chmod 755 "$public/objdump"
	PATH=$public:$PATH
}

# profile OPTION... : sample through this test's map. The period is prime, so all instructions of a loop are sampled.
profile() {
	perf profile --bpf-attr-map "$ATTR_MAP" -e cycles:u -c 20011 "$@"
}

@test "calls of another file have the names of what they call" {
	local address function n=0
	profile -o "$T/data" -- calls 200000 >"$T/out"
	sed -nE 's/^([0-9a-f]+) (lrand48|mrand48|random)$/\1 \2/p' "$T/out" >"$T/entries"
	while read -r address function; do
		perf profile report --annotate "$function@plt" -j "$T/data" >"$T/json"
		# br x17 ends an entry
		jq -s -e --arg at "$address" --arg sym "$function@plt" '[.[] | select(.address)] | length == 4
			and .[0].address == $at and all(.sym == $sym) and .[3].instruction == "d61f0220"
			and ([.[] | .samples] | add) > 0' "$T/json"
		n=$((n + 1))
	done <"$T/entries"
	[ $n = 3 ]
}

# jit_rows NAME LINE : the code of a function in a jitdump has samples, all in the loop, and lines of the compiler
jit_rows() {
	jq -s -e --arg sym "$1" --argjson line "$2" '[.[] | select(.address)]
		| map(.instruction) == ["f1000400", "54ffffe1", "d65f03c0"]
		and map(.line) == [$line, $line, $line + 1]
		and all(.dso == "[jit]" and .sym == $sym and .file == $sym + ".lang")
		and .[0].samples + .[1].samples > 100 and .[2].samples < 2' "$T/json"
}

@test "code of a JIT compiler is read from its jitdump, also where it was moved, and kept in a file" {
	jit 100000 "$T" &
	jit=$!
	jobs_started+=("$jit")
	wait_for grep -q 'jit-.*dump' "/proc/$jit/maps"
	profile --annotate first -p "$jit" -j -- ran 0.1 "$jit" >"$T/json"
	jit_rows first 10
	profile --annotate second -p "$jit" -o "$T/data" -j -- ran 0.1 "$jit" >"$T/json"
	jit_rows second 20
	kill "$jit"
	perf profile report --annotate second -j "$T/data" | diff -u "$T/json" - >&2
	perf profile report --annotate first -j "$T/data" >"$T/json"
	jit_rows first 10
}
