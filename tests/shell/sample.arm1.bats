#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# Sampling of cycles, where each instruction is a cycle.

load sample

kernel=/proc/sys/kernel

# set_max_rate HZ : the kernel takes it only while it may lower it by itself, which 0 percent forbids
set_max_rate() {
	echo 25 >$kernel/perf_cpu_time_max_percent
	echo "$1" >$kernel/perf_event_max_sample_rate
	echo 0 >$kernel/perf_cpu_time_max_percent
}

# Stacks of other tests take so long that the kernel has lowered the highest rate, and would do so again.
setup_file() {
	cat $kernel/perf_event_max_sample_rate $kernel/perf_cpu_time_max_percent >"$BATS_FILE_TMPDIR/kernel"
	set_max_rate 100000
}

teardown_file() {
	{ read -r rate; read -r percent; } <"$BATS_FILE_TMPDIR/kernel"
	set_max_rate "$rate"
	echo "$percent" >$kernel/perf_cpu_time_max_percent
}

# keep_busy : the CPU always has something to do
keep_busy() {
	background /dev/null "$WORKLOADS/spin" 1000000000000
}

@test "the weights of all samples are what the event counted" {
	keep_busy
	sampled -q -a -d 1000 -c 100003 cycles >"$T/out"
	[ "$(total period "$T/out")" = 100003 ]
	[ "$(total 'dropped by the kernel' "$T/out")" = 0 ]
	[ "$(total idle "$T/out")" = 0 ]
	# A second has 10,000 periods, and the counter stands still while a sample is handled: measured 9,818.
	in_range "$(total kept.nr "$T/out")" 9000 10001
	adds_up "$T/out"
	# all of it, within a period and the syncs
	in_range "$(total kept "$T/out")" "$(($(total counted "$T/out") * 995 / 1000))" "$(($(total counted "$T/out") * 1005 / 1000))"
}

@test "a command's samples are those of its tasks" {
	background /dev/null "$WORKLOADS/spin" 1000000000000
	sampled -c 100003 cycles "$WORKLOADS/spin" 50000000 >"$T/out"
	refute awk -F '\t' '$1 == "entry" && $6 != "spin" { found = 1; print } END { exit !found }' "$T/out"
	# 100 million and its start; the exec begins in the kernel
	in_range "$(total kept "$T/out")" 99500000 104000000
	[ "$(total other.nr "$T/out")" -gt 0 ]
	adds_up "$T/out"
}

@test "functions at 1:2:1 have shares of 25, 50 and 25 percent, by cycles and by a clock" {
	local event
	for event in cycles cpu-clock; do
		sampled -k 4 -c 20011 $event "$WORKLOADS/shares" 1000003 55 >"$T/out"
		[ "$(total kept.nr "$T/out")" -ge 10000 ]
		awk -F '[\t ]' '
		$1 ~ /^[abc]$/ { from[$1] = $2; to[$1] = $3 }
		$1 == "entry" {
			sum += $9
			for (part in from) {
				# of one length, so the order of texts is that of numbers
				if (length($12) == length(from[part]) && $12 >= from[part] && $12 < to[part])
					share[part] += $9
			}
		}
		END { printf "%.2f %.2f %.2f\n", share["a"] / sum * 100, share["b"] / sum * 100, share["c"] / sum * 100 }' \
			"$T/out" >"$T/shares"
		read -r a b c <"$T/shares"
		in_range "$a" 23 27	# 2 points, as promised for 10,000 samples
		in_range "$b" 48 52
		in_range "$c" 23 27
	done
}

@test "the weights of all samples are what the event counted, also with a pipe load" {
	background /dev/null "$WORKLOADS/pingpong" 100000000
	sampled -q -a -d 500 -c 100003 cycles >"$T/out"
	[ "$(total 'dropped by the kernel' "$T/out")" = 0 ]
	adds_up "$T/out"
	# all of it, within a period and the syncs
	in_range "$(total kept "$T/out")" "$(($(total counted "$T/out") * 995 / 1000))" "$(($(total counted "$T/out") * 1005 / 1000))"
}

# user_counts : print plain and shared counts of a command, which runs in user mode
user_counts() {
	perf stat --bpf-attr-map "$ATTR_MAP" -x, -e instructions:u,instructions:ub,cycles:u,cycles:ub \
		-- "$WORKLOADS/spin" 1000000 2>&1 | cut -d, -f1-3
}

@test "rates from 1 to 20,000 Hz have their samples, and perf stat counts beside them as alone" {
	local hz ms nr dropped
	user_counts >"$T/alone"
	# 2 million, and the start and end of the program: measured 26,377
	in_range "$(cut -d, -f1 "$T/alone" | sort -n | sed -n 1p)" 2000000 2050000
	while read -r hz ms; do
		# In a second without a sample, cycles need no load.
		[ "$hz" != 99 ] || keep_busy
		start_sampler "at$hz" -q -a -d "$ms" -F "$hz" cycles
		user_counts >"$T/beside"
		diff -u "$T/alone" "$T/beside" >&2
		wait "$sampler_pid"
		# A cycle is a nanosecond.
		[ "$(total period "$T/at$hz")" = $((1000000000 / hz)) ]
		nr=$(($(total counted "$T/at$hz") * hz / 1000000000))
		dropped=$(total 'dropped by the kernel.nr' "$T/at$hz")
		# The first period began before the session counts, and the last one is not complete.
		in_range $(($(total taken.nr "$T/at$hz") + dropped)) $((nr - 1)) $((nr + 1))
		# The kernel drops those in calls of bpf(), which perf stat makes at its start: 6 of 1,885 at 20,000 Hz.
		in_range "$dropped" 0 $((nr / 100))
		adds_up "$T/at$hz"
	done <<-'END'
	1 1100
	99 200
	1000 100
	20000 100
	END
}

# weights COLUMN VALUE... : print the percent that each value of a column of $T/out has of all of them
weights() {
	awk -F '\t' -v column="$1" -v values="${*:2}" '
		BEGIN { nr = split(values, value, " ") }
		$1 == "entry" { weight[$column] += $9 }
		END {
			for (i = 1; i <= nr; i++)
				sum += weight[value[i]]
			for (i = 1; i <= nr; i++)
				printf "%.2f\n", weight[value[i]] / sum * 100
		}' "$T/out"
}

# are_parts PERCENT... : the numbers of standard input are these, within 2 points, as promised for 10,000 samples
are_parts() {
	local percent part
	for percent in "$@"; do
		read -r part
		# as promised for 10,000 samples
		in_range "$part" $((percent - 2)) $((percent + 2))
	done
}

@test "threads, processes and chains of execs have the shares of what they execute" {
	local tids
	sampled -k 0x18 -c 20011 cycles "$WORKLOADS/threads" 4 25000000 >"$T/out"
	tids=$(awk -F '\t' '$1 == "entry" && $4 != $5 { print $5 }' "$T/out" | sort -u)
	[ "$(wc -w <<<"$tids")" = 4 ]
	[ "$(total kept.nr "$T/out")" -ge 10000 ]
	# shellcheck disable=SC2086 # words
	weights 5 $tids | are_parts 25 25 25 25
	for name in a b c; do
		ln "$WORKLOADS/spin" "$T/$name" 2>/dev/null || cp "$WORKLOADS/spin" "$T/$name"
	done
	# shellcheck disable=SC2016 # the inner shell's
	sampled -k 0x408 -c 20011 cycles sh -c 'env "$0/a" 25000000 & "$0/b" 50000000 & wait; exec env nice -n 0 "$0/c" 25000000' "$T" >"$T/out"
	[ "$(total kept.nr "$T/out")" -ge 10000 ]
	weights 6 a b c | are_parts 25 50 25
}

@test "stacks that are all different take no more memory, and what is lost of them has its number" {
	local ms=300 least=10000
	[ -z "${FULL:-}" ] || ms=11000 least=1000000
	background /dev/null "$WORKLOADS/stacks" 50
	sampled -q -N -a -d 100 -c 10000019 cycles >"$T/few"
	sampled -q -N -a -d $ms -c 10007 cycles >"$T/out"
	# Rows, keys and the ring of stacks of the CPU are less than that.
	in_range "$(total memory "$T/out")" 1 $(($(total memory "$T/few") + 1024))
	[ "$(total taken.nr "$T/out")" -gt $least ]
	# There are 2,048 rows. All stacks go through the ring of 32,768 words, so those of most rows are gone.
	in_range "$(($(total kept.nr "$T/out") + $(total late.nr "$T/out")))" 500 4096	# rows of the kernel have several
	[ "$(total late.nr "$T/out")" -gt 100 ]
	[ "$(total 'table full.nr' "$T/out")" -gt 8000 ]
	adds_up "$T/out"
	sum=$(($(total kept.nr "$T/out") + $(total late.nr "$T/out") + $(total 'table full.nr' "$T/out")))
	# Each sample is in one of the three; one may come between the last reading and the end.
	in_range "$sum" "$(($(total taken.nr "$T/out") - 1))" "$(($(total taken.nr "$T/out") + 1))"
	# Sessions that collect in time lose none.
	sampled -q -a -d 300 -c 1000003 cycles >"$T/slow"
	[ "$(total late.nr "$T/slow")" = 0 ]
	[ "$(total 'table full.nr' "$T/slow")" = 0 ]
}

@test "stacks that the kernel does not walk are counted, those of the kernel and of user space" {
	local level way
	keep_busy
	# as if the kernel could read none
	set_until_end $kernel/perf_event_max_stack 0
	sampled -q -k 0xb -a -d 200 -c 100003 cycles >"$T/out"
	[ "$(total kept.nr "$T/out")" -gt 100 ]
	[ "$(total unreadable.nr "$T/out")" = "$(total kept.nr "$T/out")" ]
	for way in --bpf --no-bpf; do
		for level in u k; do
			perf profile $way --bpf-attr-map "$ATTR_MAP" -a -e cycles:$level -c 10007 -g -j --timeout 100 >"$T/json"
			jq -s -e '[.[] | .account // empty] | last | .samples > 10 and .unreadable.samples == .samples' "$T/json"
		done
	done
}

# sees_throttling : this kernel tells sampling programs, since Linux 6.2
sees_throttling() {
	grep -q ' bpf_cast_to_kern_ctx$' /proc/kallsyms
}

# is_half NAME FILE : this loss is 40 to 60 percent of the time
is_half() {
	local enabled
	enabled=$(total enabled "$2")
	# The limit is 20 of some 40 samples in a tick of 4 ms. Then the event stands still until the next tick.
	in_range "$(total "$1" "$2")" $((enabled * 4 / 10)) $((enabled * 6 / 10))
}

@test "the part of the count that throttling takes has its number" {
	keep_busy
	set_max_rate 5000
	# about half of 10,000 a second
	sampled -q -a -d 300 -c 100003 cycles >"$T/cycles"
	sampled -q -a -d 300 -c 100003 cpu-clock >"$T/clock"
	perf profile --bpf-attr-map "$ATTR_MAP" -a -e cycles -c 100003 --timeout 200 >"$T/text"
	set_max_rate 100000
	cat "$T/cycles" "$T/clock" "$T/text"
	adds_up "$T/cycles"
	adds_up "$T/clock"
	if sees_throttling; then
		# A clock's time goes on. The rest is the timer's, which is late by an interrupt.
		is_half throttled "$T/clock"
		is_half throttled "$T/cycles"
		enabled=$(total enabled "$T/cycles")
		# Each nanosecond is a cycle. The counter stands still while a sample is handled, in 2,000 of 100,003.
		in_range "$(total counted "$T/cycles")" "$((enabled * 98 / 100))" "$((enabled * 1005 / 1000))"
		grep -qE '^# lost: the kernel throttled the event, [0-9,]+ samples, [45][0-9]\.[0-9] % of the count$' "$T/text"
	else
		[ "$(total throttled.nr "$T/clock")$(total throttled.nr "$T/cycles")" = 00 ]
		is_half 'dropped by the kernel' "$T/clock"
		refute grep -q throttled "$T/text"
	fi
	# Without sharing, by the event's two times on every kernel. perf itself refuses rates that are too high.
	background "$T/own" perf profile --no-bpf -a -e cpu-clock -c 100003 -j --timeout 2000
	wait_for has_text poll "/proc/$!/wchan"
	set_max_rate 5000
	wait "$!"
	set_max_rate 100000
	jq -s -e '[.[] | .account // empty] | last | . as $all | .counted > .enabled_ns * 0.99 and
		(.lost.throttle | .weight > $all.counted * 0.1 and .weight < $all.counted * 0.6 and .samples > 100)' "$T/own" ||
		{ grep '"account"' "$T/own"; return 1; }
	# At a rate that the kernel allows nothing is lost.
	sampled -q -a -d 100 -c 100003 cycles >"$T/out"
	[ "$(total throttled.nr "$T/out")" = 0 ]
}

@test "an event that the kernel throttles is none of sessions that asked for less" {
	local slow
	keep_busy
	# Overflows of a second counter for cycles come late in the emulator, so that none is throttled.
	start_sampler slow -q -a -F 99 cpu-clock
	slow=$sampler_pid
	set_max_rate 5000
	# about half of 10,000 a second
	sampled -q -a -d 300 -c 100003 cpu-clock >"$T/fast"
	end_sampler "$slow"
	set_max_rate 100000
	! sees_throttling || is_half throttled "$T/fast"
	[ "$(total throttled.nr "$T/slow")$(total 'dropped by the kernel.nr' "$T/slow")" = 00 ]
	adds_up "$T/slow"
}

@test "sessions of equal rates share one event, also when the kernel has lowered its limit between them" {
	local first
	start_sampler first -q -a -c 100003 cycles
	first=$sampler_pid
	set_max_rate 5000
	start_sampler second -q -a -c 100003 cycles
	set_max_rate 100000
	slots_are "0 1 2 100003"
	end_sampler "$sampler_pid"
	end_sampler "$first"
}

@test "sessions of different rates share one event, and slower ones get what they asked for" {
	keep_busy
	start_sampler slow -q -a -c 2000003 cycles
	slow=$sampler_pid
	sampled -q -a -d 1000 -c 100003 cycles >"$T/fast"
	end_sampler "$slow"
	adds_up "$T/slow"
	adds_up "$T/fast"
	[ "$(total kept "$T/fast")" -gt 500000000 ]
	# The event took many more than the slow session kept; each of those stands for its period.
	[ "$(total taken.nr "$T/slow")" -gt "$((5 * $(total kept.nr "$T/slow")))" ]
	awk -v kept="$(total kept "$T/slow")" -v nr="$(total kept.nr "$T/slow")" \
		'BEGIN { exit !(kept / nr >= 2000003 && kept / nr < 2100004) }'	# the last may be late by one of the fast
}

@test "the rate of a session that was killed is given up within two seconds" {
	keep_busy
	start_sampler slow -q -I -a -c 10000019 cycles
	start_sampler fast -q -a -c 100003 cycles
	kill -KILL "$sampler_pid"
	: >"$T/slow"
	wait_for awk '$1 == "interval" && $2 < 200 { found = 1 } END { exit !found }' "$T/slow"
	# the interval in which it was killed, the one that ends with the repair, and one without
	[ "$(grep -c '^interval' "$T/slow")" -le 3 ]
}

# singles FILE : print the number of single samples and the sum of their weights; their times, row by row, are in FILE.times
singles() {
	awk -F '\t' '$1 == "single" { nr++; sum += $5; print $4 >FILENAME ".times" } END { printf "%d %.0f\n", nr, sum }' "$1"
}

@test "single samples of a busy CPU are a period apart" {
	start_sampler beside -q -a -c 2000000 cycles
	beside=$sampler_pid
	sampled -q -E 1000 -c 1000000 cycles "$WORKLOADS/spin" 25000000 >"$T/out"
	end_sampler "$beside"
	adds_up "$T/out"
	adds_up "$T/beside"
	[ "$(singles "$T/out")" = "$(total kept.nr "$T/out") $(total kept "$T/out")" ]
	# The program executes 50 million instructions. Four periods are a tick, which may wake other threads: then the sample is theirs.
	[ "$(total kept.nr "$T/out")" -ge $((50 - $(total other.nr "$T/out"))) ]
	refute grep -q '^single' "$T/beside"
	# A cycle is a nanosecond. The counter stands still while a sample is handled, in 5,000 instructions at most.
	# Each sample of another task takes one away.
	sort -n "$T/out.times" | awk -v others="$(total other.nr "$T/out")" '
		NR > 1 {
			nr = int(($1 - last) / 1000000 + 0.5)
			others -= nr - 1
			if (nr < 1 || $1 - last < nr * 995000 || $1 - last > nr * 1010000) { print $1 - last; bad = 1 }
		}
		{ last = $1 } END { exit bad || others < 0 }' >&2
}

@test "single samples have the room that was asked for, and all others are only in the sums" {
	sampled -q -N -E 10 -c 1000000 cycles "$WORKLOADS/spin" 25000000 >"$T/out"
	adds_up "$T/out"
	[ "$(singles "$T/out")" = "10 10000000" ]
	[ "$(total kept.nr "$T/out")" -ge $((50 - $(total other.nr "$T/out"))) ]
}

@test "a sampling program is verified in little time" {
	verified_quickly
}

# The CPU is busy only in the windows: a busy CPU makes each session take twice as long.
@test "a session that is killed at any step leaves nothing" {
	local step room beside steps=(sample-table-placed sample-records-placed sampler-added sample-slot-written
		sample-slot-claimed sample-event-read sample-event-placed sample-event-enabled sample-event-opened
		sample-slot-applied sample-slots-left sample-table-removed)
	for step in sample-maps-written sample-object-written "${steps[@]}"; do
		killed_at "$step" sampled -q -a -d 100 -E "$(singles_at "$step")" -c 1000003 cycles
		wait_for nothing_left
	done
	# Beside a living one, which has the object: the first two steps are not its way.
	start_sampler beside -q -a -c 250007 cycles
	beside=$sampler_pid
	for step in "${steps[@]}"; do
		killed_at "$step" sampled -q -a -d 100 -E "$(singles_at "$step")" -c 100003 "$(event_at "$step")"
		sampled -q -a -c 250007 cycles "$WORKLOADS/spin" 50000000 >"$T/next"
		adds_up "$T/next"
		wait_for slots_are '0 1 1 250007'
	done
	end_sampler "$beside"
	adds_up "$T/beside"
	wait_for nothing_left
}

# objects_are NR : so many parts of a leader are left
objects_are() {
	[ "$("$WORKLOADS/leader_objects" | wc -l)" = "$1" ]
}

# Nobody else uses its event, so that no change of another's rate mends it.
@test "the only session of an event leaves none when it is killed while it opens or closes it" {
	local step nr beside
	start_sampler beside -q -a -c 250007 cycles
	beside=$sampler_pid
	nr=$("$WORKLOADS/leader_objects" | wc -l)
	for step in sample-event-read sample-event-placed sample-event-enabled sample-event-opened leaving; do
		if [ "$step" = leaving ]; then
			PERF_TEST_KILL_AFTER=sample-slots-left killed_at sample-event-read sampled -q -a -d 20 -c 100003 cycles:u
		else
			killed_at "$step" sampled -q -a -d 20 -c 100003 cycles:u
		fi
		# The next one removes the dead one before it looks for what is to be mended.
		sampled -q -N -a -d 20 -c 250007 cycles >"$T/next"
		wait_for slots_are '0 1 1 250007'
		wait_for objects_are "$nr"
	done
	end_sampler "$beside"
	adds_up "$T/beside"
	wait_for nothing_left
}

@test "a session that is killed while it sets its ranges leaves none" {
	local nothing=1000-2000 user=1000-ffffffffffff
	keep_busy
	for step in sample-ranges-written sample-ranges-turned; do
		killed_at "$step" sampled -q -a -d 100 -R $user -c 1000003 cycles
		wait_for nothing_left
		# beside a living one
		start_sampler beside -q -a -R $nothing -c 1000003 cycles
		beside=$sampler_pid
		killed_at "$step" sampled -q -a -d 100 -R $user -c 1000003 cycles
		# The first one removes the dead one and has its place.
		# So long that one period is less than the half percent of adds_up.
		sampled -q -a -d 250 -R $nothing -c 1000003 cycles >"$T/nothing"
		sampled -q -a -d 250 -R $user -c 1000003 cycles >"$T/user"
		end_sampler "$beside"
		adds_up "$T/nothing"
		adds_up "$T/user"
		[ "$(total kept.nr "$T/nothing")" = 0 ]
		[ "$(total kept.nr "$T/user")" -gt 50 ]
		[ "$(total kept.nr "$T/beside")" = 0 ]
		[ "$(total other.nr "$T/beside")" -gt 150 ]
		wait_for nothing_left
	done
}

# event_at STEP : an event that makes a session come by the step: a new one makes a slot
event_at() {
	case $1 in
	sample-slot-written|sample-slot-claimed) echo cycles:u ;;
	*) echo cycles ;;
	esac
}

# singles_at STEP : the room for single samples that makes a session come by the step
singles_at() {
	[ "$1" = sample-records-placed ] && echo 10 || echo 0
}

@test "a session mends events that it uses, also those that it could not mend for others before" {
	# They never look for what is to be mended.
	start_sampler slow -N -q -a -F 20000 page-faults
	slow=$sampler_pid
	start_sampler fast -N -q -a -F 30000 page-faults
	kill -KILL "$sampler_pid"
	refute wait "$sampler_pid"
	slots_are '0 2 2 30000'
	set_max_rate 10000
	background "$T/next" env PERF_TEST_STOP_AT=sample-slot-applied "$SAMPLER" -m "$ATTR_MAP" -q -a -F 100 page-faults
	next=$!
	wait_for is_stopped "$next"
	slots_are '0 2 1 0'	# the kernel refused 20,000
	set_max_rate 100000
	kill -CONT "$next"
	wait_for slots_are '0 2 2 20000'
	wait_for is_stopped "$next"	# at the same step
	kill -CONT "$next"
	wait_for grep -q '^ready' "$T/next"
	kill -KILL "$slow"
	wait_for slots_are '0 2 1 100'
	kill -KILL "$next"	# it is stopped once more
}

@test "a rate that the kernel forbids later is reported, and used again when it is allowed" {
	local slow lowered="the kernel has lowered kernel.perf_event_max_sample_rate to 10000"
	start_sampler slow -q -a -F 20000 page-faults
	slow=$sampler_pid
	start_sampler fast -N -q -a -F 30000 page-faults
	set_max_rate 10000
	kill -KILL "$sampler_pid"
	wait_for grep -qx "sampler: page-faults is not sampled on CPU 0: $lowered (perf tries again each second)" "$T/slow"
	slots_are '0 2 1 0'
	set_max_rate 100000
	wait_for slots_are '0 2 1 20000'
	end_sampler "$slow"
	[ "$(total absent "$T/slow")" -gt 0 ]
	[ "$(grep -c ^sampler: "$T/slow")" = 1 ]
}

nothing_left() {
	[ -z "$("$WORKLOADS/leader_objects")" ]
}
