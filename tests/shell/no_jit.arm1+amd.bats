#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# Sharing needs the kernel's BPF JIT. Without it, perf names it in one line.

load helpers

T=$BATS_TEST_TMPDIR
why="loading the BPF programs failed: Invalid argument (kernel too old, or without a BPF JIT: needs Linux 6.1 and net.core.bpf_jit_enable=1; -vv has the verifier's words)"

requirements() {
	set_until_end /proc/sys/net/core/bpf_jit_enable 0
}

@test "without a BPF JIT, sessions that share end with one line, whatever they count" {
	local options
	for options in "-a -e cpu-clock" "-e task-clock" "-a -e cpu-clock --for-each-cgroup /"; do
		# shellcheck disable=SC2086 # options without blanks
		refused 1 shared $options -- touch "$T/started" <<<"perf stat: cannot share events: $why"
	done
	refused 1 perf profile --bpf-attr-map "$ATTR_MAP" -a -e cpu-clock -- touch "$T/started" \
		<<<"perf profile: cannot share events: $why"
	[ ! -e "$T/started" ]
	no_leader_objects
	[ "$(entries)" = 0 ]
}

@test "without a BPF JIT, plain counting works" {
	perf stat -x, -o "$T/out" -e task-clock true 2>"$T/err"
	is_silent "$T/err"
	at_least "$(field task-clock 1 "$T/out")" 0.001
}

@test "with the BPF JIT again, the next session shares" {
	refused 1 shared -a -e cpu-clock true <<<"perf stat: cannot share events: $why"
	echo 1 >/proc/sys/net/core/bpf_jit_enable
	shared -a -x, -o "$T/out" -e cpu-clock true
	in_range "$(field cpu-clock 5 "$T/out")" 99.99 100	# the kernel's two times differ by some microseconds
}
