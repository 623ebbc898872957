#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# perf profile --no-bpf: each part of the count that no sample stands for has its reason.

load profile

requirements() {
	require_root
	require_commands gcc jq
	PATH=$WORKLOADS:$PATH
}

# own OPTION... : sample by events of this session's own, to $T/json
own() {
	profile --no-bpf -j "$@" >"$T/json"
}

# adds_up : samples of all kinds and losses are the count of the last account. A sample that comes before the count is
# read stands for more
adds_up() {
	jq -s -e '[.[] | .account // empty] | last | . as $all |
		([.weight, .idle.weight, .mode.weight, .other.weight, .elsewhere.weight, .thinned, .unseen, .refused, .lost[].weight] | add) as $sum |
		$all.counted > 0 and $sum >= $all.counted * 0.995 and $sum <= $all.counted * 1.005' "$T/json" >/dev/null ||
		{ grep '"account"' "$T/json" >&2; return 1; }
}

# account MEMBER : print a number of the last account
account() {
	jq -s "[.[] | .account // empty] | last | .$1" "$T/json"
}

# ticks_of PID : print how much time of CPUs the process has used
ticks_of() {
	local stat
	read -ra stat <"/proc/$1/stat"
	echo $((stat[13] + stat[14]))
}

# ran_for PID TICKS : it has used so much
ran_for() {
	[ "$(ticks_of "$1")" -ge "$2" ]
}

@test "samples and losses of one's own events are the count, whatever the target" {
	local target pid
	background /dev/null blend 100000000
	pid=$!
	for target in "" "-a" "-p $pid" "-C $(</sys/devices/system/cpu/online)" "--for-each-cgroup /" "-a --range blend_b"; do
		# shellcheck disable=SC2086 # words
		own -F 2000 $target -- blend 50000
		adds_up
		# No program hides these samples.
		[ "$(account lost.blind.samples)" = 0 ]
	done
}

@test "weights of software events are what they counted, by frequency and by period" {
	background /dev/null sh -c 'while :; do faults 1000; done'
	# The kernel's periods are not those that have passed.
	perf profile --no-bpf -j -e page-faults -F 500 -a -- faults 100000 >"$T/json"
	adds_up
	# The command has so many; other tasks have more, and a part of the count has no sample.
	in_range "$(account weight)" 100000 "$(account counted)"
	perf profile --no-bpf -j -e page-faults -c 100 -- faults 20000 >"$T/json"
	[ $(($(account samples) * 100)) = "$(account weight)" ]
	[ $(($(account weight) + $(account thinned))) = "$(account counted)" ]
	# The start of the program has less than 300.
	in_range "$(account counted)" 20000 20300
	# On each CPU the event is less than a period of 100 from the next sample.
	in_range "$(account thinned)" 0 $((99 * $(nproc)))
}

@test "tasks that end before their first sample are a part of the count" {
	own -c 100000000 -- bash -c 'for ((i = 0; i < 50; i++)); do blend 100; done'
	adds_up
	[ "$(account thinned)" -gt 0 ]
}

@test "records that a full ring buffer has no room for are lost, with their part of the count" {
	local pid session ticks
	background /dev/null taskset -c 0 blend 100000000
	pid=$!
	wait_for has_line blend "/proc/$pid/comm"
	perf profile --no-bpf -e cpu-clock -c 100000 -j -p "$pid" >"$T/json" 3>&- &
	session=$!
	jobs_started+=("$session")
	wait_for samples_or_ends "$session"
	kill -STOP "$session"
	ticks=$(ticks_of "$pid")
	# 10,000 samples a second, of 56 bytes at least, and room for 524,288 bytes on the CPU
	wait_for ran_for "$pid" $((ticks + 300))
	kill -CONT "$session"
	kill -INT "$session"
	wait "$session"
	adds_up
	[ "$(account lost.late.samples)" -gt 1000 ]
	[ "$(account lost.late.weight)" -gt 100000000 ]
}

# resident PID : print how many MB of memory it has
resident() {
	awk '$1 == "VmRSS:" { print int($2 / 1024) }' "/proc/$1/status"
}

# has_grown PID MB
has_grown() {
	[ "$(resident "$1")" -ge "$2" ]
}

@test "samples for which perf has no memory are lost, and the others are printed" {
	local pid session way limit ticks
	background /dev/null stacks 2000
	pid=$!
	for way in --bpf --no-bpf; do
		perf profile --bpf-attr-map "$ATTR_MAP" $way -e cpu-clock -F 10000 -g -j -p "$pid" >"$T/json" 2>"$T/err" 3>&- &
		session=$!
		jobs_started+=("$session")
		wait_for samples_or_ends "$session"
		wait_for has_grown "$session" $(($(resident "$session") + 1))
		# what it has, and no more
		limit=$(awk '$1 == "VmSize:" { print $2 * 1024 }' "/proc/$session/status")
		prlimit --pid "$session" --as="$limit:"
		# 20,000 stacks of 250 bytes at least. Up to now there are a tenth of that, and memory is taken in doubles.
		ticks=$(ticks_of "$pid")
		wait_for ran_for "$pid" $((ticks + 200))
		prlimit --pid "$session" --as=unlimited:
		kill -INT "$session"
		wait "$session"
		cat "$T/err" >&2
		adds_up
		[ "$(account lost.table.samples)" -gt 100 ]
		[ "$(account samples)" -gt 100 ]
		jq -s -e '([.[] | .samples // 0] | add) == ([.[] | .account // empty] | last | .samples)' "$T/json"
	done
}

@test "counts that cannot be read are named" {
	refusing refusing <<-'EOF'
		long syscall(long nr, ...);
		ssize_t read(int fd, void *to, size_t size)
		{
			/* count, two times, lost records */
			if (size != 32)
				return syscall(SYS_read, fd, to, size);
			errno = EIO;
			return -1;
		}
		static long refused(long nr, const long *args)
		{
			return 0;
		}
	EOF
	LD_PRELOAD=$T/refusing.so perf profile --no-bpf -e cpu-clock -F 1000 -C 0 --timeout 100 >"$T/text"
	grep -qx '# 1 reading of the count failed: it may be short' "$T/text"
}
