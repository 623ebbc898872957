#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# Tasks and sessions that come and go. Most tests count shared and plainly in one session, so that only
# the way of counting differs.

load helpers
load kept

U=instructions:u

# unseen COMMAND... : run it while the leader's programs see nothing
unseen() {
	local blind
	background "$T/blind" "$WORKLOADS/leader_blind" "$ATTR_MAP"
	blind=$!
	wait_for has_text blind "$T/blind"
	"$@"
	sleep 0.5
	kill "$blind"
	wait "$blind" || :
}

# zombies N : the process $target has N children whose ends the session "long" has seen, and no releases
zombies() {
	background "$T/zombies" "$WORKLOADS/zombies" "$1"
	target=$!
	wait_for has_text ready "$T/zombies"
	both_window long $U,page-faults -p $target
	tell long enable
	"$WORKLOADS/poke" $target "$T/zombies"
	tell long disable
}

@test "10,000 short-lived children are all counted, and no entry is left" {
	# A task that is preempted in perf_event_exit_task() has ended for us, but maybe not for its plain
	# perf events: some 3 switches in 4,000 exits.
	alike 0 $U "$WORKLOADS/forks" 7000 100
	alike 1 cs "$WORKLOADS/tree" 3 13 100
	at_least "$(field cs:b 1 "$T/alike.out")" 200
	alike 0 $U "$WORKLOADS/tree" 3 9 100
	alike 0 $U "$WORKLOADS/spawns" 200 "$WORKLOADS/spin" 1000
	alike 0 $U "$WORKLOADS/threads" 500 1000
	nothing_left
}

@test "an exec by a thread that is not the first loses nothing and counts nothing twice" {
	begin_exits thread_exec exe
	alike 0 $U,cs "$WORKLOADS/thread_exec" 20 50000
	# 4 times 20 * 50,000, and the starts of 21 programs, of up to 50,000 each (plain.arm1.bats)
	in_range "$(field ${U}b 1 "$T/alike.out")" 4000000 5050000
	begin_exits thread_exec exe
	alike 0 $U,cs -i "$WORKLOADS/thread_exec" 20 50000
	nothing_left
}

@test "targets may fork, execute and end during the task walk" {
	local i
	for ((i = 0; i < 40; i++)); do
		# each time a little later in their lives
		case $((i % 4)) in
		0) "$WORKLOADS/tree" 2 4 $((i * 3000)) 3>&- & ;;
		1) "$WORKLOADS/thread_exec" $i 100000 3>&- & ;;
		2) "$WORKLOADS/spawns" $((i / 2)) "$WORKLOADS/spin" 100000 3>&- & ;;
		3) "$WORKLOADS/threads" 8 $((i * 10000)) 3>&- & ;;
		esac
		shared -x, -o "$T/gone.out" -e $U,cs -p $! 2>"$T/gone.err" || :
		# the only valid message is that the target has ended
		grep -vE '^(Error:|No supported events found\.|.*(has ended|may have ended|No such process|there is no process).*|Problems finding threads of monitor|)$' \
			"$T/gone.err" >"$T/said" || :
		cat "$T/said" >&2
		[ ! -s "$T/said" ]
	done
	nothing_left
}

# pause PID : stop it outside of the kernel
pause() {
	kill -STOP "$1"
	wait_for has_state "$1" T
}

@test "each child that a process forks after the task walk counts" {
	local delay target run_as=(chrt -f 20)
	# The counted tasks do not interrupt this session, so both windows open at once.
	for delay in 0.01 0.023 0.05; do
		"$WORKLOADS/forks" 1500 20000 3>&- &
		target=$!
		jobs_started+=("$target")
		sleep $delay
		both_window a $U,cs,page-faults -p $target
		begin_exits forks
		# Plain events must not be enabled in the midst of a fork. It gives the child events that are off
		# still, and these change places with the target's at the next switch.
		pause "$target"
		tell a enable
		kill -CONT "$target"
		sleep 0.05
		pause "$target"
		tell a disable
		kill -KILL "$target"
		wait "${run_pid[a]}" || :
		end_exits
		clean "$T/a.err"
		same a 0 $U 5000000
		missing=$(switches_in_exits) same a 0 cs 100
		same a 0 page-faults 100
	done
	nothing_left
}

@test "a task without switches of its own is counted from the task walk on" {
	[[ $(uname -r) != 6.1.* ]] || skip "on 6.1 whoever loads programs waits for ordinary tasks of the kernel"
	# No ordinary task runs beside this one, so the tasks that start, count and end it have a higher
	# priority.
	set_until_end /proc/sys/kernel/sched_rt_runtime_us -1
	chrt -f 20 bash -c '
		chrt -f 10 "$WORKLOADS/spinfor" 100 &
		until [ "$(</proc/$!/comm)" = spinfor ]; do sleep 0.01; done
		perf stat --bpf-attr-map "$0" -x, -o "$1" -e "$2" -p $! -- sleep 0.5
		kill -KILL $!' "$ATTR_MAP" "$T/spin.out" $U,${U}b,cs,cs:b 3>&-
	same spin 0 $U 450000000 500000000
	same spin 0 cs 1
	nothing_left
}

@test "100 short sessions beside a long one leave nothing, and the long one is right" {
	gang 2 50000 1
	short_runs 100 $U
	same long 0 $U $((11 * 700000)) $((11 * 710000))
}

@test "a kernel thread is counted like any other task" {
	local rcu run_as=(chrt -f 20)
	tables >"$T/before"
	rcu=$(pgrep -x 'rcu_(preempt|sched)')
	# tasks that end keep it busy
	"$WORKLOADS/forks" 1000 1000 3>&- &
	jobs_started+=($!)
	"${run_as[@]}" perf stat --bpf-attr-map "$ATTR_MAP" -x, -o "$T/kernel.out" \
		-e cs,cs:b,instructions,instructions:b -p "$rcu" -- sleep 0.1
	same kernel 0 cs 2
	same kernel 20 instructions 1000
	shared --per-thread -x, -o "$T/thread.out" -e cs -t "$rcu",2 -- sleep 0.1 2>"$T/thread.err"
	clean "$T/thread.err"
	# Their entries stay, as the tasks do: the next checks look only at the tables.
	end_jobs
	same_tables "$T/before"
}

@test "tasks that reuse memory of unseen released tasks are counted correctly" {
	local target before
	tables >"$T/before"
	zombies 200
	# The leader saw their ends, but not all releases. Entries without a seen release stay.
	unseen "$WORKLOADS/poke" $target "$T/zombies"
	before=$(state ended)
	[ "$before" -gt 180 ]
	tell long enable
	# 61 tasks that no session counts yet, and their children
	gang 60 1000 20
	work
	both_window g $U,page-faults -p "$gang"
	[ "$(state ended)" -lt "$before" ]
	tell g enable
	work
	tell g disable
	finish g
	same g 0 $U $((2 * 1000 * 1911)) $((2 * 1000 * 1911 + 200000))
	same g 0 page-faults 20
	tell long disable
	finish long
	same long 0 $U 1
	same long 0 page-faults 100
	# Their entries stay until a living task has used each one.
	end_jobs
	same_tables "$T/before"
}

@test "tasks are counted at addresses of ended ones while no program followed tasks" {
	local KEPT_MAP='' ATTR_MAP=${ATTR_MAP}_ended target before
	window cpus --bpf-counters -a -e cs
	zombies 100
	finish long
	# Now the tables of tasks have their ends. Nothing follows tasks, and others get their memory.
	"$WORKLOADS/poke" $target "$T/zombies"
	before=$(state ended)
	[ "$before" -gt 80 ]
	# The kernel frees them after a grace period.
	sleep 0.5
	gang 60 1000 20
	both_window g $U,page-faults -p "$gang"
	[ "$(state ended)" -lt "$before" ]
	tell g enable
	work
	tell g disable
	finish g
	same g 0 $U $((2 * 1000 * 1911)) $((2 * 1000 * 1911 + 200000))
	same g 0 page-faults 20
	finish cpus
	# The leader of the other map lives on.
	PLACE='' nothing_left
	remove_map
}

@test "a task with an unseen end does not keep counts of later sessions" {
	local i target before
	sleep infinity 3>&- &
	target=$!
	window lost -e ${U}b -p $target
	unseen kill $target
	# The session ends with its target, and cannot remove all its entries.
	wait "${run_pid[lost]}" || :
	wait_for state_is scopes 2
	before=$(state scopes)
	for ((i = 0; i < 10; i++)); do
		alike 0 $U "$WORKLOADS/forks" 3 1000
	done
	# There are fewer entries once another task uses that memory. This is the last test here, because
	# that may never happen.
	in_range "$(state scopes)" 1 "$before"
	[ "$(state sessions)" = 1 ]
}
