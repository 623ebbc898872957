# SPDX-License-Identifier: GPL-2.0
# Helpers for tests of -b: BPF programs to be counted, and sessions that count them. Each test has its
# own programs in $P.

bats_require_minimum_version 1.5.0
load helpers
load shared

bpftool=/usr/sbin/bpftool

eval "base_$(declare -f setup)"
eval "base_$(declare -f teardown)"

setup() {
	base_setup
	progs_begin
}

teardown() {
	progs_end
	base_teardown
}

# progs_begin : pin the programs of tests/workloads/targets.bpf.c in $P by their names. Their own counts
# are in ${P}_maps/seen
progs_begin() {
	T=$BATS_TEST_TMPDIR
	P=/sys/fs/bpf/perf_progs_$$_$BATS_TEST_NUMBER
	mkdir "$P" "${P}_maps"
	$bpftool prog loadall "$WORKLOADS/targets.bpf.o" "$P" pinmaps "${P}_maps"
}

progs_end() {
	rm -rf "${P:-/nonexistent}" "${P}_maps"
}

# id NAME : print the id of this test's program target_NAME
id() {
	id_of "$P/target_$1"
}

# id_of PIN : print the id of the program pinned there
id_of() {
	$bpftool prog show pinned "$1" | sed -n '1s/:.*//p'
}

# prog_stat OPTION... : run perf stat with this test's map of shared events
prog_stat() {
	perf stat --bpf-attr-map "$ATTR_MAP" "$@"
}

# prog_run NAME TIMES [ARG [CPU]] : test-run target_NAME so often
prog_run() {
	"$WORKLOADS/progrun" "$P/target_$1" "${@:2}"
}

# seen WHICH : print how often a program has counted itself
seen() {
	$bpftool -j map lookup pinned "${P}_maps/seen" key "$1" 0 0 0 | jq .formatted.value
}

# counting NAME OPTION... : start a session in the background, $run_pid, and wait until it counts. Its CSV
# goes to $T/NAME.csv, its messages go to $T/NAME.err
counting() {
	local name=$1
	shift
	background "$T/$name.err" perf stat --bpf-attr-map "$ATTR_MAP" -x, -o "$T/$name.csv" "$@"
	run_pid=$!
	wait_for counts_or_ended "$run_pid"
	kill -0 "$run_pid" || { cat "$T/$name.err" >&2; return 1; }
}

counts_or_ended() {
	grep -q poll "/proc/$1/wchan" || ! kill -0 "$1"
}

# pairs : print how many pairs of probes this machine has
pairs() {
	$bpftool prog show | grep -c 'name on_enter ' || :
}

# nothing_attached : wait until no part of a pair or a leader is left: the kernel frees some late
nothing_attached() {
	wait_for is_nothing_attached || { $bpftool prog show >&2; $bpftool link show >&2; return 1; }
}

is_nothing_attached() {
	! { $bpftool prog show && $bpftool map show; } |
		grep -qE 'name (on_enter|on_leave|on_switch|prog_cpus|prog_frames)( |$)'
}

# prog_field PROGRAM EVENT N FILE : print the N-th field behind the program's name in a row of --per-prog
prog_field() {
	awk -F, -v prog="$1" -v event="$2" -v n="$3" '$1 == prog && $4 == event { print $(n + 1); exit }' "$4"
}

# is_equal A B : both numbers are exactly equal
is_equal() {
	[ "$1" = "$2" ] || { echo "$1, not $2" >&2; return 1; }
}
