#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# perf profile --prog: a program of the user's runs at each sample, and its maps are printed.

load helpers

T=$BATS_TEST_TMPDIR
PROG=$WORKLOADS/samples.bpf.o

requirements() {
	require_root
	PATH=$WORKLOADS:$PATH
}

# profile OPTION... : sample cpu-clock with the program
profile() {
	perf profile -e cpu-clock -F 1000 --prog "$PROG" "$@"
}

# of_map NAME FILE : the lines of a map's elements
of_map() {
	sed -n "/^# map $1:\$/,/^#/p" "$2" | grep '^    '
}

# number PATTERN FILE MAP : the sum of the numbers behind PATTERN in the lines of a map
number() {
	of_map "$3" "$2" | sed -nE "s/.*$1([0-9]+).*/\1/p" | awk '{ sum += $1 } END { print sum }'
}

@test "the program counts each sample, and decides which ones are in the profile" {
	local all passed printed half
	profile --dump-maps -- blend 100000 >"$T/text"
	all=$(number 'samples = \(__u64\)' "$T/text" by_task)
	passed=$(number 'passed = \(__u64\)' "$T/text" by_task)
	printed=$(sed -nE '1s/^# ([0-9,]+) samples .*/\1/p' "$T/text" | tr -d ,)
	# Each second one of a task. Until it has executed the program, the command's name is another one.
	half=$(of_map by_task "$T/text" | sed -nE 's/.*samples = \(__u64\)([0-9]+).*/\1/p' | awk '{ sum += int($1 / 2) } END { print sum }')
	[ "$all" -gt 100 ]
	[ "$passed" = "$half" ]
	[ "$printed" = "$passed" ]
	grep -qE '^# left out by the program, or lost: (4[5-9]|5[0-5])\.[0-9] % of the count$' "$T/text"
	grep -qF '[.] blend_b' "$T/text"
}

@test "maps are printed with the types of the object" {
	local all
	profile --dump-maps -- blend 100000 >"$T/text"
	all=$(number 'samples = \(__u64\)' "$T/text" by_task)
	of_map by_task "$T/text" | grep -qE "^    \[\(struct task\)\{\.pid = \(__u32\)[0-9]+,.*'b','l','e','n','d'.*\}\] \(struct seen\)\{"
	[ "$(number 'nr_samples = \(__u64\)' "$T/text" samples.bss)" = "$all" ]
	# Its samples are those of all CPUs.
	[ "$(number ': \(__u64\)' "$T/text" by_cpu)" = "$all" ]
	of_map by_cpu "$T/text" >"$T/cpus"
	refute grep -v '^    \[(__u32)1\] CPU [0-9]*: ' "$T/cpus"
	[ "$(of_map untyped "$T/text")" = "    [03 00 00 00] 88 77 66 55 44 33 22 11" ]
}

@test "names of types cannot harm a terminal" {
	LC_ALL=C sed 's/passed/\x1b[31mZ/g' "$PROG" >"$T/evil.o"
	perf profile -e cpu-clock -F 1000 --prog "$T/evil.o" --dump-maps -- blend 20000 >"$T/text"
	of_map by_task "$T/text" | grep -qF '.\033[31mZ = '
}

@test "a signal ends the printing of maps" {
	local session signal status
	for signal in INT TERM; do
		background "$T/text" perf profile -e cpu-clock --prog "$WORKLOADS/big_map.bpf.o" --dump-maps --timeout 100
		session=$!
		wait_for has_line '# map big:' "$T/text"
		kill -$signal "$session"
		status=0
		wait "$session" || status=$?
		[ $status -gt 128 ]
	done
}

@test "without --dump-maps no map is printed, and CSV has the samples" {
	profile -x, -- blend 20000 >"$T/csv"
	# Functions such as do_mmap can be sampled.
	refute grep -q '^# map ' "$T/csv"
	grep -q '^cpu-clock,.*,blend,blend_b$' "$T/csv"
}

@test "objects that have no such program are refused" {
	echo text >"$T/file"
	refused 22 perf profile -e cpu-clock --prog "$T/none" true <<<"perf profile: --prog $T/none: not a BPF object that can be read: No such file or directory"
	fails_with 22 "perf profile: --prog $T/file: not a BPF object that can be read: BPF object format invalid" perf profile -e cpu-clock --prog "$T/file" true
	refused 22 perf profile -e cpu-clock --prog "$WORKLOADS/targets.bpf.o" true <<<"perf profile: --prog $WORKLOADS/targets.bpf.o: no program in a section 'perf_event'"
	refused 22 perf profile -e cpu-clock --prog "$WORKLOADS/two_samples.bpf.o" true <<<"perf profile: --prog $WORKLOADS/two_samples.bpf.o: more than one program in a section 'perf_event'"
	fails_with 22 "perf profile: --prog $WORKLOADS/wild_samples.bpf.o: the kernel refuses it: Permission denied (-v prints why)" perf profile -e cpu-clock --prog "$WORKLOADS/wild_samples.bpf.o" true
	refused 22 perf profile -e cpu-clock --dump-maps true <<<"perf profile: --dump-maps requires --prog"
	refused 22 perf profile -e cpu-clock --prog x --dump-maps -j true <<<"perf profile: --dump-maps prints text: without -j, -x and --folded"
}
