# SPDX-License-Identifier: GPL-2.0
# For tests of -b: BPF programs to be counted, runs that count them. Each test has its own in $P.

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

# progs_begin : the programs of tests/workloads/targets.bpf.c, pinned in $P by their names; what they
# count themselves is in ${P}_maps/seen
progs_begin() {
	T=$BATS_TEST_TMPDIR
	P=/sys/fs/bpf/perf_progs_$$_$BATS_TEST_NUMBER
	mkdir "$P" "${P}_maps"
	$bpftool prog loadall "$WORKLOADS/targets.bpf.o" "$P" pinmaps "${P}_maps"
}

progs_end() {
	rm -rf "${P:-/nonexistent}" "${P}_maps"
}

# id NAME : of the program target_NAME of this test
id() {
	id_of "$P/target_$1"
}

# id_of PIN : of the program pinned there
id_of() {
	$bpftool -j prog show pinned "$1" | jq .id
}

# prog_stat OPTION... : perf stat with this test's map of shared events
prog_stat() {
	perf stat --bpf-attr-map "$ATTR_MAP" "$@"
}

# prog_run NAME TIMES [ARG [CPU]] : test-runs of target_NAME
prog_run() {
	"$WORKLOADS/progrun" "$P/target_$1" "${@:2}"
}

# seen WHICH : how often a program has counted itself
seen() {
	$bpftool -j map lookup pinned "${P}_maps/seen" key "$1" 0 0 0 | jq .formatted.value
}

# counting NAME OPTION... : a run in the background, $run_pid, that counts now; its rows as CSV go to
# $T/NAME.csv, what it says to $T/NAME.err
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

# pairs : how many pairs of probes there are on this machine
pairs() {
	$bpftool -j prog show | jq '[.[] | select(.name == "on_enter")] | length'
}

# nothing_attached : no part of a pair or a leader is left, once the kernel has freed what it frees later
nothing_attached() {
	wait_for is_nothing_attached || { $bpftool prog show >&2; $bpftool link show >&2; return 1; }
}

is_nothing_attached() {
	! $bpftool -j prog show | jq -e '.[] | select(.name == "on_enter" or .name == "on_leave" or
		.name == "on_switch")' >/dev/null &&
	! $bpftool -j map show | jq -e '.[] | select(.name == "prog_cpus" or .name == "prog_frames")' >/dev/null
}

# prog_field PROGRAM EVENT N FILE : the N-th field behind the program's name in a row of --per-prog
prog_field() {
	awk -F, -v prog="$1" -v event="$2" -v n="$3" '$1 == prog && $4 == event { print $(n + 1); exit }' "$4"
}

# is_equal A B : exactly
is_equal() {
	[ "$1" = "$2" ] || { echo "$1, not $2" >&2; return 1; }
}
