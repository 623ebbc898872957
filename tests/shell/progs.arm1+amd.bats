#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# perf stat -b: how often BPF programs run, and events that every machine has.

bats_require_minimum_version 1.5.0
load helpers
load shared
load progs

eval "base_$(declare -f setup)"
eval "base_$(declare -f teardown)"

setup() {
	base_setup
	progs_begin
}

teardown() {
	progs_end
	base_teardown
}

@test "test runs of programs of each type are counted exactly" {
	for name in loop twin empty subprog caller tail seen xdp tc cgroup socket syscall; do
		prog_stat -b "pinned:$P/target_$name" -x, -o "$T/out" -e bpf_runs,cpu-clock,page-faults \
			"$WORKLOADS/progrun" "$P/target_$name" 300 50 2>"$T/err"
		echo "$name: $(cat "$T/out" "$T/err")" >&2
		is_equal "$(field bpf_runs 1 "$T/out")" 300
		in_range "$(field cpu-clock 4 "$T/out")" 1 1e9
		is_equal "$(field page-faults 1 "$T/out")" 0
	done
	nothing_attached
}

@test "runs of a real tracepoint are counted exactly" {
	counting a -b "id:$(id seen)" -e bpf_runs,cpu-clock
	before=$(seen 6)
	"$WORKLOADS/progrun" -s -a sched_switch "$P/target_seen" 500 20
	runs=$(($(seen 6) - before))
	end_run "$run_pid" INT 130
	is_equal "$(field bpf_runs 1 "$T/a.csv")" "$runs"
	in_range "$runs" 1000 100000
	clean "$T/a.err"
}

@test "two programs are told apart, with name and id in each row" {
	loop=target_loop-$(id loop) twin=target_twin-$(id twin)
	for round in 1 2; do
		prog_run loop 700 10
		prog_run twin 300 4000
	done &
	wait $!
	prog_stat -b "$(id loop),id:$(id twin)" --per-prog -x, -o "$T/out" -e bpf_runs,cpu-clock -- \
		bash -c "'$WORKLOADS/progrun' '$P/target_loop' 700 10; '$WORKLOADS/progrun' '$P/target_twin' 300 4000"
	is_equal "$(prog_field "$loop" bpf_runs 1 "$T/out")" 700
	is_equal "$(prog_field "$twin" bpf_runs 1 "$T/out")" 300
	# 300 long ones take longer than 700 short ones
	awk -v a="$(prog_field "$twin" cpu-clock 1 "$T/out")" \
		-v b="$(prog_field "$loop" cpu-clock 1 "$T/out")" 'BEGIN { exit !(a > 1.5 * b) }'

	# The sum, without --per-prog
	prog_stat -b "$(id loop),id:$(id twin)" -x, -o "$T/out" -e bpf_runs -- \
		bash -c "'$WORKLOADS/progrun' '$P/target_loop' 700 10; '$WORKLOADS/progrun' '$P/target_twin' 300 4000"
	is_equal "$(field bpf_runs 1 "$T/out")" 1000

	# JSON
	prog_stat -b "$(id loop)" --per-prog -j -o "$T/out" -e bpf_runs -- \
		"$WORKLOADS/progrun" "$P/target_loop" 7
	is_equal "$(jq -r '.program + " " + .event + " " + ."counter-value"' "$T/out")" "$loop bpf_runs 7.000000"

	# The standard format
	prog_stat -b "$(id loop)" --per-prog -o "$T/out" -e bpf_runs -- \
		"$WORKLOADS/progrun" "$P/target_loop" 7
	grep -E "^$loop +7 +bpf_runs" "$T/out"
	grep -qF "Performance counter stats for 'BPF program(s) $(id loop)':" "$T/out"
}

@test "a program is found by id, name, tag and pin, and counted once" {
	tag=$($bpftool -j prog show pinned "$P/target_loop" | jq -r .tag)
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

@test "ten runs on one program share one pair of probes, and all count exactly" {
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
		! grep -q . "$T/$i.err"
		# none of its events lost a run
		for event in ${events[i]//,/ }; do
			in_range "$(field "$event" 4 "$T/$i.csv")" 1 1e12
		done
	done
	end_run "$late" INT 130
	is_equal "$(field bpf_runs 1 "$T/late.csv")" 100
	is_equal "$(field bpf_runs 1 "$T/0.csv")" 1000
	is_equal "$(field bpf_runs 1 "$T/4.csv")" 700
	is_equal "$(field bpf_runs 1 "$T/6.csv")" 600
	nothing_attached
}

@test "a run killed at any step leaves nothing attached, and others count on" {
	for step in pair-attached pair-written pair-joined pair-left; do
		PERF_TEST_KILL_AT=$step prog_stat -b "$(id loop)" -e cpu-clock,bpf_runs \
			"$WORKLOADS/progrun" "$P/target_loop" 10 2>/dev/null && return 1
		nothing_attached
		# and the same beside another
		counting a -b "$(id loop)" -e bpf_runs,cpu-clock
		pid=$run_pid
		PERF_TEST_KILL_AT=$step prog_stat -b "$(id loop),$(id twin)" -e page-faults,bpf_runs \
			"$WORKLOADS/progrun" "$P/target_loop" 10 2>/dev/null && return 1
		before=$(prog_run loop 50 && echo done)
		prog_stat -b "$(id loop)" -x, -o "$T/out" -e bpf_runs,cs "$WORKLOADS/progrun" "$P/target_loop" 20
		is_equal "$(field bpf_runs 1 "$T/out")" 20
		end_run "$pid" INT 130
		in_range "$(field bpf_runs 1 "$T/a.csv")" 70 80
		clean "$T/a.err"
		nothing_attached
	done
}

@test "what a program counted until it was unloaded is reported" {
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

@test "only what ends within a window counts, in any number of windows" {
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

@test "executions in which the task slept are counted apart" {
	prog_stat -b "$(id syscall)" -x, -o "$T/out" -e bpf_runs,cpu-clock -- bash -c "
		'$WORKLOADS/progrun' -f '$P/target_syscall' 20 100
		'$WORKLOADS/progrun' '$P/target_syscall' 30 100" 2>"$T/err"
	is_equal "$(field bpf_runs 1 "$T/out")" 50
	grep -E "^perf stat: 'target_syscall' \(id [0-9]+\): in 20 of 50 runs the CPU was given to other tasks meanwhile; what events counted in these, others' work included, is not in the counts: cpu-clock [0-9]+$" "$T/err"
	# 20 times at least a millisecond, and the other 30 are short
	in_range "$(sed -n 's/.*cpu-clock //p' "$T/err")" 20000000 1e9
	in_range "$(field cpu-clock 1 "$T/out")" 0.01 15
}

@test "executions that interrupt others are counted, or said to be missed" {
	prog_stat -b "$(id seen)" -x, -o "$T/out" -e bpf_runs,cpu-clock \
		"$WORKLOADS/progrun" -i 20 -a hrtimer_expire_entry "$P/target_seen" 2000 3000 2>"$T/err"
	missed=$(sed -n 's/.*: \([0-9]*\) more runs ended unseen: .*/\1/p' "$T/err")
	cat "$T/err" >&2
	is_equal $(($(field bpf_runs 1 "$T/out") + ${missed:-0})) "$(seen 6)"
	in_range "$(seen 6)" 2100 1000000
}

@test "all: what can be counted, without programs that count" {
	counting a -b "$(id twin)" -e cpu-clock
	prog_stat -b all --per-prog -x, -o "$T/out" -e bpf_runs "$WORKLOADS/progrun" "$P/target_loop" 9
	is_equal "$(prog_field "target_loop-$(id loop)" bpf_runs 1 "$T/out")" 9
	is_equal "$(prog_field "target_twin-$(id twin)" bpf_runs 1 "$T/out")" 0
	! grep -E 'on_enter|on_leave|on_switch|on_sync' "$T/out"
	end_run "$run_pid" INT 130
	nothing_attached
}

@test "perf list bpf shows what can be counted, and why the others cannot" {
	"$WORKLOADS/progrun" -n "$P/target_plain"
	perf list bpf >"$T/out"
	grep -F "id:$(id loop) OR name:target_loop" "$T/out"
	grep -A1 -F "id:$(id plain) OR name:target_plain" "$T/out" | grep -F 'cannot be counted: it has no BTF'
	perf list --raw-dump bpf >"$T/raw"
	grep -qw "id:$(id loop)" "$T/raw"
	! grep -qw "id:$(id plain)" "$T/raw"
	perf list -j bpf | jq -e --arg id "id:$(id xdp)" '.[] | select(.EventName == $id) | .EventType == "BPF program, xdp"'
}

@test "tail calls are pointed out where they can be known" {
	$bpftool map update pinned "${P}_maps/tails" key 0 0 0 0 value pinned "$P/target_tail"
	prog_stat -b "$(id tail)" -x, -o "$T/out" -e bpf_runs "$WORKLOADS/progrun" "$P/target_caller" 10 2>"$T/err"
	is_equal "$(cat "$T/err")" "perf stat: 'target_tail' (id $(id tail)) is in a map for tail calls: runs that begin by tail call are not seen"
	is_equal "$(field bpf_runs 1 "$T/out")" 0
	prog_stat -b "$(id caller)" -x, -o "$T/out" -e bpf_runs "$WORKLOADS/progrun" "$P/target_caller" 10 2>"$T/err"
	is_equal "$(cat "$T/err")" "perf stat: 'target_caller' (id $(id caller)) makes tail calls: what it calls so is counted as its own"
	is_equal "$(field bpf_runs 1 "$T/out")" 10
}

@test "what cannot be counted is refused in one line, and nothing is left attached" {
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
	# Of several with one name those that can be counted are.
	nothing_attached
}

@test "an extension is counted, and what it replaces is said to be" {
	counting a -b "$(id loop)" -e bpf_runs
	prog_run loop 3
	end_run "$run_pid" INT 130
	is_equal "$(field bpf_runs 1 "$T/a.csv")" 3
	nothing_attached
	"$WORKLOADS/progattach" "$WORKLOADS/ext.bpf.o" "$P" "$P/target_loop" target_loop
	prog_stat -b "$(id ext)" -x, -o "$T/out" -e bpf_runs,cpu-clock "$WORKLOADS/progrun" "$P/target_loop" 70
	is_equal "$(field bpf_runs 1 "$T/out")" 70
	refused 1 prog_stat -b "$(id loop)" -e bpf_runs true <<-END
		perf stat: cannot count 'target_loop' (id $(id loop)): another program replaces it (freplace), which excludes probes
	END
	nothing_attached
}

@test "struct_ops are counted" {
	$bpftool struct_ops register "$WORKLOADS/congestion.bpf.o" ||
		skip_or_fail "this kernel has no struct_ops for TCP"
	"$WORKLOADS/connects" 1 perf_test
	prog_stat -b name:target_init,name:target_undo --per-prog -x, -o "$T/out" -e bpf_runs,cpu-clock \
		"$WORKLOADS/connects" 25 perf_test
	$bpftool struct_ops unregister name perf_test
	is_equal "$(awk -F, '/^target_init-/ && $4 == "bpf_runs" { print $2 }' "$T/out")" 25
	is_equal "$(awk -F, '/^target_undo-/ && $4 == "bpf_runs" { print $2 }' "$T/out")" 0
}

@test "programs at functions and tracepoints of the kernel count with every hit" {
	mkdir "$P/at"
	"$WORKLOADS/progattach" "$WORKLOADS/tracing.bpf.o" "$P/at"
	hits() { $bpftool -j map lookup pinned "$P/at/traced" key "$1" 0 0 0 | jq .formatted.value; }
	list=pinned:$P/at/target_kprobe
	if prog_stat -b "pinned:$P/at/target_fentry" -e bpf_runs true 2>"$T/err"; then
		list+=,pinned:$P/at/target_fentry,pinned:$P/at/target_tp_btf
	else
		# Before 6.8
		grep -qF "cannot be counted: it is a tracing program, and this kernel has no tracing of such" "$T/err"
	fi
	counting a -b "$list" --per-prog -e bpf_runs
	renames=$(hits 0) fentries=$(hits 1) kprobes=$(hits 2)
	"$WORKLOADS/progrun" -s "$P/target_empty" 250
	renames=$(($(hits 0) - renames)) fentries=$(($(hits 1) - fentries)) kprobes=$(($(hits 2) - kprobes))
	end_run "$run_pid" INT 130
	cat "$T/a.csv" >&2
	# Others may sleep or be renamed while it starts and ends.
	in_range "$kprobes" 250 260
	in_range "$(awk -F, '/^target_kprobe-/ { print $2 }' "$T/a.csv")" "$kprobes" $((kprobes + 5))
	if [[ $list = *fentry* ]]; then
		in_range "$(awk -F, '/^target_fentry-/ { print $2 }' "$T/a.csv")" "$fentries" $((fentries + 5))
		in_range "$(awk -F, '/^target_tp_btf-/ { print $2 }' "$T/a.csv")" "$renames" $((renames + 10))
	fi
}
