#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# Every way to print, and every kind of mistake, with the compiler's checks of memory and undefined
# behaviour, and under valgrind.

load helpers

requirements() {
	require_root
	require_perf_events cpu
}

# each CHECKED... : run all command lines of $lines with that program in the place of perf; its errors end
# it with status 99, and nothing else does. Errors of a process that it started are in its output. If $all_pass
# is set, all must succeed.
each() {
	local status line metrics=$BATS_TEST_TMPDIR/metrics.json
	echo '[ { "MetricName": "m", "MetricExpr": "page\\-faults / dummy if #num_cpus > 0 else cs", "ScaleUnit": "100%",
		"MetricThreshold": "m > 1", "MetricGroup": "Default" },
		{ "MetricName": "n", "MetricExpr": "m + cs", "MetricGroup": "g;h" },
		{ "EventName": "MY.EVENT", "ConfigCode": "2", "Unit": "software" } ]' >"$metrics"
	export PERF_METRICS_PATH=$metrics
	while read -r line; do
		[ "$line" ] || continue
		status=0
		# shellcheck disable=SC2086 # words
		eval "$* $line" >"$BATS_TEST_TMPDIR/out" 2>&1 3>&- </dev/null || status=$?
		[ $status = 0 ] || [ -z "${all_pass:-}" ] || status=99
		if [ $status = 99 ] || [ $status -ge 132 ] && [ $status -le 139 ] ||
			grep -qE 'ERROR: [A-Za-z]*Sanitizer|runtime error:' "$BATS_TEST_TMPDIR/out"; then
			cat "$BATS_TEST_TMPDIR/out" >&2
			echo "$line: status $status" >&2
			return 1
		fi
	done <<<"$lines"
}

events=task-clock,cs,page-faults,cpu-migrations,dummy

# modes FORMAT : print a command line for each way to count and print
modes() {
	local mode
	for mode in '' '-r 2' '-I 20' '-I 20 --summary' '--per-thread -p $$' '--metric-only' '-M m,n --metric-only'; do
		echo "stat $1 $mode -e $events true"
	done
	for mode in -A --per-core --per-cache --per-cluster --per-die --per-socket --per-node '--per-core -I 10' \
		'-A --metric-only' '--per-socket --metric-only -I 10'; do
		echo "stat $1 -a $mode -e $events true"
	done
	echo "stat $1 true"
	echo "stat $1 -d -d -d -a true"
	echo "stat $1 -M m,n,g:u,all -e cs true"
	echo "stat $1 -M No_group --metric-no-group --metric-no-merge -a -A true"
}

# shellcheck disable=SC2089 # quotes for eval
lines="
stat -vv -e '{cs,faults}:W,duration_time,user_time,num_cpus,my.event' true
stat --null --table -r 3 true
stat -e 'sched:sched_sw*,mem:0x1000/8:w:u,r1,1:0,cs/name=x,percore/' --no-big-num -o /dev/null true
stat --pfm-events '{PAGE-FAULTS:u,MINOR-FAULTS}' true
stat --pre false -r 2 true
stat -e nosuch true
stat -e 'cs,{faults' true
stat -e 'sched:sched_swich' true
stat -e 'software/nosuch/' true
stat --pfm-events NOSUCH true
stat -M nosuch true
stat -M m:zz true
stat --metrics-file /dev/null -M m true
stat -x , -j true
stat -p 0 true
stat -C 99 true
stat --nosuch true
stat nosuchcommand
stat --topdown true
list
list -j --details
list --raw-dump
list pfm
list metrics metricgroups
list nosuch
version --build-options
help stat
"

# sanitized [PREFIX...] : run all command lines of $lines with the compiler's sanitizers
sanitized() {
	local perf=$O-sanitize/perf
	[ -x "$perf" ] || skip_or_fail "no build with SANITIZE=1 beside $O"
	ASAN_OPTIONS=exitcode=99 UBSAN_OPTIONS=exitcode=99:print_stacktrace=1 each "$@" "$perf"
}

# with_btf COMMAND... : run it where $BATS_TEST_TMPDIR/btf describes the kernel
with_btf() {
	unshare -m bash -ec 'mount --bind "$0" /sys/kernel/btf/vmlinux; exec "$@"' "$BATS_TEST_TMPDIR/btf" "$@"
}

@test "every output mode passes the compiler's sanitizers" {
	# valgrind does not know the bpf calls of today
	lines+=$'bperf list\nstat --bpf-counters --bpf-attr-map $ATTR_MAP -A -e cs,faults true'
	lines+=$'\nstat --bpf-counters --bpf-attr-map $ATTR_MAP -a -e {cs,faults} -I 10 true\n'
	lines+=$(modes ''; modes -x,; modes -j)
	sanitized
}

@test "recording passes the compiler's sanitizers" {
	cd "$BATS_TEST_TMPDIR"
	all_pass=1 lines="
$(for how in '-e cs,faults' "-a -A -e '{cs,cpu-clock}'" '-a --per-core -I 20' '-M m,n,all' '-a --for-each-cgroup / -e cs' \
		'--per-thread -p $$ -e faults'; do
		echo "stat record -o x $how true"
		echo "stat report -i x"
		echo "stat report -i x -j"
		echo "stat report -i x -x,"
		echo "script -i x"
	done)
stat record -o - -a -e cs,faults true | cat >y
stat report -i - --per-socket <y
script -i y
"
	sanitized
	head -c 300 y >z
	all_pass='' lines="
stat report -i z
script -i z
stat report --per-socket -i x
script -i nosuch
"
	sanitized
}

@test "--explain on a kernel without functions to probe passes the compiler's sanitizers" {
	[ -e /sys/kernel/btf/vmlinux ] || skip_or_fail "no BTF of the kernel"
	# A header of 24 bytes, no types, and one empty name.
	printf '\x9f\xeb\1\0\x18\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\1\0\0\0\0' >"$BATS_TEST_TMPDIR/btf"
	all_pass=1 lines="stat --explain -e cs true"
	sanitized with_btf
}

@test "cgroups, profiles and lists of what is shared pass the compiler's sanitizers" {
	local map=--bpf-attr-map=$ATTR_MAP asleep
	cd "$BATS_TEST_TMPDIR"
	# It never runs: profiles of it have no samples.
	background "$BATS_TEST_TMPDIR/asleep" sleep 1000
	asleep=$!
	all_pass=1 lines="
stat -a -e cs --for-each-cgroup / true
stat -a -e cs,faults -G /, true
stat $map --bpf-counters -a -e cs --for-each-cgroup @all --sort cs --top 3 -I 20 sleep 0.05
stat $map --bpf-counters -a -e cs,faults --for-each-cgroup / -j true
stat $map --bpf-counters --per-thread -p \$\$ -e cs true
stat $map --bpf-counters -e '{cs,faults}:u' -r 2 -x, true
stat $map --bpf-counters -a -e cs -- \$* bperf list $map
stat $map --bpf-counters -a -e cs -- \$* bperf list $map -j
bperf prune $map
bperf verify $map -e cs,task-clock --time 20
config -l
$(for way in --no-bpf "$map"; do
	for how in '' -g '--call-graph=caller -s sym' --folded --stacks -j -x, \
		'-s comm,pid,tid,cpu,cgroup,prio,dso,sym' '-a -I 20' '-g -a -K'; do
		echo "profile $way -F 2000 -e cpu-clock $how -- \$WORKLOADS/blend 20000"
	done
	echo "profile $way -e cpu-clock -a --for-each-cgroup / -- sleep 0.05"
	for how in '' -g -j -x, --folded --stacks --ip=line '--flamegraph x.svg' '--pprof x.pb.gz' '-o x --each=64'; do
		echo "profile $way -e cpu-clock -p $asleep --timeout 20 $how"
	done
	echo "profile report x"
	echo "profile report -j x"
	echo "profile $way -e cs,faults -c 1 -a --timeout 20"
done)
"
	sanitized
	all_pass='' lines="
profile $map -e nosuch true
profile $map -e cpu-clock -- nosuchcommand
profile --range main -s nosuch true
profile report --range main x
profile report --flamegraph x x
bperf list --bpf-attr-map /dev/null
"
	sanitized
}

@test "every output mode passes valgrind" {
	require_commands valgrind
	# It takes a hundred times as long: a third of the lines, and each of the 21 modes in one format. With FULL=1 all.
	lines=$(grep . <<<"$lines" | awk -v all="${FULL:-}" 'all || NR % 3 == 1'
		{ modes ''; modes -x,; modes -j; } | awk -v all="${FULL:-}" 'all || (NR - 1) % 21 % 3 == int((NR - 1) / 21)')
	each valgrind -q --error-exitcode=99 --leak-check=full --errors-for-leak-kinds=definite \
		--child-silent-after-fork=yes "$(command -v perf)"
}
