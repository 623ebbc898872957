#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# perf stat -b: how often BPF programs run, and events that every machine has, on two CPUs.

load progs

on_both() {
	"$WORKLOADS/progrun" "$P/target_loop" 100 10 0
	"$WORKLOADS/progrun" "$P/target_loop" 40 10 1
}

@test "executions are counted on the chosen CPUs, and can be shown by CPU" {
	counting all -b "$(id loop)" -e bpf_runs
	a=$run_pid
	counting one -b "$(id loop)" -C 1 -e bpf_runs,cpu-clock
	b=$run_pid
	counting each -b "$(id loop)" -A -e bpf_runs
	c=$run_pid
	on_both
	end_run $a INT 130
	end_run $b INT 130
	end_run $c INT 130
	is_equal "$(field bpf_runs 1 "$T/all.csv")" 140
	is_equal "$(field bpf_runs 1 "$T/one.csv")" 40
	is_equal "$(awk -F, '/^CPU/ { print $1 "=" $2 }' "$T/each.csv" | paste -sd' ')" "CPU0=100 CPU1=40"
	nothing_attached
}

@test "executions on a CPU for which the leader has no room are missing, with a warning" {
	# It was added later: the session that makes the leader has a sysfs without CPU 1.
	make_sysfs 0 0
	SYSFS_PATH=$sysfs start_run small -a -e page-faults
	counting all -b "$(id loop)" -e bpf_runs,cpu-clock
	a=$run_pid
	counting one -b "$(id loop)" -C 0 -e bpf_runs,cpu-clock
	b=$run_pid
	on_both
	end_run $a INT 130
	end_run $b INT 130
	diff - "$T/all.err" <<-'END'
		perf stat: CPU 1 was added after the first session began: it is not counted until all sessions have ended
	END
	is_silent "$T/one.err"
	is_equal "$(field bpf_runs 1 "$T/all.csv")" 100
	is_equal "$(field bpf_runs 1 "$T/one.csv")" 100
}

@test "a socket has a count if the program ran on only one of its CPUs" {
	prog_stat -b "$(id loop)" --per-socket -x, -o "$T/out" -e cpu-clock,bpf_runs \
		"$WORKLOADS/progrun" "$P/target_loop" 40 10 1
	refute grep -F 'not counted' "$T/out"
	is_equal "$(awk -F, '$5 == "bpf_runs" { sum += $3 } END { print sum }' "$T/out")" 40
}

@test "no execution is lost silently when programs preempt each other on two CPUs" {
	preempt=/sys/kernel/debug/sched/preempt
	[ ! -e $preempt ] || echo full >$preempt
	before=$(seen 1)
	counting a -b "$(id syscall)" -e bpf_runs,cpu-clock
	pids=()
	for cpu in 0 0 1 1; do
		taskset -c $cpu "$WORKLOADS/progrun" "$P/target_syscall" 100 2000 3>&- &
		pids+=($!)
	done
	# Its priority is higher: it preempts them where it can
	chrt -r 1 taskset -c 0 "$WORKLOADS/progrun" -s "$P/target_syscall" 200 10
	wait "${pids[@]}"
	end_run "$run_pid" INT 130
	cat "$T/a.err" >&2
	# A task that preempts another within our second probe is not seen to leave.
	missed=$(sed -n 's/.*: \([0-9]*\) more executions ended unseen: .*/\1/p' "$T/a.err")
	is_equal $(($(field bpf_runs 1 "$T/a.csv") + ${missed:-0})) $(($(seen 1) - before))
	is_equal $(($(seen 1) - before)) 600
	nothing_attached
}

@test "events of a foreign leader are also counted in programs" {
	background "$T/lead" "${WORKLOADS%/*}/foreign/foreign" lead "$ATTR_MAP" 1 0	# cpu-clock
	lead=$!
	wait_for has_text ready "$T/lead"
	prog_stat -v -b "$(id loop)" -x, -o "$T/out" -e bpf_runs,cpu-clock,page-faults \
		"$WORKLOADS/progrun" "$P/target_loop" 300 1000 2>"$T/err"
	cat "$T/err" >&2
	grep -q "1 of another leader's events are counted" "$T/err"
	refute grep -q 'could not be read' "$T/err"
	is_equal "$(field bpf_runs 1 "$T/out")" 300
	# 300 executions of a thousand rounds take a microsecond each, or longer.
	at_least "$(field cpu-clock 1 "$T/out")" 0.3
	is_equal "$(field page-faults 1 "$T/out")" 0
	kill -TERM $lead
	wait $lead || :
}

@test "test executions are counted exactly" {
	names=(loop subprog caller lwt_in lwt_xmit syscall)
	prog_stat -b "$(printf "pinned:$P/target_%s\n" "${names[@]}" | paste -sd,)" --per-prog -x, -o "$T/out" \
		-e bpf_runs,cpu-clock,page-faults -- \
		bash -c 'for name; do "$WORKLOADS/progrun" "$0/target_$name" 100 50; done' "$P" "${names[@]}"
	for name in "${names[@]}"; do
		is_equal "$name $(prog_field "target_$name-$(id "$name")" bpf_runs 1 "$T/out")" "$name 100"
		at_least "$(prog_field "target_$name-$(id "$name")" cpu-clock 4 "$T/out")" 1
		is_equal "$name $(prog_field "target_$name-$(id "$name")" page-faults 1 "$T/out")" "$name 0"
	done
	nothing_attached
}

@test "executions at a real tracepoint are counted exactly" {
	counting a -b "id:$(id seen)" -e bpf_runs,cpu-clock
	before=$(seen 0)
	"$WORKLOADS/progrun" -s -a sched_switch "$P/target_seen" 500 20
	runs=$(($(seen 0) - before))
	end_run "$run_pid" INT 130
	is_equal "$(field bpf_runs 1 "$T/a.csv")" "$runs"
	at_least "$runs" 1000
	clean "$T/a.err"
}

@test "two programs are told apart, with name and id in each row" {
	loop=target_loop-$(id loop) twin=target_twin-$(id twin)
	prog_stat -b "$(id loop),id:$(id twin)" --per-prog -x, -o "$T/out" -e bpf_runs -- \
		bash -c "'$WORKLOADS/progrun' '$P/target_loop' 70 10; '$WORKLOADS/progrun' '$P/target_twin' 30 10"
	is_equal "$(prog_field "$loop" bpf_runs 1 "$T/out")" 70
	is_equal "$(prog_field "$twin" bpf_runs 1 "$T/out")" 30

	# The sum, without --per-prog
	prog_stat -b "$(id loop),id:$(id twin)" -x, -o "$T/out" -e bpf_runs -- \
		bash -c "'$WORKLOADS/progrun' '$P/target_loop' 70 10; '$WORKLOADS/progrun' '$P/target_twin' 30 10"
	is_equal "$(field bpf_runs 1 "$T/out")" 100

	# JSON
	prog_stat -b "$(id loop)" --per-prog -j -o "$T/out" -e bpf_runs,page-faults -- \
		"$WORKLOADS/progrun" "$P/target_loop" 7
	is_equal "$(jq -r '.program + " " + .event + " " + ."counter-value" + " " + ."metric-unit"' "$T/out")" \
		"$loop bpf_runs 7.000000 
$loop page-faults 0.000000 per run"

	# The standard format
	prog_stat -b "$(id loop)" --per-prog -o "$T/out" -e bpf_runs -- \
		"$WORKLOADS/progrun" "$P/target_loop" 7
	grep -E "^$loop +7 +bpf_runs" "$T/out"
	grep -qF "Performance counter stats for 'BPF program(s) $(id loop)':" "$T/out"
}

@test "a program is found by id, name, tag and pin, and counted once" {
	tag=$($bpftool -j prog show pinned "$P/target_loop" | json_value tag)
	prog_stat -b "$(id loop),id:$(id loop),pinned:$P/target_loop" -x, -o "$T/out" -e bpf_runs \
		"$WORKLOADS/progrun" "$P/target_loop" 11
	is_equal "$(field bpf_runs 1 "$T/out")" 11
	# Both loops have the same instructions
	for list in "tag:$tag" "name:target_loop,name:target_twin"; do
		prog_stat --bpf-prog "$list" -x, -o "$T/out" -e bpf_runs -- bash -c "
			'$WORKLOADS/progrun' '$P/target_loop' 11; '$WORKLOADS/progrun' '$P/target_twin' 20"
		is_equal "$(field bpf_runs 1 "$T/out")" 31
	done
}

@test "ten sessions of one program share one pair of probes, and all count exactly" {
	events=(cpu-clock page-faults cs,faults migrations task-clock cpu-clock dummy minor-faults
		major-faults cpu-clock,cs)
	pids=()
	for i in {0..9}; do
		counting "$i" -b "$(id loop)" -e "bpf_runs,${events[i]}"
		pids+=("$run_pid")
		prog_run loop 100
	done
	is_equal "$(pairs)" 1
	# Some end, one of them without a word
	for i in 0 4 6; do
		end_run "${pids[i]}" INT 130
		prog_run loop 100
	done
	kill -KILL "${pids[2]}"
	wait "${pids[2]}" || :
	prog_run loop 100
	counting late -b "$(id loop)" -e bpf_runs,emulation-faults
	late=$run_pid
	prog_run loop 100
	is_equal "$(pairs)" 1
	for i in 1 3 5 7 8 9; do
		end_run "${pids[i]}" INT 130
		is_equal "$(field bpf_runs 1 "$T/$i.csv")" $((1500 - 100 * i))
		clean "$T/$i.err"
		refute grep -q . "$T/$i.err"
		# none of its events lost a run
		for event in ${events[i]//,/ }; do
			at_least "$(field "$event" 4 "$T/$i.csv")" 1
		done
	done
	end_run "$late" INT 130
	is_equal "$(field bpf_runs 1 "$T/late.csv")" 100
	is_equal "$(field bpf_runs 1 "$T/0.csv")" 1000
	is_equal "$(field bpf_runs 1 "$T/4.csv")" 700
	is_equal "$(field bpf_runs 1 "$T/6.csv")" 600
	nothing_attached
}

@test "a session killed at any step leaves nothing attached, and others count on" {
	for step in pair-claimed pair-attached pair-written pair-joined pair-left pair-emptied; do
		# Only a pair that others use, too, is left before it is empty.
		[ $step = pair-left ] || killed_at $step prog_stat -b "$(id loop)" -e cpu-clock,bpf_runs \
			"$WORKLOADS/progrun" "$P/target_loop" 10
		nothing_attached
		# and the same beside another
		counting a -b "$(id loop)" -e bpf_runs,cpu-clock
		pid=$run_pid
		killed_at $step prog_stat -b "$(id loop),$(id twin)" -e page-faults,bpf_runs \
			"$WORKLOADS/progrun" "$P/target_loop" 10
		before=$(prog_run loop 50 && echo done)
		prog_stat -b "$(id loop)" -x, -o "$T/out" -e bpf_runs,cs "$WORKLOADS/progrun" "$P/target_loop" 20
		is_equal "$(field bpf_runs 1 "$T/out")" 20
		end_run "$pid" INT 130
		# The command of the killed session has ten more, if it got that far.
		in_range "$(field bpf_runs 1 "$T/a.csv")" 70 80
		clean "$T/a.err"
		nothing_attached
	done
}

@test "counts of a program until its unloading are reported" {
	counting a -b "$(id loop)" -e bpf_runs,cpu-clock
	prog_run loop 123 10
	number=$(id loop)
	rm "$P/target_loop"
	prog_run twin 5
	end_run "$run_pid" INT 130
	is_equal "$(field bpf_runs 1 "$T/a.csv")" 123
	wait_for gone "$number"
	nothing_attached
}

gone() {
	! $bpftool prog show id "$1" >/dev/null 2>&1
}

@test "only executions that end within a window count, in any number of windows" {
	window w -b "$(id loop)" -e bpf_runs,cpu-clock
	prog_run loop 10
	for n in 1 2 3; do
		tell w enable
		prog_run loop 100
		tell w disable
		prog_run loop 1000
	done
	finish w
	is_equal "$(field bpf_runs 1 "$T/w.out")" 300
}

@test "intervals add up" {
	prog_stat -b "$(id loop)" -I 5 -x, -o "$T/out" -e bpf_runs "$WORKLOADS/progrun" -s "$P/target_loop" 300 100
	is_equal "$(awk -F, '$4 == "bpf_runs" { sum += $2; rows++ } END { print sum, (rows > 1) }' "$T/out")" "300 1"
}

@test "--timeout ends counting, and earlier executions are counted" {
	before=$(seen 0)
	prog_stat -b "$(id seen)" --timeout 20 -x, -o "$T/out" -e bpf_runs,cpu-clock \
		"$WORKLOADS/progrun" "$P/target_seen" 1000000000 10 || :
	# The program runs before the session begins and goes on behind its end.
	in_range "$(field bpf_runs 1 "$T/out")" 1 $(($(seen 0) - before))
	nothing_attached
}

@test "executions in which the task slept are counted apart" {
	prog_stat -b "$(id syscall)" -x, -o "$T/out" -e bpf_runs,cpu-clock -- bash -c "
		'$WORKLOADS/progrun' -f '$P/target_syscall' 20 100
		'$WORKLOADS/progrun' '$P/target_syscall' 30 100" 2>"$T/err"
	is_equal "$(field bpf_runs 1 "$T/out")" 50
	grep -E "^perf stat: 'target_syscall' \(id [0-9]+\): 20 of 50 executions were preempted; their counts are excluded: cpu-clock [0-9]+$" "$T/err"
	# 20 times at least a millisecond, and the other 30 are short
	in_range "$(sed -n 's/.*cpu-clock //p' "$T/err")" 20000000 1e9
	in_range "$(field cpu-clock 1 "$T/out")" 0.01 15
}

@test "executions that interrupt others are counted, or reported as missed" {
	prog_stat -b "$(id seen)" -x, -o "$T/out" -e bpf_runs,cpu-clock \
		"$WORKLOADS/progrun" -i 20 -a hrtimer_expire_entry "$P/target_seen" 2000 3000 2>"$T/err"
	missed=$(sed -n 's/.*: \([0-9]*\) more executions ended unseen: .*/\1/p' "$T/err")
	cat "$T/err" >&2
	is_equal $(($(field bpf_runs 1 "$T/out") + ${missed:-0})) "$(seen 0)"
	# 2,000 executions, and at least a hundred timers that interrupted them
	at_least "$(seen 0)" 2100
}

@test "-b all takes all countable programs except those of tools that count" {
	counting progs -b "$(id twin)" -e cpu-clock
	counting tasks --bpf-counters -p $$ -e cpu-clock
	counting cgroups --bpf-counters -a --for-each-cgroup / -e cpu-clock
	counting others --bpf-attr-map "${ATTR_MAP}_2" -b "$(id loop)" -e cpu-clock
	background "$T/profile" perf profile --bpf-attr-map "$ATTR_MAP" -a -e cpu-clock
	wait_for counts_or_ended $!
	perf list bpf | grep -q 'name:on_lookup '
	prog_stat -b all --per-prog -x, -o "$T/out" -e bpf_runs "$WORKLOADS/progrun" "$P/target_loop" 9
	is_equal "$(prog_field "target_loop-$(id loop)" bpf_runs 1 "$T/out")" 9
	is_equal "$(prog_field "target_twin-$(id twin)" bpf_runs 1 "$T/out")" 0
	refute grep '^on_' "$T/out"	# all of ours are called so
	end_jobs
	nothing_attached
	rm "${ATTR_MAP}_2"
	rm -r "${ATTR_MAP}_2_lock"
}

@test "perf bperf list shows which programs are counted, and by which sessions" {
	counting a -b "$(id loop),$(id twin)" -e cpu-clock,page-faults,bpf_runs
	a=$run_pid
	counting b -b "$(id loop)" -e cpu-clock,cs
	b=$run_pid
	loop=$(id loop) twin=$(id twin)
	perf bperf list --bpf-attr-map "$ATTR_MAP" >"$T/list"
	cat "$T/list" >&2
	is_equal "$(awk '$1 == "PROGRAM" { on = 1 } !NF { on = 0 } on { $1 = $1; print }' "$T/list")" \
		"PROGRAM ID TYPE SESSIONS EVENTS PIDS
target_loop $loop raw_tracepoint 2 3 $a,$b
target_twin $twin raw_tracepoint 1 2 $a"
	# One that was unloaded is counted to the end.
	rm "$P/target_twin"
	end_run "$b" INT 130
	perf bperf list -j --bpf-attr-map "$ATTR_MAP" | jq -S .programs >"$T/json"
	jq -nS --argjson loop "$loop" --argjson twin "$twin" --argjson a "$a" '[
		{program: "target_loop", id: $loop, type: "raw_tracepoint", runs: 1, pids: [$a], events: 2},
		{program: "target_twin", id: $twin, type: "raw_tracepoint", runs: 1, pids: [$a], events: 2}]' |
		diff - "$T/json"
	end_run "$a" INT 130
	is_equal "$(perf bperf list -j --bpf-attr-map "$ATTR_MAP" | jq -c .programs)" '[]'
}

@test "perf list bpf shows what can be counted, and why the others cannot" {
	"$WORKLOADS/progrun" -n "$P/target_plain"
	echo 1 >/proc/sys/kernel/bpf_stats_enabled
	prog_run empty 7
	echo 0 >/proc/sys/kernel/bpf_stats_enabled
	perf list bpf >"$T/out"
	grep -A1 -F "id:$(id empty) OR name:target_empty" "$T/out" | grep -F '[7 executions]'
	grep -F "id:$(id loop) OR name:target_loop" "$T/out"
	grep -A1 -F "id:$(id plain) OR name:target_plain" "$T/out" | grep -F 'cannot be counted: it has no BTF'
	perf list --raw-dump bpf >"$T/raw"
	grep -qw "id:$(id loop)" "$T/raw"
	refute grep -qw "id:$(id plain)" "$T/raw"
	perf list -j bpf | jq -e --arg id "id:$(id xdp)" '.[] | select(.EventName == $id) | .EventType == "BPF program, xdp"'
}

@test "perf warns about tail calls where it can know them" {
	$bpftool map update pinned "${P}_maps/tails" key 0 0 0 0 value pinned "$P/target_tail"
	prog_stat -b "$(id tail)" -x, -o "$T/out" -e bpf_runs "$WORKLOADS/progrun" "$P/target_caller" 10 2>"$T/err"
	is_equal "$(<"$T/err")" "perf stat: 'target_tail' (id $(id tail)) is in a map for tail calls: executions that begin by a tail call are not counted"
	is_equal "$(field bpf_runs 1 "$T/out")" 0
	prog_stat -b "$(id caller)" -x, -o "$T/out" -e bpf_runs "$WORKLOADS/progrun" "$P/target_caller" 10 2>"$T/err"
	is_equal "$(<"$T/err")" "perf stat: 'target_caller' (id $(id caller)) makes tail calls: its callees are counted as part of it"
	is_equal "$(field bpf_runs 1 "$T/out")" 10
}

@test "programs that cannot be counted are refused in one line, and nothing stays attached" {
	"$WORKLOADS/progrun" -n "$P/target_plain"
	refused 1 prog_stat -b 99999 true <<-'END'
		perf stat: -b 99999: there is no BPF program with this id (perf list bpf)
	END
	refused 1 prog_stat -b "$(id loop),name:nosuch" true <<-'END'
		perf stat: -b name:nosuch: no BPF program has this name (perf list bpf)
	END
	refused 1 prog_stat -b "$(id plain)" true <<-END
		perf stat: -b $(id plain): 'target_plain' (id $(id plain)) cannot be counted: it has no BTF (compile it with -g, and load it with a loader that passes BTF on)
	END
	refused 1 prog_stat -b "name:target_plain" true <<-END
		perf stat: -b name:target_plain: 'target_plain' (id $(id plain)) cannot be counted: it has no BTF (compile it with -g, and load it with a loader that passes BTF on)
	END
	nothing_attached
}

@test "an interpreted program is refused, and others of the same name are counted" {
	echo 0 >/proc/sys/net/core/bpf_jit_enable || skip_or_fail "this kernel compiles all programs"
	mkdir "$P/slow"
	"$WORKLOADS/progload" "$WORKLOADS/targets.bpf.o" "$P/slow"
	echo 1 >/proc/sys/net/core/bpf_jit_enable
	refused 1 prog_stat -b "pinned:$P/slow/target_loop" true <<-END
		perf stat: -b pinned:$P/slow/target_loop: 'target_loop' (id $(id_of "$P/slow/target_loop")) cannot be counted: it is interpreted: only compiled programs can be traced (net.core.bpf_jit_enable=1, and load it again)
	END
	prog_stat -b name:target_loop -x, -o "$T/out" -e bpf_runs -- bash -c "
		'$WORKLOADS/progrun' '$P/target_loop' 5; '$WORKLOADS/progrun' '$P/slow/target_loop' 6"
	is_equal "$(field bpf_runs 1 "$T/out")" 5
	nothing_attached
}
