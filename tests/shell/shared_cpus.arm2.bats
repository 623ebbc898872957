#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# Shared counters of whole CPUs on the emulated PMU. A cycle takes a nanosecond there, on a busy and on an
# idle CPU. So the tests compare cycles with the time that the session was enabled (duration_time), and
# with the clock.

load helpers

# count OPTION... : run a session, with rows as CSV in $out; it prints no message
count() {
	shared -x, -o "$out" "$@" 2>"$err" || return
	! grep . "$err"
}

# of EVENT : print its count
of() {
	field "$1" 1 "$out"
}

# is_whole EVENT NR_CPUS [SECONDS] : the count covers the whole time, and nothing before it
is_whole() {
	cat "$out"
	[ "$(field "$1" 5 "$out")" = 100.00 ]
	# perf starts and reads the CPUs one after the other, beside the clock: measured 0.003 percent. cycles:k of an idle
	# CPU lacks perf's own in user mode, 0.01 percent.
	within "$(of "$1")" $(($(of duration_time) * $2)) 0.1
	within "$(of "$1")" "$(field "$1" 4 "$out")" 0.1
	# The start of sleep and perf's own work come on top: measured 1.4 ms.
	[ -z "${3:-}" ] || within "$(of "$1")" "$(($3 * $2))000000000" 1
}

# free_counters : print how many hardware counters of each CPU pinned events can get, then whether as
# many events that are not pinned get one each
free_counters() {
	"$WORKLOADS/pinned_slots" 0 || return
	"$WORKLOADS/pinned_slots" 1 || return
	perf stat -x, -a -e cycles,r8,r8:u,r8:k,instructions,instructions:u,instructions:k \
		sleep 0.1 2>&1 | grep -c ,100.00,
}

has_free_counters() {
	[ "$(free_counters)" = "$1" ]
}

# Start another session that opened the events long before, so that earlier counts would show.
hold() {
	start_run hold -a -e "$1" sleep 10000
	held_pid=$run_pid
	sleep 2
}

# clear_cpu CPU : move all movable tasks elsewhere; on that CPU, ordinary tasks get no turn while a
# real-time task wants it
clear_cpu() {
	local task server=/sys/kernel/debug/sched/fair_server/cpu$1/runtime
	cleared=$1
	mask=$(</sys/devices/virtual/workqueue/cpumask)
	rt_runtime=$(</proc/sys/kernel/sched_rt_runtime_us)
	echo $((3 & ~(1 << $1))) >/sys/devices/virtual/workqueue/cpumask
	echo -1 >/proc/sys/kernel/sched_rt_runtime_us
	[ ! -e "$server" ] || { fair_runtime=$(<"$server"); echo 0 >"$server"; }
	for task in /proc/[0-9]*; do
		taskset -pc $((1 - $1)) "${task#/proc/}" >/dev/null 2>&1 || :
	done
}

# spin_on CPU : start a task that never leaves this CPU, and lets no other task run there
spin_on() {
	clear_cpu "$1"
	background /dev/null taskset -c "$1" chrt -f 50 "$WORKLOADS/spinfor" 600
	sleep 0.2
}

setup() {
	ATTR_MAP=/sys/fs/bpf/perf_test_$$_$BATS_TEST_NUMBER
	out=$BATS_TEST_TMPDIR/out.csv
	err=$BATS_TEST_TMPDIR/err
	jobs_started=()
	cleared=
}

teardown() {
	local pid task server
	for pid in "${jobs_started[@]}"; do
		kill -KILL "$pid" 2>/dev/null || :
	done
	wait 2>/dev/null || :
	if [ -n "$cleared" ]; then
		server=/sys/kernel/debug/sched/fair_server/cpu$cleared/runtime
		[ ! -e "$server" ] || echo "$fair_runtime" >"$server"
		echo "$rt_runtime" >/proc/sys/kernel/sched_rt_runtime_us
		echo "$mask" >/sys/devices/virtual/workqueue/cpumask
		for task in /proc/[0-9]*; do
			taskset -pc 0-1 "${task#/proc/}" >/dev/null 2>&1 || :
		done
	fi
	echo 1 >/sys/devices/system/cpu/cpu1/online 2>/dev/null || :
	rm -f "$ATTR_MAP"
	rm -rf "${ATTR_MAP}_lock"
}

@test "the first session counts a second's cycles in a second of all CPUs" {
	count -a -e cycles,duration_time sleep 1
	is_whole cycles 2 1
}

@test "events that have long been open count a second's cycles in a second" {
	hold cycles
	count -a -e cycles,duration_time sleep 1
	is_whole cycles 2 1
	# The older session has its own, longer window.
	end_run "$held_pid" INT 130
	at_least "$(field cycles 1 "$BATS_TEST_TMPDIR/hold.csv")" 6000000000
}

@test "an idle CPU has cycles and no instructions" {
	hold cycles,instructions,cycles:u,cycles:k
	count -C 1 -e cycles,instructions,cycles:u,cycles:k,duration_time sleep 1
	is_whole cycles 1 1
	is_whole cycles:k 1 1
	# The instructions also include those of CPU 0: the emulator has one counter for both.
	in_range "$(of instructions)" 1 30000000
	in_range "$(of cycles:u)" 0 3000000
}

@test "a CPU that one task never leaves is counted without a context switch" {
	events=cycles,instructions,cycles:u,cycles:k,cs
	hold $events
	spin_on 1
	count -C 1 -e $events,duration_time sleep 1
	is_whole cycles 1 1
	[ "$(of cs)" = 0 ]
	# The rest is that of interrupts: measured 893,949.
	within "$(of cycles:u)" "$(of cycles)" 1
	# as above
	in_range "$(of cycles:k)" 1 10000000
	# A busy CPU executes an instruction each cycle. The same counter has the instructions of CPU 0. Measured equal.
	within "$(of instructions)" "$(of cycles)" 0.1
	count -a -e $events,duration_time sleep 1
	is_whole cycles 2 1
}

@test "the first session counts a CPU that one task never leaves" {
	spin_on 1
	count -C 1 -e cycles,cs,duration_time sleep 1
	is_whole cycles 1 1
	[ "$(of cs)" = 0 ]
}

@test "intervals are right on a CPU that one task never leaves" {
	spin_on 1
	count -C 1 -I 200 -e cycles sleep 1.1
	cat "$out"
	mapfile -t cycles < <(awk -F, '$4 == "cycles" { print $2 }' "$out")
	[ ${#cycles[@]} = 6 ]
	for n in 0 1 2 3 4; do
		# The first one has the start of sleep and perf's own: measured 0.2 ms.
		within "${cycles[n]}" 200000000 1
	done
}

@test "user space and kernel add up to all, and are told apart" {
	hold cycles,cycles:u,cycles:k,instructions:u,instructions:k
	count -a -e cycles,cycles:u,cycles:k taskset -c 1 "$WORKLOADS/spin" 200000000
	cat "$out"
	# The start of the programs, and perf's own: measured 335,688.
	in_range "$(of cycles:u)" 400000000 402000000
	# perf reads one event after the other: measured equal.
	within $(($(of cycles:u) + $(of cycles:k))) "$(of cycles)" 0.001
	count -C 1 -e cycles:u,cycles:k taskset -c 1 "$WORKLOADS/kernelwork" 100000
	cat "$out"
	[ "$(of cycles:k)" -gt $((10 * $(of cycles:u))) ]
}

@test "a CPU's counts are its own" {
	hold cycles:u
	count -C 0 -e cycles:u taskset -c 1 "$WORKLOADS/spin" 200000000
	other=$(of cycles:u)
	count -C 1 -e cycles:u taskset -c 1 "$WORKLOADS/spin" 200000000
	own=$(of cycles:u)
	echo "$other $own"
	# with the start and end of the programs: measured 376,744
	in_range "$own" 400000000 401000000
	[ "$other" -lt 10000000 ]
}

@test "-D delays counting" {
	hold cycles
	shared -x, -o "$out" -a -D 700 -e cycles,duration_time sleep 2
	is_whole cycles 2
	# QEMU ends some waits, such as the delay, with the next tick of 4 ms. Measured 924,969.
	within "$(of cycles)" 2600000000 0.5
}

@test "-I prints the whole increase since the last interval" {
	hold cycles
	count -a -I 250 -e cycles sleep 1.1
	cat "$out"
	mapfile -t cycles < <(awk -F, '$4 == "cycles" { print $2 }' "$out")
	[ ${#cycles[@]} = 5 ]
	for n in 0 1 2 3; do
		# The first one has the start of sleep and perf's own: measured 519,005.
		within "${cycles[n]}" 500000000 1
	done
	# The time of the last row is that since the start.
	end_ns=$(awk -F, '$4 == "cycles" { t = $1 } END { print int(t * 1e9) }' "$out")
	sum=0
	for n in "${cycles[@]}"; do sum=$((sum + n)); done
	# perf starts and reads the CPUs one after the other, beside the clock: measured 33,566.
	within $sum $((end_ns * 2)) 0.1
}

@test "--control opens and closes windows" {
	hold cycles
	mkfifo "$BATS_TEST_TMPDIR/control" "$BATS_TEST_TMPDIR/ack"
	exec 5<>"$BATS_TEST_TMPDIR/control" 6<>"$BATS_TEST_TMPDIR/ack"
	start_run windows -a -e cycles -D -1 \
		--control "fifo:$BATS_TEST_TMPDIR/control,$BATS_TEST_TMPDIR/ack"
	least=0 most=0
	for n in 1 2 3; do
		sleep 0.5
		before=${EPOCHREALTIME/./}
		echo enable >&5
		read -r -t 5 reply <&6
		[ "$reply" = ack ]
		after=${EPOCHREALTIME/./}
		sleep 1
		least=$((least - after)) most=$((most - before))
		before=${EPOCHREALTIME/./}
		echo disable >&5
		read -r -t 5 reply <&6
		after=${EPOCHREALTIME/./}
		least=$((least + before)) most=$((most + after))
	done
	sleep 1
	end_run "$run_pid" INT 130
	exec 5>&- 6>&-
	cycles=$(field cycles 1 "$BATS_TEST_TMPDIR/windows.csv")
	# Microseconds, two CPUs
	echo "$cycles, from $least us to $most us"
	# Each window begins and ends between two readings of the clock.
	in_range "$cycles" $((least * 2000)) $((most * 2000))
	# Otherwise these bounds would not tell a window from a longer one: measured 0.04 percent.
	within $least $most 1
}

@test "only marked events are shared, and all others are private" {
	start_mixed_run mixed -a -e cycles:b,cs,instructions sleep 10000
	# One perf event per CPU.
	[ "$(nr_perf_events)" = 2 ]
	end_run "$run_pid" INT 130
	perf stat --bpf-attr-map "$ATTR_MAP" -x, -o "$out" -a \
		-e cycles:b,cs,cs:b,instructions,duration_time sleep 1 2>"$err"
	is_whole cycles:b 2 1
	# Ticks of two idle CPUs, the start of sleep, and perf's own: measured 3.9 million, far less than cycles.
	in_range "$(of instructions)" 1 20000000
	# Two counts of the same event, which begin one after the other.
	in_range $(($(of cs) - $(of cs:b) + 5)) 0 10
	in_range "$(of cs)" 2 500
}

@test "a group is shared as a whole" {
	start_run one -a -e '{cycles,instructions,cs},{cycles:u,cycles:k}' sleep 10000
	one=$run_pid
	start_run two -a -e '{cycles,instructions,cs}' -e cycles:u sleep 10000
	# A group and a single event do not share: 3 + 2 + 1 events on two CPUs
	[ "$(nr_perf_events)" = 12 ]
	count -a -e '{cycles,instructions,cs},{cycles:u,cycles:k},duration_time' sleep 1
	[ "$(nr_perf_events)" = 12 ]
	is_whole cycles 2 1
	# as above, and far less than cycles: measured 2.9 million, 28 and 129,584
	in_range "$(of instructions)" 1 20000000
	in_range "$(of cs)" 2 500
	in_range "$(of cycles:u)" 1 2000000
	# perf reads one event after the other: measured equal.
	within $(($(of cycles:u) + $(of cycles:k))) "$(of cycles)" 0.001
	end_run "$one" INT 130
	end_run "$run_pid" INT 130
}

@test "members of shared groups take turns together" {
	count -a -e '{cycles,instructions,r8:u},{r11,r11:u,cycles:u},{r8,r8:k,cycles:k}' sleep 1
	cat "$out"
	[ "$(grep -c ,100.00, "$out")" = 0 ]
	for pair in "cycles instructions" "cycles r8:u" "r11 r11:u" "r11 cycles:u" "r8 r8:k" "r8 cycles:k"; do
		read -r a b <<<"$pair"
		[ "$(field "$a" 5 "$out")" = "$(field "$b" 5 "$out")" ]
		# perf reads them one after the other.
		within "$(field "$a" 4 "$out")" "$(field "$b" 4 "$out")" 0.1
	done
	# The time slice is 4 ms of 1,000, and counts of two thirds of the time are scaled: measured 0.1 percent.
	within "$(of cycles)" 2000000000 1
	within "$(of cycles:k)" 2000000000 2
}

@test "only an event that no session shares is opened" {
	start_run one -a -e cycles,instructions sleep 10000
	[ "$(nr_perf_events)" = 4 ]
	start_run two -a -e instructions,cycles:u sleep 10000
	two=$run_pid
	[ "$(nr_perf_events)" = 6 ]
	# The same under other names
	start_run three -C 0 -e cpu-cycles sleep 10000
	[ "$(nr_perf_events)" = 6 ]
	end_run "$two" INT 130
	[ "$(nr_perf_events)" = 4 ]
}

@test "counts go on while others come and go" {
	start_run long -a -I 100 -e cycles
	long=$run_pid
	for n in 1 2 3 4 5; do
		count -a -e cycles,instructions,cycles:u -- sleep 0.1
		shared -x, -o "$out" -a -e instructions,r8 true
	done
	end_run "$long" INT 130
	undisturbed long cycles
}

@test "twenty sessions come and go on one set of perf events, and leave nothing" {
	before=$(free_counters)
	# Pinned, so that they would take a counter from the pinned ones of free_counters.
	events=cycles,instructions:D,cycles:kD
	pids=()
	for n in {1..20}; do
		start_run "run$n" -a -I 500 -e $events
		pids+=("$run_pid")
	done
	has_sessions 20
	[ "$(nr_perf_events)" = 6 ]
	sleep 1
	# The first session made the leader, so it ends first. Sessions end in three different ways.
	for n in {1..20}; do
		pid=${pids[n - 1]}
		case $((n % 3)) in
		1) end_run "$pid" KILL 137 ;;
		2) end_run "$pid" INT 130 ;;
		0) end_run "$pid" TERM 143 ;;
		esac
		sleep 0.1
		[ $n = 20 ] || has_sessions $((20 - n))
		[ $n = 20 ] || [ "$(nr_perf_events)" = 6 ]
	done
	for n in {1..20}; do
		undisturbed "run$n" cycles
		[ "$(awk -F, '$4 ~ /:/ && $6 != "100.00"' "$BATS_TEST_TMPDIR/run$n.csv")" = "" ]
	done
	wait_for no_leader_objects
	[ -e "$ATTR_MAP" ]
	[ -d "${ATTR_MAP}_lock" ]
	[ "$(find /sys/fs/bpf -maxdepth 1 -name "*${ATTR_MAP##*/}*" | wc -l)" = 2 ]
	wait_for has_free_counters "$before"
}

@test "a pinned event lacks a counter on one CPU: no plain count, a shared one reported short" {
	local pinned=r8:D,r14:D,r3:D,r4:D,r10:D,r1:D	# as many as CPU 1 has
	# Without one of them the kernel gives the event up.
	wait_for has_pinned_slots 1 7
	background "$BATS_TEST_TMPDIR/pinned" perf stat -C 1 -e $pinned sleep 10000
	wait_for has_text poll "/proc/$!/wchan"
	wait_for has_no_free_counter 1
	for mode in "" -A --per-socket "-I 100"; do
		perf stat $mode -a -x, -o "$out" -e r13:D,cs sleep 0.15
		cat "$out"
		refute grep -v "<not counted>" < <(grep r13 "$out")
		grep r13 "$out" | grep -q "<not counted>"
		refute grep "<not counted>" < <(grep ,cs, "$out")
	done
	perf stat -a -x, -o "$out" -e '{r13:D,r1b}' sleep 0.1
	[ "$(grep -c "<not counted>" "$out")" = 2 ]
	shared -a -A -x, -o "$out" -e r13:D,cs sleep 0.1 2>"$err"
	cat "$out" "$err"
	grep -q "^CPU0,[0-9]*,,armv8_pmuv3/r13/D,[0-9]*,100.00,," "$out"
	grep -q "^CPU1,<not counted>,,armv8_pmuv3/r13/D," "$out"
	grep -qx "perf stat: 'armv8_pmuv3/r13/D': [1-9][0-9]* readings failed, its counts are short: a pinned event found no free counter" "$err"
	[ "$(grep -c . "$err")" = 1 ]
}

# has_pinned_slots CPU NR : pinned events find NR free counters
has_pinned_slots() {
	[ "$("$WORKLOADS/pinned_slots" "$1")" = "$2" ]
}

# has_no_free_counter CPU : pinned events have all counters except that of cycles
has_no_free_counter() {
	perf stat -C "$1" -x, -o "$out" -e r1b:D true || return
	grep -q "<not counted>" "$out"
}

@test "hardware counters are free again after all sessions were killed" {
	before=$(free_counters)
	start_run one -a -e cycles:D,instructions:D sleep 10000
	one=$run_pid
	start_run two -a -e cycles:D,cycles:uD,r8 sleep 10000
	[ "$("$WORKLOADS/pinned_slots" 1)" = 4 ]
	kill -KILL "$one" "$run_pid"
	wait "$one" "$run_pid" || :
	wait_for has_free_counters "$before"
	wait_for no_leader_objects
	# The next session removes the entries of dead ones from the attr map.
	[ "$(entries)" = 4 ]
	count -a -e cycles,duration_time sleep 1
	is_whole cycles 2 1
	[ "$(entries)" = 0 ]
}
