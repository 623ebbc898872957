#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# perf top refuses what it cannot do, and passes on what only Linux's perf top can.

load helpers

T=$BATS_TEST_TMPDIR

# wrong LINE OPTION... : the options are refused with this line
wrong() {
	local line=$1
	shift
	fails_with 129 "perf top: $line" alone perf top "$@"
}

@test "wrong options and arguments are refused with one line" {
	local number
	for number in 0 0.05 3601 fast nan -1 ""; do
		wrong "-d $number: not a number of seconds from 0.1 to 3600" -d "$number"
	done
	wrong "switch \`E' expects a numerical value, not 'x'" -E x
	wrong "switch \`f': '-1' is out of range" -f -1
	wrong "switch \`d' requires a value" -d
	wrong "unknown option \`tui'" --tui
	wrong "--call-graph lbr: stacks are read in the kernel, by frame pointers (fp) only" --call-graph lbr
	wrong "-F and -c are mutually exclusive" -F 99 -c 1000
	refused 129 perf top true <<<"perf top: true: no argument is expected (perf profile samples commands)"
	refused 22 perf top -K -U <<<"perf top: -K and -U are mutually exclusive"
	refused 22 alone perf top -s overhead \
		<<<"perf top: -s overhead: 'overhead' is not a sort key (comm, pid, tid, cpu, cgroup, prio, dso, sym, ip, page, daddr, srcline)"
	refused 22 alone perf top -e duration_time \
		<<<"perf top: 'duration_time' cannot be sampled: perf computes it, and it never interrupts"
}

@test "a command line that only Linux's perf top understands is passed on unchanged" {
	local words
	mkdir "$T/ours" "$T/linux"
	ln -s "$(command -v perf)" "$T/ours/perf"
	# In place of Linux's perf: a shell with the texts by which that one is known. Its command is a script.
	{
		cat "$BASH"
		echo PERF_EXEC_PATH perf.data buildid-cache
	} >"$T/linux/perf"
	chmod +x "$T/linux/perf"
	cd "$T"
	echo 'echo linux "$@"' >top
	for words in --tui "--hide_kernel_symbols -D" "-s overhead,comm" "-s +pid" "--call-graph dwarf" \
		"--call-graph graph,0.5,caller" "-a -e duration_time" "--sort=dso -ba" "-d 1 --fields=sym"; do
		# shellcheck disable=SC2086 # several words
		[ "$(env PATH="$T/ours:$T/linux" perf top $words)" = "linux $words" ]
	done
	if [ -r /sys/kernel/tracing/events/sched/sched_switch/id ]; then
		[ "$(env PATH="$T/ours:$T/linux" perf top -e sched:sched_switch)" = "linux -e sched:sched_switch" ]
	fi
	# Ours has these, and prints what is wrong with them. The status is not Linux's.
	for words in "-d 0" "-e frob" "--hide_kernel_symbols --hide_user_symbols" "--call-graph fp,caller,callee" \
		"-gnz --stdio -E 5 -f 5 -s comm,dso -e cpu-clock -u nobody-of-this-name" -h x; do
		# shellcheck disable=SC2086
		refute env PATH="$T/ours:$T/linux" perf top $words >"$T/out" 2>&1
		refute grep -q linux "$T/out"
	done
}
