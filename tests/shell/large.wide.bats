#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# A machine with 64 CPUs in two sockets, eight clusters and four nodes. CPUs 62 and 63 have no tick while they
# run one task, and CPU 61 is isolated.

load helpers
load shared

requirements() {
	require_root
	[ "$(nproc --all)" = 64 ] || skip_or_fail "not 64 CPUs"
}

teardown() {
	end_jobs
	rmdir /sys/fs/cgroup/perf_test_* 2>/dev/null || :
	remove_map
}

# rows FILE : how many rows of CSV
rows() {
	grep -c '^[^#]' "$1"
}

# aggregated ROWS CPUS OPTION... : plain and shared counts have as many rows, each of as many CPUs
aggregated() {
	local nr=$1 cpus=$2 how
	shift 2
	for how in '' --bpf-counters; do
		perf stat $how -a "$@" -x, -e cs -o "$T/out" true
		cut -d, -f 1,2 "$T/out" >&2
		[ "$(rows "$T/out")" = "$nr" ]
		[ "$(grep -c "^[^,]*,$cpus," "$T/out")" = "$nr" ]
	done
}

# quiet COMMAND... : it succeeds, and prints nothing on stderr
quiet() {
	"$@" >"$T/stdout" 2>"$T/stderr" || { cat "$T/stderr" >&2; return 1; }
	diff /dev/null "$T/stderr" >&2
}

# calls CPU : how many functions other CPUs have made this one execute
calls() {
	awk -v name="CPU$1" '
		NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) column = i + 1 }
		/Function call/ { print $column }' /proc/interrupts
}

# bytes NAME : the memory that the kernel accounts to all arrays with that name
bytes() {
	/usr/sbin/bpftool -j map show | jq --arg name "$1" \
		'[.[] | select(.name == $name and .type == "array") | .bytes_memlock] | add // 0'
}

@test "there are CPUs without a tick, and one that is isolated" {
	[ "$(</sys/devices/system/cpu/nohz_full) $(</sys/devices/system/cpu/isolated)" = "62-63 61" ]
}

@test "each level of the topology has its rows" {
	aggregated 2 32 --per-socket
	aggregated 8 8 --per-cluster
	aggregated 32 2 --per-core
	aggregated 4 16 --per-node
	perf stat --bpf-counters -a -A -x, -e cs -o "$T/out" true
	[ "$(rows "$T/out")" = 64 ]
}

@test "a task is counted exactly on whichever CPU it runs" {
	local cpu
	for cpu in 0 17 40 63; do
		perf stat -x, -e page-faults:b,page-faults -o "$T/out" taskset -c $cpu "$WORKLOADS/faults" 1000
		awk -F, 'NF > 4 { count[$3] = $1 } END {
			for (name in count) { print name, count[name]; if (count[name] < 1000) exit 1 }
			exit count["page-faults:b"] != count["page-faults"] }' "$T/out" >&2
		perf stat --bpf-counters -a -A -x, -e page-faults -o "$T/out" taskset -c $cpu "$WORKLOADS/faults" 1000
		awk -F, -v row="CPU$cpu" '$1 == row { exit $2 < 1000 }' "$T/out"
	done
}

@test "all kinds of sessions work, alone and beside others" {
	local beside
	mkdir /sys/fs/cgroup/perf_test_a
	for beside in '' -a '-p 1'; do
		[ -z "$beside" ] || window other --bpf-counters $beside -e cycles
		quiet perf stat -o "$T/out" --bpf-attr-map "$ATTR_MAP" --bpf-counters -e cycles,cs -a true
		quiet perf stat -o "$T/out" --bpf-attr-map "$ATTR_MAP" --bpf-counters -e cycles,cs -C 3,60-63 true
		quiet perf stat -o "$T/out" --bpf-attr-map "$ATTR_MAP" --bpf-counters -e cycles,cs -p 1 true
		quiet perf stat -o "$T/out" --bpf-attr-map "$ATTR_MAP" --bpf-counters -e cycles,cs true
		quiet perf stat -o "$T/out" --bpf-attr-map "$ATTR_MAP" --bpf-counters -e cycles,cs -a \
			--for-each-cgroup perf_test_a true
		quiet perf stat -o "$T/out" --bpf-attr-map "$ATTR_MAP" --bpf-counters -e cycles,cs -a \
			--for-each-cgroup 'glob:perf_test_*' true
		quiet perf profile --bpf-attr-map "$ATTR_MAP" -a -- true
		quiet perf profile --bpf-attr-map "$ATTR_MAP" -p 1 -- true
		[ -z "$beside" ] || finish other
	done
	perf bperf list --bpf-attr-map "$ATTR_MAP"
}

@test "all other commands work" {
	local map=(--bpf-attr-map "$ATTR_MAP")
	quiet perf list
	perf stat record "${map[@]}" --bpf-counters -o "$T/counts" -a -e cycles,cs true
	perf stat report -i "$T/counts" -x, 2>"$T/rows"
	grep -q ,cycles, "$T/rows"
	quiet perf bperf verify "${map[@]}" -e cycles,cs --time 100
	quiet perf top "${map[@]}" --interval-count 1 -d 1
	grep -q 'Overhead' "$T/stdout"
	quiet perf profile "${map[@]}" -o "$T/data" -a -- true
	quiet perf profile report "$T/data"
	quiet perf bperf prune "${map[@]}"
	if ! quiet perf stat "${map[@]}" -b all -e cycles true; then
		# arm64 has no probes of programs.
		grep -q '^perf stat: -b all: ' "$T/stderr"
	fi
}

# took HOW : print the least time in us that a session of all CPUs takes, of three
took() {
	local try before
	for try in 1 2 3; do
		before=${EPOCHREALTIME/./}
		perf stat $1 -o "$T/out" -a -e cycles,instructions,cs true || return
		echo "$((${EPOCHREALTIME/./} - before))"
	done | sort -n | head -n 1
}

@test "a session that joins takes no longer than one with events of its own" {
	local shared plain
	window other --bpf-counters -a -e cycles,instructions,cs
	shared=$(took "--bpf-counters --bpf-attr-map $ATTR_MAP")
	plain=$(took "")
	echo "shared $shared us, plain $plain us" >&2
	[ "$shared" -le "$plain" ]
	finish other
}

# called : print the calls of CPUs that no session counts, that are isolated, or that have no tick
called() {
	echo "$(calls 40) $(calls 61) $(calls 62) $(calls 63)"
}

# joins_quietly OPTION... : a session that counts this calls none of these
joins_quietly() {
	local before
	before=$(called)
	perf stat -o "$T/out" --bpf-attr-map "$ATTR_MAP" --bpf-counters -e cycles "$@" true || return
	echo "$before, then $(called)" >&2
	[ "$(called)" = "$before" ]
}

@test "counting one CPU interrupts no other one" {
	window other --bpf-counters -a -e cycles
	# For seconds after other tests the kernel still patches code, for which it calls all CPUs.
	wait_for joins_quietly -C 5
	finish other
}

@test "counting a task interrupts only the CPU that runs it" {
	local sleeps spins before
	background "$T/sleeps" taskset -c 40 sleep 10000
	sleeps=$!
	background "$T/spins" taskset -c 41 "$WORKLOADS/spinfor" 100000
	spins=$!
	window other --bpf-counters -p "$sleeps" -e cycles
	wait_for joins_quietly -p "$sleeps"
	before=$(calls 41)
	wait_for joins_quietly -p "$spins"
	[ "$(calls 41)" -gt "$before" ]
	wait_for joins_quietly
	finish other
}

has_spinner() {
	grep -q . /sys/fs/cgroup/perf_test_b/cgroup.procs
}

@test "counting a cgroup interrupts only the CPU that runs it" {
	local before
	mkdir /sys/fs/cgroup/perf_test_{a,b,c}
	# shellcheck disable=SC2016 # the inner shell's
	background "$T/spins" taskset -c 41 bash -c 'echo $$ >/sys/fs/cgroup/perf_test_b/cgroup.procs &&
		exec "$0" 100000' "$WORKLOADS/spinfor"
	wait_for has_spinner
	window other --bpf-counters -a -e cycles --for-each-cgroup perf_test_a
	wait_for joins_quietly -a --for-each-cgroup perf_test_c
	before=$(calls 41)
	wait_for joins_quietly -a --for-each-cgroup perf_test_b
	[ "$(calls 41)" -gt "$before" ]
	finish other
}

@test "memory for each CPU stays below 24 KB for CPUs, and below 40 KB for tasks" {
	local event
	event=$(awk '$1 == "perf_event" { print $4 }' /proc/slabinfo)
	window cpus --bpf-counters -a -e page-faults
	# 24 KB were ordered, and less than 20 would be a mistake. 256 entries of a pointer each hold the events.
	in_range $((($(bytes cpus) + $(bytes readings)) / 64 + 256 * 8 + ${event:-2048})) 20000 24000
	window tasks --bpf-counters -p 1 -e page-faults
	# 40 KB were ordered, and less than 30 would be a mistake.
	in_range $((($(bytes cpus) + $(bytes readings) + $(bytes task_slices) + $(bytes sums)) / 64 +
		256 * 8 + ${event:-2048})) 30000 40000
	finish tasks cpus
}

@test "sums ready for new cgroups take less than 8 MB, and sessions count those that come" {
	mkdir /sys/fs/cgroup/perf_test_a
	window follows --bpf-counters -a -I 1000 --for-each-cgroup 'glob:perf_test_*' \
		-e page-faults,cs,task-clock,cpu-clock,minor-faults,major-faults,migrations,cgroup-switches
	in_range "$(bytes sums)" 3000000 8000000	# 8 MB were ordered, and less than 3 would be a mistake
	tell follows enable
	mkdir /sys/fs/cgroup/perf_test_{b..z}
	bash -c "echo \$\$ >/sys/fs/cgroup/perf_test_z/cgroup.procs && exec $WORKLOADS/faults 1000"
	finish follows
	# The start of the program, and the shell's last steps, have less than 200.
	in_range "$(awk -F, '$4 == "page-faults" && $5 == "perf_test_z" { sum += $2 } END { print sum }' "$T/follows.out")" 1000 1200
}
