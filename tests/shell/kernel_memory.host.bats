#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# The memory that the leader's maps take of the kernel, as bpftool reports it.

load helpers
load shared

requirements() {
	require_root
	[ -x /usr/sbin/bpftool ] || skip_or_fail "no bpftool"
}

teardown() {
	end_jobs
	remove_map
}

# maps NAME : a session's maps, as a list of JSON
maps() {
	local id
	for id in $(sed -n 's/^map_id:[[:blank:]]*//p' "/proc/${run_pid[$1]}"/fdinfo/* | sort -u); do
		/usr/sbin/bpftool -j map show id "$id"
	done | jq -s .
}

# fixed_bytes NAME : the bytes of a session's maps, but for those that have an entry for each CPU
fixed_bytes() {
	maps "$1" | jq '[.[] | select(.name | IN("cpus", "readings", "events") | not) | .bytes_memlock] | add'
}

# without_tasks NAME : a session holds none of the maps that only sessions of tasks or cgroups need
without_tasks() {
	maps "$1" | jq -e 'all(.[]; .name | IN("scope_sets", "sets", "tasks", "buckets", "cgroups", "cgroup_ids") | not)'
}

@test "counting CPUs takes less than 2 MB of the kernel, and counting tasks less than 4 MB" {
	window cpus --bpf-counters -a -e page-faults
	maps cpus >&2
	# The registry is the largest. Less would be a mistake here.
	in_range "$(fixed_bytes cpus)" 500000 2000000
	without_tasks cpus
	window tasks --bpf-counters -e page-faults sleep infinity
	maps tasks >&2
	in_range "$(fixed_bytes tasks)" 2000000 4000000
	# A session that comes later to a leader that has all maps holds those that it needs.
	window more --bpf-counters -a -e page-faults
	without_tasks more
	finish more tasks cpus
	wait_for no_leader
}
