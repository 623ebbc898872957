#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# Runs start and end, again and again, each with other events and targets: nothing grows by it.
# 1,000 times here, and 30 in emulated machines, where FULL=1 makes it 1,000, too.

load helpers
load kept
load cgroups

requirements() {
	require_root
	require_tracepoints
}

teardown() {
	remove_top
	end_jobs
}

# cycle I : one run
cycle() {
	local first=${tracepoints[$1 % ${#tracepoints[@]}]} second=${tracepoints[($1 * 7 + 3) % ${#tracepoints[@]}]}
	case $(($1 % 6)) in
	0) set -- -a -e "$first,{cs,$second}" true ;;
	1) set -- -e "$first,$second,cs:u" true ;;
	2) set -- -p "$gang" -e "$first,faults" true ;;
	3) set -- --per-thread -p "$gang" -e "$first" true ;;
	4) set -- -a --for-each-cgroup "$name/x" -e "$first" true ;;
	5) set -- -C 0 -e "$first${PMU_EVENT:+,r$1:u}" true ;;
	esac
	shared -x, -o "$T/out" "$@" 2>>"$T/err" 3>&-
}

# holdings : what the leader and the run that keeps it hold; where nobody else has any, all there is
holdings() {
	local kind
	tables
	echo "descriptors $(find "/proc/$KEPT_RUN/fd" -mindepth 1 | wc -l)"
	echo "mappings $(wc -l <"/proc/$KEPT_RUN/maps")"
	our_objects | sed 's/ .*//' | sort | uniq -c
	[ -n "${PLACE:-}" ] || return 0
	for kind in map prog link; do
		echo "$kind $(/usr/sbin/bpftool -j $kind | jq length)"
	done
}

# same_holdings FILE : as they were then, at last
same_holdings() {
	local i
	for ((i = 0; i < 60; i++)); do
		holdings >"$T/holdings"
		! cmp -s "$1" "$T/holdings" || return 0
		sleep 1
	done
	diff "$1" "$T/holdings" >&2
}

# kernel_kb : memory that the kernel itself uses, without what it would give back
kernel_kb() {
	echo 3 >/proc/sys/vm/drop_caches
	awk '/^(SUnreclaim|Percpu|VmallocUsed|KernelStack):/ { sum += $2 } END { print sum }' /proc/meminfo
}

@test "sessions with different events each time leave nothing" {
	local i nr=300 kb grown
	[ -z "${PLACE:-}" ] || nr=30
	[ -z "${FULL:-}" ] || nr=1000
	mapfile -t tracepoints < <(cd /sys/kernel/tracing/events/syscalls && printf 'syscalls:%s\n' sys_enter_*)
	make_top
	mkdir "$top/x"
	gang 1 1000
	for ((i = 0; i < 12; i++)); do cycle $i; done
	holdings >"$T/before"
	[ "$(grep -c . "$T/before")" -gt 10 ]
	kb=$(kernel_kb)
	for ((i = 0; i < nr; i++)); do cycle $i; done
	clean "$T/err"
	same_holdings "$T/before"
	grown=$(($(kernel_kb) - kb))
	echo "# $nr runs: the kernel uses $grown KB more of $kb" >&3
	# A page for each run would be 4 KB; here others may take what they want.
	[ -z "${PLACE:-}" ] || [ $grown -lt $((nr > 200 ? nr * 2 : 400)) ]
}
