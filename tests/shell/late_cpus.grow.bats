#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# A machine with room for more CPUs, which it gets while sessions count.

load helpers
load shared

requirements() {
	require_root
	[ "$(</sys/devices/system/cpu/possible)" = 0-15 ] || skip "this kernel has no room for more CPUs"
}

late="CPU 2 was added after the first session began"

@test "CPUs that could be added take no memory" {
	[ "$(</sys/devices/system/cpu/present)" = 0-1 ]
	start_run cpus -a -e page-faults
	[ "$(/usr/sbin/bpftool -j map show | jq -c '[.[] | select(.name | IN("readings", "cpus")) | .max_entries]')" = "[2,2]" ]
	end_run "$run_pid" INT 130
}

# add_cpu2 : once there, it stays for the tests to come
add_cpu2() {
	local cpu=/sys/devices/system/cpu/cpu2
	[ -e $cpu ] || echo "device_add qemu64-x86_64-cpu,socket-id=2,core-id=0,thread-id=0" >/dev/vport0p4
	wait_for test -e $cpu/online
	echo 1 >$cpu/online
}

@test "a CPU that is added while sessions count is reported until all have ended" {
	local name faults
	declare -A pid
	perf stat -x, -o "$T/plain" -e page-faults:u "$WORKLOADS/faults" 300
	faults=$(field page-faults:u 1 "$T/plain")
	for name in "cpus -a" "cpu0 -C 0" "tasks -p $$" "cgroups -a --for-each-cgroup /"; do
		# shellcheck disable=SC2086 # NAME OPTION...
		start_run $name -e page-faults
		pid[${name%% *}]=$run_pid
	done
	background "$T/profile.err" perf profile --bpf-attr-map "$ATTR_MAP" -a -e cpu-clock -o "$T/profile"
	wait_for is_listed $!
	pid[profile]=$!
	wait_for has_text poll "/proc/$!/wchan"
	add_cpu2
	for name in cpus tasks cgroups profile; do
		wait_for grep -q "$late" "$T/$name.err"
	done
	# A new session that needs it does not share.
	shared -x, -o "$T/out" -e page-faults:u taskset -c 2 "$WORKLOADS/faults" 300 2>"$T/err"
	grep -qx "perf stat: $late: counting with events of this session's own" "$T/err"
	# Until it executes the program, taskset has less than 200.
	in_range "$(field page-faults:u 1 "$T/out")" "$faults" $((faults + 200))
	for name in "${!pid[@]}"; do
		kill -INT "${pid[$name]}"
		wait "${pid[$name]}" || :
	done
	for name in cpus tasks cgroups; do
		diff - "$T/$name.err" <<<"perf stat: $late: it is not counted until all sessions have ended"
	done
	grep -qx "perf profile: $late: it is not sampled until all sessions have ended" "$T/profile.err"
	is_silent "$T/cpu0.err"
	wait_for no_leader
	shared -x, -o "$T/out" -a -A -e page-faults taskset -c 2 "$WORKLOADS/faults" 300 2>"$T/err"
	is_silent "$T/err"
	# Others have faults there, too.
	[ "$(awk -F, '$1 == "CPU2" { print $2 }' "$T/out")" -ge 300 ]
}
