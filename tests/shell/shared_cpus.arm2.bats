#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# Shared counters of whole CPUs on the emulated PMU. A cycle is a nanosecond there, on a busy CPU
# and on an idle one, so cycles are held against the time that the run itself was enabled for
# (duration_time), and against the clock.

load helpers

# count OPTION... : a run, its rows as CSV to $out; it says nothing
count() {
	shared -x, -o "$out" "$@" 2>"$err" || return
	! grep . "$err"
}

# of EVENT
of() {
	field "$1" 1 "$out"
}

# is_whole EVENT NR_CPUS [SECONDS] : all of the time was counted, and nothing before it
is_whole() {
	cat "$out"
	[ "$(field "$1" 5 "$out")" = 100.00 ]
	within "$(of "$1")" $(($(of duration_time) * $2)) 1
	within "$(of "$1")" "$(field "$1" 4 "$out")" 0.1
	[ -z "${3:-}" ] || within "$(of "$1")" "$(($3 * $2))000000000" 1
}

# free_counters : how many hardware counters of each CPU pinned events could have; then whether
# as many events that are not pinned have one each.
free_counters() {
	"$WORKLOADS/pinned_slots" 0
	"$WORKLOADS/pinned_slots" 1
	perf stat -x, -a -e cycles,r8,r8:u,r8:k,instructions,instructions:u,instructions:k \
		sleep 0.1 2>&1 | grep -c ,100.00,
}

has_free_counters() {
	[ "$(free_counters)" = "$1" ]
}

# Another run has had the events open since long, so what was before can be seen.
hold() {
	start_run hold -a -e "$1" sleep 10000
	held_pid=$run_pid
	sleep 2
}

# clear_cpu CPU : whatever can run elsewhere does; no turn of the ordinary class on that CPU while
# one of the real-time class wants it
clear_cpu() {
	local task server=/sys/kernel/debug/sched/fair_server/cpu$1/runtime
	cleared=$1
	mask=$(cat /sys/devices/virtual/workqueue/cpumask)
	rt_runtime=$(cat /proc/sys/kernel/sched_rt_runtime_us)
	echo $((3 & ~(1 << $1))) >/sys/devices/virtual/workqueue/cpumask
	echo -1 >/proc/sys/kernel/sched_rt_runtime_us
	[ ! -e "$server" ] || { fair_runtime=$(cat "$server"); echo 0 >"$server"; }
	for task in /proc/[0-9]*; do
		taskset -pc $((1 - $1)) "${task#/proc/}" >/dev/null 2>&1 || :
	done
}

# spin_on CPU : a task that never leaves it, and lets no other get it
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
	[ ! -d "${ATTR_MAP}_lock" ] || rmdir "${ATTR_MAP}_lock"
}

@test "a second of all CPUs has a second's cycles, for the first run" {
	count -a -e cycles,duration_time sleep 1
	is_whole cycles 2 1
}

@test "a second of all CPUs has a second's cycles, for events open since long" {
	hold cycles
	count -a -e cycles,duration_time sleep 1
	is_whole cycles 2 1
	# The one that was there has its own, longer window.
	end_run "$held_pid" INT 130
	in_range "$(field cycles 1 "$BATS_TEST_TMPDIR/hold.csv")" 6000000000 20000000000
}

@test "an idle CPU has cycles and no instructions" {
	hold cycles,instructions,cycles:u,cycles:k
	count -C 1 -e cycles,instructions,cycles:u,cycles:k,duration_time sleep 1
	is_whole cycles 1 1
	is_whole cycles:k 1 1
	# What CPU 0 does is in the instructions, too: a single counter of the emulator.
	in_range "$(of instructions)" 1 30000000
	in_range "$(of cycles:u)" 0 3000000
}

@test "a CPU that one task never leaves is counted, without a single context switch" {
	events=cycles,instructions,cycles:u,cycles:k,cs
	hold $events
	spin_on 1
	count -C 1 -e $events,duration_time sleep 1
	is_whole cycles 1 1
	[ "$(of cs)" = 0 ]
	within "$(of cycles:u)" "$(of cycles)" 1
	in_range "$(of cycles:k)" 1 10000000
	within "$(of instructions)" "$(of cycles)" 0.1
	count -a -e $events,duration_time sleep 1
	is_whole cycles 2 1
}

@test "a CPU that one task never leaves has its first run" {
	spin_on 1
	count -C 1 -e cycles,cs,duration_time sleep 1
	is_whole cycles 1 1
	[ "$(of cs)" = 0 ]
}

@test "a CPU that one task never leaves has intervals" {
	spin_on 1
	count -C 1 -I 200 -e cycles sleep 1.1
	cat "$out"
	mapfile -t cycles < <(awk -F, '$4 == "cycles" { print $2 }' "$out")
	[ ${#cycles[@]} = 6 ]
	for n in 0 1 2 3 4; do
		within "${cycles[n]}" 200000000 1
	done
}

@test "user space and kernel are all there is, and are told apart" {
	hold cycles,cycles:u,cycles:k,instructions:u,instructions:k
	count -a -e cycles,cycles:u,cycles:k taskset -c 1 "$WORKLOADS/spin" 200000000
	cat "$out"
	in_range "$(of cycles:u)" 400000000 404000000
	within $(($(of cycles:u) + $(of cycles:k))) "$(of cycles)" 0.1
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
	in_range "$own" 400000000 402000000
	[ "$other" -lt 10000000 ]
}

@test "-D begins late" {
	hold cycles
	shared -x, -o "$out" -a -D 700 -e cycles,duration_time sleep 2
	is_whole cycles 2
	within "$(of cycles)" 2600000000 1
}

@test "-I prints what came since the last time, and all of it" {
	hold cycles
	count -a -I 250 -e cycles sleep 1.1
	cat "$out"
	mapfile -t cycles < <(awk -F, '$4 == "cycles" { print $2 }' "$out")
	[ ${#cycles[@]} = 5 ]
	for n in 0 1 2 3; do
		within "${cycles[n]}" 500000000 1
	done
	# The time of the last row is that since the start.
	end_ns=$(awk -F, '$4 == "cycles" { t = $1 } END { print int(t * 1e9) }' "$out")
	sum=0
	for n in "${cycles[@]}"; do sum=$((sum + n)); done
	within $sum $((end_ns * 2)) 1
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
	in_range "$cycles" $((least * 2000)) $((most * 2000))
	within $least $most 1
}

@test "only what is marked is shared, the rest is counted alone" {
	start_mixed_run mixed -a -e cycles:b,cs,instructions sleep 10000
	# One perf event per CPU.
	[ "$(nr_perf_events)" = 2 ]
	end_run "$run_pid" INT 130
	perf stat --bpf-attr-map "$ATTR_MAP" -x, -o "$out" -a \
		-e cycles:b,cs,cs:b,instructions,duration_time sleep 1 2>"$err"
	is_whole cycles:b 2 1
	in_range "$(of instructions)" 1 60000000
	# Two counts of the same, begun one after the other.
	in_range $(($(of cs) - $(of cs:b) + 5)) 0 10
	in_range "$(of cs)" 2 500
}

@test "a group is shared as a whole" {
	start_run one -a -e '{cycles,instructions,cs},{cycles:u,cycles:k}' sleep 10000
	one=$run_pid
	start_run two -a -e '{cycles,instructions,cs}' -e cycles:u sleep 10000
	# A group and a single event are different things: 3 + 2 + 1 events on two CPUs
	[ "$(nr_perf_events)" = 12 ]
	count -a -e '{cycles,instructions,cs},{cycles:u,cycles:k},duration_time' sleep 1
	[ "$(nr_perf_events)" = 12 ]
	is_whole cycles 2 1
	in_range "$(of instructions)" 1 60000000
	in_range "$(of cs)" 2 500
	in_range "$(of cycles:u)" 1 20000000
	within $(($(of cycles:u) + $(of cycles:k))) "$(of cycles)" 0.1
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
		# They are read one after the other.
		within "$(field "$a" 4 "$out")" "$(field "$b" 4 "$out")" 0.1
	done
	within "$(of cycles)" 2000000000 1
	within "$(of cycles:k)" 2000000000 2
}

@test "an event that some run has is not opened again, one more is" {
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

@test "twenty runs share one set of perf events, come and go, and leave nothing" {
	before=$(free_counters)
	# Pinned, so that they would take a counter from the pinned ones of free_counters.
	events=cycles,instructions:D,cycles:kD
	pids=()
	for n in {1..20}; do
		start_run "run$n" -a -I 500 -e $events
		pids+=("$run_pid")
	done
	has_runs 20
	[ "$(nr_perf_events)" = 6 ]
	sleep 1
	# The first made the leader, so it is the one to go first. One after the other, all three ways.
	for n in {1..20}; do
		pid=${pids[n - 1]}
		case $((n % 3)) in
		1) end_run "$pid" KILL 137 ;;
		2) end_run "$pid" INT 130 ;;
		0) end_run "$pid" TERM 143 ;;
		esac
		sleep 0.1
		[ $n = 20 ] || has_runs $((20 - n))
		[ $n = 20 ] || [ "$(nr_perf_events)" = 6 ]
	done
	for n in {1..20}; do
		undisturbed "run$n" cycles
		[ "$(awk -F, '$4 ~ /:/ && $6 != "100.00"' "$BATS_TEST_TMPDIR/run$n.csv")" = "" ]
	done
	wait_for no_leader_objects
	[ -e "$ATTR_MAP" ]
	[ -d "${ATTR_MAP}_lock" ]
	[ "$(ls /sys/fs/bpf | grep -c "${ATTR_MAP##*/}")" = 2 ]
	wait_for has_free_counters "$before"
}

@test "hardware counters are free again when all runs were killed" {
	before=$(free_counters)
	start_run one -a -e cycles:D,instructions:D sleep 10000
	one=$run_pid
	start_run two -a -e cycles:D,cycles:uD,r8 sleep 10000
	[ "$("$WORKLOADS/pinned_slots" 1)" = 4 ]
	kill -KILL "$one" "$run_pid"
	wait "$one" "$run_pid" || :
	wait_for has_free_counters "$before"
	wait_for no_leader_objects
	# What the dead left in the attr map goes with the next run.
	[ "$(entries)" = 4 ]
	count -a -e cycles,duration_time sleep 1
	is_whole cycles 2 1
	[ "$(entries)" = 0 ]
}
