#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# The memory that the leader's maps take of the kernel, as bpftool reports it.

load helpers
load shared
load cgroups
# shellcheck source=scripts/costs.d/memory
. "$BATS_TEST_DIRNAME/../../scripts/costs.d/memory"

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
	maps "$1" | jq '[.[] | select(.name | IN("cpus", "readings", "events", "task_slices", "sample_cpus", "sample_events",
		"perf_samples") | not) | .bytes_memlock] | add'
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

# cpu_bytes NAME : the bytes of a session's maps for each CPU, with one perf event. The rest of a
# page behind a map is not counted: on machines with many CPUs it is nothing.
cpu_bytes() {
	{ maps "$1" && chunks "$1" && carries "$1"; } | jq -s add |
		jq --argjson nr "$(nr_cpus)" --argjson event "$(perf_event_bytes)" '
		[.[] | select(.type == "array" and .max_entries == $nr) | .bytes_value] as $tables |
		[.[] | select(.name | IN("events", "sample_events")) | 8 * .max_entries / $nr] as $pointers |
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
	# 24 KB were ordered. The tables alone take the lower bound, here and below.
	in_range "$(cpu_bytes cpus)" "$memory_cpus" 24000
	window tasks --bpf-counters -e page-faults sleep infinity
	{ maps tasks && chunks tasks; } >&2
	[ "$(chunks tasks | jq length)" = 1 ]
	in_range "$(cpu_bytes tasks)" $((memory_cpus + memory_tasks)) 40000	# 40 KB were ordered
	[ "$(carries tasks | jq length)" = 0 ]
	# The counts of tasks that two sessions count are carried over when one of them ends.
	window more --bpf-counters -e page-faults -p "${run_pid[tasks]}"
	window most --bpf-counters -e page-faults -p "${run_pid[tasks]}"
	finish most
	carries tasks >&2
	[ "$(carries tasks | jq length)" = 1 ]
	in_range "$(cpu_bytes tasks)" $((memory_cpus + memory_tasks)) 40000	# the same
	finish more tasks cpus
	wait_for no_leader
}

# sizes NAME... : the numbers of entries of all arrays with one of these names, each once
sizes() {
	jq -c --arg names "$*" '[.[] | select(.name | IN($names | split(" ")[])) | .max_entries] | unique'
}

@test "CPUs that could be added take no memory" {
	local nr
	nr=$(nr_cpus)
	make_sysfs "$(</sys/devices/system/cpu/online)" 0-239
	echo "0-$((nr - 1))" >"$sysfs/devices/system/cpu/present"
	export SYSFS_PATH=$sysfs
	window cpus --bpf-counters -a -A -e page-faults
	window tasks --bpf-counters -e page-faults sleep infinity
	{ maps tasks && chunks tasks; } >&2
	[ "$(maps tasks | sizes cpus readings task_slices)" = "[$nr]" ]
	[ "$(maps tasks | sizes events)" = "[$((256 * nr))]" ]
	[ "$(chunks tasks | sizes sums)" = "[$nr]" ]
	finish tasks cpus
	# A CPU that is not there has no row.
	[ "$(grep -c ^CPU "$T/cpus.out")" = "$(nproc --all)" ]
	wait_for no_leader
}

@test "counting CPUs takes less than 2 MB of the kernel, and counting tasks less than 4 MB" {
	window cpus --bpf-counters -a -e page-faults
	maps cpus >&2
	# 2 MB were ordered. The registry is the largest, and less would be a mistake here.
	in_range "$(fixed_bytes cpus)" 500000 2000000
	without_tasks cpus
	window tasks --bpf-counters -e page-faults sleep infinity
	maps tasks >&2
	# 4 MB were ordered. Less than those of CPUs may take would be a mistake here.
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
	PERF_TEST_READY_BYTES=$((4 * 1024 * 1024 * $(nr_cpus) / 256)) \
		window follows --bpf-counters -a -I 100000 --for-each-cgroup "glob:$name/w*" \
		-e page-faults,cs,task-clock,cpu-clock,minor-faults,major-faults,migrations,cgroup-switches
	# 8 MB were ordered. 4 MB are to be ready, and come in whole chunks.
	in_range $(($(chunks follows | jq length) * $(chunks follows | jq '.[0].bytes_value') * 256)) 4000000 8000000
	finish follows
	wait_for no_leader
}

# private_bytes NAME : the memory of a session's process that no file and no map backs
private_bytes() {
	awk '$1 == "Anonymous:" { printf "%d", $2 * 1024 }' "/proc/${run_pid[$1]}/smaps_rollup"
}

@test "1,000 cgroups with 16 events take less than 320 MB on 256 CPUs, the kernel's memory and the session's" {
	local events list nr one all private slope kernel
	nr=$(nr_cpus)
	[ "$(nproc)" = "$nr" ] && [ "$nr" -gt 1 ] || skip_or_fail "one CPU, or some are offline"
	make_top
	mkdir "$top"/{1..1000}
	list=$(printf "$name/%s," {1..1000})
	events=page-faults,cs,task-clock,cpu-clock,minor-faults,major-faults,migrations,cgroup-switches
	# With the modifiers these are different events.
	events+=,cs:u,page-faults:u,minor-faults:u,major-faults:u,cs:k,page-faults:k,minor-faults:k,major-faults:k
	# As many values as there would be are too many to keep by CPU.
	export PERF_TEST_MAX_VALUES=$((1024 * 1024 * nr / 256))
	window one --bpf-counters -C 0 -e "$events" --for-each-cgroup "${list%,}"
	one=$(private_bytes one)
	finish one
	window all --bpf-counters -a -e "$events" --for-each-cgroup "${list%,}"
	all=$(private_bytes all)
	slope=$(((all - one) / (nr - 1)))
	kernel=$(cpu_bytes all) fixed=$(fixed_bytes all)
	private=$((all + (256 - nr) * slope))
	echo "each CPU $kernel and 15 perf events more, fixed $fixed; $one with one CPU, $all with $nr: $private" >&2
	# 320 MB were ordered, and the sums alone take 98.
	in_range $(((kernel + 15 * $(perf_event_bytes)) * 256 + fixed + private)) 98000000 320000000
	finish all
	wait_for no_leader
}

# late NAME OPTION... : a session that counts a pattern of cgroups, of which 999 come once it counts
late() {
	window "$@" --bpf-counters -e "$events" -I 500 --for-each-cgroup "glob:$name/*"
	tell "$1" enable
	mkdir "$top"/{2..1000}
	wait_for grep -q "$name/1000," "$T/$1.out"
	late=$(private_bytes "$1")
	finish "$1"
	rmdir "$top"/{2..1000}
}

@test "cgroups that come while a session counts take as little memory as those at its start" {
	local events late one nr
	nr=$(nr_cpus)
	[ "$(nproc)" = "$nr" ] && [ "$nr" -gt 1 ] || skip_or_fail "one CPU, or some are offline"
	make_top
	mkdir "$top/1"
	events=page-faults,cs,task-clock,cpu-clock,minor-faults,major-faults,migrations,cgroup-switches
	export PERF_TEST_MAX_VALUES=$((1024 * 1024 * nr / 256))
	late one -C 0
	one=$late
	late all -a
	# By CPU each value takes 100 bytes, on each CPU but one.
	echo "$one, $late" >&2
	[ $((late - one)) -lt $((1000 * 8 * 100 * (nr - 1) / 2)) ]
	wait_for no_leader
}

# is_about TERM BYTES : the bytes that are not per CPU are those of the term
is_about() {
	# The kernel's own part of each map differs by 2 % between releases.
	in_range "$2" $(($1 * 98 / 100)) $(($1 * 102 / 100))
}

@test "Documentation/costs.md computes with the memory that the leader takes" {
	local event events=page-faults,cs,task-clock,cpu-clock,minor-faults,major-faults,migrations,cgroup-switches per_cpu
	event=$(perf_event_bytes)
	make_top
	mkdir "$top"/{1..1000}
	window cpus --bpf-counters -a -e $events
	[ "$(cpu_bytes cpus)" = $((memory_cpus + event)) ]
	is_about "$memory_fixed_cpus" "$(fixed_bytes cpus)"
	finish cpus
	wait_for no_leader
	window tasks --bpf-counters -e $events sleep infinity
	[ "$(cpu_bytes tasks)" = $((memory_cpus + event + memory_tasks)) ]
	is_about "$memory_fixed_tasks" "$(fixed_bytes tasks)"
	finish tasks
	wait_for no_leader
	window few --bpf-counters -a -e $events --for-each-cgroup "$name/1,$name/2"
	per_cpu=$(cpu_bytes few)
	[ "$per_cpu" = $((memory_cpus + event + memory_tasks + memory_cgroups)) ]
	is_about "$memory_fixed_cgroups" "$(fixed_bytes few)"
	finish few
	wait_for no_leader
	window many --bpf-counters -a -e $events --for-each-cgroup "glob:$name/*"
	# No more than with all that lay ready before, and no less than all cells
	in_range "$(cpu_bytes many)" $((per_cpu - memory_cgroups + memory_cell * 8000)) $((per_cpu + memory_cell * 8000))
	finish many
	wait_for no_leader
	background "$T/samples" perf profile --bpf-attr-map "$ATTR_MAP" -a -e cpu-clock
	run_pid[samples]=$!
	wait_for polls "${run_pid[samples]}"
	maps samples >&2
	[ "$(cpu_bytes samples)" = $((memory_cpus + event + memory_samples + memory_profile)) ]
	is_about "$memory_fixed_samples" "$(fixed_bytes samples)"
	kill -INT "${run_pid[samples]}"
	wait "${run_pid[samples]}"
	wait_for no_leader
}
