#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# Plain counting that needs root: CPUs, the kernel's part, tracepoints; and the messages for ordinary
# users without the right. Some tests compare with Debian's perf.

load helpers

requirements() {
	require_root
	require_perf_events cpu
}

@test "--null -I prints the heading of the breakdown, without rows" {
	perf stat --null -I 100000 -a --per-core -o "$BATS_TEST_TMPDIR/out" true
	tail -n +3 "$BATS_TEST_TMPDIR/out" | diff -u - <(
		echo "#           time core               ctrs             counts unit events")
}

@test "-v prints a line of sums for each counted event with one sum" {
	perf stat -v -a -e cs,cpu-clock true 2>&1 >/dev/null 3>&- | grep -c '^[a-z-]*: [0-9]* [0-9]* [0-9]*$' >"$BATS_TEST_TMPDIR/nr"
	[ "$(<"$BATS_TEST_TMPDIR/nr")" = 2 ]
	perf stat -vv -A -C 0 -e cs true >"$BATS_TEST_TMPDIR/err" 2>&1 3>&-
	[ "$(grep -c '^cs: [0-9]* [0-9]* [0-9]*$' "$BATS_TEST_TMPDIR/err")" = 0 ]
	[ "$(grep -c '^cs: 0: [0-9]* [0-9]* [0-9]*$' "$BATS_TEST_TMPDIR/err")" = 1 ]
}

@test "context switches equal those of the scheduler's tracepoint" {
	require_tracepoints
	local out=$BATS_TEST_TMPDIR/out
	perf stat -x, --log-fd 4 -e '{cs,sched:sched_switch}' "$WORKLOADS/switches" 200 4>"$out"
	cat "$out"
	# some virtual machines do not show the first of them
	in_range "$(field cs 1 "$out")" 190 100000
	[ "$(field cs 1 "$out")" = "$(field sched:sched_switch 1 "$out")" ]
}

@test "--filter counts only events that pass the filter" {
	require_tracepoints
	local out=$BATS_TEST_TMPDIR/out
	perf stat -x, --log-fd 4 -e sched:sched_switch --filter 'prev_pid == 0 && prev_pid == 1' \
		"$WORKLOADS/switches" 50 4>"$out"
	[ "$(field sched:sched_switch 1 "$out")" = 0 ]
	local status=0
	perf stat -e sched:sched_switch --filter nonsense true 2>"$out" 3>&- || status=$?
	cat "$out"
	[ "$status" = 1 ]
	grep -q nonsense "$out"
	grep -q sched:sched_switch "$out"
}

@test "the rows of each level add up to those of -a" {
	local out=$BATS_TEST_TMPDIR/out
	perf stat -a -A -x, --log-fd 4 -e page-faults taskset -c 0 "$WORKLOADS/faults" 900 4>"$out"
	cat "$out"
	[ "$(cut -d, -f1 "$out" | tr '\n' ' ')" = "$(seq -f 'CPU%g ' 0 $(($(nproc) - 1)) | tr -d '\n')" ]
	at_least "$(awk -F, '$1 == "CPU0" { print $2 }' "$out")" 900
	local mode
	for mode in core die cluster socket node cache; do
		perf stat -a --per-$mode -x, --log-fd 4 -e page-faults "$WORKLOADS/faults" 900 4>"$out"
		# the counters of all rows are those of all CPUs, and the faults are in there
		[ "$(awk -F, '{ nr += $2 } END { print nr }' "$out")" = "$(nproc)" ]
		at_least "$(awk -F, '{ sum += $3 } END { print sum }' "$out")" 900
	done
}

@test "--all-user and --all-kernel override modifiers, and names stay" {
	local out=$BATS_TEST_TMPDIR/out
	perf stat --all-kernel -x, --log-fd 4 -e page-faults,page-faults:u "$WORKLOADS/faults" 900 4>"$out"
	[ "$(cut -d, -f3 "$out" | tr '\n' ' ')" = "page-faults page-faults:u " ]
	# The kernel itself touches some pages of a new program: measured 2.
	in_range "$(field page-faults:u 1 "$out")" 0 20
	perf stat --all-user -x, --log-fd 4 -e page-faults:k "$WORKLOADS/faults" 900 4>"$out"
	# The start of the program has less than 300.
	in_range "$(field page-faults:k 1 "$out")" 900 1200
}

@test "the header names the system, the CPUs, the process or the command" {
	local err=$BATS_TEST_TMPDIR/err ctl=$BATS_TEST_TMPDIR/ctl
	header() { grep -q "^ Performance counter stats for $1:\$" "$err"; }
	perf stat -a -e cs true 2>"$err" 3>&-
	header "'system wide'"
	refute grep -q 'seconds user' "$err"
	perf stat -C 0-0 -e cs true 2>"$err" 3>&-
	header "'CPU(s) 0-0'"
	perf stat -a -C 0 -e cs true 2>"$err" 3>&-
	header "'system wide'"
	perf stat -p 1 -e cs true 2>"$err" 3>&-
	header "process id '1'"
	mkfifo "$ctl"
	exec 5<>"$ctl"
	echo stop >&5
	perf stat --control fd:5 -e cs 2>"$err" 3>&-
	exec 5>&-
	header "'system wide'"
}

@test "events without tasks make a session system-wide" {
	perf stat -e duration_time true 2>"$BATS_TEST_TMPDIR/err" 3>&-
	grep -q "for 'system wide':\$" "$BATS_TEST_TMPDIR/err"
	perf stat -e duration_time,cs true 2>"$BATS_TEST_TMPDIR/err" 3>&-
	grep -q "for 'true':\$" "$BATS_TEST_TMPDIR/err"
	refute grep -Eq '^ +0 +duration_time' "$BATS_TEST_TMPDIR/err"
}

@test "after Ctrl-C and SIGTERM with -a and -C, perf prints counts and dies of the signal" {
	local out=$BATS_TEST_TMPDIR/out status perf signal
	for signal in INT TERM; do
		background "$out" perf stat -a -x, -I 20 --summary -e cs
		perf=$!
		wait_for has_text ',cs,' "$out"
		kill -$signal $perf
		status=0
		wait $perf || status=$?
		[ "$status" = $((128 + $(kill -l $signal))) ]
		[ "$(grep -c '^summary,' "$out")" = 1 ]
	done
	background "$out" perf stat -C 0 -x, -e cs -- "$WORKLOADS/waiter"
	perf=$!
	wait_for has_text ready "$out"
	kill -INT $perf
	status=0
	wait $perf || status=$?
	[ "$status" = 130 ]
	[ "$(grep -c ',cs,' "$out")" = 1 ]
}

@test "an offline CPU of several gives a warning, and the others count" {
	# Use a made-up sysfs; the kernel's own stays unchanged.
	local sysfs=$BATS_TEST_TMPDIR/sys
	mkdir -p "$sysfs/devices/system/cpu"
	echo 0 >"$sysfs/devices/system/cpu/online"
	cp -r --no-dereference /sys/bus "$sysfs" 2>/dev/null || :
	SYSFS_PATH=$sysfs perf stat -C 0-1 -x, -o "$BATS_TEST_TMPDIR/out" -e 1:3 true 2>"$BATS_TEST_TMPDIR/err" 3>&-
	[ "$(head -n 1 "$BATS_TEST_TMPDIR/err")" = \
		"perf stat: -C 0-1: CPU 1 is offline: skipped (online: 0)" ]
	[ "$(wc -l <"$BATS_TEST_TMPDIR/err")" = 1 ]
	grep -Eq '^[0-9]+,,1:3,[0-9]+,100.00,,$' "$BATS_TEST_TMPDIR/out"
	refused 1 perf stat -C 4095 -e cs true <<-EOF
	Error:
	No supported events found.
	-C 4095: there is no CPU 4095 (online: $(</sys/devices/system/cpu/online))
	EOF
}

# count_beside OPTIONS PID : our perf and Debian's count the same process at the same time. by_ours and by_theirs are
# their outputs, without running times. Another run of a program can have faults more. Pages around one that faults are
# mapped as well, but none that others have locked. A task that was interrupted can have a page from the kernel.
count_beside() {
	local perf name pids=() begun go
	local T=$BATS_TEST_TMPDIR
	rm -f "$T"/{begun,go}
	mkfifo "$T"/{begun,go}
	exec {begun}<>"$T/begun" {go}<>"$T/go"
	for perf in perf "$DEBIAN_PERF"; do
		name=$([ "$perf" = perf ] && echo ours || echo theirs)
		# shellcheck disable=SC2086 # words
		"$perf" stat -x, -o "$T/out_$name" $1 -p "$2" -- bash -c "echo >&$begun && read -r -u $go" 3>&- &
		pids+=($!)
		jobs_started+=($!)
		read -r -t 20 -u "$begun"
	done
	echo work >&"$work"
	wait "$2"
	printf '\n\n' >&"$go"
	for name in "${pids[@]}"; do
		wait "$name"
	done
	exec {begun}>&- {go}>&-
	for name in ours theirs; do
		sed -E '/^(#|$)/d; s/,[0-9]+,100\.00,/,T,100.00,/' "$T/out_$name" >"$T/by_$name"
	done
}

@test "counts of a process and of the machine equal those of Debian's perf" {
	require_debian_perf
	local options faults work T=$BATS_TEST_TMPDIR
	mkfifo "$T/work"
	exec {work}<>"$T/work"
	for options in "-e page-faults,minor-faults:u,major-faults,alignment-faults" "-e faults:u -i" \
		"-e {faults,minor-faults:k}" "-e dummy,1:2,1:5:u,faults"; do
		bash -c "read -r _ <&$work && exec '$WORKLOADS/faults' 640" 3>&- &
		faults=$!
		jobs_started+=("$faults")
		wait_for has_text pipe "/proc/$faults/wchan"
		count_beside "$options" "$faults"
		echo "$options"
		diff -u "$T/by_theirs" "$T/by_ours"
		[ "$(sed -nE 's/^([0-9]+),.*faults.*/\1/p' "$T/by_ours" | sort -rn | head -n 1)" -ge 640 ]
	done
	for options in "-r 3 -e {alignment-faults,emulation-faults:k}" "-a -A -e emulation-faults" \
		"-a --per-socket -e alignment-faults"; do
		# only the running time differs
		for perf in perf "$DEBIAN_PERF"; do
			# shellcheck disable=SC2086 # words
			"$perf" stat -x, --log-fd 4 $options "$WORKLOADS/faults" 640 4>"$T/out"
			sed -E 's/,[0-9]+,100\.00,/,T,100.00,/' "$T/out" >"$T/by_${perf//\//_}"
		done
		echo "$options"
		diff -u "$T/by_${DEBIAN_PERF//\//_}" "$T/by_perf"
	done
}

@test "an ordinary user's events count user mode, and their names show it" {
	require_users_count
	local out=$BATS_TEST_TMPDIR/out
	publish "$(command -v perf)" "$WORKLOADS/faults"
	as_nobody "$public/perf" stat -x, --log-fd 4 -e page-faults,software/page-faults/,page-faults/name=mine/,cs:u \
		"$public/faults" 500 4>"$out"
	cat "$out"
	[ "$(cut -d, -f3 "$out" | tr '\n' ' ')" = "page-faults:u software/page-faults/u mine:u cs:u " ]
	# The start of the program has less than 300.
	in_range "$(field page-faults:u 1 "$out")" 500 800
	[ "$(field mine:u 1 "$out")" = "$(field page-faults:u 1 "$out")" ]
}

@test "an ordinary user's :k events are not supported" {
	require_users_count
	local out=$BATS_TEST_TMPDIR/out
	as_nobody perf stat -x, --log-fd 4 -e page-faults:k,page-faults:u true 4>"$out"
	grep -q '^<not supported>,,page-faults:k,' "$out"
}

levels() {
	cat <<-EOF
	kernel.perf_event_paranoid is 2 now; its levels, each adding to the one above:
	  -1: everything is allowed to everybody
	   0: no raw and function tracepoints without CAP_PERFMON
	   1: nor whole CPUs
	   2: nor the kernel's part of one's own tasks
	 > 2: nothing (where the distribution knows this level)
	An administrator can lower it: sysctl kernel.perf_event_paranoid=LEVEL
	EOF
}

@test "an ordinary user can count neither CPUs nor others' tasks" {
	require_users_count
	local target
	for target in -a '-C 0'; do
		# shellcheck disable=SC2086 # words
		refused 1 as_nobody perf stat $target -e cs touch "$BATS_TEST_TMPDIR/started" <<-EOF
		Error:
		No supported events found.
		Access to performance monitoring and observability operations is limited.
		'cs': not permitted: needs CAP_PERFMON or kernel.perf_event_paranoid <= 0 (now 2)
		$(levels)
		EOF
	done
	refused 1 as_nobody perf stat -p 1 -e cs:u touch "$BATS_TEST_TMPDIR/started" <<-EOF
	Error:
	No supported events found.
	Access to performance monitoring and observability operations is limited.
	'cs:u': not permitted: needs CAP_PERFMON or a task of one's own and kernel.perf_event_paranoid <= 2 (now 2)
	$(levels)
	EOF
	[ ! -e "$BATS_TEST_TMPDIR/started" ]
}

@test "perf names the remedy to a user without access to tracefs" {
	require_tracepoints
	as_nobody test ! -r /sys/kernel/tracing/events || skip "tracefs is open to everybody"
	fails_with 129 "event syntax error: 'sched:sched_switch'" as_nobody perf stat -e sched:sched_switch true
	grep -q 'mount -o remount,mode=755 /sys/kernel/tracing' "$BATS_TEST_TMPDIR/fails.err"
}

@test "-A wins over --per-thread: a labelled row for each CPU" {
	local out=$BATS_TEST_TMPDIR/out
	perf stat -x, -o "$out" -a -A --per-thread -e cpu-clock true
	[ "$(grep -c '^CPU[0-9]*,' "$out")" = "$(nproc --all)" ]
	[ "$(grep -c cpu-clock "$out")" = "$(nproc --all)" ]
}

@test "--metric-only has the columns of -M in their order, and a field for each heading" {
	local mode out=$BATS_TEST_TMPDIR/out fields
	for mode in "" -A --per-core --per-cache --per-cluster --per-die --per-socket --per-node; do
		# shellcheck disable=SC2086
		perf stat -a $mode --metric-only -M CPUs_utilized,cs_per_second -x, -o "$out" true
		sed -i '/^#/d; /^$/d' "$out"
		head -n 1 "$out" | grep -q 'CPUs  CPUs_utilized,cs/sec  cs_per_second,$'
		fields=$(head -n 1 "$out" | tr -cd , | wc -c)
		[ "$fields" -ge 2 ]
		[ "$(wc -l <"$out")" -ge 2 ]
		awk -F, -v n="$fields" 'NF != n + 1 { print; bad = 1 } END { exit bad }' "$out"
	done
}

@test "an event that the kernel refuses to root does not lack CAP_PERFMON" {
	require_tracepoints
	local out=$BATS_TEST_TMPDIR/out
	# Some kernels refuse ftrace:function to everybody, others count it.
	perf stat -e ftrace:function true >"$out" 2>&1 3>&- || :
	refute grep 'needs CAP_PERFMON' "$out"
	refute grep 'An administrator can lower it' "$out"
	perf stat -e 'ftrace:*,sched:sched_sw*' -x, -o "$BATS_TEST_TMPDIR/counts" true 2>"$out" 3>&-
	refute grep 'needs CAP_PERFMON' "$out"
	grep -q ',sched:sched_switch,' "$BATS_TEST_TMPDIR/counts"
}

@test "-a --per-thread has rows of the threads that ran, and of no others" {
	local out=$BATS_TEST_TMPDIR/out spin sleep option
	"$WORKLOADS/spin" 1000000000000 &
	spin=$!
	sleep 1000 3>&- &
	sleep=$!
	jobs_started+=("$spin" "$sleep")
	wait_for has_line spin "/proc/$spin/comm"
	wait_for has_line sleep "/proc/$sleep/comm"
	for option in "" -x, -j; do
		# shellcheck disable=SC2086 # none or one word
		perf stat -a --per-thread $option -o "$out" -e cpu-clock:u -- "$WORKLOADS/ran" 0.02 "$spin"
		grep -q "spin-$spin\b" "$out"
		refute grep -q "sleep-$sleep\b" "$out"
	done
}

@test "the time of the session has one row, whatever the breakdown is" {
	local mode
	for mode in -A --per-core --per-socket --per-node; do
		perf stat -a $mode -x, -o "$BATS_TEST_TMPDIR/out" -e duration_time,cpu-clock true
		[ "$(grep -c duration_time "$BATS_TEST_TMPDIR/out")" = 1 ]
	done
}

@test "an ordinary user reads which right is missing, for an event that is printed" {
	local err=$BATS_TEST_TMPDIR/err
	publish "$(command -v perf)"
	sysctl -qn kernel.perf_event_paranoid | grep -qx 2 || skip "kernel.perf_event_paranoid is not 2"
	refute as_nobody "$public/perf" stat -a true 2>"$err"
	grep -qx "'context-switches': not permitted: needs CAP_PERFMON or kernel.perf_event_paranoid <= 0 (now 2)" "$err"
	# perf added the 'u' that such a PMU refuses
	[ -d /sys/bus/event_source/devices/msr ] || skip "no msr here"
	refute as_nobody "$public/perf" stat -e msr/tsc/ true 2>"$err"
	grep -qx "'msr/tsc/': not permitted: needs CAP_PERFMON or kernel.perf_event_paranoid <= 1 (now 2)" "$err"
}
