# SPDX-License-Identifier: GPL-2.0
# Helpers for tests in which a memory cgroup is full. Load it after helpers.

# require_full_memory : memory cgroups of version 1, whose limit can be what is in use
require_full_memory() {
	[ -d /sys/fs/cgroup/memory ] || skip_or_fail "no memory controller of version 1"
}

# little_cgroup : $little is a new memory cgroup, $limit and $usage are its files
little_cgroup() {
	little=/sys/fs/cgroup/memory/perf_test_$$_$BATS_TEST_NUMBER
	mkdir "$little"
	limit=$little/memory.limit_in_bytes usage=$little/memory.usage_in_bytes
}

# fill PID : this process, which loaded the leader in $little, leaves it, and it becomes full: what the process has
# charged stays where it was. The kernel could otherwise end the process for want of memory.
fill() {
	echo "$1" >/sys/fs/cgroup/memory/cgroup.procs
	wait_for is_full
}

# is_full : nothing more can be charged there, and nothing that is freed late makes room. Version 1 takes
# no limit below what is in use, but gives back what CPUs have charged in advance before it refuses that.
is_full() {
	local before i
	before=$(<"$usage")
	for ((i = 0; i < 10; i++)); do
		echo 0 >"$limit" || :
		cat "$usage" >"$limit" || return 1
		nap
	done
	[ "$(<"$usage")" = "$before" ]
}
