#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# Plain and shared counts of one and the same run: nothing differs but the way of counting.
load helpers

# agrees EVENT... -- COMMAND... : each event counts the same, plain and shared
agrees() {
	local events=() list='' out=$BATS_TEST_TMPDIR/out event plain
	while [ "$1" != -- ]; do events+=("$1"); list+=,$1,$1b; shift; done
	shift
	list=${list//page-faultsb/page-faults:b}
	list=${list//context-switchesb/context-switches:b}
	perf stat --bpf-attr-map "$ATTR_MAP" -x, -o "$out" -e "${list#,}" "${options[@]}" -- "$@"
	for event in "${events[@]}"; do
		case $event in *:*) shared=${event}b ;; *) shared=$event:b ;; esac
		plain=$(field "$event" 1 "$out")
		[ -n "$plain" ]
		[ "$plain" = "$(field "$shared" 1 "$out")" ] || { cat "$out"; return 1; }
	done
}

all=(context-switches page-faults instructions:u)

@test "a command's switches, faults and user instructions" {
	options=()
	agrees "${all[@]}" -- "$WORKLOADS/spin" 1000000
	agrees "${all[@]}" -- "$WORKLOADS/switches" 20
	agrees "${all[@]}" -- "$WORKLOADS/faults" 300
}

@test "with children, threads and a tree of them" {
	options=()
	agrees "${all[@]}" -- "$WORKLOADS/forks" 50 1000
	agrees "${all[@]}" -- "$WORKLOADS/threads" 4 10000
	agrees "${all[@]}" -- "$WORKLOADS/tree" 3 2 1000
	agrees "${all[@]}" -- "$WORKLOADS/pingpong" 500
}

@test "without children" {
	options=(-i)
	agrees "${all[@]}" -- "$WORKLOADS/forks" 20 1000
	agrees "${all[@]}" -- "$WORKLOADS/threads" 4 10000
}

@test "with execs by shells" {
	options=()
	agrees "${all[@]}" -- sh -c 'for i in 1 2 3 4 5 6 7 8; do /bin/true; (exec /bin/true); done'
}
