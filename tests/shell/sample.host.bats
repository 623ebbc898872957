#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# Sampling of clocks, which every machine has. The machine may be busy: the kernel is then late, which the
# account of losses has.

load sample
load cgroups

teardown() {
	end_jobs
	remove_top
	remove_map
}

# has_samples PID NR FILE : it has more samples than that, at 997 Hz, but for what hidden switches explain
has_samples() {
	[ "$(samples_of "$1" "$3")" -gt $(($2 - $(unsampled 997 pid "$1"))) ]
}

@test "samples and losses of a clock are the time that it counted" {
	background /dev/null "$WORKLOADS/spin" 1000000000000
	sampled -q -a -d 700 -F 997 cpu-clock >"$T/out"
	[ "$(total period "$T/out")" = 1003009 ]
	[ "$(total kept.nr "$T/out")" -gt 100 ]
	[ "$(total counted "$T/out")" = "$(total enabled "$T/out")" ]
	adds_up "$T/out"
}

@test "a command's samples are those of its tasks, and of its children" {
	background /dev/null "$WORKLOADS/spin" 1000000000000
	# shellcheck disable=SC2016 # the inner shell's
	local command='echo $$ >"$1"; "$0" 200000000 & echo $! >>"$1"; wait; "$0" 200000000 & echo $! >>"$1"; wait' pids
	begin_witness
	sampled -F 997 cpu-clock sh -c "$command" "$WORKLOADS/spin" "$T/pids" >"$T/out"
	end_witness
	mapfile -t pids <"$T/pids"
	# both of them, and their shell, before it has that name, too
	has_samples "${pids[1]}" 20 "$T/out"
	has_samples "${pids[2]}" 20 "$T/out"
	[ "$(samples_of_others "$T/out" "${pids[@]}")" -le "$(strangers 997 pid "${pids[0]}" pid "${pids[1]}" pid "${pids[2]}")" ]
}

@test "samples of -p are those of the process, until it ends" {
	background /dev/null "$WORKLOADS/spin" 1000000000000
	spin=$!
	begin_witness
	sampled -k 0x18 -F 997 -p "$spin" cpu-clock "$WORKLOADS/ran" 0.3 "$spin" >"$T/out"
	end_witness
	has_samples "$spin" 20 "$T/out"
	[ "$(samples_of_others "$T/out" "$spin")" -le "$(strangers 997 pid "$spin")" ]
	[ "$(awk -F '\t' -v pid="$spin" '$1 == "entry" && $4 == pid { print $5 }' "$T/out" | sort -u)" = "$spin" ]
	[ "$(total other.nr "$T/out")" -gt 0 ]
}

@test "software events are sampled by period, and by frequency with weights that add up" {
	begin_witness
	sampled -c 1 page-faults "$WORKLOADS/faults" 1000 >"$T/each"
	end_witness
	# Its own start is less than 300.
	explained 1000 1300 comm faults < <(awk -F '\t' '$1 == "entry" && $6 == "faults" { nr += $8 } END { print nr }' "$T/each")
	# Tasks at whose switches no program runs have no samples either.
	in_range $(($(total counted "$T/each") - $(total taken.nr "$T/each"))) 0 "$(hidden_events)"
	background /dev/null sh -c 'while :; do "$0" 1000; done' "$WORKLOADS/faults"
	# The kernel finds a period by and by, on a busy machine late.
	start_sampler often -q -I -a -F 200 page-faults
	wait_for awk '$1 == "interval" { nr += $2 } END { exit nr <= 5 }' "$T/often"
	end_sampler "$sampler_pid"
	[ "$(total period "$T/often")" = 0 ]
	[ "$(total kept.nr "$T/often")" -gt 5 ]
	adds_up "$T/often"
}

@test "-C samples only these CPUs" {
	sampled -d 300 -C 0 -F 997 cpu-clock >"$T/out"
	refute awk -F '\t' '$1 == "entry" && $3 != 0 { found = 1; print } END { exit !found }' "$T/out"
	# at most the time that it took
	in_range "$(total enabled "$T/out")" 1 3000000000
	adds_up "$T/out"
}

@test "stacks reach from the innermost function to the outermost, and are cut where asked for" {
	background /dev/null "$WORKLOADS/kernelwork" 100000000000
	local pid=$!
	sampled -F 997 -p $pid cpu-clock "$WORKLOADS/ran" 0.3 $pid >"$T/out"
	[ "$(awk -F '\t' '$1 == "entry" && $7 == "k" && $10 > 1 && $11 > 0' "$T/out" | wc -l)" -gt 0 ]
	[ "$(awk -F '\t' '$1 == "entry" && $7 == "u" && $10 > 0' "$T/out" | wc -l)" = 0 ]
	sampled -n 1 -F 997 -p $pid cpu-clock "$WORKLOADS/ran" 0.3 $pid >"$T/cut"
	refute awk -F '\t' '$1 == "entry" && ($10 > 1 || $11 > 1) { found = 1; print } END { exit !found }' "$T/cut"
	[ "$(total truncated.nr "$T/cut")" -gt 0 ]
}

@test "-G samples the tasks of the cgroups, and of those below them" {
	make_top
	mkdir "$top/a" "$top/a/below" "$top/b"
	for dir in a/below b; do
		background /dev/null sh -c 'echo 0 >"$1/cgroup.procs"; exec "$0" 1000000000000' "$WORKLOADS/spin" "$top/$dir"
		pids+=($!)
	done
	wait_for grep -q . "$top/a/below/cgroup.procs"
	wait_for grep -q . "$top/b/cgroup.procs"
	begin_witness
	sampled -a -k 0x18 -F 997 -G "$name/a" cpu-clock "$WORKLOADS/ran" 0.3 "${pids[0]}" >"$T/out"
	sampled -a -k 0x18 -F 997 -G "$name" cpu-clock "$WORKLOADS/ran" 0.3 "${pids[@]}" >"$T/both"
	end_witness
	has_samples "${pids[0]}" 10 "$T/out"
	[ "$(samples_of_others "$T/out" "${pids[0]}")" -le "$(strangers 997 pid "${pids[0]}")" ]
	has_samples "${pids[0]}" 10 "$T/both"
	has_samples "${pids[1]}" 10 "$T/both"
	[ "$(samples_of_others "$T/both" "${pids[@]}")" -le "$(strangers 997 pid "${pids[0]}" pid "${pids[1]}")" ]
}

@test "sessions that are stopped while they sample harm no other" {
	start_sampler stopped -q -a -F 997 cpu-clock
	stopped=$sampler_pid
	kill -STOP "$stopped"
	# Tables of its own: others have their samples and their losses, not its.
	sampled -q -a -d 500 -F 499 cpu-clock >"$T/out"
	adds_up "$T/out"
	[ "$(total 'table full.nr' "$T/out")" = 0 ]
	kill -CONT "$stopped"
	end_sampler "$stopped"
	adds_up "$T/stopped"
}

@test "a session that is stopped for long drives no event, until it goes on" {
	start_sampler stopped -q -a -F 10000 cpu-clock
	stopped=$sampler_pid
	start_sampler slow -q -a -F 100 cpu-clock
	slow=$sampler_pid
	rate_is 100000
	kill -STOP "$stopped"
	wait_for rate_is 10000000
	kill -CONT "$stopped"
	wait_for rate_is 100000
	end_sampler "$slow"
	adds_up "$T/slow"
	# Its event is there for nobody else, and yet others close it.
	kill -STOP "$stopped"
	start_sampler other -q -a -F 100 page-faults
	wait_for eval 'slots | grep -qE "^0 1 1 0( 0)*$"'
	kill -CONT "$stopped"
	wait_for eval 'slots | grep -qE "^0 1 1 100000 "'
	end_sampler "$sampler_pid"
	end_sampler "$stopped"
	# All samples that it has, and the time that it misses.
	[ "$(total absent "$T/stopped")" -gt 0 ]
}

@test "a CPU that cannot be read costs a session neither its life nor its other samples" {
	local session
	: >"$T/json"
	background "$T/json" perf profile --bpf-attr-map "$ATTR_MAP" -a -e cpu-clock -F 499 -j -I 300
	session=$!
	wait_for has_text account "$T/json"
	"$WORKLOADS/sample_slots" "$ATTR_MAP" busy
	wait_for jq -n -e '[inputs] | any(.account.failed_reads > 0)' "$T/json"
	lines=$(wc -l <"$T/json")
	# CPU 1 goes on.
	[ "$(nproc)" = 1 ] || wait_for jq -n -e --argjson lines "$lines" '[inputs | select(input_line_number > $lines)] | any(.account.samples > 0)' "$T/json"
	kill -INT "$session"
	wait "$session"
}

# goes_on PID : it is stopped, and continued
goes_on() {
	wait_for is_stopped "$1"
	kill -CONT "$1"
}

# begins_meanwhile PID : while this session is stopped, another one starts, samples and ends
begins_meanwhile() {
	wait_for is_stopped "$1"
	sampled -q -a -d 300 -F 1999 cpu-clock >"$T/out"
	adds_up "$T/out"
	kill -CONT "$1"
}

# end_stopping PID : as end_sampler, of a session that stops itself
end_stopping() {
	kill -INT "$1"
	wait_for continued "$1"
	wait "$1"
}

@test "a session with several events gives the lock back after each of them" {
	local one_by_one fast
	background "$T/first" env PERF_TEST_STOP_AT=sample-slot-applied "$SAMPLER" -m "$ATTR_MAP" -q -I -a -F 1999 cpu-clock,page-faults
	one_by_one=$!
	begins_meanwhile "$one_by_one"
	goes_on "$one_by_one"
	wait_for grep -q '^interval' "$T/first"
	end_stopping "$one_by_one"
	adds_up <(awk -F '\t' '$2 == 0' "$T/first")
	wait_for no_sessions
	# A dead session leaves two events too fast. The events of the other session are there already.
	start_sampler fast -q -a -F 1999 cpu-clock,page-faults
	fast=$sampler_pid
	background "$T/slow" env PERF_TEST_STOP_AT=sample-slot-applied "$SAMPLER" -m "$ATTR_MAP" -q -a -F 499 cpu-clock,page-faults
	one_by_one=$!
	goes_on "$one_by_one"
	goes_on "$one_by_one"
	wait_for grep -q '^ready' "$T/slow"
	kill -KILL "$fast"
	begins_meanwhile "$one_by_one"
	end_stopping "$one_by_one"
	adds_up <(awk -F '\t' '$2 == 0' "$T/slow")
	wait_for no_sessions
}

# users : how many sessions use the only slot
users() {
	slots | awk '{ print $3 }'
}

@test "dead sessions are removed one by one, and no others wait for all of them" {
	local i dead=() next
	# They never look for what is to be mended.
	start_sampler living -N -q -a -F 99 cpu-clock
	for i in 1 2 3; do
		start_sampler "dead$i" -N -q -a -F 99 cpu-clock
		dead+=("$sampler_pid")
	done
	kill -KILL "${dead[@]}"
	wait "${dead[@]}" || :
	background "$T/next" env PERF_TEST_STOP_AT=sample-table-removed "$SAMPLER" -m "$ATTR_MAP" -q -a -F 99 cpu-clock
	next=$!
	wait_for is_stopped "$next"
	# It has removed one, and none of them needs the event any more.
	[ "$(users)" = 1 ]
	refute grep -q '^ready' "$T/next"
	kill -CONT "$next"
	wait_for is_stopped "$next"
	# Two were left when it gave the lock back. It has removed the next one.
	grep -q '^ready' "$T/next"
	[ "$(users)" = 2 ]
	goes_on "$next"
	goes_on "$next"
	end_stopping "$next"
	adds_up <(awk -F '\t' '$2 == 0' "$T/next")
}

@test "single samples whose rows found no memory are not those of later rows" {
	local sampler spin
	# glibc's own realloc() has two names. It fails from "ready" on: a buffer that has grown would do for later.
	cat >"$T/poor.c" <<-'EOF'
		#include <stdlib.h>
		#include <sys/stat.h>
		#include <unistd.h>
		void *__libc_realloc(void *old, size_t size);
		void *realloc(void *old, size_t size)
		{
			struct stat out;
			int is_poor = !access(getenv("POOR"), F_OK) && !fstat(1, &out) && out.st_size;
			return is_poor ? NULL : __libc_realloc(old, size);
		}
	EOF
	gcc -shared -fPIC -o "$T/poor.so" "$T/poor.c"
	background /dev/null taskset -c 0 "$WORKLOADS/spin" 1000000000000
	spin=$!
	: >"$T/poor"
	background "$T/out" env LD_PRELOAD="$T/poor.so" POOR="$T/poor" "$SAMPLER" -m "$ATTR_MAP" -C 0 -E 4000 -F 500 cpu-clock
	sampler=$!
	wait_for grep -q '^ready' "$T/out"
	# 500 samples each, also where the CPU is often taken away
	"$WORKLOADS/ran" 1 "$spin"
	rm "$T/poor"
	"$WORKLOADS/ran" 1 "$spin"
	end_sampler "$sampler"
	awk -F '\t' '
		$1 == "entry" { samples += $8 }
		$1 == "single" { singles++ }
		$1 == "total" && $3 == "late.nr" { late = $4 }
		END { print samples, singles, late; exit !(samples > 100 && singles == samples && late > 100) }' "$T/out"
}

@test "a sampling program is verified in little time" {
	verified_quickly
}

@test "all programs of a session are loaded with one walk over the kernel's types" {
	local option
	require_commands strace
	for option in -a "-p $$"; do
		# shellcheck disable=SC2086
		strace -f -o "$T/trace" -e trace=openat perf profile --bpf-attr-map "$ATTR_MAP" -e cpu-clock,page-faults $option \
			-- true >"$T/out" 2>&1
		[ "$(grep -c '"/sys/kernel/btf/vmlinux"' "$T/trace")" = 1 ]
	done
}

@test "events that cannot sample are refused, and rates above the kernel's" {
	fails_with 1 "sampler: sched:sched_switch cannot be sampled: the kernel runs no sampling program for tracepoints, and perf's own values do not overflow" \
		sampled -d 1 sched:sched_switch
	fails_with 1 "sampler: cpu-clock: listed twice" sampled -d 1 cpu-clock,cpu-clock
	fails_with 1 "sampler: cpu-clock: the kernel samples a clock every 10000 ns at most" sampled -d 1 -c 9999 cpu-clock
	max=$(</proc/sys/kernel/perf_event_max_sample_rate)
	fails_with 1 "sampler: cpu-clock: $((max + 1)) samples a second are more than the kernel allows ($max, kernel.perf_event_max_sample_rate)" \
		sampled -d 1 -F $((max + 1)) cpu-clock
	wait_for no_sessions
}
