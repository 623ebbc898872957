#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# perf stat record and report, of CPUs and of shared counters; the rest is in record.user.bats.

load helpers
load record

setup() {
	require_root
	require_perf_events cpu
	require_commands setpriv
	cd "$BATS_TEST_TMPDIR"
	ATTR_MAP=/sys/fs/bpf/perf_test_$$_$BATS_TEST_NUMBER
	jobs_started=()
}

@test "a report prints the same as the session, in every breakdown" {
	same_again -a true
	local mode
	for mode in -A --per-core --per-die --per-socket --per-node --per-cluster --per-cache --per-cache=L1; do
		same_again -a $mode -e cs,cpu-clock true
	done
	same_again -C 0 -e '{cs,cpu-clock}' -e duration_time true
	same_again -a -A -I 20 -e cs,page-faults sleep 0.05
	same_again -a --per-core -I 20 -e cs sleep 0.05
	same_again -a --metric-only -M CPUs_utilized true
	own_the_tasks
	same_again -a --per-thread -e page-faults "$WORKLOADS/faults" 10
	# Only threads that counted have rows: one runs all the time.
	background /dev/null "$WORKLOADS/spin" 1000000000000
	same_again -a --per-thread -e cpu-clock --timeout 100
}

@test "the level of caches is the given one, or 5 for the highest, as in Linux's perf" {
	local -A numbers=([--per-cache=L1]=1 [--per-cache]=5 [--per-core]=5)
	local mode
	for mode in "${!numbers[@]}"; do
		perf stat record -o - -a "$mode" -e cs true 2>/dev/null >x
		# the last tag of STAT_CONFIG, 3, and its value
		od -An -v -tx1 x | tr -d ' \n' | grep -q "0300000000000000${numbers[$mode]/#/0}000000000000004c000000"
		perf stat report -i - <x 2>report.txt
		grep -q ' cs ' report.txt
	done
}

@test "recorded counts of CPUs can be broken down in any way" {
	perf stat record -a -e cs,cpu-clock -o x true >/dev/null 2>&1
	local mode all
	all=$(perf stat report -i x -x, 2>&1 | awk -F, '$3 == "cs" { print $1 }')
	for mode in core die cluster socket node cache; do
		perf stat report -i x --per-$mode -x, 2>out
		[ "$(awk -F, '$5 == "cs" { n += $3 } END { print n }' out)" = "$all" ]
		[ "$(awk -F, '$5 == "cs" { n += $2 } END { print n }' out)" = "$(nproc)" ]
	done
	perf stat report -i x -A -x, 2>out
	[ "$(awk -F, '$4 == "cs" { n += $2 } END { print n }' out)" = "$all" ]
}

@test "a report prints the counts of cgroups" {
	same_again -a --for-each-cgroup / -e cs,cpu-clock true
	same_again -a -e cs,page-faults,cpu-clock -G /,,/ true
}

@test "a report prints the counts of shared counters" {
	local shared="--bpf-counters --bpf-attr-map $ATTR_MAP"
	# shellcheck disable=SC2086 # two options
	{
		same_again $shared -e page-faults,cs true
		same_again $shared -a -e page-faults,cs true
		same_again $shared -a -A -e page-faults,cs true
		same_again $shared -A -e page-faults true
		same_again $shared --per-core -I 20 -e page-faults -p $$ sleep 0.05
		same_again $shared --per-thread -e page-faults -p $$ true
	}
}

@test "perf reports at once that it cannot replace another user's file in /tmp" {
	local dir
	dir=$(mktemp -d)
	chmod 1777 "$dir"
	echo mine >"$dir/x"
	refused 255 as_nobody perf stat record -o "$dir/x" -e duration_time touch "$dir/ran" \
		<<<"perf stat: cannot replace $dir/x: Operation not permitted"
	[ "$(cd "$dir" && echo *)" = x ]
	[ "$(<"$dir/x")" = mine ]
	# root may replace anyone's
	as_nobody perf stat record -o "$dir/y" -e duration_time true >/dev/null 2>&1
	perf stat record -o "$dir/y" -e page-faults:u true >/dev/null 2>&1
	[ "$(stat -c %u "$dir/y" "$dir/y.old" | tr '\n' ' ')" = "0 65534 " ]
	rm -r "$dir"
}

@test "shared counts of several threads are recorded as one sum" {
	local shared="--bpf-counters --bpf-attr-map $ATTR_MAP"
	background gang "$WORKLOADS/gang" 2 1000
	local gang=$!
	wait_for has_text ready gang
	# shellcheck disable=SC2086 # two options
	{
		# mixed with events that have a count of each thread
		same_again $shared -e page-faults,user_time -p "$gang" true
		refused 22 perf stat report -i again.data --per-thread \
			<<<"perf stat report: the counts cannot be broken down like that: they are of all threads together (perf stat record --per-thread)"
		# the column of counters: one a CPU
		same_again $shared --per-socket -e page-faults -p "$gang" true
		ln -s "$(command -v perf)" bperf
		refused 22 ./bperf stat report -i again.data --per-thread \
			<<<"bperf stat report: the counts cannot be broken down like that: they are of all threads together (bperf stat record --per-thread)"
		same_again $shared --per-thread -e page-faults,user_time -p "$gang" true
		[ "$(perf stat report -i again.data -x, 2>&1 | grep -c page-faults)" = 3 ]
	}
}

@test "Debian's perf reads ours, and we read what it wrote" {
	require_debian_perf
	local perf options mode
	for perf in perf "$DEBIAN_PERF"; do
		for options in "-a" "-A -a" "-C 0" "-a --per-socket" "-a -I 20" "-A -a -I 20"; do
			# shellcheck disable=SC2086 # several words
			"$perf" stat record -o x $options -e cs,cpu-clock sleep 0.05 >/dev/null 2>&1
			for mode in "" -A --per-core --per-die --per-socket --per-node; do
				# shellcheck disable=SC2086 # perhaps none
				both_report x $mode
			done
			both_script x "$(perf stat report -i x -A -x, 2>&1 | wc -l)"
		done
	done
	# modes that have other numbers since there are caches among them
	for options in --per-core --per-node; do
		"$DEBIAN_PERF" stat record -o x -a $options -e cs true >/dev/null 2>&1
		both_report x
	done
	"$DEBIAN_PERF" stat record -o x --per-thread -p $$ -e cs true >/dev/null 2>&1
	both_report x
}

@test "a recording refuses more threads than its format can hold" {
	own_the_tasks
	"$WORKLOADS/sleepers" 2729 >"$BATS_TEST_TMPDIR/ready" 3>&- &
	local pid=$!
	jobs_started+=("$pid")
	wait_for has_text ready "$BATS_TEST_TMPDIR/ready"
	fails_with 255 "perf stat: perf.data cannot hold 2730 threads" \
		perf stat record -o x --per-thread -e dummy -p $pid touch ran
	[ ! -e x ]
	[ ! -e ran ]
}
