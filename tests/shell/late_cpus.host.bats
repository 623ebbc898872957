#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# Sessions that start when a CPU is there for which the leader has no room: it was added later. Here the session that
# makes the leader has a sysfs without CPU 1.

load helpers
load shared

requirements() {
	require_root
	[ "$(nproc)" -gt 1 ] || skip_or_fail "needs two CPUs"
}

# small_leader : start a session for which there is only CPU 0
small_leader() {
	make_sysfs 0 0
	SYSFS_PATH=$sysfs start_run small -a -e page-faults
}

late="CPU 1 was added after the first session began"

# counts_faults OPTION... : with these options, 300 page faults on CPU 1 are counted, and perhaps those of others there.
# Messages go to $T/err
counts_faults() {
	shared -x, -o "$T/out" -e page-faults "$@" taskset -c 1 "$WORKLOADS/faults" 300 2>"$T/err"
	[ "$(field page-faults 1 "$T/out")" -ge 300 ]
}

# private OPTION... : the same, by the session's own events
private() {
	counts_faults "$@"
	diff - "$T/err" <<<"perf stat: $late: counting with events of this session's own"
}

@test "a session that needs a CPU that was added later counts with events of its own" {
	small_leader
	private
	# taskset and the start of the program have less than 300.
	in_range "$(field page-faults 1 "$T/out")" 300 600
	private -C 1
	private -a
	shared -x, -o "$T/out" -a -A -e page-faults taskset -c 1 "$WORKLOADS/faults" 300 2>"$T/err"
	[ "$(awk -F, '$1 == "CPU1" { print $2 }' "$T/out")" -ge 300 ]
	end_run "$run_pid" INT 130
	is_silent "$T/small.err"
	# Once they have all ended, the next leader counts it.
	wait_for no_leader
	counts_faults -a
	is_silent "$T/err"
}

@test "a session that does not need that CPU shares" {
	small_leader
	shared -x, -o "$T/out" -C 0 -e page-faults taskset -c 0 "$WORKLOADS/faults" 300 2>"$T/err"
	[ "$(field page-faults 1 "$T/out")" -ge 300 ]
	is_silent "$T/err"
	end_run "$run_pid" INT 130
}

@test "a profile of that CPU samples with events of its own" {
	small_leader
	perf profile --bpf-attr-map "$ATTR_MAP" -C 1 -e cpu-clock -c 100000 -s cpu -- taskset -c 1 \
		"$WORKLOADS/spin" 10000000 >"$T/profile" 2>"$T/err"
	grep -qx "perf profile: $late: sampling with events of this session's own" "$T/err"
	grep -q ' 100.00% .* 1$' "$T/profile" || { cat "$T/profile" >&2; return 1; }
	perf profile --bpf-attr-map "$ATTR_MAP" -C 0 -e cpu-clock -- true >"$T/profile" 2>"$T/err"
	refute grep "$late" "$T/err"
	end_run "$run_pid" INT 130
}

@test "perf bperf verify compares nothing meanwhile" {
	small_leader
	refute perf bperf verify --bpf-attr-map "$ATTR_MAP" -e page-faults 2>"$T/err"
	diff - "$T/err" <<<"perf bperf: $late: nothing can be compared"
	end_run "$run_pid" INT 130
}
