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
	local tries
	for ((tries = 0; tries < 100; tries++)); do
		xargs -r kill -KILL 2>/dev/null < <(find "$top" -name cgroup.procs -exec cat {} +) || :
		find "$top" -depth -type d -exec rmdir {} + 2>/dev/null || :
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

# names FILE : the cgroups of CSV, in order, each once
names() {
	awk -F, 'NF > 6 && !seen[$4]++ { printf "%s%s", n++ ? " " : "", $4 }' "$1"
}

# no_leader : for this test's map; others may have theirs
no_leader() {
	! state >/dev/null 2>&1
}

# value EVENT CGROUP FILE : of CSV, the sum over its rows
value() {
	awk -F, -v event="$1" -v cgroup="$2" '
		{ for (i = 3; i <= 4; i++)
			if ($(i) == event && $(i + 1) == cgroup && $(i - 2) ~ /^[0-9.]+$/) sum += $(i - 2) }
		END { printf "%.2f\n", sum }' "$3"
}

# add_up FILE NR PATTERN ALL : in this CSV of intervals of one event, NR different cgroups that match
# have counted ALL together
add_up() {
	awk -F, -v nr="$2" -v pattern="$3" -v all="$4" '
		$5 ~ pattern && $2 ~ /^[0-9]+$/ { sum += $2; if (!seen[$5]++) n++ }
		END { print n " cgroups: " sum " of " all; exit n != nr || !sum || sum != all + 0 }' "$1" >&2
}

# same_state FILE : the leader's tables are as they were then
same_state() {
	wait_for is_same_state "$1" || { state | diff "$1" - >&2; return 1; }
}

is_same_state() {
	state | cmp -s "$1" -
}
