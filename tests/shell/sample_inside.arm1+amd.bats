#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# Samples can come between any two instructions of the leader's programs. A breakpoint on a word that these
# write makes them come there, as an NMI would.

load sample

teardown() {
	end_jobs
	remove_map
}

# start_keeper : a session that keeps the leader, and whose syncs also change a CPU's state; $T/words has the
# address of that
start_keeper() {
	background "$T/keeper" perf stat --bpf-counters --bpf-attr-map "$ATTR_MAP" -x, -I 10 -a -e page-faults:u,cs
	wait_for grep -q cs "$T/keeper"
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

# samples_at COLUMN... : while these words of each CPU are written, counts are exact, and each write is a sample or
# dropped by the kernel, which says so: inside of a kprobe's program. $nr is the number of samples.
samples_at() {
	local events sampler word words
	events=$(awk -v columns="$*" '{ n = split(columns, column, " "); for (i = 1; i <= n; i++) print "mem:" $column[i] "/8:w" }' "$T/words")
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

@test "samples inside of its readings spoil no count" {
	start_keeper
	samples_at 4
	# Each sync writes the word twice.
	[ "$nr" -gt 20 ]
	refute awk -F, '$2 !~ /^[0-9]+$/ { print; bad = 1 } END { exit !bad }' "$T/keeper"
}
