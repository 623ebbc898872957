# SPDX-License-Identifier: GPL-2.0
# Helpers for tests of counting by cgroup: each test has a tree of its own. Load it after helpers and
# shared.

# cgroup_mount : print the mount point of the cgroups that perf counts: the first one of the best kind
cgroup_mount() {
	awk '
		{ rank = 0 }
		$(NF - 2) == "cgroup2" { rank = 1 }
		$(NF - 2) == "cgroup" && $NF ~ /(^|,)perf_event(,|$)/ { rank = 3 }
		rank && $4 == "/" { rank++ }
		rank > best { best = rank; mount = $5 }
		END { print mount }' /proc/self/mountinfo
}

# make_top : make a cgroup $top below $mount, the root of the hierarchy
make_top() {
	own_the_tasks
	mount=$(cgroup_mount)
	[ -n "$mount" ]
	name=perf_test_$$_$BATS_TEST_NUMBER
	top=$mount/$name
	mkdir "$top"
}

# remove_top : kill all processes in $top, and remove it with all cgroups below it
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

# chain NR : make NR nested cgroups below $top, c1/c2/..., and print the path of the last
chain() {
	local i path=$top
	for ((i = 1; i <= $1; i++)); do path+=/c$i; done
	mkdir -p "$path"
	echo "$path"
}

# work_in ITER DIR... : run a process in each of these cgroups, all at once
work_in() {
	local iter=$1
	shift
	"$WORKLOADS/in_cgroups" "$iter" "${@/%//cgroup.procs}"
}

# names FILE : print the cgroups of CSV, in order, each once
names() {
	awk -F, 'NF > 6 && !seen[$4]++ { printf "%s%s", n++ ? " " : "", $4 }' "$1"
}

# no_leader : this test's map has no leader; other maps may have theirs
no_leader() {
	! state >/dev/null 2>&1
}

# value EVENT CGROUP FILE : print the sum of this event's and cgroup's rows of CSV
value() {
	awk -F, -v event="$1" -v cgroup="$2" '
		{ for (i = 3; i <= 4; i++)
			if ($(i) == event && $(i + 1) == cgroup && $(i - 2) ~ /^[0-9.]+$/) sum += $(i - 2) }
		END { printf "%.2f\n", sum }' "$3"
}

# add_up FILE NR PATTERN ALL : in this CSV of intervals of one event, NR different cgroups match PATTERN,
# and their counts sum up to ALL
add_up() {
	awk -F, -v nr="$2" -v pattern="$3" -v all="$4" '
		$5 ~ pattern && $2 ~ /^[0-9]+$/ { sum += $2; if (!seen[$5]++) n++ }
		END { print n " cgroups: " sum " of " all; exit n != nr || !sum || sum != all + 0 }' "$1" >&2
}

# same_state FILE : the leader's tables are as in FILE again
same_state() {
	wait_for is_same_state "$1" || { state | diff "$1" - >&2; return 1; }
}

is_same_state() {
	state | cmp -s "$1" -
}

# has_interval NAME : the session has printed an interval
has_interval() {
	[ "$(grep -c '^ *[0-9]' "$BATS_TEST_TMPDIR/$1.csv")" -ge 1 ]
}
