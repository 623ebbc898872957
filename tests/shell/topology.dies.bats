#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# The levels of the topology of 64 CPUs in two sockets with two dies each, compared with sysfs.

load helpers
load shared

requirements() {
	require_root
	[ "$(nproc --all)" = 64 ] || skip_or_fail "not 64 CPUs"
}

teardown() {
	remove_map
}

# number FILE : print an id of sysfs; perf prints 0 for one that is missing or unknown
number() {
	local number=0
	[ ! -e "$1" ] || read -r number <"$1"
	echo $((number < 0 ? 0 : number))
}

# places LEVEL : print the row of each CPU at a level, and the CPU
places() {
	local dir row cpu
	for dir in /sys/devices/system/cpu/cpu[0-9]*; do
		cpu=${dir##*/cpu}
		row=S$(number "$dir/topology/physical_package_id")
		case $1 in
		die) row+=-D$(number "$dir/topology/die_id") ;;
		cluster) row+=-D$(number "$dir/topology/die_id")-CLS$(number "$dir/topology/cluster_id") ;;
		core) row+=-D$(number "$dir/topology/die_id")-C$(number "$dir/topology/core_id") ;;
		node)
			row=("$dir"/node[0-9]*)
			row=N${row##*/node} ;;
		esac
		echo "$row $cpu"
	done
}

@test "each level of the topology has the rows and CPUs of sysfs" {
	local level how
	for level in socket die cluster core node; do
		places $level | awk '{ nr[$1]++ } END { for (row in nr) print row "," nr[row] }' | sort >"$T/sysfs"
		for how in '' --bpf-counters; do
			perf stat $how -a --per-$level -x, -e cs -o "$T/out" true
			diff "$T/sysfs" <(grep '^[^#]' "$T/out" | cut -d, -f 1,2 | sort) >&2
		done
	done
}

@test "this machine has two sockets with two dies each" {
	[ "$(places socket | cut -d ' ' -f 1 | sort -u | wc -l)" = 2 ]
	[ "$(places die | cut -d ' ' -f 1 | sort -u | wc -l)" = 4 ]
}

@test "the activity on a CPU counts for its row at each level" {
	local level row cpu
	for level in socket die cluster node; do
		while read -r row cpu; do
			perf stat --bpf-counters -a --per-$level -x, -e page-faults -o "$T/out" \
				taskset -c "$cpu" "$WORKLOADS/faults" 1000
			cat "$T/out" >&2
			# Other rows have what their CPUs did meanwhile.
			awk -F, -v row="$row" '$1 == row { exit $3 < 1000 } /^[^#]/ && $1 != row && $3 >= 1000 { exit 1 }' \
				"$T/out"
		done < <(places $level | awk '!seen[$1]++')
	done
}
