#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# The memory that the leader's maps take of the kernel, as bpftool reports it.

load helpers
load shared
load cgroups

requirements() {
	require_root
	[ -x /usr/sbin/bpftool ] || skip_or_fail "no bpftool"
}

teardown() {
	end_jobs
	remove_top
	remove_map
}

# maps NAME : a session's maps, as a list of JSON
maps() {
	local id
	for id in $(sed -n 's/^map_id:[[:blank:]]*//p' "/proc/${run_pid[$1]}"/fdinfo/* | sort -u); do
		/usr/sbin/bpftool -j map show id "$id" || echo "no JSON"
	done | jq -s .
}

# fixed_bytes NAME : the bytes of a session's maps, but for those that have an entry for each CPU
fixed_bytes() {
	maps "$1" | jq '[.[] | select(.name | IN("cpus", "readings", "events", "task_slices") | not) | .bytes_memlock] | add'
}

# chunks NAME : the chunks of a session's sums, as a list of JSON. They are in a map of maps: no session
# holds a descriptor of one.
chunks() {
	local sums id
	sums=$(maps "$1" | jq '.[] | select(.name == "sums") | .id')
	for id in ${sums:+$(/usr/sbin/bpftool -j map dump id "$sums" |
		jq -r '.[].value | arrays | reverse | map(ltrimstr("0x")) | "0x" + add')}; do
		/usr/sbin/bpftool -j map show id $((id)) || echo "no JSON"
	done | jq -s .
}

# carries NAME : the maps of carry cells, as a list of JSON. A program that the session holds keeps them.
carries() {
	local id
	for id in $(cat "/proc/${run_pid[$1]}"/fdinfo/* | sed -n 's/^prog_id:[[:blank:]]*//p' | sort -u |
		xargs -n 1 /usr/sbin/bpftool -j prog show id | jq '.map_ids[]' | sort -u); do
		/usr/sbin/bpftool -j map show id "$id" || echo "no JSON"
	done | jq -s '[.[] | select(.name == "carries")]'
}

# cpu_bytes NAME : the bytes of a session's maps for each possible CPU, with one perf event. The rest of a
# page behind a map is not counted: on machines with many CPUs it is nothing.
cpu_bytes() {
	{ maps "$1" && chunks "$1" && carries "$1"; } | jq -s add |
		jq --argjson nr "$(getconf _NPROCESSORS_CONF)" --argjson event "$(perf_event_bytes)" '
		[.[] | select(.type == "array" and .max_entries == $nr) | .bytes_value] as $tables |
		[.[] | select(.name == "events") | 8 * .max_entries / $nr] as $pointers |
		($tables + $pointers + [$event] | add)'
}

# perf_event_bytes : the size of the kernel's struct
perf_event_bytes() {
	local bytes
	bytes=$(awk '$1 == "perf_event" { print $4 }' /proc/slabinfo)
	# Before Linux 5.15 they lie among other objects of 2 KB.
	echo "${bytes:-2048}"
}

# without_tasks NAME : a session holds none of the maps that only sessions of tasks or cgroups need
without_tasks() {
	maps "$1" | jq -e 'all(.[]; .name | IN("scope_sets", "sets", "tasks", "buckets", "cgroups", "cgroup_ids") | not)'
}

@test "each CPU takes less than 24 KB to count CPUs, and less than 40 KB to count tasks" {
	window cpus --bpf-counters -a -e page-faults
	maps cpus >&2
	in_range "$(cpu_bytes cpus)" 20000 24000
	window tasks --bpf-counters -e page-faults sleep infinity
	{ maps tasks && chunks tasks; } >&2
	[ "$(chunks tasks | jq length)" = 1 ]
	in_range "$(cpu_bytes tasks)" 30000 40000
	[ "$(carries tasks | jq length)" = 0 ]
	# The counts of tasks that two sessions count are carried over when one of them ends.
	window more --bpf-counters -e page-faults -p "${run_pid[tasks]}"
	window most --bpf-counters -e page-faults -p "${run_pid[tasks]}"
	finish most
	carries tasks >&2
	[ "$(carries tasks | jq length)" = 1 ]
	in_range "$(cpu_bytes tasks)" 30000 40000
	finish more tasks cpus
	wait_for no_leader
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

@test "more cells come in steps, so that sessions seldom wait for them" {
	make_top
	mkdir "$top"/{1..99}
	window some --bpf-counters -a -e page-faults,cs,task-clock,cpu-clock --for-each-cgroup "glob:$name/[1-9]"
	# Nine scope sets of four events
	[ "$(chunks some | jq length)" = 1 ]
	window more --bpf-counters -a -e page-faults,cs,task-clock,cpu-clock --for-each-cgroup "glob:$name/[123]?"
	[ "$(chunks more | jq length)" = 2 ]
	window most --bpf-counters -a -e page-faults,cs,task-clock,cpu-clock --for-each-cgroup "glob:$name/[4-8]?"
	[ "$(chunks most | jq length)" = 4 ]
	window all --bpf-counters -a -e page-faults,cs,task-clock,cpu-clock --for-each-cgroup "glob:$name/*"
	[ "$(chunks all | jq length)" = 8 ]
	finish all most more some
	wait_for no_leader
}

@test "sums ready for new cgroups take less than 8 MB on 256 CPUs, before one comes" {
	make_top
	mkdir "$top/w"
	# As many as there would be, of 4 MB. Without a limit they take 50 MB.
	PERF_TEST_READY_BYTES=$((4 * 1024 * 1024 * $(getconf _NPROCESSORS_CONF) / 256)) \
		window follows --bpf-counters -a -I 100000 --for-each-cgroup "glob:$name/w*" \
		-e page-faults,cs,task-clock,cpu-clock,minor-faults,major-faults,migrations,cgroup-switches
	in_range $(($(chunks follows | jq length) * $(chunks follows | jq '.[0].bytes_value') * 256)) 4000000 8000000
	finish follows
	wait_for no_leader
}
