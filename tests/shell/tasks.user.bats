#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# Counting own tasks in user mode: exact numbers, and tasks that come and go.

load helpers

requirements() {
	require_perf_events
}

# count OPTION... -- COMMAND... : print the values, one a line, the same in each run to the last page
count() {
	setarch -R perf stat -x, --log-fd 4 "$@" 4>"$BATS_TEST_TMPDIR/count" >/dev/null 3>&- || return
	cut -d, -f1 "$BATS_TEST_TMPDIR/count"
}

# server : a shell that runs the lines written to descriptor 7 and writes "done" to 8; its pid is
# $server
server() {
	mkfifo "$BATS_TEST_TMPDIR/todo" "$BATS_TEST_TMPDIR/done"
	exec 7<>"$BATS_TEST_TMPDIR/todo" 8<>"$BATS_TEST_TMPDIR/done"
	setarch -R sh -c 'while read -r line; do eval "$line"; echo done; done' <&7 >&8 2>/dev/null 3>&- &
	server=$!
	jobs_started+=("$server")
	ask true
	ask "'$WORKLOADS/faults' 1"
}

# ask LINE : let the server run this line
ask() {
	local answer
	echo "$1" >&7
	read -r -t 20 answer <&8
	[ "$answer" = "done" ]
}

# while_counting LINE OPTION... : count while the server runs this line
while_counting() {
	local line=$1
	shift
	export -f ask
	count "$@" -- bash -c "ask $(printf %q "$line")"
}

@test "page faults are exact" {
	count -e page-faults:u "$WORKLOADS/faults" 1
	few=$(count -e page-faults:u "$WORKLOADS/faults" 100)
	many=$(count -e page-faults:u "$WORKLOADS/faults" 900)
	echo "$few $many"
	# The rest is exact. Where memory is short, a page of the program or two can be gone again.
	in_range $((many - few)) 800 802
	[ "$few" -lt 300 ]
}

@test "equal events count equally, in a group and out of it" {
	run count -e page-faults:u,minor-faults:u,'{faults:u,minor-faults:u}' "$WORKLOADS/faults" 500
	echo "$output"
	[ "$(sort -u <<<"$output" | wc -l)" -le 2 ]
	[ "${lines[0]}" = "${lines[2]}" ]
	[ "${lines[1]}" = "${lines[3]}" ]
}

@test "children are counted, without -i" {
	count -e page-faults:u sh -c "'$WORKLOADS/faults' 1; true"
	few=$(count -e page-faults:u sh -c "'$WORKLOADS/faults' 500; '$WORKLOADS/faults' 100; true")
	many=$(count -e page-faults:u sh -c "'$WORKLOADS/faults' 500; '$WORKLOADS/faults' 900; true")
	echo "$few $many"
	# as above
	in_range $((many - few)) 800 802
	few=$(count -i -e page-faults:u sh -c "'$WORKLOADS/faults' 500; '$WORKLOADS/faults' 100; true")
	many=$(count -i -e page-faults:u sh -c "'$WORKLOADS/faults' 500; '$WORKLOADS/faults' 900; true")
	echo "$few $many"
	[ "$few" = "$many" ]
	[ "$few" -lt 500 ]
}

@test "threads and their children are counted" {
	count -e page-faults:u "$WORKLOADS/tree" 1 2 1
	few=$(count -e page-faults:u "$WORKLOADS/tree" 1 8 1)
	many=$(count -e page-faults:u "$WORKLOADS/tree" 1 24 1)
	alone=$(count -i -e page-faults:u "$WORKLOADS/tree" 1 24 1)
	echo "$few $many $alone"
	[ $((many - few)) -gt $((16 * 5)) ]
	[ "$many" -gt "$alone" ]
	[ "$(count -e dummy:u "$WORKLOADS/threads" 4 1000)" = 0 ]
}

@test "-p with a command counts only the process, with its new children" {
	server
	few=$(while_counting "'$WORKLOADS/faults' 100" -p "$server" -e page-faults:u)
	many=$(while_counting "'$WORKLOADS/faults' 900" -p "$server" -e page-faults:u)
	again=$(while_counting "'$WORKLOADS/faults' 900; '$WORKLOADS/faults' 900" -p "$server" -e page-faults:u)
	echo "$few $many $again"
	# the shell between them touches a page of its own now and then
	in_range $((many - few)) 798 802
	[ "$again" -ge $((many + 900)) ]
	# perf does not count the command itself
	none=$(count -p "$server" -e page-faults:u "$WORKLOADS/faults" 5000)
	echo "$none"
	[ "$none" = "<not counted>" ] || [ "$none" = 0 ]
	alone=$(while_counting "'$WORKLOADS/faults' 900" -i -p "$server" -e page-faults:u)
	[ "$alone" -lt 900 ]
}

@test "-p counts several processes, and the header names them as typed" {
	server
	local pid=$server
	"$WORKLOADS/waiter" >"$BATS_TEST_TMPDIR/ready" 3>&- &
	jobs_started+=("$!")
	wait_for has_text ready "$BATS_TEST_TMPDIR/ready"
	perf stat -p "$pid,$!" -e page-faults:u true 2>"$BATS_TEST_TMPDIR/err" 3>&-
	grep -q "^ Performance counter stats for process id '$pid,$!':\$" "$BATS_TEST_TMPDIR/err"
	refute grep -q 'seconds user' "$BATS_TEST_TMPDIR/err"
}

@test "the end of the process ends the run, with status 0" {
	local out=$BATS_TEST_TMPDIR/out option status
	for option in -p -t; do
		"$WORKLOADS/waiter" >"$BATS_TEST_TMPDIR/ready" 3>&- &
		local target=$!
		jobs_started+=("$target")
		wait_for has_text ready "$BATS_TEST_TMPDIR/ready"
		background "$out" perf stat $option $target -x, -I 20 -e page-faults:u
		local perf=$!
		wait_for has_text page-faults "$out"
		kill -KILL $target
		status=0
		wait $perf || status=$?
		[ "$status" = 0 ]
		rm "$out" "$BATS_TEST_TMPDIR/ready"
	done
}

# waits_unwoken OPTION ID : a session of $target with this option sleeps until the target ends
waits_unwoken() {
	local out=$BATS_TEST_TMPDIR/out perf before status=0
	background "$out" perf stat "$1" "$2" -x, -e dummy:u
	perf=$!
	is_waiting() { is_named "$perf" perf && grep -q poll /proc/$perf/wchan; }
	wait_for is_waiting
	wakeups() { grep ^voluntary_ctxt_switches: /proc/$perf/status; }
	before=$(wakeups)
	sleep 1
	diff <(echo "$before") <(wakeups) >&2
	kill -TERM $target
	wait $perf || status=$?
	[ "$status" = 0 ]
	grep -q '^0,,dummy:u,' "$out"
}

# begin_sleepers : start a process, $target, with threads; $thread is one that leads no process
begin_sleepers() {
	"$WORKLOADS/sleepers" 20 >"$BATS_TEST_TMPDIR/ready" 3>&- &
	target=$!
	jobs_started+=("$target")
	wait_for has_text ready "$BATS_TEST_TMPDIR/ready"
	thread=$(find "/proc/$target/task" -mindepth 1 -maxdepth 1 ! -name "$target" -printf '%f\n' -quit)
}

@test "perf waits for a process with threads, or for one thread, without polling" {
	local target thread kernel
	begin_sleepers
	waits_unwoken -p $target
	IFS=. read -r -a kernel < <(uname -r)
	[ $((kernel[0] * 1000 + kernel[1])) -ge 6009 ] || skip "older than Linux 6.9: threads have no descriptors"
	begin_sleepers
	waits_unwoken -t "$thread"
}

@test "--per-thread has a row for each thread, and -t counts one" {
	"$WORKLOADS/threads" 2 100000000000 3>&- &
	local pid=$! out=$BATS_TEST_TMPDIR/out
	jobs_started+=("$pid")
	three() { [ "$(find "/proc/$pid/task" -mindepth 1 -maxdepth 1 | wc -l)" = 3 ]; }
	wait_for three
	waits() { [ "$(cut -d' ' -f3 "/proc/$pid/task/$pid/stat")" = S ]; }
	wait_for waits
	perf stat --per-thread -p $pid -x, --log-fd 4 -e task-clock:u sleep 2 4>"$out" 2>/dev/null
	cat "$out"
	[ "$(cut -d, -f1 "$out" | sort -u | wc -l)" = 3 ]
	# the first thread only waits
	grep -q "^threads-$pid,<not counted>,msec,task-clock:u," "$out"
	[ "$(grep -vc '<not counted>' "$out")" = 2 ]
	local tid
	tid=$(find "/proc/$pid/task" -mindepth 1 -maxdepth 1 -printf '%f\n' | sort -n | tail -n 1)
	perf stat -t "$tid" -e task-clock:u sleep 2 2>"$out" 3>&-
	grep -q "^ Performance counter stats for thread id '$tid':\$" "$out"
	grep -Eq '^ +[0-9.,]+ msec task-clock:u' "$out"
}

@test "an ended thread is an error alone, and skipped among others" {
	sleep 0 &
	local gone=$!
	wait $gone
	refused 1 perf stat -t $gone -e page-faults:u true <<-EOF
	Error:
	No supported events found.
	'page-faults:u': there is no task to count (it may have ended)
	EOF
	server
	perf stat -t "$server,$gone" -x, -o "$BATS_TEST_TMPDIR/out" -e page-faults:u,dummy:u true 2>"$BATS_TEST_TMPDIR/err" 3>&-
	[ "$(head -n 1 "$BATS_TEST_TMPDIR/err")" = "perf stat: thread $gone has ended: not counted" ]
	[ "$(wc -l <"$BATS_TEST_TMPDIR/err")" = 1 ]
	[ "$(grep -c :u "$BATS_TEST_TMPDIR/out")" = 2 ]
}

@test "after SIGINT and SIGTERM, perf prints the counts, ends the command and dies of it" {
	local out=$BATS_TEST_TMPDIR/out signal status perf child
	for signal in INT TERM; do
		status=0
		background "$out" perf stat -x, -e page-faults:u "$WORKLOADS/waiter"
		perf=$!
		wait_for has_text ready "$out"
		child=$(<"/proc/$perf/task/$perf/children")
		kill -$signal $perf
		wait $perf || status=$?
		[ "$status" = $((128 + $(kill -l $signal))) ]
		[ "$(grep -c ',page-faults:u,' "$out")" = 1 ]
		[ ! -e "/proc/${child% }" ]
	done
}

# typed once|often WORD COMMAND... : type Ctrl-C on perf's terminal after COMMAND has written WORD, once,
# or repeatedly until perf prints. The screen is in $screen, perf's status in $status. (If these tests run
# in the background, they ignore SIGINT.)
typed() {
	local times=$1 word=$2 command
	shift 2
	printf -v command '%q ' perf stat -x, -e page-faults:u "$@"
	screen=$BATS_TEST_TMPDIR/screen status=0
	: >"$screen"
	{
		wait_for grep -q "$word" "$screen"
		printf '\003'
		again() {
			[ "$times" = once ] || printf '\003' >&3
			grep -q ',page-faults:u,' "$screen"
		}
		wait_for again 3>&1
	} | SHELL=/bin/bash env --default-signal=INT script -qfec "$command" /dev/null >"$screen" || status=$?
	[ "$(grep -c ',page-faults:u,' "$screen")" = 1 ]
}

@test "a command that handles Ctrl-C gets its time and gives the exit status" {
	typed once begun bash -c 'trap "sleep 0.5; exit 5" INT; echo begun; while :; do sleep 0.1; done'
	[ "$status" = 5 ]
	[ "$(grep -c Terminated "$screen")" = 0 ]
	typed once begun bash -c 'echo begun; exec sleep 1000'
	[ "$status" = 130 ]
	grep -q Interrupt "$screen"
	# a command that ignores the first is ended by the second
	typed often begun bash -c 'trap "" INT; echo begun; while :; do sleep 0.1; done'
	[ "$status" = 130 ]
	grep -q Terminated "$screen"
}

@test "SIGINT with -p prints the partial interval, and the process lives on" {
	server
	local out=$BATS_TEST_TMPDIR/out status=0 perf rows
	background "$out" perf stat -x, -I 20 -e page-faults:u -p "$server"
	perf=$!
	wait_for has_text page-faults "$out"
	kill -INT $perf
	wait $perf || status=$?
	[ "$status" = 130 ]
	rows=$(wc -l <"$out")
	[ "$rows" -ge 2 ]
	ask true
}

@test "-r without a command repeats the timeout" {
	server
	local out=$BATS_TEST_TMPDIR/out
	perf stat -r 3 --timeout 20 -e page-faults:u -p "$server" -o "$out" 2>/dev/null
	grep -q "^ Performance counter stats for process id '$server' (3 runs):\$" "$out"
	grep -Eq '^ +0\.0[0-9]+ \+- 0\.[0-9]+ seconds time elapsed' "$out"
}

@test "SIGINT ends a series with the results so far" {
	local out=$BATS_TEST_TMPDIR/out status=0 perf count=$BATS_TEST_TMPDIR/count
	background "$out" perf stat -r 1000000 -e dummy:u sh -c "echo >>'$count'"
	perf=$!
	three() { [ "$(wc -l <"$count")" -ge 3 ]; }
	wait_for three
	kill -INT $perf
	wait $perf || status=$?
	[ "$status" = 130 ]
	grep -Eq "^ Performance counter stats for 'sh -c .*' \([0-9]+ runs\):\$" "$out"
}

# counted OPTION... : print the target in the header
counted() {
	perf stat "$@" true 2>&1 | sed -n "s/^ Performance counter stats for '\(.*\)':$/\1/p"
}

@test "duration_time alone counts the system, all other values count a command" {
	[ "$(counted -e duration_time)" = "system wide" ]
	[ "$(counted -e user_time,system_time)" = true ]
	[ "$(counted -e smt_on)" = true ]
	[ "$(counted -e page-faults/cpu=0/u)" = true ]
	run perf stat -e user_time "$WORKLOADS/spinfor" 0.1
	echo "$output"
	[ "$(awk '$2 == "user_time" { print $1 / 1e9 }' <<<"${output//,/}")" = \
		"$(awk '/seconds user/ { print $1 + 0 }' <<<"$output")" ]
}

@test "cpu= of all CPUs does not restrict an event, and cpu= of one counts only there" {
	local out=$BATS_TEST_TMPDIR/out cpu last
	cpu=$(taskset -cp $$ | sed 's/.*[:,-] *//')
	last=$(($(getconf _NPROCESSORS_ONLN) - 1))
	perf stat -x, -o "$out" -e "page-faults/cpu=0-$last/u,page-faults/cpu=$cpu/u,page-faults:u" \
		taskset -c "$cpu" "$WORKLOADS/faults" 100 >/dev/null
	cat "$out"
	[ "$(field "page-faults/cpu=0-$last/u" 1 "$out")" = "$(field page-faults:u 1 "$out")" ]
	[ "$(field "page-faults/cpu=0-$last/u" 5 "$out")" = 100.00 ]
	[ "$(field "page-faults/cpu=$cpu/u" 1 "$out")" -ge 100 ]
}
