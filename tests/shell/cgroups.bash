# SPDX-License-Identifier: GPL-2.0
# For tests of counting by cgroup: a tree of its own for each test. Loaded after helpers and shared.

# top : where the cgroups that perf counts are mounted
cgroup_mount() {
	awk '$(NF - 2) == "cgroup" && $NF ~ /(^|,)perf_event(,|$)/ { v1 = $5 }
		$(NF - 2) == "cgroup2" { v2 = $5 }
		END { print v1 == "" ? v2 : v1 }' /proc/self/mountinfo
}

# make_top : $top is a new cgroup, $mount the top of all
make_top() {
	mount=$(cgroup_mount)
	[ -n "$mount" ]
	name=perf_test_$$_$BATS_TEST_NUMBER
	top=$mount/$name
	mkdir "$top"
}

# remove_top : with all below it; who is in it ends
remove_top() {
	[ -n "${top:-}" ] && [ -d "$top" ] || return 0
	local dir pid tries
	for ((tries = 0; tries < 100; tries++)); do
		while read -r dir; do
			while read -r pid; do kill -KILL "$pid" 2>/dev/null || :; done <"$dir/cgroup.procs"
			rmdir "$dir" 2>/dev/null || :
		done < <(find "$top" -depth -type d 2>/dev/null)
		[ -d "$top" ] || return 0
		sleep 0.05
	done
	echo "left behind: $top" >&2
	return 1
}

# chain NR : a path of so many cgroups below $top, made: c1/c2/...
chain() {
	local i path=$top
	for ((i = 1; i <= $1; i++)); do path+=/c$i; done
	mkdir -p "$path"
	echo "$path"
}

# work_in ITER DIR... : a process in each of these, all at once
work_in() {
	local iter=$1
	shift
	"$WORKLOADS/in_cgroups" "$iter" "${@/%//cgroup.procs}"
}

# value EVENT CGROUP FILE : of CSV, the sum over its rows
value() {
	awk -F, -v event="$1" -v cgroup="$2" '
		{ for (i = 3; i <= 4; i++)
			if ($(i) == event && $(i + 1) == cgroup && $(i - 2) ~ /^[0-9.]+$/) sum += $(i - 2) }
		END { printf "%.2f\n", sum }' "$3"
}

# same_state FILE : the leader's tables are as they were then
same_state() {
	wait_for is_same_state "$1" || { state | diff "$1" - >&2; return 1; }
}

is_same_state() {
	state | cmp -s "$1" -
}
