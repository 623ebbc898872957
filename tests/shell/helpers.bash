# SPDX-License-Identifier: GPL-2.0
# What the test files share. On this machine perf and the workloads are those of the build ($O);
# in an emulated one tests/vm puts perf into PATH and sets WORKLOADS.

if [ -z "${WORKLOADS:-}" ]; then
	root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
	O=${O:-build/$(uname -m)}
	case $O in /*) ;; *) O=$root/$O ;; esac
	WORKLOADS=$O/workloads
	PATH=$O:$PATH
fi
export LC_ALL=C

# Each test has a map of its own, so that tests and other users of the machine never meet.
setup() {
	ATTR_MAP=/sys/fs/bpf/perf_test_$$_$BATS_TEST_NUMBER
	jobs_started=()
}

teardown() {
	local pid
	for pid in "${jobs_started[@]}"; do
		kill -KILL "$pid" 2>/dev/null || :
	done
	wait 2>/dev/null || :
	rm -f "$ATTR_MAP"
	[ ! -d "${ATTR_MAP}_lock" ] || rmdir "${ATTR_MAP}_lock"
}

# shared OPTION... : perf stat with shared counters and this test's map, counts as CSV to
# $BATS_TEST_TMPDIR/NAME when given as the first word out=NAME, else to stderr.
shared() {
	perf stat --bpf-counters --bpf-attr-map "$ATTR_MAP" "$@"
}

# background OUT COMMAND... : start it; its pid is $!, its messages go to OUT.
# SIGINT works on it (background jobs of a script would ignore it).
background() {
	local out=$1
	shift
	setsid env --default-signal=INT "$@" >"$out" 2>&1 3>&- &
	jobs_started+=($!)
}

# wait_for CONDITION... : until the command succeeds; fails after many tries.
wait_for() {
	local tries
	for ((tries = 0; tries < 1000; tries++)); do
		! "$@" >/dev/null 2>&1 || return 0
		sleep 0.02
	done
	echo "never true: $*" >&2
	return 1
}

# field EVENT N FILE : the N-th field of an event's row of CSV (1: value, 2: unit, 3: event, 4: run
# time, 5: share)
field() {
	awk -F, -v event="$1" -v n="$2" '$3 == event { print $n; exit }' "$3"
}

# within A B PERCENT : A differs from B by at most that
within() {
	awk -v a="$1" -v b="$2" -v p="$3" 'BEGIN {
		d = a > b ? a - b : b - a
		if (a == "" || b == "" || a !~ /^[0-9.]+$/ || b !~ /^[0-9.]+$/ || d > b * p / 100) {
			print "not within " p " %: " a " and " b > "/dev/stderr"
			exit 1
		}
	}'
}

# in_range X LOW HIGH
in_range() {
	awk -v x="$1" -v low="$2" -v high="$3" 'BEGIN {
		if (x !~ /^[0-9.]+$/ || x + 0 < low + 0 || x + 0 > high + 0) {
			print x " is not between " low " and " high > "/dev/stderr"
			exit 1
		}
	}'
}

# nr_runs : how many runs share events through this test's map
nr_runs() {
	perf bperf list --bpf-attr-map "$ATTR_MAP" | sed -n 's/^\([0-9]*\) runs share.*/\1/p'
}

has_runs() {
	[ "$(nr_runs)" = "$1" ]
}

# leader_objects : programs, maps and links of any leader and run
leader_objects() {
	local bpftool=/usr/sbin/bpftool
	$bpftool -j prog show | jq -r '.[] | select(.name == "on_switch" or .name == "on_sync") | "prog \(.id) \(.name)"'
	$bpftool -j map show | jq -r '.[] | select(.name == "registry" or .name == "readings" or
		.name == "perf_shared_v0" or .name == "perf_run") | "map \(.id) \(.name)"'
	$bpftool -j link show | jq -r '.[] | select(.tp_name == "sched_process_hang") | "link \(.id)"'
}

no_leader_objects() {
	[ -z "$(leader_objects)" ]
}

# entries : how many the attr map has
entries() {
	/usr/sbin/bpftool -j map dump pinned "$ATTR_MAP" | jq length
}
