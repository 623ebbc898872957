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
export LC_ALL=C PERF_CONFIG=/dev/null

# A pipe that nobody writes to. Here and not later, because it changes $!
exec {never}<> <(:)

# requirements : what each test of a file needs, by require_* and skip_or_fail, which do not work in
# setup_file; a file that needs something has its own, or calls them in its own setup
requirements() {
	:
}

# Each test has a map of its own, so that tests and other users of the machine never meet; where
# shared.bash keeps a leader, each file.
setup() {
	ATTR_MAP=${KEPT_MAP:-/sys/fs/bpf/perf_test_$$_$BATS_TEST_NUMBER}
	jobs_started=()
	# Now: it sets $!, which tests may read after they have waited.
	[ -n "${never:-}" ] || exec {never}<> <(:)
	requirements
}

teardown() {
	end_jobs
	[ -n "${KEPT_MAP:-}" ] || remove_map
}

# end_jobs : whatever the test has started is over
end_jobs() {
	local pid
	for pid in "${jobs_started[@]}"; do
		# background's have a process group, with commands that outlived a killed perf
		kill -KILL -- "-$pid" "$pid" 2>/dev/null || :
	done
	wait 2>/dev/null || :
	jobs_started=()
}

remove_map() {
	[ ! -d "$ATTR_MAP" ] || rmdir "$ATTR_MAP"
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
	# At once: what is waited for there is not what another said before.
	: >"$out"
	setsid env --default-signal=INT "$@" >"$out" 2>&1 3>&- &
	jobs_started+=($!)
}

# wait_for CONDITION... : until the command succeeds; fails after many tries.
wait_for() {
	local tries
	for ((tries = 0; tries < 1000; tries++)); do
		! "$@" >/dev/null 2>&1 || return 0
		nap
	done
	echo "never true: $*" >&2
	return 1
}

# nap : sleep for a moment, without a process that an emulated machine would have to execute
nap() {
	read -r -t 0.02 -u "$never" || :
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
	perf bperf list --bpf-attr-map "$ATTR_MAP" | sed -n 's/^\([0-9]*\) runs\{0,1\} shares\{0,1\} .*/\1/p'
}

has_runs() {
	[ "$(nr_runs)" = "$1" ]
}

# leader_objects : programs, maps and links of any leader and run
leader_objects() {
	"$WORKLOADS/leader_objects"
}

no_leader_objects() {
	[ -z "$(leader_objects)" ]
}

# entries : how many the attr map has
entries() {
	/usr/sbin/bpftool map dump pinned "$ATTR_MAP" | grep -c '^key' || :
}

# our_objects : programs, maps and link of the leader that this test's map leads to, "KIND ID" a
# line; other tests and users have theirs at the same time.
our_objects() {
	local bpftool=/usr/sbin/bpftool link prog map
	link=$($bpftool -j map dump pinned "$ATTR_MAP" |
		jq '.[0].value | .[:4] | map(ltrimstr("0x")) | reverse | join("")' | tr -d '"')
	[ -n "$link" ] || return 1
	link=$((16#$link))
	prog=$($bpftool -j link show id "$link" | jq .prog_id)
	echo "link $link"
	# on_sync has no link: the programs that share a map with on_switch.
	for map in $($bpftool -j prog show id "$prog" | jq '.map_ids[]'); do
		echo "map $map"
		$bpftool -j prog show | jq -r --argjson map "$map" \
			'.[] | select(.map_ids | index($map)) | "prog \(.id)"'
	done | sort -u
}

# are_gone FILE : none of the objects that our_objects wrote there exists any more
are_gone() {
	local kind id
	while read -r kind id; do
		! /usr/sbin/bpftool "$kind" show id "$id" >/dev/null 2>&1 || return 1
	done <"$1"
}

# require_perf_events [cpu] : perf events of one's own tasks, or of CPUs, may be opened here
require_perf_events() {
	local status=0
	"$WORKLOADS/may_count" "$@" || status=$?
	[ $status != 77 ] || skip_or_fail "perf events${1:+ of CPUs} are not permitted here"
	return $status
}

# require_root
require_root() {
	[ "$(id -u)" = 0 ] || skip_or_fail "needs root"
}

# require_commands NAME... : all of them are there
require_commands() {
	local name
	for name; do
		PATH=$PATH:/usr/sbin:/sbin command -v "$name" >/dev/null || skip_or_fail "needs $name"
	done
}

# require_tracepoints
require_tracepoints() {
	[ -r /sys/kernel/tracing/events/sched/sched_switch/id ] || skip_or_fail "no tracepoints"
}

# require_debian_perf : sets DEBIAN_PERF, the path of a perf 6.1 to compare with
require_debian_perf() {
	local path
	while read -r path; do
		case $("$path" --version 2>/dev/null) in
		"perf version 6.1."*) DEBIAN_PERF=$path ;;
		esac
	done < <(type -ap perf)
	[ "${DEBIAN_PERF:-}" ] || skip_or_fail "no perf 6.1 here (Debian 12: linux-perf)"
}

skip_or_fail() {
	[ "${STRICT:-0}" != 1 ] || { echo "$1" >&2; return 1; }
	skip "$1"
}

# refute COMMAND... : it must fail; a bare "!" would not end the test
refute() {
	! "$@" || { echo "not expected to succeed: $*" >&2; return 1; }
}

# as_nobody COMMAND... : as a user who may do nothing
as_nobody() {
	setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps=-all "$@"
}

# refused STATUS COMMAND... : fails with that status and prints, on stderr and nothing on stdout,
# exactly the lines of standard input
refused() {
	local status=$1 got=0
	shift
	"$@" >"$BATS_TEST_TMPDIR/refused.out" 2>"$BATS_TEST_TMPDIR/refused.err" 3>&- || got=$?
	diff -u - "$BATS_TEST_TMPDIR/refused.err" >&2
	[ ! -s "$BATS_TEST_TMPDIR/refused.out" ]
	[ "$got" = "$status" ] || { echo "status $got, not $status" >&2; return 1; }
}

# fails_with STATUS LINE COMMAND... : the same for the first line alone
fails_with() {
	local status=$1 line=$2 got=0 first
	shift 2
	"$@" >/dev/null 2>"$BATS_TEST_TMPDIR/fails.err" 3>&- || got=$?
	first=$(head -n 1 "$BATS_TEST_TMPDIR/fails.err")
	[ "$first" = "$line" ] || { printf 'said: %s\nnot:  %s\n' "$first" "$line" >&2; return 1; }
	[ "$got" = "$status" ] || { echo "status $got, not $status" >&2; return 1; }
}

# killed_at STEP COMMAND... : it is killed there, and in no other way; STEP is a name in tests/data/steps
killed_at() {
	local step=$1 status=0 err=$BATS_TEST_TMPDIR/killed.err
	shift
	PERF_TEST_KILL_AT=$step "$@" >/dev/null 2>"$err" 3>&- || status=$?
	was_killed "$step" "$status" "$err"
}

# was_killed STEP STATUS ERR : by the status of a run, and what it said
was_killed() {
	[ "$2" = 137 ] && grep -qx "killed at $1" "$3" && return
	echo "not killed at $1: status $2" >&2
	cat "$3" >&2
	return 1
}

# start_run NAME OPTION... : a run of shared counters in the background, $run_pid, its rows as CSV
# in $BATS_TEST_TMPDIR/NAME.csv, its messages in NAME.err; returns when it counts.
start_run() {
	local name=$1
	shift
	start_mixed_run "$name" --bpf-counters "$@"
}

# start_mixed_run NAME OPTION... : the same for a run that shares only events marked with b
start_mixed_run() {
	local name=$1
	shift
	background "$BATS_TEST_TMPDIR/$name.err" perf stat --bpf-attr-map "$ATTR_MAP" -x, \
		-o "$BATS_TEST_TMPDIR/$name.csv" "$@"
	run_pid=$!
	wait_for is_listed "$run_pid"
	# It waits for its end: all is set up.
	wait_for grep -q poll "/proc/$run_pid/wchan"
}

# is_listed PID : whether the leader knows this run
is_listed() {
	perf bperf list --bpf-attr-map "$ATTR_MAP" | awk -v pid="$1" '$1 == pid { found = 1 }
		END { exit !found }'
}

# end_run PID SIGNAL STATUS : ends so
end_run() {
	local status=0
	kill "-$2" "$1"
	wait "$1" || status=$?
	[ "$status" = "$3" ] || { echo "status $status, not $3" >&2; return 1; }
}

# nr_perf_events : how many perf events the runs of this test share
nr_perf_events() {
	perf bperf list --bpf-attr-map "$ATTR_MAP" |
		sed -n 's/^[0-9]* runs\{0,1\} shares\{0,1\} \([0-9]*\) perf event.*/\1/p'
}

# undisturbed NAME EVENT : the run counted EVENT, nanoseconds or cycles of CPUs of the emulated PMU,
# all the time, in each of its intervals, and said nothing
undisturbed() {
	local file=$BATS_TEST_TMPDIR/$1
	if [ -s "$file.err" ]; then
		echo "$1 said: $(cat "$file.err")" >&2
		return 1
	fi
	# Where time is this machine's, and not emulated, some of it may pass between two clocks.
	awk -F, -v name="$1" -v event="$2" -v pause="$([ "${PLACE:-}" = amd ] && echo 2000000)" -v OFS=, '
	/^#/ || NF < 4 { next }
	{ i = $3 == event ? 1 : $4 == event ? 2 : 0 }
	!i { next }
	{
		value = $(i)
		slack = $(i + 3) * 0.001 + pause
		if ($(i + 1) == "msec") {	# printed with two digits after the point
			value *= 1e6
			slack += 10000
		}
		rows++
		if ($(i + 4) != "100.00") {
			print name ": share of " $(i + 4) ": " $0
			bad = 1
		} else if ($(i + 3) <= 0 || value < $(i + 3) - slack || value > $(i + 3) + slack) {
			print name ": counted " value " in " $(i + 3) " ns: " $0
			bad = 1
		}
	}
	END { if (!rows) print name ": no rows"; exit bad || !rows }' "$file.csv" >&2
}
