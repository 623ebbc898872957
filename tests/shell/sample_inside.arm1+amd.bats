#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# Samples can come between any two instructions of the leader's programs. A breakpoint on a word that these
# write makes them come there, as an NMI would.

load sample
load cgroups
load shared

teardown() {
	end_jobs
	remove_map
	remove_top
}

# start_keeper : a session that keeps the leader, and whose syncs also change a CPU's state; $T/words has the
# address of that
start_keeper() {
	background "$T/keeper" perf stat --bpf-counters --bpf-attr-map "$ATTR_MAP" -x, -I 10 -a -e page-faults:u,cs
	wait_for has_text cs "$T/keeper"
	"$WORKLOADS/leader_words" "$ATTR_MAP" >"$T/words"
}

# counted COMMAND... : count it shared and not; the leader's programs do nothing in user mode
counted() {
	local events=page-faults:u,page-faults:ub
	[ "$PLACE" = amd ] || events+=,instructions:u,instructions:ub
	perf stat --bpf-attr-map "$ATTR_MAP" -x, -o "$T/counts" -e "$events" "$@"
	cat "$T/counts" >&2
	awk -F, '$3 ~ /b$/ { nr++; if ($1 != last || $1 < 5000) bad = 1 } { last = $1 } END { exit bad || !nr }' "$T/counts"
}

# samples_at COLUMN... : while these words of each CPU are written, or read, counts are exact. Each time is a sample, or
# the kernel reports that it dropped it: inside of a kprobe's program. $nr is the number of samples.
samples_at() {
	local events sampler word words
	events=$(awk -v columns="$*" '{ n = split(columns, column, " "); for (i = 1; i <= n; i++) print "mem:" $column[i] (column[i] == 6 ? "/4:rw" : "/8:w") }' "$T/words" | sort -u)
	words=$(wc -l <<<"$events")
	start_sampler inside -q -a -c 1 "${events//$'\n'/,}"
	sampler=$sampler_pid
	counted sh -c "$WORKLOADS/brood 100 20; $WORKLOADS/switches 1000; $WORKLOADS/spawns 100 /bin/true"
	end_sampler "$sampler"
	grep -E 'kept.nr|dropped by the kernel.nr|counted' "$T/inside" >&2
	nr=0
	for ((word = 0; word < words; word++)); do
		[ "$(total counted "$T/inside" "$word")" -gt 0 ]
		[ "$(total counted "$T/inside" "$word")" = \
			$(($(total kept "$T/inside" "$word") + $(total 'dropped by the kernel' "$T/inside" "$word"))) ]
		nr=$((nr + $(total kept "$T/inside" "$word")))
	done
}

@test "samples inside of the leader's programs at switches and ends spoil no count" {
	start_keeper
	samples_at 2 3
	[ "$nr" -gt 3000 ]
}

@test "samples inside of the program at forks spoil no count" {
	start_keeper
	# The leader has the programs that follow tasks from now on.
	perf stat --bpf-counters --bpf-attr-map "$ATTR_MAP" -x, -o "$T/first" -e page-faults true
	"$WORKLOADS/leader_words" "$ATTR_MAP" >"$T/words"
	samples_at 6
	# Each of the 200 forks reads it, at least once.
	[ "$nr" -ge 200 ]
}

@test "samples inside of its readings spoil no count" {
	start_keeper
	samples_at 4
	# Each sync writes the word twice.
	[ "$nr" -gt 20 ]
	refute awk -F, '$2 !~ /^[0-9]+$/ { print; bad = 1 } END { exit !bad }' "$T/keeper"
}

# within_switches KEYS OPTION... : print these keys of the samples that a profile takes inside of the programs at switches
within_switches() {
	local keys=$1 words
	shift
	# The keeper's leader is there for both. Its words stay where they are.
	[ -s "$T/words" ] || "$WORKLOADS/leader_words" "$ATTR_MAP" >"$T/words"
	words=$(awk '{ print "mem:" $2 "/8:w" }' "$T/words")
	perf profile --bpf-attr-map "$ATTR_MAP" -e "${words//$'\n'/,}" -c 1 -s "$keys" -x, --timeout 200 "$@" >"$T/rows"
	cat "$T/rows" >&2
	awk -F, -v first=5 '/^mem:/ { key = $first; for (i = first + 1; i <= NF; i++) key = key " " $i; nr[key] += $3 }
		END { for (key in nr) print key, (nr[key] > 50 ? "often" : nr[key]) }' "$T/rows"
}

@test "samples inside of a switch are described as those of the task that has them" {
	local one
	make_top
	mkdir "$top/a" "$top/b"
	cp "$WORKLOADS/switches" "$T/one"
	cp "$WORKLOADS/switches" "$T/other"
	# shellcheck disable=SC2016 # the inner shell's
	in_cgroup() { background /dev/null taskset -c 0 sh -c 'echo 0 >"$0/cgroup.procs"; exec "$@"' "$@"; }
	in_cgroup "$top/a" "$T/one" 1000000000
	one=$!
	in_cgroup "$top/b" "$T/other" 1000000000
	wait_for is_named $! other
	wait_for is_named $one one
	background "$T/keeper" perf stat --bpf-counters --bpf-attr-map "$ATTR_MAP" -x, -e page-faults -p "$one" -I 10
	wait_for has_text page-faults "$T/keeper"
	[ "$(within_switches pid,comm -p "$one")" = "$one one often" ]
	background "$T/second" perf stat --bpf-counters --bpf-attr-map "$ATTR_MAP" -x, -e page-faults -a --for-each-cgroup "$name/a" -I 10
	wait_for has_text page-faults "$T/second"
	[ "$(within_switches cgroup,comm -a --for-each-cgroup "$name/a")" = "$name/a one often" ]
	# A session of all tasks has each with its own cgroup, also beside one that tells these two apart.
	background "$T/third" perf profile --bpf-attr-map "$ATTR_MAP" -e "$(awk '{ print "mem:" $2 "/8:w" }' "$T/words" | paste -sd ,)" -c 1 -p "$one"
	wait_for polls $!
	within_switches cgroup,comm -a >"$T/all"
	grep -qx "$name/a one often" "$T/all"
	grep -qx "$name/b other often" "$T/all"
	refute grep -E "$name/a other|$name/b one" "$T/all"
}

@test "samples that come while another one is taken are dropped, and reported as such" {
	local below above word words
	start_sampler below -q -a -F 5000 cpu-clock
	below=$sampler_pid
	"$WORKLOADS/leader_words" "$ATTR_MAP" >"$T/words"
	words=$(awk '{ print "mem:" $5 "/8:w" }' "$T/words")
	start_sampler above -q -a -c 1 "${words//$'\n'/,}"
	above=$sampler_pid
	"$WORKLOADS/spin" 200000000
	end_sampler "$above"
	end_sampler "$below"
	adds_up "$T/below"
	for ((word = 0; word < $(wc -l <<<"$words"); word++)); do
		grep -E "^total	$word	(kept.nr|dropped by the kernel.nr|counted)" "$T/above" >&2
		[ "$(total kept "$T/above" $word)" = 0 ]
		[ "$(total 'dropped by the kernel.nr' "$T/above" $word)" -gt 100 ]
		[ "$(total 'dropped by the kernel' "$T/above" $word)" = "$(total counted "$T/above" $word)" ]
	done
}

# missed_in PROGRAM : all samples of a command and its system calls, while this program runs at each of them
missed_in() {
	if [ "$PLACE" = amd ]; then
		sampled -q -a -F 5000 cpu-clock "$WORKLOADS/hooks" "$P" 200 "$1" >"$T/out"
	else
		sampled -q -a -c 20011 cycles "$WORKLOADS/hooks" "$P" 200 "$1" >"$T/out"
	fi
	grep -E 'kept.nr|dropped by the kernel|counted' "$T/out" >&2
	adds_up "$T/out"
}

# drops 1|0 : the kernel has dropped samples, or none, and the samples stand for the whole count
drops() {
	local nr
	nr=$(total 'dropped by the kernel.nr' "$T/out")
	[ "$1" = 0 ] || { [ "$nr" -gt 100 ]; return; }
	[ "$nr" = 0 ] && [ "$(total kept.nr "$T/out")" -gt 1000 ]
}

@test "samples that the kernel drops beside programs of kprobes and tracepoints are found" {
	P=/sys/fs/bpf/slow
	mkdir "$P"
	"$WORKLOADS/progload" "$WORKLOADS/slow.bpf.o" "$P"
	missed_in slow_tp
	drops "$(is_since 7 && echo 0 || echo 1)"
	missed_in slow_kprobe
	# On arm64 the interrupt waits for the end of a kprobe's program.
	[ "$PLACE" != amd ] || { drops 1 && belong_to_idle_time; }
	rm -r "$P"
}

# belong_to_idle_time : the same samples of a clock, where the kernel says that both CPUs were idle for ten seconds
belong_to_idle_time() {
	mkdir "$T/proc"
	ln -s /proc/* "$T/proc/"
	rm "$T/proc/stat"
	printf 'cpu 0 0 0 200 0\ncpu0 0 0 0 100 0\ncpu1 0 0 0 100 0\n' >"$T/proc/stat"
	# shellcheck disable=SC2016 # for the inner shell
	PROCFS_PATH=$T/proc sampled -q -a -F 5000 cpu-clock bash -c 'echo "$0" >"$1"; exec "${@:2}"' \
		$'cpu 0 0 0 2000 200\ncpu0 0 0 0 1000 100\ncpu1 0 0 0 1000 100' "$T/proc/stat" \
		"$WORKLOADS/hooks" "$P" 200 slow_kprobe >"$T/out"
	grep -E 'kept.nr|idle|dropped by the kernel|counted' "$T/out" >&2
	adds_up "$T/out"
	[ "$(total idle.nr "$T/out")" -gt 100 ]
	[ "$(total 'dropped by the kernel.nr' "$T/out")" = 0 ]
}
