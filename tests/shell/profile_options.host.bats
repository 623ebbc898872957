#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# Options of perf profile that other tests do not have: the highest rate, late words of an event, and progress on a
# terminal.

load profile

requirements() {
	require_root
	require_commands script
	PATH=$WORKLOADS:$PATH
}

@test "-F max is the highest rate that the kernel allows" {
	local way entry
	# A /proc with another limit
	mkdir -p "$T/proc/sys/kernel"
	for entry in /proc/[!0-9s]* /proc/self /proc/stat; do
		ln -s "$entry" "$T/proc/"
	done
	for entry in /proc/sys/kernel/perf_*; do
		cat "$entry" >"$T/proc/sys/kernel/${entry##*/}"
	done
	echo 1789 >"$T/proc/sys/kernel/perf_event_max_sample_rate"
	for way in --bpf --no-bpf; do
		PROCFS_PATH=$T/proc profile $way -F max -- spin 100000000 >"$T/text"
		grep -qE '^# [0-9,]+ samples of cpu-clock, 1789 Hz, spin, ' "$T/text"
	done
}

@test "config3 and config4 of a sampled event reach the kernel" {
	require_commands strace
	local way words size
	while read -r size words; do
		# as far as this kernel knows them
		perf stat -x, --log-fd 4 -e "dummy:u,dummy/$words/u" true 4>"$T/out"
		! grep -q '^<not supported>' "$T/out" || break
		for way in --bpf --no-bpf; do
			strace -X raw -f -o "$T/trace" -e trace=perf_event_open perf profile $way --bpf-attr-map "$ATTR_MAP" -c 100 \
				-e "page-faults/$words/u" -- faults 1000 >"$T/text" 2>&1
			cat "$T/text" >&2
			# PERF_COUNT_SW_PAGE_FAULTS
			grep 'type=0x1, .* config=0x2, ' "$T/trace" >"$T/opened"
			# The size covers the words.
			refute grep -v "size=$size" "$T/opened"
		done
	done <<-END
		0x80 config2=1
		0x88 config3=1
		0x90 config4=1
	END
	[ "$size" != 0x80 ]
}

# opens NUMBERS OPTION... : whether a profile does each of four things (0 or 1). It opens the list of the kernel's
# symbols, starts the process that reads files, reads mappings of a process, and records mappings.
opens() {
	local numbers=$1
	shift
	strace -v -f -o "$T/calls" -e trace=openat,prctl,perf_event_open perf profile --bpf-attr-map "$ATTR_MAP" -e cpu-clock "$@" \
		-- true >"$T/text"
	echo "$(grep -cm1 '/proc/kallsyms"' "$T/calls") $(grep -cm1 'PR_SET_NAME, "perf-symbols"' "$T/calls")" \
		"$(grep -cm1 '/proc/[0-9]*/maps"' "$T/calls") $(grep -cm1 'perf_event_open(.* mmap2=1,' "$T/calls")" >"$T/numbers"
	cat "$T/numbers"
	[ "$(<"$T/numbers")" = "$numbers" ]
}

@test "symbols are read and mappings followed only if the profile has addresses" {
	require_commands strace
	local way list
	for way in --bpf --no-bpf; do
		list=1
		[ $way = --no-bpf ] || list=0	# a BPF program asks the kernel for names
		opens "0 0 0 0" $way -a -s comm,pid,cpu,cgroup
		opens "$list 1 1 1" $way -a -s comm,sym
		opens "$list 1 1 1" $way -a -g -s comm
	done
}

@test "names that take longer than a second show their progress on a terminal, and are then printed" {
	local pids=() name pid worker
	# Two files: the first one is still read when progress is shown.
	for name in first second; do
		cp "$WORKLOADS/blend" "$T/$name"
		background /dev/null "$T/$name" 100000000
		pids+=($!)
	done
	background "$T/screen" script -qfc "sh -c 'echo \$\$ >$T/pid; exec perf profile --bpf-attr-map $ATTR_MAP -e cpu-clock \
		-F 500 -p ${pids[0]},${pids[1]} >$T/text'" /dev/null
	wait_for test -s "$T/pid"
	pid=$(<"$T/pid")
	wait_for pgrep -P "$pid" -x perf-symbols
	worker=$(pgrep -P "$pid" -x perf-symbols)
	wait_for pgrep -P "$worker"
	worker=$(pgrep -P "$worker")
	wait_for samples_or_ends "$pid"
	ran 0.3 "${pids[0]}" "${pids[1]}"
	kill -STOP "$worker"
	kill -INT "$pid"
	# It is shown from the first second on.
	wait_for grep -qE 'reading symbols: +[0-9]+ % \((first|second)\)' "$T/screen"
	kill -CONT "$worker"
	wait_for has_text 'stand for' "$T/text"
	wait_for test ! -e "/proc/$pid"
	[ "$(grep -cE ' (first|second) +\[\.\] blend_b$' "$T/text")" = 2 ]
}
